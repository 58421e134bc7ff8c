"""Executors: built-in plug-ins, one folder each, that carry out one kind of job. Floor 3."""

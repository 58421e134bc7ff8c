"""Cli: the only place that reads the arguments and the environment. Floor 6."""

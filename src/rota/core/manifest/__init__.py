"""Defines manifests: jobs declared in a file, and their differences from existing jobs.

Pure: the SDK reads files, and the engine reads and writes jobs.
"""

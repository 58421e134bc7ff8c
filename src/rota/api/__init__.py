"""Serves the HTTP API.

`operations.py` declares what an operation is, `doors.py` is the pipeline of every request. The
operations are in `resources/`, their request and response schemas in `shapes/`. The rules for jobs
and runs are in the engine and in core.
"""

"""Runs attempts and reports how they ended.

Attempts run on the attempt loop, an event loop in its own thread, so that a handler that blocks
cannot stop the worker from claiming, recording and sending heartbeats. engine/dispatch claims runs,
engine/recording stores outcomes, and processes connects them. pipeline.py lists the steps of
an attempt.
"""

"""Composes the processes: which services each one runs, and in which order they stop.

Wiring only: this package reads the settings and passes plain values to the layers below, which hold
the logic.
"""

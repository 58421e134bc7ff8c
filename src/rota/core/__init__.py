"""Defines the rules and values of Rota as pure functions over frozen values.

This layer has no I/O, no clock, no logging and no async code. Time and randomness are arguments, so
tests can check every rule of the scheduler in microseconds.
"""

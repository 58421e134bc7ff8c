"""Core: the rules and values of Rota, pure. Floor 1.

Plain functions over frozen values: no I/O, no clock, no logging, no async. Time and chance come in
as arguments, so everything subtle about a scheduler can be attacked here in microseconds.
"""

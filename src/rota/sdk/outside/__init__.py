"""Carries out a command and puts it on record as a run. Room: sdk/outside.

command.py     the child process: its output passed on, signals, time limit
recording.py   what is told to the server, and that the command runs whether it hears it or not
"""

"""Node: which services a process runs, and in which order they let go. Floor 5.

Wiring only: settings become plain values here and go no further down; logic lives below.
"""

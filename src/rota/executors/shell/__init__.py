"""Runs allowed programs, by argument list and never through a shell. Room: executors/shell.

spec      what a payload may say, and what is refused
limits    what one program may use
executor  one attempt: environment, output, ending
warded    a program and the process that answers for it, seen from the worker
warden    that process: nothing that the program started outlives it
"""

from rota.executors.shell.executor import ShellExecutor
from rota.executors.shell.limits import ShellLimits

__all__ = ["ShellExecutor", "ShellLimits"]

"""Runs allowed programs by argument list, never through a shell.

spec              parses a payload and refuses programs that are not allowed
limits            resource limits of one program
executor          runs one attempt: environment, output, exit status
supervised_child  starts a program under its supervisor and waits for it, in the worker
supervisor        the process in between: ends everything that the program started
"""

from rota.executors.shell.executor import ShellExecutor
from rota.executors.shell.limits import ShellLimits

__all__ = ["ShellExecutor", "ShellLimits"]

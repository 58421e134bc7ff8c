"""The executor `python`: handlers written in Python, registered by kind. Room: executors.

handlers.py       which function carries out which kind, and how it is kept apart
executor.py       the way of one attempt: on the loop, in a thread, or in a child process
sources.py        handlers that yield: the sources of maps
contexts.py       what a handler gets that does not run on the worker's loop
output.py         prints and log records find the attempt that made them
threads.py        sync handlers, and what becomes of one that does not stop
transactions.py   `ctx.transaction()` for them: a connection whose methods block
children.py       warm child processes, one run at a time each
child_process.py  one of them as the worker sees it: talked to, listened to, ended
frames.py         what the two say to each other
child.py          the program of a child; link.py and confinement.py are its parts
"""

from rota.executors.python.contexts import AttemptCancelled, SyncContext
from rota.executors.python.executor import Limits, PythonExecutor
from rota.executors.python.handlers import MB, Handler, Handlers

__all__ = [
    "MB",
    "AttemptCancelled",
    "Handler",
    "Handlers",
    "Limits",
    "PythonExecutor",
    "SyncContext",
]

"""Runs handlers written in Python, registered by kind (executor `python`).

handlers       registry: which function runs which kind, and in which isolation
executor       runs one attempt: on the event loop, in a thread, or in a child process
sources        turns generator functions into the sources of maps
contexts       contexts of handlers in threads and child processes
output         routes prints and log records to the attempt that made them
threads        thread pool of sync handlers, including those that do not stop
transactions   `ctx.transaction()` in threads: a connection with blocking methods
children       pool of warm child processes, one run at a time each
child_process  the worker's side of one child process: calls, output, kill
frames         messages between worker and child
child          program of a child process; its link and its confinement are separate modules
"""

from rota.executors.python.contexts import AttemptCancelled, BlockingContext
from rota.executors.python.executor import PythonExecutor, PythonLimits
from rota.executors.python.handlers import MB, Handler, Handlers

__all__ = [
    "MB",
    "AttemptCancelled",
    "BlockingContext",
    "Handler",
    "Handlers",
    "PythonExecutor",
    "PythonLimits",
]

"""Describes where the threads and tasks of a stalled process are.

The text is for the person who reads the log after the watchdog ended a process. The stacks of the
threads do not show where a suspended coroutine waits, so the chain of awaits of the stalled duty is
included.
"""

import asyncio
import faulthandler
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """The stalled duty, its task, and the seconds without progress of each watched duty."""

    name: str
    task: asyncio.Task[Any] | None
    silent_seconds: Mapping[str, float]


def render_report(stall: Stall) -> bytes:
    """Return the report of a stall, in bytes because it is written straight to stderr."""
    silent = stall.silent_seconds.get(stall.name, 0.0)
    lines = [
        f"rota: {stall.name} made no progress for {silent:.1f} s; ending the process",
        "Seconds without progress of each watched duty:",
        *(f"  {seconds:.1f} {name}" for name, seconds in stall.silent_seconds.items()),
    ]
    if stall.task is not None:
        lines += ["It is waiting at (outermost first):", *list_awaits(stall.task)]
    return "\n".join([*lines, "Threads:", ""]).encode() + dump_thread_stacks()


def list_awaits(task: asyncio.Task[Any]) -> list[str]:
    """Return the chain of coroutines from a task's own down to what it awaits."""
    found = []
    at: Any = task.get_coro()
    while (frame := getattr(at, "cr_frame", None) or getattr(at, "gi_frame", None)) is not None:
        code = frame.f_code
        found.append(f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}')
        at = getattr(at, "cr_await", None) or getattr(at, "gi_yieldfrom", None)
    return found


def dump_thread_stacks() -> bytes:
    # Through a file: faulthandler writes while it holds the interpreter's lock, and a stalled
    # reader of stderr would block even the watchdog.
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file=file, all_threads=True)
        file.seek(0)
        return file.read()

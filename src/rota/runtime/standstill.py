"""Says where the threads and tasks of a process stand. Room: runtime.

Text for whoever reads the log after the watchdog ended a process. The stacks of the threads do not
tell where a suspended coroutine waits, so the stalled duty's chain of awaits is shown as well.
"""

import asyncio
import faulthandler
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """What stands still, the task that carries it, and how long each watched thing is silent."""

    name: str
    task: asyncio.Task[Any] | None
    silences: Mapping[str, float]


def report(standstill: Standstill) -> bytes:
    """The text of a standstill, in bytes because it goes past the stream, straight to stderr."""
    silent = standstill.silences.get(standstill.name, 0.0)
    lines = [
        f"rota: {standstill.name} made no progress for {silent:.1f} s; ending the process",
        "Seconds of silence of all that is watched:",
        *(f"  {each:.1f} {name}" for name, each in standstill.silences.items()),
    ]
    if standstill.task is not None:
        lines += ["It waits at (outermost first):", *awaits(standstill.task)]
    return "\n".join([*lines, "Threads:", ""]).encode() + thread_stacks()


def awaits(task: asyncio.Task[Any]) -> list[str]:
    """The chain of coroutines from a task's own down to what it waits for."""
    found = []
    at: Any = task.get_coro()
    while (frame := getattr(at, "cr_frame", None) or getattr(at, "gi_frame", None)) is not None:
        code = frame.f_code
        found.append(f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}')
        at = getattr(at, "cr_await", None) or getattr(at, "gi_yieldfrom", None)
    return found


def thread_stacks() -> bytes:
    # By way of a file: faulthandler writes while it holds the interpreter's lock, and if the
    # reader of stderr has gone to sleep that would hold up even the watchdog.
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file=file, all_threads=True)
        file.seek(0)
        return file.read()

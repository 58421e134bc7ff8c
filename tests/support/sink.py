"""The witness of the chaos tests: a file to which handlers append what they do.

It knows nothing of Rota's database and survives whatever is killed. One event is one `os.write` to
a file opened for appending, which Linux does in one piece, from any number of processes. There is
no fsync: a killed process loses nothing that it has written, only a power cut would. Monotonic time
is the kernel's and the same for all processes, so the order of events does not depend on a wall
clock.
"""

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import UUID

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Mark(NamedTuple):
    """One event of one attempt: `start`, `end` or `effect`."""

    at: int
    wall: datetime
    event: str
    run_id: UUID
    job_id: UUID
    attempt: int
    scheduled_at: datetime
    kind: str
    pid: int


class Attempt(Protocol):
    """What the sink wants to know of an attempt; the context of a handler has it."""

    @property
    def run_id(self) -> UUID: ...
    @property
    def job_id(self) -> UUID: ...
    @property
    def attempt(self) -> int: ...
    @property
    def scheduled_at(self) -> datetime: ...
    @property
    def kind(self) -> str: ...


class Sink:
    """The writing end. Each process opens its own."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def mark(self, event: str, attempt: Attempt) -> None:
        line = (
            time.monotonic_ns(),
            time.time_ns(),
            event,
            str(attempt.run_id),
            str(attempt.job_id),
            attempt.attempt,
            attempt.scheduled_at.isoformat(),
            attempt.kind,
            os.getpid(),
        )
        os.write(self._file, json.dumps(line).encode() + b"\n")


def read_marks(path: Path) -> Iterator[Mark]:
    """All events in the order in which they were written."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            at, wall, event, run_id, job_id, attempt, scheduled_at, kind, pid = json.loads(line)
            yield Mark(
                at=at,
                wall=EPOCH + timedelta(microseconds=wall // 1000),
                event=event,
                run_id=UUID(run_id),
                job_id=UUID(job_id),
                attempt=attempt,
                scheduled_at=datetime.fromisoformat(scheduled_at),
                kind=kind,
                pid=pid,
            )

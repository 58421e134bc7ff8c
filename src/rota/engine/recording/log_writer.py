"""Stores the output and progress of running attempts.

Runs about twice a second, in batches; an attempt never waits for it. A batch that could not be
stored is stored again. Output that is not stored when a worker dies is lost: a log is not a result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rota.runtime.service import Duty
from rota.runtime.stop import Halt
from rota.store import checkpoints, logs
from rota.store.checkpoints import RunProgress
from rota.store.driver import ConnectionSource
from rota.store.logs import LogPiece

LOG_BATCH_MAX: Final = 500
LOG_WRITE_INTERVAL_S: Final = 0.5


@dataclass(slots=True, kw_only=True)
class LogWriter:
    source: ConnectionSource
    take_output: Callable[[int], tuple[list[LogPiece], list[RunProgress]]]
    # The batch being stored; the next one is taken only after it was stored.
    _pieces: list[LogPiece] = field(default_factory=list)
    _progress: list[RunProgress] = field(default_factory=list)

    async def tick(self) -> float:
        """Store the next batch; return 0 if there was more than one batch."""
        if not self._pieces and not self._progress:
            self._pieces, self._progress = self.take_output(LOG_BATCH_MAX)
        number = len(self._pieces)
        if not self._pieces and not self._progress:
            return LOG_WRITE_INTERVAL_S
        async with self.source.acquire() as conn:
            if self._pieces:
                await logs.append_pieces(conn, self._pieces)
                self._pieces = []
            if self._progress:
                await checkpoints.save_progress(conn, self._progress)
                self._progress = []
        return 0.0 if number >= LOG_BATCH_MAX else LOG_WRITE_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWriterService:
    """The log-writing duty, with a last pass over the remaining output when it stops."""

    duty: Duty
    writer: LogWriter
    name: str = "log writing"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        while await self.writer.tick() == 0.0:
            pass

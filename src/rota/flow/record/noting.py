"""Stores what attempts say while they run: output and progress. Room: flow/record.

About twice a second, in batches; an attempt never waits for it. What is not stored when a worker
dies is lost: a log is not a result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rota.runtime.service import Duty
from rota.runtime.stop import Halt
from rota.store import logs, notes
from rota.store.driver import Source
from rota.store.logs import Piece
from rota.store.notes import Progress

MOST: Final = 500
EVERY: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting:
    source: Source
    take: Callable[[int], tuple[list[Piece], list[Progress]]]

    async def tick(self) -> float:
        """Store what there is; come back at once if there was more than a batch."""
        pieces, told = self.take(MOST)
        if not pieces and not told:
            return EVERY
        async with self.source.acquire() as conn:
            if pieces:
                await logs.append(conn, pieces)
            if told:
                await notes.save_progress(conn, told)
        return 0.0 if len(pieces) >= MOST else EVERY


@dataclass(frozen=True, slots=True, kw_only=True)
class LastNotes:
    """The noting duty, and a last pass over what is left when it is told to stop."""

    duty: Duty
    noting: Noting
    name: str = "noting"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        while await self.noting.tick() == 0.0:
            pass

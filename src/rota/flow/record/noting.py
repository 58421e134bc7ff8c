"""Stores what attempts say while they run: output and progress. Room: flow/record.

About twice a second, in batches; an attempt never waits for it. A batch that could not be stored is
stored again. What is not stored when a worker dies is lost: a log is not a result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rota.runtime.service import Duty
from rota.runtime.stop import Halt
from rota.store import logs, notes
from rota.store.driver import Source
from rota.store.logs import Piece
from rota.store.notes import Progress

MOST: Final = 500
EVERY: Final = 0.5


@dataclass(slots=True, kw_only=True)
class Noting:
    source: Source
    take: Callable[[int], tuple[list[Piece], list[Progress]]]
    # What is on its way: nothing else is taken before it has arrived.
    _pieces: list[Piece] = field(default_factory=list)
    _told: list[Progress] = field(default_factory=list)

    async def tick(self) -> float:
        """Store what there is; come back at once if there was more than a batch."""
        if not self._pieces and not self._told:
            self._pieces, self._told = self.take(MOST)
        number = len(self._pieces)
        if not self._pieces and not self._told:
            return EVERY
        async with self.source.acquire() as conn:
            if self._pieces:
                await logs.append(conn, self._pieces)
                self._pieces = []
            if self._told:
                await notes.save_progress(conn, self._told)
                self._told = []
        return 0.0 if number >= MOST else EVERY


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

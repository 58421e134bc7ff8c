"""Forgets the keys of events that are no longer kept. Room: flow/events.

The events themselves go by the day (flow/record/keeping_days.py); from then on the same event again
is a new one. Bounded batches, far from the hot path.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import arrivals
from rota.store.driver import Source
from rota.store.fitness import database_time

MOST: Final = 5_000
EVERY: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    source: Source
    keep: timedelta

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            before = await database_time(conn) - self.keep
            gone = await arrivals.prune_keys(conn, before=before, most=MOST)
        return 0.0 if gone >= MOST else EVERY

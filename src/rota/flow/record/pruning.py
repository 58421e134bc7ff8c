"""Removes what nobody can need any more: dead sessions, old keys and links. Room: flow/record.

A duty that does little and rarely, in bounded batches, far from the hot path. History is dropped by
the day elsewhere (keeping_days.py).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import backfills, hooks, idempotency, revival, sessions, unique
from rota.store.driver import Source

MOST: Final = 500
EVERY: Final = 30.0
# Long enough to look at yesterday's crash, short enough to keep the list readable.
KEEP_SESSIONS: Final = timedelta(days=1)
KEEP_KEYS: Final = timedelta(hours=24)
KEEP_REPLAYS: Final = timedelta(days=90)
# Signatures of hooks that sign no time: as long as a sender's secret is likely to live.
KEEP_DELIVERIES: Final = timedelta(days=400)
KEEP_BACKFILLS: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    source: Source

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            forgotten = await sessions.forget(conn, after=KEEP_SESSIONS, most=MOST)
            pruned = await idempotency.prune(conn, keep=KEEP_KEYS, most=MOST)
            freed = await unique.prune(conn, most=MOST)
            ended = await backfills.forget(conn, keep=KEEP_BACKFILLS, most=MOST)
            heard = await hooks.forget_deliveries(conn, keep=KEEP_DELIVERIES, limit=MOST)
            unlinked = await revival.forget(conn, keep=KEEP_REPLAYS, most=MOST)
        return 0.0 if max(forgotten, pruned, freed, ended, heard, unlinked) >= MOST else EVERY

"""Removes expired records: dead sessions, old idempotency keys and links.

A duty that does little and rarely, in bounded batches, away from the hot path. The partition
maintainer drops history by day (partition_maintainer.py).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import backfills, hooks, idempotency, revival, sessions, unique
from rota.store.driver import Source

MOST: Final = 500
EVERY: Final = 30.0
# Long enough to examine yesterday's crash, short enough to keep the list readable.
KEEP_SESSIONS: Final = timedelta(days=1)
KEEP_KEYS: Final = timedelta(hours=24)
KEEP_REPLAYS: Final = timedelta(days=90)
# Signatures of hooks that do not sign a time: as long as a sender's secret is likely to be used.
KEEP_DELIVERIES: Final = timedelta(days=400)
KEEP_BACKFILLS: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    source: Source

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            closed = await sessions.forget(conn, after=KEEP_SESSIONS, most=MOST)
            pruned = await idempotency.prune(conn, keep=KEEP_KEYS, most=MOST)
            freed = await unique.prune(conn, most=MOST)
            ended = await backfills.forget(conn, keep=KEEP_BACKFILLS, most=MOST)
            deliveries = await hooks.forget_deliveries(conn, keep=KEEP_DELIVERIES, limit=MOST)
            unlinked = await revival.forget(conn, keep=KEEP_REPLAYS, most=MOST)
        return 0.0 if max(closed, pruned, freed, ended, deliveries, unlinked) >= MOST else EVERY

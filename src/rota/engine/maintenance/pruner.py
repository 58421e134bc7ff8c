"""Removes expired records: dead sessions, old idempotency keys and links.

A duty that does little and rarely, in bounded batches, away from the hot path. The partition
maintainer drops history by day (partition_maintainer.py).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import backfills, hooks, idempotency, requeue, sessions, uniqueness_keys
from rota.store.driver import ConnectionSource

PRUNE_BATCH_MAX: Final = 500
PRUNE_INTERVAL_S: Final = 30.0
# Long enough to examine yesterday's crash, short enough to keep the list readable.
KEEP_SESSIONS: Final = timedelta(days=1)
KEEP_KEYS: Final = timedelta(hours=24)
KEEP_REPLAYS: Final = timedelta(days=90)
# Signatures of hooks that do not sign a time: as long as a sender's secret is likely to be used.
KEEP_DELIVERIES: Final = timedelta(days=400)
KEEP_BACKFILLS: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruner:
    source: ConnectionSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            closed = await sessions.delete_expired(conn, after=KEEP_SESSIONS, limit=PRUNE_BATCH_MAX)
            pruned = await idempotency.prune_keys(conn, keep=KEEP_KEYS, limit=PRUNE_BATCH_MAX)
            freed = await uniqueness_keys.prune_keys(conn, limit=PRUNE_BATCH_MAX)
            ended = await backfills.delete_ended(conn, keep=KEEP_BACKFILLS, limit=PRUNE_BATCH_MAX)
            deliveries = await hooks.delete_deliveries(
                conn, keep=KEEP_DELIVERIES, limit=PRUNE_BATCH_MAX
            )
            unlinked = await requeue.delete_links(conn, keep=KEEP_REPLAYS, limit=PRUNE_BATCH_MAX)
        return (
            0.0
            if max(closed, pruned, freed, ended, deliveries, unlinked) >= PRUNE_BATCH_MAX
            else PRUNE_INTERVAL_S
        )

"""Deletes the deduplication keys of events that have expired.

The events themselves are deleted by the day, with their partition (engine/maintenance). After that,
the same event counts as a new one. Works in bounded batches, outside the hot path.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import events
from rota.store.driver import ConnectionSource
from rota.store.pool import read_database_time

PRUNE_BATCH_MAX: Final = 5_000
PRUNE_INTERVAL_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKeyPruner:
    """Deletes the keys of events older than `keep`, as a background duty."""

    source: ConnectionSource
    keep: timedelta

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            before = await read_database_time(conn) - self.keep
            deleted = await events.prune_keys(conn, before=before, limit=PRUNE_BATCH_MAX)
        return 0.0 if deleted >= PRUNE_BATCH_MAX else PRUNE_INTERVAL_S

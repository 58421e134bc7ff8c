"""Deletes old events and deliveries of webhooks, in bounded batches."""

from dataclasses import dataclass
from typing import Final

from rota.store import webhook_deliveries
from rota.store.driver import ConnectionSource

PRUNE_BATCH_MAX: Final = 1000
PRUNE_BATCH_INTERVAL_S: Final = 0.2
PRUNE_INTERVAL_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPruner:
    source: ConnectionSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            deleted = await webhook_deliveries.delete_old(conn, limit=PRUNE_BATCH_MAX)
        return PRUNE_BATCH_INTERVAL_S if max(deleted) >= PRUNE_BATCH_MAX else PRUNE_INTERVAL_S

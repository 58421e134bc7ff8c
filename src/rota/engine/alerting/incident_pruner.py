"""Deletes incidents, messages and silences that ended long ago."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.clock import ClockSource
from rota.store import alert_groups, alert_states, incidents, notifications, silences
from rota.store.driver import ConnectionSource

PRUNE_BATCH_MAX: Final = 500
PRUNE_INTERVAL_S: Final = 300.0
# A state is kept longer than its incidents, because it numbers them.
KEEP_STATES_LONGER: Final = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentPruner:
    """Deletes what ended before `keep`, in batches. Open incidents stay."""

    source: ConnectionSource
    clock: ClockSource
    keep: timedelta

    async def tick(self) -> float:
        before = self.clock.now() - self.keep
        async with self.source.acquire() as conn:
            deleted = (
                await notifications.prune_notifications(conn, before=before, limit=PRUNE_BATCH_MAX),
                await incidents.prune_incidents(conn, before=before, limit=PRUNE_BATCH_MAX),
                await silences.prune_silences(conn, before=before, limit=PRUNE_BATCH_MAX),
                await alert_groups.prune_groups(conn, before=before, limit=PRUNE_BATCH_MAX),
                await alert_states.prune_states(
                    conn, before=before - KEEP_STATES_LONGER, limit=PRUNE_BATCH_MAX
                ),
            )
        return 0.0 if max(deleted) >= PRUNE_BATCH_MAX else PRUNE_INTERVAL_S

"""Moves submissions that no scheduler moved at their instant.

During a rolling upgrade, a scheduler of the previous release may hold shards; it does not know
waiting submissions. Every process of this release moves them, a few seconds late.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import submissions
from rota.store.driver import ConnectionSource

BATCH_MAX: Final = 500
INTERVAL_S: Final = 2.0
# Longer than a current scheduler needs, even right after a database outage.
OVERDUE_AFTER: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueSubmissionMover:
    """Calls `on_runs_created` when runs are waiting that claimers do not know of yet."""

    source: ConnectionSource
    on_runs_created: Callable[[], object]

    async def tick(self) -> float:
        """Move one batch; return how long to rest."""
        async with self.source.acquire() as conn:
            moved = await submissions.move_overdue(conn, late=OVERDUE_AFTER, limit=BATCH_MAX)
        if moved:
            self.on_runs_created()
        return 0.0 if moved >= BATCH_MAX else INTERVAL_S

"""Removes deleted jobs, old versions and unused interned rows.

Bounded passes, away from the hot path: it looks for deleted jobs every minute and for unused
interned rows every six hours, because that reads every job and every unfinished run once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.store import retention
from rota.store.driver import ConnectionSource
from rota.store.pool import read_database_time

BATCH_MAX: Final = 500
INTERVAL_S: Final = 60.0
# Rest when more rows must be removed.
MORE_INTERVAL_S: Final = 1.0
SWEEP_INTERVAL_S: Final = 6 * 3600.0
# A run may reference a row for up to a day beyond its retention, because runs are dropped by whole
# days; and a process may use a cached row id for a day (engine/submission, engine/graphs).
SWEEP_MARGIN: Final = timedelta(days=3)


@dataclass(slots=True, kw_only=True)
class Sweeper:
    """`keep_runs` and `keep_deleted_jobs` are the retention periods of runs and deleted jobs."""

    source: ConnectionSource
    keep_runs: timedelta
    keep_deleted_jobs: timedelta
    monotonic: Callable[[], float]
    _swept_at: float = field(default=float("-inf"))

    async def tick(self) -> float:
        """Do one pass; return how long to rest."""
        removed = await self._remove_jobs()
        swept = 0
        if self.monotonic() - self._swept_at >= SWEEP_INTERVAL_S:
            swept = await self._sweep()
            if swept < BATCH_MAX:
                self._swept_at = self.monotonic()
        return MORE_INTERVAL_S if max(removed, swept) >= BATCH_MAX else INTERVAL_S

    async def _remove_jobs(self) -> int:
        async with self.source.acquire() as conn:
            now = await read_database_time(conn)
            removed = await retention.remove_jobs(
                conn,
                deleted_before=now - self.keep_deleted_jobs,
                ended_before=now - self.keep_runs,
                limit=BATCH_MAX,
            )
            versions = await retention.remove_versions(
                conn, before=now - self.keep_runs - SWEEP_MARGIN, limit=BATCH_MAX
            )
        return max(removed, versions)

    async def _sweep(self) -> int:
        """Return the largest number of rows removed from one relation."""
        numbers: list[int] = []
        for relation in retention.SWEEPS:
            async with self.source.acquire() as conn:
                before = await read_database_time(conn) - self.keep_runs - SWEEP_MARGIN
                numbers.append(
                    await retention.sweep_interned(conn, relation, before=before, limit=BATCH_MAX)
                )
        return max(numbers)

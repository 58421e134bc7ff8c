"""Creates the partitions of coming days and drops those past their retention (O7).

A duty that does little and rarely. It holds no lock for longer than the store's timeout. If it does
not run for days, new rows go to the default partition and are moved out later. Rows of the default
partition that are past their retention, such as backfills of years ago, are deleted in batches.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from rota.store import partitions
from rota.store.driver import Connection, Pool
from rota.store.partitions import DAILY_TABLES, EVENT_TABLES
from rota.store.pool import read_database_time

PARTITION_CHECK_INTERVAL: Final = timedelta(hours=1)
# Rows deleted from the default partition in one batch: about ten milliseconds, to block no one.
PRUNE_BATCH_MAX: Final = 500
# Rest when more rows must be deleted.
PRUNE_INTERVAL: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMaintainer:
    pool: Pool
    ahead: timedelta
    keep: timedelta
    keep_events: timedelta = timedelta(days=30)
    keep_audit: timedelta = timedelta(days=400)

    async def tick(self) -> float:
        """Create and drop partitions by the database's calendar."""
        async with self.pool.acquire() as conn:
            today = (await read_database_time(conn)).date()
            await partitions.create_ahead(conn, today=today, ahead=self.ahead.days)
            # One extra day, so that a run is kept for the full `keep` to the minute.
            oldest = today - self.keep - timedelta(days=1)
            history = [parent for parent in DAILY_TABLES if parent not in EVENT_TABLES]
            await partitions.drop_older(conn, keep_from=oldest, parents=history)
            runs = await partitions.prune_runs(conn, keep_from=oldest, limit=PRUNE_BATCH_MAX)
            oldest = today - self.keep_events - timedelta(days=1)
            await partitions.drop_older(conn, keep_from=oldest, parents=EVENT_TABLES)
            events = await partitions.prune_events(conn, keep_from=oldest, limit=PRUNE_BATCH_MAX)
            has_old_entries = await self._maintain_audit_log(conn, today)
        has_more = max(runs, events) >= PRUNE_BATCH_MAX or has_old_entries
        return (PRUNE_INTERVAL if has_more else PARTITION_CHECK_INTERVAL).total_seconds()

    async def _maintain_audit_log(self, conn: Connection, today: date) -> bool:
        """Create and drop the months of the audit log; return whether more rows must be deleted."""
        await partitions.create_audit_months(conn, today=today)
        oldest = today - self.keep_audit - timedelta(days=1)
        await partitions.drop_audit_months(conn, keep_from=oldest)
        return await partitions.prune_audit(conn, keep_from=oldest)

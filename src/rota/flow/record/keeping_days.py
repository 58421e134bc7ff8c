"""Makes the partitions of coming days and drops those that are too old (O7). Room: flow/record.

A duty that does little and rarely: it holds no lock for longer than the store's time-out, and if it
does not run for days, new rows fall into the partition for the rest and are moved out later. What
belongs to no day that is kept, such as backfills of years ago, goes from there a batch at a time.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from rota.store import partitions
from rota.store.driver import Connection, Pool
from rota.store.fitness import database_time
from rota.store.partitions import EVENTS, PARENTS

INTERVAL: Final = timedelta(hours=1)
# Rows of the rest that go at once: some ten milliseconds, so that it is in nobody's way.
MOST: Final = 500
# There is more of them: soon, but not at once.
SOON: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingDays:
    pool: Pool
    ahead: timedelta
    keep: timedelta
    keep_events: timedelta = timedelta(days=30)
    keep_audit: timedelta = timedelta(days=400)

    async def tick(self) -> float:
        """Bring the partitions up to date by the database's calendar."""
        async with self.pool.acquire() as conn:
            today = (await database_time(conn)).date()
            await partitions.make_ahead(conn, today=today, ahead=self.ahead.days)
            # One day more than asked: a run that is `keep` old to the minute is still there.
            oldest = today - self.keep - timedelta(days=1)
            history = [parent for parent in PARENTS if parent not in EVENTS]
            await partitions.drop_older(conn, keep_from=oldest, parents=history)
            runs = await partitions.prune_runs(conn, keep_from=oldest, most=MOST)
            oldest = today - self.keep_events - timedelta(days=1)
            await partitions.drop_older(conn, keep_from=oldest, parents=EVENTS)
            events = await partitions.prune_events(conn, keep_from=oldest, most=MOST)
            has_old_entries = await self._keep_audit(conn, today)
        has_more = max(runs, events) >= MOST or has_old_entries
        return (SOON if has_more else INTERVAL).total_seconds()

    async def _keep_audit(self, conn: Connection, today: date) -> bool:
        """Bring the months of the audit log up to date; return whether more is to be deleted."""
        await partitions.make_audit_months(conn, today=today)
        oldest = today - self.keep_audit - timedelta(days=1)
        await partitions.drop_audit_months(conn, keep_from=oldest)
        return await partitions.prune_audit(conn, keep_from=oldest)

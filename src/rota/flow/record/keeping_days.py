"""Makes the partitions of coming days and drops those that are too old (O7). Room: flow/record.

A duty that does little and rarely: it holds no lock for longer than the store's time-out, and if it
does not run for days, new rows fall into the partition for the rest and are moved out later.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.store import partitions
from rota.store.driver import Pool
from rota.store.fitness import database_time
from rota.store.partitions import EVENTS, PARENTS

INTERVAL: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingDays:
    pool: Pool
    ahead: timedelta
    keep: timedelta
    keep_events: timedelta = timedelta(days=30)

    async def tick(self) -> float:
        """Bring the partitions up to date by the database's calendar."""
        async with self.pool.acquire() as conn:
            today = (await database_time(conn)).date()
            await partitions.make_ahead(conn, today=today, ahead=self.ahead.days)
            # One day more than asked: a run that is `keep` old to the minute is still there.
            oldest = today - self.keep - timedelta(days=1)
            history = sorted(PARENTS.keys() - EVENTS)
            await partitions.drop_older(conn, keep_from=oldest, parents=history)
            oldest = today - self.keep_events - timedelta(days=1)
            await partitions.drop_older(conn, keep_from=oldest, parents=EVENTS)
        return INTERVAL.total_seconds()

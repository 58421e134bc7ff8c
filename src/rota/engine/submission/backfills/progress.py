"""Computes the progress of a backfill: the runs that are left and when it will finish (S13).

The counts come from the stored row of the backfill. The remaining time follows from its own pace
once it has one, and before that from the duration of the newest runs of its job.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from rota.core import backfills as rules
from rota.core.backfills import UNFINISHED_STATES, BackfillState
from rota.store import backfills
from rota.store.backfills import BackfillRow
from rota.store.driver import Connection


class BackfillForecast(NamedTuple):
    """Active runs, runs that have not ended (including those not created yet), and the time when
    all will have ended. `eta` is None if it is unknown, or if the backfill does not advance.
    """

    alive: int
    left: int
    eta: datetime | None


def compute_progress(
    row: BackfillRow, *, run_duration: timedelta | None = None
) -> BackfillForecast:
    """Compute the progress of a backfill. `run_duration` is the measured duration of a run, if
    known.
    """
    ended = row.succeeded + row.failed + row.cancelled
    alive = row.made - ended
    if row.state not in UNFINISHED_STATES:
        return BackfillForecast(0, 0, None)
    is_through = row.reached == (row.since if row.newest_first else row.until)
    makes_more = row.state is not BackfillState.CANCELLING and not is_through
    left = alive + (max(0, row.expected - row.made) if makes_more else 0)
    if row.state is BackfillState.PAUSED:
        return BackfillForecast(alive, left, None)
    step = rules.measure_pace(ended=ended, busy=row.now - row.created_at - row.paused_for)
    takes = (
        rules.estimate_duration(left, each=run_duration, at_once=row.at_once)
        if step is None
        else step * left
    )
    return BackfillForecast(alive, left, None if takes is None else row.now + takes)


async def measure_progress(
    conn: Connection, row: BackfillRow, *, tenant_id: int
) -> BackfillForecast:
    """Compute the progress of a backfill, with the duration of its job's newest runs."""
    if row.state not in UNFINISHED_STATES:
        return compute_progress(row)
    duration = await backfills.measure_duration(conn, tenant_id=tenant_id, job_id=row.job_id)
    return compute_progress(row, run_duration=duration)

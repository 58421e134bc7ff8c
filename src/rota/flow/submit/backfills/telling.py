"""Says how a backfill stands: what is left of it, and when it will be done (S13).

Room: flow/submit. Counted from what the backfill itself has written down. The time that is left
follows from its own pace, once it has one, and until then from how long the newest runs of its job
took.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from rota.core import backfills as rules
from rota.core.backfills import UNFINISHED, BackfillState
from rota.store import backfills
from rota.store.backfills import BackfillRow
from rota.store.driver import Connection


class Progress(NamedTuple):
    """Runs that are alive, runs that have not ended or are not even made, and when all will have;
    `eta` is None if nobody knows, or if it does not go on.
    """

    alive: int
    left: int
    eta: datetime | None


def progress(row: BackfillRow, *, each: timedelta | None = None) -> Progress:
    """`each` is how long a run takes, if somebody has measured it."""
    ended = row.succeeded + row.failed + row.cancelled
    alive = row.made - ended
    if row.state not in UNFINISHED:
        return Progress(0, 0, None)
    is_through = row.reached == (row.since if row.newest_first else row.until)
    makes_more = row.state is not BackfillState.CANCELLING and not is_through
    left = alive + (max(0, row.expected - row.made) if makes_more else 0)
    if row.state is BackfillState.PAUSED:
        return Progress(alive, left, None)
    step = rules.pace(ended=ended, busy=row.now - row.created_at - row.paused_for)
    takes = rules.takes(left, each=each, at_once=row.at_once) if step is None else step * left
    return Progress(alive, left, None if takes is None else row.now + takes)


async def measured(conn: Connection, row: BackfillRow, *, tenant_id: int) -> Progress:
    """The same, for one that may have to ask how long its job's runs take."""
    if row.state not in UNFINISHED:
        return progress(row)
    each = await backfills.took(conn, tenant_id=tenant_id, job_id=row.job_id)
    return progress(row, each=each)

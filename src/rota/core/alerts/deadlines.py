"""Computes the instant by which a tick's run must have succeeded."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.alerts.conditions import FinishBy
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.zones import resolve_local_time

DAY = timedelta(days=1)


def compute_finish_deadline(tick: datetime, zone: ZoneInfo, finish_by: FinishBy) -> datetime:
    """Return the deadline of the run of a tick, in UTC. It is always later than the tick.

    A time of day means its first occurrence on the wall clock after the tick; a tick at exactly
    that time has its deadline on the next day. Where the clock jumps over the time of day, the
    deadline is as long after the jump as it would have been without one (02:30 becomes 03:30), so
    the run loses no time. Where the time of day occurs twice, the deadline is the first of both
    that is after the tick.
    """
    if finish_by.after is not None:
        return (tick + finish_by.after).astimezone(UTC)
    if finish_by.time_of_day is None:
        raise ValueError("finish_by has neither a time of day nor a duration")
    start = tick.astimezone(zone).replace(tzinfo=None, fold=0)
    date = start.date() if start.time() < finish_by.time_of_day else start.date() + DAY
    while True:
        local = datetime.combine(date, finish_by.time_of_day)
        for candidate in resolve_local_time(local, zone, gap=DstGap.SHIFT, overlap=DstOverlap.BOTH):
            if candidate.at > tick:
                return candidate.at
        # Near a change of the clock, the wall clock may show a time that has passed already.
        date += DAY

"""Which ticks a job must have had, found the slow and certain way.

Nothing of Rota's own calendar code is used here: a cron of seconds is a scan over all seconds, an
interval is counting from its anchor. Chaos jobs keep to such schedules on purpose; the dialect
has its own differential tests (tests/property/time).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tests.chaos.history import Plan

SECOND = timedelta(seconds=1)


def ticks_of(plan: Plan, *, after: datetime, until: datetime) -> Iterator[datetime]:
    """The ticks of a job after one time and up to another."""
    if plan.cron_step is not None:
        yield from every_nth_second(plan.cron_step, after=after, until=until)
    elif plan.anchor is not None and plan.every is not None:
        yield from fixed_rate(plan.anchor, plan.every, after=after, until=until)
    elif plan.anchor is not None and after < plan.anchor <= until:
        yield plan.anchor


def every_nth_second(step: int, *, after: datetime, until: datetime) -> Iterator[datetime]:
    """What `*/step * * * * *` means: the seconds of a minute that `step` divides."""
    second = after.astimezone(UTC).replace(microsecond=0)
    while second <= until:
        if second > after and second.second % step == 0:
            yield second
        second += SECOND


def fixed_rate(
    anchor: datetime, every: timedelta, *, after: datetime, until: datetime
) -> Iterator[datetime]:
    tick = anchor
    while tick <= until:
        if tick > after:
            yield tick
        tick += every

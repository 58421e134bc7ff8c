"""The schedule that a declared job is to have. Room: contract.

`every: 15m` counts from the moment it is saved. Applied again, it must not count from another:
where what is declared could be what the job has, counted from the job's own moment, it is that.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from rota.contract.schedule import read_saved_schedule, read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import Schedule

ON_DEMAND: Final[Mapping[str, object]] = {"on_demand": True}


def resolve_declared_schedule(
    wanted: Mapping[str, object] | None, has: Schedule | None, *, seed: str, now: datetime
) -> Schedule:
    """Return the schedule that is meant: the one the job has, if it could be that."""
    wanted = wanted or ON_DEMAND
    before = has or read_saved_schedule(ON_DEMAND)
    for read in _readings(wanted, before, seed):
        if write_schedule(read) == write_schedule(before):
            return before
    with within("schedule"):
        return read_schedule(wanted, now=now, seed=seed)


def _readings(wanted: Mapping[str, object], has: Schedule, seed: str) -> Iterator[Schedule]:
    """Yield what it means by itself, and counted from each moment that the job counts from."""
    with suppress(InvalidInput):
        yield read_saved_schedule(wanted, seed=seed)
    for since in _origins(has):
        with suppress(InvalidInput):
            yield read_schedule(wanted, now=since, seed=seed)


def _origins(schedule: Schedule) -> Iterator[datetime]:
    for rule in schedule.rules:
        if isinstance(rule, Every | EveryAfterEnd):
            yield rule.anchor
        elif isinstance(rule, Rrule):
            # Its times are on the wall clock of the zone.
            wall = datetime.fromtimestamp(rule.start, UTC).replace(tzinfo=schedule.zone)
            yield wall.astimezone(UTC)

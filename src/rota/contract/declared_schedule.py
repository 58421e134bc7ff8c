"""Decides whether a declared schedule is the one that a job already has.

`every: 15m` counts from the moment at which it is saved. Applying the same declaration again must
not move that moment: if the declaration, counted from the anchor of the stored schedule, equals
the stored schedule, the stored schedule is kept.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from rota.contract.schedule import read_saved_schedule, read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.submissions import prefix_errors
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import Schedule

ON_DEMAND_SCHEDULE: Final[Mapping[str, object]] = {"on_demand": True}


def resolve_declared_schedule(
    declared: Mapping[str, object] | None, stored: Schedule | None, *, seed: str, now: datetime
) -> Schedule:
    """Return the stored schedule if the declaration can mean it; otherwise read the declaration."""
    declared = declared or ON_DEMAND_SCHEDULE
    before = stored or read_saved_schedule(ON_DEMAND_SCHEDULE)
    for candidate in _read_candidates(declared, before, seed):
        if write_schedule(candidate) == write_schedule(before):
            return before
    with prefix_errors("schedule"):
        return read_schedule(declared, now=now, seed=seed)


def _read_candidates(wanted: Mapping[str, object], has: Schedule, seed: str) -> Iterator[Schedule]:
    """Yield the declared schedule as it is, and counted from each anchor of the stored one."""
    with suppress(InvalidInput):
        yield read_saved_schedule(wanted, seed=seed)
    for since in _find_anchors(has):
        with suppress(InvalidInput):
            yield read_schedule(wanted, now=since, seed=seed)


def _find_anchors(schedule: Schedule) -> Iterator[datetime]:
    for rule in schedule.rules:
        if isinstance(rule, Every | EveryAfterEnd):
            yield rule.anchor
        elif isinstance(rule, Rrule):
            # The start of a rule is a wall-clock time in the zone of the schedule.
            wall = datetime.fromtimestamp(rule.start, UTC).replace(tzinfo=schedule.zone)
            yield wall.astimezone(UTC)

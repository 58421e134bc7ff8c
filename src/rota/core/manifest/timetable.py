"""The schedule that a declared job is to have, and its next ticks. Room: core/manifest.

`every: 15m` counts from the moment it is saved. Applied again, it must not count from another:
where what is declared could be what the job has, counted from the job's own moment, it is that.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.core.time import moments, plain, planning
from rota.core.time.calendars import Calendar
from rota.core.time.cron import Cron
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import STEP, Schedule

SHOWN: Final = 3
# An H at the beginning of a field or of a part of one; other letters are names of days and months.
SPREAD: Final = re.compile(r"(?:^|[\s,])H", re.IGNORECASE)
ON_DEMAND: Final[Mapping[str, object]] = {"on_demand": True}


def settled(
    wanted: Mapping[str, object] | None, has: Schedule | None, *, seed: str, now: datetime
) -> Schedule:
    """The schedule that is meant: the one the job has, if it could be that."""
    wanted = wanted or ON_DEMAND
    before = has or plain.from_plain(ON_DEMAND)
    for read in _readings(wanted, before, seed):
        if plain.to_plain(read) == plain.to_plain(before):
            return before
    with within("schedule"):
        return plain.parse(wanted, now=now, seed=seed)


def _readings(wanted: Mapping[str, object], has: Schedule, seed: str) -> Iterator[Schedule]:
    """What it means by itself, and counted from each of the moments that the job counts from."""
    with suppress(InvalidInput):
        yield plain.from_plain(wanted, seed=seed)
    for since in _origins(has):
        with suppress(InvalidInput):
            yield plain.parse(wanted, now=since, seed=seed)


def _origins(schedule: Schedule) -> Iterator[datetime]:
    for rule in schedule.rules:
        if isinstance(rule, Every | EveryAfterEnd):
            yield rule.anchor
        elif isinstance(rule, Rrule):
            # Its times are on the wall clock of the zone.
            wall = datetime.fromtimestamp(rule.start, UTC).replace(tzinfo=schedule.zone)
            yield wall.astimezone(UTC)


def depends_on_id(schedule: Schedule) -> bool:
    """Whether its times are spread by the id of its job, which a new job has not yet."""
    crons = (rule.text for rule in schedule.rules if isinstance(rule, Cron))
    return schedule.jitter is not None or any(SPREAD.search(text) for text in crons)


def upcoming(
    schedule: Schedule,
    after: datetime,
    *,
    calendars: Mapping[str, Calendar],
    is_new: bool,
    count: int = SHOWN,
) -> tuple[datetime, ...]:
    """When its next runs start. Of a capped job that ran already only one is known."""
    if not schedule.has_ticks:
        return ()
    if schedule.follows_end or (schedule.window.max_runs is not None and not is_new):
        planned = planning.next_tick(schedule, after, calendars=calendars)
        return () if planned is None else (planned.due_at,)
    ahead = planning.plan(schedule, after, moments.LAST, calendars=calendars)
    return tuple(planned.due_at for planned in islice(ahead, count))


def standing(
    schedule: Schedule | None,
    next_tick: datetime | None,
    *,
    calendars: Mapping[str, Calendar],
) -> tuple[datetime, ...]:
    """The next runs of a job that has a tick to come: from that tick on."""
    if schedule is None or next_tick is None:
        return ()
    if schedule.follows_end:
        return (next_tick,)
    return upcoming(schedule, next_tick - STEP, calendars=calendars, is_new=False)

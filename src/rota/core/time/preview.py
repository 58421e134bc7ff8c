"""What a schedule will do, before it is saved.

Room: core/time. The sentence, the next times as they will really be, what daylight saving and the
calendars do to them, and what its author may not have meant. The times come from planning.py, the
same that fires: a preview that could differ from what happens would be worse than none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import durations, moments, zones
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import changed_times, clock_changes
from rota.core.time.cron import Cron
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, Planned, next_tick, plan
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import Schedule
from rota.core.time.sentence import sentence
from rota.core.time.tick import DstGap

MOST = 100
# Changes of clocks are looked for this far ahead: the next one in each direction.
AHEAD = timedelta(days=400)
NEAR = timedelta(hours=26)
NOTED = 4
DENSE = timedelta(seconds=10)


class Follows(StrEnum):
    """What a schedule follows when clocks are changed."""

    ELAPSED_TIME = "elapsed_time"
    WALL_CLOCK = "wall_clock"


class Concern(StrEnum):
    EITHER_DAY = "either_day"
    DAYLIGHT_SAVING = "daylight_saving"
    DENSE = "dense"
    HERD = "herd"
    JITTER_CUT = "jitter_cut"
    ENDS = "ends"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something its author may not have meant."""

    concern: Concern
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """One time to come: the nominal instant, when it really starts, the nominal local time, and
    the start on the viewer's clock.
    """

    at: datetime
    due_at: datetime
    local: datetime
    viewed: datetime
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    sentence: str
    follows: Follows
    timezone: str
    tzdata: str
    upcoming: tuple[Upcoming, ...]
    warnings: tuple[Warned, ...]


def preview(
    schedule: Schedule,
    after: datetime,
    *,
    count: int = 10,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    viewer: str | None = None,
    fired: int = 0,
) -> Preview:
    """The next `count` times after an instant; of a fixed delay only the next one is known."""
    if not 1 <= count <= MOST:
        raise InvalidInput("count", count, f"a number from 1 to {MOST}")
    zone = schedule.zone if viewer is None else zones.zone(viewer)
    planned = tuple(_next(schedule, after, count, calendars, fired))
    return Preview(
        sentence=sentence(schedule),
        follows=Follows.ELAPSED_TIME if schedule.interval_like else Follows.WALL_CLOCK,
        timezone=schedule.timezone,
        tzdata=zones.tzdata_version(),
        upcoming=tuple(_upcoming(item, schedule.zone, zone) for item in planned),
        warnings=tuple(_warnings(schedule, after, planned, count, calendars)),
    )


def _next(
    schedule: Schedule,
    after: datetime,
    count: int,
    calendars: Mapping[str, Calendar],
    fired: int,
) -> Iterator[Planned]:
    if schedule.follows_end:
        planned = next_tick(schedule, after, calendars=calendars, fired=fired)
        return iter(() if planned is None else (planned,))
    ahead = plan(schedule, after, moments.LAST, calendars=calendars, fired=fired)
    return islice(_until_nothing_is_free(ahead), count)


def _until_nothing_is_free(ahead: Iterator[Planned]) -> Iterator[Planned]:
    """The ticks up to where calendars leave no time for years. If that is so from the beginning,
    the schedule is refused.
    """
    yield from islice(ahead, 1)
    try:
        yield from ahead
    except InvalidSchedule:
        return


def _upcoming(planned: Planned, zone: ZoneInfo, viewer: ZoneInfo) -> Upcoming:
    tick = planned.tick
    passed = [
        f"passes over {_said(skip.first.at, zone)}: {skip.blackout.name}"
        f" until {_said(skip.blackout.end, zone)}"
        for skip in planned.skipped
    ]
    noted = () if tick.note is None else (tick.note,)
    return Upcoming(
        at=tick.at,
        due_at=planned.due_at,
        local=tick.local,
        viewed=planned.due_at.astimezone(viewer),
        notes=(*noted, *planned.notes, *passed),
    )


def _said(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _warnings(
    schedule: Schedule,
    after: datetime,
    planned: Sequence[Planned],
    count: int,
    calendars: Mapping[str, Calendar],
) -> Iterator[Warned]:
    crons = [rule for rule in schedule.rules if isinstance(rule, Cron)]
    if any(cron.either_day for cron in crons):
        detail = (
            "a day of the month and a day of the week are both given: it runs on days that match"
            " either; day_match: all asks for both"
        )
        yield Warned(concern=Concern.EITHER_DAY, detail=detail)
    notes = [*islice(_changes(schedule, after, calendars), NOTED), *_changed_times(schedule, after)]
    for note in sorted(notes)[:NOTED]:
        yield Warned(concern=Concern.DAYLIGHT_SAVING, detail=note)
    yield from _about_distance(schedule, planned)
    if schedule.jitter is None and any(_on_the_hour(cron) for cron in crons):
        detail = "minute 0 is when most jobs run; H in its place, or jitter, spreads them"
        yield Warned(concern=Concern.HERD, detail=detail)
    goes_on = any(isinstance(rule, Cron | Rrule | Every) for rule in schedule.rules)
    if goes_on and len(planned) < count:
        detail = f"it ends: {len(planned)} more run{'' if len(planned) == 1 else 's'}"
        yield Warned(concern=Concern.ENDS, detail=detail)


def _on_the_hour(cron: Cron) -> bool:
    return (
        cron.minute.values == (0,) and cron.second.values == (0,) and "H" not in cron.text.upper()
    )


def _about_distance(schedule: Schedule, planned: Sequence[Planned]) -> Iterator[Warned]:
    distances = [after.tick.at - before.tick.at for before, after in pairwise(planned)]
    if not distances:
        return
    shortest = min(distances)
    if shortest < DENSE:
        detail = f"runs may be only {durations.words(shortest)} apart"
        yield Warned(concern=Concern.DENSE, detail=detail)
    if schedule.jitter is not None and schedule.jitter.window > shortest:
        detail = f"ticks may be only {durations.words(shortest)} apart; jitter ends at the next one"
        yield Warned(concern=Concern.JITTER_CUT, detail=detail)


def _changes(
    schedule: Schedule, after: datetime, calendars: Mapping[str, Calendar]
) -> Iterator[str]:
    """What the next changes of clocks do to the wall-clock rules of this schedule."""
    if not schedule.interval_like:
        for change in clock_changes(schedule.zone, after, after + AHEAD):
            yield from _around(schedule, change.at, calendars)


def _changed_times(schedule: Schedule, after: datetime) -> Iterator[str]:
    """What they do to its rules that follow elapsed time in some hours."""
    for times in islice(changed_times(schedule, after, after + AHEAD), NOTED):
        yield f"{times.first:%Y-%m-%d}: {times.words}"


def _around(
    schedule: Schedule, change: datetime, calendars: Mapping[str, Calendar]
) -> Iterator[str]:
    # A time that is skipped makes no tick to take a note from; where it would go, it is not.
    skips = schedule.gap is DstGap.SKIP
    shown = replace(schedule, gap=DstGap.RUN_AFTER) if skips else schedule
    near = plan(shown, change - NEAR, change + NEAR, calendars=calendars)
    for planned in _until_nothing_is_free(near):
        tick = planned.tick
        if tick.note is None:
            continue
        note = tick.note
        if skips and tick.at == change:
            note = f"{zones.clock(tick.local)} is skipped, because the clock jumps over it"
        yield f"{tick.local:%Y-%m-%d}: {note}"

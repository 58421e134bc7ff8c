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
from typing import NamedTuple
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidInput, InvalidSchedule, SearchTooLong
from rota.core.time import durations, moments, zones
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, PREVIEW_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import ClockChange, changed_times, clock_changes
from rota.core.time.cron import Cron
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, Planned, next_tick, plan
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import STEP, Schedule
from rota.core.time.sentence import sentence
from rota.core.time.tick import DstGap, Tick

MOST = 100
# Changes of clocks are looked for this far ahead: the next one in each direction.
AHEAD = timedelta(days=400)
NOTED = 4
# Ticks around all changes of clocks that are looked at for notes.
NOTED_TICKS_MAX = 500
DENSE = timedelta(seconds=10)
NO_TIME = timedelta(0)


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
    SEARCH_LIMIT = "search_limit"


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
    budget: SearchBudget | None = None,
) -> Preview:
    """The next `count` times after an instant; of a fixed delay only the next one is known.

    A search that takes more steps than `budget` has ends with the times that it has found, and says
    so in a warning. `SearchTooLong` if it has found none.
    """
    if not 1 <= count <= MOST:
        raise InvalidInput("count", count, f"a number from 1 to {MOST}")
    zone = schedule.zone if viewer is None else zones.zone(viewer)
    budget = SearchBudget(PREVIEW_STEPS_MAX) if budget is None else budget
    asked = _Asked(schedule, after, count, calendars, budget)
    planned, is_cut = _next(asked)
    return Preview(
        sentence=sentence(schedule),
        follows=Follows.ELAPSED_TIME if schedule.interval_like else Follows.WALL_CLOCK,
        timezone=schedule.timezone,
        tzdata=zones.tzdata_version(),
        upcoming=tuple(_upcoming(item, schedule.zone, zone) for item in planned),
        warnings=tuple(_warnings(asked, planned, is_cut=is_cut)),
    )


class _Asked(NamedTuple):
    """What is to be previewed, and the steps that it may take."""

    schedule: Schedule
    after: datetime
    limit: int
    calendars: Mapping[str, Calendar]
    budget: SearchBudget


def _next(asked: _Asked) -> tuple[tuple[Planned, ...], bool]:
    """The next times, and whether the search for more was cut short."""
    schedule, after, limit, calendars, budget = asked
    # The first time must be found within the steps that saving the schedule allows.
    first = next_tick(schedule, after, calendars=calendars, budget=budget.part(NEXT_TICK_STEPS_MAX))
    if first is None:
        return (), False
    if schedule.follows_end:
        return (first,), False
    found = [first]
    ahead = plan(schedule, first.tick.at, moments.LAST, calendars=calendars, fired=1, budget=budget)
    try:
        found.extend(islice(ahead, limit - 1))
    except SearchTooLong:
        return tuple(found), True
    except InvalidSchedule:
        pass  # calendars leave no time free from here on, for years
    return tuple(found), False


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


def _warnings(asked: _Asked, planned: Sequence[Planned], *, is_cut: bool) -> Iterator[Warned]:
    schedule = asked.schedule
    crons = [rule for rule in schedule.rules if isinstance(rule, Cron)]
    if any(cron.either_day for cron in crons):
        detail = (
            "a day of the month and a day of the week are both given: it runs on days that match"
            " either; day_match: all asks for both"
        )
        yield Warned(concern=Concern.EITHER_DAY, detail=detail)
    notes = [*islice(_changes(asked), NOTED), *_changed_times(schedule, asked.after)]
    for note in sorted(notes)[:NOTED]:
        yield Warned(concern=Concern.DAYLIGHT_SAVING, detail=note)
    yield from _about_distance(schedule, planned)
    if schedule.jitter is None and any(_on_the_hour(cron) for cron in crons):
        detail = "minute 0 is when most jobs run; H in its place, or jitter, spreads them"
        yield Warned(concern=Concern.HERD, detail=detail)
    goes_on = any(isinstance(rule, Cron | Rrule | Every) for rule in schedule.rules)
    if is_cut:
        detail = (
            f"the search stopped after {asked.budget.limit:,} steps and shows the times that it"
            " found; the schedule may have more"
        )
        yield Warned(concern=Concern.SEARCH_LIMIT, detail=detail)
    elif goes_on and len(planned) < asked.limit:
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


def _changes(asked: _Asked) -> Iterator[str]:
    """What the next changes of clocks do to the wall-clock rules of this schedule."""
    schedule = asked.schedule
    if schedule.interval_like:
        return
    # The others know instants only, and have no notes. However dense they are, they are left out.
    rules = tuple(rule for rule in schedule.rules if isinstance(rule, Cron | Rrule))
    noted = replace(schedule, rules=rules)
    left = NOTED_TICKS_MAX
    for change in clock_changes(schedule.zone, asked.after, asked.after + AHEAD):
        try:
            for planned in islice(_around(noted, change, asked), left):
                left -= 1
                note = _note(schedule, planned.tick, change)
                if note is not None:
                    yield note
        except InvalidSchedule:
            continue  # no time is free there, or none that is found within the budget


def _changed_times(schedule: Schedule, after: datetime) -> Iterator[str]:
    """What they do to its rules that follow elapsed time in some hours."""
    for times in islice(changed_times(schedule, after, after + AHEAD), NOTED):
        yield f"{times.first:%Y-%m-%d}: {times.words}"


def _around(schedule: Schedule, change: ClockChange, asked: _Asked) -> Iterator[Planned]:
    """The ticks in a gap, or in the times that come twice."""
    # A time that is skipped makes no tick to take a note from; where it would go, it is not.
    shown = replace(schedule, gap=DstGap.RUN_AFTER) if _skips(schedule) else schedule
    moved = abs(change.by)
    since = change.at if change.by > NO_TIME else change.at - moved
    return plan(
        shown, since - STEP, change.at + moved, calendars=asked.calendars, budget=asked.budget
    )


def _skips(schedule: Schedule) -> bool:
    return schedule.gap is DstGap.SKIP


def _note(schedule: Schedule, tick: Tick, change: ClockChange) -> str | None:
    if tick.note is None:
        return None
    note = tick.note
    if _skips(schedule) and tick.at == change.at:
        note = f"{zones.clock(tick.local)} is skipped, because the clock jumps over it"
    return f"{tick.local:%Y-%m-%d}: {note}"

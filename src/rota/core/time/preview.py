"""Previews a schedule before it is saved.

A preview has the description, the next actual start times, the effects of daylight saving and
calendars on them, and warnings about likely mistakes. planning.py computes the times, as it does
for the scheduler, so a preview cannot differ from what happens.
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
# How far ahead to look for clock changes: includes the next one in each direction.
AHEAD = timedelta(days=400)
NOTED = 4
# Ticks around all clock changes that are inspected for notes.
NOTED_TICKS_MAX = 500
DENSE = timedelta(seconds=10)
NO_TIME = timedelta(0)


class Follows(StrEnum):
    """What a schedule follows when clocks change."""

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
    """A likely mistake in a schedule."""

    concern: Concern
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """One upcoming run: the nominal instant, the actual start, the nominal local time, and the
    start in the viewer's zone.
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
    """Preview the next `count` times after an instant; for a fixed delay, only the next one.

    If the search needs more steps than `budget` has, the preview holds the times found so far and a
    warning. Raises `SearchTooLong` if none was found.
    """
    if not 1 <= count <= MOST:
        raise InvalidInput("count", count, f"must be 1–{MOST}")
    zone = schedule.zone if viewer is None else zones.zone(viewer)
    budget = SearchBudget(PREVIEW_STEPS_MAX) if budget is None else budget
    request = _Request(schedule, after, count, calendars, budget)
    planned, is_cut = _next(request)
    return Preview(
        sentence=sentence(schedule),
        follows=Follows.ELAPSED_TIME if schedule.interval_like else Follows.WALL_CLOCK,
        timezone=schedule.timezone,
        tzdata=zones.tzdata_version(),
        upcoming=tuple(_upcoming(item, schedule.zone, zone) for item in planned),
        warnings=tuple(_warnings(request, planned, is_cut=is_cut)),
    )


class _Request(NamedTuple):
    """The schedule to preview, and the steps that the search may take."""

    schedule: Schedule
    after: datetime
    limit: int
    calendars: Mapping[str, Calendar]
    budget: SearchBudget


def _next(request: _Request) -> tuple[tuple[Planned, ...], bool]:
    """Return the next times, and whether the search was cut short."""
    schedule, after, limit, calendars, budget = request
    # The first time has the same budget as when the schedule is saved.
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
        pass  # calendars black out all following years
    return tuple(found), False


def _upcoming(planned: Planned, zone: ZoneInfo, viewer: ZoneInfo) -> Upcoming:
    tick = planned.tick
    blacked_out = [
        f"skips {_minute(skip.first.at, zone)}: {skip.blackout.name}"
        f" until {_minute(skip.blackout.end, zone)}"
        for skip in planned.skipped
    ]
    tick_notes = () if tick.note is None else (tick.note,)
    return Upcoming(
        at=tick.at,
        due_at=planned.due_at,
        local=tick.local,
        viewed=planned.due_at.astimezone(viewer),
        notes=(*tick_notes, *planned.notes, *blacked_out),
    )


def _minute(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _warnings(request: _Request, planned: Sequence[Planned], *, is_cut: bool) -> Iterator[Warned]:
    schedule = request.schedule
    crons = [rule for rule in schedule.rules if isinstance(rule, Cron)]
    if any(cron.either_day for cron in crons):
        detail = (
            "day-of-month and day-of-week are both set: it runs on days that match either one;"
            " set day_match: all to require both"
        )
        yield Warned(concern=Concern.EITHER_DAY, detail=detail)
    notes = [*islice(_changes(request), NOTED), *_changed_times(schedule, request.after)]
    for note in sorted(notes)[:NOTED]:
        yield Warned(concern=Concern.DAYLIGHT_SAVING, detail=note)
    yield from _about_distance(schedule, planned)
    if schedule.jitter is None and any(_on_the_hour(cron) for cron in crons):
        detail = "many jobs run at minute 0; use H or jitter to spread the load"
        yield Warned(concern=Concern.HERD, detail=detail)
    goes_on = any(isinstance(rule, Cron | Rrule | Every) for rule in schedule.rules)
    if is_cut:
        detail = (
            f"the search stopped after {request.budget.limit:,} steps; the schedule may have more"
            " times than shown"
        )
        yield Warned(concern=Concern.SEARCH_LIMIT, detail=detail)
    elif goes_on and len(planned) < request.limit:
        detail = (
            f"the schedule ends after {len(planned)} more run{'' if len(planned) == 1 else 's'}"
        )
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
        detail = (
            f"ticks may be only {durations.words(shortest)} apart; jitter stops at the next tick"
        )
        yield Warned(concern=Concern.JITTER_CUT, detail=detail)


def _changes(request: _Request) -> Iterator[str]:
    """Yield the effects of the next clock changes on the schedule's wall-clock rules."""
    schedule = request.schedule
    if schedule.interval_like:
        return
    # Other rules work with instants, so their ticks have no notes. They may be dense; leave them
    # out.
    rules = tuple(rule for rule in schedule.rules if isinstance(rule, Cron | Rrule))
    wall_clock = replace(schedule, rules=rules)
    left = NOTED_TICKS_MAX
    for change in clock_changes(schedule.zone, request.after, request.after + AHEAD):
        try:
            for planned in islice(_around(wall_clock, change, request), left):
                left -= 1
                note = _note(schedule, planned.tick, change)
                if note is not None:
                    yield note
        except InvalidSchedule:
            continue  # all times are blacked out, or the budget ran out


def _changed_times(schedule: Schedule, after: datetime) -> Iterator[str]:
    """Yield the effects on rules that follow elapsed time in some hours only."""
    for times in islice(changed_times(schedule, after, after + AHEAD), NOTED):
        yield f"{times.first:%Y-%m-%d}: {times.words}"


def _around(schedule: Schedule, change: ClockChange, request: _Request) -> Iterator[Planned]:
    """Return the ticks in a gap, or at the local times that occur twice."""
    # A skipped time produces no tick and so no note: let it run after the gap to find it.
    shown = replace(schedule, gap=DstGap.RUN_AFTER) if _skips(schedule) else schedule
    moved = abs(change.by)
    since = change.at if change.by > NO_TIME else change.at - moved
    return plan(
        shown, since - STEP, change.at + moved, calendars=request.calendars, budget=request.budget
    )


def _skips(schedule: Schedule) -> bool:
    return schedule.gap is DstGap.SKIP


def _note(schedule: Schedule, tick: Tick, change: ClockChange) -> str | None:
    if tick.note is None:
        return None
    note = tick.note
    if _skips(schedule) and tick.at == change.at:
        note = f"{zones.clock(tick.local)} is skipped: the clock jumps over it"
    return f"{tick.local:%Y-%m-%d}: {note}"

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
from rota.core.time.clock_changes import ClockChange, find_changed_times, find_clock_changes
from rota.core.time.cron import Cron
from rota.core.time.description import describe_schedule
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, PlannedTick, plan_next_tick, plan_ticks
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.core.time.tick import DstGap, Tick

PREVIEW_TIMES_MAX = 100
# How far ahead to look for clock changes: includes the next one in each direction.
CLOCK_CHANGE_LOOKAHEAD = timedelta(days=400)
CLOCK_CHANGE_NOTES_MAX = 4
# Ticks around all clock changes that are inspected for notes.
NOTED_TICKS_MAX = 500
DENSE_INTERVAL = timedelta(seconds=10)
ZERO_DURATION = timedelta(0)


class TimeBasis(StrEnum):
    """What a schedule follows when clocks change."""

    ELAPSED_TIME = "elapsed_time"
    WALL_CLOCK = "wall_clock"


class PreviewConcern(StrEnum):
    EITHER_DAY = "either_day"
    DAYLIGHT_SAVING = "daylight_saving"
    DENSE = "dense"
    HERD = "herd"
    JITTER_CUT = "jitter_cut"
    ENDS = "ends"
    SEARCH_LIMIT = "search_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewWarning:
    """A likely mistake in a schedule."""

    concern: PreviewConcern
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpcomingTick:
    """One upcoming run: the nominal instant, the actual start, the nominal local time, and the
    start in the viewer's zone.
    """

    at: datetime
    due_at: datetime
    local: datetime
    viewer_local: datetime
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePreview:
    sentence: str
    follows: TimeBasis
    timezone: str
    tzdata: str
    upcoming: tuple[UpcomingTick, ...]
    warnings: tuple[PreviewWarning, ...]


def preview_schedule(
    schedule: Schedule,
    after: datetime,
    *,
    count: int = 10,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    viewer: str | None = None,
    budget: SearchBudget | None = None,
) -> SchedulePreview:
    """Preview the next `count` times after an instant; for a fixed delay, only the next one.

    If the search needs more steps than `budget` has, the preview holds the times found so far and a
    warning. Raises `SearchTooLong` if none was found.
    """
    if not 1 <= count <= PREVIEW_TIMES_MAX:
        raise InvalidInput("count", count, f"must be 1–{PREVIEW_TIMES_MAX}")
    zone = schedule.zone if viewer is None else zones.get_zone(viewer)
    budget = SearchBudget(PREVIEW_STEPS_MAX) if budget is None else budget
    request = _Request(schedule, after, count, calendars, budget)
    planned, is_cut = _next(request)
    return SchedulePreview(
        sentence=describe_schedule(schedule),
        follows=TimeBasis.ELAPSED_TIME if schedule.interval_like else TimeBasis.WALL_CLOCK,
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


def _next(request: _Request) -> tuple[tuple[PlannedTick, ...], bool]:
    """Return the next times, and whether the search was cut short."""
    schedule, after, limit, calendars, budget = request
    # The first time has the same budget as when the schedule is saved.
    first = plan_next_tick(
        schedule, after, calendars=calendars, budget=budget.create_part(NEXT_TICK_STEPS_MAX)
    )
    if first is None:
        return (), False
    if schedule.follows_end:
        return (first,), False
    found = [first]
    ahead = plan_ticks(
        schedule, first.tick.at, moments.LATEST_INSTANT, calendars=calendars, fired=1, budget=budget
    )
    try:
        found.extend(islice(ahead, limit - 1))
    except SearchTooLong:
        return tuple(found), True
    except InvalidSchedule:
        pass  # calendars black out all following years
    return tuple(found), False


def _upcoming(planned: PlannedTick, zone: ZoneInfo, viewer: ZoneInfo) -> UpcomingTick:
    tick = planned.tick
    blacked_out = [
        f"skips {_minute(skip.first.at, zone)}: {skip.blackout.name}"
        f" until {_minute(skip.blackout.end, zone)}"
        for skip in planned.skipped
    ]
    tick_notes = () if tick.note is None else (tick.note,)
    return UpcomingTick(
        at=tick.at,
        due_at=planned.due_at,
        local=tick.local,
        viewer_local=planned.due_at.astimezone(viewer),
        notes=(*tick_notes, *planned.notes, *blacked_out),
    )


def _minute(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _warnings(
    request: _Request, planned: Sequence[PlannedTick], *, is_cut: bool
) -> Iterator[PreviewWarning]:
    schedule = request.schedule
    crons = [rule for rule in schedule.rules if isinstance(rule, Cron)]
    if any(cron.either_day for cron in crons):
        detail = (
            "day-of-month and day-of-week are both set: it runs on days that match either one;"
            " set day_match: all to require both"
        )
        yield PreviewWarning(concern=PreviewConcern.EITHER_DAY, detail=detail)
    notes = [
        *islice(_changes(request), CLOCK_CHANGE_NOTES_MAX),
        *_list_changed_times(schedule, request.after),
    ]
    for note in sorted(notes)[:CLOCK_CHANGE_NOTES_MAX]:
        yield PreviewWarning(concern=PreviewConcern.DAYLIGHT_SAVING, detail=note)
    yield from _about_distance(schedule, planned)
    if schedule.jitter is None and any(_on_the_hour(cron) for cron in crons):
        detail = "many jobs run at minute 0; use H or jitter to spread the load"
        yield PreviewWarning(concern=PreviewConcern.HERD, detail=detail)
    goes_on = any(isinstance(rule, Cron | Rrule | Every) for rule in schedule.rules)
    if is_cut:
        detail = (
            f"the search stopped after {request.budget.limit:,} steps; the schedule may have more"
            " times than shown"
        )
        yield PreviewWarning(concern=PreviewConcern.SEARCH_LIMIT, detail=detail)
    elif goes_on and len(planned) < request.limit:
        detail = (
            f"the schedule ends after {len(planned)} more run{'' if len(planned) == 1 else 's'}"
        )
        yield PreviewWarning(concern=PreviewConcern.ENDS, detail=detail)


def _on_the_hour(cron: Cron) -> bool:
    return (
        cron.minute.values == (0,) and cron.second.values == (0,) and "H" not in cron.text.upper()
    )


def _about_distance(schedule: Schedule, planned: Sequence[PlannedTick]) -> Iterator[PreviewWarning]:
    distances = [after.tick.at - before.tick.at for before, after in pairwise(planned)]
    if not distances:
        return
    shortest = min(distances)
    if shortest < DENSE_INTERVAL:
        detail = f"runs may be only {durations.to_words(shortest)} apart"
        yield PreviewWarning(concern=PreviewConcern.DENSE, detail=detail)
    if schedule.jitter is not None and schedule.jitter.window > shortest:
        detail = (
            f"ticks may be only {durations.to_words(shortest)} apart; jitter stops at the next tick"
        )
        yield PreviewWarning(concern=PreviewConcern.JITTER_CUT, detail=detail)


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
    for change in find_clock_changes(
        schedule.zone, request.after, request.after + CLOCK_CHANGE_LOOKAHEAD
    ):
        try:
            for planned in islice(_around(wall_clock, change, request), left):
                left -= 1
                note = _note(schedule, planned.tick, change)
                if note is not None:
                    yield note
        except InvalidSchedule:
            continue  # all times are blacked out, or the budget ran out


def _list_changed_times(schedule: Schedule, after: datetime) -> Iterator[str]:
    """Yield the effects on rules that follow elapsed time in some hours only."""
    for times in islice(
        find_changed_times(schedule, after, after + CLOCK_CHANGE_LOOKAHEAD), CLOCK_CHANGE_NOTES_MAX
    ):
        yield f"{times.first:%Y-%m-%d}: {times.description}"


def _around(schedule: Schedule, change: ClockChange, request: _Request) -> Iterator[PlannedTick]:
    """Return the ticks in a gap, or at the local times that occur twice."""
    # A skipped time produces no tick and so no note: let it run after the gap to find it.
    shown = replace(schedule, gap=DstGap.RUN_AFTER) if _skips(schedule) else schedule
    moved = abs(change.by)
    since = change.at if change.by > ZERO_DURATION else change.at - moved
    return plan_ticks(
        shown,
        since - MICROSECOND,
        change.at + moved,
        calendars=request.calendars,
        budget=request.budget,
    )


def _skips(schedule: Schedule) -> bool:
    return schedule.gap is DstGap.SKIP


def _note(schedule: Schedule, tick: Tick, change: ClockChange) -> str | None:
    if tick.note is None:
        return None
    note = tick.note
    if _skips(schedule) and tick.at == change.at:
        note = f"{zones.format_clock(tick.local)} is skipped: the clock jumps over it"
    return f"{tick.local:%Y-%m-%d}: {note}"

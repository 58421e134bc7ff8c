"""Finds the next tick of a schedule and its actual start time.

Applies the run cap, the calendars and the jitter to the nominal ticks (schedule.py). The search
starts from a stored cursor, the nominal time of the last decided tick, and never from the clock. So
it gives the same result at any time and on any node. The cursor after a tick is that tick's `at`,
regardless of its `due_at`.

- skip: ticks in a blackout are dropped; the result is the next tick after it.
- defer: the last tick in a blackout replaces all of them and is due at its end. The last one, so
  that the cursor is past all of them, and because the newest time is the useful one.
- advance: the first tick in a blackout replaces all of them and is due a second before it. If that
  instant is not after the cursor, they are dropped.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from rota.core.errors import InvalidSchedule, SearchTooLong
from rota.core.time import cron
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Blackout, Calendar, blackout_at
from rota.core.time.policies import OnBlackout
from rota.core.time.schedule import MICROSECOND, SEARCH_HORIZON, NominalTicks, Schedule
from rota.core.time.tick import Tick

T = TypeVar("T")

NO_CALENDARS: Mapping[str, Calendar] = MappingProxyType({})
SECOND = timedelta(seconds=1)
# How often jitter may be shortened at a blackout before it is dropped.
JITTER_CUTS_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTicks:
    """A blackout that dropped ticks: from `first` until the tick that was planned instead, or until
    the end of the blackout if that is earlier.
    """

    first: Tick
    blackout: Blackout


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTick:
    """A tick that starts at `due_at`. `tick` is its identity and the next cursor."""

    tick: Tick
    due_at: datetime
    notes: tuple[str, ...] = ()
    skipped: tuple[SkippedTicks, ...] = ()


def plan_next_tick(
    schedule: Schedule,
    after: datetime,
    *,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    last_end: datetime | None = None,
    fired: int = 0,
    budget: SearchBudget | None = None,
) -> PlannedTick | None:
    """Return the first tick with `tick.at` > `after`; None without one within eight years.

    `last_end` is when the last run ended; only a fixed delay uses it. `fired` is the number of runs
    so far; a fixed delay and the run cap use it. Raises `SearchTooLong` if the search needs more
    steps than `budget` has. Default budget: `NEXT_TICK_STEPS_MAX`.
    """
    if schedule.simple_cron is not None:
        if budget is not None:
            budget.spend()
        tick = cron.find_next_tick(
            schedule.simple_cron, schedule.zone, after, gap=schedule.gap, overlap=schedule.overlap
        )
        return None if tick is None else PlannedTick(tick=tick, due_at=tick.at)
    max_runs = schedule.window.max_runs
    if max_runs is not None and fired >= max_runs:
        return None
    budget = SearchBudget() if budget is None else budget
    try:
        rules = NominalTicks(schedule, last_end=last_end, fired=fired, budget=budget)
        search = _Search(rules.next_after, resolve_calendars(schedule, calendars), budget)
        return _apply_calendars(schedule, after, search)
    except SearchTooLong as error:
        if schedule.calendars and error.field == "schedule":
            error.field, error.value = "calendars", ", ".join(schedule.calendars)
        raise


NextTickFunction = Callable[[datetime], Tick | None]


class _Search(NamedTuple):
    """The inputs of a search, and the steps that it may take."""

    following: NextTickFunction
    calendars: tuple[Calendar, ...]
    budget: SearchBudget

    def blackout_at(self, instant: datetime) -> Blackout | None:
        return blackout_at(self.calendars, instant, self.budget) if self.calendars else None


def resolve_calendars(
    schedule: Schedule, calendars: Mapping[str, Calendar]
) -> tuple[Calendar, ...]:
    """Return the schedule's calendars. A missing calendar must not silently lift its blackouts."""
    try:
        return tuple(calendars[name] for name in schedule.calendars)
    except KeyError as missing:
        existing = ", ".join(sorted(calendars)) or "none"
        wanted = f"no such calendar; existing calendars: {existing}"
        raise InvalidSchedule("calendars", missing.args[0], wanted) from None


def plan_ticks(
    schedule: Schedule,
    after: datetime,
    until: datetime,
    *,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    fired: int = 0,
    budget: SearchBudget | None = None,
) -> Iterator[PlannedTick]:
    """Yield the ticks with after < `tick.at` <= until, in order. Yields none for a fixed delay,
    whose next tick is unknown until the run has ended. All ticks share `budget`. Default: one
    budget per tick.
    """
    while not schedule.follows_end:
        planned = plan_next_tick(schedule, after, calendars=calendars, fired=fired, budget=budget)
        if planned is None or planned.tick.at > until:
            return
        yield planned
        after, fired = planned.tick.at, fired + 1


def _apply_calendars(schedule: Schedule, after: datetime, search: _Search) -> PlannedTick | None:
    skipped: list[SkippedTicks] = []
    since = after
    while not skipped or since - skipped[0].first.at < SEARCH_HORIZON:
        tick = search.following(since)
        if tick is None:
            return None
        blackout = search.blackout_at(tick.at)
        if blackout is None:
            start = PlannedTick(tick=tick, due_at=tick.at, skipped=tuple(skipped))
            return _add_jitter(schedule, start, search)
        moved = _move_out_of_blackout(schedule, tick, blackout, search.following)
        if moved is not None and moved.due_at > after:
            start = replace(moved, skipped=(*skipped, *moved.skipped))
            return _add_jitter(schedule, start, search)
        skipped.append(SkippedTicks(first=tick, blackout=blackout))
        since = blackout.end - MICROSECOND
    wanted = "all ticks within 8 years are blacked out; use calendars that leave time free"
    raise InvalidSchedule("calendars", ", ".join(schedule.calendars), wanted)


def _move_out_of_blackout(
    schedule: Schedule, tick: Tick, blackout: Blackout, following: NextTickFunction
) -> PlannedTick | None:
    """Move a tick out of a blackout. Returns None if the tick is dropped."""
    end = schedule.window.end
    if schedule.on_blackout is OnBlackout.ADVANCE:
        note = f"moved to before {blackout.name}"
        return PlannedTick(tick=tick, due_at=blackout.start - SECOND, notes=(note,))
    if schedule.on_blackout is OnBlackout.SKIP or (end is not None and blackout.end >= end):
        return None
    last: Tick = tick
    skipped: tuple[SkippedTicks, ...] = ()
    if not schedule.follows_end:
        last = find_last(
            following, tick, blackout.end, at=_at, fits=lambda tick: tick.at <= blackout.end
        )
    if last.at > tick.at:
        skipped = (SkippedTicks(first=tick, blackout=blackout),)
    note = f"deferred to the end of {blackout.name}"
    return PlannedTick(tick=last, due_at=blackout.end, notes=(note,), skipped=skipped)


def _at(tick: Tick) -> datetime:
    return tick.at


def find_last(
    next_after: Callable[[datetime], T | None],
    first: T,
    high: datetime,
    *,
    at: Callable[[T], datetime],
    fits: Callable[[T], bool],
) -> T:
    """Find the last item that fits, by bisection: an outage may contain millions of ticks.

    `first` fits, and after an item that does not fit none does. Items after `high` are found too,
    but one by one.
    """
    last = first
    while True:
        item = next_after(at(last))
        if item is None or not fits(item):
            return last
        last = item
        if at(last) >= high:
            continue
        middle = at(last) + (high - at(last)) / 2
        probe = next_after(middle)
        if probe is not None and fits(probe):
            last = probe
        else:
            high = middle


def _add_jitter(schedule: Schedule, start: PlannedTick, search: _Search) -> PlannedTick:
    """Add the jitter, limited by the next tick, the window's end and blackouts."""
    base, jitter = start.due_at, schedule.jitter
    if jitter is None or base < start.tick.at:
        return start
    upcoming = search.following(base)
    limits = [schedule.window.end, None if upcoming is None else upcoming.at]
    room = min((limit - base for limit in limits if limit is not None), default=None)
    for _ in range(JITTER_CUTS_MAX):
        due_at = base + jitter.offset(schedule.seed, start.tick.at, room=room)
        blackout = search.blackout_at(due_at)
        if blackout is None:
            return replace(start, due_at=due_at)
        room = blackout.start - base
    return start

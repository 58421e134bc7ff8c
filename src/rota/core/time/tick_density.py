"""Counts how many ticks of many schedules fall into each part of a span.

Identical schedules are counted once. Cron expressions and intervals, alone or combined, with a
window and with calendars that drop ticks, are counted exactly without iteration (tick_counts.py).
Recurrence rules, jitter and calendars that move ticks are counted tick by tick. That iteration has
a budget; a schedule with more ticks is extrapolated from the rate so far and marked as an estimate.
planning.py alone decides what fires and when.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from rota.core.errors import InvalidSchedule, SearchTooLong
from rota.core.time.budget import Check, SearchBudget
from rota.core.time.calendars import Calendar, blackout_at
from rota.core.time.cron import Cron
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, SECOND, plan_ticks, resolve_calendars
from rota.core.time.policies import OnBlackout
from rota.core.time.schedule import MICROSECOND, Once, Schedule
from rota.core.time.tick_counts import (
    IntervalCounter,
    ListedCounter,
    TickCounter,
    create_cron_counter,
    to_microseconds,
)

# Ticks iterated for one result, about 10 µs each, and the minimum per schedule.
WALKED_TICKS_MAX: Final = 20_000
WALKED_TICKS_MIN: Final = 16
# Search steps per iterated tick on average: a union of many rules evaluates each of them.
STEPS_PER_TICK_MAX: Final = 4
STEPS_PER_GROUP: Final = 500
# Search steps in the calendars of a schedule whose ticks are counted without iteration.
COUNT_STEPS_MAX: Final = 20_000
# Ticks of the sparser rules of a combined schedule that are compared with its densest rule.
COMBINED_TICKS_MAX: Final = 50_000
# Absorbs float errors, so that three thirds make one.
ROUNDING_TOLERANCE: Final = 1e-6

Pieces = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleGroup:
    """A group of schedules with the same ticks: one of them, and their number.

    For a schedule with a run cap, `fired` is the number of decided ticks and `next_at` the first
    undecided one. Default: the start of the span.
    """

    schedule: Schedule
    size: int
    fired: int = 0
    next_at: datetime | None = None

    def multiply(self, factor: int) -> "ScheduleGroup":
        """Return a group with `factor` times as many schedules."""
        return self if factor <= 1 else replace(self, size=self.size * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class DensitySpan:
    """The span since <= t < until, in parts of `width`."""

    since: datetime
    until: datetime
    width: timedelta

    @property
    def parts(self) -> int:
        return -((self.since - self.until) // self.width)

    def part(self, at: datetime) -> int:
        return (at - self.since) // self.width


@dataclass(frozen=True, slots=True)
class TickCount:
    """The ticks of one schedule in the span; `parts` holds the non-empty parts."""

    parts: Mapping[int, int] = field(default_factory=dict)
    ticks: int = 0
    is_estimate: bool = False


@dataclass(slots=True)
class TickDensity:
    """The ticks of all schedules. `parts` holds the non-empty parts, `each` one count per group."""

    parts: Counter[int] = field(default_factory=Counter)
    groups: list[TickCount] = field(default_factory=list)

    @property
    def is_estimate(self) -> bool:
        return any(count.is_estimate for count in self.groups)


def compute_tick_density(
    groups: Sequence[ScheduleGroup],
    span: DensitySpan,
    *,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    check: Check | None = None,
) -> TickDensity:
    """Count the ticks of all groups in the span. `check` is called between steps and may raise."""
    found = TickDensity()
    left, walks = WALKED_TICKS_MAX, sum(not _is_countable(group.schedule) for group in groups)
    for group in groups:
        if check is not None:
            check()
        try:
            if _is_countable(group.schedule):
                steps = SearchBudget(COUNT_STEPS_MAX, check=check)
                counted = _count(group, span, calendars, steps)
            else:
                # Later groups share what earlier groups did not use.
                limit = max(WALKED_TICKS_MIN, left // walks)
                steps = SearchBudget(STEPS_PER_GROUP + STEPS_PER_TICK_MAX * limit, check=check)
                walk = _Walk(span)
                counted = walk.count(_iterate_starts(group, span, calendars, steps), limit=limit)
                left, walks = left - walk.looked_at, walks - 1
        except SearchTooLong:
            counted = TickCount(is_estimate=True)
        except InvalidSchedule:
            # A missing calendar: the scheduler reports it, so this overview ignores it.
            counted = TickCount()
        found.groups.append(counted)
        for part, ticks in counted.parts.items():
            found.parts[part] += ticks * group.size
    return found


def _is_countable(schedule: Schedule) -> bool:
    """Return whether the ticks can be counted without iteration."""
    moves = schedule.calendars and schedule.on_blackout is not OnBlackout.SKIP
    simple = all(isinstance(rule, Cron | Every | Once) for rule in schedule.rules)
    return simple and schedule.jitter is None and not moves


def _count(
    group: ScheduleGroup, span: DensitySpan, calendars: Mapping[str, Calendar], steps: SearchBudget
) -> TickCount:
    schedule = group.schedule
    low, high = to_microseconds(span.since), to_microseconds(span.until)
    start, cap = low, _ticks_left(group)
    if cap is not None and group.next_at is not None:
        # Ticks before the span count towards the cap, too.
        start = to_microseconds(group.next_at)
    pieces = _free_pieces(
        schedule, resolve_calendars(schedule, calendars), (min(start, low), high), steps
    )
    pieces = [(max(first, start), last) for first, last in pieces if last > start]
    counters = [_counter(schedule, rule, min(start, low), high) for rule in schedule.rules]
    union, is_estimate = _combine_counters(counters, min(start, low), high)
    parts: Counter[int] = Counter()
    width = span.width // MICROSECOND
    is_sparse = _count_between(union, low, high) <= span.parts
    for first, last in pieces:
        if cap is not None and first < low:
            cap = max(0, cap - _count_between(union, first, min(last, low)))
        if not is_sparse:
            _count_piece(union, (max(first, low), last), (low, width), parts)
    if is_sparse:
        ticks = (at for one in union for at in one.instants() if at >= low)
        parts.update((at - low) // width for at in ticks if _is_inside(pieces, at))
    if cap is not None:
        parts = _cap_ticks(parts, cap)
    return TickCount(parts, parts.total(), is_estimate)


def _ticks_left(group: ScheduleGroup) -> int | None:
    max_runs = group.schedule.window.max_runs
    return None if max_runs is None else max(0, max_runs - group.fired)


def _count_between(union: Sequence[TickCounter], first: int, last: int) -> int:
    return sum(one.count_before(last) - one.count_before(first) for one in union)


def _is_inside(pieces: Pieces, at: int) -> bool:
    place = bisect_right(pieces, at, key=lambda piece: piece[0]) - 1
    return place >= 0 and at < pieces[place][1]


def _count_piece(
    union: Sequence[TickCounter],
    piece: tuple[int, int],
    grid: tuple[int, int],
    parts: Counter[int],
) -> None:
    """Add the ticks of one piece of time to the parts of the span that it overlaps."""
    first, last = piece
    low, width = grid
    if first >= last:
        return
    before = sum(one.count_before(first) for one in union)
    end = sum(one.count_before(last) for one in union)
    while first < last and before < end:
        part = (first - low) // width
        first = min(low + (part + 1) * width, last)
        after = sum(one.count_before(first) for one in union)
        if after > before:
            parts[part] += after - before
        before = after


def _cap_ticks(parts: Counter[int], cap: int) -> Counter[int]:
    """Keep only the first `cap` ticks."""
    capped: Counter[int] = Counter()
    for part in sorted(parts):
        if cap <= 0:
            break
        capped[part] = min(parts[part], cap)
        cap -= capped[part]
    return capped


def _counter(schedule: Schedule, rule: object, low: int, high: int) -> TickCounter:
    match rule:
        case Cron():
            return create_cron_counter(
                rule, schedule.zone, low, high, gap=schedule.gap, overlap=schedule.overlap
            )
        case Every():
            return IntervalCounter.of(rule, low, high)
        case Once():
            at = to_microseconds(rule.at)
            return ListedCounter((at,) if low <= at < high else ())
        case _:
            raise AssertionError("rule is not countable")


def _combine_counters(
    counters: Sequence[TickCounter], low: int, high: int
) -> tuple[tuple[TickCounter, ...], bool]:
    """Return counters that together count each instant once, and whether that is an estimate."""
    if len(counters) == 1:
        return tuple(counters), False
    sizes = {id(one): one.count_before(high) - one.count_before(low) for one in counters}
    densest = max(counters, key=lambda one: sizes[id(one)])
    others = [one for one in counters if one is not densest]
    if sum(sizes[id(one)] for one in others) > COMBINED_TICKS_MAX:
        return tuple(counters), True
    listed = {at for one in others for at in one.instants()}
    extra = [at for at in listed if densest.count_before(at + 1) == densest.count_before(at)]
    return (densest, ListedCounter(tuple(sorted(extra)))), False


def _free_pieces(
    schedule: Schedule,
    calendars: Sequence[Calendar],
    span: tuple[int, int],
    steps: SearchBudget,
) -> Pieces:
    """Return the pieces of a span in which ticks count: inside the window, outside blackouts."""
    window, (low, high) = schedule.window, span
    if window.start is not None:
        low = max(low, to_microseconds(window.start))
    if window.end is not None:
        high = min(high, to_microseconds(window.end))
    pieces: Pieces = []
    for start, end in sorted(
        (to_microseconds(start), to_microseconds(end))
        for calendar in calendars
        for start, end in _blackouts(calendar, low, high, steps)
    ):
        if start >= high:
            break
        if start > low:
            pieces.append((low, start))
        low = max(low, end)
    if low < high:
        pieces.append((low, high))
    return pieces


def _blackouts(
    calendar: Calendar, low: int, high: int, steps: SearchBudget
) -> Iterator[tuple[datetime, datetime]]:
    instant, until = (datetime.fromtimestamp(edge / 1_000_000, UTC) for edge in (low, high))
    while instant < until:
        part = calendar.part_at(instant, steps)
        yield from zip(part.starts, part.ends, strict=True)
        instant = part.last


def _iterate_starts(
    group: ScheduleGroup, span: DensitySpan, calendars: Mapping[str, Calendar], steps: SearchBudget
) -> Iterator[datetime]:
    """Yield the start times of all ticks that may fall into the span, and possibly a few more."""
    schedule = group.schedule
    after, until = _reach(schedule, span, resolve_calendars(schedule, calendars), steps)
    if _ticks_left(group) is not None and group.next_at is not None:
        after = group.next_at - MICROSECOND
    ahead = plan_ticks(schedule, after, until, calendars=calendars, fired=group.fired, budget=steps)
    for planned in ahead:
        yield planned.due_at


def _reach(
    schedule: Schedule, span: DensitySpan, calendars: Sequence[Calendar], steps: SearchBudget
) -> tuple[datetime, datetime]:
    """Return the range of nominal times whose ticks may start in the span. Jitter and deferral
    start a tick later than its nominal time; advancing starts it earlier.
    """
    spread = schedule.jitter.window if schedule.jitter else timedelta(0)
    after, until = span.since - spread - MICROSECOND, span.until - MICROSECOND
    if schedule.on_blackout is OnBlackout.DEFER:
        before = blackout_at(calendars, after, steps)
        return (after if before is None else before.start - MICROSECOND), until
    if schedule.on_blackout is OnBlackout.ADVANCE:
        behind = blackout_at(calendars, until + SECOND, steps)
        return after, (until if behind is None else behind.end)
    return after, until


@dataclass(slots=True)
class _Walk:
    """Counts the ticks of one schedule one by one."""

    span: DensitySpan
    looked_at: int = 0

    def count(self, ahead: Iterator[datetime], *, limit: int) -> TickCount:
        """Count at most `limit` ticks and estimate the rest."""
        parts: Counter[int] = Counter()
        last = self.span.since
        try:
            # One more than the limit shows whether there are more ticks.
            for at in islice(ahead, limit + 1):
                last = at
                if self.looked_at == limit:
                    return self._extrapolate(parts, at)
                self.looked_at += 1
                self._add(parts, at)
        except SearchTooLong:
            # The search budget is spent.
            return self._extrapolate(parts, last)
        return TickCount(parts, parts.total())

    def _add(self, parts: Counter[int], at: datetime) -> None:
        if 0 <= (part := self.span.part(at)) < self.span.parts and at < self.span.until:
            parts[part] += 1

    def _extrapolate(self, parts: Counter[int], at: datetime) -> TickCount:
        """Extrapolate from this instant at the rate counted so far."""
        span = self.span
        # The part in which the count ended is estimated completely.
        first = max(0, span.part(at))
        elapsed = max(at - span.since, MICROSECOND)
        rate, left = parts.total() * (span.width / elapsed), 0.0
        estimate = Counter({part: ticks for part, ticks in parts.items() if part < first})
        for part in range(first, span.parts):
            left += rate
            number = int(left + ROUNDING_TOLERANCE)
            left -= number
            if number:
                estimate[part] = number
        return TickCount(estimate, estimate.total(), is_estimate=True)

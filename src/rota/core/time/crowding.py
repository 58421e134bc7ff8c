"""How many ticks of many schedules fall into each part of a span. Room: core/time.

For a picture of the load to come, so it may be rough where being exact would take long: schedules
that are alike are planned once, jitter is spread evenly over its window, and a schedule with more
ticks than its part of the budget is counted as far as that goes and goes on at the same rate. What
fires, and when, is planning.py's alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from rota.core.errors import InvalidSchedule
from rota.core.time.calendars import Calendar
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, plan
from rota.core.time.schedule import ALWAYS, STEP, Schedule

# Some 6 µs each.
BUDGET: Final = 20_000
LEAST: Final = 16
# So many ticks of an interval cost as much as one of a cron expression.
CHEAP: Final = 5
# A third and a third and a third are one.
ROUNDING: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Schedules that have the same ticks: one of them, and how many there are."""

    schedule: Schedule
    number: int
    fired: int = 0

    def times(self, factor: int) -> "Alike":
        """The same for so many times as many."""
        return self if factor <= 1 else replace(self, number=self.number * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From `since` on and before `until`, in parts of `width`."""

    since: datetime
    until: datetime
    width: timedelta

    @property
    def parts(self) -> int:
        return -((self.since - self.until) // self.width)

    def part(self, at: datetime) -> int:
        return (at - self.since) // self.width


@dataclass(slots=True)
class Crowding:
    """`parts` has those with ticks; `each` how many ticks every one of the schedules has."""

    parts: Counter[int] = field(default_factory=Counter)
    each: list[int] = field(default_factory=list)
    is_estimate: bool = False


def crowding(
    groups: Sequence[Alike], span: Span, *, calendars: Mapping[str, Calendar] = NO_CALENDARS
) -> Crowding:
    """The ticks of all groups within the span."""
    found = Crowding()
    left = BUDGET
    rates: defaultdict[int, float] = defaultdict(float)
    for place, group in enumerate(groups):
        # What the ones before did not need is for the rest.
        cheap = CHEAP if _interval(group.schedule) else 1
        budget = max(LEAST, left // (len(groups) - place)) * cheap
        counted = _Counted(span, group.number)
        spread = group.schedule.jitter.window if group.schedule.jitter else timedelta(0)
        try:
            # One more than the budget tells whether it was enough.
            ahead = islice(_instants(group, span, spread, calendars), budget + 1)
            counted.count(ahead, most=budget, spread=spread)
        except InvalidSchedule:
            # A calendar that is gone: the scheduler tells of it, a picture need not.
            found.each.append(0)
            continue
        left -= counted.looked_at // cheap
        found.parts.update(counted.parts)
        found.each.append(counted.ticks)
        if counted.goes_on is not None:
            begins, rate = counted.goes_on
            rates[begins] += rate
    found.is_estimate = bool(rates)
    found.parts.update(_evenly(rates, span))
    return found


def _evenly(rates: Mapping[int, float], span: Span) -> dict[int, int]:
    """Rates that begin at a part and go on to the end, as whole numbers for each part."""
    parts: dict[int, int] = {}
    rate = left = 0.0
    for part in range(min(rates, default=span.parts), span.parts):
        rate += rates.get(part, 0.0)
        left += rate
        number = int(left + ROUNDING)
        left -= number
        if number:
            parts[part] = number
    return parts


def _instants(
    group: Alike, span: Span, spread: timedelta, calendars: Mapping[str, Calendar]
) -> Iterator[datetime]:
    """When its ticks start, without jitter: those that may fall into the span."""
    schedule = replace(group.schedule, jitter=None)
    after, until = span.since - spread - STEP, span.until - STEP
    if (every := _interval(schedule)) is not None:
        at = every.next_at(after)
        while at <= until:
            yield at
            at += every.interval
        return
    for planned in plan(schedule, after, until, calendars=calendars, fired=group.fired):
        yield planned.due_at


def _interval(schedule: Schedule) -> Every | None:
    """The interval, if that is all that there is to it. These are never alike, because each has an
    anchor of its own; so they must be quick.
    """
    first = schedule.rules[0]
    is_all = len(schedule.rules) == 1 and not schedule.calendars and schedule.window == ALWAYS
    return first if is_all and isinstance(first, Every) else None


@dataclass(slots=True)
class _Counted:
    span: Span
    number: int
    parts: Counter[int] = field(default_factory=Counter)
    ticks: int = 0
    looked_at: int = 0
    # From which part on nothing was counted, and how many are in each of them.
    goes_on: tuple[int, float] | None = None

    def count(self, ahead: Iterator[datetime], *, most: int, spread: timedelta) -> None:
        for place, at in enumerate(ahead):
            if place == most:
                self._go_on(at)
                return
            self.looked_at += 1
            if spread:
                self._take(at, spread)
            elif 0 <= (part := self.span.part(at)) < self.span.parts:
                self.parts[part] += self.number
                self.ticks += 1

    def _take(self, at: datetime, spread: timedelta) -> None:
        first, last = self.span.part(at), self.span.part(at + spread - STEP)
        share, more = divmod(self.number, last - first + 1)
        seen = 0
        for part in range(max(first, 0), min(last + 1, self.span.parts)):
            # Those that are left over go to parts all over the window, not to its beginning.
            place = part - first
            extra = more * (place + 1) // (last - first + 1) - more * place // (last - first + 1)
            if share + extra:
                self.parts[part] += share + extra
                seen = 1
        self.ticks += seen

    def _go_on(self, at: datetime) -> None:
        """From this instant on at the rate that was counted so far."""
        span = self.span
        begins = span.part(at)
        elapsed = max(at - span.since, STEP)
        self.goes_on = (begins, sum(self.parts.values()) * (span.width / elapsed))
        self.ticks = round(self.ticks * ((span.until - span.since) / elapsed))
        # The one in which the count ended is counted anew, as a whole.
        self.parts.pop(begins, None)

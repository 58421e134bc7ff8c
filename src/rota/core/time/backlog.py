"""Searches and counts the ticks between a cursor and now.

An outage of a day leaves 86,400 ticks of a schedule that runs every second. This module finds the
first, the last, the newest few and their number without iterating over all of them. misfire.py
decides which of them run.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from rota.core.time import planning
from rota.core.time.budget import (
    CATCH_UP_STEPS_MAX,
    STEPS_PER_CAUGHT_UP_MAX,
    SearchBudget,
)
from rota.core.time.calendars import Calendar
from rota.core.time.interval import Every
from rota.core.time.planning import PlannedTick, find_last
from rota.core.time.schedule import MICROSECOND, Schedule, next_nominal_tick

# Counting stops here and reports "at least": 2 ms of cron. After a day's outage, a cluster does
# this for each of its jobs before their next ticks are due.
COUNTED_TICKS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleProgress:
    """The progress of a schedule. All ticks up to `cursor` (nominal time) are decided.

    `fired` is the number of runs so far. `last_end` is when the last run ended; only a fixed delay
    uses it. `until` is when another schedule replaced this one: it has no later ticks.
    """

    cursor: datetime
    fired: int = 0
    last_end: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRangeCount:
    """`number` ticks from `first` to `last`, inclusive; more if `at_least`."""

    number: int
    first: datetime
    last: datetime
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The overdue ticks of one schedule.

    All searches share one budget, which grows with `max_catchup`.
    """

    schedule: Schedule
    progress: ScheduleProgress
    calendars: Mapping[str, Calendar]
    budget: SearchBudget = field(init=False, compare=False)

    def __post_init__(self) -> None:
        limit = CATCH_UP_STEPS_MAX + STEPS_PER_CAUGHT_UP_MAX * self.schedule.misfire.max_catchup
        object.__setattr__(self, "budget", SearchBudget(limit))

    def next_after(self, after: datetime) -> PlannedTick | None:
        """Return the next planned tick after an instant, as if nothing had run since."""
        return planning.plan_next_tick(
            self.schedule,
            after,
            calendars=self.calendars,
            last_end=self.progress.last_end,
            fired=self.progress.fired,
            budget=self.budget,
        )

    def find_last(
        self, first: PlannedTick, high: datetime, fits: Callable[[PlannedTick], bool]
    ) -> PlannedTick:
        """Return the last tick that fits. `first` fits; most fitting ticks are before `high`."""
        if self.schedule.follows_end:
            return first
        return find_last(self.next_after, first, high, at=_at, fits=fits)

    def iterate_back(self, last: PlannedTick) -> Iterator[PlannedTick]:
        """Yield the ticks from this one back to the cursor."""
        # The distance to the previous tick is estimated from the following one. The first estimate,
        # one second, doubles until it reaches a tick.
        reach = timedelta(seconds=1)
        item: PlannedTick | None = last
        while item is not None:
            yield item
            before = self._before(item, reach)
            if before is not None:
                reach = item.tick.at - before.tick.at
            item = before

    def find_previous(self, item: PlannedTick) -> PlannedTick | None:
        """Return the previous tick, if it is after the cursor."""
        return next(islice(self.iterate_back(item), 1, None), None)

    def _before(self, item: PlannedTick, reach: timedelta) -> PlannedTick | None:
        end, floor = item.tick.at, self.progress.cursor
        while not self.schedule.follows_end:
            low = max(floor, end - reach - MICROSECOND)
            found = self.next_after(low)
            if found is not None and found.tick.at < end:
                return self.find_last(found, end, lambda other: other.tick.at < end)
            if low == floor:
                break
            reach *= 2
        return None

    def count_planned(self, after: datetime, last: PlannedTick) -> TickRangeCount | None:
        """Count the ticks planned after an instant, up to and including `last`."""
        first = self.next_after(after)
        if first is None or first.tick.at > last.tick.at:
            return None
        start, end = first.tick.at, last.tick.at
        (rule, *others) = self.schedule.rules
        if isinstance(rule, Every) and not others and not self.schedule.calendars:
            number = rule.count(start - MICROSECOND, end)
            return TickRangeCount(number=number, first=start, last=end)
        if self.schedule.follows_end:
            return TickRangeCount(number=1, first=start, last=end)
        number = sum(1 for _ in islice(self._planned(after, end), COUNTED_TICKS_MAX))
        return TickRangeCount(
            number=number, first=start, last=end, at_least=number == COUNTED_TICKS_MAX
        )

    def count_blacked_out(self, last: PlannedTick) -> TickRangeCount | None:
        """Count the ticks up to `last` that were skipped because of a blackout."""
        if not self.schedule.calendars or self.schedule.follows_end:
            return None
        nominal_ticks = list(islice(self._nominal(last.tick.at), COUNTED_TICKS_MAX))
        planned = {item.tick.at for item in self._planned(self.progress.cursor, nominal_ticks[-1])}
        skipped = [at for at in nominal_ticks if at not in planned]
        if not skipped:
            return None
        capped = len(nominal_ticks) == COUNTED_TICKS_MAX
        return TickRangeCount(
            number=len(skipped), first=skipped[0], last=skipped[-1], at_least=capped
        )

    def _planned(self, after: datetime, until: datetime) -> Iterator[PlannedTick]:
        item = self.next_after(after)
        while item is not None and item.tick.at <= until:
            yield item
            item = self.next_after(item.tick.at)

    def _nominal(self, until: datetime) -> Iterator[datetime]:
        """Yield the ticks that the rules produce, before calendars apply."""
        tick = next_nominal_tick(self.schedule, self.progress.cursor, budget=self.budget)
        while tick is not None and tick.at <= until:
            yield tick.at
            tick = next_nominal_tick(self.schedule, tick.at, budget=self.budget)


def _at(planned: PlannedTick) -> datetime:
    return planned.tick.at

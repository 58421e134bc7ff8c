"""The ticks between a cursor and now, however many there are.

Room: core/time. An outage of a day leaves 86,400 ticks of a schedule that runs every second; this
finds the first, the last, the newest few and the number of them without walking through all. Which
of them run is misfire.py.
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
from rota.core.time.planning import Planned, last_in
from rota.core.time.schedule import STEP, Schedule, nominal

# Where counting gives up and says "at least": 2 ms of cron. A cluster that comes back after a day
# has this to do for each of its jobs before their next ticks are due.
COUNTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a schedule stands: the nominal time it has been dealt with up to, how many runs it had,
    and when the last one ended (which only a fixed delay needs). `until` is when it was replaced by
    another: ticks with a later time are not its own.
    """

    cursor: datetime
    fired: int = 0
    last_end: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """`number` ticks from `first` to `last`, both included; more than that if `at_least`."""

    number: int
    first: datetime
    last: datetime
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """All questions about one backlog share one budget, which grows with what may be caught up."""

    schedule: Schedule
    progress: Progress
    calendars: Mapping[str, Calendar]
    budget: SearchBudget = field(init=False, compare=False)

    def __post_init__(self) -> None:
        limit = CATCH_UP_STEPS_MAX + STEPS_PER_CAUGHT_UP_MAX * self.schedule.misfire.max_catchup
        object.__setattr__(self, "budget", SearchBudget(limit))

    def following(self, after: datetime) -> Planned | None:
        """The next planned tick after any instant, as if nothing had been run since."""
        return planning.next_tick(
            self.schedule,
            after,
            calendars=self.calendars,
            last_end=self.progress.last_end,
            fired=self.progress.fired,
            budget=self.budget,
        )

    def last(self, first: Planned, high: datetime, fits: Callable[[Planned], bool]) -> Planned:
        """The last tick that fits; `first` does, and most of those that do are before `high`."""
        if self.schedule.follows_end:
            return first
        return last_in(self.following, first, high, at=_at, fits=fits)

    def newest(self, last: Planned) -> Iterator[Planned]:
        """The ticks from this one back to the cursor."""
        # The distance to the tick before is guessed from the one after; a first guess of a second
        # is doubled until it reaches.
        reach = timedelta(seconds=1)
        item: Planned | None = last
        while item is not None:
            yield item
            before = self._before(item, reach)
            if before is not None:
                reach = item.tick.at - before.tick.at
            item = before

    def before(self, item: Planned) -> Planned | None:
        """The tick before this one, if it is after the cursor."""
        return next(islice(self.newest(item), 1, None), None)

    def _before(self, item: Planned, reach: timedelta) -> Planned | None:
        end, floor = item.tick.at, self.progress.cursor
        while not self.schedule.follows_end:
            low = max(floor, end - reach - STEP)
            found = self.following(low)
            if found is not None and found.tick.at < end:
                return self.last(found, end, lambda other: other.tick.at < end)
            if low == floor:
                break
            reach *= 2
        return None

    def count(self, after: datetime, last: Planned) -> Count | None:
        """How many ticks are planned after an instant, up to and with `last`."""
        first = self.following(after)
        if first is None or first.tick.at > last.tick.at:
            return None
        start, end = first.tick.at, last.tick.at
        (rule, *others) = self.schedule.rules
        if isinstance(rule, Every) and not others and not self.schedule.calendars:
            number = rule.count(start - STEP, end)
            return Count(number=number, first=start, last=end)
        if self.schedule.follows_end:
            return Count(number=1, first=start, last=end)
        number = sum(1 for _ in islice(self._planned(after, end), COUNTED))
        return Count(number=number, first=start, last=end, at_least=number == COUNTED)

    def passed_over(self, last: Planned) -> Count | None:
        """How many ticks up to `last` were passed over for a blackout."""
        if not self.schedule.calendars or self.schedule.follows_end:
            return None
        made = list(islice(self._made(last.tick.at), COUNTED))
        planned = {item.tick.at for item in self._planned(self.progress.cursor, made[-1])}
        gone = [at for at in made if at not in planned]
        if not gone:
            return None
        capped = len(made) == COUNTED
        return Count(number=len(gone), first=gone[0], last=gone[-1], at_least=capped)

    def _planned(self, after: datetime, until: datetime) -> Iterator[Planned]:
        item = self.following(after)
        while item is not None and item.tick.at <= until:
            yield item
            item = self.following(item.tick.at)

    def _made(self, until: datetime) -> Iterator[datetime]:
        """The ticks that the rules make, before the calendars."""
        tick = nominal(self.schedule, self.progress.cursor, budget=self.budget)
        while tick is not None and tick.at <= until:
            yield tick.at
            tick = nominal(self.schedule, tick.at, budget=self.budget)


def _at(planned: Planned) -> datetime:
    return planned.tick.at

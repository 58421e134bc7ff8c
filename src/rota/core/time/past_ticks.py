"""Lists and counts the ticks of a past range, page by page, from either end.

A schedule can only be searched forwards. To go backwards, a stretch before the end is searched
forwards; it is halved while it has too many ticks and doubled while it has none. A page therefore
costs about the same whether ticks are seconds or years apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from rota.core.time import planning
from rota.core.time.budget import PAST_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import MICROSECOND, Schedule

# The first stretch of a backward search.
FIRST_STRETCH: Final = timedelta(hours=1)
# A range with more ticks than the counting limit is sampled in this many parts.
SAMPLES: Final = 400
SAMPLE_ROUNDS_MAX: Final = 10
# Multiples of the golden ratio spread samples evenly over the times of day.
GOLDEN_RATIO: Final = 0.6180339887498949


class TickPage(NamedTuple):
    """One page of ticks in the requested order, and where the next page starts."""

    ticks: tuple[datetime, ...]
    reached: datetime


class TickEstimate(NamedTuple):
    ticks: int
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTicks:
    """The ticks of a schedule with since <= tick < until. All searches share one budget."""

    schedule: Schedule
    since: datetime
    until: datetime
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    budget: SearchBudget = field(
        default_factory=lambda: SearchBudget(PAST_STEPS_MAX), compare=False, repr=False
    )

    def read_oldest(self, limit: int) -> TickPage:
        """Return the first `most` ticks. The range is complete when `reached` is `until`."""
        ticks = tuple(islice(self._walk(self.since, self.until), limit))
        return TickPage(ticks, self.until if len(ticks) < limit else ticks[-1] + MICROSECOND)

    def read_newest(self, limit: int) -> TickPage:
        """Return the last `most` ticks, newest first. Complete when `reached` is `since`."""
        found: list[datetime] = []
        high, stretch = self.until, FIRST_STRETCH
        while high > self.since and len(found) < limit:
            low = max(self.since, high - stretch)
            ticks = tuple(islice(self._walk(low, high), 2 * limit + 1))
            if len(ticks) > 2 * limit:
                stretch /= 2
                continue
            found += reversed(ticks)
            high, stretch = low, stretch * 2
        if len(found) < limit:
            return TickPage(tuple(found), self.since)
        return TickPage(tuple(found[:limit]), found[limit - 1])

    def count(self, limit: int) -> TickEstimate:
        """Count the ticks: exactly up to `most`, beyond that estimated from samples."""
        first = tuple(islice(self._walk(self.since, self.until), limit + 1))
        if len(first) <= limit:
            return TickEstimate(len(first), is_estimate=False)
        return TickEstimate(self._estimate(limit, first[-1] - first[0]), is_estimate=True)

    def _estimate(self, limit: int, seen: timedelta) -> int:
        """Estimate the number of ticks from samples that contain about `most` ticks.

        Each part of the range has one sample of equal length at a different position, because ticks
        may come in bursts, such as one hour of every day. `seen` is the time that the first `most`
        ticks span, which may be inside a burst or not.
        """
        part = (self.until - self.since) / SAMPLES
        sample, found = min(part, max(seen / SAMPLES, MICROSECOND)), 0
        for _ in range(SAMPLE_ROUNDS_MAX):
            found = self._count_samples(part, sample, 3 * limit)
            if found > 3 * limit:
                sample = max(sample / 4, MICROSECOND)
            elif found < limit // 2 and sample < part:
                sample = min(part, sample * 2)
            else:
                break
        return max(limit + 1, round(found * (part / sample)))

    def _count_samples(self, part: timedelta, sample: timedelta, limit: int) -> int:
        found = 0
        for n in range(SAMPLES):
            low = self.since + n * part + (n * GOLDEN_RATIO % 1) * (part - sample)
            found += sum(1 for _ in islice(self._walk(low, low + sample), limit + 1))
            if found > limit:
                break
        return found

    def _walk(self, low: datetime, high: datetime) -> Iterator[datetime]:
        ahead = planning.plan_ticks(
            self.schedule,
            low - MICROSECOND,
            high - MICROSECOND,
            calendars=self.calendars,
            budget=self.budget,
        )
        return (planned.tick.at for planned in ahead)

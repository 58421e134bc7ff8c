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
from rota.core.time.schedule import STEP, Schedule

# The first stretch of a backward search.
STRETCH: Final = timedelta(hours=1)
# A range with more ticks than the counting limit is sampled in this many parts.
PARTS: Final = 400
TRIES: Final = 10
# Multiples of the golden ratio spread samples evenly over the times of day.
GOLDEN: Final = 0.6180339887498949


class Part(NamedTuple):
    """One page of ticks in the requested order, and where the next page starts."""

    ticks: tuple[datetime, ...]
    reached: datetime


class Number(NamedTuple):
    ticks: int
    is_guess: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The ticks of a schedule with since <= tick < until. All searches share one budget."""

    schedule: Schedule
    since: datetime
    until: datetime
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    budget: SearchBudget = field(
        default_factory=lambda: SearchBudget(PAST_STEPS_MAX), compare=False, repr=False
    )

    def oldest(self, most: int) -> Part:
        """Return the first `most` ticks. The range is complete when `reached` is `until`."""
        ticks = tuple(islice(self._walk(self.since, self.until), most))
        return Part(ticks, self.until if len(ticks) < most else ticks[-1] + STEP)

    def newest(self, most: int) -> Part:
        """Return the last `most` ticks, newest first. Complete when `reached` is `since`."""
        found: list[datetime] = []
        high, stretch = self.until, STRETCH
        while high > self.since and len(found) < most:
            low = max(self.since, high - stretch)
            ticks = tuple(islice(self._walk(low, high), 2 * most + 1))
            if len(ticks) > 2 * most:
                stretch /= 2
                continue
            found += reversed(ticks)
            high, stretch = low, stretch * 2
        if len(found) < most:
            return Part(tuple(found), self.since)
        return Part(tuple(found[:most]), found[most - 1])

    def count(self, most: int) -> Number:
        """Count the ticks: exactly up to `most`, beyond that estimated from samples."""
        first = tuple(islice(self._walk(self.since, self.until), most + 1))
        if len(first) <= most:
            return Number(len(first), is_guess=False)
        return Number(self._guess(most, first[-1] - first[0]), is_guess=True)

    def _guess(self, most: int, seen: timedelta) -> int:
        """Estimate the number of ticks from samples that contain about `most` ticks.

        Each part of the range has one sample of equal length at a different position, because ticks
        may come in bursts, such as one hour of every day. `seen` is the time that the first `most`
        ticks span, which may be inside a burst or not.
        """
        part = (self.until - self.since) / PARTS
        sample, found = min(part, max(seen / PARTS, STEP)), 0
        for _ in range(TRIES):
            found = self._sampled(part, sample, 3 * most)
            if found > 3 * most:
                sample = max(sample / 4, STEP)
            elif found < most // 2 and sample < part:
                sample = min(part, sample * 2)
            else:
                break
        return max(most + 1, round(found * (part / sample)))

    def _sampled(self, part: timedelta, sample: timedelta, most: int) -> int:
        found = 0
        for n in range(PARTS):
            low = self.since + n * part + (n * GOLDEN % 1) * (part - sample)
            found += sum(1 for _ in islice(self._walk(low, low + sample), most + 1))
            if found > most:
                break
        return found

    def _walk(self, low: datetime, high: datetime) -> Iterator[datetime]:
        ahead = planning.plan(
            self.schedule, low - STEP, high - STEP, calendars=self.calendars, budget=self.budget
        )
        return (planned.tick.at for planned in ahead)

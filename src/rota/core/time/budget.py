"""Bounds the work of one search by a number of steps.

Room: core/time. Rules and calendars are written by people, and a few legal lines may describe more
work than a process can do between two heartbeats. So each search counts its steps and gives up
beyond its budget, with an error that says what to change. A budget counts steps and reads no clock:
the same schedule is accepted or refused on every machine, whatever was computed before. Whoever
computes off the event loop brings a `check`, which ends a search that nobody waits for any more.

A step is about 10 µs: one rule asked for its next time, or one blackout passed over.
"""

from collections.abc import Callable
from typing import Final

from rota.core.errors import SearchTooLong

# The next tick of one schedule.
NEXT_TICK_STEPS_MAX: Final = 5_000
# The times, notes and warnings of one preview.
PREVIEW_STEPS_MAX: Final = 10_000
# All ticks that a pause, an outage or an edit left behind: for finding and counting them, and for
# each that may run.
CATCH_UP_STEPS_MAX: Final = 10_000
STEPS_PER_CAUGHT_UP_MAX: Final = 40
# The distances between the ticks that come next.
CADENCE_STEPS_MAX: Final = 10_000
# The same for all schedules that are handed in together.
CADENCES_STEPS_MAX: Final = 200_000
# Ticks of a past range that are listed or counted.
PAST_STEPS_MAX: Final = 400_000
# Days of an RRULE, and windows of a calendar, that cost as much as one step.
DAYS_PER_STEP: Final = 8
WINDOWS_PER_STEP: Final = 4
# How many steps are taken between two calls of `check`: about two milliseconds.
STEPS_PER_CHECK: Final = 256

Check = Callable[[], object]


class SearchBudget:
    """The steps that a search has left. It may be shared by several searches of one answer."""

    __slots__ = ("_check", "_visited", "limit", "spent", "unchecked")

    def __init__(self, limit: int = NEXT_TICK_STEPS_MAX, *, check: Check | None = None) -> None:
        self.limit = limit
        self.spent = 0
        self.unchecked = 0
        self._check = check
        self._visited: set[tuple[int, int]] = set()

    def spend(self, steps: int = 1) -> None:
        """Take some steps. Raise `SearchTooLong` beyond the limit, or what `check` raises."""
        self.spent += steps
        if self.spent > self.limit:
            raise SearchTooLong(limit=self.limit)
        if self._check is not None:
            self.unchecked += steps
            if self.unchecked >= STEPS_PER_CHECK:
                self.unchecked = 0
                self._check()

    def visit(self, place: tuple[int, int], steps: int) -> None:
        """Pay for a part of a calendar at the first visit, even if another search computed it."""
        if place not in self._visited:
            self._visited.add(place)
            self.spend(steps)

    def part(self, limit: int) -> "SearchBudget":
        """A budget of its own for one of many searches, with the same check."""
        return SearchBudget(limit, check=self._check)

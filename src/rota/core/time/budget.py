"""Limits the work of one search to a number of steps.

Users write rules and calendars, and a few valid lines may describe more work than a process can do
between two heartbeats. So each search counts its steps and stops when its budget is spent, with an
error that says what to change. A budget counts steps and reads no clock: a schedule is accepted or
rejected the same way on every machine, regardless of caches. A caller that computes off the event
loop passes a `check`, which stops a search whose result is no longer needed.

A step takes about 10 µs: finding one rule's next time, or skipping one blackout.
"""

from collections.abc import Callable
from typing import Final

from rota.core.errors import SearchTooLong

# The next tick of one schedule.
NEXT_TICK_STEPS_MAX: Final = 5_000
# The times, notes and warnings of one preview.
PREVIEW_STEPS_MAX: Final = 10_000
# All overdue ticks after a pause, an outage or an edit: for finding and counting them, and for each
# one that may run.
CATCH_UP_STEPS_MAX: Final = 10_000
STEPS_PER_CAUGHT_UP_MAX: Final = 40
# The distances between the next ticks of one schedule.
CADENCE_STEPS_MAX: Final = 10_000
# The same for all schedules of one request.
CADENCE_STEPS_PER_REQUEST_MAX: Final = 200_000
# Listing or counting the ticks of a past range.
PAST_STEPS_MAX: Final = 400_000
# How many days of an RRULE, or windows of a calendar, cost one step.
DAYS_PER_STEP: Final = 8
WINDOWS_PER_STEP: Final = 4
# The number of steps between two calls of `check`: about two milliseconds.
STEPS_PER_CHECK: Final = 256

Check = Callable[[], object]


class SearchBudget:
    """The steps that a search may still take. Several searches may share one budget."""

    __slots__ = ("_check", "_visited", "limit", "spent", "unchecked")

    def __init__(self, limit: int = NEXT_TICK_STEPS_MAX, *, check: Check | None = None) -> None:
        self.limit = limit
        self.spent = 0
        self.unchecked = 0
        self._check = check
        self._visited: set[tuple[int, int]] = set()

    def spend(self, steps: int = 1) -> None:
        """Spend steps. Raises `SearchTooLong` beyond the limit, or any exception from `check`."""
        self.spent += steps
        if self.spent > self.limit:
            raise SearchTooLong(limit=self.limit)
        if self._check is not None:
            self.unchecked += steps
            if self.unchecked >= STEPS_PER_CHECK:
                self.unchecked = 0
                self._check()

    def visit(self, place: tuple[int, int], steps: int) -> None:
        """Spend steps for a part of a calendar on the first visit, even if it is cached."""
        if place not in self._visited:
            self._visited.add(place)
            self.spend(steps)

    def create_part(self, limit: int) -> "SearchBudget":
        """Return a separate budget with the same check for one of many searches."""
        return SearchBudget(limit, check=self._check)

"""Provides a clock for tests that stands still until the test moves it."""

from datetime import UTC, datetime, timedelta

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments

DEFAULT_START = "2030-01-01T09:00:00Z"


class Clock:
    """Starts at an instant; `advance("2h")` moves it forward. Pass `clock.now` where code takes a
    function that returns the time.
    """

    def __init__(self, start: datetime | str = DEFAULT_START) -> None:
        self._now = moments.parse(start, field="start")

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta | str) -> datetime:
        """Move the clock forward; return its new time."""
        length = by if isinstance(by, timedelta) else durations.parse(by, field="by")
        if length < timedelta(0):
            raise InvalidInput("by", str(length), "must not be negative; a clock cannot go back")
        self._now = (self._now + length).astimezone(UTC)
        return self._now

    def move_to(self, at: datetime | str) -> datetime:
        """Move the clock to an instant that is not in its past."""
        then = moments.parse(at, field="at")
        return self.advance(then - self._now)

    def __repr__(self) -> str:
        return f"Clock({moments.to_rfc3339(self._now)!r})"

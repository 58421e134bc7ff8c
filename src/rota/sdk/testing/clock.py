"""A clock for tests: it stands still until it is moved. Room: sdk/testing."""

from datetime import UTC, datetime, timedelta

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments

USUAL_START = "2030-01-01T09:00:00Z"


class Clock:
    """Starts at an instant; `advance("2h")` moves it on. Pass `clock.now` where a function is
    wanted that tells the time.
    """

    def __init__(self, start: datetime | str = USUAL_START) -> None:
        self._now = moments.parse(start, field="start")

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta | str) -> datetime:
        """Let time pass; return what the clock shows then."""
        length = by if isinstance(by, timedelta) else durations.parse(by, field="by")
        if length < timedelta(0):
            raise InvalidInput(
                "by", str(length), "a time that is not negative: it does not go back"
            )
        self._now = (self._now + length).astimezone(UTC)
        return self._now

    def move_to(self, at: datetime | str) -> datetime:
        """Move on to an instant that is not in the past."""
        then = moments.parse(at, field="at")
        return self.advance(then - self._now)

    def __repr__(self) -> str:
        return f"Clock({moments.rfc3339(self._now)!r})"

"""Formats times and durations, and parses times in arguments."""

from datetime import UTC, datetime, timedelta
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments

UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))
EXPECTED_TIME: Final = (
    "expected a time such as 2026-07-01T12:00:00Z, or an age such as 90s, 15m, 2h, 7d"
)


def now() -> datetime:
    """Return the time of the local clock."""
    from rota.runtime.clock import SystemClock  # noqa: PLC0415 - brings asyncio with it

    return SystemClock().now()


def format_length(length: timedelta) -> str:
    """Format a duration with one or two units: `45s`, `3m`, `2h10m`, `5d`."""
    seconds = max(0, int(length.total_seconds()))
    for place, (size, unit) in enumerate(UNITS):
        if seconds >= size:
            count, rest = divmod(seconds, size)
            smaller = UNITS[place + 1] if place + 1 < len(UNITS) else None
            if smaller is None or count >= 10 or rest < smaller[0]:
                return f"{count}{unit}"
            return f"{count}{unit}{rest // smaller[0]}{smaller[1]}"
    return "0s"


def format_relative(text: str | datetime | None, now: datetime) -> str:
    """Format a time relative to `now`: `5m ago`, or `in 5m` for a future time."""
    if text is None:
        return ""
    then = moments.parse(text, field="time")
    return f"in {format_length(then - now)}" if then > now else f"{format_length(now - then)} ago"


def format_time(text: str | datetime | None, now: datetime) -> str | None:
    """Format a time in UTC, followed by the relative time."""
    if text is None:
        return None
    then = moments.parse(text, field="time")
    return f"{moments.to_rfc3339(then.replace(microsecond=0))} ({format_relative(then, now)})"


def format_since(text: str | datetime | None, now: datetime) -> str:
    return "" if text is None else format_length(now - moments.parse(text, field="time"))


def format_between(start: str | datetime | None, end: str | datetime | None) -> str:
    """Format the time from start to end."""
    if start is None or end is None:
        return ""
    length = moments.parse(end, field="time") - moments.parse(start, field="time")
    return format_seconds(length.total_seconds())


def format_seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    return f"{seconds:.1f}s" if seconds < 60 else format_length(timedelta(seconds=seconds))


def parse_time(text: str | None, *, field: str) -> str | None:
    """Parse a time or an age in an argument into a timestamp for the API."""
    if text is None:
        return None
    try:
        return moments.to_rfc3339(now() - durations.parse(text))
    except InvalidInput:
        pass
    try:
        return moments.to_rfc3339(moments.parse(text, field=field).astimezone(UTC))
    except InvalidInput:
        raise InvalidInput(field, text, EXPECTED_TIME) from None

"""Parses and formats durations such as `90s`, `1h30m` and `PT15M`.

Parses both notations; writes ISO 8601 for machines and words for people. A bare number is invalid,
because it could mean seconds or milliseconds. Months and years are invalid, because their length
depends on the date; use cron or RRULE for them.
"""

import re
from datetime import timedelta

from rota.core.errors import InvalidInput

DURATION_MAX = timedelta(days=3653)
DURATION_FORMAT = "a duration such as 90s, 15m, 1h30m, 2d or PT15M"

# Twelve digits hold more than ten years of milliseconds and cannot overflow a float.
COUNT = r"(\d{1,12})"
FRACTION = r"(\d{1,12}(?:\.\d{1,6})?)"
COMPACT = re.compile(
    rf"(?:{COUNT}w)?\s*(?:{COUNT}d)?\s*(?:{COUNT}h)?\s*(?:{COUNT}m)?\s*"
    rf"(?:{FRACTION}s)?\s*(?:{COUNT}ms)?",
    re.ASCII,
)
ISO = re.compile(
    rf"P(?:{COUNT}W)?(?:{COUNT}D)?(?:T(?:{COUNT}H)?(?:{COUNT}M)?(?:{FRACTION}S)?)?", re.ASCII
)
UNITS = (604_800, 86_400, 3600, 60, 1, 0.001)
DURATION_CHARACTERS_MAX = 64


def parse(
    text: object,
    *,
    field: str = "duration",
    minimum: timedelta = timedelta(0),
    maximum: timedelta = DURATION_MAX,
    error: type[InvalidInput] = InvalidInput,
) -> timedelta:
    """Parse a duration in either notation. Raises `error` if it is malformed or out of bounds."""
    if not isinstance(text, str):
        raise error(field, text, f"expected {DURATION_FORMAT}; a number alone has no unit")
    length = _read(text.strip()) if len(text) <= DURATION_CHARACTERS_MAX else None
    if length is None:
        raise error(field, text, f"expected {DURATION_FORMAT}")
    if length < minimum:
        raise error(field, text, f"must be at least {to_words(minimum)}")
    if length > maximum:
        raise error(field, text, f"must be at most {to_words(maximum)}")
    return length


def _read(text: str) -> timedelta | None:
    found = (ISO if text.startswith("P") else COMPACT).fullmatch(text)
    if found is None or text.endswith("T"):
        return None
    counts = [count and float(count) for count in found.groups()]
    if all(count is None for count in counts):
        return None
    seconds = sum(count * unit for count, unit in zip(counts, UNITS, strict=False) if count)
    # Too large for a timedelta: cap it at a value that is rejected as too long anyway.
    return timedelta(seconds=min(seconds, 10 * DURATION_MAX.total_seconds()))


def to_iso(length: timedelta) -> str:
    """Format a duration for storage and responses: `PT15M`, `P1DT2H`, `PT0.5S`."""
    days, seconds = length.days, length.seconds
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    date = f"{days}D" if days else ""
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if length.microseconds:
        time += f"{seconds}.{length.microseconds:06d}".rstrip("0") + "S"
    elif seconds:
        time += f"{seconds}S"
    if not date and not time:
        return "PT0S"
    return f"P{date}T{time}" if time else f"P{date}"


def to_words(length: timedelta) -> str:
    """Format a duration for people: `15 minutes`, `1 hour 30 minutes`, `2.5 seconds`."""
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    counts: list[tuple[float, str]] = [(length.days, "day"), (hours, "hour"), (minutes, "minute")]
    counts.append((seconds + length.microseconds / 1e6, "second"))
    parts = [f"{count:g} {unit}{'' if count == 1 else 's'}" for count, unit in counts if count]
    return " ".join(parts) or "0 seconds"

"""Parses and formats instants as RFC 3339 text with an offset; instants are UTC internally.

A time without an offset is invalid, because it would mean a different instant on every machine.
Local times belong to rules with a zone (cron, RRULE, calendars).
"""

import re
from datetime import UTC, datetime

from rota.core.errors import InvalidInput

INSTANT_FORMAT = "an instant with an offset, such as 2030-01-31T09:00:00Z"
INSTANT_PATTERN = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
UTC_OFFSET = "+00:00"
# The range of schedule arithmetic; its end leaves a margin before datetime's last year.
EARLIEST_INSTANT, LATEST_INSTANT = (
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(9900, 1, 1, tzinfo=UTC),
)


def parse(
    value: object, *, field: str = "instant", error: type[InvalidInput] = InvalidInput
) -> datetime:
    """Parse an instant; an aware datetime is accepted as it is."""
    moment = value if isinstance(value, datetime) else _read(value)
    if moment is None or moment.tzinfo is None:
        raise error(field, value, f"expected {INSTANT_FORMAT}")
    moment_utc = to_utc(moment)
    if moment_utc is None or not EARLIEST_INSTANT <= moment_utc < LATEST_INSTANT:
        raise error(field, value, f"year must be {EARLIEST_INSTANT.year}–{LATEST_INSTANT.year - 1}")
    return moment_utc


def to_utc(moment: datetime) -> datetime | None:
    """Convert an aware datetime to UTC. Returns None if the year is out of range in UTC, as in the
    first hours of year 1 east of Greenwich.
    """
    if moment.tzinfo is UTC:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


def _read(value: object) -> datetime | None:
    if not isinstance(value, str) or len(value) > 64 or not INSTANT_PATTERN.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:
        return None


def to_rfc3339(moment: datetime) -> str:
    """Format an instant for storage and responses: UTC with a Z."""
    text = (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()
    return text.removesuffix(UTC_OFFSET) + "Z"

"""Instants as text: RFC 3339, with an offset, and always UTC inside.

Room: core/time. A time without an offset is refused, because it would mean another instant on
every machine. Local times belong to rules with a zone (cron, RRULE, calendars).
"""

import re
from datetime import UTC, datetime

from rota.core.errors import InvalidInput

WANTED = "an instant with its offset, such as 2030-01-31T09:00:00Z"
FORM = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
OFFSET = "+00:00"
# Where the arithmetic of schedules begins, and far enough from datetime's last year to add to.
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9900, 1, 1, tzinfo=UTC)


def parse(
    value: object, *, field: str = "instant", error: type[InvalidInput] = InvalidInput
) -> datetime:
    """Read an instant; an aware datetime is taken as it is."""
    moment = value if isinstance(value, datetime) else _read(value)
    if moment is None or moment.tzinfo is None:
        raise error(field, value, WANTED)
    moment_utc = to_utc(moment)
    if moment_utc is None or not FIRST <= moment_utc < LAST:
        raise error(field, value, f"an instant from {FIRST.year} to {LAST.year - 1}")
    return moment_utc


def to_utc(moment: datetime) -> datetime | None:
    """Convert an aware datetime to UTC. Return None if UTC has no such year, as for the first
    hours of year 1 east of Greenwich.
    """
    if moment.tzinfo is UTC:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


def _read(value: object) -> datetime | None:
    if not isinstance(value, str) or len(value) > 64 or not FORM.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:
        return None


def rfc3339(moment: datetime) -> str:
    """The one spelling that is stored and answered: UTC, with a Z."""
    text = (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()
    return text.removesuffix(OFFSET) + "Z"

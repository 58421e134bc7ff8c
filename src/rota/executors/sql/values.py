"""Values on their way between databases, JSON and files. Room: executors/sql.

`plain` makes JSON of what a driver returned: numbers that a double cannot hold exactly (decimals)
and instants become text, bytes become base64, what nobody foresaw becomes its text. `given` goes
the other way, for drivers that take fewer types than another database has.
"""

import base64
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from rota.core.time import durations


class JsonText(str):
    """A text that is JSON already, for a parameter of that type."""

    __slots__ = ()


def plain(value: object) -> Any:
    """A value as JSON has it."""
    match value:
        case bool() | int() | None:
            return value
        case str():
            return value.replace("\0", "�")
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return (
                durations.to_iso(value) if value >= timedelta(0) else f"-{durations.to_iso(-value)}"
            )
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case Mapping():
            return {str(key): plain(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(one) for one in value]
        case _:
            return str(value).replace("\0", "�")


def as_text(value: object) -> str | int | float | None:
    """A value as a cell of a CSV file: as `plain`, with objects and lists as JSON text."""
    made = plain(value)
    if isinstance(made, bool):
        return "true" if made else "false"
    return json.dumps(made, ensure_ascii=False) if isinstance(made, dict | list) else made


def given(value: object, *, instant: Callable[[datetime], object], exact: bool) -> object:
    """A value for a driver that knows numbers, text and bytes. `instant` says what becomes of a
    date with a time, `exact` whether decimals and durations may stay
    as they are.
    """
    match value:
        case float() | bytes() | str() | bool() | None:
            return value
        case int():
            # SQLite holds 64 bits; a longer number is kept as its digits.
            return value if -(2**63) <= value < 2**63 else str(value)
        case Decimal():
            return value if exact else str(value)
        case datetime():
            return instant(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value if exact else plain(value)
        case Mapping() | list() | tuple():
            return json.dumps(plain(value), ensure_ascii=False)
        case _:
            return str(value)


def in_utc(value: datetime) -> datetime:
    """An instant as a clock in UTC shows it, for databases whose times know no zone."""
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)

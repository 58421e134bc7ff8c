"""Converts values between databases, JSON and files.

One direction turns a driver's values into JSON: numbers that a double cannot represent exactly
(decimals) and instants become text, bytes become base64, unknown types become their text. The other
direction converts values for drivers that support fewer types than another database has.
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
    """A text that is already JSON, for a parameter of that type."""

    __slots__ = ()


def to_plain(value: object) -> Any:
    """Convert a driver's value to JSON."""
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
            return {str(key): to_plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_plain(item) for item in value]
        case _:
            return str(value).replace("\0", "�")


def to_cell(value: object) -> str | int | float | None:
    """Convert a value to a cell of a CSV file: JSON values, with objects and lists as text."""
    cell = to_plain(value)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell


def to_driver(value: object, *, instant: Callable[[datetime], object], exact: bool) -> object:
    """Convert a value for a driver that supports only numbers, text and bytes.

    `instant` converts a datetime; with `exact`, decimals and durations stay unchanged.
    """
    match value:
        case float() | bytes() | str() | bool() | None:
            return value
        case int():
            # SQLite has 64 bits; a longer number becomes text.
            return value if -(2**63) <= value < 2**63 else str(value)
        case Decimal():
            return value if exact else str(value)
        case datetime():
            return instant(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value if exact else to_plain(value)
        case Mapping() | list() | tuple():
            return json.dumps(to_plain(value), ensure_ascii=False)
        case _:
            return str(value)


def to_naive_utc(value: datetime) -> datetime:
    """Convert an instant to UTC without a zone, for databases whose times have no zone."""
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)

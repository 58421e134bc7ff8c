"""Reads one JSON object, field by field, and refuses what it does not know.

Room: core/time. Every error names the path of the field (`misfire.pace`), the value, and what would
be right; a name that is nearly right gets a suggestion. An unknown name is refused and not ignored:
a policy with a typing error in its name must not quietly be the default policy. Which fields there
are is said in plain.py and calendar_plain.py.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from rota.core.errors import InvalidSchedule
from rota.core.time import durations, moments

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object whose field names are known; a null is the same as a field that is not there."""

    values: Mapping[str, object]
    path: str

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def refusal(self, key: str, wanted: str) -> InvalidSchedule:
        return InvalidSchedule(self.name(key), self.values.get(key), wanted)

    def get(self, key: str) -> object:
        return self.values.get(key)

    def has(self, key: str) -> bool:
        return self.values.get(key) is not None

    def text(self, key: str, *, limit: int) -> str:
        value = self.get(key)
        if not isinstance(value, str) or not 0 < len(value.strip()) <= len(value) <= limit:
            raise self.refusal(key, f"a text of 1 to {limit} characters")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.refusal(key, "true or false")
        return value

    def whole(self, key: str, *, low: int, high: int) -> int | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.refusal(key, f"a whole number from {low} to {high}")
        return value

    def choice(self, key: str, default: E) -> E:
        value = self.get(key)
        if value is None:
            return default
        kind = type(default)
        for member in kind:
            if member == value:
                return member
        raise self.refusal(key, " or ".join(kind))

    def length(
        self, key: str, *, shortest: timedelta, longest: timedelta = durations.LONGEST
    ) -> timedelta | None:
        value = self.get(key)
        if value is None:
            return None
        name = self.name(key)
        return durations.parse(
            value, field=name, shortest=shortest, longest=longest, error=InvalidSchedule
        )

    def instant(self, key: str) -> datetime | None:
        value = self.get(key)
        if value is None:
            return None
        return moments.parse(value, field=self.name(key), error=InvalidSchedule)

    def items(self, key: str, *, limit: int) -> list[object]:
        """One value or a list of them."""
        value = self.get(key)
        if value is None:
            return []
        items = list(value) if isinstance(value, list | tuple) else [value]
        if not items or len(items) > limit:
            raise self.refusal(key, f"one value, or a list of 1 to {limit}")
        return items


def fields(value: object, path: str, known: Collection[str]) -> Fields:
    """Take a value as an object with some of the known fields."""
    if not isinstance(value, Mapping):
        raise InvalidSchedule(path or "schedule", value, f"an object with {_listed(known)}")
    for key in value:
        if key not in known:
            name = f"{path}.{key}" if path else str(key)
            close = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise InvalidSchedule(name, value[key], f"the fields are {_listed(known)}{hint}")
    return Fields(value, path)


def _listed(known: Collection[str]) -> str:
    return ", ".join(known)

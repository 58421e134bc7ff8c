"""Reads one JSON object, field by field.

Room: core/time. Every error names the path of the field (`misfire.pace`), the value, and what would
be right; a name that is nearly right gets a suggestion. An unknown name is refused and not ignored:
a policy with a typing error in its name must not quietly be the default policy. In a stored
document it is ignored and noted (core/documents.py). Which fields there are is said in plain.py and
calendar_plain.py.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from rota.core.documents import Unread
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import durations, moments

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object whose field names are known; a null is the same as a field that is not there.
    `unread` is there when the object was stored.
    """

    values: Mapping[str, object]
    path: str
    unread: Unread | None = None

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def part(self, value: object, path: str, known: Collection[str]) -> "Fields":
        """An object inside this one, read as strictly."""
        return fields(value, path, known, self.unread)

    @property
    def error(self) -> type[InvalidInput]:
        return InvalidSchedule if self.unread is None else NewerDocument

    def refusal(self, key: str, wanted: str) -> InvalidInput:
        return self.error(self.name(key), self.values.get(key), wanted)

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

    def choice_or(self, key: str, default: E) -> E:
        """A choice of which an unknown stored value may be taken as the default."""
        try:
            return self.choice(key, default)
        except NewerDocument:
            if self.unread is not None:
                self.unread.note(self.name(key))
            return default

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
            value, field=name, shortest=shortest, longest=longest, error=self.error
        )

    def instant(self, key: str) -> datetime | None:
        value = self.get(key)
        if value is None:
            return None
        return moments.parse(value, field=self.name(key), error=self.error)

    def items(self, key: str, *, limit: int) -> list[object]:
        """One value or a list of them."""
        value = self.get(key)
        if value is None:
            return []
        items = list(value) if isinstance(value, list | tuple) else [value]
        if not items or len(items) > limit:
            raise self.refusal(key, f"one value, or a list of 1 to {limit}")
        return items


def fields(
    value: object, path: str, known: Collection[str], unread: Unread | None = None
) -> Fields:
    """Take a value as an object with some of the known fields; with `unread`, as a stored one."""
    if not isinstance(value, Mapping):
        error = NewerDocument if path and unread is not None else InvalidSchedule
        raise error(path or "schedule", value, f"an object with {_listed(known)}")
    for key in value:
        if key not in known:
            name = f"{path}.{key}" if path else str(key)
            if unread is not None:
                unread.note(name)
                continue
            close = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise InvalidSchedule(name, value[key], f"the fields are {_listed(known)}{hint}")
    return Fields(value, path, unread)


def _listed(known: Collection[str]) -> str:
    return ", ".join(known)

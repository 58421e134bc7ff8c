"""Uniqueness: of equal submissions, one becomes a run and the others find it (E16). Room: core.

A rule is a key, how long the one who took it holds it, and what happens to whoever comes later.
Keys are equal within a tenant. This is about handing in and not about running: how many may run at
a time is a limit (core/limits.py). Taking keys without a race is the store's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Final, TypeVar

from rota.core.errors import InvalidInput
from rota.core.time import durations

Choice = TypeVar("Choice", bound=StrEnum)

LONGEST: Final = timedelta(days=366)
MOST_KEY: Final = 180
_NAMES: Final = frozenset({"key", "while", "within", "on_conflict"})


class While(StrEnum):
    """How long a key is held: until the first attempt begins, or until the run has ended. A run
    that waits for its retry is queued again.
    """

    QUEUED = "queued"
    LIVE = "live"


class OnConflict(StrEnum):
    """What whoever comes later gets: the run that is there, a refusal, or that run made anew with
    what was handed in last (debounce).
    """

    RETURN = "return"
    REJECT = "reject"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """`key` may have places such as {args.id}, which the payload fills. `within` holds it for that
    long after it was taken, whatever became of the run.
    """

    key: str
    held_while: While = While.LIVE
    within: timedelta | None = None
    on_conflict: OnConflict = OnConflict.RETURN

    def __post_init__(self) -> None:
        if not self.key.strip() or len(self.key) > MOST_KEY:
            raise InvalidInput("unique.key", self.key, f"a text of 1 to {MOST_KEY} characters")
        if self.within is not None and not timedelta(0) < self.within <= LONGEST:
            wanted = "a positive time of at most a year"
            raise InvalidInput("unique.within", self.within, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What became of whoever took a key."""

    waits: bool
    runs: bool
    in_period: bool


def is_held(standing: Standing, held_while: While) -> bool:
    """Whether a key is still held, seen by somebody with this rule."""
    runs = standing.runs and held_while is While.LIVE
    return standing.waits or runs or standing.in_period


def from_plain(given: object) -> Unique:
    """Read {key, while, within, on_conflict}; only the key is needed."""
    if not isinstance(given, Mapping) or "key" not in given:
        raise InvalidInput("unique", given, "an object with a key, such as {key: invoice:42}")
    for name in given:
        if name not in _NAMES:
            raise InvalidInput(f"unique.{name}", given[name], "key, while, within or on_conflict")
    key, within = given["key"], given.get("within")
    if not isinstance(key, str):
        raise InvalidInput("unique.key", key, f"a text of 1 to {MOST_KEY} characters")
    return Unique(
        key=key,
        held_while=_choice(While, given.get("while", While.LIVE), "unique.while"),
        within=None if within is None else durations.parse(within, field="unique.within"),
        on_conflict=_choice(
            OnConflict, given.get("on_conflict", OnConflict.RETURN), "unique.on_conflict"
        ),
    )


def to_plain(unique: Unique) -> dict[str, str]:
    plain = {
        "key": unique.key,
        "while": unique.held_while.value,
        "on_conflict": unique.on_conflict.value,
    }
    if unique.within is not None:
        plain["within"] = durations.iso(unique.within)
    return plain


def digest(key: str) -> bytes:
    """What is stored of a key; the tenant is stored beside it."""
    return blake2b(key.encode(), digest_size=16, person=b"rota unique").digest()


def _choice(kind: type[Choice], value: object, name: str) -> Choice:
    try:
        return kind(str(value))
    except ValueError:
        raise InvalidInput(name, value, f"one of {', '.join(kind)}") from None

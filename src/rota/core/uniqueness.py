"""Uniqueness: of equal submissions, one becomes a run and the others find it (E16). Room: core.

A rule is a key, how long the one who took it holds it, and what happens to whoever comes later.
Keys are equal within a tenant. This is about handing in and not about running: how many may run at
a time is a limit (core/limits.py). Taking keys without a race is the store's.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from rota.core.errors import InvalidInput

LONGEST: Final = timedelta(days=366)
MOST_KEY: Final = 180


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


def digest(key: str) -> bytes:
    """What is stored of a key; the tenant is stored beside it."""
    return blake2b(key.encode(), digest_size=16, person=b"rota unique").digest()

"""Defines the rules that deduplicate submissions (E16).

A rule has a key, how long the first submission holds it, and what a later submission with the same
key does. Keys are compared within a tenant. Uniqueness applies to submissions, not to running runs:
core/limits.py limits how many run at a time. The store takes keys without a race.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from rota.core.errors import InvalidInput

KEY_HELD_MAX: Final = timedelta(days=366)
UNIQUE_KEY_CHARACTERS_MAX: Final = 180


class HeldWhile(StrEnum):
    """How long a key is held: until the first attempt starts, or until the run has finished. A run
    that waits for its retry counts as queued.
    """

    QUEUED = "queued"
    LIVE = "live"


class OnConflict(StrEnum):
    """What a later submission does: return the existing run, be rejected, or replace the existing
    run with its own values (debounce).
    """

    RETURN = "return"
    REJECT = "reject"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueRule:
    """`key` may have placeholders such as {args.id}, which are filled from the payload. `within` is
    the minimum time that the key is held, even after the run has finished.
    """

    key: str
    held_while: HeldWhile = HeldWhile.LIVE
    within: timedelta | None = None
    on_conflict: OnConflict = OnConflict.RETURN

    def __post_init__(self) -> None:
        if not self.key.strip() or len(self.key) > UNIQUE_KEY_CHARACTERS_MAX:
            raise InvalidInput(
                "unique.key",
                self.key,
                f"expected text of 1 to {UNIQUE_KEY_CHARACTERS_MAX} characters",
            )
        if self.within is not None and not timedelta(0) < self.within <= KEY_HELD_MAX:
            wanted = "must be above 0 and at most a year"
            raise InvalidInput("unique.within", self.within, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolderState:
    """The state of the submission that holds a key."""

    waits: bool
    runs: bool
    in_period: bool


def is_held(holder: KeyHolderState, held_while: HeldWhile) -> bool:
    """Return whether a key is still held, for a submission with this rule."""
    runs = holder.runs and held_while is HeldWhile.LIVE
    return holder.waits or runs or holder.in_period


def digest_key(key: str) -> bytes:
    """Return the digest of a key, which is stored with the tenant."""
    return blake2b(key.encode(), digest_size=16, person=b"rota unique").digest()

"""Concurrency and rate arithmetic (E7). Room: core.

A concurrency limit is a number of slots, each a row that names its holder. A rate limit is one
timestamp per key, moved by the generic cell rate algorithm: no counters, no windows with a cliff
at their edge. Both are decided here and kept by the store.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.core.errors import InvalidInput

MOST_SLOTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    key: str
    most: int

    def __post_init__(self) -> None:
        if not 1 <= len(self.key) <= 200:
            raise InvalidInput("limits.key", self.key, "1 to 200 characters")
        if not 1 <= self.most <= MOST_SLOTS:
            raise InvalidInput("limits.max", self.most, f"1 to {MOST_SLOTS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`count` starts per `per`, of which `burst` may come at once."""

    count: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 or self.per <= timedelta(0):
            raise InvalidInput("rate", (self.count, self.per), "at least 1 per a positive time")
        if not 1 <= self.burst <= self.count:
            raise InvalidInput("rate.burst", self.burst, f"1 to {self.count}")

    @property
    def spacing(self) -> timedelta:
        return self.per / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """How many may start now, the timestamp to store, and when the next one may."""

    admitted: int
    paid_until: datetime
    next_at: datetime


def admit(rate: Rate, *, paid_until: datetime | None, wanted: int, now: datetime) -> Admission:
    """Admit up to `wanted` starts at `now`, given the stored timestamp of the key.

    `paid_until` is the time at which everything admitted so far is paid for. It may run ahead of
    now by `burst` spacings; a start is admitted while it would not run further.
    """
    paid = max(paid_until or now, now)
    ahead = rate.spacing * rate.burst
    # The smallest step of a datetime is a microsecond; a tolerance of one keeps division honest.
    room = (now + ahead - paid + timedelta(microseconds=1)) // rate.spacing
    admitted = max(0, min(wanted, room))
    paid += rate.spacing * admitted
    next_at = max(now, paid + rate.spacing - ahead)
    return Admission(admitted=admitted, paid_until=paid, next_at=next_at)


def slots_to_add(limit: Limit, *, existing: int) -> range:
    """The numbers of the slots that a raised limit still lacks; a lowered one just stops using its
    highest slots, which fall free when their holders end.
    """
    return range(existing, max(existing, limit.most))

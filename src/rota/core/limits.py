"""Defines concurrency and rate limits, and computes how many runs may start (E7).

A rate limit is one timestamp per gate, moved by the generic cell rate algorithm; it needs no
counters, and no fixed windows that allow bursts at their edges. A concurrency limit is counted anew
for every claim (core/gates.py explains why). Core decides; the store keeps the values.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rota.core.errors import InvalidInput

MOST_AT_ONCE: Final = 10_000
MOST_PER_TIME: Final = 1_000_000
LONGEST_PERIOD: Final = timedelta(days=366)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """At most `count` starts per `per`, of which `burst` may happen at the same time."""

    count: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_PER_TIME:
            raise InvalidInput("rate.count", self.count, f"must be 1 to {MOST_PER_TIME}")
        if not timedelta(0) < self.per <= LONGEST_PERIOD:
            raise InvalidInput("rate.per", self.per, "must be above 0 and at most a year")
        if self.spacing <= timedelta(0):
            wanted = "must be at most one start per microsecond"
            raise InvalidInput("rate", (self.count, self.per), wanted)
        if not 1 <= self.burst <= self.count:
            raise InvalidInput("rate.burst", self.burst, f"must be 1 to {self.count}, the count")

    @property
    def spacing(self) -> timedelta:
        return self.per / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a gate; None means no limit.

    `in_order` allows one run at a time, in the order of (scheduled_at, id); a run that waits for
    its retry keeps its place.
    """

    most: int | None = None
    rate: Rate | None = None
    in_order: bool = False

    def __post_init__(self) -> None:
        if self.most is not None and not 1 <= self.most <= MOST_AT_ONCE:
            raise InvalidInput("limits.max", self.most, f"must be 1 to {MOST_AT_ONCE}")


OPEN: Final = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """How many may start now, the timestamp to store, and when the next one may start."""

    admitted: int
    paid_until: datetime
    next_at: datetime


def admit(rate: Rate, *, paid_until: datetime | None, wanted: int, now: datetime) -> Admission:
    """Admit up to `wanted` starts at `now`, given the stored timestamp of the gate.

    `paid_until` is the time until which the admitted starts use up the rate. It may be ahead of now
    by `burst` spacings; a start that would move it further is not admitted.
    """
    paid = max(paid_until or now, now)
    ahead = rate.spacing * rate.burst
    # A tolerance of one microsecond, the resolution of datetime, makes up for rounding.
    room = (now + ahead - paid + timedelta(microseconds=1)) // rate.spacing
    admitted = max(0, min(wanted, room))
    paid += rate.spacing * admitted
    next_at = max(now, paid + rate.spacing - ahead)
    return Admission(admitted=admitted, paid_until=paid, next_at=next_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of a job. `key` may have placeholders for the payload: `customer:{args.id}`."""

    key: str
    most: int | None = None
    rate: Rate | None = None

    def __post_init__(self) -> None:
        if self.most is None and self.rate is None:
            raise InvalidInput("max", None, "required, or give `rate`: a limit needs one of them")

    @property
    def limits(self) -> Limits:
        return Limits(most=self.most, rate=self.rate)

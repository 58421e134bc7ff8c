"""How many runs may pass a gate: so many at a time, so many per time (E7). Room: core.

A rate limit is one timestamp per gate, moved by the generic cell rate algorithm: no counters, no
windows with a cliff at their edge. A limit on those at work is counted anew for every claim
(core/gates.py says why). Both are decided in core and kept by the store.
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
    """`count` starts per `per`, of which `burst` may come at once."""

    count: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_PER_TIME:
            raise InvalidInput("rate.count", self.count, f"1 to {MOST_PER_TIME}")
        if not timedelta(0) < self.per <= LONGEST_PERIOD:
            raise InvalidInput("rate.per", self.per, "a positive time of at most a year")
        if self.spacing <= timedelta(0):
            raise InvalidInput("rate", (self.count, self.per), "at most one a microsecond")
        if not 1 <= self.burst <= self.count:
            raise InvalidInput("rate.burst", self.burst, f"1 to {self.count}")

    @property
    def spacing(self) -> timedelta:
        return self.per / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a gate lets through; None means no limit of that sort.

    `in_order` is one at a time in the order of (scheduled_at, id), a waiting retry included.
    """

    most: int | None = None
    rate: Rate | None = None
    in_order: bool = False

    def __post_init__(self) -> None:
        if self.most is not None and not 1 <= self.most <= MOST_AT_ONCE:
            raise InvalidInput("limits.max", self.most, f"1 to {MOST_AT_ONCE}")


OPEN: Final = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """How many may start now, the timestamp to store, and when the next one may."""

    admitted: int
    paid_until: datetime
    next_at: datetime


def admit(rate: Rate, *, paid_until: datetime | None, wanted: int, now: datetime) -> Admission:
    """Admit up to `wanted` starts at `now`, given the stored timestamp of the gate.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit that a job asks for. `key` may have places for the payload: `customer:{args.id}`."""

    key: str
    most: int | None = None
    rate: Rate | None = None

    def __post_init__(self) -> None:
        if self.most is None and self.rate is None:
            raise InvalidInput("max", None, "max or rate; a limit must limit something")

    @property
    def limits(self) -> Limits:
        return Limits(most=self.most, rate=self.rate)

"""Defines concurrency and rate limits, and computes how many runs may start (E7).

A rate limit is one timestamp per gate, moved by the generic cell rate algorithm; it needs no
counters, and no fixed windows that allow bursts at their edges. A concurrency limit is counted anew
for every claim (core/gates.py explains why). Core decides; the store keeps the values.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rota.core.errors import InvalidInput

CONCURRENCY_MAX: Final = 10_000
RATE_COUNT_MAX: Final = 1_000_000
RATE_PERIOD_MAX: Final = timedelta(days=366)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most `count` starts per `per`, of which `burst` may happen at the same time."""

    count: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count <= RATE_COUNT_MAX:
            raise InvalidInput("rate.count", self.count, f"must be 1 to {RATE_COUNT_MAX}")
        if not timedelta(0) < self.per <= RATE_PERIOD_MAX:
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
class GateLimits:
    """The limits of a gate; None means no limit.

    `in_order` allows one run at a time, in the order of (scheduled_at, id); a run that waits for
    its retry keeps its place.
    """

    max_running: int | None = None
    rate: RateLimit | None = None
    in_order: bool = False

    def __post_init__(self) -> None:
        if self.max_running is not None and not 1 <= self.max_running <= CONCURRENCY_MAX:
            raise InvalidInput("limits.max", self.max_running, f"must be 1 to {CONCURRENCY_MAX}")


NO_LIMITS: Final = GateLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class RateAdmission:
    """How many may start now, the timestamp to store, and when the next one may start."""

    admitted: int
    paid_until: datetime
    next_at: datetime


def admit_starts(
    rate: RateLimit, *, paid_until: datetime | None, wanted: int, now: datetime
) -> RateAdmission:
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
    return RateAdmission(admitted=admitted, paid_until=paid, next_at=next_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLimit:
    """A limit of a job. `key` may have placeholders for the payload: `customer:{args.id}`."""

    key: str
    max_running: int | None = None
    rate: RateLimit | None = None

    def __post_init__(self) -> None:
        if self.max_running is None and self.rate is None:
            raise InvalidInput("max", None, "required, or give `rate`: a limit needs one of them")

    @property
    def gate_limits(self) -> GateLimits:
        return GateLimits(max_running=self.max_running, rate=self.rate)

"""Computes when a failed run is retried (E8).

The rules are part of the job's policy. Jitter uses a `Random` that is passed in, so that tests can
predict it.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from rota.core.errors import InvalidInput

if TYPE_CHECKING:
    from random import Random

RETRIES_MAX = 100
RETRY_DELAY_MAX = timedelta(hours=24)


class DelayGrowth(StrEnum):
    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    CONSTANT = "constant"
    LIST = "list"


class RetryJitter(StrEnum):
    """The random share of a delay: full spreads retries the most, equal keeps at least half of the
    delay, none is for tests.
    """

    FULL = "full"
    EQUAL = "equal"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how soon a failed run is retried. Default: 3 retries after up to 1, 2 and 4
    seconds.
    """

    max_retries: int = 3
    growth: DelayGrowth = DelayGrowth.EXPONENTIAL
    base_delay: timedelta = timedelta(seconds=1)
    max_delay: timedelta = timedelta(hours=1)
    delays: tuple[timedelta, ...] = ()
    jitter: RetryJitter = RetryJitter.FULL

    def __post_init__(self) -> None:
        if not 0 <= self.max_retries <= RETRIES_MAX:
            raise InvalidInput("retries.max", self.max_retries, f"must be 0 to {RETRIES_MAX}")
        if self.base_delay < timedelta(0) or self.base_delay > RETRY_DELAY_MAX:
            raise InvalidInput("retries.base", self.base_delay, "must be 0 to 24 hours")
        if self.max_delay < timedelta(0) or self.max_delay > RETRY_DELAY_MAX:
            raise InvalidInput("retries.cap", self.max_delay, "must be 0 to 24 hours")
        if (self.growth is DelayGrowth.LIST) != bool(self.delays):
            wanted = "required with kind 'list', and not allowed with other kinds"
            raise InvalidInput("retries.delays", self.delays, wanted)
        if any(delay < timedelta(0) or delay > RETRY_DELAY_MAX for delay in self.delays):
            raise InvalidInput("retries.delays", self.delays, "each delay must be 0 to 24 hours")


def compute_delay_ceiling(policy: RetryPolicy, *, failures: int) -> timedelta:
    """Return the delay without jitter after `failures` failed attempts."""
    match policy.growth:
        case DelayGrowth.CONSTANT:
            grown = policy.base_delay
        case DelayGrowth.LINEAR:
            grown = policy.base_delay * failures
        case DelayGrowth.EXPONENTIAL:
            # 2**60 times any delay exceeds every cap; the bound keeps timedelta from overflowing.
            doublings = min(failures - 1, 60)
            seconds = policy.base_delay.total_seconds() * 2**doublings
            grown = timedelta(seconds=min(seconds, policy.max_delay.total_seconds()))
        case DelayGrowth.LIST:
            grown = policy.delays[min(failures, len(policy.delays)) - 1]
    return min(grown, policy.max_delay)


def compute_delay(policy: RetryPolicy, *, failures: int, rng: "Random") -> timedelta:
    """Return the delay with jitter after `failures` failed attempts."""
    longest = compute_delay_ceiling(policy, failures=failures)
    match policy.jitter:
        case RetryJitter.FULL:
            return longest * rng.random()
        case RetryJitter.EQUAL:
            return longest / 2 + longest / 2 * rng.random()
        case RetryJitter.NONE:
            return longest

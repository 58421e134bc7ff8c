"""Defines the policy of a job's runs: retries, time limits, guarantee, target.

contract/policy.py reads and writes the document.

Computes when a failed run is retried (E8).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rota.core.errors import InvalidInput
from rota.core.outcome import Guarantee

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


TIMEOUT_MAX: Final = timedelta(hours=24)
GRACE_MAX: Final = timedelta(minutes=10)
NO_LIMIT: Final = "none"
TIME_LIMIT_MIN: Final = timedelta(milliseconds=100)
# Matches hosts with a port and user-defined names; shown in messages and logs.
TARGET_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,252}", re.ASCII)
TARGET_WANTED: Final = (
    "expected a name such as payments or example.org:443, of 1 to 253 letters, digits and . _ : / -"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The policy of a job. `timeout` limits one attempt, `deadline` the whole run from its due
    time. `grace` is the time between asking an attempt to stop and killing it. `target` is what its
    attempts depend on, if it differs from what their executor reports (core/breaker.py). `unread`
    has the stored fields that only newer code knows.
    """

    retries: RetryPolicy = field(default_factory=RetryPolicy)
    timeout: timedelta | None = timedelta(minutes=15)
    deadline: timedelta | None = None
    grace: timedelta = timedelta(seconds=10)
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    target: str | None = None
    unread: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        if self.target is not None and TARGET_PATTERN.fullmatch(self.target) is None:
            raise InvalidInput("target", self.target, TARGET_WANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadablePolicy(Policy):
    """Represents a stored policy that only newer code can read. No run starts under it."""

    reason: str


DEFAULT_POLICY: Final = Policy()

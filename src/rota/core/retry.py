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

MOST_RETRIES = 100
LONGEST_DELAY = timedelta(hours=24)


class Growth(StrEnum):
    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    CONSTANT = "constant"
    LIST = "list"


class Jitter(StrEnum):
    """The random share of a delay: full spreads retries the most, equal keeps at least half of the
    delay, none is for tests.
    """

    FULL = "full"
    EQUAL = "equal"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how soon a failed run is retried. Default: 3 retries after up to 1, 2 and 4
    seconds.
    """

    most: int = 3
    growth: Growth = Growth.EXPONENTIAL
    first: timedelta = timedelta(seconds=1)
    cap: timedelta = timedelta(hours=1)
    delays: tuple[timedelta, ...] = ()
    jitter: Jitter = Jitter.FULL

    def __post_init__(self) -> None:
        if not 0 <= self.most <= MOST_RETRIES:
            raise InvalidInput("retries.max", self.most, f"must be 0 to {MOST_RETRIES}")
        if self.first < timedelta(0) or self.first > LONGEST_DELAY:
            raise InvalidInput("retries.base", self.first, "must be 0 to 24 hours")
        if self.cap < timedelta(0) or self.cap > LONGEST_DELAY:
            raise InvalidInput("retries.cap", self.cap, "must be 0 to 24 hours")
        if (self.growth is Growth.LIST) != bool(self.delays):
            wanted = "required with kind 'list', and not allowed with other kinds"
            raise InvalidInput("retries.delays", self.delays, wanted)
        if any(delay < timedelta(0) or delay > LONGEST_DELAY for delay in self.delays):
            raise InvalidInput("retries.delays", self.delays, "each delay must be 0 to 24 hours")


# Retries for about two weeks: after 15 s, 30 s, 1 min … then at most every 24 hours.
PATIENT = Retries(
    most=20, first=timedelta(seconds=15), cap=timedelta(hours=24), jitter=Jitter.EQUAL
)


def ceiling(policy: Retries, *, failures: int) -> timedelta:
    """Return the delay without jitter after `failures` failed attempts."""
    match policy.growth:
        case Growth.CONSTANT:
            grown = policy.first
        case Growth.LINEAR:
            grown = policy.first * failures
        case Growth.EXPONENTIAL:
            # 2**60 times any delay exceeds every cap; the bound keeps timedelta from overflowing.
            doublings = min(failures - 1, 60)
            seconds = policy.first.total_seconds() * 2**doublings
            grown = timedelta(seconds=min(seconds, policy.cap.total_seconds()))
        case Growth.LIST:
            grown = policy.delays[min(failures, len(policy.delays)) - 1]
    return min(grown, policy.cap)


def delay(policy: Retries, *, failures: int, chance: "Random") -> timedelta:
    """Return the delay with jitter after `failures` failed attempts."""
    longest = ceiling(policy, failures=failures)
    match policy.jitter:
        case Jitter.FULL:
            return longest * chance.random()
        case Jitter.EQUAL:
            return longest / 2 + longest / 2 * chance.random()
        case Jitter.NONE:
            return longest

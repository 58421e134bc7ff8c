"""When to try again, and when to give up (E8). Room: core.

A policy is data that a job carries; the delay before retry n is arithmetic on it. Jitter is drawn
from a `Random` that is passed in, so a test can know it.
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
    """Full spreads a herd widest; equal keeps at least half of the delay; none is for tests."""

    FULL = "full"
    EQUAL = "equal"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """3 retries after 1, 2 and 4 seconds, fully jittered, unless the job says otherwise."""

    most: int = 3
    growth: Growth = Growth.EXPONENTIAL
    first: timedelta = timedelta(seconds=1)
    cap: timedelta = timedelta(hours=1)
    delays: tuple[timedelta, ...] = ()
    jitter: Jitter = Jitter.FULL

    def __post_init__(self) -> None:
        if not 0 <= self.most <= MOST_RETRIES:
            raise InvalidInput("retries.max", self.most, f"0 to {MOST_RETRIES} retries")
        if self.first < timedelta(0) or self.first > LONGEST_DELAY:
            raise InvalidInput("retries.base", self.first, "a delay from 0 to 24 hours")
        if self.cap < timedelta(0) or self.cap > LONGEST_DELAY:
            raise InvalidInput("retries.cap", self.cap, "a delay from 0 to 24 hours")
        if (self.growth is Growth.LIST) != bool(self.delays):
            raise InvalidInput(
                "retries.delays", self.delays, "delays exactly when the kind is 'list'"
            )
        if any(delay < timedelta(0) or delay > LONGEST_DELAY for delay in self.delays):
            raise InvalidInput("retries.delays", self.delays, "delays from 0 to 24 hours each")


# About two weeks: 15 s, 30 s, 1 min … then every 24 hours at most.
PATIENT = Retries(
    most=20, first=timedelta(seconds=15), cap=timedelta(hours=24), jitter=Jitter.EQUAL
)


def ceiling(policy: Retries, *, failures: int) -> timedelta:
    """The delay before jitter after `failures` failed attempts (1 for the first)."""
    match policy.growth:
        case Growth.CONSTANT:
            grown = policy.first
        case Growth.LINEAR:
            grown = policy.first * failures
        case Growth.EXPONENTIAL:
            # 2**60 of anything is past every cap; the bound keeps timedelta from overflowing.
            doublings = min(failures - 1, 60)
            seconds = policy.first.total_seconds() * 2**doublings
            grown = timedelta(seconds=min(seconds, policy.cap.total_seconds()))
        case Growth.LIST:
            grown = policy.delays[min(failures, len(policy.delays)) - 1]
    return min(grown, policy.cap)


def delay(policy: Retries, *, failures: int, chance: "Random") -> timedelta:
    """The wait before the next attempt after `failures` failed ones."""
    longest = ceiling(policy, failures=failures)
    match policy.jitter:
        case Jitter.FULL:
            return longest * chance.random()
        case Jitter.EQUAL:
            return longest / 2 + longest / 2 * chance.random()
        case Jitter.NONE:
            return longest

"""Percentiles of times that were counted in bins. Room: core.

A bin is as wide as what it holds is long: `PER_E` bins for every factor of e, that is eight for a
doubling. So a percentile is at most 4.5 % from the true one, from a millisecond to a month, bins of
different states and slices add up, and nothing is sorted.
"""

from collections.abc import Mapping
from datetime import timedelta
from math import exp, log
from typing import Final

PER_E: Final = 8 / log(2)
# What is shorter shares the first bin: nobody looks at fractions of a millisecond.
SHORTEST: Final = timedelta(milliseconds=1)


def quantile(bins: Mapping[int, int], share: float) -> timedelta | None:
    """The time below which this share of all lies; None of nothing."""
    wanted = share * sum(bins.values())
    passed = 0
    for place in sorted(bins):
        passed += bins[place]
        if passed >= wanted:
            return middle(place)
    return None


def middle(place: int) -> timedelta:
    """What a bin stands for: the geometric middle of its ends."""
    return timedelta(seconds=exp((place + 0.5) / PER_E))

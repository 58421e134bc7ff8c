"""Computes percentiles of durations that were counted in logarithmic bins.

The width of a bin grows with its durations: `BINS_PER_E` bins per factor of e, which is eight per
doubling. A percentile is at most 4.5 % off, from a millisecond to a month. Bins of different states
and time slices can be added, and nothing is sorted.
"""

from collections.abc import Mapping
from datetime import timedelta
from math import exp, log
from typing import Final

BINS_PER_E: Final = 8 / log(2)
# Shorter durations share the first bin.
BIN_DURATION_MIN: Final = timedelta(milliseconds=1)


def compute_quantile(bins: Mapping[int, int], share: float) -> timedelta | None:
    """Return the duration below which this share of all values lies; None without values."""
    target = share * sum(bins.values())
    count = 0
    for place in sorted(bins):
        count += bins[place]
        if count >= target:
            return find_bin_middle(place)
    return None


def find_bin_middle(place: int) -> timedelta:
    """Return the duration that represents a bin: the geometric mean of its bounds."""
    return timedelta(seconds=exp((place + 0.5) / BINS_PER_E))

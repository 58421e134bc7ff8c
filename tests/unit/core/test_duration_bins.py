"""Percentiles from bins: close to the true ones, and the same however they were counted (I2)."""

from collections import Counter
from datetime import timedelta
from math import floor, log

from hypothesis import given
from hypothesis import strategies as st

from rota.core.duration_bins import BIN_DURATION_MIN, BINS_PER_E, compute_quantile, find_bin_middle

times = st.floats(min_value=BIN_DURATION_MIN.total_seconds(), max_value=3e6)


def place(seconds: float) -> int:
    """As metrics_queries/count_slices.sql does it."""
    return floor(log(seconds) * BINS_PER_E)


@given(st.lists(times, min_size=1, max_size=200), st.sampled_from([0.01, 0.5, 0.99, 1.0]))
def test_a_percentile_is_within_a_twentieth_of_one_of_the_times(
    seconds: list[float], share: float
) -> None:
    found = compute_quantile(Counter(map(place, seconds)), share)

    assert found is not None
    true = sorted(seconds)[max(0, -floor(-share * len(seconds)) - 1)]
    # Times are whole microseconds.
    assert abs(found.total_seconds() - true) <= 0.045 * true + 1e-6


def test_of_nothing_there_is_no_percentile() -> None:
    assert compute_quantile({}, 0.5) is None


def test_longer_bins_stand_for_longer_times() -> None:
    assert (
        timedelta(0)
        < find_bin_middle(-80)
        < find_bin_middle(0)
        < find_bin_middle(1)
        < find_bin_middle(171)
    )

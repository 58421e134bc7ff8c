"""The figures of `rota bench`, from samples to what is published (P1 to P5)."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota_bench.measures import (
    MEASURES,
    compute_medians,
    compute_percentile,
    compute_spread,
    to_plain,
)

PUBLISHED = {
    "drain_runs_per_s",
    "throughput_runs_per_s",
    "fire_lag_ms",
    "pickup_ms",
    "herd_10000_s",
    "cron_10000_per_s",
    "neighbour_ratio",
    "in_flight",
    "cpu_us_per_run",
}


@given(st.lists(st.floats(0, 1e9), min_size=1), st.floats(0, 100))
def test_a_percentile_is_the_smallest_sample_that_covers_its_share(
    samples: list[float], percent: float
) -> None:
    found = compute_percentile(samples, percent)

    needed = math.ceil(len(samples) * percent / 100)
    assert found in samples
    assert sum(sample <= found for sample in samples) >= needed
    assert sum(sample < found for sample in samples) < max(1, needed)


@pytest.mark.parametrize(
    ("number", "percent", "wanted"), [(100, 99, 99), (100, 50, 50), (20, 99, 20), (1, 50, 1)]
)
def test_a_percentile_of_the_first_numbers_is_as_counted_by_hand(
    number: int, percent: int, wanted: int
) -> None:
    samples = [float(each) for each in range(number, 0, -1)]

    assert compute_percentile(samples, percent) == wanted


def test_a_spread_has_the_middle_the_late_ones_and_the_last() -> None:
    figures = compute_spread("pickup_ms", [3.0, 1.0, 2.0])

    assert figures == {"pickup_ms.p50": 2.0, "pickup_ms.p99": 3.0, "pickup_ms.max": 3.0}


def test_the_median_of_rounds_is_taken_figure_by_figure() -> None:
    rounds = [{"a": 1.0, "b": 9.0}, {"a": 5.0}, {"a": 2.0, "b": 7.0}]

    assert compute_medians(rounds) == {"a": 2.0, "b": 8.0}


def test_what_was_not_measured_is_published_as_null() -> None:
    plain = to_plain({})

    assert set(plain) >= PUBLISHED
    assert set(plain.values()) == {None}


def test_what_was_measured_is_published_nested_and_as_json() -> None:
    figures = {
        "drain_runs_per_s": 43210.987,
        "fire_lag_ms.100.p50": 1.23456,
        "cpu_us_per_run.rota": 11.5,
    }

    plain = json.loads(json.dumps(to_plain(figures)))

    assert plain["drain_runs_per_s"] == 43211
    assert plain["fire_lag_ms"]["100"] == {"p50": 1.235, "p99": None, "max": None}
    assert plain["fire_lag_ms"]["5000"] is None
    assert plain["cpu_us_per_run"] == {"rota": 11.5, "postgres": None, "all": None}


def test_every_measure_has_a_key_of_its_own() -> None:
    keys = [measure.key for measure in MEASURES]

    assert len(keys) == len(set(keys))
    assert {key.partition(".")[0] for key in keys} >= PUBLISHED


def test_a_target_is_met_on_the_right_side_of_it() -> None:
    by_key = {measure.key: measure for measure in MEASURES}

    assert by_key["drain_runs_per_s"].is_met(40_000) is True
    assert by_key["drain_runs_per_s"].is_met(39_999) is False
    assert by_key["herd_10000_s"].is_met(2.0) is True
    assert by_key["herd_10000_s"].is_met(2.1) is False
    assert by_key["pickup_ms.max"].is_met(1e9) is None

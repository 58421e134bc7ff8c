"""Rates and costs are computed from what was recorded, and refused when something is missing."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from rota_bench.database import RunPeriod, with_database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import RunBarrier
from rota_bench.throughput import compute_cost, compute_rate, space_evenly

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_instants_are_spread_over_fractions_of_a_second() -> None:
    instants = list(space_evenly(NOON, 5, per_second=4))

    assert instants == [NOON + timedelta(milliseconds=250 * each) for each in range(5)]


def test_a_rate_counts_from_the_given_moment_to_the_last_record() -> None:
    span = RunPeriod(1000, NOON, NOON + timedelta(seconds=1), NOON + timedelta(seconds=5))

    assert compute_rate(span, 1000, since=span.first_due) == 200
    assert compute_rate(span, 1000, since=span.first_start) == 250


@pytest.mark.parametrize("span", [RunPeriod(999, NOON, NOON, NOON), RunPeriod(0, None, None, None)])
def test_there_is_no_rate_while_runs_are_missing(span: RunPeriod) -> None:
    with pytest.raises(BenchFailed, match=f"{span.finished} of 1,000 runs"):
        compute_rate(span, 1000, since=span.first_start)


def test_a_cost_is_told_for_the_sides_that_could_be_watched() -> None:
    both = compute_cost(
        {"rota": 1.0, "postgres": 2.0}, {"rota": 2.0, "postgres": 5.0}, runs=100_000
    )
    one = compute_cost(
        {"rota": 1.0, "postgres": None}, {"rota": 2.0, "postgres": None}, runs=100_000
    )

    assert both == pytest.approx(
        {"cpu_us_per_run.rota": 10, "cpu_us_per_run.postgres": 30, "cpu_us_per_run.all": 40}
    )
    assert one == pytest.approx({"cpu_us_per_run.rota": 10})


def test_another_database_of_a_server_keeps_how_to_reach_it() -> None:
    url = "postgresql://rota:secret@/rota?host=%2Ftmp%2Fx&port=5433"

    assert with_database(url, "other") == (
        "postgresql://rota:secret@/other?host=%2Ftmp%2Fx&port=5433"
    )


async def test_nobody_leaves_the_crowd_before_it_is_complete() -> None:
    crowd = RunBarrier()

    seen = await asyncio.gather(*(crowd.join(3) for _ in range(3)))

    assert seen == [3, 3, 3]

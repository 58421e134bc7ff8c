"""When a failover has a figure, and when it has none (P7)."""

from datetime import UTC, datetime

import pytest

from rota_bench.database import RestartCounts
from rota_bench.errors import BenchFailed
from rota_bench.failover import EPOCH, check_restarts, compute_seconds

KILLED = datetime(2026, 7, 1, 12, 0, 0, 250_000, tzinfo=UTC)


def restarts(*, runs: int = 10, ticks: int = 10, attempts: int = 10) -> RestartCounts:
    return RestartCounts(runs, ticks, attempts, None)


def test_all_of_them_once_is_what_it_should_be() -> None:
    check_restarts(restarts(), 10, wanted=10, attempts=1)
    check_restarts(restarts(attempts=20), 10, wanted=10, attempts=2)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (restarts(runs=9, ticks=9, attempts=9), "9 of 10"),
        # As many runs as ticks, and yet one is lost and one doubled.
        (restarts(ticks=9), "9 of 10"),
        (restarts(runs=11), "11 runs"),
        (restarts(attempts=11), "11 attempts"),
    ],
)
def test_what_is_lost_or_doubled_has_no_figure(found: RestartCounts, said: str) -> None:
    with pytest.raises(BenchFailed, match=said):
        check_restarts(found, found.ticks, wanted=10, attempts=1)


def test_it_takes_until_the_last_of_them_has_started() -> None:
    last = round((KILLED - EPOCH).total_seconds() * 1e6) + 5_500_000

    assert compute_seconds(KILLED, RestartCounts(3, 3, 3, last)) == pytest.approx(5.5)


def test_without_any_start_there_is_no_figure() -> None:
    with pytest.raises(BenchFailed, match="no restarted run"):
        compute_seconds(KILLED, RestartCounts(0, 0, 0, None))

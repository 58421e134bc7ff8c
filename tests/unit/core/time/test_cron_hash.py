"""`H` spreads schedules and never moves one (S4)."""

from collections import Counter
from itertools import pairwise

import pytest

from rota.core.time import cron


def test_a_seed_always_gives_the_same_time() -> None:
    # Written down on purpose: these must not change with a release, or every such job moves.
    assert cron.parse_cron("H H * * *", seed="acme/report").describe() == "At 04:12 every day"
    billing = cron.parse_cron("H H(0-5) H * *", seed="acme/billing")
    assert billing.describe() == "At 02:19 on day 20 of the month"


def test_seeds_spread_over_the_hour() -> None:
    minutes = Counter(
        cron.parse_cron("H * * * *", seed=f"job {i}").minute.values for i in range(3000)
    )

    assert len(minutes) == 60
    assert max(minutes.values()) < 100


def test_the_fields_of_one_schedule_do_not_move_together() -> None:
    parsed = [cron.parse_cron("H H * * *", seed=f"job {i}") for i in range(500)]
    pairs = {(p.minute.values[0] % 24, p.hour.values[0]) for p in parsed}

    assert len(pairs) > 200


@pytest.mark.parametrize("seed", [f"job {i}" for i in range(50)])
def test_a_hash_stays_in_its_range(seed: str) -> None:
    quarter = cron.parse_cron("H/15 * * * *", seed=seed).minute.values
    early = cron.parse_cron("H(0-29) * * * *", seed=seed).minute.values
    thrice = cron.parse_cron("H(0-29)/10 * * * *", seed=seed).minute.values
    days = cron.parse_cron("0 0 H * *", seed=seed).day.values
    halves = cron.parse_cron("H(0-29),H(30-59) * * * *", seed=seed).minute.values
    workday = cron.parse_cron("0 0 * * H(1-5)", seed=seed).weekday.values

    assert [b - a for a, b in pairwise(quarter)] == [15, 15, 15]
    assert 0 <= early[0] <= 29
    assert len(thrice) == 3
    assert max(thrice) <= 29
    assert 1 <= days[0] <= 28
    assert halves[1] - halves[0] == 30
    assert 1 <= workday[0] <= 5

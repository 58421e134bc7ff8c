"""`H` spreads schedules and never moves one (S4)."""

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from rota.contract.schedule import read_schedule
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


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("H 1 * * *", True),
        ("h 1 * * *", True),
        ("0,H(10-20) 1 * * *", True),
        ("0 1 * * H(1-5)", True),
        ("0 1 * * THU", False),
        ("0 1 * MAR *", False),
        ("@hourly", False),
        ("CRON_TZ=HST 0 9 * * *", False),
        ("CRON_TZ=Asia/Ho_Chi_Minh 0 9 * * *", False),
    ],
)
def test_only_an_h_makes_the_times_depend_on_the_seed(text: str, depends: bool) -> None:
    parsed = [cron.parse_cron(text, seed=f"job {n}").describe() for n in range(20)]

    assert cron.uses_hash(text) is depends
    assert (len(set(parsed)) > 1) is depends


@pytest.mark.parametrize(
    ("rules", "depends"),
    [
        ({"cron": "H 1 * * *"}, True),
        ({"cron": ["0 1 * * THU", "0,H(10-20) 1 * * *"]}, True),
        ({"cron": "0 1 * * THU"}, False),
        ({"cron": "0 1 * * *", "jitter": "5m"}, True),
        ({"every": "1h"}, False),
    ],
)
def test_a_schedule_depends_on_its_job_by_a_hash_or_by_jitter(
    rules: dict[str, object], depends: bool
) -> None:
    now = datetime(2026, 7, 1, tzinfo=UTC)

    assert read_schedule(rules, now=now, seed="acme/x").depends_on_seed is depends

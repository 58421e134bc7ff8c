"""The load to come, of more schedules than anybody reads one by one."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.core.time import plain
from rota.core.time.crowding import Span
from rota.flow.observe.load import MOST_READ, _load
from rota.store.load_views import Scheduled

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def scheduled(number: int, **schedule: object) -> Scheduled:
    """A job whose schedule is like no other: its anchor is its own."""
    since = NOON + timedelta(seconds=number)
    text = json.dumps(plain.to_plain(plain.parse(schedule, now=since)))
    return Scheduled(UUID(int=number), f"job {number}", text, None)


def test_of_very_many_schedules_some_stand_for_the_others() -> None:
    jobs = [scheduled(number, every="1h") for number in range(3 * MOST_READ)]
    span = Span(since=NOON + HOUR, until=NOON + 3 * HOUR, width=HOUR)

    found = _load(jobs, span, {})

    assert found.is_estimate
    assert sum(found.parts.values()) == pytest.approx(2 * len(jobs), rel=0.01)
    assert found.jobs == pytest.approx(len(jobs), rel=0.01)


def test_jobs_with_one_expression_are_read_once_and_counted_each() -> None:
    text = json.dumps(plain.to_plain(plain.parse({"cron": "0 * * * *"}, now=NOON)))
    jobs = [Scheduled(UUID(int=number), f"job {number}", text, None) for number in range(5000)]

    found = _load(jobs, Span(since=NOON, until=NOON + HOUR, width=HOUR), {})

    assert dict(found.parts) == {NOON: 5000}
    assert (found.jobs, found.is_estimate) == (5000, False)

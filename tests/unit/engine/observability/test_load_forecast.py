"""The load to come, of more schedules than anybody reads one by one."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.contract.schedule import read_schedule, read_stored_schedule, write_schedule
from rota.core.time import planning
from rota.core.time.tick_density import DensitySpan
from rota.engine.observability.load_forecast import SCHEDULES_READ_MAX, _compute_load
from rota.store.job_views import ScheduledJob

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def scheduled(number: int, **schedule: object) -> ScheduledJob:
    """A job whose schedule is like no other: its anchor is its own."""
    since = NOON + timedelta(seconds=number)
    text = json.dumps(write_schedule(read_schedule(schedule, now=since)))
    return ScheduledJob(UUID(int=number), f"job {number}", text, None, NOON)


def test_of_very_many_schedules_some_stand_for_the_others() -> None:
    jobs = [scheduled(number, every="1h") for number in range(3 * SCHEDULES_READ_MAX)]
    span = DensitySpan(since=NOON + HOUR, until=NOON + 3 * HOUR, width=HOUR)

    found = _compute_load(jobs, span, {}, bool)

    assert found.is_estimate
    assert sum(found.parts.values()) == pytest.approx(2 * len(jobs), rel=0.01)
    assert found.jobs == pytest.approx(len(jobs), rel=0.01)


def test_jobs_with_one_expression_are_read_once_and_counted_each() -> None:
    text = json.dumps(write_schedule(read_schedule({"cron": "0 * * * *"}, now=NOON)))
    jobs = [
        ScheduledJob(UUID(int=number), f"job {number}", text, None, NOON) for number in range(999)
    ]

    found = _compute_load(jobs, DensitySpan(since=NOON, until=NOON + HOUR, width=HOUR), {}, bool)

    assert dict(found.parts) == {NOON: 999}
    assert (found.jobs, found.is_estimate) == (999, False)


def test_an_hour_that_depends_on_the_job_is_counted_as_the_scheduler_fires_it() -> None:
    text = json.dumps(write_schedule(read_schedule({"cron": "H H * * *"}, now=NOON)))
    jobs = [
        ScheduledJob(UUID(int=number), f"job {number}", text, None, NOON) for number in range(40)
    ]
    day = DensitySpan(since=NOON, until=NOON + 24 * HOUR, width=timedelta(minutes=1))
    fires = [
        planning.plan_next_tick(
            read_stored_schedule(json.loads(text), seed=str(job.job_id)),
            NOON - timedelta(seconds=1),
        )
        for job in jobs
    ]

    found = _compute_load(jobs, day, {}, bool)

    assert found.parts == Counter(each.due_at for each in fires if each)
    assert not found.is_estimate


def test_the_sum_over_the_jobs_is_the_sum_over_the_cells() -> None:
    """Thirty-six jobs that fire every few seconds are counted as exactly as one."""
    jobs = [scheduled(number, every=f"{number % 9 + 5}s") for number in range(36)]

    found = _compute_load(
        jobs, DensitySpan(since=NOON + HOUR, until=NOON + 25 * HOUR, width=HOUR / 60), {}, bool
    )

    assert sum(found.parts.values()) == sum(each.ticks for each in found.busiest)
    assert not found.is_estimate

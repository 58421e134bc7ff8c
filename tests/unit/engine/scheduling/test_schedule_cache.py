"""Schedules are shared between jobs where that cannot change a tick, and only there (S4, S10)."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.errors import InvalidSchedule
from rota.core.time import planning
from rota.engine.scheduling import schedule_cache
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.store.cursors import DueTick

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
ONE, TWO = UUID(int=1), UUID(int=2)

SCHEDULES: list[dict[str, Any]] = [
    {"cron": "*/5 * * * *"},
    {"cron": "0 9 * * THU"},
    {"cron": "H * * * *"},
    {"cron": "H(0-1) 4 * * *"},
    {"cron": "0 0 * * *", "jitter": "1h"},
    {"cron": "0 0 * * *", "jitter": {"window": "1h", "stable": True}},
    {"every": "90s"},
    {"rrule": "FREQ=DAILY;BYHOUR=9"},
    {"cron": ["0 1 * * *", "H 5 * * *"]},
    {"cron": "0 * * * *", "window": {"max_runs": 5}},
]
# THU has an H in it, but does not depend on the job.
DEPENDS = [False, False, True, True, True, True, False, False, True, False]


def due(job_id: UUID, *, fired: int | None = None) -> DueTick:
    return DueTick(job_id, 1, NOON, NOON, fired, 7, 0, 1, "skip")


def book_of(schedule: dict[str, Any]) -> ScheduleCache:
    book = ScheduleCache()
    stored = write_schedule(read_schedule(schedule, now=NOON, seed=str(ONE)))
    book.add_schedules({7: json.dumps(stored)})
    return book


@given(schedule=st.sampled_from(SCHEDULES), jobs=st.lists(st.uuids(), min_size=2, max_size=8))
def test_whoever_asks_first_every_job_gets_the_ticks_of_its_own_seed(
    schedule: dict[str, Any], jobs: list[UUID]
) -> None:
    book = book_of(schedule)

    for job in jobs:
        own = read_schedule(schedule, now=NOON, seed=str(job))
        assert book.find_next_tick(due(job)) == planning.plan_next_tick(own, NOON, fired=1)


@pytest.mark.parametrize(
    ("schedule", "depends"),
    list(zip(SCHEDULES, DEPENDS, strict=True)),
)
def test_only_hashes_and_jitter_depend_on_the_job(schedule: dict[str, Any], depends: bool) -> None:
    read = read_schedule(schedule, now=NOON, seed=str(ONE))

    assert read.depends_on_seed == depends


def test_jobs_with_one_schedule_share_one_reading_of_it() -> None:
    book = book_of({"cron": "*/5 * * * *"})

    assert book.get_schedule(7, ONE) is book.get_schedule(7, TWO)
    assert book.find_next_tick(due(ONE)) is book.find_next_tick(due(TWO))


def test_the_cap_of_one_job_is_not_taken_for_that_of_another() -> None:
    book = book_of({"cron": "0 * * * *", "window": {"max_runs": 5}})

    assert book.find_next_tick(due(ONE, fired=4)) is None
    assert book.find_next_tick(due(TWO, fired=3)) is not None


def test_a_schedule_that_is_not_stored_is_refused_with_its_number() -> None:
    with pytest.raises(
        InvalidSchedule, match="7 is invalid: expected the number of a stored schedule"
    ):
        ScheduleCache().get_schedule(7, ONE)


def test_beyond_its_bound_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_cache, "CACHE_ENTRIES_MAX", 2)
    book = ScheduleCache()

    for number in range(3):
        book.add_schedules({number: "{}"})

    assert [book.has_schedule(number) for number in range(3)] == [False, True, True]

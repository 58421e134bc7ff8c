"""The agenda is a cache: it believes what is newer, and forgets without harm (E1, S14)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from rota.contract.schedule import read_schedule, write_schedule
from rota.engine.scheduling.agenda import Agenda
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.engine.scheduling.tick_reader import compute_horizons
from rota.store.cursors import DueTick

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = UUID(int=1)


def due(second: int = 0, *, job: UUID = JOB, version: int = 1, shard: int = 0) -> DueTick:
    at = NOON + second * SECOND
    return DueTick(job, version, at, at, None, 7, shard, 1, "skip")


def agenda(wake: Callable[[], object] = lambda: None) -> Agenda:
    book = ScheduleCache()
    book.add_schedules(
        {7: json.dumps(write_schedule(read_schedule({"cron": "* * * * * *"}, now=NOON)))}
    )
    made = Agenda(schedule_cache=book, wake=wake)
    made.horizons[0] = NOON + 5 * SECOND
    return made


def test_what_was_read_twice_is_fired_once() -> None:
    one = agenda()
    one.add_cursor(due(1))
    one.add_cursor(due(1))

    assert len(one.take_due(NOON + SECOND, 10)) == 1


def test_a_newer_version_takes_the_place_of_the_older_one() -> None:
    one = agenda()
    one.add_cursor(due(1))
    one.add_cursor(due(2, version=2))

    assert one.take_due(NOON + SECOND, 10) == []
    (entry,) = one.take_due(NOON + 2 * SECOND, 10)
    assert entry.firing.due.version == 2


def test_a_read_that_was_under_way_does_not_bring_back_what_was_decided() -> None:
    one = agenda()
    one.add_cursor(due(1))
    one.start_reading()
    (entry,) = one.take_due(NOON + SECOND, 10)
    one.mark_decided(entry, NOON + 60 * SECOND)

    one.add_cursor(due(1))

    assert len(one) == 0


def test_what_was_forgotten_is_news_again() -> None:
    one = agenda()
    one.add_cursor(due(1))
    (entry,) = one.take_due(NOON + SECOND, 10)

    one.forget(entry)

    assert one.is_new(due(1))


def test_the_next_tick_is_kept_if_it_lies_before_the_horizon_and_else_left_to_reading() -> None:
    near, far = agenda(), agenda()
    far.horizons[0] = NOON
    for one in (near, far):
        one.add_cursor(due(1))
        (entry,) = one.take_due(NOON + SECOND, 10)
        one.advance_cursor(entry, due(2), ())

    assert (len(near), len(far)) == (1, 0)
    assert near.take_due(NOON + 2 * SECOND, 10)[0].firing.due == due(2)


def test_it_wakes_whoever_rests_only_for_something_sooner() -> None:
    calls: list[None] = []
    one = agenda(lambda: calls.append(None))
    one.take_due(NOON, 10)
    one.seconds_until_due(NOON, max_seconds=1.0)

    one.add_cursor(due(3))
    rest = one.seconds_until_due(NOON, max_seconds=60.0)
    one.add_cursor(due(4, job=UUID(int=2)))
    after_later = len(calls)
    one.add_cursor(due(1, job=UUID(int=3)))

    assert 0 < rest <= 3.0
    assert (after_later, len(calls)) == (1, 2)


def test_a_read_that_showed_everything_reaches_as_far_as_it_asked() -> None:
    assert compute_horizons([], {0: NOON}, limit=100) == {}
    assert compute_horizons([due(1)], {0: NOON}, limit=100) == {}


def test_a_shard_that_was_cut_short_counts_up_to_before_the_last_that_was_shown() -> None:
    rows = [due(second, shard=0) for second in range(1, 11)]

    horizons = compute_horizons(rows, {0: NOON, 1: NOON}, limit=16)

    assert horizons == {0: NOON + 10 * SECOND - timedelta(microseconds=1)}


def test_a_read_that_was_cut_short_counts_for_no_shard_beyond_its_end() -> None:
    rows = [due(second, shard=second % 2) for second in range(1, 9)]

    horizons = compute_horizons(rows, {0: NOON, 1: NOON}, limit=8)

    end = NOON + 8 * SECOND - timedelta(microseconds=1)
    assert horizons == {0: end, 1: end}

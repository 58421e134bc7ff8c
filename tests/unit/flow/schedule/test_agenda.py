"""The agenda is a cache: it believes what is newer, and forgets without harm (E1, S14)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from rota.contract.schedule import read_schedule, write_schedule
from rota.flow.schedule.agenda import Agenda
from rota.flow.schedule.reading import cut_short
from rota.flow.schedule.rulebook import Rulebook
from rota.store.cursors import DueTick

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = UUID(int=1)


def due(second: int = 0, *, job: UUID = JOB, version: int = 1, shard: int = 0) -> DueTick:
    at = NOON + second * SECOND
    return DueTick(job, version, at, at, None, 7, shard, 1, "skip")


def agenda(wake: Callable[[], object] = lambda: None) -> Agenda:
    book = Rulebook()
    book.learn({7: json.dumps(write_schedule(read_schedule({"cron": "* * * * * *"}, now=NOON)))})
    made = Agenda(rulebook=book, wake=wake)
    made.horizons[0] = NOON + 5 * SECOND
    return made


def test_what_was_read_twice_is_fired_once() -> None:
    one = agenda()
    one.take_in(due(1))
    one.take_in(due(1))

    assert len(one.take(NOON + SECOND, 10)) == 1


def test_a_newer_version_takes_the_place_of_the_older_one() -> None:
    one = agenda()
    one.take_in(due(1))
    one.take_in(due(2, version=2))

    assert one.take(NOON + SECOND, 10) == []
    (entry,) = one.take(NOON + 2 * SECOND, 10)
    assert entry.firing.due.version == 2


def test_a_read_that_was_under_way_does_not_bring_back_what_was_decided() -> None:
    one = agenda()
    one.take_in(due(1))
    one.begin_reading()
    (entry,) = one.take(NOON + SECOND, 10)
    one.done(entry, NOON + 60 * SECOND)

    one.take_in(due(1))

    assert len(one) == 0


def test_what_was_forgotten_is_news_again() -> None:
    one = agenda()
    one.take_in(due(1))
    (entry,) = one.take(NOON + SECOND, 10)

    one.forget(entry)

    assert one.is_news(due(1))


def test_the_next_tick_is_kept_if_it_lies_before_the_horizon_and_else_left_to_reading() -> None:
    near, far = agenda(), agenda()
    far.horizons[0] = NOON
    for one in (near, far):
        one.take_in(due(1))
        (entry,) = one.take(NOON + SECOND, 10)
        one.go_on(entry, due(2), ())

    assert (len(near), len(far)) == (1, 0)
    assert near.take(NOON + 2 * SECOND, 10)[0].firing.due == due(2)


def test_it_wakes_whoever_rests_only_for_something_sooner() -> None:
    calls: list[None] = []
    one = agenda(lambda: calls.append(None))
    one.take(NOON, 10)
    one.rest(NOON, longest=1.0)

    one.take_in(due(3))
    rest = one.rest(NOON, longest=60.0)
    one.take_in(due(4, job=UUID(int=2)))
    after_later = len(calls)
    one.take_in(due(1, job=UUID(int=3)))

    assert 0 < rest <= 3.0
    assert (after_later, len(calls)) == (1, 2)


def test_a_read_that_showed_everything_reaches_as_far_as_it_asked() -> None:
    assert cut_short([], {0: NOON}, most=100) == {}
    assert cut_short([due(1)], {0: NOON}, most=100) == {}


def test_a_shard_that_was_cut_short_counts_up_to_before_the_last_that_was_shown() -> None:
    rows = [due(second, shard=0) for second in range(1, 11)]

    horizons = cut_short(rows, {0: NOON, 1: NOON}, most=16)

    assert horizons == {0: NOON + 10 * SECOND - timedelta(microseconds=1)}


def test_a_read_that_was_cut_short_counts_for_no_shard_beyond_its_end() -> None:
    rows = [due(second, shard=second % 2) for second in range(1, 9)]

    horizons = cut_short(rows, {0: NOON, 1: NOON}, most=8)

    end = NOON + 8 * SECOND - timedelta(microseconds=1)
    assert horizons == {0: end, 1: end}

"""An outage of the database costs nobody a lease, and trust ends before a lease does (O15, E12)."""

from datetime import timedelta

import pytest

from rota.core.lease import OBSERVATION_GAP_MAX_S, SESSION_LEASE, DatabaseObservation, LeaseValidity

STOP_AFTER = SESSION_LEASE.stop_after.total_seconds()
TTL = SESSION_LEASE.ttl.total_seconds()


def seen_at(*times: float) -> DatabaseObservation:
    sight = DatabaseObservation()
    for time in times:
        sight.record_answer(time)
    return sight


def test_a_process_that_has_just_started_has_seen_the_database_for_no_time() -> None:
    assert DatabaseObservation().measure_span(100.0) == timedelta(0)


def test_sight_lasts_from_the_first_answer_on() -> None:
    assert seen_at(100.0, 101.0, 102.0).measure_span(103.0) == timedelta(seconds=3)


def test_an_error_begins_the_sight_anew() -> None:
    sight = seen_at(100.0, 101.0)
    sight.record_silence()

    assert sight.measure_span(102.0) == timedelta(0)
    sight.record_answer(102.0)
    assert sight.measure_span(103.0) == timedelta(seconds=1)


def test_answers_that_are_too_far_apart_begin_the_sight_anew() -> None:
    later = 100.0 + OBSERVATION_GAP_MAX_S + 0.1

    assert seen_at(100.0).measure_span(later) == timedelta(0)
    assert seen_at(100.0, later).measure_span(later + 1) == timedelta(seconds=1)


def renewed(sent: float) -> LeaseValidity:
    trust = LeaseValidity(SESSION_LEASE)
    trust.renew(sent)
    return trust


def test_trust_ends_before_the_lease_does() -> None:
    trust = renewed(100.0)

    assert trust.start_until == trust.stop_at == 100.0 + STOP_AFTER
    assert trust.stop_at < trust.end_at < 100.0 + TTL


def test_silence_extends_no_trust() -> None:
    trust = renewed(100.0)
    for passed in range(1, 7):
        trust.note_failure(100.0 + passed, is_down=False)

    assert trust.stop_at == 100.0 + STOP_AFTER


def refuse(trust: LeaseValidity, *, start: float, end: float) -> None:
    time = start
    while time <= end:
        trust.note_failure(time, is_down=True)
        time += 0.25


def test_refusals_extend_trust_only_once_everybody_must_have_noticed_them() -> None:
    short, long = renewed(100.0), renewed(100.0)
    refuse(short, start=102.0, end=102.0 + OBSERVATION_GAP_MAX_S - 0.25)
    refuse(long, start=102.0, end=110.0)

    assert short.stop_at == 100.0 + STOP_AFTER
    assert long.stop_at == 110.0 - OBSERVATION_GAP_MAX_S + STOP_AFTER
    assert long.end_at < 110.0 - OBSERVATION_GAP_MAX_S + TTL


@pytest.mark.parametrize("then", ["silence", "answer"])
def test_refusals_count_only_without_a_break(then: str) -> None:
    trust = renewed(100.0)
    refuse(trust, start=102.0, end=104.75)
    if then == "silence":
        trust.note_failure(105.0, is_down=False)
    else:
        trust.renew(105.0)
    refuse(trust, start=105.25, end=107.0)

    expected = 100.0 if then == "silence" else 105.0
    assert trust.stop_at == expected + STOP_AFTER


def test_while_the_database_is_down_nothing_new_starts() -> None:
    trust = renewed(100.0)
    refuse(trust, start=101.0, end=160.0)

    assert trust.start_until == 100.0 + STOP_AFTER
    assert trust.stop_at > 160.0

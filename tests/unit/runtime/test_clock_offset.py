"""The estimate of the database's clock is never early, and late by one way back (F05, F06)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rota.runtime.clock_offset import BOUNDS_KEPT, ClockOffset

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_before_the_first_answer_nobody_knows_the_time() -> None:
    assert ClockOffset().database_time_at(5.0) is None


def test_time_goes_on_between_two_answers() -> None:
    offset = ClockOffset()
    offset.record_response(NOON, received=100.0)

    assert offset.database_time_at(102.5) == NOON + 2.5 * SECOND


@given(
    ways=st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1, max_size=BOUNDS_KEPT)
)
def test_it_is_never_early_and_as_late_as_the_quickest_way_back(
    ways: list[tuple[float, float]],
) -> None:
    offset, now = ClockOffset(), 1000.0
    for there, back in ways:
        offset.record_response(NOON + (now + there) * SECOND, received=now + there + back)
        now += 1

    late = NOON + now * SECOND - (offset.database_time_at(now) or NOON)

    quickest = min(back for _, back in ways)
    rounding = timedelta(microseconds=2)
    assert -rounding <= late <= quickest * SECOND + rounding


def test_an_answer_that_contradicts_the_estimate_is_believed_at_once() -> None:
    offset = ClockOffset()
    offset.record_response(NOON, sent=0.0, received=0.1)

    offset.record_response(NOON - 3600 * SECOND, sent=1.0, received=1.1)

    assert offset.database_time_at(1.1) == NOON - 3600 * SECOND


def test_a_slow_answer_does_not_replace_a_quicker_one() -> None:
    offset = ClockOffset()
    offset.record_response(NOON, sent=0.0, received=0.0)

    offset.record_response(NOON + SECOND, sent=0.9, received=4.0)

    assert offset.database_time_at(4.0) == NOON + 4 * SECOND


def test_a_database_that_was_set_back_is_believed_after_a_few_answers() -> None:
    offset = ClockOffset()
    offset.record_response(NOON, received=0.0)

    for number in range(1, BOUNDS_KEPT + 1):
        offset.record_response(NOON - 3600 * SECOND + number * SECOND, received=float(number))

    assert (
        offset.database_time_at(float(BOUNDS_KEPT)) == NOON - 3600 * SECOND + BOUNDS_KEPT * SECOND
    )

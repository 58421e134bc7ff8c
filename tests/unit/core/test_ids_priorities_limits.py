"""Ids that tell their time, priorities that age (E5), rates without a cliff (E7)."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.errors import InvalidInput, shorten_value
from rota.core.ids import (
    build_id,
    derive_keyed_run_id,
    derive_step_run_id,
    derive_tick_run_id,
    find_first_id,
    read_id_time,
)
from rota.core.lanes import compute_rank, parse_priority
from rota.core.limits import GateLimits, RateLimit, admit_starts

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
JOB = UUID("0198c0de-0000-7000-8000-000000000001")
times = st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1)).map(  # noqa: DTZ001
    lambda naive: naive.replace(tzinfo=UTC)
)


def test_the_same_tick_has_the_same_id_for_ever() -> None:
    assert derive_tick_run_id(JOB, NOW) == UUID("019f1d8c-e200-7ce6-81e9-492bbfd60334")


@given(times, times)
def test_ids_sort_by_their_time(one: datetime, two: datetime) -> None:
    first, second = sorted((one, two))

    if second - first >= timedelta(milliseconds=1):
        assert derive_tick_run_id(JOB, first) < derive_tick_run_id(JOB, second)


@given(times)
def test_an_id_tells_its_time_to_the_millisecond_and_is_a_valid_uuid(at: datetime) -> None:
    made = derive_tick_run_id(JOB, at)

    assert timedelta(0) <= at - read_id_time(made) < timedelta(milliseconds=1)
    assert (made.version, made.variant) == (7, "specified in RFC 4122")


@given(times)
def test_an_id_lies_between_the_bounds_of_its_day(at: datetime) -> None:
    day = at.date()

    assert find_first_id(day) <= derive_tick_run_id(JOB, at)
    if day < date(9998, 12, 31):
        assert derive_tick_run_id(JOB, at) < find_first_id(day + timedelta(days=1))


def test_the_id_of_a_steps_run_is_derived_and_begins_with_the_time_of_its_graph_run() -> None:
    graph_run = derive_tick_run_id(JOB, NOW)
    ids = {
        derive_step_run_id(graph_run, step, member=member, round_=round_)
        for step in (0, 1, 999)
        for member in (None, 0, 1, 999_999)
        for round_ in (0, 1, 32_767)
    }

    assert len(ids) == 3 * 4 * 3
    assert {read_id_time(id_) for id_ in ids} == {NOW}
    assert {id_.version for id_ in ids} == {7}
    assert derive_step_run_id(graph_run, 1, round_=0) == derive_step_run_id(graph_run, 1, round_=0)
    assert derive_step_run_id(derive_tick_run_id(JOB, NOW + timedelta(1)), 1, round_=0) not in ids


def test_ticks_a_microsecond_apart_and_other_jobs_have_other_ids() -> None:
    ids = {
        derive_tick_run_id(JOB, NOW),
        derive_tick_run_id(JOB, NOW + timedelta(microseconds=1)),
        derive_tick_run_id(UUID(int=1), NOW),
        derive_keyed_run_id("tenant 1", "key", at=NOW),
        derive_keyed_run_id("tenant 1k", "ey", at=NOW),
    }

    assert len(ids) == 5


def test_a_time_before_1970_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be 1970 or later"):
        build_id(datetime(1969, 12, 31, tzinfo=UTC), bytes(10))


@pytest.mark.parametrize(
    ("given_", "number"), [("high", 1), (" Normal ", 5), ("medium", 5), ("LOW", 9), (0, 0), (9, 9)]
)
def test_a_priority_is_a_name_or_a_number(given_: str | int, number: int) -> None:
    assert parse_priority(given_) == number


@pytest.mark.parametrize("wrong", ["urgent", "", -1, 10, True])
def test_a_wrong_priority_is_refused(wrong: str | int) -> None:
    with pytest.raises(InvalidInput, match="'high', 'normal', 'low'"):
        parse_priority(wrong)


def test_low_overtakes_a_stream_of_high_in_the_end() -> None:
    low = compute_rank(9, NOW)

    assert compute_rank(1, NOW + timedelta(minutes=79)) < low
    assert compute_rank(1, NOW + timedelta(minutes=81)) > low


def test_a_burst_passes_and_then_the_rate_holds() -> None:
    rate = RateLimit(count=10, per=timedelta(seconds=1), burst=3)

    first = admit_starts(rate, paid_until=None, wanted=100, now=NOW)
    at_once = admit_starts(rate, paid_until=first.paid_until, wanted=1, now=NOW)
    later = admit_starts(rate, paid_until=first.paid_until, wanted=100, now=first.next_at)

    assert (first.admitted, at_once.admitted, later.admitted) == (3, 0, 1)
    assert first.next_at == NOW + timedelta(milliseconds=100)


@given(
    st.integers(1, 50),
    st.integers(1, 3600),
    st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(0, 40)), max_size=40),
)
def test_no_window_ever_sees_more_than_its_rate_and_burst(
    count: int, seconds: int, asks: list[tuple[int, int]]
) -> None:
    rate = RateLimit(count=count, per=timedelta(seconds=seconds), burst=min(3, count))
    now, paid, starts = NOW, None, [NOW - timedelta(days=999)]
    for pause, wanted in asks:
        now += timedelta(microseconds=pause)
        admission = admit_starts(rate, paid_until=paid, wanted=wanted, now=now)
        paid = admission.paid_until
        starts += [now] * admission.admitted

    for n, (begin, end) in enumerate(pairwise(starts), start=1):
        assert begin <= end
        window = [start for start in starts[n:] if start - end < rate.per]
        assert len(window) <= count + rate.burst


@pytest.mark.parametrize(
    "make",
    [
        lambda: GateLimits(max_running=0),
        lambda: GateLimits(max_running=10_001),
        lambda: RateLimit(count=0, per=timedelta(seconds=1)),
        lambda: RateLimit(count=1, per=timedelta(0)),
        lambda: RateLimit(count=1_000_000, per=timedelta(microseconds=1)),
        lambda: RateLimit(count=1, per=timedelta(seconds=1), burst=2),
    ],
)
def test_a_limit_that_cannot_be_is_refused(make) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_a_long_value_is_cut_short_in_an_error() -> None:
    shown = str(InvalidInput("name", "x" * 5000, "at most 200 characters"))

    assert len(shown) < 200
    assert shorten_value("short") == "'short'"

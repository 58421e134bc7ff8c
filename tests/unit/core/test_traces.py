"""The id of a run is the id of its trace (O6)."""

from datetime import UTC, datetime
from random import Random
from uuid import UUID

import pytest

from rota.core import traces
from rota.core.ids import build_id, derive_tick_run_id

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
RUN = UUID("0197c5e2-8a00-7abc-9def-0123456789ab")


def test_whoever_knows_a_run_knows_its_trace_and_its_first_span():
    header = traces.build_traceparent(
        traces.derive_trace_id(RUN), traces.derive_first_span_id(RUN), sampled=True
    )

    assert header == "00-0197c5e28a007abc9def0123456789ab-9def0123456789ab-03"


def test_a_trace_that_is_not_kept_says_so():
    assert traces.build_traceparent(1, 2, sampled=False).endswith("-0000000000000002-02")


def test_a_run_has_a_first_span_even_if_chance_gives_nothing_but_zeros():
    assert traces.derive_first_span_id(build_id(NOON, bytes(10))) != 0


@pytest.mark.parametrize("one_in", [2, 4, 10, 100])
def test_of_the_ids_that_runs_have_one_in_so_many_is_kept(one_in: int):
    chance = Random(7)
    drawn = [build_id(NOON, chance.randbytes(10)) for _ in range(5_000)]
    ticks = [derive_tick_run_id(UUID(int=number), NOON) for number in range(5_000)]

    for ids in (drawn, ticks):
        kept = sum(traces.is_sampled(traces.derive_trace_id(each), one_in=one_in) for each in ids)
        assert abs(kept - 5_000 / one_in) < 6 * (5_000 / one_in) ** 0.5


def test_all_are_kept_unless_somebody_wants_fewer():
    assert traces.is_sampled((1 << 128) - 1, one_in=1)


def test_what_a_small_share_keeps_a_larger_one_keeps_too():
    chance = Random(7)
    ids = [chance.getrandbits(128) for _ in range(2_000)]

    for each in ids:
        assert traces.is_sampled(each, one_in=3) >= traces.is_sampled(each, one_in=30)

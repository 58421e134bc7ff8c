"""Counters of a map, and the ids of its members (D5)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from rota.core.ids import build_id, read_id_time
from rota.core.maps import (
    MEMBERS_MAX,
    MapCounters,
    MapIdentity,
    describe_failure,
    describe_progress,
)

RUN = build_id(datetime(2026, 11, 1, 3, tzinfo=UTC), bytes(range(10)))


def counted(**given: int | None) -> MapCounters:
    usual = {"total": 10, "handed": 10, "made": 0, "again": 0}
    usual |= {"succeeded": 0, "failed": 0, "cancelled": 0}
    return MapCounters(**usual | given)  # type: ignore[arg-type]


def test_members_follow_each_other_and_lie_in_the_day_of_their_graph_run() -> None:
    which = MapIdentity(RUN, 3)
    ids = [which.derive_member_id(member) for member in (0, 1, 2, 999, MEMBERS_MAX)]

    assert ids == sorted(ids)
    assert {read_id_time(id_) for id_ in ids} == {read_id_time(RUN)}
    assert {id_.version for id_ in ids} == {7}
    assert which.derive_id_before(0) < ids[0] < which.derive_id_before(2) < ids[2]
    assert ids[-1] < which.last_id
    assert ids[1].int - ids[0].int == 1


def test_another_step_run_or_round_has_other_members() -> None:
    ways = [
        MapIdentity(RUN, 3),
        MapIdentity(RUN, 4),
        MapIdentity(RUN, 3, 1),
        MapIdentity(UUID(int=RUN.int + 1), 3),
    ]

    assert len({way.derive_member_id(0) for way in ways}) == 4


@pytest.mark.parametrize(
    ("count", "alive", "room", "is_complete"),
    [
        (counted(), 0, 5, False),
        (counted(made=5), 5, 0, False),
        (counted(made=5, succeeded=2, failed=1), 2, 3, False),
        (counted(made=9, succeeded=9), 0, 1, False),
        (counted(made=10, succeeded=9), 1, 0, False),
        (counted(made=10, succeeded=9, cancelled=1), 0, 0, True),
        (counted(made=10, succeeded=7, again=3), 0, 3, False),
        (counted(total=None, handed=4, made=4, succeeded=4), 0, 0, False),
        (counted(total=0, handed=0), 0, 0, True),
    ],
    ids=["new", "full", "some", "one left", "last", "over", "again", "source", "empty"],
)
def test_a_window_bounds_how_many_are_made(
    count: MapCounters, alive: int, room: int, is_complete: bool
) -> None:
    assert (count.live, count.count_free(5), count.is_complete) == (alive, room, is_complete)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (counted(failed=1), "1 of 10 members failed; first error: ValueError: no"),
        (
            counted(total=2000, failed=1200),
            "1,200 of 2,000 members failed; first error: ValueError: no",
        ),
        (counted(cancelled=1), "1 of 10 members was cancelled; first error: ValueError: no"),
        (
            counted(total=None, failed=3),
            "3 members failed; first error: ValueError: no",
        ),
    ],
    ids=["one", "many", "cancelled", "unknown"],
)
def test_a_map_says_how_many_failed_and_the_first_error(count: MapCounters, said: str) -> None:
    assert describe_failure(count, "ValueError: no") == said


def test_a_map_says_how_far_it_is() -> None:
    whole = counted(total=1_000_000, made=620_000, succeeded=611_000, failed=1_000)

    assert describe_progress(whole) == "612,000 of 1,000,000"
    assert (
        describe_progress(counted(total=None, handed=1500, made=1500, succeeded=20))
        == "20 of 1,500 so far"
    )

"""What becomes of a new run while others of its job are alive (E4)."""

from uuid import UUID

import pytest

from rota.core.overlap import (
    OVERLAP_WAITING_MAX,
    ActiveRun,
    Overlap,
    OverlapDecision,
    decide_overlap,
)
from rota.core.states import RunState

NEW = [UUID(int=n) for n in (101, 102, 103)]
WAITS = ActiveRun(UUID(int=1), RunState.QUEUED)
RETRIES = ActiveRun(UUID(int=2), RunState.RETRYING, 1)
RUNS = ActiveRun(UUID(int=3), RunState.RUNNING, 1)


@pytest.mark.parametrize("alive", [WAITS, RETRIES, RUNS])
def test_skip_makes_nothing_while_any_run_is_alive(alive: ActiveRun) -> None:
    """F34: one that cannot start counts too."""
    assert decide_overlap(Overlap.SKIP, NEW[:1], [alive]).skipped == ((NEW[0], "overlap"),)


def test_skip_makes_the_first_of_several_ticks() -> None:
    plan = decide_overlap(Overlap.SKIP, NEW, [])

    assert plan.created == (NEW[0],)
    assert [id_ for id_, _ in plan.skipped] == NEW[1:]


def test_allow_makes_everything() -> None:
    assert decide_overlap(Overlap.ALLOW, NEW, [WAITS, RUNS]) == OverlapDecision(created=tuple(NEW))


def test_queue_one_keeps_the_latest_and_replaces_the_one_that_waits() -> None:
    plan = decide_overlap(Overlap.QUEUE_ONE, NEW, [WAITS, RUNS])

    assert plan.created == (NEW[2],)
    assert plan.replaced == (WAITS.id,)
    assert [id_ for id_, _ in plan.skipped] == NEW[:2]


def test_queue_one_does_not_replace_a_run_that_waits_for_its_retry() -> None:
    plan = decide_overlap(Overlap.QUEUE_ONE, NEW[:1], [RETRIES])

    assert (plan.created, plan.replaced) == ((NEW[0],), ())


def test_queue_one_may_keep_the_first() -> None:
    behind = decide_overlap(Overlap.QUEUE_ONE, NEW, [RUNS], keep_first=True)
    full = decide_overlap(Overlap.QUEUE_ONE, NEW[:1], [RUNS, WAITS], keep_first=True)

    assert behind.created == (NEW[0],)
    assert full.created == ()


def test_queue_all_takes_no_more_than_may_wait() -> None:
    waiting = [ActiveRun(UUID(int=n), RunState.QUEUED) for n in range(OVERLAP_WAITING_MAX - 2)]

    plan = decide_overlap(Overlap.QUEUE_ALL, NEW, [*waiting, RUNS])

    assert plan.created == tuple(NEW[:2])
    assert plan.skipped == ((NEW[2], "overlap_full"),)


def test_the_newest_makes_way_for_itself() -> None:
    asked = decide_overlap(Overlap.CANCEL_RUNNING, NEW, [WAITS, RUNS])
    forced = decide_overlap(Overlap.TERMINATE_RUNNING, NEW, [WAITS, RUNS])

    assert asked.created == forced.created == (NEW[2],)
    assert asked.cancelled == forced.ended == (WAITS.id, RUNS.id)


@pytest.mark.parametrize("overlap", list(Overlap))
def test_without_a_new_run_nobody_has_to_go(overlap: Overlap) -> None:
    assert decide_overlap(overlap, [], [WAITS, RUNS]) == OverlapDecision()

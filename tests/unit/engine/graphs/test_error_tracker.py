"""What a node remembers of graph runs that could not be advanced (F08)."""

from uuid import UUID

from rota.engine.graphs.error_tracker import RETRY_PAUSE_S, TRACKED_RUNS_MAX, GraphErrorTracker


def test_it_waits_after_each_try_and_counts_them() -> None:
    now = [0.0]
    faltering = GraphErrorTracker(monotonic=lambda: now[0])
    one, other = UUID(int=1), UUID(int=2)

    tries = [faltering.record_failure(one), faltering.record_failure(one)]

    assert tries == [1, 2]
    assert faltering.select_ready([one, other]) == [other]
    now[0] = RETRY_PAUSE_S
    assert faltering.select_ready([one, other]) == [one, other]
    faltering.remove([one])
    assert faltering.record_failure(one) == 1


def test_it_remembers_a_bounded_number_of_them_and_forgets_the_oldest() -> None:
    faltering = GraphErrorTracker(monotonic=lambda: 0.0)

    for number in range(TRACKED_RUNS_MAX + 1):
        faltering.record_failure(UUID(int=number))

    assert faltering.record_failure(UUID(int=TRACKED_RUNS_MAX)) == 2
    assert faltering.record_failure(UUID(int=0)) == 1

"""How `rota bench watched` compares its phases (O8)."""

from rota_bench.measures import MEASURES
from rota_bench.watched import WatchedPhase, WatchLevel, compare_phases


def phase(drain: float, *, cpu: float | None = 1.0) -> WatchedPhase:
    return WatchedPhase(drain=drain, fire=100.0, lag_p50=2.0, lag_p99=4.0, cpu=cpu)


def test_a_phase_is_compared_with_the_unwatched_one_of_the_same_round() -> None:
    rounds = [
        {
            WatchLevel.UNWATCHED: phase(100.0),
            WatchLevel.ENDS: phase(100.0),
            WatchLevel.DEADLINES: phase(90.0),
        },
        # A slow minute of the machine: the ratios stay.
        {
            WatchLevel.UNWATCHED: phase(50.0),
            WatchLevel.ENDS: phase(49.0),
            WatchLevel.DEADLINES: phase(45.0),
        },
        {
            WatchLevel.UNWATCHED: phase(80.0),
            WatchLevel.ENDS: phase(84.0),
            WatchLevel.DEADLINES: phase(80.0),
        },
    ]

    figures = compare_phases(rounds)

    assert figures["watched_drain.unwatched"] == 80.0
    assert figures["watched_drain.ends_percent"] == 100.0
    assert figures["watched_drain.ends_percent_lowest"] == 98.0
    assert figures["watched_drain.ends_percent_highest"] == 105.0
    assert figures["watched_drain.deadlines_percent"] == 90.0


def test_cpu_time_that_cannot_be_measured_is_left_out() -> None:
    figures = compare_phases([dict.fromkeys(WatchLevel, phase(100.0, cpu=None))])

    assert not any(key.startswith("watched_cpu") for key in figures)


def test_every_figure_of_a_comparison_is_published() -> None:
    figures = compare_phases([dict.fromkeys(WatchLevel, phase(100.0))])

    assert set(figures) <= {measure.key for measure in MEASURES}

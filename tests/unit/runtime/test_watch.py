"""How silence is counted (F22, F55). The thread around it is proved in tests/integration."""

from datetime import timedelta

from rota.runtime.watchdog import Watch, Watchdog


def watch_of(seconds: float) -> tuple[Watch, list[float]]:
    stalls: list[float] = []
    watch = Watch("test", timedelta(seconds=seconds), lambda: stalls.append(watch.silent_s), set())
    return watch, stalls


def test_silence_stalls_once_when_it_reaches_the_limit():
    watch, stalls = watch_of(2)

    for _ in range(10):
        watch.check(0.5)

    assert stalls == [2.0]


def test_the_first_look_counts_nothing():
    """What began a moment ago must not be blamed for the time before."""
    watch, stalls = watch_of(1)

    watch.check(60)

    assert stalls == []


def test_progress_ends_the_silence():
    watch, stalls = watch_of(1)

    for _ in range(100):
        watch.progress()
        watch.check(0.6)
        watch.check(0.6)

    assert stalls == []


def test_a_second_stall_after_progress_is_reported_again():
    watch, stalls = watch_of(1)

    for _ in range(2):
        watch.progress()
        watch.check(1)
        watch.check(1)
        watch.check(1)

    assert stalls == [1, 1]


def test_a_process_that_was_frozen_is_not_blamed_for_the_pause():
    stalls: list[str] = []
    watchdog = Watchdog(interval=timedelta(seconds=0.5))
    begin = watchdog._looked_at

    with watchdog.guard("query", timedelta(seconds=10), lambda: stalls.append("query")):
        watchdog.check_all(begin + 0.5)
        watchdog.check_all(begin + 3600)
        after_the_pause = list(stalls)
        for second in range(9):
            watchdog.check_all(begin + 3601 + second)

    assert after_the_pause == []
    assert stalls == ["query"]


def test_what_has_ended_is_no_longer_watched():
    stalls: list[str] = []
    watchdog = Watchdog()

    with watchdog.guard("query", timedelta(), lambda: stalls.append("query")):
        watchdog.check_all(1)
    watchdog.check_all(2)

    assert stalls == []
    assert not watchdog._watches

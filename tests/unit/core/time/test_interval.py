"""Elapsed time: a fixed rate (S5) and a fixed delay (S6)."""

from datetime import UTC, datetime, timedelta

from rota.core.time.interval import Every, EveryAfterEnd

ANCHOR = datetime(2026, 3, 28, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_fixed_rate_counts_from_its_anchor_and_never_drifts() -> None:
    rule = Every(interval=timedelta(minutes=7), anchor=ANCHOR)

    assert rule.next_at(ANCHOR) == ANCHOR + timedelta(minutes=7)
    assert rule.next_at(ANCHOR + timedelta(minutes=6, seconds=59)) == ANCHOR + timedelta(minutes=7)
    # Whoever looks a year late finds the same grid.
    late = ANCHOR + timedelta(days=365, seconds=1)
    assert (rule.next_at(late) - ANCHOR) % timedelta(minutes=7) == timedelta(0)
    assert late < rule.next_at(late) <= late + timedelta(minutes=7)


def test_a_fixed_rate_begins_at_its_anchor_and_not_before() -> None:
    rule = Every(interval=HOUR, anchor=ANCHOR)

    assert rule.next_at(ANCHOR - timedelta(days=3)) == ANCHOR


def test_a_day_of_a_fixed_rate_is_24_hours_also_when_clocks_change() -> None:
    rule = Every(interval=timedelta(days=1), anchor=ANCHOR)

    first = rule.next_at(ANCHOR)
    second = rule.next_at(first)

    assert (first - ANCHOR, second - first) == (timedelta(hours=24), timedelta(hours=24))


def test_counting_a_fixed_rate_is_arithmetic_and_agrees_with_walking() -> None:
    rule = Every(interval=timedelta(seconds=7), anchor=ANCHOR)
    for start in range(-30, 30, 3):
        for length in range(0, 60, 5):
            after = ANCHOR + timedelta(seconds=start)
            until = after + timedelta(seconds=length)
            walked, at = 0, rule.next_at(after)
            while at <= until:
                walked, at = walked + 1, rule.next_at(at)

            assert rule.count(after, until) == walked


def test_a_fixed_delay_counts_from_the_end_of_the_last_run() -> None:
    rule = EveryAfterEnd(delay=HOUR, anchor=ANCHOR)
    ended = ANCHOR + timedelta(hours=5, minutes=20)

    assert rule.next_at(ANCHOR + 5 * HOUR, last_end=ended, fired=5) == ended + HOUR


def test_before_the_first_run_of_a_fixed_delay_its_anchor_stands_for_the_end() -> None:
    rule = EveryAfterEnd(delay=HOUR, anchor=ANCHOR)

    assert rule.next_at(ANCHOR, last_end=None, fired=0) == ANCHOR + HOUR


def test_a_fixed_delay_has_no_next_tick_while_its_run_has_not_ended() -> None:
    rule = EveryAfterEnd(delay=HOUR, anchor=ANCHOR)

    assert rule.next_at(ANCHOR + HOUR, last_end=None, fired=1) is None


def test_a_fixed_delay_whose_tick_was_passed_over_does_not_die() -> None:
    rule = EveryAfterEnd(delay=HOUR, anchor=ANCHOR)
    resumed = ANCHOR + timedelta(days=9, microseconds=1)

    # Paused for days after a run: the decision counts as the end, to the next whole second.
    assert rule.next_at(resumed, last_end=ANCHOR, fired=1) == (
        ANCHOR + timedelta(days=9, seconds=1) + HOUR
    )

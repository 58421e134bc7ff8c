"""When a circuit breaker opens, for how long, and what closes it (E8, F38)."""

from datetime import timedelta
from random import Random

import pytest

from rota.core.breaker import Breaker, BreakerChange, BreakerRule, TargetVerdict, judge_outcome
from rota.core.executor import Fail
from rota.core.outcome import Cancelled, Failed, Failure, HandedBack, Outcome, Snoozed, Succeeded

RULE = BreakerRule(after=3, pause=timedelta(seconds=10), longest=timedelta(seconds=60))
BOOM = Failure(type="network", message="no connection")


class Steady(Random):
    """Chance that always says the same, so that a pause is exactly as long as the rule says."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


def told(
    breaker: Breaker, verdict: TargetVerdict, now: float, wish: timedelta | None = None
) -> BreakerChange | None:
    return breaker.record_verdict(
        verdict, era=breaker.era, now=now, rng=Steady(), requested_pause=wish
    )


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker(RULE)
    for _ in range(RULE.after):
        told(breaker, TargetVerdict.DOWN, now)
    return breaker


def test_failures_in_a_row_open_it() -> None:
    breaker = Breaker(RULE)

    changes = [told(breaker, TargetVerdict.DOWN, now) for now in (1.0, 2.0, 3.0)]

    assert changes == [None, None, BreakerChange.OPENED]
    assert not breaker.try_pass(12.9)
    assert breaker.try_pass(13.0)


def test_an_answer_between_failures_begins_the_row_anew() -> None:
    breaker = Breaker(RULE)

    for verdict in (
        TargetVerdict.DOWN,
        TargetVerdict.DOWN,
        TargetVerdict.UP,
        TargetVerdict.DOWN,
        TargetVerdict.DOWN,
    ):
        told(breaker, verdict, 1.0)

    assert (breaker.is_open, breaker.failures) == (False, 2)


def test_an_ending_that_says_nothing_neither_counts_nor_begins_the_row_anew() -> None:
    breaker = Breaker(RULE)

    for verdict in (
        TargetVerdict.DOWN,
        TargetVerdict.NOTHING,
        TargetVerdict.DOWN,
        TargetVerdict.NOTHING,
    ):
        told(breaker, verdict, 1.0)

    assert (breaker.is_open, breaker.failures) == (False, 2)


def test_one_looks_after_each_pause_and_nobody_else() -> None:
    breaker = opened()

    let = [breaker.try_pass(10.0 + tenth / 10) for tenth in range(250)]

    assert [place for place, through in enumerate(let) if through] == [0, 100, 200]


def test_a_look_that_is_answered_closes_it() -> None:
    breaker = opened()
    breaker.try_pass(10.0)

    assert told(breaker, TargetVerdict.UP, 11.0) is BreakerChange.CLOSED
    assert all(breaker.try_pass(11.0) for _ in range(100))


def test_each_look_in_vain_doubles_the_pause_up_to_the_longest() -> None:
    breaker, now, pauses = opened(), 0.0, []

    for _ in range(5):
        pauses.append(breaker.pause)
        now += breaker.pause
        assert breaker.try_pass(now)
        assert told(breaker, TargetVerdict.DOWN, now) is BreakerChange.STAYED_OPEN

    assert pauses == [10.0, 20.0, 40.0, 60.0, 60.0]


def test_a_target_that_came_back_is_left_alone_for_a_short_time_again() -> None:
    breaker = opened()
    breaker.try_pass(10.0)
    told(breaker, TargetVerdict.DOWN, 10.0)
    breaker.try_pass(30.0)
    told(breaker, TargetVerdict.UP, 30.0)

    for _ in range(RULE.after):
        told(breaker, TargetVerdict.DOWN, 31.0)

    assert breaker.pause == 10.0


def test_what_began_before_it_was_opened_says_nothing_any_more() -> None:
    breaker = Breaker(RULE)
    before = breaker.era
    for _ in range(RULE.after):
        told(breaker, TargetVerdict.DOWN, 1.0)

    changes = [
        breaker.record_verdict(verdict, era=before, now=2.0, rng=Steady())
        for verdict in (TargetVerdict.UP, TargetVerdict.DOWN, TargetVerdict.NOTHING)
    ]

    assert (changes, breaker.failures, breaker.pause) == ([None, None, None], 3, 10.0)


def test_failures_of_the_bad_time_do_not_open_it_again() -> None:
    breaker = opened()
    bad_time = breaker.era
    breaker.try_pass(10.0)
    breaker.try_pass(20.0)
    told(breaker, TargetVerdict.UP, 21.0)

    late = breaker.record_verdict(TargetVerdict.DOWN, era=bad_time, now=22.0, rng=Steady())

    assert (late, breaker.failures) == (None, 0)


def test_a_look_that_was_cancelled_leaves_the_next_look_to_another() -> None:
    breaker = opened()
    breaker.try_pass(10.0)

    told(breaker, TargetVerdict.NOTHING, 11.0)

    assert breaker.try_pass(11.0)
    assert not breaker.try_pass(11.0)


def test_a_target_that_names_a_time_is_left_alone_for_so_long() -> None:
    breaker = opened()
    breaker.try_pass(10.0)

    told(breaker, TargetVerdict.DOWN, 10.0, wish=timedelta(seconds=45))

    assert breaker.pause == 45.0


def test_a_target_that_names_a_very_long_time_is_looked_at_all_the_same() -> None:
    breaker = opened()
    breaker.try_pass(10.0)

    told(breaker, TargetVerdict.DOWN, 10.0, wish=timedelta(days=1))

    assert breaker.pause == 60.0


def test_the_first_that_is_turned_away_comes_for_the_look_and_the_others_after_it() -> None:
    breaker, chance = opened(), Random(5)

    waits = [breaker.compute_return_delay(4.0, time_left=None, rng=chance) for _ in range(200)]

    assert waits[0] == 6.0
    assert all(6.0 <= wait < 16.0 for wait in waits[1:])
    assert len(set(waits)) == len(waits)


def test_nobody_misses_a_deadline_for_the_sake_of_the_spread() -> None:
    breaker = opened()
    breaker.compute_return_delay(4.0, time_left=None, rng=Steady())

    wait = breaker.compute_return_delay(4.0, time_left=8.0, rng=Steady(0.99))

    assert 6.0 <= wait < 8.0


def test_a_deadline_before_the_look_changes_nothing_about_the_look() -> None:
    breaker = opened()
    breaker.compute_return_delay(4.0, time_left=None, rng=Steady())

    assert breaker.compute_return_delay(4.0, time_left=1.0, rng=Steady(0.5)) > 6.0


NO_ANSWER = Failed(failure=BOOM, reached=False)
REFUSED = Failed(failure=BOOM, reached=True)
FAILED = Failed(failure=BOOM)
FINAL = Failed(failure=Failure(type=Fail.__name__, message="no"), final=True)
LATE = Failed(failure=BOOM, timed_out=True)


@pytest.mark.parametrize(
    ("outcome", "told_by_executor", "named_by_job"),
    [
        (Succeeded(), TargetVerdict.UP, TargetVerdict.UP),
        (NO_ANSWER, TargetVerdict.DOWN, TargetVerdict.DOWN),
        (LATE, TargetVerdict.NOTHING, TargetVerdict.DOWN),
        (REFUSED, TargetVerdict.UP, TargetVerdict.UP),
        (FAILED, TargetVerdict.NOTHING, TargetVerdict.DOWN),
        (FINAL, TargetVerdict.NOTHING, TargetVerdict.NOTHING),
        (Snoozed(delay=timedelta(1)), TargetVerdict.NOTHING, TargetVerdict.NOTHING),
        (Cancelled(), TargetVerdict.NOTHING, TargetVerdict.NOTHING),
        (HandedBack(), TargetVerdict.NOTHING, TargetVerdict.NOTHING),
    ],
)
def test_what_an_ending_says_about_the_target(
    outcome: Outcome, told_by_executor: TargetVerdict, named_by_job: TargetVerdict
) -> None:
    assert judge_outcome(outcome, is_named=False) is told_by_executor
    assert judge_outcome(outcome, is_named=True) is named_by_job


def test_only_who_does_nothing_but_call_a_target_finds_it_silent_when_time_is_over() -> None:
    assert judge_outcome(LATE, is_named=False, only_calls=True) is TargetVerdict.DOWN
    assert judge_outcome(LATE, is_named=False, only_calls=False) is TargetVerdict.NOTHING

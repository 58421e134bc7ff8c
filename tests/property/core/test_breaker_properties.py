"""A circuit breaker through any story of attempts that start, end and take their time (E8, F38)."""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rota.core.breaker import Breaker, BreakerChange, BreakerRule, TargetVerdict

# How much time passes, whether somebody asks, and which of the attempts under way ends how.
moments = st.tuples(
    st.floats(0, 30),
    st.booleans(),
    st.none() | st.tuples(st.integers(0, 7), st.sampled_from(TargetVerdict)),
)
stories = st.lists(moments, min_size=1, max_size=120)
rules = st.builds(
    BreakerRule,
    after=st.integers(1, 6),
    pause=st.floats(0.1, 20).map(lambda seconds: timedelta(seconds=seconds)),
    longest=st.floats(20, 300).map(lambda seconds: timedelta(seconds=seconds)),
)


@dataclass
class Witness:
    """Tells a story to a breaker, and what it must never do."""

    rule: BreakerRule
    chance: Random
    now: float = 0.0
    under_way: list[int] = field(default_factory=list)
    # While it is open: when the last was let through, or when it was opened.
    last_look: float = 0.0
    had_to_wait: bool = False

    def __post_init__(self) -> None:
        self.breaker = Breaker(self.rule)

    def ask(self) -> None:
        was_open = self.breaker.is_open
        through = self.breaker.try_pass(self.now)
        assert through or was_open, "a closed one is in nobody's way"
        if not through:
            wait = self.breaker.compute_return_delay(self.now, time_left=None, rng=self.chance)
            assert 0 <= wait <= 2 * self.breaker.pause
            return
        if was_open:
            free = not self.had_to_wait or self.now >= self.last_look + self.breaker.pause
            assert free, "two looks within one pause"
            self.last_look, self.had_to_wait = self.now, True
        self.under_way.append(self.breaker.era)

    def end(self, which: int, verdict: TargetVerdict) -> None:
        if not self.under_way:
            return
        era = self.under_way.pop(which % len(self.under_way))
        before = (self.breaker.era, self.breaker.failures, self.breaker.pause)
        was_open = self.breaker.is_open
        change = self.breaker.record_verdict(verdict, era=era, now=self.now, rng=self.chance)
        if era != before[0]:
            after = (self.breaker.era, self.breaker.failures, self.breaker.pause)
            assert (change, after) == (None, before), "what is out of date changed something"
            return
        match change:
            case BreakerChange.OPENED:
                assert not was_open
                assert self.breaker.failures >= self.rule.after
            case BreakerChange.STAYED_OPEN:
                assert was_open
                assert verdict is TargetVerdict.DOWN
            case BreakerChange.CLOSED:
                assert was_open
                assert (verdict, self.breaker.failures) == (TargetVerdict.UP, 0)
            case None:
                assert self.breaker.is_open is was_open
        if change in {BreakerChange.OPENED, BreakerChange.STAYED_OPEN}:
            self.last_look, self.had_to_wait = self.now, True
        elif was_open and verdict is TargetVerdict.NOTHING:
            self.had_to_wait = False

    def check(self) -> None:
        breaker = self.breaker
        assert breaker.is_open or breaker.failures < self.rule.after
        if breaker.is_open:
            longest = self.rule.longest.total_seconds()
            shortest = min(self.rule.pause.total_seconds(), longest) / 2
            assert shortest <= breaker.pause <= longest


@given(rules, stories, st.randoms(use_true_random=False))
def test_any_story_keeps_the_rules(
    rule: BreakerRule,
    story: list[tuple[float, bool, tuple[int, TargetVerdict] | None]],
    chance: Random,
) -> None:
    witness = Witness(rule, chance)

    for passed, asks, ending in story:
        witness.now += passed
        if asks:
            witness.ask()
        if ending is not None:
            witness.end(*ending)
        witness.check()


@given(rules, stories, st.randoms(use_true_random=False))
def test_after_any_story_a_target_that_answers_is_used_again_within_a_pause(
    rule: BreakerRule,
    story: list[tuple[float, bool, tuple[int, TargetVerdict] | None]],
    chance: Random,
) -> None:
    witness = Witness(rule, chance)
    for passed, asks, ending in story:
        witness.now += passed
        if asks:
            witness.ask()
        if ending is not None:
            witness.end(*ending)

    breaker = witness.breaker
    later = witness.now + breaker.pause
    if breaker.is_open:
        assert breaker.try_pass(later)
        breaker.record_verdict(TargetVerdict.UP, era=breaker.era, now=later, rng=chance)

    assert all(breaker.try_pass(later) for _ in range(3))

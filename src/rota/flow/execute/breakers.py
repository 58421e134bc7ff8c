"""The circuit breakers of a worker, one per tenant and target (E8, F38). Room: flow/execute.

Asked in the stage's thread before an attempt starts, told there how it ended. A target that has
never failed has no breaker, so a run whose target answers costs a look into a dictionary, and one
without a target not even that. Each worker finds out by itself: what one cannot reach, another may.
When a breaker opens is core/breaker.py.
"""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any, Final, NamedTuple

from rota.core.breaker import Breaker, Breaking, Change, Verdict, verdict_of
from rota.core.events import Emit, TargetDown, TargetUp
from rota.core.outcome import Failed, Outcome, TurnedAway
from rota.flow.execute.attempt import Attempt

# A job may call a host of its own in every run; those that never answer must not fill the memory.
MOST: Final = 10_000


class Passage(NamedTuple):
    """An attempt that was let through: to whom, when in the life of the breaker, and what its
    ending may be taken for (core/breaker.py, verdict_of).
    """

    tenant_id: int
    target: str
    era: int
    is_named: bool
    only_calls: bool


class Breakers:
    """`monotonic` is the clock of pauses. A rule that opens after 0 failures never does. Of more
    than `most` targets that failed, those that failed first are forgotten.
    """

    def __init__(
        self,
        rule: Breaking,
        *,
        monotonic: Callable[[], float],
        chance: Random,
        emit: Emit,
        most: int = MOST,
    ) -> None:
        self._rule = rule
        self._most = most
        self._monotonic = monotonic
        self._chance = chance
        self._emit = emit
        self._by_target: dict[tuple[int, str], Breaker] = {}
        self._open = 0

    def __len__(self) -> int:
        return len(self._by_target)

    def turn_away(self, attempt: Attempt, spec: Any) -> TurnedAway | None:
        """Why an attempt may not start now; None if it may."""
        if not self._rule.after:
            return None
        named = attempt.policy.target
        target = asked(attempt, spec) if named is None else named
        if target is None:
            return None
        tenant_id = attempt.run.tenant_id
        breaker, era = self._by_target.get((tenant_id, target)), 0
        if breaker is not None:
            now = self._monotonic()
            if not breaker.lets_through(now):
                wait = breaker.come_back(now, left=left(attempt), chance=self._chance)
                delay = timedelta(seconds=wait)
                return TurnedAway(delay=delay, target=target, failures=breaker.failures)
            era = breaker.era
        only_calls = getattr(attempt.executor, "only_calls", False)
        attempt.passage = Passage(tenant_id, target, era, named is not None, only_calls)
        return None

    def tell(self, passage: Passage, outcome: Outcome) -> None:
        """An attempt that was let through has ended."""
        verdict = verdict_of(outcome, is_named=passage.is_named, only_calls=passage.only_calls)
        breaker = self._by_target.get((passage.tenant_id, passage.target))
        if breaker is None:
            if verdict is not Verdict.DOWN:
                return
            breaker = self._add(passage)
        wish = outcome.retry_after if isinstance(outcome, Failed) else None
        change = breaker.tell(
            verdict, era=passage.era, now=self._monotonic(), chance=self._chance, wish=wish
        )
        if change is not None:
            self._say(change, passage, breaker)
        elif breaker.is_blank:
            del self._by_target[passage.tenant_id, passage.target]

    def _add(self, passage: Passage) -> Breaker:
        if len(self._by_target) >= self._most:
            forgotten = self._by_target.pop(next(iter(self._by_target)))
            self._open -= forgotten.is_open
        return self._by_target.setdefault((passage.tenant_id, passage.target), Breaker(self._rule))

    def _say(self, change: Change, passage: Passage, breaker: Breaker) -> None:
        if change is Change.CLOSED:
            self._open -= 1
            self._emit(
                TargetUp(tenant_id=passage.tenant_id, target=passage.target, down=self._open)
            )
            return
        self._open += change is Change.OPENED
        self._emit(
            TargetDown(
                tenant_id=passage.tenant_id,
                target=passage.target,
                failures=breaker.failures,
                pause=timedelta(seconds=breaker.pause),
                down=self._open,
            )
        )


# For attempts of nobody's worker.
OFF: Final = Breakers(
    Breaking(after=0), monotonic=lambda: 0.0, chance=Random(0), emit=lambda _: None
)


def asked(attempt: Attempt, spec: Any) -> str | None:
    """The target that the executor tells, if it is one that does (core/executor.py, Targeting)."""
    tell = getattr(attempt.executor, "target_of", None)
    target = None if tell is None else tell(spec)
    # It is shown to people; a payload may have a secret where it names its host. Two such hosts
    # share a breaker, which is better than to tell them apart in a sentence.
    return target if target is None or attempt.veil is None else attempt.veil.text(target)


def left(attempt: Attempt) -> float | None:
    """How long until the deadline, in seconds; it has only just been claimed."""
    deadline = attempt.run.deadline_at
    return None if deadline is None else (deadline - attempt.run.started_at).total_seconds()

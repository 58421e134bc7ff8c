"""Holds the circuit breakers of a worker, one per tenant and target (E8, F38).

The attempt loop asks here before an attempt starts and reports how it ended. A target that has
never failed has no breaker, so a healthy target costs a dictionary lookup, and a run without a
target costs nothing. Each worker has its own breakers, because a target that one worker cannot
reach may be reachable from another. core/breaker.py decides when a breaker opens.
"""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any, Final, NamedTuple

from rota.core.breaker import Breaker, BreakerChange, BreakerRule, TargetVerdict, judge_outcome
from rota.core.log_events import Emit, TargetDown, TargetUp
from rota.core.outcome import Failed, Outcome, TurnedAway
from rota.engine.execution.attempt import Attempt

# Every run of a job may call a different host; hosts that never respond must not fill the memory.
BREAKERS_MAX: Final = 10_000


class BreakerPass(NamedTuple):
    """An attempt that the breaker let through: its target, the breaker's era, and how to judge its
    ending (core/breaker.py, judge_outcome).
    """

    tenant_id: int
    target: str
    era: int
    is_named: bool
    only_calls: bool


class Breakers:
    """`monotonic` measures pauses. A rule with 0 failures never opens a breaker. Beyond
    `max_breakers` failing targets, the oldest breakers are dropped.
    """

    def __init__(
        self,
        rule: BreakerRule,
        *,
        monotonic: Callable[[], float],
        rng: Random,
        emit: Emit,
        max_breakers: int = BREAKERS_MAX,
    ) -> None:
        self._rule = rule
        self._most = max_breakers
        self._monotonic = monotonic
        self._chance = rng
        self._emit = emit
        self._by_target: dict[tuple[int, str], Breaker] = {}
        self._open = 0

    def __len__(self) -> int:
        return len(self._by_target)

    def check_attempt(self, attempt: Attempt, spec: Any) -> TurnedAway | None:
        """Return why an attempt may not start now; None if it may."""
        if not self._rule.after:
            return None
        named = attempt.policy.target
        target = find_target(attempt, spec) if named is None else named
        if target is None:
            return None
        tenant_id = attempt.run.tenant_id
        breaker, era = self._by_target.get((tenant_id, target)), 0
        if breaker is not None:
            now = self._monotonic()
            if not breaker.try_pass(now):
                wait = breaker.compute_return_delay(
                    now, time_left=seconds_until_deadline(attempt), rng=self._chance
                )
                delay = timedelta(seconds=wait)
                return TurnedAway(delay=delay, target=target, failures=breaker.failures)
            era = breaker.era
        only_calls = getattr(attempt.executor, "only_calls", False)
        attempt.breaker_pass = BreakerPass(tenant_id, target, era, named is not None, only_calls)
        return None

    def record_ending(self, breaker_pass: BreakerPass, outcome: Outcome) -> None:
        """Record the ending of an attempt that was let through."""
        verdict = judge_outcome(
            outcome, is_named=breaker_pass.is_named, only_calls=breaker_pass.only_calls
        )
        breaker = self._by_target.get((breaker_pass.tenant_id, breaker_pass.target))
        if breaker is None:
            if verdict is not TargetVerdict.DOWN:
                return
            breaker = self._add(breaker_pass)
        retry_after = outcome.retry_after if isinstance(outcome, Failed) else None
        change = breaker.record_verdict(
            verdict,
            era=breaker_pass.era,
            now=self._monotonic(),
            rng=self._chance,
            requested_pause=retry_after,
        )
        if change is not None:
            self._report(change, breaker_pass, breaker)
        elif breaker.is_new:
            del self._by_target[breaker_pass.tenant_id, breaker_pass.target]

    def _add(self, passage: BreakerPass) -> Breaker:
        if len(self._by_target) >= self._most:
            forgotten = self._by_target.pop(next(iter(self._by_target)))
            self._open -= forgotten.is_open
        return self._by_target.setdefault((passage.tenant_id, passage.target), Breaker(self._rule))

    def _report(self, change: BreakerChange, passage: BreakerPass, breaker: Breaker) -> None:
        if change is BreakerChange.CLOSED:
            self._open -= 1
            self._emit(
                TargetUp(tenant_id=passage.tenant_id, target=passage.target, down=self._open)
            )
            return
        self._open += change is BreakerChange.OPENED
        self._emit(
            TargetDown(
                tenant_id=passage.tenant_id,
                target=passage.target,
                failures=breaker.failures,
                pause=timedelta(seconds=breaker.pause),
                down=self._open,
            )
        )


# Breakers for attempts outside a worker, which never open.
DISABLED_BREAKERS: Final = Breakers(
    BreakerRule(after=0), monotonic=lambda: 0.0, rng=Random(0), emit=lambda _: None
)


def find_target(attempt: Attempt, spec: Any) -> str | None:
    """Return the target that the executor reports, if any (core/executor.py, TargetedExecutor)."""
    target_of = getattr(attempt.executor, "target_of", None)
    target = None if target_of is None else target_of(spec)
    # The target is shown to users, and a payload may have a secret in its host. Two hosts that
    # differ only in a secret share a breaker, which is better than showing the secret.
    return (
        target
        if target is None or attempt.secret_mask is None
        else attempt.secret_mask.mask_text(target)
    )


def seconds_until_deadline(attempt: Attempt) -> float | None:
    """Return the seconds until the deadline. The attempt was claimed just now."""
    deadline = attempt.run.deadline_at
    return None if deadline is None else (deadline - attempt.run.started_at).total_seconds()

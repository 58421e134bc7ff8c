"""The breakers of a worker: which targets it keeps in mind, and for whom (E8)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from rota.core.breaker import BreakerRule
from rota.core.executor import AttemptContext
from rota.core.log_events import EngineEvent, TargetDown, TargetUp
from rota.core.outcome import Failed, Failure, Outcome, Succeeded, TurnedAway
from rota.core.policy import Policy
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.pipeline import DISABLED_BREAKERS, AttemptPipeline, Breakers
from rota.store.live_runs import ClaimedRun

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
DOWN = Failed(failure=Failure(type="network", message="no connection"), reached=False)
RULE = BreakerRule(after=2, pause=timedelta(seconds=10))


class Plain:
    """An executor that tells no target, as those of others do."""

    kinds: Sequence[str] = ("call",)

    def read(self, _kind: str, payload: Any) -> Any:
        return payload

    async def run(self, _spec: Any, _context: AttemptContext) -> Outcome:
        return Succeeded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


class Calling(Plain):
    """One whose payload is its target."""

    def target_of(self, spec: Any) -> str | None:
        return None if spec is None else str(spec)


class Worker:
    """Breakers, a clock that the test moves, and what was told."""

    def __init__(self, rule: BreakerRule = RULE, **given: int) -> None:
        self.now = 0.0
        self.told: list[EngineEvent] = []
        self.breakers = Breakers(
            rule, monotonic=lambda: self.now, rng=Random(3), emit=self.told.append, **given
        )

    def ask(self, target: str | None, *, tenant_id: int = 1, **given: Any) -> Attempt | TurnedAway:
        attempt = an_attempt(tenant_id=tenant_id, **given)
        return self.breakers.check_attempt(attempt, target) or attempt

    def ends(self, attempt: Attempt | TurnedAway, outcome: Outcome) -> None:
        assert isinstance(attempt, Attempt)
        assert attempt.breaker_pass is not None
        self.breakers.record_ending(attempt.breaker_pass, outcome)

    def lose(self, target: str, **given: Any) -> None:
        for _ in range(2):
            self.ends(self.ask(target, **given), DOWN)


def an_attempt(
    *, tenant_id: int = 1, policy: Policy | None = None, executor: Any = None
) -> Attempt:
    run = ClaimedRun(
        UUID(int=1), UUID(int=2), 1, 1, 0, tenant_id, 1, 1, 5, NOON, NOON, NOON, NOON, None, '"a:1"'
    )
    # Nothing here asks for an effect.
    return Attempt(run, "call", policy or Policy(), run.payload, executor or Calling(), None)  # type: ignore[arg-type]


def test_a_target_that_is_down_turns_its_runs_away_and_no_others() -> None:
    worker = Worker()
    worker.lose("a:1")

    away = worker.ask("a:1")

    assert isinstance(away, TurnedAway)
    assert (away.target, away.failures, away.delay <= RULE.pause) == ("a:1", 2, True)
    assert isinstance(worker.ask("b:1"), Attempt)
    assert isinstance(worker.ask(None), Attempt)


def test_what_one_tenant_cannot_reach_is_not_held_against_another() -> None:
    worker = Worker()
    worker.lose("a:1", tenant_id=1)

    assert isinstance(worker.ask("a:1", tenant_id=2), Attempt)


def test_a_target_that_the_job_names_goes_before_what_its_executor_tells() -> None:
    worker = Worker()
    named = Policy(target="payments")
    worker.lose("a:1", policy=named)

    assert isinstance(worker.ask("b:1", policy=named), TurnedAway)
    assert isinstance(worker.ask("a:1"), Attempt)


def test_an_executor_that_tells_no_target_works_as_before() -> None:
    worker = Worker()

    attempt = worker.ask("a:1", executor=Plain())

    assert isinstance(attempt, Attempt)
    assert attempt.breaker_pass is None


def test_opening_looking_in_vain_and_closing_are_told() -> None:
    worker = Worker()
    worker.lose("a:1")
    worker.lose("b:1")
    worker.now = 10.0
    worker.ends(worker.ask("a:1"), DOWN)
    worker.now = 40.0
    worker.ends(worker.ask("a:1"), Succeeded())

    events = [each for each in worker.told if isinstance(each, TargetDown | TargetUp)]
    assert [(type(each), each.target, each.down) for each in events] == [
        (TargetDown, "a:1", 1),
        (TargetDown, "b:1", 2),
        (TargetDown, "a:1", 2),
        (TargetUp, "a:1", 1),
    ]


def test_a_target_that_answers_is_not_kept_in_mind() -> None:
    worker = Worker()

    worker.ends(worker.ask("a:1"), Succeeded())
    worker.ends(worker.ask("b:1"), DOWN)
    worker.ends(worker.ask("b:1"), Succeeded())

    assert len(worker.breakers) == 0


def test_hosts_without_number_do_not_fill_the_memory() -> None:
    worker = Worker(max_breakers=20)

    for number in range(100):
        worker.lose(f"host{number}:80")

    assert len(worker.breakers) == 20
    assert isinstance(worker.told[-1], TargetDown)
    assert worker.told[-1].down == 20
    assert isinstance(worker.ask("host0:80"), Attempt)
    assert isinstance(worker.ask("host99:80"), TurnedAway)


def test_a_worker_that_wants_none_has_none() -> None:
    worker = Worker(BreakerRule(after=0))
    attempt = worker.ask("a:1")

    assert isinstance(attempt, Attempt)
    assert attempt.breaker_pass is None


async def test_an_attempt_that_is_turned_away_does_not_reach_its_executor() -> None:
    worker = Worker()
    worker.lose("a:1")

    outcome = await AttemptPipeline(breakers=worker.breakers).run(an_attempt())

    assert isinstance(outcome, TurnedAway)
    assert await AttemptPipeline(breakers=DISABLED_BREAKERS).run(an_attempt()) == Succeeded()

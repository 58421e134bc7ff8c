"""Decides what happens to a run after an attempt: (run, outcome) → event, and when to retry.

This is the single place that weighs retries, losses, deadlines and cancellation. The store repeats
the part that can race (a concurrent cancel) in its statements, and a test compares the two.

Defines the values that pass from executing attempts to recording their results.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from rota.core.outcome import (
    Cancelled,
    Failed,
    GraphExpanded,
    Guarantee,
    HandedBack,
    NewerVersionNeeded,
    Outcome,
    Snoozed,
    Succeeded,
    TurnedAway,
    WorkerLost,
)
from rota.core.policy import RetryPolicy, compute_delay
from rota.core.states import RunEvent, RunState, advance_run

if TYPE_CHECKING:
    from random import Random
from enum import Enum, auto
from typing import NamedTuple
from uuid import UUID

from rota.core.policy import Policy

# After this many lost workers a run is quarantined: it probably kills its workers.
WORKER_LOSSES_MAX = 3
_PLAIN = {
    Succeeded: RunEvent.SUCCEED,
    GraphExpanded: RunEvent.EXPAND,
    Cancelled: RunEvent.FORCE_CANCEL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedRun:
    """The state and the counters of a run before its attempt ended."""

    state: RunState
    failures: int
    losses: int
    guarantee: Guarantee
    deadline_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The next state of a run; `ready_at` is set exactly if the run waits again."""

    event: RunEvent
    state: RunState
    failures: int
    losses: int
    ready_at: datetime | None


def settle_run(
    run: AttemptedRun, outcome: Outcome, *, policy: RetryPolicy, now: datetime, rng: "Random"
) -> Settlement:
    failures = run.failures + isinstance(outcome, Failed)
    losses = run.losses + isinstance(outcome, WorkerLost)
    event, wait = _weigh(run, outcome, policy=policy, rng=rng)
    if wait is not None and run.deadline_at is not None and now + wait >= run.deadline_at:
        event, wait = RunEvent.EXPIRE, None
    state = advance_run(run.state, event)
    waits = wait is not None and state in {RunState.QUEUED, RunState.RETRYING}
    return Settlement(
        event=event,
        state=state,
        failures=failures,
        losses=losses,
        ready_at=now + wait if waits and wait is not None else None,
    )


def _weigh(
    run: AttemptedRun, outcome: Outcome, *, policy: RetryPolicy, rng: "Random"
) -> tuple[RunEvent, timedelta | None]:
    """Return the event of an outcome, and how long to wait if the run continues."""
    match outcome:
        case Succeeded() | GraphExpanded() | Cancelled():
            return _PLAIN[type(outcome)], None
        case Snoozed() | TurnedAway() | NewerVersionNeeded():
            return RunEvent.SNOOZE, outcome.delay
        case HandedBack():
            if outcome.has_started and run.guarantee is Guarantee.AT_MOST_ONCE:
                return RunEvent.ABANDON, None
            return RunEvent.HAND_BACK, timedelta(0)
        case WorkerLost():
            return _weigh_loss(run)
        case Failed():
            if outcome.final or run.guarantee is Guarantee.AT_MOST_ONCE:
                return RunEvent.GIVE_UP, None
            if run.failures >= policy.max_retries:
                return RunEvent.GIVE_UP, None
            wait = compute_delay(policy, failures=run.failures + 1, rng=rng)
            return RunEvent.RETRY, max(wait, outcome.retry_after or timedelta(0))
        case _:
            assert_never(outcome)


def _weigh_loss(run: AttemptedRun) -> tuple[RunEvent, timedelta | None]:
    if run.guarantee is Guarantee.AT_MOST_ONCE:
        return RunEvent.ABANDON, None
    if run.losses + 1 >= WORKER_LOSSES_MAX:
        return RunEvent.QUARANTINE, None
    return RunEvent.LOSE_WORKER, timedelta(0)


class StopReason(Enum):
    """Why a running attempt is asked to stop."""

    TIMEOUT = auto()
    CANCEL = auto()
    DRAIN = auto()
    # The worker's lease may have expired, and the attempt must not run beside its successor.
    LEASE = auto()


class EndedAttempt(NamedTuple):
    """A finished attempt. `result` is JSON; `is_recorded` is true if the attempt completed its run
    in its own transaction; `lasted` is in seconds.
    """

    run_id: UUID
    attempt: int
    failures: int
    kind: str
    policy: Policy
    deadline_at: datetime | None
    outcome: Outcome
    result: str | None
    is_recorded: bool
    duration_s: float

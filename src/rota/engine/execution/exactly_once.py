"""Enforces the guarantee of `exactly_once` jobs on their attempts (E2).

Such a run succeeds in one way: its handler completes it in `ctx.transaction()`. An attempt that
cannot do that is not started, so that it has no effect; an attempt that succeeds without it fails.
Both failures are final: the next attempt would end the same way, after the same effects.
"""

from typing import Final

from rota.core.graphs.graph import GRAPH_KIND
from rota.core.guarantees import ExactlyOnceRequest, build_exactly_once_error
from rota.core.kind_descriptions import supports_exactly_once
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.engine.execution.attempt import Attempt

NOT_EXACTLY_ONCE: Final = "NotExactlyOnce"
NO_TRANSACTION: Final = (
    "job is exactly_once but its handler returned without using ctx.transaction(); write its "
    "effects inside `ctx.transaction()`, or set the job's guarantee to at_least_once"
)
# Graph runs have no attempt of their own; their steps do.
KINDS_WITHOUT_ATTEMPT: Final = frozenset({GRAPH_KIND})


def refuse_start(attempt: Attempt) -> None:
    """Raise `InvalidInput` if no attempt of this kind can complete its run in a transaction."""
    kind = attempt.kind
    if kind not in KINDS_WITHOUT_ATTEMPT and not supports_exactly_once(attempt.executor, kind):
        raise build_exactly_once_error(ExactlyOnceRequest(kind))


def require_transaction(attempt: Attempt, outcome: Outcome) -> Outcome:
    """Return the outcome, or a failure if it is a success outside the attempt's transaction."""
    if not isinstance(outcome, Succeeded) or attempt.is_recorded:
        return outcome
    return Failed(failure=Failure(type=NOT_EXACTLY_ONCE, message=NO_TRANSACTION), final=True)

"""Decides which kinds of jobs can be `exactly_once`, and explains why others cannot.

A run is exactly once if its effects and its completion are one transaction of Rota's database. Only
a handler that writes through `ctx.transaction()` has that. Effects on other systems can be repeated
after a crash, so `exactly_once` is rejected for such kinds. The built-in kinds are listed here; the
executors of other kinds report what they support (core/kind_descriptions.py), and workers store it.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import GRAPH_KIND, StepGraph
from rota.core.outcome import Guarantee
from rota.core.policy import Policy

GUARANTEE_FIELD: Final = "guarantee"
EXACTLY_ONCE_REMEDY: Final = (
    "use at_least_once and let the receiver drop duplicates by the idempotency key, which is the "
    "same for all attempts of a run"
)
# Effects of the built-in kinds that a transaction of Rota's database cannot roll back.
NOT_TRANSACTIONAL_REASONS: Final[Mapping[str, str]] = {
    "http": "a request that was sent cannot be rolled back",
    "webhook": "a request that was sent cannot be rolled back",
    "shell": "the effects of a program cannot be rolled back",
    "notify": "a message that was sent cannot be rolled back",
    "sync": "files that were copied cannot be rolled back",
    "sql": "its statements and the completion of the run are not in the same transaction",
    "etl": "its statements and the completion of the run are not in the same transaction",
}
GRAPH_REASON: Final = (
    "a graph run has no transaction; set the guarantee on the steps that need it "
    "(`graph.steps[].guarantee`)"
)
MAP_SOURCE_REASON: Final = (
    "the source of a map has no transaction; take the items from an earlier step "
    "(`map.over`), or use at_least_once"
)
OTHER_KINDS_REASON: Final = (
    "its executor cannot complete the run in a transaction, for example a Python handler with "
    "`isolation: process`"
)


class ExactlyOnceRequest(NamedTuple):
    """A kind that is requested to be exactly once, and the field with the request."""

    kind: str
    field: str = GUARANTEE_FIELD


def build_exactly_once_error(
    request: ExactlyOnceRequest, remedy: str | None = None
) -> InvalidInput:
    """Return the error for a kind that cannot be exactly once."""
    reason = NOT_TRANSACTIONAL_REASONS.get(request.kind, OTHER_KINDS_REASON)
    remedy = remedy or f"{reason}; {EXACTLY_ONCE_REMEDY}"
    allowed = f"kind {request.kind!r} can only be at_least_once or at_most_once: {remedy}"
    return InvalidInput(request.field, Guarantee.EXACTLY_ONCE.value, allowed)


def check_guarantee(
    kind: str, policy: Policy, graph: StepGraph | None = None
) -> list[ExactlyOnceRequest]:
    """Reject `exactly_once` for built-in kinds that cannot do it.

    Returns the other requested kinds, which the caller must check against stored descriptions.
    """
    requests = [ExactlyOnceRequest(kind)] if policy.guarantee is Guarantee.EXACTLY_ONCE else []
    if graph is not None:
        requests += _find_in_steps(graph, "graph")
    for wanted in requests:
        if wanted.kind in NOT_TRANSACTIONAL_REASONS:
            raise build_exactly_once_error(wanted)
        if wanted.kind == GRAPH_KIND:
            raise build_exactly_once_error(wanted, GRAPH_REASON)
    return requests


def _find_in_steps(graph: StepGraph, path: str) -> Iterator[ExactlyOnceRequest]:
    for step in graph.steps:
        at = f"{path}.steps[{step.index}]"
        if step.policy.get(GUARANTEE_FIELD) == Guarantee.EXACTLY_ONCE.value:
            wanted = ExactlyOnceRequest(step.kind, f"{at}.{GUARANTEE_FIELD}")
            if step.map is not None and step.map.source is not None:
                raise build_exactly_once_error(wanted, MAP_SOURCE_REASON)
            yield wanted
        if step.graph is not None:
            yield from _find_in_steps(step.graph, f"{at}.graph")

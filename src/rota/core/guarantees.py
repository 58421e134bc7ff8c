"""Decides which kinds of jobs can be `exactly_once`, and explains why others cannot.

A run is exactly once if its effects and its completion are one transaction of Rota's database. Only
a handler that writes through `ctx.transaction()` has that. Effects on other systems can be repeated
after a crash, so `exactly_once` is rejected for such kinds. The built-in kinds are listed here; the
executors of other kinds report what they support (core/describing.py), and workers store it.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import KIND, Graph
from rota.core.outcome import Guarantee
from rota.core.policy import Policy

FIELD: Final = "guarantee"
REMEDY: Final = (
    "use at_least_once and let the receiver drop duplicates by the idempotency key, which is the "
    "same for all attempts of a run"
)
# Effects of the built-in kinds that a transaction of Rota's database cannot roll back.
REASONS: Final[Mapping[str, str]] = {
    "http": "a request that was sent cannot be rolled back",
    "webhook": "a request that was sent cannot be rolled back",
    "shell": "the effects of a program cannot be rolled back",
    "notify": "a message that was sent cannot be rolled back",
    "sync": "files that were copied cannot be rolled back",
    "sql": "its statements and the completion of the run are not in the same transaction",
    "etl": "its statements and the completion of the run are not in the same transaction",
}
OF_GRAPH: Final = (
    "a graph run has no transaction; set the guarantee on the steps that need it "
    "(`graph.steps[].guarantee`)"
)
OF_SOURCE: Final = (
    "the source of a map has no transaction; take the items from an earlier step "
    "(`map.over`), or use at_least_once"
)
OF_OTHERS: Final = (
    "its executor cannot complete the run in a transaction, for example a Python handler with "
    "`isolation: process`"
)


class Wanted(NamedTuple):
    """A kind that is requested to be exactly once, and the field with the request."""

    kind: str
    field: str = FIELD


def refuse_exactly_once(wanted: Wanted, remedy: str | None = None) -> InvalidInput:
    """Return the error for a kind that cannot be exactly once."""
    remedy = remedy or f"{REASONS.get(wanted.kind, OF_OTHERS)}; {REMEDY}"
    allowed = f"kind {wanted.kind!r} can only be at_least_once or at_most_once: {remedy}"
    return InvalidInput(wanted.field, Guarantee.EXACTLY_ONCE.value, allowed)


def check_guarantee(kind: str, policy: Policy, graph: Graph | None = None) -> list[Wanted]:
    """Reject `exactly_once` for built-in kinds that cannot do it.

    Returns the other requested kinds, which the caller must check against stored descriptions.
    """
    requests = [Wanted(kind)] if policy.guarantee is Guarantee.EXACTLY_ONCE else []
    if graph is not None:
        requests += _find_in_steps(graph, "graph")
    for wanted in requests:
        if wanted.kind in REASONS:
            raise refuse_exactly_once(wanted)
        if wanted.kind == KIND:
            raise refuse_exactly_once(wanted, OF_GRAPH)
    return requests


def _find_in_steps(graph: Graph, path: str) -> Iterator[Wanted]:
    for step in graph.steps:
        at = f"{path}.steps[{step.index}]"
        if step.policy.get(FIELD) == Guarantee.EXACTLY_ONCE.value:
            wanted = Wanted(step.kind, f"{at}.{FIELD}")
            if step.map is not None and step.map.source is not None:
                raise refuse_exactly_once(wanted, OF_SOURCE)
            yield wanted
        if step.graph is not None:
            yield from _find_in_steps(step.graph, f"{at}.graph")

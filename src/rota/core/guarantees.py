"""Which kinds of jobs can promise `exactly_once`, and why the others cannot. Room: core.

A run is exactly once when its effects and its completion are one transaction of Rota's database.
Only a handler that writes through `ctx.transaction()` has that. Everything that acts on the outside
world can be repeated after a crash, however it is labelled, so it is refused where it is asked for.
The built-in kinds are known here by name; what other kinds can do, their executor says
(core/describing.py) and workers store.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import KIND, Graph
from rota.core.outcome import Guarantee
from rota.core.policy import Policy

FIELD: Final = "guarantee"
REMEDY: Final = (
    "use at_least_once and let the receiver drop repeats by the idempotency key, which is the same "
    "for all attempts of a run"
)
# What each built-in kind does that no transaction of Rota's database can take back.
REASONS: Final[Mapping[str, str]] = {
    "http": "a request that was sent cannot be rolled back",
    "webhook": "a request that was sent cannot be rolled back",
    "shell": "what a program did cannot be rolled back",
    "notify": "a message that was sent cannot be rolled back",
    "sync": "files that were copied cannot be rolled back",
    "sql": "its statements run in another database's transaction than the completion of the run",
    "etl": "its statements run in another database's transaction than the completion of the run",
}
OF_GRAPH: Final = (
    "a graph run has no transaction of its own; give the guarantee to the steps that need it "
    "(`graph.steps[].guarantee`)"
)
OF_SOURCE: Final = (
    "the source of a map has no transaction of its own; take the items from an earlier step "
    "(`map.over`), or use at_least_once"
)
OF_OTHERS: Final = (
    "its executor cannot complete the run in a transaction: in Python that is a handler with "
    "`isolation: process`"
)


class Wanted(NamedTuple):
    """A kind that is to be exactly once, and the field that says so."""

    kind: str
    field: str = FIELD


def refuse_exactly_once(wanted: Wanted, remedy: str | None = None) -> InvalidInput:
    """The error for a kind that cannot do it."""
    remedy = remedy or f"{REASONS.get(wanted.kind, OF_OTHERS)}; {REMEDY}"
    allowed = f"the kind {wanted.kind!r} can be at_least_once or at_most_once: {remedy}"
    return InvalidInput(wanted.field, Guarantee.EXACTLY_ONCE.value, allowed)


def check_guarantee(kind: str, policy: Policy, graph: Graph | None = None) -> list[Wanted]:
    """Refuse what the built-in kinds cannot do; return the kinds that somebody else must know."""
    found = [Wanted(kind)] if policy.guarantee is Guarantee.EXACTLY_ONCE else []
    if graph is not None:
        found += _steps(graph, "graph")
    for wanted in found:
        if wanted.kind in REASONS:
            raise refuse_exactly_once(wanted)
        if wanted.kind == KIND:
            raise refuse_exactly_once(wanted, OF_GRAPH)
    return found


def _steps(graph: Graph, path: str) -> Iterator[Wanted]:
    for step in graph.steps:
        at = f"{path}.steps[{step.index}]"
        if step.policy.get(FIELD) == Guarantee.EXACTLY_ONCE.value:
            wanted = Wanted(step.kind, f"{at}.{FIELD}")
            if step.map is not None and step.map.source is not None:
                raise refuse_exactly_once(wanted, OF_SOURCE)
            yield wanted
        if step.graph is not None:
            yield from _steps(step.graph, f"{at}.graph")

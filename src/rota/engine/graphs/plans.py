"""Caches the plans of graph runs: the parsed definition, and the ids that the runs of steps carry.

A definition never changes, so its plan can be cached. All plans are read again once a day, which
keeps the rows behind the ids from being removed as unused (store/retention.py). The ids are looked
up outside the transactions that use them: the id of a name that was interned in a transaction that
rolls back would refer to nothing.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from rota.contract.graph import read_stored_graph
from rota.contract.policy import build_step_policy, read_stored_policy, write_policy
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.graphs import (
    GraphAdvance,
    GraphScope,
    GraphStep,
    StepGraph,
    StepState,
    advance_graph,
)
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.core.submissions import encode_canonical
from rota.store import graphs, interning
from rota.store.driver import Connection

PLANS_MAX: Final = 1_000
PLANS_KEPT_S: Final = 24 * 3600.0
# Cached decisions of one graph.
CACHED_DECISIONS_MAX: Final = 1_000
NO_GRAPH: Final = "its job no longer had a graph when the run started"


StepStanding = tuple[str, tuple[tuple[int, StepState], ...]]


class PlanKey(NamedTuple):
    """A graph within a definition, with the policy of its job, from which its steps inherit."""

    graph_id: int | None
    path: tuple[int, ...]
    policy_id: int


class StepIds(NamedTuple):
    """The ids and settings that the run of a step carries. A map has those of its members, and the
    kind of its source.
    """

    kind_id: int
    queue_id: int | None
    policy_id: int
    priority: int | None
    guarantee: Guarantee
    deadline: timedelta | None = None
    source_kind_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlan:
    """A graph with the ids of its steps. `ids` is None for a step that is a graph itself; `queues`
    has its queue, if it names one. `uses_input` is set if an expression may use the input of the
    run, which is read only then. Without expressions a decision depends only on the step states and
    the completions, and is cached in `decisions`.
    """

    graph: StepGraph
    ids: tuple[StepIds | None, ...]
    queues: Mapping[int, int]
    uses_input: bool
    decisions: dict[StepStanding, GraphAdvance] = field(default_factory=dict)

    def advance(
        self, board: str, ended: Mapping[int, StepState], scope: GraphScope
    ) -> GraphAdvance:
        """Return what follows from these completed steps."""
        if self.uses_input:
            return advance_graph(self.graph, board, ended, scope)
        standing = (board, tuple(sorted(ended.items())))
        found = self.decisions.get(standing)
        if found is None:
            if len(self.decisions) >= CACHED_DECISIONS_MAX:
                self.decisions.clear()
            found = self.decisions[standing] = advance_graph(self.graph, board, ended, scope)
        return found


class UnreadableGraph(NamedTuple):
    """The reason why there is no plan. `is_newer` is set if newer code can read the graph."""

    reason: str
    is_newer: bool = False


class PlanCache:
    def __init__(self, limit: int = PLANS_MAX) -> None:
        self._most = limit
        self._plans: OrderedDict[PlanKey, GraphPlan | UnreadableGraph] = OrderedDict()
        self._kept_since = float("-inf")

    def expire(self, now: float) -> None:
        """Clear the cache if a day has passed since the last time. `now` is monotonic."""
        if now - self._kept_since >= PLANS_KEPT_S:
            self._plans.clear()
            self._kept_since = now

    def get(self, key: PlanKey) -> GraphPlan | UnreadableGraph | None:
        return self._plans.get(key)

    async def load(self, conn: Connection, keys: Iterable[PlanKey]) -> None:
        """Read these plans. The connection must not be in a transaction."""
        wanted = set(keys)
        texts = await graphs.read_definitions(
            conn, {key.graph_id for key in wanted if key.graph_id is not None}
        )
        bodies = await interning.read_policies(conn, sorted({key.policy_id for key in wanted}))
        for key in wanted:
            text = None if key.graph_id is None else texts.get(key.graph_id)
            self._plans[key] = await _read_plan(conn, key, text, bodies[key.policy_id])
        while len(self._plans) > self._most:
            self._plans.popitem(last=False)


async def read_graph_of_run(
    conn: Connection, graph_id: int | None, path: Sequence[int]
) -> StepGraph:
    """Return the graph of a run. Raise `InvalidInput` if no graph can be read."""
    texts = {} if graph_id is None else await graphs.read_definitions(conn, [graph_id])
    if not texts:
        raise InvalidInput("graph", graph_id, NO_GRAPH)
    return _nested_graph(read_stored_graph(msgspec.json.decode(texts.popitem()[1])), tuple(path))


async def _read_plan(
    conn: Connection, key: PlanKey, text: str | None, body: str
) -> GraphPlan | UnreadableGraph:
    if text is None:
        return UnreadableGraph(NO_GRAPH)
    try:
        job = read_stored_policy(msgspec.json.decode(body))
        graph = _nested_graph(read_stored_graph(msgspec.json.decode(text)), key.path)
        for step in graph.steps:
            build_step_policy(step.policy, job)
    except NewerDocument as error:
        return UnreadableGraph(str(error), is_newer=True)
    except InvalidInput as error:
        return UnreadableGraph(f"this version of Rota cannot read its graph: {error}")
    wanted = {step.queue for step in graph.steps if step.queue}
    by_name = await interning.intern_queues(conn, wanted)
    queues = {step.index: by_name[step.queue] for step in graph.steps if step.queue}
    return GraphPlan(
        graph=graph,
        ids=await _intern_ids(conn, graph, job, queues),
        queues=queues,
        uses_input=any(map(_uses_expressions, graph.steps)),
    )


def _nested_graph(graph: StepGraph, path: tuple[int, ...]) -> StepGraph:
    for place in path:
        inner = graph.steps[place].graph
        if inner is None:
            raise InvalidInput("graph", place, "expected a step that is a graph")
        graph = inner
    return graph


def _uses_expressions(step: GraphStep) -> bool:
    source = None if step.map is None else step.map.source
    return (
        not isinstance(step.when, str)
        or not step.payload.is_constant
        or step.map is not None
        or source is not None
    )


async def _intern_ids(
    conn: Connection, graph: StepGraph, job: Policy, queues: Mapping[int, int]
) -> tuple[StepIds | None, ...]:
    steps = [step for step in graph.steps if step.graph is None]
    sources = {step.map.source.kind for step in steps if step.map and step.map.source}
    kinds = await interning.intern_kinds(conn, {step.kind for step in steps} | sources)
    policies = {step.index: build_step_policy(step.policy, job) for step in steps}
    bodies = {index: encode_canonical(write_policy(policy)) for index, policy in policies.items()}
    interned = await interning.intern_policies(conn, set(bodies.values()))

    def ids_of(step: GraphStep) -> StepIds | None:
        if step.graph is not None:
            return None
        source = None if step.map is None else step.map.source
        return StepIds(
            kind_id=kinds[step.kind],
            queue_id=queues.get(step.index),
            policy_id=interned[bodies[step.index]],
            priority=step.priority,
            guarantee=policies[step.index].guarantee,
            deadline=policies[step.index].deadline,
            source_kind_id=None if source is None else kinds[source.kind],
        )

    return tuple(map(ids_of, graph.steps))

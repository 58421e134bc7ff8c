"""Stores the graph definitions of jobs. Only jobs of kind `graph` have one (D6).

core/graphs validates a definition. This module checks that kind and definition match, and interns
the definition as the number that jobs refer to.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from rota.contract.graph import read_graph, read_stored_graph
from rota.core.errors import InvalidInput
from rota.core.graphs import to_graph_json
from rota.core.graphs.graph import GRAPH_KIND, StepGraph
from rota.store import graphs
from rota.store.driver import Connection
from rota.store.jobs import StoredJob

GRAPH_REQUIRED: Final = f"a job of kind {GRAPH_KIND} requires a graph with steps"
KIND_REQUIRED: Final = f"a graph requires kind: {GRAPH_KIND}"
GRAPH_KEPT: Final = (
    f"the job has a graph; set graph: null to change its kind, or keep kind: {GRAPH_KIND}"
)


def render_graph(kind: str, graph: object) -> str | None:
    """Return the stored form of a job's definition; None for a job of another kind."""
    if graph is None:
        if kind == GRAPH_KIND:
            raise InvalidInput("graph", None, GRAPH_REQUIRED)
        return None
    if kind != GRAPH_KIND:
        raise InvalidInput("kind", kind, f"a job with a graph must have kind {GRAPH_KIND}")
    return to_graph_json(read_graph(graph))


async def intern_graphs(
    conn: Connection, wanted: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    """Return the numbers of definitions by (tenant id, text)."""
    texts: dict[int, set[str]] = {}
    for tenant_id, text in wanted:
        texts.setdefault(tenant_id, set()).add(text)
    found: dict[tuple[int, str], int] = {}
    for tenant_id in sorted(texts):
        ids = await graphs.intern_definitions(conn, tenant_id, texts[tenant_id])
        found |= {(tenant_id, text): id_ for text, id_ in ids.items()}
    return found


async def edit_graph(
    conn: Connection, job: StoredJob, kind: object, graph: object, *, keep: object
) -> int | None:
    """Return the number of a job's definition after an edit. Kind and graph must match."""
    had = job.graph_id is not None
    if graph is keep:
        if kind is not keep and kind == GRAPH_KIND and not had:
            raise InvalidInput("graph", None, GRAPH_REQUIRED)
        if kind is not keep and kind != GRAPH_KIND and had:
            raise InvalidInput("kind", kind, GRAPH_KEPT)
        return job.graph_id
    if kind is keep and graph is not None and not had:
        raise InvalidInput("graph", graph, KIND_REQUIRED)
    after = str(kind) if kind is not keep else GRAPH_KIND if had else ""
    text = render_graph(after, graph)
    if text is None:
        return None
    return (await intern_graphs(conn, [(job.tenant_id, text)]))[job.tenant_id, text]


class GraphNames(NamedTuple):
    kinds: frozenset[str]
    queues: frozenset[str]


def collect_graph_names(text: str) -> GraphNames:
    """Return the kinds and queues that the steps of a definition use, at any depth."""
    graphs_left: list[StepGraph] = [read_stored_graph(msgspec.json.decode(text))]
    kinds: set[str] = set()
    queues: set[str] = set()
    while graphs_left:
        for step in graphs_left.pop().steps:
            if step.graph is not None:
                graphs_left.append(step.graph)
            else:
                kinds.add(step.kind)
            if step.queue is not None:
                queues.add(step.queue)
            if step.map is not None and step.map.source is not None:
                kinds.add(step.map.source.kind)
    return GraphNames(frozenset(kinds), frozenset(queues))

"""Checks and stores what the definition of a job refers to: kinds, queues, graphs and calendars.

Names of queues and kinds are created within the tenant's quota (T1). All tenants share the names,
and every process caches their ids, so names are never removed. The quota bounds how many names a
tenant creates. An existing name costs one lookup; only new names are counted, by one caller at a
time.

Graphs: only jobs of kind `graph` have a definition (D6). core/graphs validates it; this module
checks that kind and definition match, and interns the definition as the number that jobs refer to.

Calendars: a tick that was computed with calendars is right as long as these do not change, so they
are locked until the tick is committed (S15). rescheduling.py moves stored ticks when one changes.

Guarantees: `exactly_once` is refused for kinds that cannot provide it, before a job is written
(E2). The rule is in core/guarantees.py. The workers that serve a kind have stored whether it can
complete runs in a transaction. A kind that no worker has described yet is accepted; its first
attempt decides (engine/execution).
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import msgspec

from rota.contract.graph import read_graph, read_stored_graph
from rota.contract.policy import read_stored_policy
from rota.contract.schedule import write_schedule
from rota.core.errors import InvalidInput, QuotaExceeded
from rota.core.graphs import to_graph_json
from rota.core.graphs.graph import GRAPH_KIND, StepGraph
from rota.core.guarantees import ExactlyOnceRequest, build_exactly_once_error, check_guarantee
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.core.quotas import Quotas
from rota.core.submissions import encode_canonical
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import Schedule
from rota.store import calendars, graphs, interning, kinds, tenant_locks
from rota.store.driver import Connection
from rota.store.jobs import StoredJob

GRAPH_REQUIRED: Final = f"a job of kind {GRAPH_KIND} requires a graph with steps"
KIND_REQUIRED: Final = f"a graph requires kind: {GRAPH_KIND}"
GRAPH_KEPT: Final = (
    f"the job has a graph; set graph: null to change its kind, or keep kind: {GRAPH_KIND}"
)

NameIds = dict[str, int]


class NameKind(NamedTuple):
    """How the names of queues or of kinds are found, created and counted."""

    plural: str
    quota: str
    find: Callable[[Connection, Iterable[str]], Awaitable[NameIds]]
    make: Callable[..., Awaitable[NameIds]]
    count_made: Callable[..., Awaitable[int]]


QUEUE_NAMES: Final = NameKind(
    "queues", "max_queues", interning.find_queues, interning.intern_queues, interning.count_queues
)
KIND_NAMES: Final = NameKind(
    "kinds", "max_kinds", interning.find_kinds, interning.intern_kinds, interning.count_kinds
)


class NameOwner(NamedTuple):
    """The tenant whose submission uses a name, and its quotas."""

    tenant_id: int
    quotas: Quotas


async def intern_names(
    conn: Connection, sort: NameKind, wanted: Mapping[str, NameOwner]
) -> NameIds:
    """Return the ids of names. Raise `QuotaExceeded` if a tenant would create too many."""
    found = await sort.find(conn, wanted)
    new: dict[int, list[str]] = {}
    for name, maker in wanted.items():
        if name not in found:
            new.setdefault(maker.tenant_id, []).append(name)
    quotas = {maker.tenant_id: maker.quotas for maker in wanted.values()}
    for tenant_id in sorted(new):
        await _check_quota(conn, sort, NameOwner(tenant_id, quotas[tenant_id]), new[tenant_id])
        found |= await sort.make(conn, new[tenant_id], created_by=tenant_id)
    return found


async def intern_name(conn: Connection, sort: NameKind, name: str, maker: NameOwner) -> int:
    return (await intern_names(conn, sort, {name: maker}))[name]


async def intern_queues(
    conn: Connection, wanted: Mapping[tuple[int, str], NameOwner]
) -> dict[tuple[int, str], int]:
    """Return the ids of queues by (tenant, name). Each is registered as one of its tenant's."""
    await intern_names(conn, QUEUE_NAMES, {name: maker for (_, name), maker in wanted.items()})
    return await interning.intern_tenant_queues(conn, wanted)


async def intern_graph_names(conn: Connection, graph: object, maker: NameOwner) -> None:
    """Create the names that the steps of a job's new definition use."""
    used = collect_graph_names(to_graph_json(read_graph(graph)))
    await intern_names(conn, KIND_NAMES, dict.fromkeys(used.kinds, maker))
    await intern_queues(conn, {(maker.tenant_id, name): maker for name in used.queues})


async def _check_quota(
    conn: Connection, sort: NameKind, maker: NameOwner, new: Collection[str]
) -> None:
    limit = maker.quotas.find_limit(sort.quota)
    if limit is None:
        return
    await tenant_locks.lock_resource(conn, tenant_id=maker.tenant_id, resource=sort.plural)
    there: Any = await sort.count_made(conn, tenant_id=maker.tenant_id)
    if there + len(new) > limit:
        usage = f"it has created {there} {sort.plural} and the request adds {len(new)}"
        raise QuotaExceeded(sort.quota, limit, f"{usage}; use an existing name")


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
    kind_names: set[str] = set()
    queue_names: set[str] = set()
    while graphs_left:
        for step in graphs_left.pop().steps:
            if step.graph is not None:
                graphs_left.append(step.graph)
            else:
                kind_names.add(step.kind)
            if step.queue is not None:
                queue_names.add(step.queue)
            if step.map is not None and step.map.source is not None:
                kind_names.add(step.map.source.kind)
    return GraphNames(frozenset(kind_names), frozenset(queue_names))


def render_shared_schedule(schedule: Schedule, tenant_id: int) -> str:
    """Return the canonical form, by which schedules are interned. Jobs of all tenants share these
    forms, so calendar names are qualified with the tenant.
    """
    names = tuple(calendars.qualify_name(tenant_id, name) for name in schedule.calendars)
    return encode_canonical(write_schedule(replace(schedule, calendars=names)))


async def lock_calendars(
    conn: Connection,
    tenant_id: int,
    schedules: Iterable[Schedule | None],
    known: Mapping[str, Calendar],
) -> None:
    """Lock the calendars of schedules, as the caller knows them, until the transaction ends."""
    used = {name for schedule in schedules if schedule is not None for name in schedule.calendars}
    if used:
        mine = {name: known[name] for name in sorted(used) if name in known}
        await calendars.lock_calendars(conn, tenant_id=tenant_id, known=mine)


def exactly_once_kinds(
    kind: str, policy: Policy, graph: object = None
) -> tuple[ExactlyOnceRequest, ...]:
    """Return the kinds of a job and its steps that must be exactly once. Refuse built-in kinds.

    The graph is parsed only if one of its steps may request exactly once.
    """
    mentions_it = graph is not None and Guarantee.EXACTLY_ONCE.value in str(graph)
    if policy.guarantee is not Guarantee.EXACTLY_ONCE and not mentions_it:
        return ()
    return tuple(check_guarantee(kind, policy, read_graph(graph) if mentions_it else None))


async def refuse_incapable_kinds(conn: Connection, wanted: Sequence[ExactlyOnceRequest]) -> None:
    """Refuse kinds whose workers reported that they cannot complete runs in a transaction."""
    if not wanted:
        return
    incapable = await kinds.find_without_exactly_once(conn, {use.kind for use in wanted})
    for use in wanted:
        if use.kind in incapable:
            raise build_exactly_once_error(use)


async def refuse_incapable_edit(
    conn: Connection, job: StoredJob, changed: Mapping[str, Any]
) -> None:
    """Refuse an edit of kind, policy or graph that the kind cannot support. Fields that the edit
    keeps are not checked, so a job of an earlier release can still be renamed or paused.
    """
    if not changed:
        return
    policy = changed.get("policy") or read_stored_policy(json.loads(job.policy))
    kind = changed.get("kind")
    if kind is None and policy.guarantee is Guarantee.EXACTLY_ONCE:
        kind = await kinds.read_name(conn, job.kind_id)
    wanted = exactly_once_kinds(kind or "", policy, changed.get("graph"))
    await refuse_incapable_kinds(conn, wanted)

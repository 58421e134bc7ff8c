"""Creates the names of queues and kinds that submissions use, within the tenant's quota (T1).

All tenants share the names, and every process caches their ids, so names are never removed. The
quota bounds how many names a tenant creates. An existing name costs one lookup; only new names are
counted, by one caller at a time.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from rota.contract.graph import read_graph
from rota.core.errors import QuotaExceeded
from rota.core.graphs import to_graph_json
from rota.core.quotas import Quotas
from rota.engine.submission.graph_jobs import collect_graph_names
from rota.store import interning, tenant_locks
from rota.store.driver import Connection

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
        found |= await sort.make(conn, new[tenant_id], made_by=tenant_id)
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

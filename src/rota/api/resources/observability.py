"""Operations for tools that watch and scale Rota: scrape targets, and the demand of a queue."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.problems import ProblemError
from rota.api.schemas.cluster import AllTenantsQuery
from rota.api.schemas.observability import DemandView, TargetGroup
from rota.core.access import Permission
from rota.store import cluster_views, interning, metrics_queries, tenant_queues
from rota.store.cluster_views import ProcessRow

# The role of a process that has several: `rota up`.
ALL_ROLES_LABEL: Final = "up"
API_ROLE: Final = "api"
CLUSTER_LABELS: Final = {
    "role": "cluster",
    "instance": "cluster",
    "__metrics_path__": "/metrics/cluster",
}
SIMILAR_NAMES_MAX: Final = 3


@operation(
    "GET",
    "/v1/targets",
    tag="cluster",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=list[TargetGroup],
)
async def list_targets(call: Call) -> Reply:
    """List the processes to scrape, for `http_sd_configs` of Prometheus.

    Each live process whose observability listener is on is one group. The last group is the page of
    the cluster's metrics, in the API process that has been running longest, so that its series
    exist once.
    """
    return Reply(build_targets(await cluster_views.list_processes(call.conn)))


def build_targets(rows: Sequence[ProcessRow]) -> list[TargetGroup]:
    """Build the groups of the processes, the oldest first, and the group of the cluster."""
    groups = [
        TargetGroup(
            targets=[urlsplit(row.observe_url).netloc],
            labels={
                "role": row.roles[0] if len(row.roles) == 1 else ALL_ROLES_LABEL,
                "version": row.version or "unknown",
                "process": row.name,
            },
        )
        for row in rows
    ]
    oldest_api = next((row for row in rows if API_ROLE in row.roles), None)
    if oldest_api is not None:
        place = urlsplit(oldest_api.observe_url).netloc
        groups.append(TargetGroup(targets=[place], labels=CLUSTER_LABELS))
    return groups


@operation(
    "GET",
    "/v1/queues/{queue}/demand",
    tag="queues",
    permission=Permission.READ,
    scope="either",
    query=AllTenantsQuery,
    answer=DemandView,
)
async def get_queue_demand(call: Call) -> Reply:
    """Get how many slots a queue could use, for an autoscaler.

    The demand is the number of ready and running runs, and of those that become ready within 60
    seconds. It covers your tenant; with a platform key all tenants, unless `all_tenants=false`. An
    unknown queue is an error, because a demand of 0 would remove its workers.
    """
    name = call.params["queue"]
    tenant_id = None if call.is_for_all_tenants else call.tenant_id
    if tenant_id is None:
        queue_id = await interning.find_queue(call.conn, name)
    else:
        queue_id = await tenant_queues.find_queue(call.conn, tenant_id=tenant_id, name=name)
    found = None
    if queue_id is not None:
        found = await metrics_queries.read_queue_demand(
            call.conn, queue_id=queue_id, tenant_id=tenant_id
        )
    if found is None:
        raise ProblemError("not_found", await explain_unknown_queue(call, name))
    return Reply(
        DemandView(
            queue=found.queue,
            demand=found.total,
            ready=found.ready,
            running=found.running,
            upcoming=found.upcoming,
        )
    )


async def explain_unknown_queue(call: Call, name: str) -> str:
    """Name the queues with similar names."""
    rows = await cluster_views.list_queues(
        call.conn, tenant_id=call.tenant_id, all_tenants=call.is_for_all_tenants
    )
    names = sorted(row.name for row in rows)
    similar = get_close_matches(name, names, n=SIMILAR_NAMES_MAX)
    if similar:
        return f"queue {name} not found; did you mean {' or '.join(similar)}?"
    return f"queue {name} not found; list the queues with GET /v1/queues"

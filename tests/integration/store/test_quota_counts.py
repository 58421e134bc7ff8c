"""Counting what a tenant has reads no more than its quota, however much there is (T1)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.world import World

from rota.core.limits import GateLimits
from rota.store import tenants
from rota.store.gates import NewGate, put_gates
from rota.store.ordered_scan import ordered_scan
from rota.store.row_level_security import tenant_scope
from rota.store.tenants import COUNT_JOBS, COUNT_QUEUED

QUOTA = 100


@pytest.fixture
async def crowded(world: World) -> World:
    """Two tenants with many waiting runs and jobs."""
    await tenants.create_tenant(world.conn, name="acme")
    job = await world.job()
    for tenant_id in (1, 2):
        await world.runs(5_000, tenant_id=tenant_id, job_id=job)
        gate = await put_gates(world.conn, [NewGate(tenant_id, "key:a", GateLimits(max_running=1))])
        gates = tuple(gate.values())
        await world.runs(60, tenant_id=tenant_id, job_id=job, gates=gates)
        await world.conn.execute(
            "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id, priority,"
            " overlap, guarantee, labels) select gen_random_uuid(), $1, 'many ' || n, kind_id,"
            " queue_id, policy_id, priority, overlap, guarantee, labels"
            " from rota.jobs, generate_series(1, 5000) as n where id = $2",
            tenant_id,
            job,
        )
    await world.conn.execute("analyze rota.live_runs, rota.jobs, rota.queues")
    return world


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


@pytest.mark.parametrize(
    ("statement", "table"),
    [(COUNT_QUEUED, "live_runs"), (COUNT_JOBS, "jobs")],
    ids=["waiting runs", "jobs"],
)
async def test_a_count_stops_at_the_quota(crowded: World, statement: Any, table: str) -> None:
    conn = crowded.conn

    async with tenant_scope(conn, 2), ordered_scan(conn):
        row = await statement.one(conn, tenant_id=2, most=QUOTA)
        await conn.execute(f"prepare counting as {statement.text}")
        values = {"tenant_id": 2, "most": QUOTA}
        given = ", ".join(str(values[name]) for name in statement.parameters)
        told = await conn.fetchval(f"explain (analyze, format json) execute counting({given})")

    read = [node for node in nodes(json.loads(told)[0]["Plan"]) if node.get("Relation Name")]
    mine = [node for node in read if node["Relation Name"] == table]
    rows = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in mine
    )
    assert row.number == QUOTA
    assert {node["Node Type"] for node in mine} <= {"Index Scan", "Index Only Scan"}
    assert rows == QUOTA


async def test_runs_that_wait_behind_gates_count_like_the_others(crowded: World) -> None:
    conn = crowded.conn
    await conn.execute("delete from rota.live_runs where tenant_id = 2 and gates is null")
    await crowded.runs(7, tenant_id=2)

    async with tenant_scope(conn, 2):
        assert await tenants.count_queued(conn, tenant_id=2, limit=QUOTA) == 67
        assert await tenants.count_queued(conn, tenant_id=2, limit=63) == 63
        assert await tenants.count_queued(conn, tenant_id=1, limit=QUOTA) == 0

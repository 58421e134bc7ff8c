"""Jobs are found by their ids, also behind the wall where all of them are in one state."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from tests.integration.store.test_view_plans import connected, literal, nodes
from tests.support.databases import clone_url, drop

from rota.store import graph_views, interning, jobs, live_runs, wait_explanations
from rota.store.embedded import Embedded
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.statement import Statement

JOBS = 3_000
JOB = UUID(int=7)
AT = "2026-07-01T00:00:00Z"
RUN = {
    "id": UUID(int=1),
    "due_at": AT,
    "trigger": "api",
    "priority": None,
    "payload": None,
    "one_by_one": [],
}
STATEMENTS: dict[str, tuple[Statement[Any], dict[str, object]]] = {
    "read": (jobs.READ, {"ids": [JOB]}),
    "lock": (jobs.LOCK, {"ids": [JOB]}),
    "make a run": (live_runs.INSERT_ONE, {**RUN, "job_id": JOB}),
    "explain": (wait_explanations.READ_JOB, {"job_id": JOB, "tenant_id": 1}),
    "by name": (jobs.FIND_JOBS_BY_NAME, {"names": ["job 7"], "tenant_id": 1}),
    "is taken": (jobs.TAKEN, {"names": ["job 7"], "tenant_ids": [1]}),
    "its graph": (graph_views.OF_JOB, {"job_id": JOB, "tenant_id": 1}),
}


@pytest.fixture(scope="module")
def filled(server: Embedded) -> Iterator[str]:
    url = asyncio.run(clone_url(server.url))
    asyncio.run(fill(url))
    yield url
    asyncio.run(drop(server.url, url))


async def fill(url: str) -> None:
    async with open_connection(DatabaseAccess(url=url, name="test")) as conn:
        await interning.intern_policies(conn, [json.dumps({})])
        await conn.execute("insert into rota.kinds (name) values ('k')")
        await conn.execute(
            "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id)"
            " select lpad(to_hex(n), 32, '0')::uuid, 1, 'job ' || n, 1, 1, 1"
            f" from generate_series(1, {JOBS}) as n"
        )
        await conn.execute("analyze rota.jobs")


@pytest.mark.parametrize("name", STATEMENTS)
async def test_a_job_is_found_without_looking_at_the_others(filled: str, name: str) -> None:
    statement, given = STATEMENTS[name]
    async with connected(filled, 1, walled=True) as conn:
        await conn.execute("set local plan_cache_mode = force_generic_plan")
        await conn.execute(f"prepare found as {statement.text}")
        values = ", ".join(map(literal, statement._bind(given)))
        rows = await conn.fetch(f"explain (analyze, format json) execute found({values})")
        await conn.execute("deallocate found")
    plan = nodes(json.loads(rows[0][0])[0]["Plan"])

    read = [node for node in plan if node.get("Relation Name") == "jobs"]
    assert read
    assert max(node.get("Rows Removed by Filter", 0) for node in read) == 0

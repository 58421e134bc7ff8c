"""Lists of one-time submissions walk their indexes and read no more than they show (P6).

Each walk is explained and executed in the generic form that it is kept in, as the owner and behind
the wall between tenants, for the tenant that has most of the submissions and for one that has none.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.integration.store.test_view_plans import connected, explain, read_from
from tests.support.databases import clone_url, drop

from rota.store import partitions, submission_views
from rota.store.driver import Connection
from rota.store.embedded import Embedded
from rota.store.job_views import JobActivity, JobFilter
from rota.store.ordered_scan import SCAN_ROWS_MAX
from rota.store.pool import DatabaseAccess, open_connection

DAY = date(2026, 7, 1)
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
LARGEST, NOBODY = 1, 77
LIMIT = 50
# How many rows each table has.
FILLED = 20_000
LISTS = {
    "all": (JobFilter(), {"scheduled_runs", "live_runs", "runs_"}),
    "pending": (JobFilter(doing=frozenset({JobActivity.PENDING})), {"scheduled_runs", "live_runs"}),
    "pending of a user": (
        JobFilter(user_id="u003", doing=frozenset({JobActivity.PENDING})),
        {"scheduled_runs", "live_runs"},
    ),
    "running of a user": (JobFilter(user_id="u003", doing=frozenset({JobActivity.RUNNING})), set()),
}


@pytest.fixture(scope="module")
def filled(server: Embedded) -> Iterator[str]:
    url = asyncio.run(clone_url(server.url))
    asyncio.run(fill(url))
    yield url
    asyncio.run(drop(server.url, url))


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
@pytest.mark.parametrize("tenant_id", [LARGEST, NOBODY], ids=["largest tenant", "empty tenant"])
@pytest.mark.parametrize("name", LISTS)
async def test_a_list_of_submissions_reads_what_it_shows(
    filled: str, name: str, tenant_id: int, walled: bool
) -> None:
    chosen, tables = LISTS[name]
    async with connected(filled, tenant_id, walled=walled) as conn:
        conditions = await submission_views._conditions(conn, chosen, None)
        assert conditions is not None
        walk, more = submission_views.SCAN, {}
        if chosen.user_id is not None:
            walk, more = submission_views.SCAN_USER, {"user_id": chosen.user_id}
        arguments: dict[str, Any] = {
            "tenant_id": tenant_id,
            "most": LIMIT + 1,
            "look": SCAN_ROWS_MAX,
        }

        plan = await explain(conn, walk, arguments | conditions | more)

    scans = [node["Relation Name"] for node in plan if node["Node Type"] == "Seq Scan"]
    assert scans == []
    for table in ("scheduled_runs", "runs_"):
        shown = LIMIT + 1 if tenant_id == LARGEST and table in tables else 0
        # Each partition is asked for its newest.
        assert shown <= read_from(plan, table) <= shown + 3
    if name == "pending of a user":
        assert read_from(plan, "live_runs") <= LIMIT + 1


async def fill(url: str) -> None:
    async with open_connection(
        DatabaseAccess(url=url, statement_timeout=timedelta(minutes=1))
    ) as conn:
        await partitions.create_ahead(conn, today=DAY, ahead=1)
        await fill_table(
            conn,
            "scheduled_runs (id, due_at, created_at, tenant_id, queue_id, kind_id, policy_id,"
            " priority, guarantee, user_id, shard)",
            "id, at + interval '1 day', at, 1, 1, 1, 1, 5, 'at_least_once'::rota.guarantee,"
            " user_id, n % 128",
        )
        await fill_table(
            conn,
            "live_runs (id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id,"
            " queue_id, kind_id, policy_id, job_version, state, trigger, priority, guarantee,"
            " user_id)",
            "id, id, at, at, at, at, 1, 1, 1, 1, 1, 'queued'::rota.run_state,"
            " 'api'::rota.run_trigger, 5, 'at_least_once'::rota.guarantee, user_id",
        )
        await fill_table(
            conn,
            "runs (id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id,"
            " queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,"
            " user_id)",
            "id, id, at, at, at, at, 1, 1, 1, 1, 1, 'succeeded'::rota.run_state,"
            " 'running'::rota.run_state, 'api'::rota.run_trigger, 5, user_id",
        )
        await conn.execute("analyze")


async def fill_table(conn: Connection, into: str, columns: str) -> None:
    """Rows of one second each before noon, of ten users."""
    await conn.execute(
        f"""
        insert into rota.{into}
        select {columns}
        from generate_series(1, {FILLED}) as n,
            lateral (
                select
                    $1::timestamptz - n * interval '1 s' as at,
                    'u' || lpad((n % 10)::text, 3, '0') as user_id
            ) as given,
            lateral (
                select (
                    lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
                    || substr(md5('{into[:3]}' || n::text), 1, 20)
                )::uuid as id
            ) as named
        """,
        NOON,
    )

"""The hot statements keep their plans: index walks, no scan, no hash, no sort (P1, P4).

Each is explained on a table that is empty, on one that was filled and never analysed, and on one
that is large and fresh, in the generic form that a prepared statement ends up with.
"""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from rota.store import backfills, cursors, graph_maps, graphs, live_runs, sessions, submissions
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.sessions import NewSession, SessionRole
from rota.store.statement import Statement

NOW = datetime(2026, 7, 1, tzinfo=UTC)
HELD = {"live_runs_held", "live_runs_unfolded"}
LARGE = {
    *("rota.live_runs", "rota.cursors", "rota.runs", "rota.jobs", "rota.graph_runs"),
    "rota.scheduled_runs",
}

HOT_STATEMENTS: dict[str, tuple[Statement[Any], set[str]]] = {
    "claim": (live_runs.CLAIM, {"live_runs_waiting"}),
    "survey": (live_runs.SURVEY, {"live_runs_waiting"}),
    "survey of tenants": (live_runs.SURVEY_TENANTS, {"live_runs_waiting"}),
    "finish": (live_runs.FINISH, {"live_runs_pkey"}),
    "put back": (live_runs.PUT_BACK, {"live_runs_pkey"}),
    "cancel": (live_runs.CANCEL, {"live_runs_pkey"}),
    "reclaim": (live_runs.RECLAIM, {"live_runs_held", "live_runs_pkey"}),
    "beat": (sessions.HEARTBEAT, {"sessions_pkey", "live_runs_held"}),
    "due": (cursors.READ_DUE, {"cursors_due"}),
    "fire": (cursors.FIRE, {"cursors_pkey", "live_runs_of_job", "live_runs_held"}),
    "fire over": (
        cursors.FIRE_OVER,
        {"cursors_pkey", "live_runs_of_job", "live_runs_held", "live_runs_pkey"},
    ),
    "move": (cursors.MOVE, {"cursors_pkey"}),
    "next due": (submissions.READ_NEXT_DUE, {"scheduled_runs_due"}),
    "move due": (submissions.MOVE_DUE, {"scheduled_runs_due", "scheduled_runs_pkey"}),
    "ends": (cursors.READ_LAST_ENDS, {"live_runs_of_job", "live_runs_held"}),
    "unfold": (graphs.EXPAND, {"live_runs_pkey", "jobs_pkey"}),
    "lock graph runs": (graphs.LOCK, {"graph_runs_rest_pkey", "live_runs_pkey"}),
    "take marks": (graphs.TAKE_COMPLETIONS, {"step_marks_pkey"}),
    "find marks": (graphs.FIND_COMPLETED, {"step_marks_pkey"}),
    "begin steps": (graphs.INSERT_STEPS, {"live_runs_pkey"}),
    "store boards": (graphs.STORE_STEP_STATES, {"graph_runs_rest_pkey"}),
    "finish graph runs": (graphs.FINISH, {"live_runs_pkey"}),
    "results": (graphs.RESULTS, {"runs_rest_tenant_id_id_idx"}),
    "inputs": (graphs.INPUTS, {"live_runs_pkey", "jobs_pkey"}),
    "live steps": (graphs.LIVE_STEPS, {"live_runs_of_graph"}),
    "count members": (graph_maps.ADD, {"graph_maps_rest_pkey"}),
    "make members": (graph_maps.MAKE, {"graph_maps_rest_pkey", "live_runs_pkey"}),
    "items": (graph_maps.TAKE_ITEMS, {"graph_items_rest_pkey"}),
    "results of members": (graph_maps.RESULTS, {"runs_rest_tenant_id_id_idx"}),
    "bad members": (graph_maps.BAD, {"runs_rest_id_idx"}),
    "live members": (graph_maps.ALIVE, set()),
    "revive members": (graph_maps.REVIVE, {"runs_rest_tenant_id_id_idx"}),
    "hand out": (graph_maps.HAND_OUT, {"graph_maps_rest_pkey", "live_runs_pkey"}),
    "settle a backfill": (backfills.SETTLE, {"backfill_runs_pkey", "live_runs_pkey"}),
    "waiting runs of a backfill": (backfills.WAITING, {"live_runs_pkey"}),
    "what became of ticks": (backfills.STANDING, {"live_runs_pkey"}),
    "hold": (sessions.HOLD, {"shards_pkey"}),
    "renew": (sessions.RENEW, {"shards_pkey"}),
}
# What schedulers and upkeep do, which the role of a worker has no right to.
NOT_FOR_WORKERS = {
    *("fire", "fire over", "move", "move due", "hold", "renew"),
    *("settle a backfill", "waiting runs of a backfill"),
}
CONDITIONS = ("empty", "filled and never analysed", "large and fresh")


@pytest.fixture(params=CONDITIONS)
async def hot(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Connection]:
    access = DatabaseAccess(url=database, statement_timeout=timedelta(minutes=1))
    async with open_connection(access) as conn:
        await conn.execute("alter table rota.live_runs set (autovacuum_enabled = off)")
        await conn.execute("alter table rota.cursors set (autovacuum_enabled = off)")
        await conn.execute("alter table rota.scheduled_runs set (autovacuum_enabled = off)")
        if request.param != "empty":
            await fill(conn)
        if request.param == "large and fresh":
            await conn.execute("analyze")
    async with open_connection(access, hot=True) as conn:
        yield conn


async def test_every_hot_statement_walks_its_indexes(hot: Connection) -> None:
    """For the owner, and for the roles of processes, which row-level security concerns."""
    for role in ("rota", "rota_service", "rota_worker"):
        await hot.execute(f"set role {role}")
        for name, (statement, indexes) in HOT_STATEMENTS.items():
            if role == "rota_worker" and name in NOT_FOR_WORKERS:
                continue
            plan = await explain(hot, statement)

            used = {node["Index Name"] for node in plan if "Index Name" in node}
            assert indexes <= used, f"{name} as {role} uses {used}"
            assert not list(forbidden(plan)), f"{name} as {role}: {list(forbidden(plan))}"


async def test_a_claim_reads_no_more_than_it_takes(hot: Connection) -> None:
    waiting = await hot.fetchval("select count(*) from rota.live_runs where state = 'queued'")
    session = NewSession(id=uuid4(), role=SessionRole.WORKER, name="test")
    await sessions.open_session(hot, session, ttl=timedelta(hours=1))
    arguments = live_runs.CLAIM._bind(
        {
            "session_id": session.id,
            "queue_id": 1,
            "kind_ids": [1],
            "tenant_ids": [1, 2],
            "priorities": [5, 5],
            "lows": [NOW - timedelta(days=1)] * 2,
            "low_ids": [uuid4()] * 2,
            "shares": [10, 10],
            "room": 15,
            "ahead": timedelta(0),
        }
    )
    rows = await hot.fetch(f"explain (analyze, format json) {live_runs.CLAIM.text}", *arguments)
    plan = list(nodes(json.loads(rows[0][0])[0]["Plan"]))

    walked = [n for n in plan if n.get("Index Name") == "live_runs_waiting"]
    read = sum(n["Actual Rows"] * n["Actual Loops"] for n in walked)
    assert read == (15 if waiting else 0)


def forbidden(plan: list[dict[str, Any]]) -> Iterator[str]:
    for node in plan:
        kind = node["Node Type"]
        table = f"{node.get('Schema')}.{node.get('Relation Name')}"
        if kind in {"Hash Join", "Merge Join"}:
            yield kind
        if kind == "Seq Scan" and table in LARGE:
            yield f"{kind} on {table}"
        # An index without a condition is a scan of the whole table in another order. Only the
        # indexes of the runs that somebody holds are meant to be read as a whole.
        whole = "Index Cond" not in node and node.get("Index Name") not in HELD
        if kind in {"Index Scan", "Index Only Scan"} and table in LARGE and whole:
            yield f"all of {node['Index Name']}"


async def explain(conn: Connection, statement: Statement[Any]) -> list[dict[str, Any]]:
    nothing = ", ".join("null" for _ in statement.parameters)
    name = statement.name.replace("/", "_")
    await conn.execute(f"prepare {name} as {statement.text}")
    rows = await conn.fetch(f"explain (verbose, format json) execute {name}({nothing})")
    await conn.execute(f"deallocate {name}")
    return list(nodes(json.loads(rows[0][0])[0]["Plan"]))


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


async def fill(conn: Connection) -> None:
    """50,000 waiting runs of 50 tenants, 2,000 running ones, 50,000 jobs with their cursors, and
    50,000 submissions to come.
    """
    await conn.execute(
        """
        insert into rota.live_runs (
            id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, trigger, priority, guarantee
        )
        select gen_random_uuid(), gen_random_uuid(), at, at, at, at, n % 50 + 1, 1, 1, 1, 1,
            'queued', 'tick', 5, 'at_least_once'
        from generate_series(1, 52000) as n, (select $1::timestamptz as at) as clock
        """,
        NOW,
    )
    await conn.execute(
        "update rota.live_runs set state = 'running', session_id = gen_random_uuid()"
        " where id in (select id from rota.live_runs limit 2000)"
    )
    await conn.execute(
        """
        insert into rota.cursors (
            job_id, tick_at, fire_at, version, tenant_id, queue_id, kind_id, policy_id, overlap,
            shard, priority, guarantee
        )
        select gen_random_uuid(), at, at + n * interval '1 s', 1, 1, 1, 1, 1, 'skip', n % 128, 5,
            'at_least_once'
        from generate_series(1, 50000) as n, (select $1::timestamptz as at) as clock
        """,
        NOW,
    )
    await conn.execute(
        "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id)"
        " select job_id, 1, job_id::text, 1, 1, 1 from rota.cursors"
    )
    await conn.execute(
        """
        insert into rota.scheduled_runs (
            tenant_id, id, shard, due_at, queue_id, kind_id, policy_id, priority, guarantee
        )
        select n % 50 + 1, gen_random_uuid(), n % 128, at + n * interval '1 s', 1, 1, 1, 5,
            'at_least_once'
        from generate_series(1, 50000) as n, (select $1::timestamptz as at) as clock
        """,
        NOW,
    )

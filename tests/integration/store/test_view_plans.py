"""Lists walk their indexes and read no more than they show, however long history is (P6).

Each walk is explained and executed in the generic form that it is kept in, on 200,000 runs of five
days, as the owner and behind the wall between tenants, for the tenant that has most of the runs and
for one that has none.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.databases import clone_url, drop

from rota.core.states import DEAD_LETTER_STATES, JobState, RunState
from rota.store import job_views, partitions, requeue, run_views, tasks
from rota.store.driver import Connection
from rota.store.embedded import Embedded
from rota.store.job_views import JobActivity, JobFilter
from rota.store.metrics_queries import first_id_of_endings
from rota.store.ordered_scan import SCAN_ROWS_MAX, ordered_scan
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.row_level_security import tenant_scope
from rota.store.run_views import RunListFilter
from rota.store.statement import Statement

FIRST_DAY = date(2026, 7, 1)
DAYS = 5
JOB = UUID("e4da3b7f-bbce-2345-d777-2b0674a318d5")  # md5('5')
LARGEST, NOBODY = 1, 77
FULL = {f"runs_{FIRST_DAY + timedelta(days=day):%Y%m%d}" for day in range(DAYS)}
LIMIT = 50

LISTS: dict[str, RunListFilter] = {
    "all": RunListFilter(),
    "of a job": RunListFilter(job_id=JOB),
    "succeeded": RunListFilter(states=frozenset({RunState.SUCCEEDED})),
    "dead letters": RunListFilter(states=DEAD_LETTER_STATES),
    "of a day": RunListFilter(
        created_after=datetime(2026, 7, 2, tzinfo=UTC),
        created_before=datetime(2026, 7, 3, tzinfo=UTC),
    ),
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
async def test_a_list_of_runs_reads_what_it_shows(
    filled: str, name: str, tenant_id: int, walled: bool
) -> None:
    async with connected(filled, tenant_id, walled=walled) as conn:
        conditions = await run_views._conditions(conn, LISTS[name], None)
        assert conditions is not None
        walk, more = run_views._choose_scan(LISTS[name])
        arguments = (
            conditions | more | {"tenant_id": tenant_id, "most": LIMIT + 1, "look": SCAN_ROWS_MAX}
        )

        plan = await explain(conn, walk, arguments)

    assert not list(forbidden(plan))
    shown = LIMIT + 1 if tenant_id == LARGEST else 0
    # A partition is asked for its next run before it is known whose is the newest. A job's runs
    # are found by their job, and then left out if they are another tenant's.
    most = shown + DAYS + 2 if LISTS[name].job_id is None else 200
    assert shown <= read_from(plan, "runs_") <= most


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_the_latest_runs_are_one_step_each(filled: str, walled: bool) -> None:
    arguments = {"tenant_id": LARGEST, "job_ids": [JOB], "from_id": run_views.FIRST_ID}

    async with connected(filled, LARGEST, walled=walled) as conn:
        plan = await explain(conn, run_views.LATEST, arguments)

    # The few that are found are sorted by their job.
    assert [each for each in forbidden(plan) if not each.startswith("Sort")] == []
    assert read_from(plan, "runs_") <= DAYS + 2


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_outcomes_of_a_job_read_what_they_show(filled: str, walled: bool) -> None:
    arguments = {"tenant_id": LARGEST, "job_ids": [JOB], "from_id": run_views.FIRST_ID}

    async with connected(filled, LARGEST, walled=walled) as conn:
        plan = await explain(conn, run_views.OUTCOMES, arguments)

    # The few that run are sorted by their job.
    assert [each for each in forbidden(plan) if not each.startswith("Sort")] == []
    assert read_from(plan, "runs_") <= 20 + DAYS + 2


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_groups_of_dead_letters_read_dead_letters_only(filled: str, walled: bool) -> None:
    arguments = {
        "tenant_id": LARGEST,
        "since": datetime(2026, 7, 1, tzinfo=UTC),
        "until": datetime(2026, 8, 1, tzinfo=UTC),
        "job_id": None,
        "kind_id": None,
        "fingerprint": None,
        "most": 50,
        "look": run_views.GROUPED_MAX,
    }

    async with connected(filled, LARGEST, walled=walled) as conn:
        bad = await conn.fetchval(
            "select count(*) from rota.runs where state = 'dead' and tenant_id = $1", LARGEST
        )
        plan = await explain(conn, run_views.DEAD_GROUPS, arguments)

    # What was found is sorted to be grouped.
    sorts = ("Sort", "Incremental Sort")
    assert [each for each in forbidden(plan) if not each.startswith(sorts)] == []
    assert read_from(plan, "runs_") <= bad + 2


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_an_action_on_a_group_reads_dead_letters_only(filled: str, walled: bool) -> None:
    nothing = dict.fromkeys(("job_id", "queue", "error", "since", "until"))
    group = {"kind": "noop", "fingerprint": "0123456789abcdef"}
    bounds = {"tenant_id": LARGEST, "most": 100_001, "batch": 1_000}

    async with connected(filled, LARGEST, walled=walled) as conn:
        bad = await conn.fetchval(
            "select count(*) from rota.runs where state = 'dead' and tenant_id = $1", LARGEST
        )
        plan = await explain(conn, requeue.FIND_DEAD, nothing | group | bounds)

    assert [each for each in forbidden(plan) if not each.startswith("Sort")] == []
    assert read_from(plan, "runs_") <= bad + 2


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
@pytest.mark.parametrize("tenant_id", [LARGEST, NOBODY], ids=["largest tenant", "empty tenant"])
async def test_the_list_of_tasks_reads_the_newest_runs_only(
    filled: str, tenant_id: int, walled: bool
) -> None:
    since = datetime(2026, 7, 5, 23, tzinfo=UTC)
    arguments = {"tenant_id": tenant_id, "since": since, "most": 500}
    arguments["from_id"] = first_id_of_endings(since)

    async with connected(filled, tenant_id, walled=walled) as conn:
        plan = await explain(conn, tasks.COUNT_ENDED, arguments)

    shown = 500 if tenant_id == LARGEST else 0
    assert "Seq Scan" not in {node["Node Type"] for node in plan}
    assert shown <= read_from(plan, "runs_") <= shown + DAYS + 2


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
@pytest.mark.parametrize("tenant_id", [LARGEST, NOBODY], ids=["largest tenant", "empty tenant"])
async def test_the_load_of_tasks_is_counted_up_to_its_bound(
    filled: str, tenant_id: int, walled: bool
) -> None:
    arguments = {"tenant_id": tenant_id, "most": 500}

    async with connected(filled, tenant_id, walled=walled) as conn:
        plan = await explain(conn, tasks.COUNT_LIVE, arguments)

    shown = 500 if tenant_id == LARGEST else 0
    # All that workers hold is read: there is never more of it than they have slots.
    assert read_from(plan, "live_runs") <= shown + 2000
    assert read_from(plan, "scheduled_runs") == shown


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
@pytest.mark.parametrize(
    ("chosen", "most_read"),
    [
        (JobFilter(), LIMIT + 1),
        (JobFilter(user_id="u003", doing=frozenset({JobActivity.PENDING})), LIMIT + 1),
        (JobFilter(states=frozenset({JobState.FINISHED})), 2 * (LIMIT + 1)),
    ],
    ids=["all", "pending of a user", "finished"],
)
async def test_a_list_of_jobs_reads_what_it_shows(
    filled: str, chosen: JobFilter, most_read: int, walled: bool
) -> None:
    walk, more = job_views._choose_scan(chosen)
    arguments = {"tenant_id": LARGEST, "queue_id": None, "kind_id": None, "most": LIMIT + 1}
    arguments |= job_views._conditions(chosen, None) | more

    async with connected(filled, LARGEST, walled=walled) as conn:
        plan = await explain(conn, walk, arguments)

    assert not list(forbidden(plan))
    assert LIMIT < read_from(plan, "jobs") <= most_read


async def test_a_walk_leaves_the_settings_as_they_were(filled: str) -> None:
    async with connected(filled, LARGEST, walled=True) as conn:
        for _ in range(2):
            await run_views.list_runs(conn, tenant_id=LARGEST, filter=RunListFilter())

        assert await conn.fetchval("select current_setting('enable_sort')") == "on"
        assert await conn.fetchval("select current_setting('plan_cache_mode')") == "auto"


@asynccontextmanager
async def connected(url: str, tenant_id: int, *, walled: bool) -> AsyncIterator[Connection]:
    async with AsyncExitStack() as stack:
        conn = await stack.enter_async_context(open_connection(DatabaseAccess(url=url)))
        if walled:
            await stack.enter_async_context(tenant_scope(conn, tenant_id))
        yield conn


async def explain(
    conn: Connection, statement: Statement[Any], arguments: dict[str, Any]
) -> list[dict[str, Any]]:
    values = ", ".join(map(literal, statement._bind(arguments)))
    async with ordered_scan(conn):
        await conn.execute(f"prepare walk as {statement.text}")
        rows = await conn.fetch(f"explain (analyze, verbose, format json) execute walk({values})")
        await conn.execute("deallocate walk")
    return list(nodes(json.loads(rows[0][0])[0]["Plan"]))


def literal(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"'{{{','.join(map(str, value))}}}'"
    return f"'{value}'"


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def read_from(plan: list[dict[str, Any]], table: str) -> float:
    """How many rows were read from tables of that name, those left out included."""
    read: float = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in plan
        if node.get("Relation Name", "").startswith(table)
    )
    return read


def forbidden(plan: list[dict[str, Any]]) -> Iterator[str]:
    for node in plan:
        below = [each.get("Relation Name", "") for each in nodes(node)]
        if "Sort" in node["Node Type"] and any(name.startswith("runs_") for name in below):
            yield f"{node['Node Type']} of {below}"
        if node["Node Type"] == "Seq Scan":
            yield f"Seq Scan on {node['Relation Name']}"
        # The plan is kept: made for a large tenant, it must do for one that has nothing.
        if node.get("Relation Name", "") in FULL and "pkey" in node.get("Index Name", ""):
            yield f"all of {node['Index Name']}"


async def fill(url: str) -> None:
    """Most runs are one tenant's, one in a hundred is dead; 5,000 are alive, 2,000 of them held."""
    async with open_connection(
        DatabaseAccess(url=url, statement_timeout=timedelta(minutes=1))
    ) as conn:
        await fill_runs(conn)
        await fill_jobs(conn)
        await conn.execute("analyze")


async def fill_runs(conn: Connection) -> None:
    for day in range(DAYS):
        await partitions.create_ahead(conn, today=FIRST_DAY + timedelta(days=day + 1), ahead=0)
    await conn.execute(
        """
        insert into rota.runs (
            id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, left_state, trigger, priority, attempt
        )
        select
            (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
                || substr(md5(n::text), 1, 20))::uuid,
            md5((n % 1000)::text)::uuid, at, at, at, at, n % 10 / 8 + 1, 1, 1, 1, 1,
            (case when n % 101 = 0 then 'dead' else 'succeeded' end)::rota.run_state, 'running',
            'tick', 5, 1
        from generate_series(1, 200000) as n,
            lateral (select $1::timestamptz + n * interval '2.16 s' as at) as clock
        """,
        datetime(2026, 7, 1, tzinfo=UTC),
    )
    await conn.execute(
        """
        insert into rota.live_runs (
            id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, trigger, priority, guarantee
        )
        select
            (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
                || substr(md5(n::text), 1, 20))::uuid,
            md5((n % 1000)::text)::uuid, at, at, at, at, 1, 1, 1, 1, 1, 'queued', 'tick', 5,
            'at_least_once'
        from generate_series(1, 5000) as n,
            lateral (select $1::timestamptz - n * interval '1 ms' as at) as clock
        """,
        datetime(2026, 7, 1, tzinfo=UTC),
    )
    await conn.execute(
        "update rota.live_runs set state = 'running', session_id = gen_random_uuid(), attempt = 1,"
        " started_at = ready_at where id in (select id from rota.live_runs limit 2000)"
    )
    await conn.execute(
        "insert into rota.tenant_queues (tenant_id, queue_id) values ($1, 1)", LARGEST
    )
    await conn.execute(
        """
        insert into rota.scheduled_runs (
            tenant_id, id, shard, due_at, queue_id, kind_id, policy_id, priority, guarantee
        )
        select n % 10 / 8 + 1, gen_random_uuid(), 1, $1, 1, 1, 1, 5, 'at_least_once'
        from generate_series(1, 5000) as n
        """,
        datetime(2026, 7, 8, tzinfo=UTC),
    )


async def fill_jobs(conn: Connection) -> None:
    await conn.execute(
        """
        insert into rota.jobs (
            id, tenant_id, name, kind_id, queue_id, policy_id, user_id, state, created_at
        )
        select
            md5(n::text)::uuid, 1, n::text, 1, 1, 1, 'u' || lpad((n % 10)::text, 3, '0'),
            (case n % 2 when 0 then 'active' else 'finished' end)::rota.job_state,
            $1::timestamptz + n * interval '1 s'
        from generate_series(1, 20000) as n
        """,
        datetime(2026, 7, 1, tzinfo=UTC),
    )
    await conn.execute(
        """
        insert into rota.cursors (
            job_id, tick_at, fire_at, version, tenant_id, queue_id, kind_id, policy_id, overlap,
            shard, priority, guarantee
        )
        select id, created_at, created_at, 1, 1, 1, 1, 1, 'skip', 1, 5, 'at_least_once'
        from rota.jobs
        """
    )

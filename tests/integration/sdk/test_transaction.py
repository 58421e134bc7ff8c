"""Jobs that are handed in with the caller's own transaction (I3): there with it, or not at all."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import psycopg
import pytest
import sqlalchemy
from tests.support.owners import KINDS, NATIVE, Owner, settled
from tests.support.shop import until

from rota.core.errors import (
    InvalidInput,
    NameTaken,
    NotFound,
    QuotaExceeded,
    SchemaMismatch,
    StoreRefused,
    StoreUnavailable,
)
from rota.sdk.app import App
from rota.sdk.transaction import TransactionJob, in_transaction
from rota.sdk.transaction.drivers import add_text_casts
from rota.store import calendars
from rota.store.embedded import Embedded
from rota.store.statement import STATEMENTS

PAYLOAD: dict[str, Any] = {"to": "Zoë “x” \\ 'y'", "deep": [1, 2.5, None, True, {"a": []}]}
FIELDS: dict[str, Any] = {
    "name": "receipt",
    "kind": "send_receipt",
    "payload": PAYLOAD,
    "queue": "mail",
    "priority": "high",
    "retries": 5,
    "deadline": timedelta(hours=2),
    "labels": {"team": "shop"},
    "limits": [{"key": "customer:{args.to}", "max": 2}],
    "user_id": "zoe",
}
ON_DEMAND = {"on_demand": True}
ORDER = "insert into public.orders (id) values (1)"


@pytest.fixture
async def shared(conn: Any, database: str) -> str:
    """A database that Rota and an application share."""
    await conn.execute("create table public.orders (id integer primary key)")
    return database


@pytest.fixture(params=KINDS)
async def owner(request: Any, shared: str) -> AsyncIterator[Owner]:
    async with KINDS[request.param](shared) as opened:
        yield opened


@pytest.fixture(params=NATIVE)
async def native(request: Any, shared: str) -> AsyncIterator[Owner]:
    async with KINDS[request.param](shared) as opened:
        yield opened


async def create(owner: Owner, **fields: Any) -> TransactionJob:
    made: TransactionJob = await settled(in_transaction(owner.conn).create_job(**fields))
    return made


async def test_a_job_is_there_with_the_commit_and_never_was_after_a_rollback(
    owner: Owner, conn: Any
) -> None:
    await owner.execute(ORDER)
    await create(owner, name="receipt", kind="send_receipt")
    await owner.rollback()
    for table in ("rota.jobs", "rota.live_runs", "rota.audit", "public.orders"):
        assert await conn.fetchval(f"select count(*) from {table}") == 0

    await owner.execute(ORDER)
    made = await create(owner, **FIELDS)
    nightly = await create(
        owner, name="nightly", cron_expression="30 2 * * *", timezone="Asia/Tokyo"
    )
    before = await conn.fetchval("select count(*) from rota.live_runs")
    await owner.commit()

    assert before == 0
    assert await conn.fetchval("select count(*) from public.orders") == 1
    await assert_as_asked(conn, made)
    cursor = await conn.fetchrow("select job_id, tick_at from rota.cursors")
    assert (nightly.run_id, nightly.next_run_at) == (None, cursor["tick_at"])
    assert (cursor["tick_at"].hour, cursor["tick_at"].minute) == (17, 30)


async def test_jobs_are_due_by_the_clock_of_the_callers_database(owner: Owner, conn: Any) -> None:
    await owner.execute("set local rota.now = '2031-05-01T12:00:00Z'")
    await create(owner, name="now", kind="noop")
    await create(owner, name="later", kind="noop", schedule={"after": "3s"})
    await owner.commit()

    noon = datetime(2031, 5, 1, 12, tzinfo=UTC)
    assert await conn.fetchval("select due_at from rota.live_runs") == noon
    later = await conn.fetchval("select due_at from rota.scheduled_runs")
    assert later == noon + timedelta(seconds=3)


async def assert_as_asked(conn: Any, made: TransactionJob) -> None:
    """The submission is what the API would have made of the same fields."""
    run = await conn.fetchrow(
        "select l.*, q.name as queue, k.name as kind, p.body as policy from rota.live_runs l "
        "join rota.queues q on q.id = l.queue_id join rota.kinds k on k.id = l.kind_id "
        "join rota.policies p on p.id = l.policy_id where l.name = 'receipt'"
    )
    assert json.loads(run["payload"]) == PAYLOAD
    assert (run["queue"], run["kind"], run["priority"]) == ("mail", "send_receipt", 1)
    assert json.loads(run["labels"]) == {"team": "shop"}
    assert (run["user_id"], run["address"]) == ("zoe", "transaction")
    assert run["submitter"].startswith("role ")
    assert json.loads(run["policy"])["retries"]["max"] == 5
    assert made.job_id == f"job_{run['id'].hex}"
    assert made.run_id == f"run_{run['id'].hex}"
    assert run["state"] == "queued"
    assert run["deadline_at"] - run["due_at"] == timedelta(hours=2)
    assert len(run["gates"]) == 1


async def test_what_is_refused_leaves_the_transaction_usable(native: Owner, conn: Any) -> None:
    await native.execute(ORDER)
    await create(native, name="taken", schedule=ON_DEMAND)

    with pytest.raises(NameTaken, match="taken"):
        await create(native, name="taken", schedule=ON_DEMAND)
    for fields, said in (
        ({"name": ""}, "name: ''"),
        ({"kind": "x", "cron_expression": "61 * * * *"}, "schedule"),
        ({"kind": "x", "colour": "red"}, "colour: unknown field"),
        ({"kind": "x", "payload": object()}, "payload"),
        ({"kind": "x", "overlap": "never"}, "overlap: 'never'"),
        ({}, "name: required"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await create(native, **fields)
        assert said in str(refused.value)
        assert "jobs[0]" not in str(refused.value)
    with pytest.raises(NotFound, match="nobody"):
        await settled(in_transaction(native.conn, tenant="nobody").create_job(kind="x"))
    await native.commit()

    assert await conn.fetchval("select count(*) from rota.jobs") == 1
    assert await conn.fetchval("select count(*) from public.orders") == 1


async def test_lists_unique_keys_apps_calendars_and_quotas(native: Owner, conn: Any) -> None:
    await list_is_made_wholly_or_not_at_all(native, conn)
    await of_equal_unique_keys_one_becomes_a_job(native, conn)
    await job_of_an_app_is_submitted_with_its_arguments_checked(native, conn)
    await schedule_goes_by_a_calendar(native, conn)
    await quota_is_held(native, conn)


async def schedule_goes_by_a_calendar(native: Owner, conn: Any) -> None:
    feast = {"name": "feast", "yearly": ["12-25"]}
    await calendars.create_calendar(conn, tenant_id=1, plain=feast)
    plan = {"cron": "0 12 25 12 *", "calendars": ["feast"], "on_blackout": "defer"}

    made = await create(native, name="feast", schedule=plan)
    with pytest.raises(InvalidInput, match="no such calendar"):
        await create(native, kind="x", schedule=plan | {"calendars": ["fast"]})
    await native.commit()

    tick = await conn.fetchrow(
        "select tick_at, fire_at from rota.cursors where job_id = $1",
        UUID(made.job_id.removeprefix("job_")),
    )
    assert (tick["tick_at"].day, tick["fire_at"].day) == (25, 26)


async def quota_is_held(native: Owner, conn: Any) -> None:
    await conn.execute("""update rota.tenants set quotas = '{"max_jobs": 4, "max_queued": 1}'""")

    with pytest.raises(QuotaExceeded):
        await settled(
            in_transaction(native.conn).create_jobs(
                [{"kind": "x", "schedule": ON_DEMAND} for _ in range(9)]
            )
        )
    with pytest.raises(QuotaExceeded):
        await create(native, kind="x")
    await native.commit()
    await conn.execute("update rota.tenants set quotas = '{}'")


async def list_is_made_wholly_or_not_at_all(native: Owner, conn: Any) -> None:
    jobs = [{"name": f"job {number}", "kind": "x"} for number in range(3)]

    made = await settled(in_transaction(native.conn).create_jobs(jobs))
    with pytest.raises(InvalidInput, match=r"jobs\[1\].priority"):
        await settled(
            in_transaction(native.conn).create_jobs([{"kind": "y"}, {"kind": "y", "priority": 99}])
        )
    with pytest.raises(InvalidInput, match="0 jobs"):
        await settled(in_transaction(native.conn).create_jobs([]))
    await native.commit()

    assert [each.name for each in made] == ["job 0", "job 1", "job 2"]
    rows = await conn.fetch("select name from rota.live_runs order by name")
    assert [row[0] for row in rows] == ["job 0", "job 1", "job 2"]


async def of_equal_unique_keys_one_becomes_a_job(native: Owner, conn: Any) -> None:
    rule = {"key": "invoice:{args.id}"}
    first = await create(native, kind="x", payload={"id": 42}, unique=rule)
    second = await create(native, kind="x", payload={"id": 42}, unique=rule)
    await native.commit()

    assert (first.deduplicated, second.deduplicated) == (False, True)
    assert second.job_id == first.job_id
    assert await conn.fetchval("select count(*) from rota.unique_keys") == 1


async def test_of_two_who_take_a_name_at_once_the_later_is_refused_and_goes_on(
    shared: str, conn: Any
) -> None:
    async with KINDS["asyncpg"](shared) as first, KINDS["async psycopg"](shared) as later:
        await create(first, name="report", schedule=ON_DEMAND)
        await later.execute(ORDER)
        waiting = asyncio.create_task(create(later, name="report", schedule=ON_DEMAND))
        await until(lambda: conn.fetchval("select 1 from pg_locks where not granted"))
        await first.commit()
        with pytest.raises(NameTaken, match="report"):
            await waiting
        await later.commit()

    assert await conn.fetchval("select count(*) from rota.jobs") == 1
    assert await conn.fetchval("select count(*) from public.orders") == 1


async def test_a_connection_that_is_in_no_transaction_is_refused(shared: str, conn: Any) -> None:
    plain = await asyncpg.connect(shared)
    with psycopg.connect(shared, autocommit=True) as autocommit:
        engine = sqlalchemy.create_engine(
            "postgresql+psycopg://", creator=lambda: psycopg.connect(shared)
        )
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as careless:
            for refused in (plain, autocommit, careless):
                with pytest.raises(InvalidInput, match="expected an open transaction"):
                    await settled(in_transaction(refused).create_job(kind="x"))
        engine.dispose()
        with autocommit.pipeline(), pytest.raises(InvalidInput, match="pipeline mode"):
            in_transaction(autocommit).create_job(kind="x")
        with autocommit.transaction():
            in_transaction(autocommit).create_job(kind="x")
    await plain.close()
    for closed in (plain, autocommit):
        with pytest.raises(InvalidInput, match="a closed connection"):
            await settled(in_transaction(closed).create_job(kind="x"))

    assert await conn.fetchval("select count(*) from rota.live_runs") == 1


async def test_what_is_no_connection_is_refused_at_once() -> None:
    for wrong in (None, "postgresql://", object()):
        with pytest.raises(InvalidInput, match="a connection of asyncpg or psycopg"):
            in_transaction(wrong)  # type: ignore[call-overload]


async def test_a_driver_that_is_not_known_is_refused() -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as conn, pytest.raises(InvalidInput, match="SQLAlchemy over one of them"):
        in_transaction(conn).create_job(kind="x")
    engine.dispose()


async def test_a_server_that_goes_away_is_told_as_such(shared: str, conn: Any) -> None:
    for kind in NATIVE:
        async with KINDS[kind](shared) as owner:
            await owner.execute("select 1")
            await conn.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
            with pytest.raises((StoreUnavailable, InvalidInput)):
                await create(owner, kind="x")


async def test_every_statement_takes_all_of_its_values_as_text(schema: str) -> None:
    ours = await asyncpg.connect(schema)
    for statement in STATEMENTS.values():
        prepared = await ours.prepare(add_text_casts(statement.text))

        types = {parameter.name for parameter in prepared.get_parameters()}

        assert types <= {"text", "text[]"}, statement.name
    await ours.close()


async def test_a_transaction_that_failed_before_is_told_so(schema: str) -> None:
    with psycopg.connect(schema) as failed:
        with pytest.raises(psycopg.errors.UndefinedTable):
            failed.execute("table nothing")
        with pytest.raises(InvalidInput, match="roll it back first"):
            in_transaction(failed).create_job(kind="x")
        failed.rollback()
    ours = await asyncpg.connect(schema)
    await ours.execute("begin")
    with pytest.raises(asyncpg.UndefinedTableError):
        await ours.execute("table nothing")
    with pytest.raises(InvalidInput, match="roll it back first"):
        await in_transaction(ours).create_job(kind="x")
    await ours.close()


async def test_codecs_settings_and_isolation_of_the_caller_do_not_matter(
    shared: str, conn: Any
) -> None:
    ours = await asyncpg.connect(shared)
    for name in ("json", "jsonb"):
        await ours.set_type_codec(name, encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    await ours.execute(
        "set search_path = ''; set timezone = 'Asia/Tokyo'; set datestyle = 'SQL, DMY'"
    )
    async with ours.transaction(isolation="serializable"):
        await in_transaction(ours).create_job(name="one", kind="x", payload=PAYLOAD)
    await ours.execute("begin")  # by hand, which asyncpg's own transactions refuse
    await in_transaction(ours).create_job(name="two", kind="x", payload="text")
    await ours.execute("commit")
    await ours.close()
    with psycopg.connect(shared, row_factory=psycopg.rows.dict_row) as theirs:
        theirs.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        in_transaction(theirs).create_job(name="three", kind="x", payload=[])
        with theirs.transaction():
            in_transaction(theirs).create_job(name="four", kind="x", payload=None)

    rows = await conn.fetch("select name, payload from rota.live_runs order by id")
    told = {row["name"]: json.loads(row["payload"] or "null") for row in rows}
    assert told == {"one": PAYLOAD, "two": "text", "three": [], "four": None}


async def test_a_read_only_transaction_is_refused(schema: str) -> None:
    ours = await asyncpg.connect(schema)
    async with ours.transaction(readonly=True):
        with pytest.raises(InvalidInput, match="a read-only transaction"):
            await in_transaction(ours).create_job(kind="x")
        assert await ours.fetchval("select 1") == 1
    await ours.close()


async def test_a_role_needs_the_grant_and_its_tenant(shared: str, conn: Any) -> None:
    await conn.execute("drop role if exists shop_app; create role shop_app")
    await conn.execute("grant usage on schema public to shop_app")
    await conn.execute("grant insert on public.orders to shop_app")
    try:
        ours = await asyncpg.connect(shared)

        async def attempt(**fields: Any) -> None:
            async with ours.transaction():
                await ours.execute("set local role shop_app")
                await ours.execute(ORDER)
                try:
                    await in_transaction(ours).create_job(kind="x", **fields)
                finally:
                    await ours.execute(ORDER.replace("1", "2"))  # it still works

        with pytest.raises(StoreRefused, match=r"permission denied.*grant rota_api to"):
            await attempt()
        await conn.execute("grant rota_api to shop_app")
        with pytest.raises(StoreRefused, match=r"cannot see tenant 'default'.*alter role shop_app"):
            await attempt()
        # What `alter role … set` gives to a new session.
        await ours.execute("set rota.tenant = '1'")
        await attempt(name="mine")
        await ours.close()

        said = await conn.fetchrow("select name, submitter, address from rota.live_runs")
        assert tuple(said) == ("mine", "role shop_app", "transaction")
        assert await conn.fetchval("select count(*) from rota.audit") == 0
        await conn.execute("truncate rota.live_runs, public.orders")
        ours = await asyncpg.connect(shared)
        await ours.execute("set rota.tenant = '1'")
        await attempt(name="a definition", schedule=ON_DEMAND)
        await ours.close()
        noted = await conn.fetchrow("select actor, source, action, after from rota.audit")
        assert tuple(noted)[:3] == ("role shop_app", "transaction", "job.create")
        assert json.loads(noted["after"]) == {"name": "a definition", "version": 1}
    finally:
        await conn.execute("drop owned by shop_app; drop role shop_app")


async def test_another_database_is_refused_with_what_to_do(server: Embedded) -> None:
    ours = await asyncpg.connect(server.url)
    async with ours.transaction():
        with pytest.raises(SchemaMismatch, match="the database that Rota uses"):
            await in_transaction(ours).create_job(kind="x")
    await ours.close()


async def test_workers_are_told_at_the_commit_and_not_before(native: Owner, conn: Any) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    def hear(_conn: object, _pid: int, channel: str, _payload: str) -> None:
        heard.put_nowait(channel)

    for channel in ("rota_runs", "rota_jobs"):
        await conn.add_listener(channel, hear)
    await create(native, kind="x")
    await create(native, kind="x", schedule={"after": "5s"})
    await settled(in_transaction(native.conn, wake=False).create_job(kind="x"))
    await conn.fetchval("select 1")

    assert heard.empty()
    await native.commit()
    assert {await heard.get(), await heard.get()} == {"rota_runs", "rota_jobs"}


CRASHING = """
import os, sys, psycopg
from rota.sdk.transaction import in_transaction
conn = psycopg.connect(sys.argv[1])
conn.execute("insert into public.orders (id) values (1)")
in_transaction(conn).create_job(name="receipt", schedule={"on_demand": True})
print("written", flush=True)
os.kill(os.getpid(), 9)
"""


async def test_a_program_that_dies_before_the_commit_leaves_nothing(shared: str, conn: Any) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", CRASHING, shared],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (-9, "written\n")
    # The name is free: whoever takes it waits for the server to undo what was begun.
    async with conn.transaction():
        await in_transaction(conn).create_job(name="receipt", schedule=ON_DEMAND)
    assert await conn.fetchval("select count(*) from rota.jobs") == 1
    assert await conn.fetchval("select count(*) from public.orders") == 0


async def job_of_an_app_is_submitted_with_its_arguments_checked(native: Owner, conn: Any) -> None:
    app = App("shop", queue="mail")

    @app.job(retries=7)
    async def send_receipt(order: int, to: str = "x") -> None:
        del order, to

    made = await settled(in_transaction(native.conn).submit(send_receipt, 42, to="zoe"))
    with pytest.raises(InvalidInput, match="order"):
        await settled(in_transaction(native.conn).submit(send_receipt, order="many"))
    with pytest.raises(InvalidInput, match=r"a job of a rota\.App"):
        await settled(in_transaction(native.conn).submit(print, 1))
    later = send_receipt.draft(43) | {"schedule": {"after": "1h"}}
    await create(native, **later)
    await native.commit()

    row = await conn.fetchrow(
        "select l.payload, q.name as queue, k.name as kind from rota.live_runs l "
        "join rota.queues q on q.id = l.queue_id join rota.kinds k on k.id = l.kind_id "
        "where l.id = $1",
        UUID(made.job_id.removeprefix("job_")),
    )
    assert json.loads(row["payload"]) == {"order": 42, "to": "zoe"}
    assert (row["queue"], row["kind"]) == ("mail", "shop.send_receipt")


async def test_a_graph_is_handed_in_with_the_transaction(shared: str, conn: Any) -> None:
    steps: list[dict[str, Any]] = [
        {"name": "a", "kind": "x"},
        {"name": "b", "kind": "x", "needs": ["a"]},
    ]
    selfish = [{"name": "a", "kind": "x", "needs": ["a"]}]
    async with KINDS["asyncpg"](shared) as owner:
        await create(owner, name="flow", kind="graph", graph={"steps": steps})
        with pytest.raises(InvalidInput, match="a step cannot need itself"):
            await create(owner, name="bad", kind="graph", graph={"steps": selfish})
        await owner.commit()

    kept = await conn.fetchval(
        "select g.definition from rota.jobs as j"
        " inner join rota.graphs as g on j.graph_id = g.id where j.name = 'flow'"
    )
    assert json.loads(kept) == {"steps": steps}

"""The second wall: a statement that forgets its tenant still sees one tenant only (T1)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.support.databases import create, drop
from tests.support.world import World

from rota.core import api_keys
from rota.core.access import Role
from rota.core.errors import NotFound, StoreFailed, StoreRefused
from rota.core.lanes import Lane
from rota.core.limits import GateLimits, JobLimit
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission import job_changes
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import run_now
from rota.store import (
    audit,
    calendars,
    encrypted_secrets,
    gates,
    idempotency,
    keys,
    live_runs,
    tenants,
)
from rota.store.audit import NewAuditEntry
from rota.store.embedded import Embedded
from rota.store.error_translation import translate_errors
from rota.store.idempotency import IdempotentRequest
from rota.store.keys import NewKey
from rota.store.live_runs import ClaimedRun, RunEnding
from rota.store.row_level_security import check_row_level_security, tenant_scope
from rota.store.schema_migration import load_migrations, migrate

RUN = UUID(int=7 << 76 | 2 << 62)
DIGEST = bytes(32)

# One row of a tenant in each table, written by the owner.
SEEDS = {
    "jobs": "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id)"
    " values (gen_random_uuid(), $1, 'seed', 1, 1, 1)",
    "cursors": "insert into rota.cursors (job_id, tick_at, version, tenant_id, queue_id, kind_id,"
    " policy_id, overlap, shard, priority, guarantee)"
    " values (gen_random_uuid(), rota.now(), 1, $1, 1, 1, 1, 'skip', 0, 5, 'at_least_once')",
    "live_runs": "insert into rota.live_runs (id, job_id, scheduled_at, due_at, ready_at,"
    " created_at, tenant_id, queue_id, kind_id, policy_id, job_version, state, trigger, priority,"
    " guarantee) values (gen_random_uuid(), gen_random_uuid(), rota.now(), rota.now(), rota.now(),"
    " rota.now(), $1, 1, 1, 1, 1, 'queued', 'manual', 5, 'at_least_once')",
    "scheduled_runs": "insert into rota.scheduled_runs (tenant_id, id, shard, due_at, queue_id,"
    " kind_id, policy_id, priority, guarantee)"
    " values ($1, gen_random_uuid(), 0, rota.now(), 1, 1, 1, 5, 'at_least_once')",
    "runs": "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
    " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority)"
    " values (gen_random_uuid(), gen_random_uuid(), rota.now(), rota.now(), rota.now(),"
    " rota.now(), $1, 1, 1, 1, 1, 'dead', 'running', 'manual', 5)",
    "api_keys": "insert into rota.api_keys (id, tenant_id, name, handle, digest, role)"
    " values (gen_random_uuid(), $1, 'seed', '12345678',"
    " sha256(gen_random_uuid()::text::bytea), 'admin')",
    "idempotency": "insert into rota.idempotency (tenant_id, scope, key, fingerprint)"
    " values ($1, 's', gen_random_uuid()::text, sha256(''))",
    "sources": "insert into rota.sources (tenant_id, name, kind, owner, reader, expires_at)"
    " values ($1, gen_random_uuid()::text, 'folder', gen_random_uuid(), 'r', rota.now())",
    "backfills": "insert into rota.backfills (id, tenant_id, job_id, since, until, schedule, picks,"
    " newest_first, at_once, priority, gate_id, reached, expected, is_guess, look_at, created_at,"
    " created_by) values (gen_random_uuid(), $1, gen_random_uuid(), rota.now(), rota.now(), '{}',"
    " 'all', false, 1, 5, $1, rota.now(), 0, false, rota.now(), rota.now(), 'a')",
    "audit": "insert into rota.audit (tenant_id, actor, action, thing, thing_id)"
    " values ($1, 'a', 'b', 'c', 'd')",
    "graphs": "insert into rota.graphs (tenant_id, digest, definition)"
    " values ($1, replace(gen_random_uuid()::text, '-', ''), '{}')",
    "graph_runs": "insert into rota.graph_runs (run_id, tenant_id, job_id, started_at)"
    " values (gen_random_uuid(), $1, gen_random_uuid(), rota.now())",
    "graph_maps": "insert into rota.graph_maps (run_id, step, tenant_id)"
    " values (gen_random_uuid(), 0, $1)",
    "graph_items": "insert into rota.graph_items (run_id, step, first, tenant_id, number, items)"
    " values (gen_random_uuid(), 0, 0, $1, 1, '[1]')",
    "step_marks": "insert into rota.step_marks (graph_run_id, step, tenant_id)"
    " values (gen_random_uuid(), 0, $1)",
    "events": "insert into rota.events (id, tenant_id, type, source, received_at, body)"
    " values (gen_random_uuid(), $1, 't', 's', rota.now(), '{}')",
    "event_keys": "insert into rota.event_keys (tenant_id, digest, event_id, received_at)"
    " values ($1, substring(sha256(gen_random_uuid()::text::bytea) for 16), gen_random_uuid(),"
    " rota.now())",
    "event_types": "insert into rota.event_types (tenant_id, type, job_id)"
    " values ($1, 't', gen_random_uuid())",
    "event_piles": "insert into rota.event_piles (job_id, key, tenant_id, run_id, opened_at,"
    " due_at, count, size, filled) values (gen_random_uuid(), '', $1, gen_random_uuid(),"
    " rota.now(), rota.now(), 1, 1, 0)",
    "event_members": "insert into rota.event_members (run_id, part, event_id, tenant_id)"
    " values (gen_random_uuid(), 0, gen_random_uuid(), $1)",
    "hooks": "insert into rota.hooks (id, tenant_id, name, type, style, key_id, ciphertext)"
    " values (gen_random_uuid(), $1, 'h', 't', 'standard', 'k', '')",
    "secrets": "insert into rota.secrets (tenant_id, name, key_id, ciphertext)"
    " values ($1, gen_random_uuid()::text, 'k', '')",
    "calendars": "insert into rota.calendars (tenant_id, name, body)"
    " values ($1, gen_random_uuid()::text, '{}')",
    "gates": "insert into rota.gates (tenant_id, key) values ($1, gen_random_uuid()::text)",
}
RUN_TABLES = {
    "attempts": "insert into rota.attempts (run_id, attempt, outcome, finished_at)"
    " values ($1, 1, 'failed', rota.now())",
    "run_logs": "insert into rota.run_logs (run_id, attempt, seq, stream, logged_at, chunk)"
    " values ($1, 1, 1, 1, rota.now(), 'secret')",
    "run_notes": "insert into rota.run_notes (run_id, attempt, noted_at)"
    " values ($1, 1, rota.now())",
}
# What a statement may read of tables that are not shown whole.
SHOWN = {"api_keys": "tenant_id", "secrets": "tenant_id"}


@dataclass(frozen=True)
class Neighbours:
    """Two tenants: ours, and the one whose rows we must not get at."""

    world: World
    ours: int
    theirs: int


@pytest.fixture
async def neighbours(world: World) -> Neighbours:
    ours = await tenants.create_tenant(world.conn, name="ours")
    theirs = await tenants.create_tenant(world.conn, name="theirs")
    return Neighbours(world, ours.id, theirs.id)


async def seen(neighbours: Neighbours, question: str) -> list[int]:
    """The first column of what our tenant gets."""
    conn = neighbours.world.conn
    async with tenant_scope(conn, neighbours.ours):
        return [row[0] for row in await conn.fetch(question)]


async def tried(neighbours: Neighbours, statement: str, *values: object) -> str:
    """What became of a statement of our tenant."""
    conn = neighbours.world.conn
    async with tenant_scope(conn, neighbours.ours):
        with translate_errors():
            return await conn.execute(statement, *values)


@pytest.mark.parametrize("table", SEEDS)
async def test_rows_of_another_tenant_are_not_seen(neighbours: Neighbours, table: str) -> None:
    for tenant_id in (neighbours.ours, neighbours.theirs):
        await neighbours.world.conn.execute(SEEDS[table], tenant_id)

    found = await seen(neighbours, f"select {SHOWN.get(table, 'tenant_id')} from rota.{table}")

    assert found == [neighbours.ours]


@pytest.mark.parametrize("table", SEEDS)
async def test_rows_of_another_tenant_cannot_be_added(neighbours: Neighbours, table: str) -> None:
    with pytest.raises(StoreRefused, match="row-level security"):
        await tried(neighbours, SEEDS[table], neighbours.theirs)

    assert await neighbours.world.count(table) == 0


@pytest.mark.parametrize("table", sorted(set(SEEDS) - {"audit", "api_keys"}))
async def test_rows_of_another_tenant_can_neither_be_changed_nor_deleted(
    neighbours: Neighbours, table: str
) -> None:
    await neighbours.world.conn.execute(SEEDS[table], neighbours.theirs)

    changed = await tried(neighbours, f"update rota.{table} set tenant_id = {neighbours.ours}")
    deleted = await tried(neighbours, f"delete from rota.{table}")

    assert (changed, deleted) == ("UPDATE 0", "DELETE 0")
    assert await neighbours.world.count(table) == 1


@pytest.mark.parametrize("table", sorted(set(SEEDS) - {"audit", "api_keys"}))
async def test_a_row_cannot_be_given_to_another_tenant(neighbours: Neighbours, table: str) -> None:
    await neighbours.world.conn.execute(SEEDS[table], neighbours.ours)

    with pytest.raises(StoreRefused, match="row-level security"):
        await tried(neighbours, f"update rota.{table} set tenant_id = {neighbours.theirs}")


@pytest.mark.parametrize("table", RUN_TABLES)
@pytest.mark.parametrize("home", ["live_runs", "runs"])
async def test_what_a_run_of_another_tenant_said_is_not_seen(
    neighbours: Neighbours, table: str, home: str
) -> None:
    conn = neighbours.world.conn
    for tenant_id in (neighbours.ours, neighbours.theirs):
        await conn.execute(SEEDS[home], tenant_id)
    mine, foreign = [
        await conn.fetchval(f"select id from rota.{home} where tenant_id = $1", tenant_id)
        for tenant_id in (neighbours.ours, neighbours.theirs)
    ]
    for run_id in (mine, foreign):
        await conn.execute(RUN_TABLES[table], run_id)

    assert await seen(neighbours, f"select run_id from rota.{table}") == [mine]
    with pytest.raises(StoreRefused):
        await tried(neighbours, RUN_TABLES[table].replace("$1, 1", "$1, 2"), foreign)


async def test_a_tenant_sees_itself_among_the_tenants_and_cannot_change_itself(
    neighbours: Neighbours,
) -> None:
    assert await seen(neighbours, "select id from rota.tenants") == [neighbours.ours]
    for statement in ("update rota.tenants set weight = 1000", "delete from rota.tenants"):
        with pytest.raises(StoreRefused, match="permission denied"):
            await tried(neighbours, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "select digest from rota.api_keys",
        "select * from rota.api_keys",
        "select 1 from rota.api_keys where digest = ''",
        "update rota.api_keys set role = 'admin'",
        "update rota.api_keys set digest = ''",
        "delete from rota.api_keys",
        "select ciphertext from rota.secrets",
        "update rota.audit set actor = ''",
        "delete from rota.audit",
        "truncate rota.audit",
        "truncate rota.jobs",
        "select * from rota.runs_rest",
        "select * from rota.attempts_rest",
        "update rota.queues set paused_at = rota.now()",
        "update rota.policies set body = '{}'",
        "update rota.sessions set draining = true",
        "update rota.shards set owner = null",
        "delete from rota.migrations",
        "create table rota.mine ()",
        "alter table rota.jobs disable row level security",
        "drop policy tenant_wall on rota.jobs",
    ],
)
async def test_what_the_api_does_not_need_is_not_permitted(
    neighbours: Neighbours, statement: str
) -> None:
    with pytest.raises(StoreRefused, match=r"permission denied|must be owner"):
        await tried(neighbours, statement)


async def test_gates_of_queues_are_seen_by_everybody_and_changed_by_nobody(
    neighbours: Neighbours,
) -> None:
    await gates.limit_queue(
        neighbours.world.conn, neighbours.world.queue_id, GateLimits(max_running=3)
    )

    assert await seen(neighbours, "select tenant_id from rota.gates") == [gates.NO_TENANT_ID]
    assert await tried(neighbours, "update rota.gates set most = 9") == "UPDATE 0"
    assert await tried(neighbours, "delete from rota.gates") == "DELETE 0"
    with pytest.raises(StoreRefused, match="row-level security"):
        await tried(neighbours, SEEDS["gates"], gates.NO_TENANT_ID)


async def test_keys_of_the_platform_are_out_of_reach(world: World) -> None:
    """Even for the tenant that they belong to."""
    key_id = world.new_id()
    await keys.ensure_admin_key(world.conn, key_id=key_id, bits=bytes(32))
    new = NewKey(
        id=world.new_id(),
        tenant_id=1,
        name="mine",
        role=Role.PLATFORM,
        key=api_keys.create_key(bytes([1] * 32)),
    )

    async with tenant_scope(world.conn, 1):
        assert await keys.list_keys(world.conn, tenant_id=1) == []
        with pytest.raises(NotFound):
            await keys.revoke_key(world.conn, tenant_id=1, key_id=key_id)
    with pytest.raises(StoreRefused, match="row-level security"):
        await refuse_platform_key(world, new)

    assert await world.count("api_keys") == 1


async def refuse_platform_key(world: World, new: NewKey) -> None:
    async with tenant_scope(world.conn, 1):
        await keys.create_key(world.conn, new)


async def test_without_a_tenant_nothing_is_seen(neighbours: Neighbours) -> None:
    conn = neighbours.world.conn
    await conn.execute(SEEDS["jobs"], neighbours.ours)

    for tenant in ("", None):
        async with conn.transaction():
            await conn.execute("set local role rota_api")
            if tenant is not None:
                await conn.execute("select set_config('rota.tenant', $1, true)", tenant)
            assert await conn.fetch("select id from rota.jobs") == []


async def test_there_is_no_word_for_all_tenants(neighbours: Neighbours) -> None:
    conn = neighbours.world.conn

    async def ask() -> None:
        async with conn.transaction():
            await conn.execute("set local role rota_api; set local rota.tenant = 'all'")
            with translate_errors():
                await conn.fetch("select id from rota.jobs")

    await conn.execute(SEEDS["jobs"], neighbours.ours)
    with pytest.raises(StoreFailed, match="invalid input syntax for type integer"):
        await ask()


async def test_the_wall_ends_with_its_transaction(neighbours: Neighbours) -> None:
    conn = neighbours.world.conn
    before = await conn.fetchval("select current_user")

    async def fail() -> None:
        async with tenant_scope(conn, neighbours.ours):
            assert await conn.fetchval("select current_user") == "rota_api"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    after_failing = await conn.fetchval("select current_user")
    async with tenant_scope(conn, neighbours.ours):
        await conn.execute(SEEDS["jobs"], neighbours.ours)

    assert before == after_failing == await conn.fetchval("select current_user") != "rota_api"
    assert await conn.fetchval("select current_setting('rota.tenant', true)") == ""
    assert await neighbours.world.count("jobs") == 1


async def test_the_wall_is_not_put_up_inside_another_transaction(neighbours: Neighbours) -> None:
    conn = neighbours.world.conn

    async def nest() -> None:
        async with conn.transaction(), tenant_scope(conn, neighbours.ours):
            pass

    with pytest.raises(RuntimeError, match="must begin its own transaction"):
        await nest()


async def test_two_tenants_behind_their_walls_at_once_see_each_their_own(
    neighbours: Neighbours, database: str
) -> None:
    for tenant_id in (neighbours.ours, neighbours.theirs):
        await neighbours.world.conn.execute(SEEDS["jobs"], tenant_id)
    conns = {
        tenant_id: await asyncpg.connect(database)
        for tenant_id in (neighbours.ours, neighbours.theirs)
    }

    async def own_rows(tenant_id: int) -> list[int]:
        async with tenant_scope(conns[tenant_id], tenant_id):
            rows = await conns[tenant_id].fetch("select tenant_id from rota.jobs")
        return [row[0] for row in rows]

    found = await asyncio.gather(*(own_rows(tenant_id) for tenant_id in conns))

    assert found == [[tenant_id] for tenant_id in conns]
    for conn in conns.values():
        await conn.close()


async def test_jobs_are_submitted_changed_and_run_behind_the_wall(neighbours: Neighbours) -> None:
    world = neighbours.world
    conn = world.conn
    spec = JobSpec(
        name="report",
        kind="never seen before",
        queue="nor this one",
        tenant="ours",
        schedule={"cron": "* * * * *"},
        limits=(JobLimit(key="report", max_running=2),),
    )

    async with tenant_scope(conn, neighbours.ours):
        (made,) = await submit_jobs(conn, [spec], now=world.now, new_id=world.new_id)
        await job_changes.pause_job(conn, made.job_id, by="anna", now=world.now)
    async with tenant_scope(conn, neighbours.ours):
        await job_changes.resume_job(conn, made.job_id, now=world.now + timedelta(minutes=5))
        run = await run_now(conn, RunSpec(job_id=made.job_id), now=world.now, new_id=world.new_id)
        assert run.run_id is not None
        await live_runs.cancel_runs(conn, ids=[run.run_id])
    async with tenant_scope(conn, neighbours.ours):
        assert await live_runs.requeue_runs(conn, ids=[run.run_id]) == [run.run_id]
        assert await live_runs.cancel_runs_now(conn, ids=[run.run_id]) == [run.run_id]
        await job_changes.delete_job(conn, made.job_id, by="anna")

    assert (await world.get(run.run_id)).state is RunState.CANCELLED


async def test_a_dead_letter_with_attempts_comes_back_behind_the_wall(
    neighbours: Neighbours,
) -> None:
    world = neighbours.world
    session = await world.session()
    await world.run(tenant_id=neighbours.ours)
    (claimed,) = await live_runs_of(world, session, neighbours.ours)
    ending = RunEnding(claimed.id, claimed.attempt, RunState.DEAD, 1)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    async with tenant_scope(world.conn, neighbours.theirs):
        by_them = await live_runs.requeue_runs(world.conn, ids=[claimed.id])
    async with tenant_scope(world.conn, neighbours.ours):
        by_us = await live_runs.requeue_runs(world.conn, ids=[claimed.id])

    assert (by_them, by_us) == ([], [claimed.id])
    assert await world.count("attempts") == 1


async def live_runs_of(world: World, session: UUID, tenant_id: int) -> list[ClaimedRun]:
    return await world.claim(session, lanes=[Lane(tenant_id, 5)])


async def test_a_job_of_another_tenant_is_simply_not_there(neighbours: Neighbours) -> None:
    world = neighbours.world
    foreign = await world.job(tenant_id=neighbours.theirs)
    run = await world.run(tenant_id=neighbours.theirs)

    async with tenant_scope(world.conn, neighbours.ours):
        assert await live_runs.cancel_runs(world.conn, ids=[run]) == []
        assert await live_runs.cancel_runs_now(world.conn, ids=[run]) == []
        with pytest.raises(NotFound):
            await job_changes.pause_job(world.conn, foreign, by="mallory", now=world.now)
        with pytest.raises(NotFound):
            await job_changes.delete_job(world.conn, foreign, by="mallory")

    assert (await world.get(run)).state is RunState.QUEUED


async def test_keys_audit_answers_and_calendars_are_written_behind_the_wall(
    neighbours: Neighbours,
) -> None:
    world, ours = neighbours.world, neighbours.ours
    conn = world.conn
    asked = IdempotentRequest(tenant_id=ours, scope="s", key="k", fingerprint=DIGEST)
    new = NewKey(
        id=world.new_id(),
        tenant_id=ours,
        name="key",
        role=Role.ADMIN,
        key=api_keys.create_key(bytes(32)),
    )
    entry = NewAuditEntry(tenant_id=ours, actor="a", action="b", thing="c", thing_id="d")
    plain = {"name": "holidays", "yearly": ["12-25"]}

    async with tenant_scope(conn, ours):
        assert await idempotency.begin_request(conn, asked) is None
        await keys.create_key(conn, new)
        await keys.record_use(conn, tenant_id=ours, key_id=new.id)
        await keys.revoke_key(conn, tenant_id=ours, key_id=new.id)
        await calendars.create_calendar(conn, tenant_id=ours, plain=plain)
        await calendars.replace_calendar(conn, tenant_id=ours, plain=plain, version=1)
        await calendars.delete_calendar(conn, tenant_id=ours, name="holidays")
        await audit.record_change(conn, entry)
        await idempotency.finish_request(conn, asked, status=200, body=b"")
    async with tenant_scope(conn, ours):
        assert await idempotency.begin_request(conn, asked) == (200, b"")
        assert [each.id for each in await keys.list_keys(conn, tenant_id=ours)] == [new.id]
        assert len(await audit.list_entries(conn, tenant_id=ours)) == 1


async def test_secrets_are_written_behind_the_wall_and_not_opened(neighbours: Neighbours) -> None:
    pytest.importorskip("cryptography")
    conn, ours = neighbours.world.conn, neighbours.ours
    master = bytes(32)

    async with tenant_scope(conn, ours):
        for version in (1, 2):
            written = await encrypted_secrets.put_secret(
                conn, tenant_id=ours, name="db", value=b"sesame", master=master, nonce=bytes(12)
            )
            assert written.version == version
        assert [
            each.name for each in await encrypted_secrets.list_secrets(conn, tenant_id=ours)
        ] == ["db"]

    async def read_it() -> None:
        async with tenant_scope(conn, ours):
            await encrypted_secrets.decrypt_for_worker(
                conn, tenant_id=ours, names=["db"], master=master
            )

    with pytest.raises(StoreRefused, match="permission denied"):
        await read_it()
    opened = await encrypted_secrets.decrypt_for_worker(
        conn, tenant_id=ours, names=["db"], master=master
    )
    assert opened == {"db": "sesame"}


async def test_the_wall_of_a_migrated_database_passes_its_test(world: World) -> None:
    await check_row_level_security(world.conn)

    assert await world.count("idempotency") == 0
    assert await world.conn.fetchval("select current_user") != "rota_api"


@pytest.mark.parametrize(
    ("breach", "reason"),
    [
        ("alter table rota.jobs disable row level security", "rota.jobs lets rota_api see"),
        ("drop policy tenant_wall on rota.runs", "rota.runs lets rota_api see"),
        ("grant select on rota.runs_rest to rota_api", "rota.runs_rest lets rota_api see"),
        (
            "create table rota.new (tenant_id integer); grant select on rota.new to rota_api",
            "rota.new lets rota_api see",
        ),
        ("alter table rota.events owner to rota_api", "owns rota.events"),
        (
            "create policy open on rota.idempotency to rota_api using (true)",
            "a tenant sees another tenant's rows",
        ),
        ("drop policy tenant_wall on rota.idempotency", "rota.idempotency lets rota_api see"),
        ("revoke usage on schema rota from rota_api", "cannot be used"),
    ],
)
async def test_a_wall_with_a_hole_is_refused_with_the_hole_and_a_remedy(
    world: World, breach: str, reason: str
) -> None:
    await world.conn.execute(breach)

    with pytest.raises(StoreRefused, match=reason) as caught:
        await check_row_level_security(world.conn)

    assert "rota.raise_wall()" in caught.value.remedy


async def test_raising_the_wall_again_walls_a_new_table(neighbours: Neighbours) -> None:
    conn = neighbours.world.conn
    await conn.execute("create table rota.new (tenant_id integer)")
    await conn.execute("insert into rota.new values ($1)", neighbours.theirs)
    await conn.execute("select rota.raise_wall()")

    await check_row_level_security(conn)

    assert await seen(neighbours, "select tenant_id from rota.new") == []


@pytest.mark.parametrize(
    ("breach", "reason"),
    [
        ("alter role rota_api bypassrls", "rota_api passes row level security"),
        ("alter role rota_api superuser", "rota_api passes row level security"),
        ("alter role rota_api rename to rota_gone", "there is no role rota_api"),
    ],
)
async def test_a_role_that_is_not_held_back_is_refused(
    world: World, breach: str, reason: str
) -> None:
    """The role belongs to the whole server, so the change is never committed."""
    undone = world.conn.transaction()
    await undone.start()  # type: ignore[attr-defined]
    await world.conn.execute(breach)

    with pytest.raises(StoreRefused, match=reason):
        await check_row_level_security(world.conn)

    await undone.rollback()  # type: ignore[attr-defined]


@pytest.fixture
async def modest(server: Embedded) -> AsyncIterator[asyncpg.Connection]:
    """A connection to a new database as its owner, who may not create roles."""
    # Databases and roles belong to the server, which other tests use at the same time.
    name = f"modest_{uuid4().hex}"
    url = await create(server.url, name)
    conn = await asyncpg.connect(url)
    await conn.execute(f"create role {name}")
    await conn.execute(f"alter database {name} owner to {name}; set role {name}")
    yield conn
    await conn.close()
    await drop(server.url, url)
    cleaner = await asyncpg.connect(server.url)
    await cleaner.execute(f"drop role {name}")
    await cleaner.close()


async def test_a_user_who_may_not_grant_the_role_can_migrate(modest: asyncpg.Connection) -> None:
    """The role is there: another database of the server has made it."""
    applied = await migrate(modest)

    assert "0008_access" in applied
    assert await modest.fetchval("select count(*) from pg_policy") > 0
    assert not await modest.fetchval("select pg_has_role(current_user, 'rota_api', 'member')")


async def test_a_user_who_may_not_create_the_role_can_migrate(modest: asyncpg.Connection) -> None:
    """There is no wall then, and starting the API is refused."""
    before = [migration for migration in load_migrations() if migration.version < 8]
    (access,) = [migration for migration in load_migrations() if migration.version == 8]
    await migrate(modest, migrations=before)
    owner = await modest.fetchval("select current_user")
    undone = modest.transaction()
    await undone.start()
    await modest.execute("reset role; alter role rota_api rename to rota_gone")
    await modest.execute(f"set role {owner}")

    await modest.execute(access.text)

    assert await modest.fetchval("select count(*) from pg_policy") == 0
    with pytest.raises(StoreRefused, match="there is no role rota_api") as caught:
        await check_row_level_security(modest)
    assert "create role rota_api nologin" in caught.value.remedy
    await undone.rollback()

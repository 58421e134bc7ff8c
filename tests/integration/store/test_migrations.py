"""Migrations: forward only, checksummed, in turn, safe for many processes at once (O4, F59)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest
from tests.support.databases import create, drop

from rota.core.errors import SchemaMismatch
from rota.store.embedded import Embedded
from rota.store.schema_migration import (
    OUTSIDE_TRANSACTION_MARKER,
    Migration,
    is_schema_current,
    load_migrations,
    load_state_guard,
    migrate,
)

ONE = Migration(version=1, name="0001_one", text="create table rota.one (id integer);")
TWO = Migration(version=2, name="0002_two", text="create table rota.two (id integer);")
NO_GUARD = Migration(version=0, name="state_guard", text="select 1;")


@pytest.fixture
async def empty(server: Embedded) -> AsyncIterator[str]:
    """The URL of a database in which nothing was ever migrated."""
    url = await create(server.url, "empty_" + str(id(object())))
    yield url
    await drop(server.url, url)


@pytest.fixture
async def bare(empty: str) -> AsyncIterator[asyncpg.Connection]:
    conn = await asyncpg.connect(empty)
    yield conn
    await conn.close()


async def test_a_new_database_gets_every_migration_and_the_guard(bare) -> None:
    before = await is_schema_current(bare)

    applied = await migrate(bare)

    assert applied == [*(migration.name for migration in load_migrations()), "state_guard"]
    assert not before
    assert await is_schema_current(bare)


async def test_a_second_time_changes_nothing(bare) -> None:
    await migrate(bare)

    assert await migrate(bare) == []


async def test_many_processes_may_migrate_at_once(empty: str) -> None:
    conns = [await asyncpg.connect(empty) for _ in range(8)]

    applied = await asyncio.gather(*(migrate(conn) for conn in conns))

    names = [name for part in applied for name in part]
    assert sorted(names) == sorted(
        [*(migration.name for migration in load_migrations()), "state_guard"]
    )
    for conn in conns:
        await conn.close()


async def test_a_migration_that_fails_leaves_nothing_behind(bare) -> None:
    broken = replace(TWO, text="create table rota.two (id integer); select 1 / 0;")

    with pytest.raises(Exception, match="division by zero"):
        await migrate(bare, migrations=[ONE, broken], guard=NO_GUARD)

    assert await bare.fetchval("select to_regclass('rota.two')") is None
    assert await migrate(bare, migrations=[ONE, TWO], guard=NO_GUARD) == ["0002_two", "state_guard"]


async def test_a_migration_that_was_edited_after_it_was_applied_is_refused(bare) -> None:
    await migrate(bare, migrations=[ONE], guard=NO_GUARD)
    edited = replace(ONE, text="create table rota.one (id bigint);")

    with pytest.raises(
        SchemaMismatch, match="the text of 0001_one differs from the one that was applied"
    ):
        await migrate(bare, migrations=[edited, TWO], guard=NO_GUARD)

    assert await bare.fetchval("select to_regclass('rota.two')") is None


async def test_older_code_accepts_a_schema_that_was_only_expanded(bare) -> None:
    expand = replace(TWO, name="0002_two_expand")
    await migrate(bare, migrations=[ONE, expand], guard=NO_GUARD)
    old_guard = replace(NO_GUARD, text="select 2;")

    applied = await migrate(bare, migrations=[ONE], guard=old_guard)

    assert applied == []


async def test_older_code_refuses_a_schema_it_cannot_know(bare) -> None:
    await migrate(bare, migrations=[ONE, TWO], guard=NO_GUARD)

    with pytest.raises(SchemaMismatch, match="0002_two, which this version"):
        await migrate(bare, migrations=[ONE], guard=NO_GUARD)


async def test_an_index_can_be_made_outside_a_transaction(bare) -> None:
    text = (
        f"{OUTSIDE_TRANSACTION_MARKER}\n"
        "create index concurrently if not exists one_id on rota.one (id);\n"
    )
    outside = Migration(version=2, name="0002_index", text=text)

    applied = await migrate(bare, migrations=[ONE, outside], guard=NO_GUARD)

    assert "0002_index" in applied
    assert await bare.fetchval("select to_regclass('rota.one_id')") is not None


async def test_a_busy_table_delays_a_migration_and_does_not_fail_it(bare, empty: str) -> None:
    await migrate(bare, migrations=[ONE], guard=NO_GUARD)
    reader = await asyncpg.connect(empty)
    reading = reader.transaction()
    await reading.start()
    await reader.fetch("select * from rota.one")
    alter = Migration(version=2, name="0002_alter", text="alter table rota.one add x integer;")

    waiting = asyncio.create_task(migrate(bare, migrations=[ONE, alter], guard=NO_GUARD))
    await until_waiting_for_lock(reader)
    await reading.commit()

    assert await waiting == ["0002_alter"]
    await reader.close()


async def test_a_changed_guard_is_applied_again(bare) -> None:
    await migrate(bare, migrations=[ONE], guard=NO_GUARD)
    changed = replace(NO_GUARD, text="create table rota.guarded ();")

    applied = await migrate(bare, migrations=[ONE], guard=changed)

    assert applied == ["state_guard"]
    assert await bare.fetchval("select to_regclass('rota.guarded')") is not None


def test_versions_are_contiguous_and_the_guard_is_version_zero() -> None:
    assert [migration.version for migration in load_migrations()] == list(
        range(1, len(load_migrations()) + 1)
    )
    assert load_state_guard().version == 0


async def until_waiting_for_lock(conn) -> None:
    """Look until somebody waits for a table's lock; each look is a round trip."""
    async with asyncio.timeout(10):
        while not await conn.fetchval(
            "select exists (select 1 from pg_locks where not granted and locktype = 'relation')"
        ):
            pass

"""Long migrations, busy tables, killed migrators: none fails, none blocks writes (O4, F59)."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from tests.support.databases import create, drop

from rota.core.errors import MigrationBlocked, StoreFailed, StoreUnavailable
from rota.core.log_events import (
    EngineEvent,
    MigrationApplied,
    MigrationDelayed,
    MigrationRunning,
    MigrationWaiting,
)
from rota.processes.database import migrate_database
from rota.store import migration_steps
from rota.store.embedded import Embedded
from rota.store.migration_steps import LEGACY_MIGRATION_LOCK_ID
from rota.store.migration_watch import MigrationWatch, pause_for
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.schema_migration import (
    OUTSIDE_TRANSACTION_MARKER,
    Migration,
    load_migrations,
    migrate,
)

ONE = Migration(version=1, name="0001_one", text="create table rota.one (id integer);")
NO_GUARD = Migration(version=0, name="state_guard", text="select 1;")
INDEX = Migration(
    version=2,
    name="0002_index_expand",
    text=(
        f"{OUTSIDE_TRANSACTION_MARKER}\n"
        "create unique index concurrently if not exists one_id on rota.one (id);\n"
    ),
)
# As the text of another process: the migrator that is killed.
MIGRATOR = """
import asyncio, sys
from rota.store.schema_migration import Migration, migrate
from rota.store.pool import DatabaseAccess, open_connection

async def main():
    async with open_connection(DatabaseAccess(url=sys.argv[1], name="doomed")) as conn:
        steps = [Migration(version=1, name="0001_one", text=sys.argv[2]),
                 Migration(version=2, name="0002_index_expand", text=sys.argv[3])]
        guard = Migration(version=0, name="state_guard", text="select 1;")
        await migrate(conn, migrations=steps, guard=guard)

asyncio.run(main())
"""


@dataclass
class Place:
    """A database in which nothing was migrated, and connections to it."""

    url: str
    stack: AsyncExitStack
    events: list[EngineEvent] = field(default_factory=list)

    async def connect(self, **more: Any) -> asyncpg.Connection:
        conn = await asyncpg.connect(self.url, **more)
        self.stack.callback(conn.terminate)
        return conn

    def watch(self, *, report_interval_s: float = 0.1) -> MigrationWatch:
        access = DatabaseAccess(url=self.url, name="watch")
        return MigrationWatch(
            emit=self.events.append,
            open_connection=lambda: open_connection(access),
            report_interval_s=report_interval_s,
        )

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def place(server: Embedded) -> AsyncIterator[Place]:
    url = await create(server.url, "long_" + str(id(object())))
    async with AsyncExitStack() as stack:
        yield Place(url=url, stack=stack)
    await drop(server.url, url)


async def until(conn: asyncpg.Connection, question: str, *arguments: Any) -> None:
    """Ask until the answer is true."""
    async with asyncio.timeout(60):
        while not await conn.fetchval(question, *arguments):
            await pause_for(0.02)


async def test_a_migration_may_take_longer_than_any_statement_of_the_node(place: Place) -> None:
    slow = Migration(
        version=len(load_migrations()) + 1, name="9999_slow_expand", text="select pg_sleep(5.6);"
    )
    # The client of such a connection gives up after 5.1 s, the server after 0.1 s.
    access = DatabaseAccess(url=place.url, statement_timeout=timedelta(milliseconds=100))

    applied = await migrate_database(
        access, emit=place.events.append, migrations=[*load_migrations(), slow]
    )

    assert applied[-2:] == ["9999_slow_expand", "state_guard"]
    assert [event.name for event in place.told(MigrationRunning)] == ["9999_slow_expand"]
    assert "9999_slow_expand" in [event.name for event in place.told(MigrationApplied)]


async def test_a_time_out_is_told_from_a_lock_and_not_tried_again(place: Place) -> None:
    conn = await place.connect(command_timeout=0.5)
    slow = Migration(version=1, name="0001_slow", text="select pg_sleep(20);")

    with pytest.raises(StoreUnavailable, match=r"0001_slow was interrupted .* timeout") as told:
        await migrate(conn, migrations=[slow], guard=NO_GUARD, watch=place.watch())

    assert not isinstance(told.value, MigrationBlocked)
    assert place.told(MigrationDelayed) == []


async def test_a_table_that_stays_locked_is_named_with_who_holds_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration_steps, "MIGRATION_TRIES_MAX", 2)
    conn, holder = await place.connect(), await place.connect()
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    await holder.execute("set application_name = 'a long report'; begin; table rota.one")
    alter = Migration(version=2, name="0002_a_expand", text="alter table rota.one add x integer;")

    with pytest.raises(MigrationBlocked, match=r"2 tries: .*a long report") as told:
        await migrate(conn, migrations=[ONE, alter], guard=NO_GUARD, watch=place.watch())

    assert "rota migrate" in str(told.value)
    assert [event.tries for event in place.told(MigrationDelayed)] == [1, 2]


async def test_who_needs_a_migration_waits_for_the_other_migrator_and_says_so(
    place: Place,
) -> None:
    first, second, look = [await place.connect() for _ in range(3)]
    slow = Migration(version=2, name="0002_slow", text="select pg_sleep(1.5);")
    steps = [ONE, slow]

    async with asyncio.TaskGroup() as group:
        working = group.create_task(migrate(first, migrations=steps, guard=NO_GUARD))
        await until(look, "select count(*) > 0 from pg_stat_activity where query ~ '^select pg_sl'")
        watch = place.watch()
        waiting = group.create_task(migrate(second, migrations=steps, guard=NO_GUARD, watch=watch))

    assert working.result() == ["0001_one", "0002_slow", "state_guard"]
    assert waiting.result() == []
    waits = place.told(MigrationWaiting)
    assert len(waits) > 1
    assert "pid" in waits[0].holder


async def test_who_needs_no_migration_waits_for_nobody(place: Place) -> None:
    first, other, look = [await place.connect() for _ in range(3)]
    await migrate(other, migrations=[ONE], guard=NO_GUARD)
    slow = Migration(version=2, name="0002_slow_expand", text="select pg_sleep(30);")

    migrating = asyncio.create_task(migrate(first, migrations=[ONE, slow], guard=NO_GUARD))
    await until(look, "select count(*) > 0 from pg_stat_activity where query ~ '^select pg_sl'")
    applied = await migrate(other, migrations=[ONE], guard=NO_GUARD)

    assert applied == []
    assert not migrating.done()
    first.terminate()
    with pytest.raises(StoreUnavailable):
        await migrating


async def test_writers_never_wait_long_for_an_expanding_migration(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration_steps, "MIGRATION_TRIES_MAX", 2)
    conn, look = await place.connect(), await place.connect()
    writer = await place.connect()
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    greedy = Migration(
        version=2,
        name="0002_greedy_expand",
        text="lock table rota.one in access exclusive mode; select pg_sleep(60);",
    )

    migrating = asyncio.create_task(
        migrate(conn, migrations=[ONE, greedy], guard=NO_GUARD, watch=place.watch())
    )
    await until(
        look,
        "select exists (select 1 from pg_locks where granted and mode = 'AccessExclusiveLock'"
        " and relation = 'rota.one'::regclass)",
    )
    async with asyncio.timeout(30):
        await writer.execute("insert into rota.one values (1)")

    # It was written although the migration would have held the table for a minute.
    async with asyncio.timeout(30):
        while not place.told(MigrationDelayed):
            await pause_for(0.02)
    assert place.told(MigrationDelayed)[0].reason == "other sessions waited for it"
    assert not migrating.done()
    conn.terminate()
    with pytest.raises(StoreUnavailable):
        await migrating


async def test_an_expanding_migration_goes_on_when_nobody_waits_for_it(place: Place) -> None:
    conn = await place.connect()
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    long = "lock table rota.one in access exclusive mode; select pg_sleep(1.5);"
    step = Migration(version=2, name="0002_long_expand", text=long)

    applied = await migrate(conn, migrations=[ONE, step], guard=NO_GUARD, watch=place.watch())

    assert applied == ["0002_long_expand"]
    assert place.told(MigrationDelayed) == []


async def test_a_killed_build_of_an_index_is_made_anew_and_counts_only_then(place: Place) -> None:
    conn, old, look = [await place.connect() for _ in range(3)]
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    # A build waits for every transaction that is older than it.
    await old.execute("begin; insert into rota.one values (1)")
    doomed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", MIGRATOR, place.url, ONE.text, INDEX.text)
    )
    await until(look, "select to_regclass('rota.one_id') is not null")
    doomed.send_signal(signal.SIGKILL)
    await doomed.wait()
    await until(
        look,
        "select not exists (select 1 from pg_stat_activity where application_name = 'doomed')",
    )
    is_valid = await look.fetchval(VALID)
    await old.execute("commit")

    applied = await migrate(conn, migrations=[ONE, INDEX], guard=NO_GUARD)

    assert is_valid is False
    assert applied == ["0002_index_expand"]
    assert await look.fetchval(VALID) is True


VALID = "select indisvalid from pg_index where indexrelid = to_regclass('rota.one_id')"


async def test_an_index_that_cannot_be_built_is_neither_recorded_nor_left_behind(
    place: Place,
) -> None:
    conn = await place.connect()
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    await conn.execute("insert into rota.one values (1), (1)")

    with pytest.raises(StoreFailed, match="23505"):
        await migrate(conn, migrations=[ONE, INDEX], guard=NO_GUARD)

    assert await conn.fetchval("select to_regclass('rota.one_id')") is None
    await conn.execute("truncate rota.one")
    assert await migrate(conn, migrations=[ONE, INDEX], guard=NO_GUARD) == ["0002_index_expand"]
    assert await conn.fetchval(VALID) is True


async def test_an_invalid_index_of_that_name_is_no_reason_to_skip_its_migration(
    place: Place,
) -> None:
    conn = await place.connect()
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    await conn.execute("insert into rota.one values (1), (1)")
    with pytest.raises(asyncpg.UniqueViolationError):
        await conn.execute("create unique index concurrently one_id on rota.one (id)")
    await conn.execute("truncate rota.one")

    await migrate(conn, migrations=[ONE, INDEX], guard=NO_GUARD)

    assert await conn.fetchval(VALID) is True


async def test_a_process_of_the_previous_release_starts_beside_the_build_of_an_index(
    place: Place,
) -> None:
    conn, old, previous = [await place.connect() for _ in range(3)]
    await migrate(conn, migrations=[ONE], guard=NO_GUARD)
    await old.execute("begin; insert into rota.one values (1)")

    building = asyncio.create_task(migrate(conn, migrations=[ONE, INDEX], guard=NO_GUARD))
    await until(previous, "select to_regclass('rota.one_id') is not null")
    # For this lock it would wait with a snapshot, and the build for that.
    is_free = await previous.fetchval("select pg_try_advisory_lock($1)", LEGACY_MIGRATION_LOCK_ID)
    await old.execute("commit")

    assert is_free
    assert await building == ["0002_index_expand"]


async def test_several_statements_outside_a_transaction_are_carried_out_in_turn(
    place: Place,
) -> None:
    conn = await place.connect()
    text = (
        f"{OUTSIDE_TRANSACTION_MARKER}\n-- Two statements; and a comment; with marks.\n"
        "alter table rota.one add constraint one_positive check (id > 0) not valid;\n"
        "alter table rota.one validate constraint one_positive;\n"
    )
    step = replace(INDEX, text=text)

    await migrate(conn, migrations=[ONE, step], guard=NO_GUARD)

    assert await conn.fetchval(
        "select convalidated from pg_constraint where conname = 'one_positive'"
    )

"""Migrates the schema to the version that this code needs. Many processes may do so at once.

Forward only. Each migration is one .sql file, applied once and recorded in rota.migrations with a
checksum of the file (migration_steps.py applies it). A file that changed after it was applied is
refused. A schema that is ahead of the code is accepted if all its additional migrations are
`_expand` migrations, which keep older code working (a rolling upgrade). The state guard is rendered
from core/states.py and applied again whenever its text changes.

A process with nothing to migrate takes no lock, so another process's long migration does not delay
its start. A process that needs a migration waits for the migration lock without limit, and reports
which session holds it. The lock belongs to the session: if the migrating process dies, the server
ends its session and the next process continues.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final

from rota.core.errors import SchemaMismatch
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors
from rota.store.migration_steps import (
    EXPAND_SUFFIX,
    OUTSIDE_TRANSACTION_MARKER,
    AppliedMigration,
    Migration,
    apply_step,
    read_applied,
    run_under_lock,
)
from rota.store.migration_watch import MigrationWatch, pause_for

__all__ = [
    "OUTSIDE_TRANSACTION_MARKER",
    "AppliedMigration",
    "Migration",
    "find_next_migration",
    "load_migrations",
    "load_state_guard",
    "migrate",
]

# Held by the session that migrates: "rotb" in ASCII, in addition to the lock of migration_steps.py.
MIGRATION_LOCK_ID: Final = 0x726F7462
MIGRATION_LOCK_POLL_S: Final = 0.2
_NAME: Final = re.compile(r"(\d{4})_[a-z0-9_]+")

_EXISTS: Final = "select to_regclass('rota.migrations') is not null"
_PREPARE: Final = """
create schema if not exists rota;
create table if not exists rota.migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp()
);
"""
# A migration may take hours. If its process dies or goes silent, the server soon ends the session
# and releases the lock.
_BEGIN_SESSION: Final = """
set statement_timeout = 0;
set client_connection_check_interval = '2s';
set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;
"""
_END_SESSION: Final = """
reset statement_timeout;
reset lock_timeout;
reset client_connection_check_interval;
reset tcp_keepalives_idle;
reset tcp_keepalives_interval;
reset tcp_keepalives_count;
"""
_TAKE_TURN: Final = "select pg_try_advisory_lock($1)"
_END_TURN: Final = "select pg_advisory_unlock($1)"
_HOLDER: Final = """
select
    format(
        'pid %s (%s) on %s', a.pid, coalesce(nullif(a.application_name, ''), 'no name'),
        coalesce(a.client_addr::text, 'this machine')
    )
from pg_locks as l
inner join pg_stat_activity as a on a.pid = l.pid
where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = $1::bigint::oid
limit 1
"""


def load_migrations() -> tuple[Migration, ...]:
    """Return the migrations of this version of Rota, in order."""
    folder = files("rota.store").joinpath("migrations")
    found = [
        Migration(version=int(match.group(1)), name=match.group(), text=entry.read_text("utf-8"))
        for entry in folder.iterdir()
        if (match := _NAME.match(entry.name)) and entry.name.endswith(".sql")
    ]
    return tuple(sorted(found, key=lambda migration: migration.version))


def load_state_guard() -> Migration:
    text = files("rota.store").joinpath("generated", "state_guard.sql").read_text("utf-8")
    return Migration(version=0, name="state_guard", text=text)


async def migrate(
    conn: Connection,
    *,
    migrations: Sequence[Migration] | None = None,
    guard: Migration | None = None,
    watch: MigrationWatch | None = None,
) -> list[str]:
    """Apply the missing migrations and return their names, oldest first.

    The connection should be dedicated and have no client-side timeout.
    """
    wanted = load_migrations() if migrations is None else migrations
    guard, watch = guard or load_state_guard(), watch or MigrationWatch()
    with translate_errors(conn):
        if await _first_missing(conn, wanted, guard) is None:
            return []
        await conn.execute(_BEGIN_SESSION)
        try:
            async with _turn(conn, watch):
                return await _apply_missing(conn, wanted, guard, watch)
        finally:
            if not conn.is_closed():
                await conn.execute(_END_SESSION)


async def _apply_missing(
    conn: Connection, wanted: Sequence[Migration], guard: Migration, watch: MigrationWatch
) -> list[str]:
    if not await conn.fetchval(_EXISTS):
        await run_under_lock(conn, _PREPARE)
    done: list[str] = []
    while step := await _first_missing(conn, wanted, guard):
        if await apply_step(conn, step, watch):
            done.append(step.name)
    return done


async def _first_missing(
    conn: Connection, wanted: Sequence[Migration], guard: Migration
) -> Migration | None:
    """Return what to apply next; the guard comes last."""
    if not await conn.fetchval(_EXISTS):
        return wanted[0] if wanted else guard
    applied = await read_applied(conn)
    step = find_next_migration(wanted, applied)
    if step is not None:
        return step
    ahead = {row.version for row in applied} - {step.version for step in wanted} - {0}
    current = next((row for row in applied if row.version == 0), None)
    # Never replace the guard of a newer version with an older one.
    if ahead or (current is not None and current.checksum == guard.checksum):
        return None
    return guard


def find_next_migration(
    wanted: Sequence[Migration], applied: Sequence[AppliedMigration]
) -> Migration | None:
    """Return the first missing migration, after checking that the applied ones match this code."""
    known = {migration.version: migration for migration in wanted}
    present = {row.version for row in applied}
    for row in applied:
        expected = known.get(row.version)
        if row.version == 0:
            continue
        if expected is None and not row.name.endswith(EXPAND_SUFFIX):
            raise SchemaMismatch(
                reason=f"its schema has {row.name}, which this version of Rota does not know",
                remedy="upgrade Rota on this machine",
            )
        if expected is not None and expected.checksum != row.checksum:
            raise SchemaMismatch(
                reason=f"the text of {row.name} differs from the one that was applied",
                remedy="install the release that applied it; an applied migration never changes",
            )
    return next((step for step in wanted if step.version not in present), None)


async def find_missing_migration(conn: Connection) -> str | None:
    """Return the name of the next migration to apply, without changing anything."""
    with translate_errors(conn):
        step = await _first_missing(conn, load_migrations(), load_state_guard())
    return None if step is None else step.name


async def is_schema_current(conn: Connection) -> bool:
    """Return whether no migration is missing, without changing anything."""
    with translate_errors(conn):
        if not await conn.fetchval(_EXISTS):
            return False
        return find_next_migration(load_migrations(), await read_applied(conn)) is None


@asynccontextmanager
async def _turn(conn: Connection, watch: MigrationWatch) -> AsyncIterator[None]:
    """Hold the migration lock while the block runs. Waits by polling: a statement that waits holds
    a snapshot, and a concurrent index build would wait for that snapshot.
    """
    watch.start_timer()
    reported = 0.0
    while not await conn.fetchval(_TAKE_TURN, MIGRATION_LOCK_ID):
        waited = watch.elapsed.total_seconds()
        if waited >= reported:
            watch.report_waiting(await conn.fetchval(_HOLDER, MIGRATION_LOCK_ID))
            reported = waited + watch.report_interval_s
        await pause_for(MIGRATION_LOCK_POLL_S)
    try:
        yield
    finally:
        if not conn.is_closed():
            await conn.execute(_END_TURN, MIGRATION_LOCK_ID)

"""Brings the schema to the version this code knows; many processes may do so at once. Room: store.

Forward only. Each migration is one .sql file, applied once and recorded in rota.migrations with a
checksum of the file (migration_steps.py says how). A file that changed after it was applied is
refused. A schema that is ahead of the code is accepted when all it has more are `_expand`
migrations, which leave older code working (a rolling upgrade). The state guard is rendered from
core/states.py and applied again whenever its text changes.

A process that finds nothing to do asks for no lock, so another's long migration does not keep it
from starting. A process that needs a migration waits for its turn without limit, and reports for
whom. The turn is a lock of the session: if the migrating process dies, the server ends its session
and the next process goes on where it was.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final

from rota.core.errors import SchemaMismatch
from rota.store.driver import Connection
from rota.store.migration_steps import (
    EXPAND,
    OUTSIDE,
    Applied,
    Migration,
    apply_step,
    read_applied,
    run_in_turn,
)
from rota.store.migration_watch import MigrationWatch, rest
from rota.store.translate import translated

__all__ = ["OUTSIDE", "Applied", "Migration", "load", "load_guard", "migrate", "next_step"]

# Held by the session of whoever migrates: "rotb" in ASCII, beside the lock of migration_steps.py.
TURN: Final = 0x726F7462
TURN_POLL_S: Final = 0.2
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
# A migration may take hours. If its process dies or falls silent, the server ends the session soon,
# and with it the turn.
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


def load() -> tuple[Migration, ...]:
    """The migrations of this version of Rota, in order."""
    folder = files("rota.store").joinpath("migrations")
    found = [
        Migration(version=int(match.group(1)), name=match.group(), text=entry.read_text("utf-8"))
        for entry in folder.iterdir()
        if (match := _NAME.match(entry.name)) and entry.name.endswith(".sql")
    ]
    return tuple(sorted(found, key=lambda migration: migration.version))


def load_guard() -> Migration:
    text = files("rota.store").joinpath("generated", "state_guard.sql").read_text("utf-8")
    return Migration(version=0, name="state_guard", text=text)


async def migrate(
    conn: Connection,
    *,
    migrations: Sequence[Migration] | None = None,
    guard: Migration | None = None,
    watch: MigrationWatch | None = None,
) -> list[str]:
    """Apply what is missing and return the names of what was applied, oldest first.

    The connection should be one of its own and without a client's time-out.
    """
    wanted = load() if migrations is None else migrations
    guard, watch = guard or load_guard(), watch or MigrationWatch()
    with translated(conn):
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
        await run_in_turn(conn, _PREPARE)
    done: list[str] = []
    while step := await _first_missing(conn, wanted, guard):
        if await apply_step(conn, step, watch):
            done.append(step.name)
    return done


async def _first_missing(
    conn: Connection, wanted: Sequence[Migration], guard: Migration
) -> Migration | None:
    """What is to be applied next; the guard comes last."""
    if not await conn.fetchval(_EXISTS):
        return wanted[0] if wanted else guard
    applied = await read_applied(conn)
    step = next_step(wanted, applied)
    if step is not None:
        return step
    ahead = {row.version for row in applied} - {each.version for each in wanted} - {0}
    current = next((row for row in applied if row.version == 0), None)
    # Never take the guard of a newer version back.
    if ahead or (current is not None and current.checksum == guard.checksum):
        return None
    return guard


def next_step(wanted: Sequence[Migration], applied: Sequence[Applied]) -> Migration | None:
    """The first migration that is missing, after checking that the rest is as we know it."""
    known = {migration.version: migration for migration in wanted}
    present = {row.version for row in applied}
    for row in applied:
        ours = known.get(row.version)
        if row.version == 0:
            continue
        if ours is None and not row.name.endswith(EXPAND):
            raise SchemaMismatch(
                reason=f"its schema has {row.name}, which this version of Rota does not know",
                remedy="upgrade Rota on this machine",
            )
        if ours is not None and ours.checksum != row.checksum:
            raise SchemaMismatch(
                reason=f"{row.name} was applied with another text than this version of Rota has",
                remedy="install the release that made it; an applied migration never changes",
            )
    return next((step for step in wanted if step.version not in present), None)


async def find_missing(conn: Connection) -> str | None:
    """Return the name of what is to be applied next, without changing anything."""
    with translated(conn):
        step = await _first_missing(conn, load(), load_guard())
    return None if step is None else step.name


async def schema_is_current(conn: Connection) -> bool:
    """Whether nothing is missing, without changing anything."""
    with translated(conn):
        if not await conn.fetchval(_EXISTS):
            return False
        return next_step(load(), await read_applied(conn)) is None


@asynccontextmanager
async def _turn(conn: Connection, watch: MigrationWatch) -> AsyncIterator[None]:
    """Be the only one who migrates, as long as the block runs. Waits by asking again and again: a
    statement that waits holds a snapshot, for which a concurrent build of an index would wait.
    """
    watch.begin()
    reported = 0.0
    while not await conn.fetchval(_TAKE_TURN, TURN):
        waited = watch.lasted.total_seconds()
        if waited >= reported:
            watch.report_waiting(await conn.fetchval(_HOLDER, TURN))
            reported = waited + watch.report_interval_s
        await rest(TURN_POLL_S)
    try:
        yield
    finally:
        if not conn.is_closed():
            await conn.execute(_END_TURN, TURN)

"""Brings the schema to the version this code knows; many processes may do so at once. Room: store.

Forward only. Each migration is one .sql file and one transaction, under a lock that the other
processes wait for; its row in rota.migrations is written first, with a checksum of the file. A file
that changed after it was applied is refused. A schema that is ahead of the code is accepted when
all it has more are `_expand` migrations, which leave older code working (a rolling upgrade).
The state guard is rendered from core/states.py and applied again whenever its text changes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Final

from rota.core.errors import SchemaMismatch, StoreUnavailable
from rota.store.driver import Connection
from rota.store.translate import translated

# Any number that nobody else locks: "rota" in ASCII.
LOCK: Final = 0x726F7461
OUTSIDE: Final = "-- rota: outside-transaction"
TRIES: Final = 15
_NAME: Final = re.compile(r"(\d{4})_[a-z0-9_]+")

_PREPARE: Final = """
create schema if not exists rota;
create table if not exists rota.migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp()
);
"""
_READ: Final = "table rota.migrations order by version"
_NOTE: Final = """
insert into rota.migrations (version, name, checksum) values ($1, $2, $3)
on conflict (version) do update
set name = excluded.name, checksum = excluded.checksum, applied_at = clock_timestamp()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Version 0 is the state guard; it is not a step but a text that must be the current one."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    version: int
    name: str
    checksum: str


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
) -> list[str]:
    """Apply what is missing and return the names of what was applied, oldest first."""
    wanted = load() if migrations is None else migrations
    done: list[str] = []
    with translated():
        await _in_turn(conn, _PREPARE)
        while step := next_step(wanted, await _applied(conn)):
            if await _apply(conn, step):
                done.append(step.name)
        if await _apply_guard(conn, guard or load_guard(), wanted):
            done.append("state_guard")
    return done


def next_step(wanted: Sequence[Migration], applied: Sequence[Applied]) -> Migration | None:
    """The first migration that is missing, after checking that the rest is as we know it."""
    known = {migration.version: migration for migration in wanted}
    present = {row.version for row in applied}
    for row in applied:
        ours = known.get(row.version)
        if row.version == 0:
            continue
        if ours is None and not row.name.endswith("_expand"):
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


async def schema_is_current(conn: Connection) -> bool:
    """Whether nothing is missing, without changing anything."""
    with translated():
        if not await conn.fetchval("select to_regclass('rota.migrations') is not null"):
            return False
        return next_step(load(), await _applied(conn)) is None


async def _applied(conn: Connection) -> list[Applied]:
    rows = await conn.fetch(_READ)
    return [Applied(version=row[0], name=row[1], checksum=row[2]) for row in rows]


async def _apply(conn: Connection, step: Migration) -> bool:
    """Apply one step unless another process was faster."""
    if step.text.startswith(OUTSIDE):
        return await _apply_outside(conn, step)
    for _ in range(TRIES):
        try:
            async with conn.transaction():
                await _lock(conn)
                if any(row.version == step.version for row in await _applied(conn)):
                    return False
                await conn.execute(_NOTE, step.version, step.name, step.checksum)
                with translated():
                    await conn.execute(step.text)
        except StoreUnavailable:
            # A lock that a busy table holds: give way, so that its queue can drain, and try again.
            if conn.is_closed():
                raise
            continue
        return True
    raise StoreUnavailable(reason=f"{step.name} found no moment in which its tables were free")


async def _apply_outside(conn: Connection, step: Migration) -> bool:
    """For `create index concurrently`: no transaction, so the row comes last and each statement
    must be repeatable.
    """
    await conn.execute("set lock_timeout = 0; set statement_timeout = 0")
    await conn.execute("select pg_advisory_lock($1)", LOCK)
    try:
        if any(row.version == step.version for row in await _applied(conn)):
            return False
        for command in step.text.split(";\n"):
            if command.strip():
                await conn.execute(command)
        await conn.execute(_NOTE, step.version, step.name, step.checksum)
    finally:
        await conn.execute("select pg_advisory_unlock($1)", LOCK)
        await conn.execute("reset lock_timeout; reset statement_timeout")
    return True


async def _apply_guard(conn: Connection, guard: Migration, wanted: Sequence[Migration]) -> bool:
    async with conn.transaction():
        await _lock(conn)
        applied = {row.version: row for row in await _applied(conn)}
        ahead = applied.keys() - {migration.version for migration in wanted} - {0}
        current = applied.get(0)
        # Never take the guard of a newer version back.
        if ahead or (current is not None and current.checksum == guard.checksum):
            return False
        await conn.execute(_NOTE, guard.version, guard.name, guard.checksum)
        await conn.execute(guard.text)
    return True


async def _in_turn(conn: Connection, commands: str) -> None:
    async with conn.transaction():
        await _lock(conn)
        await conn.execute(commands)


async def _lock(conn: Connection) -> None:
    """Wait for the other migrators without limit, and for tables only shortly."""
    await conn.execute("set local lock_timeout = 0; set local statement_timeout = 0")
    await conn.execute("select pg_advisory_xact_lock($1)", LOCK)
    await conn.execute("set local lock_timeout = '2s'")

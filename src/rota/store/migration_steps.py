"""Applies one migration: in a transaction, or outside of one, statement by statement.

A migration waits only briefly for the lock of a table, because every session behind it in the
lock's queue waits too. Then it gives way, rests and tries again. It does the same when the watch
cancels it because another session waits for a lock that it holds (migration_watch.py).

A file that begins with `-- rota: outside-transaction` is for `create index concurrently`. It is
recorded after its last statement, so each of its statements must be repeatable. An index left
invalid by an interrupted build is dropped and built again; it never counts as built.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import asyncpg

from rota.core.errors import MigrationBlocked, StoreUnavailable
from rota.store.driver import Connection
from rota.store.error_translation import first_line_of, translate_errors
from rota.store.migration_watch import MigrationWatch, pause_for

# An arbitrary number that no other program locks: "rota" in ASCII.
LEGACY_MIGRATION_LOCK_ID: Final = 0x726F7461
OUTSIDE_TRANSACTION_MARKER: Final = "-- rota: outside-transaction"
EXPAND_SUFFIX: Final = "_expand"
MIGRATION_TRIES_MAX: Final = 30
LOCK_TIMEOUT_MS: Final = 500
# Seconds between two tries; doubled after each try.
FIRST_REST_S: Final = 0.2
REST_MAX_S: Final = 5.0

_CONCURRENT_INDEX: Final = re.compile(
    r"create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?([a-z0-9_]+)\s",
)
_IS_VALID: Final = """
select i.indisvalid and i.indisready from pg_index as i
where i.indexrelid = to_regclass($1::text)
"""
_READ: Final = "table rota.migrations order by version"
_NOTE: Final = """
insert into rota.migrations (version, name, checksum) values ($1, $2, $3)
on conflict (version) do update
set name = excluded.name, checksum = excluded.checksum, applied_at = clock_timestamp()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Version 0 is the state guard: not a step, but a text that must always be current."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    @property
    def is_outside_transaction(self) -> bool:
        return self.text.startswith(OUTSIDE_TRANSACTION_MARKER)

    @property
    def yields_to_writers(self) -> bool:
        """Whether other processes keep working during it and must not wait for it."""
        return self.name.endswith(EXPAND_SUFFIX) or self.version == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMigration:
    version: int
    name: str
    checksum: str


async def read_applied(conn: Connection) -> list[AppliedMigration]:
    rows = await conn.fetch(_READ)
    return [AppliedMigration(version=row[0], name=row[1], checksum=row[2]) for row in rows]


async def apply_step(conn: Connection, step: Migration, watch: MigrationWatch) -> bool:
    """Apply and record one migration, unless a process of the previous release did so meanwhile."""
    watch.start_timer()
    if step.is_outside_transaction:
        await _apply_outside(conn, step, watch)
        done = True
    else:
        done = await _with_patience(conn, step, watch, lambda: _apply_inside(conn, step))
    if done:
        watch.report_applied(step.name)
    return done


async def _apply_inside(conn: Connection, step: Migration) -> bool:
    async with conn.transaction():
        # Processes of the previous release know only this lock.
        await conn.execute("set local lock_timeout = 0")
        await conn.execute("select pg_advisory_xact_lock($1)", LEGACY_MIGRATION_LOCK_ID)
        if any(
            (row.version, row.checksum) == (step.version, step.checksum)
            for row in await read_applied(conn)
        ):
            return False
        await conn.execute(f"set local lock_timeout = {LOCK_TIMEOUT_MS}")
        await conn.execute(_NOTE, step.version, step.name, step.checksum)
        await conn.execute(step.text)
    return True


async def _apply_outside(conn: Connection, step: Migration, watch: MigrationWatch) -> None:
    """Apply without a transaction and without the previous release's lock: a process that waits for
    that lock holds a snapshot, and a concurrent build would wait for the snapshot.
    """
    for command in split_statements(step.text):
        await _with_patience(conn, step, watch, _command(conn, command))
    await conn.execute(_NOTE, step.version, step.name, step.checksum)


def split_statements(text: str) -> list[str]:
    """Split a migration outside a transaction; each statement ends with `;` and a line break."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    parts = ("\n".join(lines) + "\n").split(";\n")
    return [part.strip() for part in parts if part.strip()]


def _command(conn: Connection, command: str) -> Callable[[], Awaitable[bool]]:
    match = _CONCURRENT_INDEX.match(command.lower())

    async def execute() -> bool:
        if match is not None:
            await _build_index(conn, f"rota.{match[1]}", command)
            return True
        # A `concurrently` command waits for other transactions and blocks none; a timeout would
        # only discard its work.
        limit = 0 if "concurrently" in command.lower() else LOCK_TIMEOUT_MS
        await conn.execute(f"set lock_timeout = {limit}")
        await conn.execute(command)
        return True

    return execute


async def _build_index(conn: Connection, name: str, command: str) -> None:
    """Build an index unless a valid one exists; drop an invalid one first."""
    await conn.execute("set lock_timeout = 0")
    is_valid = await conn.fetchval(_IS_VALID, name)
    if is_valid:
        return
    if is_valid is not None:
        await conn.execute(f"drop index concurrently if exists {name}")
    try:
        await conn.execute(command)
    except asyncpg.PostgresError:
        # An invalid unique index would still reject rows.
        with suppress(asyncpg.PostgresError, OSError, asyncpg.InterfaceError):
            await conn.execute(f"drop index concurrently if exists {name}")
        raise


async def _with_patience(
    conn: Connection,
    step: Migration,
    watch: MigrationWatch,
    execute: Callable[[], Awaitable[bool]],
) -> bool:
    """Execute a step; when it meets a lock, give way and try again."""
    pid, reason = await conn.fetchval("select pg_backend_pid()"), ""
    pause = FIRST_REST_S
    for tries in range(1, MIGRATION_TRIES_MAX + 1):
        try:
            async with watch.watch_session(
                step.name,
                pid,
                yields_to_writers=step.yields_to_writers and not step.is_outside_transaction,
            ):
                return await execute()
        except (
            asyncpg.LockNotAvailableError,
            asyncpg.DeadlockDetectedError,
            asyncpg.QueryCanceledError,
        ) as error:
            if isinstance(error, asyncpg.QueryCanceledError) and not watch.has_yielded:
                raise _interrupted(step, watch, first_line_of(error)) from error
            reason = _reason(error, watch)
            watch.report_put_off(step.name, reason, tries)
        except TimeoutError as error:
            limit = "the timeout of this client's connection"
            raise _interrupted(step, watch, limit) from error
        watch.has_yielded = False
        await pause_for(pause)
        pause = min(2 * pause, REST_MAX_S)
    raise MigrationBlocked(migration=step.name, tries=MIGRATION_TRIES_MAX, reason=reason)


def _reason(error: asyncpg.PostgresError, watch: MigrationWatch) -> str:
    if isinstance(error, asyncpg.QueryCanceledError):
        return "other sessions waited for it"
    if isinstance(error, asyncpg.DeadlockDetectedError):
        return "it deadlocked with another session"
    holder = watch.blocker or "another session"
    return f"a table's lock was not free within {LOCK_TIMEOUT_MS} ms; {holder} holds it"


def _interrupted(step: Migration, watch: MigrationWatch, cause: str) -> StoreUnavailable:
    """Build the error for a migration ended by a timeout or by an operator, not by a lock."""
    seconds = watch.elapsed.total_seconds()
    return StoreUnavailable(
        reason=f"{step.name} was interrupted after {seconds:.1f} s by {cause} and is not applied"
    )


async def run_under_lock(conn: Connection, commands: str) -> None:
    """Execute commands under the lock that the previous release takes too."""
    with translate_errors(conn):
        async with conn.transaction():
            await conn.execute("select pg_advisory_xact_lock($1)", LEGACY_MIGRATION_LOCK_ID)
            await conn.execute(commands)

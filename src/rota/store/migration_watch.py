"""Watches a migration: reports its progress and makes it give way to writers.

A second connection inspects the locks of the migrating one. It reports which sessions the migration
waits for, and cancels an `_expand` migration before any other session has waited a second for it:
older code keeps working during such a migration and must not notice it (F59). Without a second
connection, only the progress is reported.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.errors import RotaError
from rota.core.log_events import (
    Emit,
    MigrationApplied,
    MigrationDelayed,
    MigrationRunning,
    MigrationWaiting,
)
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors

OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]

REPORT_INTERVAL_S: Final = 5.0
LOCK_CHECK_INTERVAL_S: Final = 0.1
# How long another session may wait for a migration. Together with one more look and the round trip
# to the server it stays below the second that writers may wait at most.
WAIT_FOR_MIGRATION_MAX_S: Final = 0.7

# The advisory locks of other migrating processes are not writes.
_WAITERS: Final = """
select distinct w.pid from pg_locks as w
where not w.granted and w.locktype <> 'advisory' and $1::integer = any(pg_blocking_pids(w.pid))
"""
_BLOCKERS: Final = """
select string_agg(
    format(
        'pid %s (%s, %s, transaction open for %s s)',
        a.pid,
        coalesce(nullif(a.application_name, ''), 'no name'),
        coalesce(a.state, a.backend_type),
        coalesce(round(extract(epoch from clock_timestamp() - a.xact_start)), 0)
    ), '; ' order by a.xact_start
)
from pg_stat_activity as a
where a.pid = any(pg_blocking_pids($1::integer))
"""


def ignore_event(_event: object) -> None:
    """Discard the event."""


@dataclass(slots=True, kw_only=True)
class MigrationWatch:
    """`blocker` describes the sessions for which the migration was last seen waiting."""

    emit: Emit = ignore_event
    open_connection: OpenConnection | None = None
    report_interval_s: float = REPORT_INTERVAL_S
    blocker: str | None = None
    has_yielded: bool = False
    _began: float = field(default=0.0)

    def start_timer(self) -> None:
        """Start the clock for one migration."""
        self._began = asyncio.get_running_loop().time()
        self.blocker, self.has_yielded = None, False

    @property
    def elapsed(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time() - self._began)

    def report_applied(self, name: str) -> None:
        self.emit(MigrationApplied(name=name, lasted=self.elapsed))

    def report_put_off(self, name: str, reason: str, tries: int) -> None:
        self.emit(MigrationDelayed(name=name, reason=reason, tries=tries))

    def report_waiting(self, holder: str | None) -> None:
        self.emit(MigrationWaiting(holder=holder or "another session", waited=self.elapsed))

    @asynccontextmanager
    async def watch_session(
        self, name: str, pid: int, *, yields_to_writers: bool
    ) -> AsyncIterator[None]:
        """Watch the session `pid` while the block applies this migration."""
        tasks = [asyncio.create_task(self._report(name))]
        if self.open_connection is not None:
            tasks.append(
                asyncio.create_task(self._look(self.open_connection, pid, yields_to_writers))
            )
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _report(self, name: str) -> None:
        while True:
            await pause_for(self.report_interval_s)
            self.emit(MigrationRunning(name=name, lasted=self.elapsed, waits_for=self.blocker))

    async def _look(self, open_connection: OpenConnection, pid: int, gives_way: bool) -> None:  # noqa: FBT001 — private
        """Inspect the locks until the migration ends. If the watching connection fails, the
        migration continues, and its lock timeout keeps its waits short.
        """
        with suppress(RotaError):
            async with open_connection() as conn:
                waiting_since: dict[int, float] = {}
                while True:
                    with translate_errors(conn):
                        self.blocker = await conn.fetchval(_BLOCKERS, pid) or self.blocker
                        waiters = {row[0] for row in await conn.fetch(_WAITERS, pid)}
                        now = asyncio.get_running_loop().time()
                        waiting_since = {
                            waiter: waiting_since.get(waiter, now) for waiter in waiters
                        }
                        longest = now - min(waiting_since.values(), default=now)
                        if gives_way and longest >= WAIT_FOR_MIGRATION_MAX_S:
                            self.has_yielded = True
                            await conn.execute("select pg_cancel_backend($1::integer)", pid)
                    await pause_for(LOCK_CHECK_INTERVAL_S)


async def pause_for(seconds: float) -> None:
    """Wait on the event loop's clock; no decision depends on it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()

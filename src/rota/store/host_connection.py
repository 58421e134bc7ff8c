"""A connection that closes itself when its host has failed. Room: store.

After a failover the old primary may still answer: as a standby it refuses writes, on its way down
it ends sessions, frozen it says nothing. A connection to it must not be used again, by anybody,
and neither must the others to the same host. Whoever runs the statement, ours or a handler's, the
connection sees the error first: it closes at once, so that even the rollback does not wait for a
silent server, and it reports the failure to the hosts of the process.
"""

from typing import Any, Final, cast

import asyncpg

from rota.store.hosts import Host, HostList

# read_only_sql_transaction, admin_shutdown, crash_shutdown, cannot_connect_now
FAILED_HOST_STATES: Final = frozenset({"25006", "57P01", "57P02", "57P03"})
FAULTS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


class HostConnection(asyncpg.Connection):  # type: ignore[misc] # asyncpg has no types
    """`opened_to` tells it its host, before it is used."""

    __slots__ = ("_failures_before", "_hosts", "host")

    def opened_to(self, host: Host, hosts: HostList, *, failures: int) -> None:
        """Remember the host, and how often it had failed when this connection was opened."""
        self.host, self._hosts, self._failures_before = host, hosts, failures

    def is_expired(self) -> bool:
        """Return whether the host has failed since this connection was opened."""
        return self._hosts.failures(self.host) != self._failures_before

    def is_in_transaction(self) -> bool:
        """Say of a closed connection that it is closed; asyncpg fails there."""
        self._check_open()
        return bool(super().is_in_transaction())

    # Whatever runs a statement. `timeout` is asyncpg's name for the caller's own limit.
    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:  # noqa: ASYNC109
        try:
            return cast("str", await super().execute(query, *args, timeout=timeout))
        except FAULTS as error:
            self._judge(error, timeout)
            raise

    async def executemany(self, command: str, args: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109
        try:
            await super().executemany(command, args, timeout=timeout)
        except FAULTS as error:
            self._judge(error, timeout)
            raise

    async def fetch(
        self,
        query: str,
        *args: Any,
        timeout: float | None = None,  # noqa: ASYNC109
        record_class: Any = None,
    ) -> list[Any]:
        try:
            return cast(
                "list[Any]",
                await super().fetch(query, *args, timeout=timeout, record_class=record_class),
            )
        except FAULTS as error:
            self._judge(error, timeout)
            raise

    async def fetchrow(
        self,
        query: str,
        *args: Any,
        timeout: float | None = None,  # noqa: ASYNC109
        record_class: Any = None,
    ) -> Any:
        try:
            return await super().fetchrow(query, *args, timeout=timeout, record_class=record_class)
        except FAULTS as error:
            self._judge(error, timeout)
            raise

    async def fetchval(
        self,
        query: str,
        *args: Any,
        column: int = 0,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Any:
        try:
            return await super().fetchval(query, *args, column=column, timeout=timeout)
        except FAULTS as error:
            self._judge(error, timeout)
            raise

    def _judge(self, error: Exception, timeout: float | None) -> None:
        """Close this connection if the server has failed; say so if it is closed already."""
        if isinstance(error, asyncpg.InterfaceError):
            if self.is_closed():
                raise asyncpg.ConnectionDoesNotExistError(str(error)) from error
            return
        # A limit of the caller's own says nothing of the server.
        is_silent = isinstance(error, TimeoutError) and timeout is None
        if is_silent or has_failed_host(error):
            self.terminate()
            self._hosts.record_failure(self.host, seen=self._failures_before)


def has_failed_host(error: Exception) -> bool:
    """Return whether an error is about the whole server, not about a statement.

    A server that ends a session says so and hangs up; asyncpg reports the second, because of the
    first.
    """
    return any(
        isinstance(each, asyncpg.PostgresError) and each.sqlstate in FAILED_HOST_STATES
        for each in (error, error.__cause__)
    )

"""A connection that closes itself when its host has failed.

After a failover the old primary may still answer: as a standby it refuses writes, while shutting
down it ends sessions, and when frozen it stays silent. No caller may use a connection to it again,
nor any other connection to the same host. The connection sees the error of every statement first,
whether Rota or a handler runs it. It closes at once, so that even the rollback does not wait for a
silent server, and it reports the failure to the process's host list.
"""

from typing import Any, Final, cast

import asyncpg

from rota.store.hosts import Host, HostList

# read_only_sql_transaction, admin_shutdown, crash_shutdown, cannot_connect_now
FAILED_HOST_STATES: Final = frozenset({"25006", "57P01", "57P02", "57P03"})
STATEMENT_ERRORS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


class HostConnection(asyncpg.Connection):  # type: ignore[misc] # asyncpg has no types
    """Call `opened_to` with its host before using it."""

    __slots__ = ("_failures_before", "_hosts", "host")

    def set_host(self, host: Host, hosts: HostList, *, failures: int) -> None:
        """Remember the host, and how often it had failed when this connection was opened."""
        self.host, self._hosts, self._failures_before = host, hosts, failures

    def is_expired(self) -> bool:
        """Return whether the host has failed since this connection was opened."""
        return self._hosts.failure_count(self.host) != self._failures_before

    def is_in_transaction(self) -> bool:
        """Raise for a closed connection that it is closed; asyncpg itself fails there."""
        self._check_open()
        return bool(super().is_in_transaction())

    # The methods that run a statement. `timeout` is asyncpg's name for the caller's own limit.
    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:  # noqa: ASYNC109
        try:
            return cast("str", await super().execute(query, *args, timeout=timeout))
        except STATEMENT_ERRORS as error:
            self._close_if_host_failed(error, timeout)
            raise

    async def executemany(self, command: str, args: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109
        try:
            await super().executemany(command, args, timeout=timeout)
        except STATEMENT_ERRORS as error:
            self._close_if_host_failed(error, timeout)
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
        except STATEMENT_ERRORS as error:
            self._close_if_host_failed(error, timeout)
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
        except STATEMENT_ERRORS as error:
            self._close_if_host_failed(error, timeout)
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
        except STATEMENT_ERRORS as error:
            self._close_if_host_failed(error, timeout)
            raise

    def _close_if_host_failed(self, error: Exception, timeout: float | None) -> None:
        """Close this connection if its server has failed; raise if it is closed already."""
        if isinstance(error, asyncpg.InterfaceError):
            if self.is_closed():
                raise asyncpg.ConnectionDoesNotExistError(str(error)) from error
            return
        # The caller's own timeout says nothing about the server.
        is_silent = isinstance(error, TimeoutError) and timeout is None
        if is_silent or is_host_failure(error):
            self.terminate()
            self._hosts.record_failure(self.host, seen=self._failures_before)


def is_host_failure(error: Exception) -> bool:
    """Return whether an error concerns the whole server, not one statement.

    A server that ends a session reports it and disconnects; asyncpg raises the second with the
    first as its cause.
    """
    return any(
        isinstance(candidate, asyncpg.PostgresError) and candidate.sqlstate in FAILED_HOST_STATES
        for candidate in (error, error.__cause__)
    )

"""Aborts a PostgreSQL connection that receives more bytes than one fetch may return.

asyncpg returns whole rows, so a huge value would be noticed only after it was read and decoded on
the loop. This protocol sits between the socket and asyncpg and counts bytes: beyond the budget it
aborts the connection, before asyncpg decodes anything.
"""

import asyncio
from typing import Any, Final

from rota.executors.sql.size_limits import VALUE_MAX_BYTES

# Fetches are sized to fit into a quarter of this.
FETCH_MAX_BYTES: Final = 4 * VALUE_MAX_BYTES


class ByteBudget(asyncio.Protocol):
    """Counts the bytes received since `restart`; `is_exceeded` stays true once set."""

    def __init__(self, conn: Any) -> None:
        self._transport = conn._transport  # noqa: SLF001 - asyncpg has no public access
        self._inner = self._transport.get_protocol()
        self.received = 0
        self.is_exceeded = False
        self._transport.set_protocol(self)

    def restart(self) -> None:
        self.received = 0

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self.received > FETCH_MAX_BYTES:
            self.is_exceeded = True
            self._transport.abort()
            return
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()  # type: ignore[no-any-return]

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

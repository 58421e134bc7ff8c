"""Keeps the session of an API process, which makes it visible to the cluster.

The session holds no lease on anything: it lists the process and where its metrics are.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.log_events import Emit, SessionOpened
from rota.runtime.service import Duty, Halt
from rota.store import sessions
from rota.store.driver import ConnectionSource
from rota.store.sessions import NewSession, SessionRole

SESSION_TTL: Final = timedelta(seconds=30)
SESSION_INTERVAL_S: Final = 10.0


@dataclass(slots=True, kw_only=True)
class ApiSessionKeeper:
    """Opens the session, renews it, and opens another if it was expired."""

    source: ConnectionSource
    name: str
    version: str
    observe_url: str | None
    new_id: Callable[[], UUID]
    emit: Emit
    _session_id: UUID | None = None

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            if self._session_id is not None:
                try:
                    await sessions.send_heartbeat(
                        conn, session_id=self._session_id, running=(), ttl=SESSION_TTL
                    )
                except LeaseLost:
                    self._session_id = None
                else:
                    return SESSION_INTERVAL_S
            session = NewSession(
                id=self.new_id(),
                role=SessionRole.API,
                name=self.name,
                observe_url=self.observe_url,
                version=self.version,
            )
            await sessions.open_session(conn, session, ttl=SESSION_TTL)
        self._session_id = session.id
        self.emit(SessionOpened(role=session.role.value, name=self.name, session_id=session.id))
        return SESSION_INTERVAL_S

    async def close_session(self) -> None:
        """End the session. If the database is unreachable, its lease expires."""
        if self._session_id is None:
            return
        with suppress(StoreUnavailable):
            async with self.source.acquire() as conn:
                await sessions.close_session(conn, self._session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSessionService:
    """The duty of the session, which ends the session when it is stopped."""

    duty: Duty
    keeper: ApiSessionKeeper
    name: str = "keeping the session"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.keeper.close_session()

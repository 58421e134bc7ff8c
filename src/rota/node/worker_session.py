"""The session of a worker: how it joins the cluster and how it leaves. Room: node."""

import asyncio
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from rota.config.settings import Settings
from rota.core.describing import Describing, exactly_once_of
from rota.core.errors import StoreUnavailable
from rota.core.events import SessionOpened
from rota.core.executor import Executor
from rota.core.ids import stamped
from rota.flow.execute.unfolding import UNFOLDING
from rota.node.clock import measure_clock
from rota.runtime.service import Ground
from rota.store import kinds, names, sessions
from rota.store.pool import Access, open_connection
from rota.store.sessions import NewSession, Role

LEAVE_LIMIT: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A worker as the database knows it."""

    session_id: UUID
    queue_ids: tuple[int, ...]
    kinds: dict[int, str]


async def register(
    settings: Settings, access: Access, ground: Ground, executors: tuple[Executor, ...]
) -> Member:
    """Write the session: its queues, and the kinds it can run."""
    worker = settings.worker
    served = [kind for executor in (UNFOLDING, *executors) for kind in executor.kinds]
    async with open_connection(access) as conn:
        queue_ids = [await names.queue_id(conn, name) for name in worker.queues]
        by_id = {await names.kind_id(conn, kind): kind for kind in served}
        session = NewSession(
            id=stamped(await measure_clock(conn, ground), ground.chance.randbytes(10)),
            role=Role.WORKER,
            name=f"{socket.gethostname()}:{os.getpid()}",
            queues=tuple(queue_ids),
            kinds=tuple(by_id),
            slots=worker.slots,
        )
        await sessions.open_session(conn, session, ttl=worker.lease)
        await kinds.describe(conn, schemas_of(executors))
        await kinds.describe_exactly_once(conn, exactly_once_of(executors))
    ground.emit(SessionOpened(role="worker", name=session.name, session_id=session.id))
    return Member(session_id=session.id, queue_ids=tuple(queue_ids), kinds=by_id)


def schemas_of(executors: tuple[Executor, ...]) -> dict[str, Mapping[str, Any]]:
    """What the executors tell of their payloads, by kind."""
    return {
        kind: schema
        for executor in executors
        if isinstance(executor, Describing)
        for kind in executor.kinds
        if (schema := executor.payload_schema(kind)) is not None
    }


async def leave(access: Access, session_id: UUID) -> None:
    """End the session, so that nobody waits for its lease. If that fails, the lease does it."""
    try:
        async with asyncio.timeout(LEAVE_LIMIT.total_seconds()), open_connection(access) as conn:
            await sessions.close(conn, session_id)
    except (StoreUnavailable, TimeoutError):
        return

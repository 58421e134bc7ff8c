"""Reads and writes sessions: the running processes of Rota, and their heartbeats.

Reads and leases shards: which scheduler holds which slice of the jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.core.lease import ObservedSpan
from rota.store.driver import Connection
from rota.store.statement import statement


class SessionRole(StrEnum):
    WORKER = "worker"
    SCHEDULER = "scheduler"
    API = "api"


class OpenedSession(NamedTuple):
    expires_at: datetime


class HeartbeatResponse(NamedTuple):
    """The response to a heartbeat: whether to drain, and which runs to stop."""

    expires_at: datetime
    draining: bool
    cancelling: list[UUID]


class LiveSession(NamedTuple):
    id: UUID
    name: str
    slots: int
    draining: bool
    started_at: datetime
    beat_at: datetime
    expires_at: datetime


class ExpiredSession(NamedTuple):
    id: UUID
    role: SessionRole
    name: str


class SessionId(NamedTuple):
    id: UUID


class DrainingSession(NamedTuple):
    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    id: UUID
    role: SessionRole
    name: str
    queues: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    slots: int = 0
    # JSON of `ServedTenants.to_plain`; null for processes other than workers.
    serves: str | None = None
    # Where its observability listener answers; null if it is off.
    observe_url: str | None = None
    version: str | None = None


OPEN = statement("sessions/open", OpenedSession)
HEARTBEAT = statement("sessions/heartbeat", HeartbeatResponse)
LIVE = statement("sessions/read_live", LiveSession)
CLOSE = statement("sessions/close", SessionId)
DRAIN = statement("sessions/drain", DrainingSession)
EXPIRE = statement("sessions/expire", ExpiredSession)
FORGET = statement("sessions/delete_expired", SessionId)


async def open_session(conn: Connection, new: NewSession, *, ttl: timedelta) -> None:
    await OPEN.one(
        conn,
        id=new.id,
        role=new.role,
        name=new.name,
        queues=new.queues,
        kinds=new.kinds,
        slots=new.slots,
        serves=new.serves,
        observe_url=new.observe_url,
        version=new.version,
        ttl=ttl,
    )


async def send_heartbeat(
    conn: Connection, *, session_id: UUID, running: Sequence[UUID], ttl: timedelta
) -> HeartbeatResponse:
    """Renew the lease; raise `LeaseLost` if another process has expired the session."""
    row = await HEARTBEAT.one(conn, id=session_id, running=running, ttl=ttl)
    if row is None:
        raise LeaseLost(thing="session", id=session_id)
    return row


async def read_live_sessions(conn: Connection, role: SessionRole) -> list[LiveSession]:
    return await LIVE.all(conn, role=role)


async def close_session(conn: Connection, session_id: UUID) -> None:
    await CLOSE.one(conn, id=session_id)


async def drain_session(conn: Connection, session_id: UUID) -> DrainingSession | None:
    """Ask a worker to claim no more runs; None if it is not alive."""
    return await DRAIN.one(conn, id=session_id)


async def expire_sessions(
    conn: Connection, *, sight: ObservedSpan, limit: int = 100
) -> list[ExpiredSession]:
    """Mark sessions whose lease ran out as dead for ever; their runs may then be reclaimed.

    `sight` is how long the caller has seen the database without a gap. Sessions with a longer lease
    stay, because they may have been unable to renew it.
    """
    return await EXPIRE.all(conn, seen_for=sight.lasted, asked_at=sight.asked_at, most=limit)


async def delete_expired(conn: Connection, *, after: timedelta, limit: int = 100) -> int:
    """Delete sessions that expired long ago and hold nothing."""
    return len(await FORGET.all(conn, after=after, most=limit))


class Shard(NamedTuple):
    """`owner` is None if the lease has run out."""

    id: int
    owner: UUID | None
    epoch: int
    expires_at: datetime


class HeldShard(NamedTuple):
    id: int
    epoch: int


class ReleasedShard(NamedTuple):
    id: int


READ_SHARDS = statement("shards/read", Shard)
HOLD = statement("shards/hold", HeldShard)
RENEW = statement("shards/renew", HeldShard)
RELEASE = statement("shards/release", ReleasedShard)


async def read_shards(conn: Connection) -> list[Shard]:
    return await READ_SHARDS.all(conn)


async def hold_shards(
    conn: Connection, *, owner: UUID, shards: Sequence[int], ttl: timedelta
) -> dict[int, int]:
    """Take or renew shards; return the epochs of the shards that are held now."""
    return {row.id: row.epoch for row in await HOLD.all(conn, owner=owner, shards=shards, ttl=ttl)}


async def renew_shards(
    conn: Connection, *, owner: UUID, shards: Sequence[int], ttl: timedelta
) -> dict[int, int]:
    """Renew valid leases; return the epochs of the renewed shards."""
    return {row.id: row.epoch for row in await RENEW.all(conn, owner=owner, shards=shards, ttl=ttl)}


async def release_shards(conn: Connection, *, owner: UUID, shards: Sequence[int]) -> list[int]:
    return [row.id for row in await RELEASE.all(conn, owner=owner, shards=shards)]

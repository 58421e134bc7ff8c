"""Leases event sources to the processes that read them, and stores how far each was read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class TakenSource(NamedTuple):
    epoch: int
    position: str | None


class KeptSource(NamedTuple):
    epoch: int


class SourceRow(NamedTuple):
    """`reader` is the process that reads it now, if any."""

    name: str
    kind: str
    reader: str | None
    position: str | None
    lag: int | None
    taken: int
    refused: int
    read_at: datetime | None
    taken_at: datetime | None
    failures: int
    error: str | None
    error_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReaderId:
    """A process that wants to read a source; `owner` identifies one start of it."""

    tenant_id: int
    name: str
    owner: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLease:
    """A leased source; nothing can be written with an older epoch."""

    reader: SourceReaderId
    epoch: int
    position: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress:
    """The result of one pass. `error` is that of the message refused last."""

    position: str | None = None
    taken: int = 0
    refused: int = 0
    lag: int | None = None
    error: str | None = None


HOLD = statement("event_sources/hold", TakenSource)
ADVANCE = statement("event_sources/advance", KeptSource)
FAIL = statement("event_sources/fail", KeptSource)
RELEASE = statement("event_sources/release", KeptSource)
LIST = statement("event_sources/list", SourceRow)


async def lease_source(
    conn: Connection, reader: SourceReaderId, *, kind: str, reader_name: str, ttl: timedelta
) -> SourceLease | None:
    """Take or renew a source; None if another process reads it."""
    row = await HOLD.one(
        conn,
        tenant_id=reader.tenant_id,
        name=reader.name,
        kind=kind,
        owner=reader.owner,
        reader=reader_name,
        ttl=ttl,
    )
    return (
        None if row is None else SourceLease(reader=reader, epoch=row.epoch, position=row.position)
    )


async def store_progress(
    conn: Connection, lease: SourceLease, progress: SourceProgress, *, ttl: timedelta
) -> None:
    """Store progress and renew the lease; raise `LeaseLost` if nothing may be committed."""
    row = await ADVANCE.one(
        conn,
        **_key(lease),
        position=progress.position,
        taken=progress.taken,
        refused=progress.refused,
        lag=progress.lag,
        error=progress.error,
        ttl=ttl,
    )
    if row is None:
        raise LeaseLost(thing="source", id=lease.reader.name)


async def store_error(conn: Connection, lease: SourceLease, error: str) -> bool:
    """Store an error and release the lease; False if it was lost already."""
    return await FAIL.one(conn, **_key(lease), error=error) is not None


async def release_source(conn: Connection, lease: SourceLease) -> bool:
    return await RELEASE.one(conn, **_key(lease)) is not None


async def list_sources(conn: Connection, *, tenant_id: int, limit: int = 1000) -> list[SourceRow]:
    return await LIST.all(conn, tenant_id=tenant_id, most=limit)


def _key(held: SourceLease) -> dict[str, object]:
    reader = held.reader
    return {
        "tenant_id": reader.tenant_id,
        "name": reader.name,
        "owner": reader.owner,
        "epoch": held.epoch,
    }

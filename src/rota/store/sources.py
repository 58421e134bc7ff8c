"""Leases event sources to the processes that read them, and stores how far each was read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class Taken(NamedTuple):
    epoch: int
    position: str | None


class Kept(NamedTuple):
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
class Reader:
    """A process that wants to read a source; `owner` identifies one start of it."""

    tenant_id: int
    name: str
    owner: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A leased source; nothing can be written with an older epoch."""

    reader: Reader
    epoch: int
    position: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The result of one pass. `error` is that of the message refused last."""

    position: str | None = None
    taken: int = 0
    refused: int = 0
    lag: int | None = None
    error: str | None = None


HOLD = statement("sources/hold", Taken)
ADVANCE = statement("sources/advance", Kept)
FAIL = statement("sources/fail", Kept)
RELEASE = statement("sources/release", Kept)
LIST = statement("sources/list", SourceRow)


async def hold(
    conn: Connection, reader: Reader, *, kind: str, shown: str, ttl: timedelta
) -> Hold | None:
    """Take or renew a source; None if another process reads it."""
    row = await HOLD.one(
        conn,
        tenant_id=reader.tenant_id,
        name=reader.name,
        kind=kind,
        owner=reader.owner,
        reader=shown,
        ttl=ttl,
    )
    return None if row is None else Hold(reader=reader, epoch=row.epoch, position=row.position)


async def advance(conn: Connection, held: Hold, progress: Progress, *, ttl: timedelta) -> None:
    """Store progress and renew the lease; raise `LeaseLost` if nothing may be committed."""
    row = await ADVANCE.one(
        conn,
        **_key(held),
        position=progress.position,
        taken=progress.taken,
        refused=progress.refused,
        lag=progress.lag,
        error=progress.error,
        ttl=ttl,
    )
    if row is None:
        raise LeaseLost(thing="source", id=held.reader.name)


async def fail(conn: Connection, held: Hold, error: str) -> bool:
    """Store an error and release the lease; False if it was lost already."""
    return await FAIL.one(conn, **_key(held), error=error) is not None


async def release(conn: Connection, held: Hold) -> bool:
    return await RELEASE.one(conn, **_key(held)) is not None


async def listed(conn: Connection, *, tenant_id: int, most: int = 1000) -> list[SourceRow]:
    return await LIST.all(conn, tenant_id=tenant_id, most=most)


def _key(held: Hold) -> dict[str, object]:
    reader = held.reader
    return {
        "tenant_id": reader.tenant_id,
        "name": reader.name,
        "owner": reader.owner,
        "epoch": held.epoch,
    }

"""Reads and leases shards: which scheduler holds which slice of the jobs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class Shard(NamedTuple):
    """`owner` is None if the lease has run out."""

    id: int
    owner: UUID | None
    epoch: int
    expires_at: datetime


class Held(NamedTuple):
    id: int
    epoch: int


class Freed(NamedTuple):
    id: int


OWNERS = statement("shards/owners", Shard)
HOLD = statement("shards/hold", Held)
RENEW = statement("shards/renew", Held)
RELEASE = statement("shards/release", Freed)


async def owners(conn: Connection) -> list[Shard]:
    return await OWNERS.all(conn)


async def hold(
    conn: Connection, *, owner: UUID, shards: Sequence[int], ttl: timedelta
) -> dict[int, int]:
    """Take or renew shards; return the epochs of the shards that are held now."""
    return {row.id: row.epoch for row in await HOLD.all(conn, owner=owner, shards=shards, ttl=ttl)}


async def renew(
    conn: Connection, *, owner: UUID, shards: Sequence[int], ttl: timedelta
) -> dict[int, int]:
    """Renew valid leases; return the epochs of the renewed shards."""
    return {row.id: row.epoch for row in await RENEW.all(conn, owner=owner, shards=shards, ttl=ttl)}


async def release(conn: Connection, *, owner: UUID, shards: Sequence[int]) -> list[int]:
    return [row.id for row in await RELEASE.all(conn, owner=owner, shards=shards)]

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

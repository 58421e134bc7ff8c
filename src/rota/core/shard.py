"""Which shard a job belongs to, and which shards a scheduler should hold (O3). Room: core.

The jobs are dealt to 128 shards by a hash that never changes; schedulers hold shards by lease. The
plan below needs no leader: everyone computes it from the same rows, gives up what is above its
share and takes what is free up to its share. Leases keep two from holding the same shard meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from uuid import UUID

SHARDS: Final = 128


def shard_of(job_id: UUID) -> int:
    """Stable for ever: stored with the job, and computed the same by every version of Rota."""
    return _shard_of_bytes(job_id.bytes)


def shard_of_hex(job_id: str) -> int:
    """The same for an id that is written as 32 hexadecimal digits."""
    return _shard_of_bytes(bytes.fromhex(job_id))


def _shard_of_bytes(job_id: bytes) -> int:
    return blake2b(job_id, digest_size=1, person=b"rota shard").digest()[0] % SHARDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPlan:
    take: tuple[int, ...]
    release: tuple[int, ...]


def share_of(me: UUID, live: Sequence[UUID]) -> int:
    """How many shards `me` should hold: an even part, the first ones by id take the rest."""
    order = sorted({*live, me})
    even, rest = divmod(SHARDS, len(order))
    return even + (order.index(me) < rest)


def plan_shards(me: UUID, *, live: Sequence[UUID], owners: Mapping[int, UUID | None]) -> ShardPlan:
    """What to take and what to let go, given who is alive and who holds an unexpired lease.

    `owners` maps each shard to its holder, None when its lease has run out.
    """
    share = share_of(me, live)
    mine = sorted(shard for shard, owner in owners.items() if owner == me)
    surplus = mine[share:]
    free = [shard for shard in range(SHARDS) if owners.get(shard) is None]
    # Start at different places, so that two schedulers that wake together rarely collide.
    start = shard_of(me) % len(free) if free else 0
    wanted = (free[start:] + free[:start])[: max(0, share - len(mine))]
    return ShardPlan(take=tuple(sorted(wanted)), release=tuple(surplus))

"""Assigns jobs to shards, and decides which shards a scheduler should hold (O3).

A hash that never changes assigns each job to one of 128 shards; schedulers hold shards by lease.
The plan needs no leader: every scheduler computes it from the same rows, releases shards above its
share and takes free shards up to its share. Leases prevent two schedulers from holding a shard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from uuid import UUID

SHARD_COUNT: Final = 128


def compute_shard(job_id: UUID) -> int:
    """Return the shard of a job. It is stored with the job; every version computes the same."""
    return _shard_of_bytes(job_id.bytes)


def compute_shard_of_hex(job_id: str) -> int:
    """Return the shard of a job whose id is given as 32 hexadecimal digits."""
    return _shard_of_bytes(bytes.fromhex(job_id))


def _shard_of_bytes(job_id: bytes) -> int:
    return blake2b(job_id, digest_size=1, person=b"rota shard").digest()[0] % SHARD_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPlan:
    take: tuple[int, ...]
    release: tuple[int, ...]


def compute_share(me: UUID, live: Sequence[UUID]) -> int:
    """Return how many shards `me` should hold: an even share; the first by id hold one more."""
    order = sorted({*live, me})
    even, rest = divmod(SHARD_COUNT, len(order))
    return even + (order.index(me) < rest)


def plan_shards(me: UUID, *, live: Sequence[UUID], owners: Mapping[int, UUID | None]) -> ShardPlan:
    """Return which shards to take and to release, given the live schedulers and the holders.

    `owners` maps each shard to its holder, None if its lease has expired.
    """
    share = compute_share(me, live)
    held = sorted(shard for shard, owner in owners.items() if owner == me)
    surplus = held[share:]
    free = [shard for shard in range(SHARD_COUNT) if owners.get(shard) is None]
    # Start at different places, so that schedulers that wake at the same time rarely collide.
    start = compute_shard(me) % len(free) if free else 0
    chosen = (free[start:] + free[:start])[: max(0, share - len(held))]
    return ShardPlan(take=tuple(sorted(chosen)), release=tuple(surplus))

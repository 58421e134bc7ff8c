"""Tracks the shards that this scheduler holds, and how long it may act on them.

The shard leaser writes it; the other duties of the process read it. The lease counts on the
monotonic clock from when the last successful renewal was *sent* (core/lease.py). This only saves
useless work: the epoch in the database prevents a scheduler from firing with a lost lease.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from rota.core.lease import Lease, may_act
from rota.store.cursors import ShardOwnership

NO_OWNER: Final = UUID(int=0)


@dataclass(slots=True, kw_only=True)
class HeldShards:
    lease: Lease
    ownership: ShardOwnership = field(
        default_factory=lambda: ShardOwnership(owner=NO_OWNER, epochs={})
    )
    renewal_sent_at: float = float("-inf")

    @property
    def epochs(self) -> Mapping[int, int]:
        return self.ownership.epochs

    def may_act(self, now: float) -> bool:
        return bool(self.epochs) and may_act(self.lease, sent=self.renewal_sent_at, now=now)

    def confirm(self, ownership: ShardOwnership, *, sent: float) -> None:
        """Store what the database confirmed, and when the request was sent."""
        self.ownership = ownership
        self.renewal_sent_at = sent

    def drop_shards(self, shards: Mapping[int, object] | frozenset[int]) -> None:
        """Stop acting on these shards."""
        kept = {shard: epoch for shard, epoch in self.epochs.items() if shard not in shards}
        self.ownership = ShardOwnership(owner=self.ownership.owner, epochs=kept)

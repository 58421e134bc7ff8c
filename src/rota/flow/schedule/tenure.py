"""What this scheduler holds, and until when it may act on it. Room: flow/schedule.

Written by leasing, read by everyone else in the process. Trust is counted on the monotonic clock
from when the last good renewal was *sent* (core/lease.py). It only spares vain work: that nobody
fires with a lease he has lost is made sure by the epoch, in the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from rota.core.lease import Lease, may_act
from rota.store.cursors import Ownership

NOBODY: Final = UUID(int=0)


@dataclass(slots=True, kw_only=True)
class Tenure:
    lease: Lease
    ownership: Ownership = field(default_factory=lambda: Ownership(owner=NOBODY, epochs={}))
    sent: float = float("-inf")

    @property
    def epochs(self) -> Mapping[int, int]:
        return self.ownership.epochs

    def may_act(self, now: float) -> bool:
        return bool(self.epochs) and may_act(self.lease, sent=self.sent, now=now)

    def confirm(self, ownership: Ownership, *, sent: float) -> None:
        """The database has confirmed this, in answer to what was sent then."""
        self.ownership = ownership
        self.sent = sent

    def without(self, shards: Mapping[int, object] | frozenset[int]) -> None:
        """Act on these no more."""
        kept = {shard: epoch for shard, epoch in self.epochs.items() if shard not in shards}
        self.ownership = Ownership(owner=self.ownership.owner, epochs=kept)

"""Remembers when the next submission of each shard is due. Room: flow/schedule.

Reading tells it what the database has; firing takes the shards in which something is due, moves it
into the hot table and tells when the next is due. What is in memory decides nothing: a time that is
too early costs a statement that moves nothing, and the next reading finds what was missed.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from rota.store.submissions import DueShard, MovedSubmissions


@dataclass(slots=True)
class DueSubmissions:
    """The shards of one line of firing that have submissions to move, by the next due time."""

    _next: dict[int, datetime] = field(default_factory=dict)

    def learn(self, found: Iterable[DueShard]) -> bool:
        """Note when shards have something due; return whether that is sooner than all before."""
        soonest = self.soonest
        for shard, due_at in found:
            known = self._next.get(shard)
            if known is None or due_at < known:
                self._next[shard] = due_at
        return self.soonest is not None and (soonest is None or self.soonest < soonest)

    def take(self, until: datetime, held: Collection[int]) -> list[int]:
        """Return the held shards with submissions due until then. They are forgotten here: what
        is learned of them from now on is news.
        """
        due = [shard for shard, due_at in self._next.items() if due_at <= until]
        for shard in due:
            del self._next[shard]
        return [shard for shard in due if shard in held]

    @property
    def soonest(self) -> datetime | None:
        return min(self._next.values(), default=None)

    def rest(self, now: datetime, *, longest: float) -> float:
        """Seconds until something may be due."""
        soonest = self.soonest
        if soonest is None:
            return longest
        return max(0.0, min(longest, (soonest - now).total_seconds()))


def next_of(moved: MovedSubmissions, *, per_shard: int, now: datetime) -> list[DueShard]:
    """When the shards of a move have something due again. One of which as many were moved as might
    be has perhaps more that are due already.
    """
    counts = Counter(moved.of_shards or ())
    return [
        DueShard(shard, now if counts[shard] >= per_shard else due_at or now)
        for shard, due_at in zip(moved.shards or (), moved.next_due_ats or (), strict=True)
        if due_at is not None or counts[shard] >= per_shard
    ]

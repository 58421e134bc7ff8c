"""Remembers when the next submission of each shard is due.

The tick reader reports what the database has. The tick firer takes the shards with due submissions,
moves these into the hot table and reports when the next are due. The state in memory decides
nothing: a time that is too early costs a statement that moves nothing, and the next read finds what
was missed.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from rota.store.submissions import DueShard, MovedSubmissions


@dataclass(slots=True)
class DueSubmissions:
    """The shards of one tick firer that have submissions to move, by the next due time."""

    _next: dict[int, datetime] = field(default_factory=dict)

    def note_due(self, found: Iterable[DueShard]) -> bool:
        """Note when shards have submissions due; return whether one is sooner than all before."""
        soonest = self.soonest
        for shard, due_at in found:
            known = self._next.get(shard)
            if known is None or due_at < known:
                self._next[shard] = due_at
        return self.soonest is not None and (soonest is None or self.soonest < soonest)

    def take_due_shards(self, until: datetime, held: Collection[int]) -> list[int]:
        """Return the held shards with submissions due by `until`, and forget their times: reports
        after this call are new.
        """
        due = [shard for shard, due_at in self._next.items() if due_at <= until]
        for shard in due:
            del self._next[shard]
        return [shard for shard in due if shard in held]

    @property
    def soonest(self) -> datetime | None:
        return min(self._next.values(), default=None)

    def seconds_until_due(self, now: datetime, *, max_seconds: float) -> float:
        """Return the seconds until a submission may be due."""
        soonest = self.soonest
        if soonest is None:
            return max_seconds
        return max(0.0, min(max_seconds, (soonest - now).total_seconds()))


def find_next_due(moved: MovedSubmissions, *, per_shard: int, now: datetime) -> list[DueShard]:
    """Return when the shards of a move are due again. A shard that reached the limit of the move
    may have more that are due already.
    """
    counts = Counter(moved.of_shards or ())
    return [
        DueShard(shard, now if counts[shard] >= per_shard else due_at or now)
        for shard, due_at in zip(moved.shards or (), moved.next_due_ats or (), strict=True)
        if due_at is not None or counts[shard] >= per_shard
    ]

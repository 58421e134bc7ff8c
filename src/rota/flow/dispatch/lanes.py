"""Remembers a queue's lanes for a claimer, and where their live index entries begin.

A claimed run leaves a dead entry in the index of waiting runs. Vacuum removes it, unless a session
holds an old snapshot open (a backup, a forgotten transaction); then every claim that starts at the
head of a lane walks all dead entries since, and throughput collapses (F41). So a claim starts at a
bound: the last entry it took, or slightly before now if that is earlier, because a run that is
committed late may have an earlier ready time. The bound is a hint in memory and is never stored:
every few seconds a lane is walked from its head, less often if that was slow.

core/lanes.py decides the shares; the store has the statements.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.lanes import Lane, LaneShare, WaitingLane, deal_slots
from rota.store.live_runs import ClaimedRun, LaneScan, UnknownLane

Key = tuple[datetime, UUID]

_HEAD: Final = (datetime(1, 1, 2, tzinfo=UTC), UUID(int=0))
_NO_ID: Final = UUID(int=0)
# Longer than any of Rota's transactions may take to commit a time it has written.
SETTLING: Final = timedelta(seconds=1)
FULL_WALK_EVERY: Final = timedelta(seconds=2)
# Walks from the head may take at most one part in this many of the time.
FULL_WALK_PART: Final = 20
# A lane without runs for this long is forgotten; a survey finds it again.
FORGET_AFTER: Final = timedelta(minutes=10)
# A walk costs about 3 µs even if its lane is empty; more walks make the rotation faster.
LEAST_LANES: Final = 128
MOST_LANES: Final = 512
MOST_PRIORITY: Final = 9
DEEPEST: Final = 1_000_000


@dataclass(slots=True)
class Trace:
    """The recent claims from one lane."""

    head_at: datetime
    bound: Key
    likely: int
    walked_at: datetime
    yielded_at: datetime
    rest: timedelta


class LaneMemory:
    """The lanes of one queue that one claimer knows."""

    def __init__(self) -> None:
        self._traces: dict[Lane, Trace] = {}
        # The lanes in rotation order; rebuilt when a lane was added or removed.
        self._order: list[Lane] = []
        self._turn = 0

    def known(self) -> list[Lane]:
        if len(self._order) != len(self._traces):
            self._order = sorted(self._traces)
        return self._order

    def learn(self, found: Iterable[UnknownLane], *, now: datetime) -> None:
        """Add lanes that a survey found."""
        for lane in found:
            self._traces.setdefault(
                Lane(lane.tenant_id, lane.priority),
                Trace(
                    head_at=lane.head_at,
                    bound=_HEAD,
                    likely=DEEPEST,
                    walked_at=now,
                    yielded_at=now,
                    rest=FULL_WALK_EVERY,
                ),
            )

    def walks(self, *, room: int, weights: Mapping[int, int], now: datetime) -> list[LaneScan]:
        """Return the lanes to walk for `room` free slots, in order, each from its bound."""
        waiting = list(self._next_turns(room))
        shares = deal_slots(waiting, room=room, weights=weights, after=self._turn)
        dealt = {share.lane.tenant for share in shares}
        self._turn = next((w.lane.tenant for w in reversed(waiting) if w.lane.tenant in dealt), 0)
        return [self._walk(share, now) for share in shares]

    def is_quiet(self) -> bool:
        """Return whether every known lane was empty when it was last walked."""
        return not any(trace.likely for trace in self._traces.values())

    def note(
        self,
        walks: Iterable[LaneScan],
        claimed: Iterable[ClaimedRun],
        *,
        now: datetime,
        took: timedelta,
    ) -> None:
        """Remember what a claim returned and how long it took."""
        counts: dict[Lane, int] = {}
        newest: dict[Lane, ClaimedRun] = {}
        for run in claimed:
            lane = Lane(run.tenant_id, run.priority)
            counts[lane] = counts.get(lane, 0) + 1
            last = newest.get(lane)
            if last is None or is_later(run, last):
                newest[lane] = run
        for walk in walks:
            self._record_lane(walk, counts.get(walk.lane, 0), newest.get(walk.lane), now, took)

    def _next_turns(self, room: int) -> Iterator[WaitingLane]:
        """Yield lanes tenant by tenant, from the next in turn, until there are enough."""
        order = self.known()
        start = bisect_right(order, (self._turn, MOST_PRIORITY))
        likely = 0
        last: int | None = None
        for taken, lane in enumerate((*order[start:], *order[:start])):
            if lane.tenant != last and (
                taken >= MOST_LANES or (taken >= LEAST_LANES and likely >= room)
            ):
                return
            trace = self._traces[lane]
            likely += trace.likely
            last = lane.tenant
            yield WaitingLane(lane, trace.head_at, trace.likely)

    def _walk(self, share: LaneShare, now: datetime) -> LaneScan:
        trace = self._traces[share.lane]
        if now - trace.walked_at >= trace.rest:
            trace.walked_at = now
            low = _HEAD
        else:
            low = min(trace.bound, (now - SETTLING, _NO_ID))
        return LaneScan(lane=share.lane, low=low[0], low_id=low[1], share=share.limit)

    def _record_lane(
        self, walk: LaneScan, count: int, newest: ClaimedRun | None, now: datetime, took: timedelta
    ) -> None:
        trace = self._traces[walk.lane]
        if walk.low == _HEAD[0]:
            trace.rest = max(FULL_WALK_EVERY, took * FULL_WALK_PART)
        if newest is not None:
            trace.bound = max(trace.bound, (newest.ready_at, newest.id))
            trace.head_at = newest.ready_at
            trace.yielded_at = now
        elif now - trace.yielded_at > FORGET_AFTER:
            del self._traces[walk.lane]
            return
        # A full share suggests that more runs wait; a smaller one shows how many there were.
        trace.likely = min(DEEPEST, 4 * walk.share) if count >= walk.share else 2 * count


def is_later(run: ClaimedRun, other: ClaimedRun) -> bool:
    """Return whether a run comes later in the index. Comparing ids is slower, so it comes last."""
    if run.ready_at == other.ready_at:
        return run.id > other.id
    return run.ready_at > other.ready_at

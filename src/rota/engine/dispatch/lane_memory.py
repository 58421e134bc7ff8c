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

IndexKey = tuple[datetime, UUID]

_HEAD: Final = (datetime(1, 1, 2, tzinfo=UTC), UUID(int=0))
_NO_ID: Final = UUID(int=0)
# Longer than any of Rota's transactions may take to commit a time it has written.
COMMIT_LAG_MAX: Final = timedelta(seconds=1)
FULL_WALK_INTERVAL: Final = timedelta(seconds=2)
# Walks from the head may take at most one part in this many of the time.
FULL_WALK_COST_DIVISOR: Final = 20
# A lane without runs for this long is forgotten; a survey finds it again.
LANE_FORGET_AFTER: Final = timedelta(minutes=10)
# A walk costs about 3 µs even if its lane is empty; more walks make the rotation faster.
WALKED_LANES_MIN: Final = 128
WALKED_LANES_MAX: Final = 512
LOWEST_PRIORITY: Final = 9
LANE_DEPTH_MAX: Final = 1_000_000


@dataclass(slots=True)
class LaneHistory:
    """The recent claims from one lane."""

    head_at: datetime
    bound: IndexKey
    expected_runs: int
    walked_at: datetime
    yielded_at: datetime
    rest: timedelta


class LaneMemory:
    """The lanes of one queue that one claimer knows."""

    def __init__(self) -> None:
        self._traces: dict[Lane, LaneHistory] = {}
        # The lanes in rotation order; rebuilt when a lane was added or removed.
        self._order: list[Lane] = []
        self._turn = 0

    def list_lanes(self) -> list[Lane]:
        if len(self._order) != len(self._traces):
            self._order = sorted(self._traces)
        return self._order

    def add_lanes(self, found: Iterable[UnknownLane], *, now: datetime) -> None:
        """Add lanes that a survey found."""
        for lane in found:
            self._traces.setdefault(
                Lane(lane.tenant_id, lane.priority),
                LaneHistory(
                    head_at=lane.head_at,
                    bound=_HEAD,
                    expected_runs=LANE_DEPTH_MAX,
                    walked_at=now,
                    yielded_at=now,
                    rest=FULL_WALK_INTERVAL,
                ),
            )

    def plan_walks(self, *, room: int, weights: Mapping[int, int], now: datetime) -> list[LaneScan]:
        """Return the lanes to walk for `room` free slots, in order, each from its bound."""
        waiting = list(self._next_turns(room))
        shares = deal_slots(waiting, room=room, weights=weights, after=self._turn)
        dealt = {share.lane.tenant for share in shares}
        self._turn = next((w.lane.tenant for w in reversed(waiting) if w.lane.tenant in dealt), 0)
        return [self._walk(share, now) for share in shares]

    def is_quiet(self) -> bool:
        """Return whether every known lane was empty when it was last walked."""
        return not any(trace.expected_runs for trace in self._traces.values())

    def record_claim(
        self,
        walks: Iterable[LaneScan],
        claimed: Iterable[ClaimedRun],
        *,
        now: datetime,
        duration: timedelta,
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
            self._record_lane(walk, counts.get(walk.lane, 0), newest.get(walk.lane), now, duration)

    def _next_turns(self, room: int) -> Iterator[WaitingLane]:
        """Yield lanes tenant by tenant, from the next in turn, until there are enough."""
        order = self.list_lanes()
        start = bisect_right(order, (self._turn, LOWEST_PRIORITY))
        likely = 0
        last: int | None = None
        for taken, lane in enumerate((*order[start:], *order[:start])):
            if lane.tenant != last and (
                taken >= WALKED_LANES_MAX or (taken >= WALKED_LANES_MIN and likely >= room)
            ):
                return
            trace = self._traces[lane]
            likely += trace.expected_runs
            last = lane.tenant
            yield WaitingLane(lane, trace.head_at, trace.expected_runs)

    def _walk(self, share: LaneShare, now: datetime) -> LaneScan:
        trace = self._traces[share.lane]
        if now - trace.walked_at >= trace.rest:
            trace.walked_at = now
            low = _HEAD
        else:
            low = min(trace.bound, (now - COMMIT_LAG_MAX, _NO_ID))
        return LaneScan(lane=share.lane, low=low[0], low_id=low[1], share=share.limit)

    def _record_lane(
        self, walk: LaneScan, count: int, newest: ClaimedRun | None, now: datetime, took: timedelta
    ) -> None:
        trace = self._traces[walk.lane]
        if walk.low == _HEAD[0]:
            trace.rest = max(FULL_WALK_INTERVAL, took * FULL_WALK_COST_DIVISOR)
        if newest is not None:
            trace.bound = max(trace.bound, (newest.ready_at, newest.id))
            trace.head_at = newest.ready_at
            trace.yielded_at = now
        elif now - trace.yielded_at > LANE_FORGET_AFTER:
            del self._traces[walk.lane]
            return
        # A full share suggests that more runs wait; a smaller one shows how many there were.
        trace.expected_runs = (
            min(LANE_DEPTH_MAX, 4 * walk.share) if count >= walk.share else 2 * count
        )


def is_later(run: ClaimedRun, other: ClaimedRun) -> bool:
    """Return whether a run comes later in the index. Comparing ids is slower, so it comes last."""
    if run.ready_at == other.ready_at:
        return run.id > other.id
    return run.ready_at > other.ready_at

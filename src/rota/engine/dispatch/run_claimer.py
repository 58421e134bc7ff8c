"""Claims waiting runs for the free slots of a worker.

A duty that never claims more runs than can start at once. Each pass serves the worker's queues in
turn: it claims from the known lanes; if slots are left, it surveys the queue for new lanes and
claims gated runs. While runs keep arriving it looks again after a few milliseconds, so that
arrivals can batch up; the longer nothing arrives, the longer it rests, up to the poll interval.
Hints wake it, and so do freed slots if it had none.

A claim whose response was lost may have taken runs that this worker does not know of. They never
started, so the next pass first releases them.

engine/execution starts a claimed run; core/lanes.py decides the order; `LaneMemory` holds what a
claimer remembers. Only lanes of tenants that the worker serves are surveyed (guarded_claims.py), so
the worker claims from no others.

`LaneMemory` remembers a queue's lanes, and where their live index entries begin. The hints at the
end of the module wake the claimers of other processes.
"""

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.lanes import Lane, LaneShare, WaitingLane, deal_slots
from rota.core.log_events import Emit, RunsClaimed
from rota.engine.dispatch.guarded_claims import LimitedClaims
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.service import Pulse
from rota.store import hints, live_runs
from rota.store.driver import Connection, ConnectionSource
from rota.store.live_runs import ClaimedRun, LaneScan, UnknownLane
from rota.store.pool import DedicatedConnection, read_database_time

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


CLAIM_BATCH_MAX: Final = 1000
SURVEY_INTERVAL_S: Final = 0.1
GATED_CLAIM_INTERVAL_S: Final = 0.02
# Shortest pause after a claim that returned runs.
CLAIM_INTERVAL_MIN_S: Final = 0.003
DATABASE_TIME_INTERVAL_S: Final = 1.0
# Rests while no runs arrive: starts at `CLAIM_REST_MIN_S` and doubles up to `CLAIM_REST_MAX_S`.
CLAIM_REST_MIN_S: Final = 0.004
CLAIM_REST_MAX_S: Final = 0.25
# Rest while no slot is free; a freed slot wakes the claimer.
NO_SLOT_REST_S: Final = 1.0


@dataclass(slots=True, kw_only=True)
class QueueClaimState:
    """What a claimer remembers of one queue. `name` is its label in metrics."""

    queue_id: int
    name: str = ""
    memory: LaneMemory = field(default_factory=LaneMemory)
    surveyed_at: float = float("-inf")
    gated_claim_at: float = float("-inf")
    # Plain runs filled all slots before gated runs had a turn: gated runs go first next time.
    owes_gated: bool = False


@dataclass(slots=True, kw_only=True)
class RunClaimer:
    source: ConnectionSource
    queues: Sequence[QueueClaimState]
    claims: LimitedClaims
    free_slots: Callable[[], int]
    start_runs: Callable[[Sequence[ClaimedRun]], Awaitable[None]]
    start_gated_runs: Callable[[Sequence[ClaimedRun]], Awaitable[None]]
    held_runs: Callable[[], Sequence[UUID]]
    clock: ClockSource
    offset: ClockOffset = field(default_factory=ClockOffset)
    emit: Emit = lambda _event: None
    # No slot was free in the last pass: a freed slot must wake the claimer.
    is_full: bool = False
    # The last pass failed: it may have claimed runs that this worker does not know of.
    _may_hold_unknown: bool = False
    _asked_time: float = float("-inf")
    rest: float = CLAIM_REST_MIN_S
    _turn: int = 0
    _claimed_at: float = float("-inf")

    async def tick(self) -> float:
        early = self._claimed_at + CLAIM_INTERVAL_MIN_S - self.clock.monotonic()
        if early > 0:
            return early
        room = min(CLAIM_BATCH_MAX, self.free_slots())
        self.is_full = room <= 0
        if self.is_full:
            return NO_SLOT_REST_S
        began = self.clock.monotonic()
        async with self.source.acquire() as conn:
            if self._may_hold_unknown:
                await self._release_unknown(conn)
            try:
                claimed = await self._serve_queues(conn, room)
            except BaseException:
                self._may_hold_unknown = True
                raise
        if claimed >= room:
            return 0.0
        if claimed:
            self._claimed_at = began
        self.rest = CLAIM_REST_MIN_S if claimed else min(CLAIM_REST_MAX_S, self.rest * 2)
        return self.rest

    async def _serve_queues(self, conn: Connection, room: int) -> int:
        await self.claims.refresh(conn)
        await self._ask_time(conn)
        claimed = 0
        for view in self._in_turn():
            claimed += await self._serve(conn, view, room - claimed)
            if claimed >= room:
                break
        return claimed

    async def _release_unknown(self, conn: Connection) -> None:
        session_id, known = self.claims.session_id, self.held_runs()
        await live_runs.release_unknown(conn, session_id=session_id, known=known)
        self._may_hold_unknown = False

    async def _ask_time(self, conn: Connection) -> None:
        """Track the database's clock, so that runs claimed ahead start at their instant."""
        if self.clock.monotonic() - self._asked_time >= DATABASE_TIME_INTERVAL_S:
            sent = self.clock.monotonic()
            now = await read_database_time(conn)
            self._asked_time = self.clock.monotonic()
            self.offset.record_response(now, sent=sent, received=self._asked_time)

    def _database_now(self) -> datetime:
        """Return the database's time, which lanes compare with the times of runs."""
        return self.offset.database_time_at(self.clock.monotonic()) or self.clock.now()

    def on_hint(self) -> None:
        """React to a hint: poll at short intervals for a while."""
        self.rest = CLAIM_REST_MIN_S

    def on_gates_freed(self) -> None:
        """React to ended runs that had passed gates: claim gated runs at once."""
        for view in self.queues:
            view.gated_claim_at = float("-inf")

    def _in_turn(self) -> Sequence[QueueClaimState]:
        self._turn = (self._turn + 1) % len(self.queues)
        return (*self.queues[self._turn :], *self.queues[: self._turn])

    async def _serve(self, conn: Connection, view: QueueClaimState, room: int) -> int:
        now, claimed = self.clock.monotonic(), 0
        if view.owes_gated and now - view.gated_claim_at >= GATED_CLAIM_INTERVAL_S:
            view.gated_claim_at = now
            claimed = await self._claim_gated(conn, view, (room + 1) // 2)
        claimed += await self._claim(conn, view, room - claimed)
        if claimed < room and now - view.surveyed_at >= SURVEY_INTERVAL_S:
            view.surveyed_at = now
            if await self._survey(conn, view):
                claimed += await self._claim(conn, view, room - claimed)
        view.owes_gated = claimed >= room
        if claimed < room and now - view.gated_claim_at >= GATED_CLAIM_INTERVAL_S:
            gated = await self._claim_gated(conn, view, room - claimed)
            claimed += gated
            if not gated:
                view.gated_claim_at = now
        return claimed

    async def _survey(self, conn: Connection, view: QueueClaimState) -> int:
        tenant_ids = self.claims.tenant_ids(view.queue_id)
        found = await live_runs.survey_lanes(
            conn, queue_id=view.queue_id, known=view.memory.list_lanes(), tenant_ids=tenant_ids
        )
        view.memory.add_lanes(found, now=self._database_now())
        return len(found)

    async def _claim(self, conn: Connection, view: QueueClaimState, room: int) -> int:
        if room <= 0:
            return 0
        now, sent = self._database_now(), self.clock.monotonic()
        walks = view.memory.plan_walks(room=room, weights=self.claims.weights, now=now)
        if not walks:
            return 0
        runs = await self.claims.claim_open(conn, queue_id=view.queue_id, walks=walks, room=room)
        took_s = self.clock.monotonic() - sent
        view.memory.record_claim(walks, runs, now=now, duration=timedelta(seconds=took_s))
        self._report(view, runs, took_s)
        if runs:
            await self.start_runs(runs)
        return len(runs)

    async def _claim_gated(self, conn: Connection, view: QueueClaimState, room: int) -> int:
        sent = self.clock.monotonic()
        runs = await self.claims.claim_gated(conn, queue_id=view.queue_id, room=room)
        if runs:
            self._report(view, runs, self.clock.monotonic() - sent)
            await self.start_gated_runs(runs)
        return len(runs)

    def _report(self, view: QueueClaimState, runs: Sequence[ClaimedRun], took_s: float) -> None:
        """Report a claim and how long its runs have waited. Costs about 0.4 µs per run."""
        waits = [(run.started_at - run.ready_at).total_seconds() for run in runs]
        longest = runs[waits.index(max(waits))].id if runs else None
        self.emit(RunsClaimed(queue=view.name, took_s=took_s, waits=waits, longest_run_id=longest))


HINT_INTERVAL_MIN_S: Final = 0.005
HINT_CHECK_INTERVAL_S: Final = 5.0


@dataclass(slots=True, kw_only=True)
class HintSender:
    """Collects hints; its duty sends them."""

    line: DedicatedConnection
    pulse: Pulse
    _channels: set[str] = field(default_factory=set)

    def send_hint(self, channel: str) -> None:
        self._channels.add(channel)
        self.pulse.wake()

    async def tick(self) -> float:
        if not self._channels:
            return HINT_CHECK_INTERVAL_S
        async with self.line.acquire() as conn:
            channels, self._channels = self._channels, set()
            for channel in channels:
                await hints.send_hint(conn, channel)
        return HINT_INTERVAL_MIN_S


@dataclass(slots=True, kw_only=True)
class HintListener:
    """Receives hints and runs the callback of each channel."""

    line: DedicatedConnection
    callbacks: Mapping[str, Callable[[], object]]
    _listening_on: Connection | None = None

    async def tick(self) -> float:
        """Listen, or check that the connection is alive."""
        async with self.line.acquire() as conn:
            if conn is not self._listening_on:
                await hints.listen(conn, tuple(self.callbacks), self._receive)
                self._listening_on = conn
                # A poll finds what was announced before this listener connected.
                for wake in self.callbacks.values():
                    wake()
            await hints.check_connection(conn)
        return HINT_CHECK_INTERVAL_S

    def _receive(self, channel: str) -> None:
        wake = self.callbacks.get(channel)
        if wake is not None:
            wake()

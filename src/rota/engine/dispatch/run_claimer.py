"""Claims waiting runs for the free slots of a worker.

A duty that never claims more runs than can start at once. Each pass serves the worker's queues in
turn: it claims from the known lanes; if slots are left, it surveys the queue for new lanes and
claims gated runs. While runs keep arriving it looks again after a few milliseconds, so that
arrivals can batch up; the longer nothing arrives, the longer it rests, up to the poll interval.
Hints wake it, and so do freed slots if it had none.

A claim whose response was lost may have taken runs that this worker does not know of. They never
started, so the next pass first releases them.

engine/execution starts a claimed run; core/lanes.py decides the order; lane_memory.py holds what a
claimer remembers. Only lanes of tenants that the worker serves are surveyed (limited_claims.py), so
the worker claims from no others.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.engine.dispatch.lane_memory import LaneMemory
from rota.engine.dispatch.limited_claims import LimitedClaims
from rota.runtime.clock_offset import ClockOffset
from rota.store import live_runs
from rota.store.driver import Connection, ConnectionSource
from rota.store.live_runs import ClaimedRun
from rota.store.server_check import read_database_time

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
    """What a claimer remembers of one queue."""

    queue_id: int
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
        took = timedelta(seconds=self.clock.monotonic() - sent)
        view.memory.record_claim(walks, runs, now=now, duration=took)
        if runs:
            await self.start_runs(runs)
        return len(runs)

    async def _claim_gated(self, conn: Connection, view: QueueClaimState, room: int) -> int:
        runs = await self.claims.claim_gated(conn, queue_id=view.queue_id, room=room)
        if runs:
            await self.start_gated_runs(runs)
        return len(runs)

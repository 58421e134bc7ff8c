"""Claims waiting runs for the free slots of a worker.

A duty that never claims more runs than can start at once. Each pass serves the worker's queues in
turn: it claims from the known lanes; if slots are left, it surveys the queue for new lanes and
claims gated runs. While runs keep arriving it looks again after a few milliseconds, so that
arrivals can batch up; the longer nothing arrives, the longer it rests, up to the poll interval.
Hints wake it, and so do freed slots if it had none.

A claim whose response was lost may have taken runs that this worker does not know of. They never
started, so the next pass first releases them.

engine/execution starts a claimed run; core/lanes.py decides the order; lane_memory.py holds what a
claimer remembers. Only lanes of tenants that the worker serves are surveyed (served_tenants.py), so
the worker claims from no others.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.flow.dispatch.lanes import LaneMemory
from rota.flow.dispatch.limiting import Limiting
from rota.runtime.offset import Offset
from rota.store import live_runs
from rota.store.driver import Connection, ConnectionSource
from rota.store.live_runs import ClaimedRun
from rota.store.server_check import read_database_time

MOST: Final = 1000
SURVEY_EVERY: Final = 0.1
GATED_EVERY: Final = 0.02
# Shortest pause after a claim that returned runs.
GATHER: Final = 0.003
ASK_TIME_EVERY: Final = 1.0
# Rests while no runs arrive: starts at `CLAIM_REST_MIN_S` and doubles up to `CLAIM_REST_MAX_S`.
BRISK: Final = 0.004
POLL: Final = 0.25
# Rest while no slot is free; a freed slot wakes the claimer.
NO_ROOM: Final = 1.0


@dataclass(slots=True, kw_only=True)
class QueueView:
    """What a claimer remembers of one queue."""

    queue_id: int
    memory: LaneMemory = field(default_factory=LaneMemory)
    surveyed: float = float("-inf")
    gated: float = float("-inf")
    # Plain runs filled all slots before gated runs had a turn: gated runs go first next time.
    owes_gated: bool = False


@dataclass(slots=True, kw_only=True)
class Claiming:
    source: ConnectionSource
    queues: Sequence[QueueView]
    limits: Limiting
    free: Callable[[], int]
    begin: Callable[[Sequence[ClaimedRun]], Awaitable[None]]
    begin_gated: Callable[[Sequence[ClaimedRun]], Awaitable[None]]
    held_runs: Callable[[], Sequence[UUID]]
    clock: ClockSource
    offset: Offset = field(default_factory=Offset)
    # No slot was free in the last pass: a freed slot must wake the claimer.
    is_full: bool = False
    # The last pass failed: it may have claimed runs that this worker does not know of.
    _may_hold_unknown: bool = False
    _asked_time: float = float("-inf")
    rest: float = BRISK
    _turn: int = 0
    _claimed_at: float = float("-inf")

    async def tick(self) -> float:
        early = self._claimed_at + GATHER - self.clock.monotonic()
        if early > 0:
            return early
        room = min(MOST, self.free())
        self.is_full = room <= 0
        if self.is_full:
            return NO_ROOM
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
        self.rest = BRISK if claimed else min(POLL, self.rest * 2)
        return self.rest

    async def _serve_queues(self, conn: Connection, room: int) -> int:
        await self.limits.refresh(conn)
        await self._ask_time(conn)
        claimed = 0
        for view in self._in_turn():
            claimed += await self._serve(conn, view, room - claimed)
            if claimed >= room:
                break
        return claimed

    async def _release_unknown(self, conn: Connection) -> None:
        session_id, known = self.limits.session_id, self.held_runs()
        await live_runs.release_unknown(conn, session_id=session_id, known=known)
        self._may_hold_unknown = False

    async def _ask_time(self, conn: Connection) -> None:
        """Track the database's clock, so that runs claimed ahead start at their instant."""
        if self.clock.monotonic() - self._asked_time >= ASK_TIME_EVERY:
            sent = self.clock.monotonic()
            now = await read_database_time(conn)
            self._asked_time = self.clock.monotonic()
            self.offset.note(now, sent=sent, received=self._asked_time)

    def _database_now(self) -> datetime:
        """Return the database's time, which lanes compare with the times of runs."""
        return self.offset.at(self.clock.monotonic()) or self.clock.now()

    def woken(self) -> None:
        """React to a hint: poll at short intervals for a while."""
        self.rest = BRISK

    def gates_freed(self) -> None:
        """React to ended runs that had passed gates: claim gated runs at once."""
        for view in self.queues:
            view.gated = float("-inf")

    def _in_turn(self) -> Sequence[QueueView]:
        self._turn = (self._turn + 1) % len(self.queues)
        return (*self.queues[self._turn :], *self.queues[: self._turn])

    async def _serve(self, conn: Connection, view: QueueView, room: int) -> int:
        now, claimed = self.clock.monotonic(), 0
        if view.owes_gated and now - view.gated >= GATED_EVERY:
            view.gated = now
            claimed = await self._claim_gated(conn, view, (room + 1) // 2)
        claimed += await self._claim(conn, view, room - claimed)
        if claimed < room and now - view.surveyed >= SURVEY_EVERY:
            view.surveyed = now
            if await self._survey(conn, view):
                claimed += await self._claim(conn, view, room - claimed)
        view.owes_gated = claimed >= room
        if claimed < room and now - view.gated >= GATED_EVERY:
            gated = await self._claim_gated(conn, view, room - claimed)
            claimed += gated
            if not gated:
                view.gated = now
        return claimed

    async def _survey(self, conn: Connection, view: QueueView) -> int:
        tenant_ids = self.limits.tenant_ids(view.queue_id)
        found = await live_runs.survey_lanes(
            conn, queue_id=view.queue_id, known=view.memory.known(), tenant_ids=tenant_ids
        )
        view.memory.learn(found, now=self._database_now())
        return len(found)

    async def _claim(self, conn: Connection, view: QueueView, room: int) -> int:
        if room <= 0:
            return 0
        now, sent = self._database_now(), self.clock.monotonic()
        walks = view.memory.walks(room=room, weights=self.limits.weights, now=now)
        if not walks:
            return 0
        runs = await self.limits.claim_open(conn, queue_id=view.queue_id, walks=walks, room=room)
        took = timedelta(seconds=self.clock.monotonic() - sent)
        view.memory.note(walks, runs, now=now, took=took)
        if runs:
            await self.begin(runs)
        return len(runs)

    async def _claim_gated(self, conn: Connection, view: QueueView, room: int) -> int:
        runs = await self.limits.claim_gated(conn, queue_id=view.queue_id, room=room)
        if runs:
            await self.begin_gated(runs)
        return len(runs)

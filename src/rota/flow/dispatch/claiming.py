"""Claims runs for the free slots of a worker. Room: flow/dispatch.

A duty that never takes more than can start at once. Each pass serves the worker's queues in turn:
lanes that are known are claimed from; when there is still room, a survey looks for lanes that are
not, and runs behind gates get their turn. While runs keep coming it looks again after a few
milliseconds, in which more of them gather; the longer nothing comes, the longer it rests, up to the
poll interval. Hints wake it, and freed slots when it lacked them.

A claim whose answer was lost may have taken runs that this worker does not know of. They never
started, so the next pass first lets them wait again.

What starts a claimed run is flow/execute; who may go first is core/lanes.py; what a claimer
remembers is lanes.py. Only lanes of tenants that the worker serves are surveyed (served.py), so it
claims from no others.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import Clock
from rota.flow.dispatch.lanes import LaneMemory
from rota.flow.dispatch.limiting import Limiting
from rota.runtime.offset import Offset
from rota.store import live_runs
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time
from rota.store.live_runs import Claimed

MOST: Final = 1000
SURVEY_EVERY: Final = 0.1
GATED_EVERY: Final = 0.02
# A claim that yielded something is not followed sooner than this by the next.
GATHER: Final = 0.003
ASK_TIME_EVERY: Final = 1.0
# Rests while nothing comes: from the first of these, doubled, to the last.
BRISK: Final = 0.004
POLL: Final = 0.25
# No slot is free: whoever frees one wakes us.
NO_ROOM: Final = 1.0


@dataclass(slots=True, kw_only=True)
class QueueView:
    """What a claimer knows of one queue."""

    queue_id: int
    memory: LaneMemory = field(default_factory=LaneMemory)
    surveyed: float = float("-inf")
    gated: float = float("-inf")
    # Plain runs filled all slots before gated ones were looked at: next time these go first.
    owes_gated: bool = False


@dataclass(slots=True, kw_only=True)
class Claiming:
    source: Source
    queues: Sequence[QueueView]
    limits: Limiting
    free: Callable[[], int]
    begin: Callable[[Sequence[Claimed]], Awaitable[None]]
    begin_gated: Callable[[Sequence[Claimed]], Awaitable[None]]
    held_runs: Callable[[], Sequence[UUID]]
    clock: Clock
    offset: Offset = field(default_factory=Offset)
    # Lacked slots when it last looked: whoever frees one should wake it.
    is_full: bool = False
    # The last pass broke off: what it had claimed may not have been told.
    _may_hold_unknown: bool = False
    _asked_time: float = float("-inf")
    rest: float = BRISK
    _turn: int = 0
    _yielded: float = float("-inf")

    async def tick(self) -> float:
        early = self._yielded + GATHER - self.clock.monotonic()
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
            self._yielded = began
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
        """Know the database's clock well enough to start at its instant what was claimed ahead."""
        if self.clock.monotonic() - self._asked_time >= ASK_TIME_EVERY:
            sent = self.clock.monotonic()
            now = await database_time(conn)
            self._asked_time = self.clock.monotonic()
            self.offset.note(now, sent=sent, received=self._asked_time)

    def _database_now(self) -> datetime:
        """The database's time: lanes compare it with the times of runs."""
        return self.offset.at(self.clock.monotonic()) or self.clock.now()

    def woken(self) -> None:
        """Something was hinted at: look briskly for a while."""
        self.rest = BRISK

    def gates_freed(self) -> None:
        """Runs that passed gates have ended: look there at once."""
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
        found = await live_runs.survey(
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

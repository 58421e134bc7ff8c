"""Drives the hot statements as a worker (claim, finish) and a scheduler (read, fire) do."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.engine.dispatch.run_claimer import LaneMemory
from rota.store import cursors, live_runs, sessions
from rota.store.cursors import DueTick, ShardOwnership, TickFiring
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, RunEnding
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.sessions import NewSession, SessionRole

CLAIM = 1000
WORKERS = 2
FIRE = 1000
SURVEY_EVERY = 0.1
AHEAD = timedelta(days=3650)
FAR = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass
class Drain:
    """Claims and finishes until so many runs are done, or a time is up."""

    access: DatabaseAccess
    most: int = 1_000_000_000
    seconds: float = 600.0
    session: UUID = field(default_factory=uuid4)
    done: int = 0
    claimed: int = 0
    claim_times: list[float] = field(default_factory=list)

    async def run(self, ready: asyncio.Barrier) -> tuple[float, float]:
        """Return when the first claim was sent and when the last commit was acknowledged."""
        hand_over: asyncio.Queue[list[ClaimedRun] | None] = asyncio.Queue(maxsize=4)
        async with (
            open_connection(self.access, hot=True) as claiming,
            open_connection(self.access, hot=True) as finishing,
        ):
            session = NewSession(id=self.session, role=SessionRole.WORKER, name="bench")
            await sessions.open_session(claiming, session, ttl=timedelta(hours=1))
            # Both are prepared before the clock runs, as in a worker that is up.
            await self._claim(claiming, LaneMemory(), room=0)
            await live_runs.finish_runs(finishing, session_id=self.session, endings=[])
            await ready.wait()
            started = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._claim_all(claiming, hand_over, started + self.seconds))
                group.create_task(self._finish_all(finishing, hand_over))
            return started, time.perf_counter()

    async def _claim_all(
        self, conn: Connection, hand_over: "asyncio.Queue[list[ClaimedRun] | None]", until: float
    ) -> None:
        memory = LaneMemory()
        surveyed = 0.0
        while self.claimed < self.most and (now := time.perf_counter()) < until:
            if now - surveyed > SURVEY_EVERY:
                await self._survey(conn, memory)
                surveyed = now
            runs = await self._claim(conn, memory, room=min(CLAIM, self.most - self.claimed))
            self.claimed += len(runs)
            if runs:
                await hand_over.put(runs)
            elif memory.is_quiet() and not await self._survey(conn, memory):
                break
        await hand_over.put(None)

    async def _survey(self, conn: Connection, memory: LaneMemory) -> int:
        found = await live_runs.survey_lanes(
            conn, queue_id=1, known=memory.list_lanes(), limit=10_000
        )
        memory.add_lanes(found, now=datetime.now(UTC))
        return len(found)

    async def _claim(self, conn: Connection, memory: LaneMemory, *, room: int) -> list[ClaimedRun]:
        now = datetime.now(UTC)
        walks = memory.plan_walks(room=room, weights={}, now=now) if room else []
        started = time.perf_counter()
        runs = await live_runs.claim_runs(
            conn, session_id=self.session, queue_id=1, kind_ids=[1, 2, 3], scans=walks, room=room
        )
        took = time.perf_counter() - started
        self.claim_times.append(took)
        memory.record_claim(walks, runs, now=now, duration=timedelta(seconds=took))
        return runs

    async def _finish_all(
        self, conn: Connection, hand_over: "asyncio.Queue[list[ClaimedRun] | None]"
    ) -> None:
        while (runs := await hand_over.get()) is not None:
            endings = [RunEnding(run.id, run.attempt, RunState.SUCCEEDED) for run in runs]
            moved = await live_runs.finish_runs(conn, session_id=self.session, endings=endings)
            self.done += len(moved)


async def drain(
    access: DatabaseAccess, *, most: int = 1_000_000_000, seconds: float = 600.0
) -> float:
    """Several workers at once, as on a machine with as many cores; return the common rate."""
    workers = [Drain(access, most=most // WORKERS, seconds=seconds) for _ in range(WORKERS)]
    ready = asyncio.Barrier(WORKERS)
    times = await asyncio.gather(*(worker.run(ready) for worker in workers))
    took = max(end for _, end in times) - min(begin for begin, _ in times)
    return sum(worker.done for worker in workers) / took


@dataclass
class Firings:
    """Fires what is due, on two connections that hold half of the shards each."""

    access: DatabaseAccess
    epochs: dict[int, int]
    owner: UUID
    period: timedelta
    fired: int = 0
    skipped: int = 0

    async def run(self, *, fires: int) -> float:
        """Return the rate in fires a second, reading ahead included."""
        before = self.fired
        async with (
            open_connection(self.access, hot=True) as even,
            open_connection(self.access, hot=True) as odd,
        ):
            started = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for parity, conn in enumerate((even, odd)):
                    epochs = {s: e for s, e in self.epochs.items() if s % 2 == parity}
                    ownership = ShardOwnership(owner=self.owner, epochs=epochs)
                    group.create_task(self._fire_half(conn, ownership, before + fires))
            return (self.fired - before) / (time.perf_counter() - started)

    async def _fire_half(self, conn: Connection, ownership: ShardOwnership, until: int) -> None:
        batch: deque[DueTick] = deque()
        while self.fired < until:
            if not batch:
                shards = list(ownership.epochs)
                batch.extend(
                    await cursors.read_due(conn, shards=shards, before=FAR, limit=8 * FIRE)
                )
            firings = [self._firing(batch.popleft()) for _ in range(min(FIRE, len(batch)))]
            decided = await cursors.fire_ticks(conn, ownership, firings, ahead=AHEAD)
            self.fired += len(decided)

    def _firing(self, due: DueTick) -> TickFiring:
        following = due.tick_at + self.period
        run_id = derive_tick_run_id(due.job_id, due.tick_at)
        return TickFiring(due=due, run_id=run_id, next_tick_at=following, next_fire_at=following)

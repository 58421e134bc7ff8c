"""Duels: the races that matter most, not left to chance.

The rest of a storm depends on how fast the machine is; a duel waits for the situation it needs. Two
workers meet in a queue of their own. Either one has slept past its lease while the other took its
run over, and acts now; or both want the only place behind a gate at the same moment. The ledger
writes down what is accepted, as everywhere else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.core.lanes import Lane
from rota.core.states import RunState
from rota.store import live_runs, sessions
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, LaneScan, NewRun
from tests.chaos.storm.client import Submitter
from tests.chaos.storm.sea import Sea
from tests.chaos.storm.worker import Worker

# Long enough for a duellist that is awake, however slow the machine is.
AWAKE: Final = timedelta(seconds=20)
PATIENCE: Final = 10.0
BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)
LANE: Final = Lane(1, 5)

Late = Callable[[Worker, Connection], Awaitable[None]]


@dataclass(kw_only=True)
class Duels:
    sea: Sea
    submitter: Submitter
    fought: int = 0
    # What a thawed worker does first, in turns.
    late: tuple[Late, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.late = (finish_late, retry_late, beat_late)

    async def live(self) -> None:
        async with self.sea.opened() as one, self.sea.opened() as other:
            while not self.sea.is_calm:
                await self._sleeper(one, other, self.late[self.fought % len(self.late)])
                await self._rivals(one, other)
                self.fought += 1

    async def _sleeper(self, one: Connection, other: Connection, late: Late) -> None:
        """The first falls asleep with a run; the second has taken it when the first wakes up."""
        run = self._new("plain")
        await live_runs.insert_runs(one, [run])
        sleeper, awake = Worker(sea=self.sea), Worker(sea=self.sea, ttl=AWAKE)
        await sleeper.open(one)
        sleeper.take(await self._claim(one, sleeper))
        if await self._waits_again(other, run.id):
            await awake.open(other)
            awake.take(await self._claim(other, awake))
            await late(sleeper, one)
        ready = list(awake.held.values())
        awake.end(ready)
        await awake.finish(other, ready)
        await live_runs.cancel_runs(other, ids=[run.id])
        await sessions.close_session(other, awake.session)

    async def _rivals(self, one: Connection, other: Connection) -> None:
        """Two runs of different kinds and one place for both."""
        pairs = [(Worker(sea=self.sea, ttl=AWAKE), conn) for conn in (one, other)]
        runs = [
            replace(self._new("alone"), kind_id=kind, gates=(self.sea.narrow_gate_id,))
            for kind in self.sea.limited_kinds
        ]
        await live_runs.insert_runs(one, runs)
        for worker, conn in pairs:
            await worker.open(conn)
        both = zip(pairs, self.sea.limited_kinds, strict=True)
        taken = await asyncio.gather(
            *(self._pass(worker, conn, kind) for (worker, conn), kind in both)
        )
        for (worker, _), claimed in zip(pairs, taken, strict=True):
            worker.take(claimed)
        for worker, conn in pairs:
            ready = list(worker.held.values())
            worker.end(ready)
            await worker.finish(conn, ready)
            await sessions.close_session(conn, worker.session)
        await live_runs.cancel_runs(one, ids=[run.id for run in runs])

    async def _pass(self, worker: Worker, conn: Connection, kind: int) -> list[ClaimedRun]:
        return await worker.gated.claim(
            conn,
            session_id=worker.session,
            queue_id=self.sea.duel_queue_id,
            kind_ids=[kind],
            room=1,
        )

    async def _claim(self, conn: Connection, worker: Worker) -> list[ClaimedRun]:
        return await live_runs.claim_runs(
            conn,
            session_id=worker.session,
            queue_id=self.sea.duel_queue_id,
            kind_ids=[self.sea.kind_id],
            scans=[LaneScan(LANE, BEGINNING, UUID(int=0), 1)],
            room=1,
        )

    async def _waits_again(self, conn: Connection, run_id: UUID) -> bool:
        """Whether the reapers have taken the run back; not if it was cancelled meanwhile."""
        clock = self.sea.ledger.clock
        end = clock.monotonic() + PATIENCE
        while clock.monotonic() < end:
            state = (await live_runs.get_runs(conn, [run_id]))[run_id].state
            if state not in {RunState.RUNNING, RunState.CANCELLING}:
                return state is RunState.QUEUED
            await clock.sleep(0.005)
        return False

    def _new(self, special: str) -> NewRun:
        run = self.submitter.new(special)
        now = self.sea.ledger.wall()
        return replace(
            run,
            queue_id=self.sea.duel_queue_id,
            tenant_id=LANE.tenant,
            priority=LANE.priority,
            scheduled_at=now,
            due_at=now,
        )


async def finish_late(worker: Worker, conn: Connection) -> None:
    ready = list(worker.held.values())
    worker.end(ready)
    await worker.finish(conn, ready)


async def retry_late(worker: Worker, conn: Connection) -> None:
    ready = list(worker.held.values())
    worker.end(ready)
    await worker.fail(conn, ready)


async def beat_late(worker: Worker, conn: Connection) -> None:
    with suppress(LeaseLost):
        await worker.beat(conn)
    worker.end(list(worker.held.values()))

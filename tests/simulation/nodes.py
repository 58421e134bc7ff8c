"""Schedulers and workers with the duties that a node wires, each ticked by hand.

The duties are the real ones. Instead of a stage that performs attempts, a worker has a list of them
that the simulation ends one by one; its books (what it vouches for, what waits to be recorded) are
kept as engine/execution/attempt_pool.py keeps them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from math import inf
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.lease import SESSION_LEASE, DatabaseObservation
from rota.core.log_events import EngineEvent
from rota.core.outcome import Outcome, Succeeded
from rota.core.settlement import EndedAttempt
from rota.engine.dispatch.guarded_claims import LimitedClaims
from rota.engine.dispatch.run_claimer import QueueClaimState, RunClaimer
from rota.engine.execution.attempt_pool import JobSpecCache
from rota.engine.maintenance.run_rescuer import RunExpirer, RunRescuer
from rota.engine.recording.outcome_recorder import OutcomeRecorder
from rota.engine.scheduling.agenda import Agenda
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.engine.scheduling.shard_leaser import HeldShards, ShardLeaser
from rota.engine.scheduling.tick_firer import TickFirer
from rota.engine.scheduling.tick_reader import TickReader
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.service import Pulse
from rota.store import sessions
from rota.store.live_runs import ClaimedRun
from rota.store.sessions import NewSession, SessionRole
from tests.simulation.wire import Wire
from tests.support.leases import SHARD_LEASE
from tests.support.world import NOON, World

# Few, so that runs wait for one another.
SLOTS = 3
LONG_AGO = 1e6
Tick = Callable[[], Coroutine[Any, Any, object]]


class NodeClock:
    """A machine's clock: as fast as the database's, some seconds apart from it."""

    def __init__(self, world: World, apart: timedelta) -> None:
        self._world = world
        self._apart = apart

    def now(self) -> datetime:
        return self._world.now + self._apart

    def monotonic(self) -> float:
        return (self._world.now - NOON).total_seconds()

    async def sleep(self, seconds: float, /) -> None:
        assert seconds == 0, "no duty of the simulation waits for a time"
        await asyncio.sleep(0)  # noqa: TID251 — a turn for the others, no time


class Node:
    """One start of a process, by the name it has in the story."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.duties: dict[str, Tick] = {}
        self.told: list[EngineEvent] = []
        # Who it is to the database. A scheduler that lost its session goes on with a new one.
        self.sessions: set[UUID] = set()


class SchedulerNode(Node):
    def __init__(self, name: str, world: World, wire: Wire, *, apart: timedelta) -> None:
        super().__init__(name)
        clock, offset = NodeClock(world, apart), ClockOffset()
        self.tenure = HeldShards(lease=SHARD_LEASE)
        agenda = Agenda(schedule_cache=ScheduleCache(), wake=lambda: None)
        self.leasing = ShardLeaser(
            source=wire,
            held_shards=self.tenure,
            offset=offset,
            clock=clock,
            name=name,
            new_id=lambda: self.introduce(world.new_id()),
            emit=self.told.append,
            on_shards_taken=lambda: None,
        )
        self.reading = TickReader(
            source=wire,
            held_shards=self.tenure,
            offset=offset,
            agendas=[agenda],
            look_ahead=timedelta(seconds=5),
            clock=clock,
            pulse=Pulse(),
            emit=self.told.append,
        )
        firing = TickFirer(
            source=wire,
            held_shards=self.tenure,
            offset=offset,
            agenda=agenda,
            batch_max=100,
            clock=clock,
            notify_queues=lambda _: None,
            emit=self.told.append,
        )
        self.duties = {
            "leasing": self.leasing.tick,
            "reading": self.reading.tick,
            "firing": firing.tick,
            "letting go": self.leasing.release_shards,
        }

    def introduce(self, session_id: UUID) -> UUID:
        self.sessions.add(session_id)
        return session_id


class Performed(NamedTuple):
    """An attempt that a worker performs, and what it was told of it."""

    run: ClaimedRun
    payload: str | None


class WorkerNode(Node):
    """`seen_since` is from when on it has seen the database without a break, on its clock."""

    def __init__(
        self,
        name: str,
        world: World,
        wire: Wire,
        *,
        apart: timedelta,
        seen_since: float | None = -LONG_AGO,
    ) -> None:
        super().__init__(name)
        self._world, self._wire, clock = world, wire, NodeClock(world, apart)
        self._id = world.new_id()
        self.sessions = {self._id}
        self.slots = SLOTS
        self.performing: dict[tuple[UUID, int], Performed] = {}
        self.vouched: dict[UUID, Performed] = {}
        self.forgotten: set[tuple[UUID, int]] = set()
        self.ended: deque[EndedAttempt] = deque()
        self.sent: dict[tuple[UUID, int], Outcome] = {}
        self.begun: list[tuple[UUID, int]] = []
        # What was performed when each beat was sent.
        self.beats: dict[datetime, frozenset[tuple[UUID, int]]] = {}
        self.briefing = JobSpecCache(wire)
        claiming = RunClaimer(
            source=wire,
            queues=[QueueClaimState(queue_id=world.queue_id)],
            claims=LimitedClaims(
                session_id=self._id,
                queue_ids=(world.queue_id,),
                kind_ids=(world.kind_id,),
                clock=clock,
            ),
            free_slots=lambda: self.slots - len(self.performing),
            start_runs=self.begin,
            start_gated_runs=self.begin,
            held_runs=lambda: list(self.vouched),
            clock=clock,
        )
        recording = OutcomeRecorder(
            source=wire,
            session_id=self._id,
            take_ended=self.take,
            return_ended=self.give_back,
            release_runs=self.forget,
            take_last_output=lambda _ended: [],
            now=clock.now,
            monotonic=clock.monotonic,
            rng=Random(1),
            emit=self.told.append,
        )
        rescuing = RunRescuer(
            source=wire,
            on_runs_waiting=lambda: None,
            emit=self.told.append,
            monotonic=clock.monotonic,
            # A real node looks every second, here it looks when it is its turn.
            sight=DatabaseObservation(gap_max=inf, since=seen_since),
        )
        expiring = RunExpirer(source=wire, emit=self.told.append)
        self.duties = {
            "claiming": claiming.tick,
            "beating": self.beat,
            "recording": recording.store_next,
            "rescuing": rescuing.tick,
            "expiring": expiring.tick,
        }

    @property
    def session_id(self) -> UUID:
        return self._id

    async def register(self) -> None:
        new = NewSession(id=self._id, role=SessionRole.WORKER, name=self.name, slots=SLOTS)
        await sessions.open_session(self._world.conn, new, ttl=SESSION_LEASE.ttl)

    async def beat(self) -> None:
        """Vouch for what is in the books; raises `LeaseLost` when the session is dead."""
        self.beats[self._world.now] = frozenset(self.performing)
        async with self._wire.acquire() as conn:
            await sessions.send_heartbeat(
                conn, session_id=self._id, running=list(self.vouched), ttl=SESSION_LEASE.ttl
            )

    async def begin(self, runs: Sequence[ClaimedRun]) -> None:
        briefs = await self.briefing.load_specs(runs)
        for run, brief in zip(runs, briefs, strict=True):
            self.performing[run.id, run.attempt] = Performed(run, brief.payload)
            self.vouched[run.id] = self.performing[run.id, run.attempt]
            self.begun.append((run.id, run.attempt))

    def lose_sight(self, attempt: tuple[UUID, int]) -> None:
        """The books forget an attempt that goes on (F20)."""
        self.forgotten.add(attempt)
        vouched = self.vouched.get(attempt[0])
        if vouched is not None and vouched.run.attempt == attempt[1]:
            del self.vouched[attempt[0]]

    def end(self, attempt: tuple[UUID, int], outcome: Outcome) -> None:
        run, _ = self.performing.pop(attempt)
        self.ended.append(
            EndedAttempt(
                run_id=run.id,
                attempt=run.attempt,
                failures=run.failures,
                kind="noop",
                policy=self.briefing.get_policy(run.policy_id),
                deadline_at=run.deadline_at,
                outcome=outcome,
                result=f'"{self.mark(attempt)}"' if isinstance(outcome, Succeeded) else None,
                is_recorded=False,
                duration_s=0.0,
            )
        )

    def mark(self, attempt: tuple[UUID, int]) -> str:
        """What an attempt says of itself in its result: who performed it, and which it was."""
        return f"{self._id} {attempt[1]}"

    def take(self, most: int) -> list[EndedAttempt]:
        taken = [self.ended.popleft() for _ in range(min(most, len(self.ended)))]
        self.sent = {(ended.run_id, ended.attempt): ended.outcome for ended in taken}
        return taken

    def give_back(self, ended: Sequence[EndedAttempt]) -> None:
        self.ended.extendleft(reversed(ended))

    def forget(self, stored: Sequence[EndedAttempt]) -> None:
        """These attempts are told of; a later one of the same run is still vouched for."""
        for ended in stored:
            vouched = self.vouched.get(ended.run_id)
            if vouched is not None and vouched.run.attempt == ended.attempt:
                del self.vouched[ended.run_id]

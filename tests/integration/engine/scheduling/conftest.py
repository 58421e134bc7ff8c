"""A scheduler whose duties are called by hand, on a database whose clock the test moves."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.leases import SHARD_LEASE
from tests.support.moved_clock import MovedClock
from tests.support.world import NOON, World

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.log_events import EngineEvent
from rota.core.time import planning
from rota.engine.scheduling.agenda import Agenda
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.engine.scheduling.shard_leaser import HeldShards, ShardLeaser
from rota.engine.scheduling.tick_firer import TickFirer
from rota.engine.scheduling.tick_reader import TickReader
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.service import Pulse
from rota.store import interning
from rota.store.driver import Connection


class OneConnection:
    """The one whose clock the test moves."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self.conn


class Scheduler:
    """The duties of one scheduler, wired as in a node, with one line of firing."""

    def __init__(self, stage: "Stage", name: str) -> None:
        self.events: list[EngineEvent] = []
        self.hints: list[frozenset[int]] = []
        source, clock, offset = OneConnection(stage.world.conn), stage.clock, ClockOffset()
        self.tenure = HeldShards(lease=SHARD_LEASE)
        self.agenda = Agenda(schedule_cache=ScheduleCache(), wake=lambda: None)
        self.reading = TickReader(
            source=source,
            held_shards=self.tenure,
            offset=offset,
            agendas=[self.agenda],
            look_ahead=timedelta(seconds=5),
            clock=clock,
            pulse=Pulse(),
            emit=self.events.append,
        )
        self.leasing = ShardLeaser(
            source=source,
            held_shards=self.tenure,
            offset=offset,
            clock=clock,
            name=name,
            new_id=stage.world.new_id,
            emit=self.events.append,
            on_shards_taken=lambda: None,
        )
        self.firing = TickFirer(
            source=source,
            held_shards=self.tenure,
            offset=offset,
            agenda=self.agenda,
            batch_max=100,
            clock=clock,
            notify_queues=self.hints.append,
            emit=self.events.append,
        )

    async def lease(self) -> None:
        while await self.leasing.tick() == 0.0:
            pass

    async def fire(self) -> None:
        while await self.firing.tick() == 0.0:
            pass

    async def step(self) -> None:
        """Each duty once, and firing until nothing is due."""
        await self.lease()
        await self.reading.tick()
        await self.fire()

    def told(self, kind: type[EngineEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class Stage:
    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = MovedClock(NOON)

    def scheduler(self, name: str = "one") -> Scheduler:
        return Scheduler(self, name)

    async def advance(self, **time: float) -> None:
        """Move both clocks."""
        await self.clock.advance(timedelta(**time))
        await self.world.advance(**time)

    async def job(self, schedule: dict[str, Any], **given: object) -> UUID:
        """A job as it is written: its first tick computed, its schedule stored."""
        job_id = self.world.new_id()
        read = read_schedule(schedule, now=self.world.now, seed=str(job_id))
        first = planning.plan_next_tick(read, self.world.now)
        assert first is not None
        body = json.dumps(write_schedule(read), sort_keys=True)
        values: dict[str, object] = {
            "id": job_id,
            "schedule": body,
            "schedule_id": await interning.intern_schedule(self.world.conn, body),
            "tick_at": first.tick.at,
            "fire_at": first.due_at,
            "fired": None if read.window.max_runs is None else 0,
        }
        return await self.world.job(**(values | given))

    async def runs_of(self, job_id: UUID) -> list[tuple[str, str]]:
        """The runs of a job in the order of their ticks: time of day, and state."""
        rows = await self.world.conn.fetch(
            "select scheduled_at, state::text from rota.live_runs where job_id = $1"
            " union all select scheduled_at, state::text from rota.runs where job_id = $1"
            " order by 1",
            job_id,
        )
        return [(f"{row[0]:%H:%M:%S}", row[1]) for row in rows]

    async def reasons_of(self, job_id: UUID) -> list[dict[str, Any]]:
        rows = await self.world.conn.fetch(
            "select reason from rota.runs where job_id = $1 and reason is not null order by id",
            job_id,
        )
        return [json.loads(row[0]) for row in rows]

    async def state_of(self, job_id: UUID) -> str:
        found = await self.world.conn.fetchval(
            "select rota.shown_state(j)::text from rota.jobs as j where id = $1", job_id
        )
        return str(found)

    async def finish_all(self) -> None:
        """Every run that waits is claimed and succeeds now, whatever gates there are."""
        await self.start_all()
        await self.world.conn.execute(
            "with ended as (delete from rota.live_runs where state = 'running' returning *)"
            " insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
            " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,"
            " priority) select id, job_id, scheduled_at, due_at, created_at, rota.now(), tenant_id,"
            " queue_id, kind_id, policy_id, job_version, 'succeeded', state, trigger, priority"
            " from ended"
        )

    async def start_all(self) -> None:
        """Every run that waits is claimed now, whatever gates there are."""
        session = await self.world.session()
        await self.world.conn.execute(
            "update rota.live_runs set state = 'running', attempt = attempt + 1, session_id = $1,"
            " started_at = rota.now() where state in ('queued', 'retrying')",
            session,
        )


@pytest.fixture
async def stage(world: World) -> Stage:
    return Stage(world)

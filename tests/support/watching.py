"""Jobs with expectations on a world's clock: fired, started and ended by hand, and the services
that evaluate them, one pass at a time.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.contract.expectation_values import (
    read_stored_conditions,
    read_stored_policy,
    read_stored_selector,
)
from rota.contract.schedule import read_schedule, read_stored_schedule, write_schedule
from rota.core.alerts.rules import NewRule
from rota.core.ids import derive_step_run_id, derive_tick_run_id
from rota.core.time import planning
from rota.engine.alerting.deadline_checker import DeadlineChecker
from rota.engine.alerting.endings import EndingEvaluator
from rota.engine.alerting.expectation_book import ExpectationBook
from rota.engine.alerting.incident_keeper import IncidentKeeper
from rota.engine.alerting.state_checker import StateChecker
from rota.engine.alerting.watch_scheduler import WatchScheduler
from rota.engine.relay.relay import Relay
from rota.store import expectations
from tests.support.alerting import SharedConnection
from tests.support.standing import WorldClock
from tests.support.world import World

ERROR = {"type": "ValueError", "message": "no such file"}


class Incident(NamedTuple):
    """An incident as tests compare it."""

    condition: str
    subject: str
    state: str
    bad_runs: int


@dataclass
class WatchDesk:
    """The evaluating services of one process on a world's clock."""

    world: World
    has_defaults: bool = True
    evaluator: EndingEvaluator = field(init=False)
    relay: Relay = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin with empty memories, as a process does."""
        clock, source = WorldClock(self.world), SharedConnection(self.world.conn)
        self.book = ExpectationBook(clock=clock, has_defaults=self.has_defaults)
        self.evaluator = EndingEvaluator(book=self.book, clock=clock)
        self.relay = Relay(
            source=source,
            consumers=[self.evaluator],
            clock=clock,
            emit=lambda _event: None,
            owner=self.world.new_id(),
            holder="test",
        )
        self.scheduler = WatchScheduler(
            source=source, clock=clock, book=self.book, holder="test", new_id=self.world.new_id
        )
        self.checker = DeadlineChecker(source=source, clock=clock)
        self.states = StateChecker(
            source=source,
            clock=clock,
            book=self.book,
            holder="test",
            new_id=self.world.new_id,
            read_clock_offset=lambda: timedelta(0),
        )
        self.keeper = IncidentKeeper(source=source, clock=clock)

    async def begin(self) -> "WatchDesk":
        await self.read_events()
        return self

    async def add_job(
        self,
        name: str,
        schedule: dict[str, Any] | None = None,
        *,
        expect: dict[str, Any] | None = None,
        alert: dict[str, Any] | None = None,
        **given: Any,
    ) -> UUID:
        """A job with its next tick after now; without a schedule, one that runs on demand."""
        plain = schedule or {"on_demand": True}
        read = read_schedule(plain, now=self.world.now)
        planned = planning.plan_next_tick(read, self.world.now) if read.has_ticks else None
        job_id = await self.world.job(
            name=name,
            schedule=json.dumps(write_schedule(read)),
            tick_at=None if planned is None else planned.tick.at,
            fire_at=None if planned is None else planned.due_at,
            **given,
        )
        await self.world.conn.execute(
            "update rota.jobs set expect = $2, alert = $3 where id = $1",
            job_id,
            None if expect is None else json.dumps(expect),
            None if alert is None else json.dumps(alert),
        )
        return job_id

    async def edit(self, job_id: UUID, **columns: Any) -> None:
        """Change a job as an edit does; a new schedule moves its cursor."""
        for name, value in columns.items():
            await self.world.conn.execute(
                f"update rota.jobs set {name} = $2, version = version + 1, updated_at = rota.now()"
                " where id = $1",
                job_id,
                value if isinstance(value, str) or value is None else json.dumps(value),
            )
        if "schedule" in columns:
            schedule = read_stored_schedule(json.loads(columns["schedule"]))
            planned = planning.plan_next_tick(schedule, self.world.now)
            assert planned is not None
            await self.world.conn.execute(
                "update rota.cursors set tick_at = $2, fire_at = $3, version = version + 1"
                " where job_id = $1",
                job_id,
                planned.tick.at,
                planned.due_at,
            )

    async def add_rule(
        self, name: str, when: dict[str, Any], match: dict[str, Any] | None = None, **policy: Any
    ) -> UUID:
        rule_id = self.world.new_id()
        await expectations.create_rule(
            self.world.conn,
            rule_id,
            NewRule(
                tenant_id=1,
                name=name,
                condition=read_stored_conditions(when)[0],
                selector=read_stored_selector(match or {}),
                policy=read_stored_policy(policy),
            ),
        )
        return rule_id

    async def fire(self) -> list[UUID]:
        """Fire the due ticks, as schedulers do."""
        fired: list[UUID] = []
        while True:
            rows = await self.world.conn.fetch(
                "select c.job_id, c.tick_at, c.fire_at, j.schedule, j.queue_id, j.kind_id"
                " from rota.cursors as c join rota.jobs as j on j.id = c.job_id"
                " where c.fire_at <= $1 order by c.fire_at",
                self.world.now,
            )
            if not rows:
                return fired
            for job_id, tick_at, fire_at, text, queue_id, kind_id in rows:
                run_id = derive_tick_run_id(job_id, tick_at)
                await self.world.run(
                    id=run_id,
                    job_id=job_id,
                    scheduled_at=tick_at,
                    due_at=fire_at,
                    queue_id=queue_id,
                    kind_id=kind_id,
                    trigger="tick",
                )
                await self._move_cursor(job_id, text, tick_at)
                fired.append(run_id)

    async def _move_cursor(self, job_id: UUID, text: str, tick_at: datetime) -> None:
        schedule = read_stored_schedule(json.loads(text))
        planned = planning.plan_next_tick(schedule, tick_at)
        if planned is None:
            await self.world.conn.execute("delete from rota.cursors where job_id = $1", job_id)
            return
        await self.world.conn.execute(
            "update rota.cursors set tick_at = $2, fire_at = $3 where job_id = $1",
            job_id,
            planned.tick.at,
            planned.due_at,
        )

    async def miss(self, job_id: UUID, *, ticks: int = 1) -> None:
        """Record the due tick of a job as missed."""
        row = await self.world.conn.fetchrow(
            "select c.tick_at, j.schedule from rota.cursors as c"
            " join rota.jobs as j on j.id = c.job_id where c.job_id = $1",
            job_id,
        )
        assert row is not None
        await self._record(job_id, row[0], "missed", {"code": "outage", "count": ticks})
        await self._move_cursor(job_id, row[1], row[0])

    async def skip(self, job_id: UUID) -> None:
        """Record the due tick of a job as skipped because its last run still runs."""
        row = await self.world.conn.fetchrow(
            "select c.tick_at, j.schedule from rota.cursors as c"
            " join rota.jobs as j on j.id = c.job_id where c.job_id = $1",
            job_id,
        )
        assert row is not None
        await self._record(job_id, row[0], "skipped", {"code": "overlap"})
        await self._move_cursor(job_id, row[1], row[0])

    async def _record(
        self, job_id: UUID, tick_at: datetime, state: str, reason: dict[str, Any]
    ) -> None:
        await self.world.conn.execute(
            """
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
                kind_id, policy_id, job_version, state, trigger, priority, reason
            )
            values ($1, $2, $3, $3, $4, $4, 1, $5, $6, $7, 1, $8::rota.run_state, 'tick', 5, $9)
            """,
            derive_tick_run_id(job_id, tick_at),
            job_id,
            tick_at,
            self.world.now,
            self.world.queue_id,
            self.world.kind_id,
            self.world.policy_id,
            state,
            json.dumps(reason),
        )

    async def start_run(self, run_id: UUID) -> None:
        await self.world.conn.execute(
            "update rota.live_runs set state = 'running', attempt = attempt + 1, started_at = $2,"
            " session_id = $3 where id = $1",
            run_id,
            self.world.now,
            self.world.new_id(),
        )

    async def end_run(self, run_id: UUID, state: str = "succeeded") -> None:
        reason = None if state == "succeeded" else json.dumps(ERROR)
        await self.world.conn.execute(
            """
            with gone as (delete from rota.live_runs where id = $1 returning *)
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
                queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
                attempt, reason, graph_run_id, step
            )
            select id, job_id, scheduled_at, due_at, created_at, started_at, $2, tenant_id,
                queue_id, kind_id, policy_id, job_version, $3::rota.run_state, state,
                trigger, priority, attempt, $4::jsonb, graph_run_id, step
            from gone
            """,
            run_id,
            self.world.now,
            state,
            reason,
        )

    async def run_tick(
        self,
        state: str = "succeeded",
        *,
        wait: timedelta = timedelta(0),
        length: timedelta = timedelta(seconds=1),
    ) -> None:
        """Fire the due ticks, start their runs after `wait`, end them after `length`."""
        fired = await self.fire()
        await self.world.move_to(self.world.now + wait)
        for run_id in fired:
            await self.start_run(run_id)
        await self.world.move_to(self.world.now + length)
        for run_id in fired:
            await self.end_run(run_id, state)

    async def submit(self, state: str, *, length: timedelta = timedelta(seconds=1)) -> UUID:
        """A submission of the task `noop` that ends in a state."""
        run_id = self.world.new_id()
        await self.world.run(id=run_id, job_id=run_id)
        await self.start_run(run_id)
        await self.world.move_to(self.world.now + length)
        await self.end_run(run_id, state)
        return run_id

    async def expand(self, run_id: UUID, steps: list[str]) -> list[UUID]:
        """Make a run that waits a graph run with these steps; return their runs."""
        conn = self.world.conn
        definition = {"steps": [{"name": name} for name in steps]}
        graph_id = await conn.fetchval(
            "insert into rota.graphs (tenant_id, digest, definition) values (1, $1, $2)"
            " returning id",
            run_id.hex,
            json.dumps(definition),
        )
        await self.start_run(run_id)
        job_id = await conn.fetchval(
            "update rota.live_runs set state = 'blocked', session_id = null where id = $1"
            " returning job_id",
            run_id,
        )
        await conn.execute("update rota.jobs set graph_id = $2 where id = $1", job_id, graph_id)
        await conn.execute(
            "insert into rota.graph_runs (run_id, tenant_id, job_id, graph_id, started_at)"
            " values ($1, 1, $2, $3, $4)",
            run_id,
            job_id,
            graph_id,
            self.world.now,
        )
        made = []
        for number in range(len(steps)):
            step_id = derive_step_run_id(run_id, number, round_=0)
            await self.world.run(id=step_id, job_id=job_id, trigger="graph")
            await conn.execute(
                "update rota.live_runs set graph_run_id = $2, step = $3 where id = $1",
                step_id,
                run_id,
                number,
            )
            made.append(step_id)
        return made

    async def read_events(self) -> None:
        while await self.relay.tick() == 0:
            pass

    async def sync(self) -> None:
        """Bring the watches up to date with jobs and rules."""
        while await self.scheduler.tick() == 0:
            pass

    async def check(self) -> None:
        """Do a pass of every service that evaluates."""
        await self.read_events()
        await self.sync()
        while await self.checker.tick() == 0:
            pass
        await self.keeper.tick()

    async def check_states(self) -> None:
        await self.states.tick()
        await self.keeper.tick()

    async def pass_time(self, until: datetime, *, step: timedelta, **run: Any) -> None:
        """Move the clock in steps, run every tick, and check after each step."""
        while self.world.now < until:
            await self.world.move_to(min(until, self.world.now + step))
            await self.run_tick(**run)
            await self.check()

    async def incidents(self, *, only_open: bool = False) -> list[Incident]:
        rows = await self.world.conn.fetch(
            "select condition, subject_name, state, count from rota.incidents"
            " where not $1 or state <> 'resolved' order by opened_at, condition, subject_name",
            only_open,
        )
        return [Incident(*row) for row in rows]

    async def open_conditions(self) -> list[str]:
        return [incident.condition for incident in await self.incidents(only_open=True)]

    async def titles(self) -> list[str]:
        rows = await self.world.conn.fetch(
            "select title from rota.incidents order by opened_at, id"
        )
        return [row[0] for row in rows]

    async def watches(self) -> list[tuple[str, str]]:
        rows = await self.world.conn.fetch(
            "select condition, state from rota.watches order by condition, subject_key"
        )
        return [(row[0], row[1]) for row in rows]

"""Graph runs on a World: made, unfolded, advanced, and their steps ended as the test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from uuid import UUID

from rota.contract.graph import read_graph
from rota.core.graphs import StepGraph
from rota.core.graphs.step_states import STEP_STATE_WORDS
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import graphs, live_runs
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, RunEnding
from tests.support.world import World

Steps = list[dict[str, Any]]


def diamond() -> Steps:
    """One, then two beside each other, then one."""
    return steps("a", "b: a", "c: a", "d: b c")


def steps(*lines: str, **more: Mapping[str, Any]) -> Steps:
    """`"d: b c"` is a step d that needs b and c; `d={…}` says more about it."""
    found: Steps = []
    for line in lines:
        name, _, needs = line.partition(":")
        found.append({"name": name, "kind": "noop", "needs": needs.split(), **more.get(name, {})})
    return found


class Graphing:
    """What a worker and a node do, one call at a time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.conn = world.conn
        self.freed = 0
        self._names = 0
        self._session: UUID | None = None
        self.definitions: dict[UUID, StepGraph] = {}
        self.advancing = self.another(world.conn)

    def another(self, conn: Connection) -> GraphAdvancer:
        """Another node's."""

        def freed() -> None:
            self.freed += 1

        return GraphAdvancer(
            source=Only(conn),
            on_runs_created=lambda: None,
            on_gates_freed=freed,
            wake=lambda: None,
            # Time passes between any two looks at the clock.
            monotonic=count(0, 0.02).__next__,
            emit=lambda _: None,
        )

    async def job(self, steps: Steps, *, payload: object = None, **more: Any) -> UUID:
        self._names += 1
        spec = JobSpec(
            name=f"graph {self._names}",
            kind="graph",
            graph={"steps": steps},
            payload=payload,
            **more,
        )
        made = await submit_jobs(self.conn, [spec], now=self.world.now, new_id=self.world.new_id)
        return made[0].job_id

    async def run(self, steps: Steps, *, payload: object = None, **more: Any) -> UUID:
        """A graph run that has unfolded and begun."""
        run_id = await self.waiting(steps, payload=payload, **more)
        await self.unfold()
        await self.advance()
        return run_id

    async def waiting(self, steps: Steps, *, payload: object = None, **more: Any) -> UUID:
        """A graph run that nobody has claimed yet."""
        job_id = await self.job(steps, payload=payload, **more)
        (run_id,) = await submit_runs(
            self.conn, [RunSpec(job_id=job_id)], now=self.world.now, new_id=self.world.new_id
        )
        self.definitions[run_id] = read_graph({"steps": steps})
        return run_id

    async def session(self) -> UUID:
        if self._session is None:
            self._session = await self.world.session()
        return self._session

    async def claim(self, kind: str, *, room: int = 10_000) -> list[ClaimedRun]:
        """Take what waits of a kind, as one statement that asks for no gates."""
        rows = await self.conn.fetch(
            """
            update rota.live_runs set state = 'running', attempt = attempt + 1, session_id = $1,
                started_at = rota.now()
            where id in (
                select l.id from rota.live_runs as l
                inner join rota.kinds as k on l.kind_id = k.id
                where k.name = $2 and l.state in ('queued', 'retrying') and ready_at <= rota.now()
                order by l.id limit $3
            )
            returning id, job_id, job_version, attempt, failures, tenant_id, kind_id, policy_id,
                priority, scheduled_at, due_at, ready_at, started_at, deadline_at, payload
            """,
            await self.session(),
            kind,
            room,
        )
        return [ClaimedRun._make(row) for row in rows]

    async def unfold(self) -> list[UUID]:
        """Claim graph runs and let them wait for their steps."""
        taken = await self.claim("graph")
        moved = await graphs.expand_graphs(
            self.conn,
            session_id=await self.session(),
            runs=[(run.id, run.attempt) for run in taken],
        )
        return [run.id for run in moved]

    async def advance(self) -> None:
        """Until there is no mark left that anybody may take."""
        async with asyncio.timeout(30):
            self.advancing.scan_soon()
            while await self.advancing.tick() == 0.0:
                pass

    async def live(self, run_id: UUID) -> dict[str, ClaimedRun | None]:
        """The names of the steps whose runs are alive."""
        rows = await self.conn.fetch(
            "select step from rota.live_runs where graph_run_id = $1 order by step", run_id
        )
        graph = self.definitions[run_id]
        return {graph.steps[row[0]].name: None for row in rows}

    async def end(self, run_id: UUID, *names: str, state: str = "succeeded", **told: Any) -> None:
        """Claim all steps that wait, and end these of this graph run, in one batch."""
        await self.claim("noop")
        graph = self.definitions[run_id]
        rows = await self.conn.fetch(
            """
            select id, attempt, session_id from rota.live_runs
            where graph_run_id = $1 and step = any($2) and session_id is not null
            """,
            run_id,
            [graph.step_indexes[name] for name in names],
        )
        assert len(rows) == len(names), f"of {names} {len(rows)} run"
        text = {key: json.dumps(value) for key, value in told.items()}
        endings = [
            RunEnding(row[0], row[1], RunState(state), None, text.get("result"), text.get("reason"))
            for row in rows
        ]
        moved = await live_runs.finish_runs(self.conn, session_id=rows[0][2], endings=endings)
        assert len(moved) == len(names)

    async def end_and_advance(self, run_id: UUID, *names: str, **told: Any) -> None:
        await self.end(run_id, *names, **told)
        await self.advance()

    async def board(self, run_id: UUID) -> str:
        return str(
            await self.conn.fetchval("select board from rota.graph_runs where run_id = $1", run_id)
        )

    async def shown(self, run_id: UUID) -> dict[str, str]:
        """The states of the steps by name."""
        board, graph = await self.board(run_id), self.definitions[run_id]
        return {
            step.name: STEP_STATE_WORDS[state]
            for step, state in zip(graph.steps, board, strict=True)
        }

    async def told(self, run_id: UUID) -> dict[str, str]:
        text = await self.conn.fetchval(
            "select told from rota.graph_runs where run_id = $1", run_id
        )
        graph = self.definitions[run_id]
        return {graph.steps[int(step)].name: why for step, why in json.loads(text).items()}

    async def payload(self, run_id: UUID, name: str) -> Any:
        """The payload of a step's run that is alive."""
        step = self.definitions[run_id].step_indexes[name]
        text = await self.conn.fetchval(
            "select payload from rota.live_runs where graph_run_id = $1 and step = $2", run_id, step
        )
        return json.loads(text)

    async def step_id(self, run_id: UUID, name: str) -> UUID:
        """The id of the last run of a step, alive or finished."""
        step = self.definitions[run_id].step_indexes[name]
        row = await self.conn.fetchrow(
            """
            select id, created_at from rota.live_runs where graph_run_id = $1 and step = $2
            union all
            select id, created_at from rota.runs where graph_run_id = $1 and step = $2
            order by created_at desc limit 1
            """,
            run_id,
            step,
        )
        assert row is not None
        return UUID(str(row[0]))

    async def marks(self) -> int:
        return await self.world.count("step_marks")

    async def runs_of(self, run_id: UUID, name: str) -> int:
        """How many runs a step has had."""
        step = self.definitions[run_id].step_indexes[name]
        return int(
            await self.conn.fetchval(
                """
                select (select count(*) from rota.live_runs where graph_run_id = $1 and step = $2)
                    + (select count(*) from rota.runs where graph_run_id = $1 and step = $2)
                """,
                run_id,
                step,
            )
        )


class Only:
    """A source of one connection."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self._conn

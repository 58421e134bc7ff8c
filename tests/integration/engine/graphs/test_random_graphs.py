"""Graphs of any shape on the real store end as an oracle says, whatever dies meanwhile (I13)."""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support import graph_oracle as oracle
from tests.support.graphing import Graphing

from rota.core.states import RunState
from rota.engine.graphs.control import retry_failed_steps
from rota.store import live_runs
from rota.store.live_runs import ReturnedAttempt, RunEnding

S = RunState
NOW = timedelta(0)
ENDS = {oracle.GOOD: (S.SUCCEEDED,), oracle.BAD: (S.DEAD, S.LOST, S.QUARANTINED)}
FINAL = set("sfck")


@pytest.fixture
async def second(database: str, graphing: Graphing) -> AsyncIterator[Any]:
    """Another node, with the same clock."""
    conn = await asyncpg.connect(database)
    await conn.execute("select set_config('rota.now', $1, false)", graphing.world.now.isoformat())
    yield conn
    await conn.close()


class Play:
    """Carries a graph run out, with whatever may go wrong on the way."""

    def __init__(self, graphing: Graphing, second: Any, chance: Random, steps: int) -> None:
        self.graphing, self.conn, self.chance = graphing, graphing.conn, chance
        self.nodes = [(self.conn, graphing.advancing), (second, graphing.another(second))]
        self.definition = oracle.random_graph(chance, steps, kind="noop")
        names = [step["name"] for step in self.definition["steps"]]
        luck = chance.choice((1.0, 0.9, 0.6))
        self.outcomes = {name: self._outcome(luck) for name in names}
        self.numbers = {name: chance.randint(0, 9) for name in names}
        self.crashes = 0

    def _outcome(self, luck: float) -> str:
        if self.chance.random() < luck:
            return oracle.GOOD
        return self.chance.choice((oracle.BAD, oracle.STOPPED))

    async def begin(self) -> UUID:
        self.run_id = await self.graphing.waiting(self.definition["steps"])
        self.graph = self.graphing.definitions[self.run_id]
        await self.graphing.unfold()
        return self.run_id

    async def to_the_end(self) -> None:
        while await self._is_alive():
            await self._end_some()
            await self._advance()
            await self._check()

    async def _is_alive(self) -> bool:
        return (await self.graphing.world.get(self.run_id)).finished_at is None

    async def _end_some(self) -> None:
        taken = await self.graphing.claim("noop", room=self.chance.randint(1, 40))
        session = await self.graphing.session()
        endings, back = [], []
        for run in taken:
            name = await self._name(run.id)
            if self.chance.random() < 0.1:
                back.append(ReturnedAttempt(run.id, run.attempt, S.QUEUED, "released", 0, NOW))
            elif self.outcomes[name] == oracle.STOPPED:
                await live_runs.cancel_runs(self.conn, ids=[run.id])
                endings.append(RunEnding(run.id, run.attempt, S.SUCCEEDED))
            else:
                state = self.chance.choice(ENDS[self.outcomes[name]])
                result = f'{{"n": {self.numbers[name]}}}' if state is S.SUCCEEDED else None
                endings.append(RunEnding(run.id, run.attempt, state, None, result))
        if back:
            await live_runs.put_back_runs(self.conn, session_id=session, attempts=back)
        middle = self.chance.randint(0, len(endings))
        for some in filter(None, (endings[:middle], endings[middle:])):
            await live_runs.finish_runs(self.conn, session_id=session, endings=some)
            if self.chance.random() < 0.5:
                await self._advance()

    async def _name(self, run_id: UUID) -> str:
        step = await self.conn.fetchval("select step from rota.live_runs where id = $1", run_id)
        return str(self.graph.steps[step].name)

    async def _advance(self) -> None:
        """By one of two nodes, which may die before it commits."""
        conn, node = self.chance.choice(self.nodes)
        if self.chance.random() < 0.3:
            self.crashes += 1
            doomed: Any = conn.transaction()
            await doomed.start()
            await node.advance(conn, [self.run_id])
            await doomed.rollback()
        await node.advance(conn, [self.run_id])

    async def _check(self) -> None:
        """Every step that has begun has only parents that are final, and one run in each round."""
        board = await self.graphing.board(self.run_id)
        runs = await self.conn.fetch(
            """
            select id, step from rota.live_runs where graph_run_id = $1
            union all select id, step from rota.runs where graph_run_id = $1
            """,
            self.run_id,
        )
        most = 1 + await self.conn.fetchval(
            "select round from rota.graph_runs where run_id = $1", self.run_id
        )
        for step, count in Counter(row[1] for row in runs).items():
            assert count <= most
            if board[step] != "w":
                assert all(board[parent] in FINAL for parent in self.graph.steps[step].needs)

    async def expect(self) -> None:
        """All is as the oracle says."""
        fates = oracle.fates(self.definition, self.outcomes, self.numbers)
        shown = await self.graphing.shown(self.run_id)
        assert shown == {name: fate.state for name, fate in fates.items()}
        told = await self.graphing.told(self.run_id)
        skipped = {name: fate.reason for name, fate in fates.items() if fate.state == oracle.LEFT}
        assert {name: told[name] for name in skipped} == skipped
        state = (await self.graphing.world.get(self.run_id)).state
        assert state.value == oracle.ending(self.definition, fates)
        assert await self.graphing.world.count("live_runs") == 0
        assert await self.graphing.marks() == 0

    async def retry(self) -> None:
        """Go again from what failed; this time most of it is better."""
        before = await self.graphing.board(self.run_id)
        for step in self.graph.steps:
            if before[step.index] in "fc" and self.chance.random() < 0.8:
                self.outcomes[step.name] = oracle.GOOD
        await self.graphing.world.advance(seconds=1)
        for conn, _ in self.nodes[1:]:
            now = self.graphing.world.now.isoformat()
            await conn.execute("select set_config('rota.now', $1, false)", now)
        await retry_failed_steps(self.conn, 1, self.run_id, "ana", self.graphing.world.now)
        await self.graphing.unfold()


@pytest.mark.parametrize("seed", range(8))
async def test_random_graphs_end_as_the_oracle_says(
    graphing: Graphing, second: Any, seed: int
) -> None:
    chance = Random(seed)
    play = Play(graphing, second, chance, chance.choice((7, 30, 80, 200)))

    await play.begin()
    await play.to_the_end()
    await play.expect()
    for _ in range(2):
        if (await graphing.world.get(play.run_id)).state is S.SUCCEEDED:
            break
        await play.retry()
        await play.to_the_end()
        await play.expect()

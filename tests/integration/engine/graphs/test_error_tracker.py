"""One graph run that cannot be advanced stops no other, and does not go on for ever (F08)."""

import json
from uuid import UUID

import pytest
from tests.support.graphing import Graphing, Only, steps

from rota.core.log_events import EngineEvent, GraphAdvanceDelayed, GraphAdvanceFailed
from rota.core.states import RunState
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.graphs.error_tracker import ADVANCE_TRIES_MAX, RETRY_PAUSE_S
from rota.store import live_runs


class Node:
    """A node whose clock the test moves, and what it said."""

    def __init__(self, graphing: Graphing) -> None:
        self.now = 0.0
        self.said: list[EngineEvent] = []
        self.advancing = GraphAdvancer(
            source=Only(graphing.conn),
            on_runs_created=lambda: None,
            on_gates_freed=lambda: None,
            wake=lambda: None,
            monotonic=lambda: self.now,
            emit=self.said.append,
        )

    async def look(self, *, after: float = 0.0) -> None:
        """Let time pass, then look for marks and take all that follow from them."""
        self.now += after
        self.advancing.scan_soon()
        while await self.advancing.tick() < 1.0:
            self.now += 0.02

    def ends(self) -> list[UUID]:
        return [each.run_id for each in self.said if isinstance(each, GraphAdvanceFailed)]

    def puts_off(self) -> list[int]:
        return [each.tries for each in self.said if isinstance(each, GraphAdvanceDelayed)]


@pytest.fixture
def node(graphing: Graphing) -> Node:
    return Node(graphing)


async def spoilt(graphing: Graphing, *, rounds: str = '{"zero": 0}') -> UUID:
    """A graph run with a row that the code stumbles over, whose first step has ended."""
    run_id = await graphing.run(steps("a", "b: a", "c"))
    await graphing.conn.execute(
        "update rota.graph_runs set rounds = $2, round = 1 where run_id = $1", run_id, rounds
    )
    await graphing.end(run_id, "a")
    return run_id


async def test_an_error_nobody_foresaw_in_one_graph_run_does_not_stop_the_others(
    graphing: Graphing, node: Node
) -> None:
    good = [await graphing.run(steps("a", "b: a")) for _ in range(2)]
    bad = await spoilt(graphing)
    good.append(await graphing.run(steps("a", "b: a")))
    for run_id in good:
        await graphing.end(run_id, "a")

    await node.look()

    assert [list(await graphing.live(run_id)) for run_id in good] == [["b"]] * 3
    assert (await graphing.world.get(bad)).state is RunState.BLOCKED
    assert await graphing.marks() == 1
    (told,) = node.said
    assert isinstance(told, GraphAdvanceDelayed)
    assert (told.run_id, told.tries) == (bad, 1)
    assert told.reason.startswith("ValueError: invalid literal for int()")


async def test_it_is_left_alone_for_a_while_even_when_it_is_kicked(
    graphing: Graphing, node: Node
) -> None:
    bad = await spoilt(graphing)
    await node.look()

    node.advancing.advance_soon([bad])
    await node.look(after=RETRY_PAUSE_S / 2)

    assert node.puts_off() == [1]
    assert await graphing.marks() == 1


async def test_after_some_tries_it_ends_as_dead_with_the_reason_and_its_steps_with_it(
    graphing: Graphing, node: Node
) -> None:
    bad = await spoilt(graphing)

    for _ in range(ADVANCE_TRIES_MAX):
        await node.look(after=RETRY_PAUSE_S)

    assert node.puts_off() == [*range(1, ADVANCE_TRIES_MAX)]
    assert node.ends() == [bad]
    told = await graphing.world.get(bad)
    assert told.state is RunState.DEAD
    reason = json.loads(told.reason or "")
    assert reason["type"] == "GraphFailed"
    assert reason["message"].startswith("the graph run could not be advanced: ValueError: ")
    await node.look(after=RETRY_PAUSE_S)
    rest = await graphing.conn.fetch(
        "select state from rota.live_runs where graph_run_id = $1", bad
    )
    assert [row[0] for row in rest] == ["cancelling"]
    assert await graphing.marks() == 0


async def test_one_that_goes_again_before_that_begins_to_count_anew(
    graphing: Graphing, node: Node
) -> None:
    bad = await spoilt(graphing)
    await node.look()
    await graphing.conn.execute("update rota.graph_runs set rounds = '{}', round = 0")

    await node.look(after=RETRY_PAUSE_S)

    assert list(await graphing.live(bad)) == ["b", "c"]
    await graphing.conn.execute("update rota.graph_runs set rounds = '{\"zero\": 0}', round = 1")
    await graphing.end(bad, "b")
    await node.look(after=RETRY_PAUSE_S)
    assert node.puts_off() == [1, 1]


async def test_an_end_that_cannot_be_told_to_the_steps_is_not_tried_for_ever(
    graphing: Graphing, node: Node
) -> None:
    """The graph run is over already, so there is nothing left to end but the trying."""
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.conn.execute(
        "alter table rota.graph_runs add constraint refused check (ended_at is null)"
    )
    await live_runs.cancel_runs(graphing.conn, ids=[run_id])

    await node.look()

    assert (await graphing.world.get(run_id)).state is RunState.CANCELLED
    assert await graphing.marks() == 0
    assert node.ends() == [run_id]


async def test_one_that_cannot_even_be_ended_is_tried_again_after_the_pause(
    graphing: Graphing, node: Node
) -> None:
    bad = await spoilt(graphing)
    await graphing.conn.execute(
        "alter table rota.runs add constraint refused check (state <> 'dead')"
    )

    for _ in range(ADVANCE_TRIES_MAX):
        await node.look(after=RETRY_PAUSE_S)
    still = (await graphing.world.get(bad)).state
    await graphing.conn.execute("alter table rota.runs drop constraint refused")
    await node.look(after=RETRY_PAUSE_S)

    assert still is RunState.BLOCKED
    assert node.puts_off() == [*range(1, ADVANCE_TRIES_MAX + 1)]
    assert node.ends() == [bad]
    assert (await graphing.world.get(bad)).state is RunState.DEAD

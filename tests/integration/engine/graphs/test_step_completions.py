"""Whatever ends a step's run leaves its mark in the same statement, and nothing is lost (I13).

The crash points of docs/reference: CP-D1, CP-D2 and CP-D3 by name.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from importlib.resources import files
from typing import Any, NamedTuple, cast
from uuid import UUID

import asyncpg
import pytest
from tests.support.graphing import Graphing, diamond, steps
from tests.support.world import ALWAYS_SEEN

from rota.core.ids import derive_step_run_id
from rota.core.states import RunState
from rota.engine.graphs.advancer import GraphAdvancer
from rota.store import graphs, live_runs, sessions
from rota.store.driver import Connection
from rota.store.live_runs import ReturnedAttempt
from rota.store.transaction import transaction

S = RunState
End = Callable[[Graphing, "Held"], Awaitable[None]]


class Held(NamedTuple):
    """A step's run that somebody executes."""

    id: UUID
    attempt: int
    session_id: UUID


async def held(graphing: Graphing) -> Held:
    row = await graphing.conn.fetchrow(
        "select id, attempt, session_id from rota.live_runs where session_id is not null"
    )
    assert row is not None
    return Held._make(row)


async def finished(graphing: Graphing, step: Held) -> None:
    ending = live_runs.RunEnding(step.id, step.attempt, S.DEAD)
    await live_runs.finish_runs(graphing.conn, session_id=step.session_id, endings=[ending])


async def put_back_after_a_cancel(graphing: Graphing, step: Held) -> None:
    await live_runs.cancel_runs(graphing.conn, ids=[step.id])
    back = ReturnedAttempt(step.id, step.attempt, S.RETRYING, "failed", 1, timedelta(0))
    await live_runs.put_back_runs(graphing.conn, session_id=step.session_id, attempts=[back])


async def finished_after_a_cancel(graphing: Graphing, step: Held) -> None:
    await live_runs.cancel_runs(graphing.conn, ids=[step.id])
    ending = live_runs.RunEnding(step.id, step.attempt, S.SUCCEEDED)
    await live_runs.finish_runs(graphing.conn, session_id=step.session_id, endings=[ending])


async def cancelled_by_force(graphing: Graphing, step: Held) -> None:
    await live_runs.cancel_runs_now(graphing.conn, ids=[step.id])


async def cancelled_while_it_waits(graphing: Graphing, step: Held) -> None:
    await hand_back(graphing, step)
    await live_runs.cancel_runs(graphing.conn, ids=[step.id])


async def expired(graphing: Graphing, step: Held) -> None:
    await hand_back(graphing, step)
    await graphing.conn.execute(
        "update rota.live_runs set deadline_at = rota.now() where id = $1", step.id
    )
    await live_runs.expire_runs(graphing.conn)


async def lost(graphing: Graphing, step: Held) -> None:
    await graphing.conn.execute("update rota.live_runs set guarantee = 'at_most_once'")
    await lose_worker(graphing)


async def quarantined(graphing: Graphing, step: Held) -> None:
    await graphing.conn.execute("update rota.live_runs set losses = 2")
    await lose_worker(graphing)


async def cancelled_and_lost(graphing: Graphing, step: Held) -> None:
    await live_runs.cancel_runs(graphing.conn, ids=[step.id])
    await lose_worker(graphing)


async def hand_back(graphing: Graphing, step: Held) -> None:
    back = ReturnedAttempt(step.id, step.attempt, S.QUEUED, "released", 0, timedelta(0))
    await live_runs.put_back_runs(graphing.conn, session_id=step.session_id, attempts=[back])


async def lose_worker(graphing: Graphing) -> None:
    await graphing.world.advance(minutes=5)
    await sessions.expire_sessions(graphing.conn, sight=ALWAYS_SEEN)
    await live_runs.reclaim_runs(graphing.conn, sight=ALWAYS_SEEN)


WAYS: dict[End, str] = {
    finished: "failed",
    finished_after_a_cancel: "cancelled",
    put_back_after_a_cancel: "cancelled",
    cancelled_by_force: "cancelled",
    cancelled_while_it_waits: "cancelled",
    expired: "failed",
    lost: "failed",
    quarantined: "failed",
    cancelled_and_lost: "cancelled",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_every_way_to_end_leaves_one_mark_and_the_graph_goes_on(
    graphing: Graphing, way: End
) -> None:
    run_id = await graphing.run(steps("a", "b: a", b={"when": "always"}))
    await graphing.claim("noop")
    assert await graphing.marks() == 0

    await way(graphing, await held(graphing))

    assert await graphing.marks() == 1
    await graphing.advance()
    assert await graphing.shown(run_id) == {"a": WAYS[way], "b": "live"}
    assert await graphing.marks() == 0


def test_no_statement_ends_runs_that_may_be_steps_and_leaves_no_mark() -> None:
    """Those that do not are about ticks, or about runs of which none is a step."""
    unmarked = {
        "cursors/fire.sql",
        "cursors/move.sql",
        "jobs/record.sql",
        "jobs/supersede.sql",
        "graphs/expand.sql",
        "submission_changes/cancel_scheduled.sql",
    }
    folder = files("rota.store").joinpath("sql")
    found = {
        f"{room.name}/{file.name}": file.read_text("utf-8")
        for room in folder.iterdir()
        for file in room.iterdir()
    }
    writing = {name for name, text in found.items() if "insert into rota.runs" in text}

    lacking = {name for name in writing if "insert into rota.step_marks" not in found[name]}

    assert {name for name in lacking if not re.match(r"backfills/|arrivals/", name)} <= unmarked


async def test_members_that_end_together_leave_one_mark(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.conn.execute(
        "update rota.live_runs set member = 0 where graph_run_id = $1", run_id
    )
    (row,) = await graphing.conn.fetch("select * from rota.live_runs where member = 0")
    values = {
        **cast("dict[str, Any]", row),
        "id": derive_step_run_id(run_id, 0, member=1, round_=0),
        "member": 1,
    }
    places = ", ".join(f"${n}" for n in range(1, len(values) + 1))
    await graphing.conn.execute(
        f"insert into rota.live_runs ({', '.join(values)}) values ({places})", *values.values()
    )
    taken = await graphing.claim("noop")

    await live_runs.finish_runs(
        graphing.conn,
        session_id=await graphing.session(),
        endings=[live_runs.RunEnding(run.id, run.attempt, S.SUCCEEDED) for run in taken],
    )

    (mark,) = await graphs.take_completions(graphing.conn, [run_id])
    assert (mark.step, mark.state, mark.ended, mark.members) == (0, "succeeded", 2, 2)


async def test_nothing_of_an_advance_that_is_rolled_back_stays_and_its_marks_do(
    graphing: Graphing,
) -> None:
    """The process dies after it has written the steps, and before it commits."""
    run_id = await graphing.run(diamond())
    await graphing.end(run_id, "a")

    doomed: Any = graphing.conn.transaction()
    await doomed.start()
    await graphing.advancing.advance(graphing.conn, [run_id])
    written = len(await graphing.live(run_id))
    await doomed.rollback()

    assert written == 2
    assert list(await graphing.live(run_id)) == []
    assert await graphing.marks() == 1
    assert await graphing.board(run_id) == "lwww"
    await graphing.advance()
    assert list(await graphing.live(run_id)) == ["b", "c"]


async def test_cp_d1_a_parent_that_ended_is_remembered_until_the_other_has(
    graphing: Graphing,
) -> None:
    """CP-D1: everybody dies between the two parents; who comes later sees both."""
    run_id = await graphing.run(steps("a", "b", "c: a b"))

    await graphing.end_and_advance(run_id, "a")
    other = graphing.another(graphing.conn)
    await graphing.end(run_id, "b")
    await other.tick()

    assert list(await graphing.live(run_id)) == ["c"]
    assert await graphing.runs_of(run_id, "c") == 1


async def connected(database: str, graphing: Graphing) -> Any:
    """Another process, with the same clock."""
    conn = await asyncpg.connect(database)
    await conn.execute("select set_config('rota.now', $1, false)", graphing.world.now.isoformat())
    return conn


@pytest.fixture
async def second(database: str, graphing: Graphing) -> AsyncIterator[Any]:
    conn = await connected(database, graphing)
    yield conn
    await conn.close()


async def test_cp_d2_two_parents_that_end_at_once_begin_the_child_once(
    graphing: Graphing, second: Any
) -> None:
    """CP-D2: each of the two transactions cannot see the other's mark; neither waits for good."""
    run_id = await graphing.run(steps("a", "b", "c: a b"))
    await graphing.claim("noop")
    rows = await graphing.conn.fetch(
        "select id, attempt from rota.live_runs where graph_run_id = $1 order by step", run_id
    )
    mine, theirs = (live_runs.RunEnding(row[0], row[1], S.SUCCEEDED) for row in rows)
    session = await graphing.session()
    other = graphing.another(second)

    async with transaction(graphing.conn):
        await live_runs.finish_runs(graphing.conn, session_id=session, endings=[mine])
        await graphing.advancing._within(graphing.conn, [run_id])
        async with transaction(second):
            await live_runs.finish_runs(second, session_id=session, endings=[theirs])
        # The lock is taken: the second leaves the graph run alone, and its mark stays.
        assert await other.advance(second, [run_id]) == set()
    assert list(await graphing.live(run_id)) == []
    await other.advance(second, [run_id])

    assert list(await graphing.live(run_id)) == ["c"]
    assert await graphing.runs_of(run_id, "c") == 1
    assert await graphing.board(run_id) == "ssl"


async def test_cp_d3_an_ending_that_is_rolled_back_begins_nothing(
    graphing: Graphing, second: Any
) -> None:
    """CP-D3: the worker dies before its completion commits; the step runs again, the child once."""
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.claim("noop")
    step = await held(graphing)
    ending = live_runs.RunEnding(step.id, step.attempt, S.SUCCEEDED)

    doomed = second.transaction()
    await doomed.start()
    await live_runs.finish_runs(second, session_id=step.session_id, endings=[ending])
    await graphing.advance()
    await doomed.rollback()
    await graphing.advance()
    nothing = list(await graphing.live(run_id))
    await live_runs.finish_runs(graphing.conn, session_id=step.session_id, endings=[ending])
    await graphing.advance()

    assert nothing == ["a"]
    assert list(await graphing.live(run_id)) == ["b"]
    assert await graphing.runs_of(run_id, "a") == await graphing.runs_of(run_id, "b") == 1


async def test_many_nodes_that_advance_at_once_begin_every_step_once(
    graphing: Graphing, database: str
) -> None:
    wide = steps(
        "a", *(f"m{n}: a" for n in range(30)), f"z: {' '.join(f'm{n}' for n in range(30))}"
    )
    run_id = await graphing.run(wide)
    await graphing.end_and_advance(run_id, "a")
    conns = [await asyncpg.connect(database) for _ in range(4)]
    for conn in conns:
        await conn.execute(
            "select set_config('rota.now', $1, false)", graphing.world.now.isoformat()
        )
    await graphing.claim("noop")
    rows = await graphing.conn.fetch(
        "select id, attempt from rota.live_runs where session_id is not null"
    )
    session = await graphing.session()

    async def work(conn: Connection, mine: list[tuple[object, int]], node: GraphAdvancer) -> None:
        for run, attempt in mine:
            ending = live_runs.RunEnding(run, attempt, S.SUCCEEDED)  # type: ignore[arg-type]
            await live_runs.finish_runs(conn, session_id=session, endings=[ending])
            await node.advance(conn, [run_id])

    await asyncio.gather(
        *(
            work(conn, [tuple(row) for row in rows[n::4]], graphing.another(conn))
            for n, conn in enumerate(conns)
        )
    )
    await graphing.advance()
    for conn in conns:
        await conn.close()

    assert list(await graphing.live(run_id)) == ["z"]
    assert await graphing.runs_of(run_id, "z") == 1
    assert await graphing.marks() == 0


async def test_marks_of_a_graph_run_that_is_not_on_record_are_dropped(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.end(run_id, "a")
    await graphing.conn.execute("delete from rota.graph_runs")

    await graphing.advance()

    assert await graphing.marks() == 0


async def test_what_the_database_refuses_ends_its_graph_run_and_no_other(
    graphing: Graphing,
) -> None:
    bad = await graphing.run(steps("a", "b: a", "c"))
    good = await graphing.run(steps("a", "b: a"))
    await graphing.conn.execute(
        f"""
        alter table rota.live_runs add constraint refused
        check (graph_run_id is distinct from '{bad}' or step <> 1)
        """
    )
    await graphing.end(bad, "a")
    await graphing.end(good, "a")

    await graphing.advance()

    told = await graphing.world.get(bad)
    assert told.state is S.DEAD
    assert "could not be advanced" in json.loads(told.reason or "")["message"]
    assert list(await graphing.live(good)) == ["b"]
    await graphing.advance()
    assert await graphing.shown(bad) == {"a": "succeeded", "b": "cancelled", "c": "live"}
    (row,) = await graphing.conn.fetch(
        "select state from rota.live_runs where graph_run_id = $1", bad
    )
    assert row[0] == "cancelling"

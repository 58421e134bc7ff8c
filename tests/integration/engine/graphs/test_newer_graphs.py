"""A graph run whose definition newer code wrote goes on, or waits for newer code (O4)."""

import json
from typing import Any

import pytest
from tests.support import newer
from tests.support.graphing import Graphing, steps

from rota.core.log_events import EngineEvent, RunSetAside


async def rewrite(graphing: Graphing, **parts: Any) -> None:
    """Give the second step of every definition more, as newer code would have written it."""
    for row in await graphing.conn.fetch("select id, definition from rota.graphs"):
        document = json.loads(row[1])
        document["steps"][1] |= parts
        document["colour"] = "blue"
        await graphing.conn.execute(
            "update rota.graphs set definition = $2 where id = $1", row[0], json.dumps(document)
        )


async def test_a_field_that_is_not_known_at_any_level_changes_nothing(graphing: Graphing) -> None:
    for each in newer.newer_graphs():
        run_id = await graphing.waiting(newer.GRAPH["steps"])
        await graphing.conn.execute(
            "update rota.graphs set definition = $1", json.dumps(each.document)
        )
        graphing.advancing = graphing.another(graphing.conn)
        await graphing.unfold()
        await graphing.advance()

        await graphing.end_and_advance(run_id, "a")

        assert await graphing.shown(run_id) == {"a": "succeeded", "b": "live", "c": "live"}


async def test_fields_that_are_not_known_change_nothing(graphing: Graphing) -> None:
    run_id = await graphing.waiting(steps("a", "b: a"))
    await rewrite(graphing, colour="blue", retries={"max": 1, "colour": "blue"})
    await graphing.unfold()
    await graphing.advance()

    await graphing.end_and_advance(run_id, "a")
    await graphing.end_and_advance(run_id, "b")

    state = await graphing.conn.fetchval("select state::text from rota.runs where id = $1", run_id)
    assert state == "succeeded"


@pytest.mark.parametrize(
    "parts", [{"when": "now and then"}, {"guarantee": "twice"}, {"needs": {"any": ["a"]}}], ids=str
)
async def test_a_value_that_is_not_known_keeps_the_run_and_its_marks(
    graphing: Graphing, parts: dict[str, Any]
) -> None:
    run_id = await graphing.waiting(steps("a", "b: a"))
    before = await graphing.conn.fetchval("select definition from rota.graphs")
    await rewrite(graphing, **parts)
    told: list[EngineEvent] = []
    graphing.advancing.emit = told.append
    await graphing.unfold()
    await graphing.advance()
    await graphing.advance()

    alive = "select state::text from rota.live_runs where id = $1"
    assert await graphing.conn.fetchval(alive, run_id) == "blocked"
    assert [event.run_id for event in told if isinstance(event, RunSetAside)] == [run_id]

    # A node comes by that knows what is written there.
    await graphing.conn.execute("update rota.graphs set definition = $1", before)
    graphing.advancing = graphing.another(graphing.conn)
    await graphing.advance()
    await graphing.end_and_advance(run_id, "a")
    await graphing.end_and_advance(run_id, "b")

    state = await graphing.conn.fetchval("select state::text from rota.runs where id = $1", run_id)
    assert state == "succeeded"


async def test_the_policy_of_the_job_may_be_newer_too(graphing: Graphing) -> None:
    run_id = await graphing.waiting(steps("a", "b: a"))
    bodies = await graphing.conn.fetch("select id, body from rota.policies")
    await graphing.conn.execute("""update rota.policies set body = '{"guarantee": "twice"}'""")
    await graphing.unfold()
    await graphing.advance()

    alive = "select state::text from rota.live_runs where id = $1"
    assert await graphing.conn.fetchval(alive, run_id) == "blocked"
    for id_, body in bodies:
        await graphing.conn.execute("update rota.policies set body = $2 where id = $1", id_, body)
    graphing.advancing = graphing.another(graphing.conn)
    await graphing.advance()
    await graphing.end_and_advance(run_id, "a")
    assert set(await graphing.live(run_id)) == {"b"}

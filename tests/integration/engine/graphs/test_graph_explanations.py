"""Why a graph run waits: for its steps, for somebody who paused it, or for a moment (E18)."""

from uuid import UUID

from tests.support.graphing import Graphing, diamond, steps

from rota.engine.graphs.control import pause_graph_run
from rota.engine.observability.explanations import explain_run


async def why(graphing: Graphing, run_id: UUID) -> tuple[str, str]:
    told = await explain_run(graphing.conn, tenant_id=1, run_id=run_id)
    return told.code, told.sentence


async def test_a_graph_run_waits_for_the_steps_that_have_begun(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    first = await why(graphing, run_id)

    await graphing.end_and_advance(run_id, "a")

    assert first == ("blocked", "The graph run is waiting for step a.")
    assert await why(graphing, run_id) == ("blocked", "The graph run is waiting for steps b and c.")


async def test_many_steps_are_named_in_part(graphing: Graphing) -> None:
    run_id = await graphing.run(steps(*"abcdefgh"))

    assert (await why(graphing, run_id))[1] == (
        "The graph run is waiting for steps a, b, c, d, e and 3 more."
    )


async def test_the_steps_of_a_sub_graph_have_their_own_names(graphing: Graphing) -> None:
    sub = {"kind": "graph", "graph": {"steps": steps("x", "y: x")}}
    run_id = await graphing.run(steps("first", "sub", sub=sub))

    told = await why(graphing, await graphing.step_id(run_id, "sub"))

    assert told == ("blocked", "The graph run is waiting for step x.")


async def test_a_graph_run_whose_step_has_just_ended_is_about_to_go_on(graphing: Graphing) -> None:
    run_id = await graphing.waiting(diamond())
    await graphing.unfold()

    told = await why(graphing, run_id)

    assert told == ("advancing", "The next steps of the graph run are about to start.")


async def test_a_paused_graph_run_says_so_and_what_still_runs(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    await pause_graph_run(graphing.conn, 1, run_id, "ana", graphing.world.now)

    code, sentence = await why(graphing, run_id)

    assert code == "graph_paused"
    assert sentence == (
        "The graph run has been paused since 2026-07-01 12:00:00 UTC; step a may still be running."
    )

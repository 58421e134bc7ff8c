"""Graph runs cancelled, expired, paused, retried, limited and superseded (D6, E4, E11)."""

import json

import pytest
from tests.support.graphing import Graphing, diamond, steps

from rota.contract.graph import read_graph
from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import Conflict, IllegalMove, NotFound
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.states import RunState
from rota.core.submissions import RunSpec
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.graphs.control import pause_graph_run, resume_graph_run, retry_failed_steps
from rota.engine.submission.requeue import retry_run
from rota.engine.submission.run_cancellation import cancel_run
from rota.engine.submission.run_triggers import submit_runs
from rota.store import graphs, interning, live_runs, requeue

S = RunState


def asked(graphing: Graphing) -> tuple[object, ...]:
    return ("ana", graphing.world.now)


async def cancel(graphing: Graphing, run_id: object, *, force: bool = False) -> RunState:
    done = await cancel_run(
        graphing.conn,
        tenant_id=1,
        run_id=run_id,  # type: ignore[arg-type]
        by="ana",
        force=force,
        now=graphing.world.now,
    )
    return done.state


@pytest.mark.parametrize("force", [False, True], ids=["asked", "forced"])
async def test_cancelling_a_graph_run_cancels_its_steps(graphing: Graphing, force: bool) -> None:
    run_id = await graphing.run(steps("a", "b", "c: a b"))
    await graphing.claim("noop", room=1)

    state = await cancel(graphing, run_id, force=force)
    await graphing.advance()

    assert state is S.CANCELLED
    states = await graphing.conn.fetch("select state from rota.live_runs")
    assert [row[0] for row in states] == ["cancelling"]
    shown = await graphing.shown(run_id)
    assert sorted(shown.values()) == ["cancelled", "cancelled", "live"]
    (name,) = (name for name, word in shown.items() if word == "live")
    await graphing.end_and_advance(run_id, name)
    assert set((await graphing.shown(run_id)).values()) == {"cancelled"}
    assert await graphing.world.count("live_runs") == 0


async def test_a_step_that_is_ready_while_its_graph_run_is_cancelled_is_not_left_alive(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(diamond())
    await graphing.end(run_id, "a")

    await cancel(graphing, run_id)
    await graphing.advance()

    assert await graphing.world.count("live_runs") == 0
    assert await graphing.shown(run_id) == {
        "a": "succeeded",
        "b": "cancelled",
        "c": "cancelled",
        "d": "cancelled",
    }


async def test_a_graph_run_that_is_asked_to_cancel_while_it_is_claimed_does_not_unfold(
    graphing: Graphing,
) -> None:
    run_id = await graphing.waiting(diamond())
    claimed = await graphing.claim("graph")
    assert await cancel(graphing, run_id) is S.CANCELLING

    await graphs.expand_graphs(
        graphing.conn,
        session_id=await graphing.session(),
        runs=[(claimed[0].id, claimed[0].attempt)],
    )

    assert (await graphing.world.get(run_id)).state is S.CANCELLED
    assert await graphing.world.count("graph_runs") == 0
    assert await graphing.marks() == 0


async def test_cancelling_reaches_the_steps_of_sub_graphs(graphing: Graphing) -> None:
    sub = {"kind": "graph", "graph": {"steps": steps("x", "y: x")}}
    run_id = await graphing.run(steps("sub", sub=sub))
    assert await graphing.world.count("live_runs") == 3

    await cancel(graphing, run_id)
    await graphing.advance()

    assert await graphing.world.count("live_runs") == 0
    boards = await graphing.conn.fetch("select board from rota.graph_runs order by path")
    assert [row[0] for row in boards] == ["c", "cc"]
    assert await graphing.marks() == 0


async def test_cancelling_one_step_skips_what_needs_it_and_cancels_the_graph_run(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(steps("a", "b: a"))

    await cancel(graphing, await graphing.step_id(run_id, "a"))
    await graphing.advance()

    assert await graphing.shown(run_id) == {"a": "cancelled", "b": "skipped"}
    assert await graphing.told(run_id) == {"b": "upstream_cancelled"}
    assert (await graphing.world.get(run_id)).state is S.CANCELLED


async def test_a_graph_run_past_its_deadline_expires_with_its_steps(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    await graphing.conn.execute(
        "update rota.live_runs set deadline_at = rota.now() where id = $1", run_id
    )

    await live_runs.expire_runs(graphing.conn)
    await graphing.advance()

    assert (await graphing.world.get(run_id)).state is S.EXPIRED
    assert await graphing.world.count("live_runs") == 0
    assert set(await graphing.board(run_id)) == {"c"}


async def test_a_paused_graph_run_begins_nothing_until_it_is_resumed(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    await pause_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    await pause_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]

    await graphing.end_and_advance(run_id, "a")
    nothing = list(await graphing.live(run_id))
    await resume_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    await graphing.advance()

    assert nothing == []
    assert list(await graphing.live(run_id)) == ["b", "c"]


async def test_a_paused_graph_run_can_be_cancelled(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    await pause_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]

    await cancel(graphing, run_id)
    await graphing.advance()

    assert await graphing.world.count("live_runs") == 0
    assert set(await graphing.board(run_id)) == {"c"}


async def test_what_has_ended_is_neither_paused_nor_resumed(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a"))
    await graphing.end_and_advance(run_id, "a")

    with pytest.raises(IllegalMove, match="succeeded"):
        await pause_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    with pytest.raises(IllegalMove, match="succeeded"):
        await resume_graph_run(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]


async def test_a_plain_run_and_another_tenants_have_no_steps(graphing: Graphing) -> None:
    plain = await graphing.world.run()
    run_id = await graphing.run(steps("a"))

    with pytest.raises(Conflict, match="it is queued and has no steps"):
        await pause_graph_run(graphing.conn, 1, plain, *asked(graphing))  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await pause_graph_run(graphing.conn, 2, run_id, *asked(graphing))  # type: ignore[arg-type]


async def test_a_retry_goes_on_from_the_failed_steps_and_keeps_the_good_ones(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(
        steps("a", "b: a", "c: a", "d: b c", d={"payload": {"$": "steps.b.result"}})
    )
    await graphing.end_and_advance(run_id, "a")
    await graphing.end_and_advance(run_id, "b", result="first")
    await graphing.end_and_advance(run_id, "c", state="dead")
    failed = await graphing.step_id(run_id, "c")
    assert (await graphing.world.get(run_id)).state is S.DEAD

    await graphing.world.advance(seconds=1)
    await retry_failed_steps(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    assert (await graphing.world.get(run_id)).state is S.QUEUED
    await graphing.unfold()
    await graphing.advance()

    assert await graphing.board(run_id) == "sslw"
    assert await graphing.told(run_id) == {}
    assert await graphing.step_id(run_id, "c") != failed
    await graphing.end_and_advance(run_id, "c")
    assert await graphing.payload(run_id, "d") == "first"
    await graphing.end_and_advance(run_id, "d")
    assert (await graphing.world.get(run_id)).state is S.SUCCEEDED
    assert [await graphing.runs_of(run_id, name) for name in "abcd"] == [1, 1, 2, 1]


async def test_a_retry_as_a_whole_begins_anew_with_runs_of_its_own(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.end_and_advance(run_id, "a")
    await graphing.end_and_advance(run_id, "b", state="dead")

    await graphing.world.advance(seconds=1)
    await retry_run(graphing.conn, tenant_id=1, run_id=run_id, by="ana")
    await graphing.unfold()
    await graphing.advance()
    assert await graphing.board(run_id) == "lw"
    await graphing.end_and_advance(run_id, "a")
    await graphing.end_and_advance(run_id, "b")

    assert (await graphing.world.get(run_id)).state is S.SUCCEEDED
    assert [await graphing.runs_of(run_id, name) for name in "ab"] == [2, 2]


async def test_a_graph_run_whose_steps_are_still_stopping_cannot_be_retried(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.claim("noop")
    await cancel(graphing, run_id)
    await graphing.advance()

    with pytest.raises(Conflict, match="still stopping"):
        await retry_failed_steps(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    with pytest.raises(IllegalMove):
        await retry_run(graphing.conn, tenant_id=1, run_id=run_id, by="ana")
    await graphing.end_and_advance(run_id, "a")
    await retry_failed_steps(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]

    assert (await graphing.world.get(run_id)).state is S.QUEUED


async def test_a_step_is_not_retried_by_itself(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a"))
    await graphing.end_and_advance(run_id, "a", state="dead")

    with pytest.raises(IllegalMove):
        await retry_run(
            graphing.conn, tenant_id=1, run_id=await graphing.step_id(run_id, "a"), by="ana"
        )


async def test_only_what_did_not_succeed_is_retried(graphing: Graphing) -> None:
    good = await graphing.run(steps("a"))
    alive = await graphing.run(steps("a"))
    await graphing.end_and_advance(good, "a")

    for run_id in (good, alive):
        with pytest.raises(IllegalMove):
            await retry_failed_steps(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]


async def test_an_ending_of_an_earlier_round_is_not_taken_for_one_of_this(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(steps("a", "b: a"))
    await graphing.end_and_advance(run_id, "a", state="dead")
    old = await graphing.step_id(run_id, "a")
    await retry_failed_steps(graphing.conn, 1, run_id, *asked(graphing))  # type: ignore[arg-type]
    await graphing.unfold()
    await graphing.advance()

    await graphing.conn.execute(
        """
        insert into rota.step_marks (tenant_id, graph_run_id, step, state, run_id)
        values (1, $1, 0, 'succeeded', $2)
        """,
        run_id,
        old,
    )
    await graphing.advance()

    assert await graphing.board(run_id) == "lw"


async def claim_gated(graphing: Graphing) -> int:
    """How many graph runs pass their gates now; they unfold."""
    session = await graphing.session()
    taken = await GatedClaims().claim(
        graphing.conn,
        session_id=session,
        queue_id=graphing.world.queue_id,
        kind_ids=[await interning.intern_kind(graphing.conn, "graph")],
        room=10,
    )
    await graphs.expand_graphs(
        graphing.conn, session_id=session, runs=[(run.id, run.attempt) for run in taken]
    )
    return len(taken)


async def test_a_graph_run_holds_its_place_behind_a_limit_until_its_last_step_ended(
    graphing: Graphing,
) -> None:
    one = JobLimit(key="ledger", max_running=1)
    first = await graphing.waiting(steps("a"), limits=(one,))
    second = await graphing.waiting(steps("a"), limits=(one,))

    assert await claim_gated(graphing) == 1
    assert await claim_gated(graphing) == 0
    await graphing.advance()
    (begun,) = [run for run in (first, second) if await graphing.board(run) == "l"]
    await graphing.end_and_advance(begun, "a")

    assert graphing.freed == 1
    assert await claim_gated(graphing) == 1


async def test_graph_runs_that_go_one_by_one_wait_for_the_steps_of_the_one_before(
    graphing: Graphing,
) -> None:
    job_id = await graphing.job(steps("a"), overlap=Overlap.QUEUE_ALL)
    for _ in range(2):
        await submit_runs(
            graphing.conn,
            [RunSpec(job_id=job_id)],
            now=graphing.world.now,
            new_id=graphing.world.new_id,
        )

    assert await claim_gated(graphing) == 1
    await graphing.advance()
    assert await claim_gated(graphing) == 0
    (run_id,) = [row[0] for row in await graphing.conn.fetch("select run_id from rota.graph_runs")]
    graphing.definitions[run_id] = read_graph({"steps": steps("a")})
    await graphing.end_and_advance(run_id, "a")

    assert await claim_gated(graphing) == 1


async def test_dead_steps_are_no_dead_letters_of_their_own(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a"))
    await graphing.end_and_advance(run_id, "a", state="dead")

    dead = await requeue.find_dead(graphing.conn, BulkRunFilter(), tenant_id=1, limit=10, batch=10)

    assert dead == (1, [run_id])


async def test_the_reason_of_a_cancelled_step_names_its_graph_run(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a"))

    await cancel(graphing, run_id)
    await graphing.advance()

    told = await graphing.world.get(await graphing.step_id(run_id, "a"))
    assert json.loads(told.reason or "") == {"code": "graph_ended"}

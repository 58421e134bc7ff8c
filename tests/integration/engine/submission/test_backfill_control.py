"""Backfills are paused, resumed and cancelled, and nothing of them is lost or doubled (S13)."""

import pytest
from tests.support.past import Past, hours
from tests.support.world import World

from rota.core.backfills import BackfillState
from rota.core.errors import IllegalMove, NotFound
from rota.core.limits import JobLimit
from rota.core.states import RunState
from rota.engine.observability.explanations import explain_run
from rota.engine.submission.backfills import control
from rota.engine.submission.backfills.control import RunningRunsAction
from rota.engine.submission.backfills.requests import compute_progress
from rota.store import live_runs
from rota.store.live_runs import ReturnedAttempt

FINISHED, CANCELLED = BackfillState.FINISHED, BackfillState.CANCELLED


@pytest.fixture
async def past(world: World) -> Past:
    return await Past.begin(world)


async def test_a_paused_backfill_starts_nothing_and_what_runs_may_end(past: Past) -> None:
    id_ = await past.backfill(at_once=2)
    await past.look()
    running = await past.claim()

    await control.pause_backfill(
        past.world.conn, tenant_id=1, backfill_id=id_, by="ann", now=past.world.now
    )
    await past.finish(running)
    await past.look()
    started = await past.claim()

    row = await past.row(id_)
    assert (row.state, row.succeeded, row.made) == (BackfillState.PAUSED, 2, 6)
    assert started == []
    assert (compute_progress(row).left, compute_progress(row).eta) == (4, None)


async def test_a_resumed_backfill_goes_on_where_it_was(past: Past) -> None:
    id_ = await past.backfill(hours=150, at_once=100)
    await past.look()
    await past.finish(await past.claim())
    conn, now = past.world.conn, past.world.now
    await control.pause_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    await past.look()
    assert await past.claim() == []

    await control.resume_backfill(conn, tenant_id=1, backfill_id=id_)
    await past.work()

    row = await past.row(id_)
    assert (row.state, row.succeeded, row.paused_at) == (FINISHED, 150, None)
    assert row.paused_for.total_seconds() == 60
    assert await past.made() == hours(150, 1)


async def test_a_paused_backfill_does_not_hold_up_the_other_runs_of_its_job(
    world: World,
) -> None:
    """Its own gate comes before the limits of the job, so that nobody queues behind it."""
    past = await Past.begin(world, limits=(JobLimit(key="shop", max_running=1),))
    id_ = await past.backfill(priority=5)
    await past.look()
    now = past.world.now
    await control.pause_backfill(world.conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    gates = await world.conn.fetchval("select gates from rota.live_runs limit 1")
    other = await world.run(job_id=past.job_id, gates=tuple(gates[1:]))

    claimed = await past.claim()

    assert [run.id for run in claimed] == [other]


async def test_why_a_run_of_a_paused_backfill_waits_is_told(past: Past) -> None:
    id_ = await past.backfill()
    await past.look()
    await past.claim(room=0)
    world = past.world
    await world.conn.execute(
        "update rota.sessions set queues = $1, kinds = $2", [world.queue_id], [world.kind_id]
    )
    await control.pause_backfill(world.conn, tenant_id=1, backfill_id=id_, by="ann", now=world.now)
    run_id = await world.conn.fetchval("select id from rota.live_runs order by id limit 1")

    told = await explain_run(world.conn, tenant_id=1, run_id=run_id)

    assert (told.code, told.sentence) == ("backfill_paused", "The backfill of this run is paused.")


async def test_cancelling_ends_what_waits_and_lets_what_runs_finish(past: Past) -> None:
    id_ = await past.backfill(hours=500, at_once=2)
    await past.look()
    running = await past.claim()

    state = await control.cancel_backfill(
        past.world.conn, tenant_id=1, backfill_id=id_, by="ann", now=past.world.now
    )
    await past.look()
    meanwhile = await past.row(id_)
    await past.finish(running)
    await past.look()

    row = await past.row(id_)
    assert state is meanwhile.state is BackfillState.CANCELLING
    assert (meanwhile.cancelled, compute_progress(meanwhile).left) == (98, 2)
    assert (row.state, row.made, row.succeeded, row.cancelled) == (CANCELLED, 100, 2, 98)
    assert row.reason is not None
    assert '"by": "ann"' in row.reason
    assert await past.world.count("live_runs") == 0


async def test_cancelling_may_ask_what_runs_to_stop_and_may_do_so_later(past: Past) -> None:
    id_ = await past.backfill(at_once=2)
    await past.look()
    running = await past.claim()
    conn, now = past.world.conn, past.world.now
    await control.cancel_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    untouched = (await past.world.get(running[0].id)).state

    await control.cancel_backfill(
        conn, tenant_id=1, backfill_id=id_, by="ann", now=now, running=RunningRunsAction.CANCEL
    )
    asked = (await past.world.get(running[0].id)).state
    await past.finish(running)
    await past.work()

    row = await past.row(id_)
    assert (untouched, asked) == (RunState.RUNNING, RunState.CANCELLING)
    assert (row.state, row.cancelled) == (CANCELLED, 6)


async def test_a_retry_of_a_cancelled_backfill_does_not_start(past: Past) -> None:
    id_ = await past.backfill(hours=1)
    await past.look()
    (run,) = await past.claim()
    conn, now = past.world.conn, past.world.now
    await control.cancel_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    again = ReturnedAttempt(
        run.id, run.attempt, RunState.RETRYING, "failed", 1, past.world.now - now
    )
    await live_runs.put_back_runs(conn, session_id=past.session_of(run), attempts=[again])

    await past.look()

    assert (await past.world.get(run.id)).state is RunState.CANCELLED
    assert (await past.row(id_)).state is CANCELLED


async def test_a_paused_backfill_can_be_cancelled_and_its_gate_is_open_again(past: Past) -> None:
    """One of its runs may be tried again one day."""
    id_ = await past.backfill()
    await past.look()
    conn, now = past.world.conn, past.world.now
    await control.pause_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)

    await control.cancel_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    await past.look()

    assert (await past.row(id_)).state is CANCELLED
    gate = await conn.fetchrow(
        "select most, rate_count from rota.gates where key = $1", f"backfill:{id_}"
    )
    assert gate is not None
    assert tuple(gate) == (4, None)


async def test_what_its_state_does_not_allow_is_refused(past: Past) -> None:
    id_ = await past.backfill()
    conn, now = past.world.conn, past.world.now

    with pytest.raises(
        IllegalMove, match="backfill is running; only paused backfills can be resumed"
    ):
        await control.resume_backfill(conn, tenant_id=1, backfill_id=id_)
    await past.work()
    with pytest.raises(
        IllegalMove, match="backfill is finished; only running backfills can be paused"
    ):
        await control.pause_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    with pytest.raises(
        IllegalMove,
        match="backfill is finished; only running, paused or cancelling backfills can be cancelled",
    ):
        await control.cancel_backfill(conn, tenant_id=1, backfill_id=id_, by="ann", now=now)
    with pytest.raises(NotFound):
        await control.resume_backfill(conn, tenant_id=2, backfill_id=id_)

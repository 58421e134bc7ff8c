"""Cancelling: what waits ends, what runs is asked, force fences, the finished stays (E11)."""

import asyncio
import json
from dataclasses import replace

import asyncpg
import pytest
from tests.support.world import World

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import Conflict, IllegalMove, InvalidInput, NotFound
from rota.core.states import RunState
from rota.engine.submission.run_cancellation import (
    CancelledRun,
    cancel_run,
    cancel_runs,
    count_cancellable,
)
from rota.store import live_runs
from rota.store.live_runs import RunEnding

S = RunState


async def test_a_run_that_waits_ends_at_once_and_says_who_and_why(world: World) -> None:
    run_id = await world.run()

    done = await cancel_run(
        world.conn, tenant_id=1, run_id=run_id, by="ana", reason="too late", now=world.now
    )

    told = await world.get(run_id)
    assert done == CancelledRun(S.CANCELLED)
    assert told.state is S.CANCELLED
    assert json.loads(told.reason or "") == {
        "code": "cancelled",
        "by": "ana",
        "reason": "too late",
        "at": "2026-07-01T12:00:00Z",
    }


async def test_a_run_that_runs_is_asked_to_stop_however_often(world: World) -> None:
    _, run = await world.running()

    first = await cancel_run(world.conn, tenant_id=1, run_id=run.id, by="ana", now=world.now)
    again = await cancel_run(world.conn, tenant_id=1, run_id=run.id, by="bob", now=world.now)

    assert (first.state, again.state) == (S.CANCELLING, S.CANCELLING)
    assert (await world.get(run.id)).state is S.CANCELLING


async def test_force_ends_a_run_now_and_refuses_its_result(world: World) -> None:
    session, run = await world.running()

    done = await cancel_run(
        world.conn, tenant_id=1, run_id=run.id, by="ana", force=True, now=world.now
    )
    late = await live_runs.finish_runs(
        world.conn,
        session_id=session,
        endings=[RunEnding(run.id, run.attempt, S.SUCCEEDED)],
    )

    told = await world.get(run.id)
    assert (done.state, told.state, late) == (S.CANCELLED, S.CANCELLED, {})
    assert json.loads(told.reason or "")["forced"] is True


@pytest.mark.parametrize("force", [False, True])
async def test_what_has_finished_cannot_be_cancelled(world: World, *, force: bool) -> None:
    session, run = await world.running()
    ending = RunEnding(run.id, run.attempt, S.SUCCEEDED)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    with pytest.raises(IllegalMove, match="run is succeeded; only active runs can be cancelled"):
        await cancel_run(
            world.conn, tenant_id=1, run_id=run.id, by="ana", force=force, now=world.now
        )

    assert (await world.get(run.id)).state is S.SUCCEEDED


@pytest.mark.parametrize("force", [False, True])
async def test_a_run_that_ends_meanwhile_stays_what_it_came_to(
    world: World, database: str, *, force: bool
) -> None:
    """Semantics 10.4: whichever commits first wins."""
    session, run = await world.running()
    other = await asyncpg.connect(database)
    ending = RunEnding(run.id, run.attempt, S.SUCCEEDED)
    async with world.conn.transaction():
        await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
        asked = asyncio.create_task(
            cancel_run(other, tenant_id=1, run_id=run.id, by="ana", force=force, now=world.now)
        )
        await until_it_waits(world, other)

    with pytest.raises(IllegalMove, match="run is succeeded; only active runs can be cancelled"):
        await asked
    await other.close()


async def test_the_run_of_another_tenant_is_not_found(world: World) -> None:
    run_id = await world.run(tenant_id=2)

    with pytest.raises(NotFound):
        await cancel_run(world.conn, tenant_id=1, run_id=run_id, by="ana", now=world.now)

    assert (await world.get(run_id)).state is S.QUEUED


async def test_nobody_and_nonsense_are_refused(world: World) -> None:
    run_id = await world.run()

    with pytest.raises(InvalidInput, match="by"):
        await cancel_run(world.conn, tenant_id=1, run_id=run_id, by=" ", now=world.now)
    with pytest.raises(InvalidInput, match="reason"):
        await cancel_run(
            world.conn, tenant_id=1, run_id=run_id, by="ana", reason="x" * 1001, now=world.now
        )
    with pytest.raises(NotFound):
        await cancel_run(world.conn, tenant_id=1, run_id=world.new_id(), by="ana", now=world.now)


async def test_many_are_cancelled_in_batches_and_no_others(world: World) -> None:
    job_id = world.new_id()
    _, running = await world.running(job_id=job_id)
    waiting = await world.runs(4, job_id=job_id)
    others = [await world.run(), await world.run(job_id=job_id, tenant_id=2)]
    which = BulkRunFilter(job_id=job_id)

    counted = await count_cancellable(world.conn, which, tenant_id=1, now=world.now)
    first = await cancel_runs(
        world.conn, which, tenant_id=1, token=counted.token, by="ana", limit=3
    )
    second = await cancel_runs(
        world.conn, which, tenant_id=1, token=first.token or "", by="ana", limit=3
    )

    assert counted.found == 5
    assert (len(first.ids), first.left, len(second.ids), second.left) == (3, 2, 2, 0)
    assert second.token is None
    assert {*first.ids, *second.ids} == {running.id, *waiting}
    assert (await world.get(running.id)).state is S.CANCELLING
    assert {(await world.get(id_)).state for id_ in waiting} == {S.CANCELLED}
    assert {(await world.get(id_)).state for id_ in others} == {S.QUEUED}


async def test_a_dry_run_changes_nothing(world: World) -> None:
    run_id = await world.run()

    counted = await count_cancellable(
        world.conn, BulkRunFilter(queue="default"), tenant_id=1, now=world.now
    )

    assert counted.found == 1
    assert (await world.get(run_id)).state is S.QUEUED


async def test_what_came_after_the_dry_run_is_not_touched(world: World) -> None:
    which = BulkRunFilter(kind="noop")
    seen = await world.run()
    counted = await count_cancellable(world.conn, which, tenant_id=1, now=world.now)
    await world.advance(seconds=1)
    late = await world.run()

    done = await cancel_runs(world.conn, which, tenant_id=1, token=counted.token, by="ana")

    assert done.ids == (seen,)
    assert (await world.get(late)).state is S.QUEUED


async def test_more_than_was_shown_is_a_conflict(world: World) -> None:
    which = BulkRunFilter(kind="noop")
    counted = await count_cancellable(world.conn, which, tenant_id=1, now=world.now)
    run_id = await world.run()

    with pytest.raises(Conflict, match="1 match now, 0 matched in the dry run"):
        await cancel_runs(world.conn, which, tenant_id=1, token=counted.token, by="ana")

    assert (await world.get(run_id)).state is S.QUEUED


async def test_a_bulk_call_needs_its_own_token_and_a_filter(world: World) -> None:
    which = BulkRunFilter(kind="noop")
    counted = await count_cancellable(world.conn, which, tenant_id=1, now=world.now)

    for wrong, tenant_id in ((replace(which, queue="default"), 1), (which, 2)):
        with pytest.raises(InvalidInput, match="token"):
            await cancel_runs(world.conn, wrong, tenant_id=tenant_id, token=counted.token, by="ana")
    with pytest.raises(InvalidInput, match="at least one of"):
        await count_cancellable(world.conn, BulkRunFilter(), tenant_id=1, now=world.now)
    with pytest.raises(InvalidInput, match="error"):
        await count_cancellable(world.conn, BulkRunFilter(error="X"), tenant_id=1, now=world.now)


async def until_it_waits(world: World, other: asyncpg.Connection) -> None:
    """Return once the other connection waits for a lock."""
    pid = other.get_server_pid()
    question = "select cardinality(pg_blocking_pids($1)) > 0"
    async with asyncio.timeout(20):
        while not await world.conn.fetchval(question, pid):
            pass

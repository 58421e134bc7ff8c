"""Retry, replay, and the dead letters: one by one, in bulk, dropped (E10)."""

import asyncio
import json
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import World

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import IllegalMove, InvalidInput, NotFound
from rota.core.limits import JobLimit
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission.job_changes import delete_job
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.requeue import (
    DROP_ACTION,
    REQUEUE_ACTION,
    ReplayRequest,
    RequeuePace,
    count_dead_letters,
    drop_dead_letter,
    drop_dead_letters,
    replay_run,
    requeue_dead_letters,
    retry_run,
)
from rota.engine.submission.run_cancellation import cancel_run
from rota.engine.submission.run_triggers import submit_runs
from rota.store import live_runs, requeue
from rota.store.live_runs import RunEnding

S = RunState
RETRYABLE = "cancelled, dead, expired, lost or quarantined"


async def a_job(world: World, name: str = "report", **given: object) -> UUID:
    spec = JobSpec(name=name, kind="noop", **given)  # type: ignore[arg-type]
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def ended(
    world: World,
    job_id: UUID,
    *,
    state: RunState = S.DEAD,
    error: str = "ValueError",
    payload: object = None,
) -> UUID:
    """A run of the job that came to this."""
    spec = RunSpec(job_id=job_id, payload=payload)
    (run_id,) = await submit_runs(world.conn, [spec], now=world.now, new_id=world.new_id)
    session = await world.session()
    (run,) = await world.claim(session)
    reason = json.dumps({"type": error, "message": "no"})
    ending = RunEnding(run_id, run.attempt, state, failures=1, reason=reason)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    return run_id


async def test_a_dead_run_goes_again_as_itself_and_its_attempts_go_on(world: World) -> None:
    run_id = await ended(world, await a_job(world))

    await retry_run(world.conn, tenant_id=1, run_id=run_id, by="ana")
    (run,) = await world.claim(await world.session())

    assert (run.id, run.attempt, run.failures) == (run_id, 2, 0)
    kept = await world.conn.fetchval("select reason from rota.attempts where attempt = 1")
    assert json.loads(kept)["replayed_by"] == "ana"
    assert json.loads(kept)["type"] == "ValueError"


@pytest.mark.parametrize("state", [S.LOST, S.QUARANTINED, S.EXPIRED])
async def test_so_does_one_that_was_lost_quarantined_or_late(world: World, state: RunState) -> None:
    run_id = await ended(world, await a_job(world), state=state)

    await retry_run(world.conn, tenant_id=1, run_id=run_id, by="ana")

    assert (await world.get(run_id)).state is S.QUEUED


async def test_so_does_one_that_was_cancelled_before_it_began(world: World) -> None:
    spec = RunSpec(job_id=await a_job(world))
    (run_id,) = await submit_runs(world.conn, [spec], now=world.now, new_id=world.new_id)
    await cancel_run(world.conn, tenant_id=1, run_id=run_id, by="ana", now=world.now)

    await retry_run(world.conn, tenant_id=1, run_id=run_id, by="ana")

    assert (await world.get(run_id)).state is S.QUEUED


async def test_a_run_that_is_alive_or_went_well_refuses_a_retry(world: World) -> None:
    job_id = await a_job(world)
    well = await ended(world, job_id, state=S.SUCCEEDED)
    dead = await ended(world, job_id)
    await retry_run(world.conn, tenant_id=1, run_id=dead, by="ana")

    for run_id, state in ((well, "succeeded"), (dead, "queued")):
        with pytest.raises(
            IllegalMove, match=f"run is {state}; only {RETRYABLE} runs can be retried"
        ):
            await retry_run(world.conn, tenant_id=1, run_id=run_id, by="ana")


async def test_of_many_who_retry_at_once_one_succeeds(world: World, database: str) -> None:
    run_id = await ended(world, await a_job(world))
    conns = [await asyncpg.connect(database) for _ in range(5)]

    answers = await asyncio.gather(
        *(retry_run(conn, tenant_id=1, run_id=run_id, by="ana") for conn in conns),
        return_exceptions=True,
    )

    assert sorted(type(answer).__name__ for answer in answers) == ["IllegalMove"] * 4 + ["NoneType"]
    assert await world.count("live_runs") == 1
    assert await world.count("attempts") == 1
    for conn in conns:
        await conn.close()


async def test_the_runs_of_others_stay_as_they_are(world: World) -> None:
    run_id = await ended(world, await a_job(world))

    with pytest.raises(NotFound, match="run"):
        await retry_run(world.conn, tenant_id=2, run_id=run_id, by="ana")
    with pytest.raises(NotFound, match="run"):
        await drop_dead_letter(world.conn, tenant_id=2, run_id=run_id, by="ana")
    with pytest.raises(NotFound, match="run"):
        await again(world, run_id, tenant_id=2)

    assert (await world.get(run_id)).state is S.DEAD


async def again(world: World, run_id: UUID, *, tenant_id: int = 1, **given: object) -> UUID:
    wanted = ReplayRequest(run_id=run_id, by="ana", **given)
    return await replay_run(
        world.conn, wanted, tenant_id=tenant_id, now=world.now, new_id=world.new_id
    )


async def test_a_replay_is_a_new_run_with_the_same_payload_and_a_link(world: World) -> None:
    old = await ended(world, await a_job(world), state=S.SUCCEEDED, payload={"n": 1})
    asked_at = world.now
    await world.advance(hours=1)

    new = await again(world, old)

    row = await world.conn.fetchrow(
        "select id, trigger, payload, attempt, scheduled_at, due_at from rota.live_runs"
    )
    assert row is not None
    assert tuple(row) == (new, "replay", '{"n": 1}', 0, asked_at, world.now)
    assert (await world.get(old)).state is S.SUCCEEDED
    origin = await requeue.read_origin(world.conn, new, tenant_id=1)
    assert json.loads(origin or "") == {"replay_of": str(old), "by": "ana"}
    assert await requeue.read_origin(world.conn, new, tenant_id=2) is None
    assert await requeue.read_origin(world.conn, old, tenant_id=1) is None


@pytest.mark.parametrize(("payload", "stored"), [({"n": 2}, '{"n": 2}'), (None, "null")])
async def test_a_replay_may_have_another_payload(
    world: World, payload: object, stored: str
) -> None:
    old = await ended(world, await a_job(world), payload={"n": 1})

    new = await again(world, old, payload=payload)

    found = await world.conn.fetchval("select payload from rota.live_runs where id = $1", new)
    assert found == stored


async def test_a_replay_passes_the_gates_of_its_payload(world: World) -> None:
    limit = JobLimit(key="customer:{args.id}", max_running=1)
    job_id = await a_job(world, limits=(limit,), payload={"id": 1})
    (run_id,) = await submit_runs(
        world.conn, [RunSpec(job_id=job_id)], now=world.now, new_id=world.new_id
    )
    await cancel_run(world.conn, tenant_id=1, run_id=run_id, by="ana", now=world.now)

    new = await again(world, run_id, payload={"id": 7})

    key = await world.conn.fetchval(
        "select g.key from rota.live_runs as l join rota.gates as g on l.gates = array[g.id]"
        " where l.id = $1",
        new,
    )
    assert key == "key:customer:7"


async def test_a_run_that_is_alive_is_not_replayed_and_a_wrong_payload_not_taken(
    world: World,
) -> None:
    job_id = await a_job(world)
    dead = await ended(world, job_id)
    (alive,) = await submit_runs(
        world.conn, [RunSpec(job_id=job_id)], now=world.now, new_id=world.new_id
    )

    with pytest.raises(IllegalMove, match="run is queued; only finished runs can be replayed"):
        await again(world, alive)
    with pytest.raises(InvalidInput, match="payload"):
        await again(world, dead, payload={"x": float("nan")})


async def test_dead_letters_are_found_by_what_they_died_of_and_where_and_when(
    world: World,
) -> None:
    one, two = await a_job(world, "one"), await a_job(world, "two")
    await ended(world, one)
    await ended(world, one, error="OSError")
    await ended(world, one, state=S.SUCCEEDED)
    start = world.now
    await world.advance(hours=1)
    await ended(world, two, state=S.QUARANTINED)

    async def found(which: BulkRunFilter, *, tenant_id: int = 1) -> int:
        counted = await count_dead_letters(
            world.conn, which, action=REQUEUE_ACTION, tenant_id=tenant_id, now=world.now
        )
        return counted.found

    assert await found(BulkRunFilter(job_id=one)) == 2
    assert await found(BulkRunFilter(job_id=one, error="OSError")) == 1
    assert await found(BulkRunFilter(error="ValueError")) == 2
    assert await found(BulkRunFilter(kind="noop")) == 3
    assert await found(BulkRunFilter(kind="shell")) == 0
    assert await found(BulkRunFilter(queue="default")) == 3
    assert await found(BulkRunFilter(since=start + timedelta(minutes=1))) == 1
    assert await found(BulkRunFilter(until=start + timedelta(minutes=1))) == 2
    assert await found(BulkRunFilter(since=start, until=world.now)) == 2
    assert await found(BulkRunFilter(kind="noop"), tenant_id=2) == 0


async def test_dead_letters_are_replayed_in_batches(world: World) -> None:
    job_id = await a_job(world)
    dead = [await ended(world, job_id) for _ in range(3)]
    other = await ended(world, job_id, error="OSError")
    which = BulkRunFilter(error="ValueError")

    counted = await count_dead_letters(
        world.conn, which, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )
    first = await requeue_dead_letters(
        world.conn, which, tenant_id=1, token=counted.token, by="ana", pace=RequeuePace(limit=2)
    )
    rest = await requeue_dead_letters(
        world.conn, which, tenant_id=1, token=first.token or "", by="ana"
    )

    assert (counted.found, first.left, rest.left, rest.token) == (3, 1, 0, None)
    assert sorted([*first.ids, *rest.ids]) == sorted(dead)
    assert {(await world.get(run_id)).state for run_id in dead} == {S.QUEUED}
    assert (await world.get(other)).state is S.DEAD


async def test_dead_letters_go_again_at_the_pace_that_was_chosen(world: World) -> None:
    job_id = await a_job(world)
    for _ in range(3):
        await ended(world, job_id)
    which = BulkRunFilter(kind="noop")
    pace = RequeuePace(spacing=timedelta(seconds=10), limit=2)

    counted = await count_dead_letters(
        world.conn, which, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )
    first = await requeue_dead_letters(
        world.conn, which, tenant_id=1, token=counted.token, by="ana", pace=pace
    )
    await requeue_dead_letters(
        world.conn,
        which,
        tenant_id=1,
        token=first.token or "",
        by="ana",
        pace=pace._replace(already_requeued=2),
    )

    rows = await world.conn.fetch("select ready_at from rota.live_runs order by ready_at")
    assert [row[0] - world.now for row in rows] == [timedelta(seconds=wait) for wait in (0, 10, 20)]


async def test_the_token_of_one_call_is_not_good_for_another(world: World) -> None:
    await ended(world, await a_job(world))
    which = BulkRunFilter(kind="noop")
    counted = await count_dead_letters(
        world.conn, which, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )

    with pytest.raises(InvalidInput, match="token"):
        await drop_dead_letters(world.conn, which, tenant_id=1, token=counted.token, by="ana")
    with pytest.raises(InvalidInput, match="at least one of"):
        await requeue_dead_letters(
            world.conn, BulkRunFilter(), tenant_id=1, token=counted.token, by="ana"
        )


async def test_dropped_letters_stay_in_history_and_are_listed_no_more(world: World) -> None:
    job_id = await a_job(world)
    dead = [await ended(world, job_id) for _ in range(2)]
    which = BulkRunFilter(job_id=job_id)
    counted = await count_dead_letters(
        world.conn, which, action=DROP_ACTION, tenant_id=1, now=world.now
    )

    done = await drop_dead_letters(world.conn, which, tenant_id=1, token=counted.token, by="ana")

    after = await count_dead_letters(
        world.conn, which, action=DROP_ACTION, tenant_id=1, now=world.now
    )
    told = await world.get(dead[0])
    assert sorted(done.ids) == sorted(dead)
    assert after.found == 0
    assert told.state is S.DEAD
    assert json.loads(told.reason or "")["dropped_by"] == "ana"
    assert json.loads(told.reason or "")["type"] == "ValueError"


async def test_a_dropped_letter_can_come_back_and_die_again(world: World) -> None:
    job_id = await a_job(world)
    run_id = await ended(world, job_id)
    await drop_dead_letter(world.conn, tenant_id=1, run_id=run_id, by="ana")
    await drop_dead_letter(world.conn, tenant_id=1, run_id=run_id, by="ana")

    await retry_run(world.conn, tenant_id=1, run_id=run_id, by="bob")
    session = await world.session()
    (run,) = await world.claim(session)
    ending = RunEnding(run_id, run.attempt, S.DEAD, reason='{"type": "OSError"}')
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    counted = await count_dead_letters(
        world.conn, BulkRunFilter(job_id=job_id), action=DROP_ACTION, tenant_id=1, now=world.now
    )
    assert counted.found == 1


async def test_what_is_no_dead_letter_cannot_be_dropped(world: World) -> None:
    run_id = await ended(world, await a_job(world), state=S.SUCCEEDED)

    with pytest.raises(
        IllegalMove, match="run is succeeded; only dead, lost or quarantined runs can be dropped"
    ):
        await drop_dead_letter(world.conn, tenant_id=1, run_id=run_id, by="ana")


async def test_the_dead_letters_of_a_deleted_job_are_dead_letters(world: World) -> None:
    job_id = await a_job(world)
    await ended(world, job_id)
    await delete_job(world.conn, job_id, by="ana")
    which = BulkRunFilter(job_id=job_id)

    replayable = await count_dead_letters(
        world.conn, which, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )
    droppable = await count_dead_letters(
        world.conn, which, action=DROP_ACTION, tenant_id=1, now=world.now
    )

    assert (replayable.found, droppable.found) == (1, 1)


async def test_links_are_forgotten_with_the_history_they_lead_to(world: World) -> None:
    new = await again(world, await ended(world, await a_job(world)))
    await world.advance(days=30)

    kept = await requeue.delete_links(world.conn, keep=timedelta(days=31), limit=10)
    forgotten = await requeue.delete_links(world.conn, keep=timedelta(days=29), limit=10)

    assert (kept, forgotten) == (0, 1)
    assert await requeue.read_origin(world.conn, new, tenant_id=1) is None

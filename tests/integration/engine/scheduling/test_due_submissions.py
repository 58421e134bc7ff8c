"""Submissions for a later instant become runs at that instant, each once (S2, S3, E1)."""

from datetime import datetime, timedelta
from uuid import UUID

from tests.integration.engine.scheduling.conftest import Stage
from tests.support.world import NOON

from rota.core.lease import compute_shard
from rota.core.log_events import TicksFired
from rota.core.policy import Policy
from rota.core.submissions import JobSpec
from rota.core.time.moments import to_rfc3339
from rota.engine.submission.drafts import SubmissionOrigin
from rota.engine.submission.job_submission import submit_jobs
from rota.store import gates, sessions, submissions
from rota.store.cursors import ShardOwnership

SECOND = timedelta(seconds=1)


async def submit_at(stage: Stage, *times: datetime) -> list[UUID]:
    world = stage.world
    specs = [
        JobSpec(
            name="invoice",
            kind="noop",
            schedule={"at": to_rfc3339(at)},
            payload={"n": 1},
            labels={"team": "a"},
            user_id="kim",
            policy=Policy(deadline=timedelta(hours=1)),
        )
        for at in times
    ]
    made = await submit_jobs(
        world.conn,
        specs,
        now=world.now,
        new_id=world.new_id,
        origin=SubmissionOrigin("key k", "10.0.0.1"),
    )
    return [each.job_id for each in made]


async def waiting(stage: Stage) -> list[UUID]:
    rows = await stage.world.conn.fetch("select id from rota.live_runs order by id")
    return [row[0] for row in rows]


async def test_it_is_moved_just_before_its_time_and_ready_at_its_time(stage: Stage) -> None:
    due_at = NOON + 3.25 * SECOND
    (id_,) = await submit_at(stage, due_at)
    scheduler = stage.scheduler()
    await scheduler.step()
    await stage.advance(seconds=3.237)
    await scheduler.fire()
    too_early = await waiting(stage)

    await stage.advance(seconds=0.002)
    await scheduler.fire()

    assert too_early == []
    row = await stage.world.conn.fetchrow(
        "select job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, state, trigger,"
        " payload, name, labels, user_id, submitter, address from rota.live_runs where id = $1",
        id_,
    )
    assert row is not None
    assert tuple(row) == (
        *(id_, due_at, due_at, due_at, NOON, due_at + timedelta(hours=1), "queued", "api"),
        *('{"n": 1}', "invoice", '{"team": "a"}', "kim", "key k", "10.0.0.1"),
    )
    assert await stage.world.count("scheduled_runs") == await stage.world.count("jobs") == 0
    assert scheduler.hints == [frozenset({stage.world.queue_id})]
    assert [event.count for event in scheduler.told(TicksFired)] == [1]


async def test_one_that_was_written_after_the_reading_is_found_by_the_next(stage: Stage) -> None:
    scheduler = stage.scheduler()
    await scheduler.step()
    (id_,) = await submit_at(stage, NOON + SECOND)

    scheduler.reading.reread_soon()
    await scheduler.reading.tick()
    await stage.advance(seconds=1)
    await scheduler.fire()

    assert await waiting(stage) == [id_]


async def test_after_an_outage_all_that_are_late_are_moved_at_once(stage: Stage) -> None:
    """More than one batch holds, and in the order in which they were due."""
    ids = await submit_at(stage, *(NOON + (n + 1) * SECOND for n in range(250)))
    await stage.advance(hours=2)
    scheduler = stage.scheduler()

    await scheduler.step()

    assert await waiting(stage) == sorted(ids)
    ready = await stage.world.conn.fetch("select distinct ready_at from rota.live_runs")
    assert [row[0] for row in ready] == [stage.world.now]


async def test_one_that_was_put_off_or_cancelled_meanwhile_is_not_moved(stage: Stage) -> None:
    cancelled, put_off, kept = await submit_at(stage, *([NOON + SECOND] * 3))
    scheduler = stage.scheduler()
    await scheduler.step()
    conn = stage.world.conn
    await conn.execute("delete from rota.scheduled_runs where id = $1", cancelled)
    await conn.execute(
        "update rota.scheduled_runs set due_at = $2 where id = $1", put_off, NOON + 9 * SECOND
    )

    await stage.advance(seconds=1)
    await scheduler.fire()
    first = await waiting(stage)
    await stage.advance(seconds=8)
    await scheduler.step()

    assert first == [kept]
    assert set(await waiting(stage)) == {kept, put_off}


async def test_a_scheduler_that_lost_a_shard_moves_nothing_of_it(stage: Stage) -> None:
    world = stage.world
    ids = await submit_at(stage, *([NOON + SECOND] * 50))
    before = await world.own()
    await world.advance(seconds=7)
    lost = compute_shard(ids[0])
    after = await sessions.hold_shards(
        world.conn, owner=before.owner, shards=[lost], ttl=timedelta(seconds=6)
    )

    stale = await submissions.move_due(world.conn, before, range(128), per_shard=1000)
    fresh = await submissions.move_due(
        world.conn,
        ShardOwnership(owner=before.owner, epochs=after),
        [lost],
        per_shard=1000,
    )

    theirs = {id_ for id_ in ids if compute_shard(id_) == lost}
    assert set(stale.ids or ()) == set(ids) - theirs
    assert lost not in (stale.shards or ())
    assert set(fresh.ids or ()) == theirs
    assert set(await waiting(stage)) == set(ids)


async def test_one_of_a_paused_queue_becomes_a_run_that_waits(stage: Stage) -> None:
    (id_,) = await submit_at(stage, NOON + SECOND)
    await gates.pause_queue(stage.world.conn, stage.world.queue_id, paused=True, by="kim")
    scheduler = stage.scheduler()

    await stage.advance(seconds=1)
    await scheduler.step()

    assert await waiting(stage) == [id_]


async def test_the_next_one_of_a_shard_is_moved_at_its_own_time(stage: Stage) -> None:
    """What a move learned is enough: nothing is read in between."""
    ids = await submit_at(stage, *(NOON + n * SECOND for n in (1, 2, 3)))
    await stage.world.conn.execute("update rota.scheduled_runs set shard = 7")
    scheduler = stage.scheduler()
    await scheduler.step()

    moved = []
    for _ in ids:
        await stage.advance(seconds=1)
        await scheduler.fire()
        moved.append(len(await waiting(stage)))

    assert moved == [1, 2, 3]


async def test_a_crowded_shard_keeps_no_other_waiting(stage: Stage) -> None:
    *crowd, alone = await submit_at(stage, *([NOON + SECOND] * 301))
    conn = stage.world.conn
    await conn.execute("update rota.scheduled_runs set shard = 3 where id = any($1)", crowd)
    await conn.execute("update rota.scheduled_runs set shard = 100 where id = $1", alone)
    await stage.advance(seconds=2)
    scheduler = stage.scheduler()
    await scheduler.lease()
    await scheduler.reading.tick()

    rest = await scheduler.firing.tick()
    first = await waiting(stage)
    await scheduler.fire()

    assert (rest, alone in first, len(first)) == (0.0, True, 52)
    assert len(await waiting(stage)) == 301

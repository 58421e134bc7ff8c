"""Ticks become runs at their time, each once, whatever happens meanwhile (E1, S4, S10, S14)."""

from datetime import timedelta

from tests.integration.engine.scheduling.conftest import Stage
from tests.support.world import NOON

from rota.core.ids import derive_tick_run_id
from rota.core.lease import compute_shard
from rota.core.log_events import TicksRejected
from rota.core.states import RunState
from rota.store import jobs
from rota.store.cursors import ShardOwnership

SECOND = timedelta(seconds=1)


async def test_every_tick_of_a_cron_job_becomes_one_run(stage: Stage) -> None:
    job = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    scheduler = stage.scheduler()

    for _ in range(20):
        await scheduler.step()
        await stage.advance(seconds=0.5)

    runs = await stage.runs_of(job)
    assert runs == [(f"12:00:{second:02}", "queued") for second in range(1, 10)]
    assert scheduler.told(TicksRejected) == []


async def test_a_tick_is_decided_just_before_its_time_and_its_run_is_ready_at_its_time(
    stage: Stage,
) -> None:
    job = await stage.job({"at": "2026-07-01T12:00:03.25Z"})
    scheduler = stage.scheduler()
    await scheduler.step()
    await stage.advance(seconds=3.237)
    await scheduler.fire()
    too_early = await stage.runs_of(job)

    await stage.advance(seconds=0.002)
    await scheduler.fire()

    assert too_early == []
    run = await stage.world.get(derive_tick_run_id(job, NOON + 3.25 * SECOND))
    assert (run.state, run.due_at) == (RunState.QUEUED, NOON + 3.25 * SECOND)
    ready_at = await stage.world.conn.fetchval(
        "select ready_at from rota.live_runs where id = $1", run.id
    )
    assert ready_at == NOON + 3.25 * SECOND
    assert await stage.state_of(job) == "finished"


async def test_a_job_that_was_written_after_its_time_was_read_is_found_by_the_poll(
    stage: Stage,
) -> None:
    scheduler = stage.scheduler()
    await scheduler.step()
    job = await stage.job({"at": "2026-07-01T12:00:01Z"})

    await stage.advance(seconds=1)
    await scheduler.fire()
    before = await stage.runs_of(job)
    await scheduler.step()

    assert before == []
    assert await stage.runs_of(job) == [("12:00:01", "queued")]


async def test_a_hint_makes_the_window_be_read_again_at_once(stage: Stage) -> None:
    scheduler = stage.scheduler()
    await scheduler.step()
    job = await stage.job({"at": "2026-07-01T12:00:01Z"})

    scheduler.reading.reread_soon()
    await scheduler.reading.tick()
    await stage.advance(seconds=1)
    await scheduler.fire()

    assert await stage.runs_of(job) == [("12:00:01", "queued")]


async def test_a_job_that_is_paused_while_in_memory_does_not_fire(stage: Stage) -> None:
    job = await stage.job({"cron": "* * * * * *"})
    scheduler = stage.scheduler()
    await scheduler.step()

    await jobs.pause_jobs(stage.world.conn, ids=[job], held='{"by": "test"}')
    await stage.advance(seconds=1)
    await scheduler.fire()

    assert await stage.runs_of(job) == []
    assert [event.count for event in scheduler.told(TicksRejected)] == [1]
    assert len(scheduler.agenda) == 0


async def test_a_job_that_is_edited_while_in_memory_fires_by_the_new_schedule(
    stage: Stage,
) -> None:
    job = await stage.job({"cron": "* * * * * *"})
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.world.conn.execute(
        "update rota.cursors set version = version + 1, tick_at = $1, fire_at = $1",
        NOON + 4 * SECOND,
    )
    for _ in range(4):
        await stage.advance(seconds=1)
        await scheduler.step()

    assert await stage.runs_of(job) == [("12:00:04", "queued")]


async def test_a_run_gets_the_deadline_and_the_gates_of_its_job(stage: Stage) -> None:
    await stage.job(
        {"at": "2026-07-01T12:00:01Z"}, deadline=timedelta(minutes=5), gates=(3, 7), overlap="allow"
    )
    await stage.job(
        {"at": "2026-07-01T12:00:01Z"},
        deadline=timedelta(minutes=5),
        gates=(3, 7),
        overlap="queue_all",
    )
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.advance(seconds=2)
    await scheduler.fire()

    rows = await stage.world.conn.fetch("select deadline_at, gates from rota.live_runs")
    assert [tuple(row) for row in rows] == [(NOON + SECOND + timedelta(minutes=5), [3, 7])] * 2


async def test_the_cap_on_runs_ends_the_job(stage: Stage) -> None:
    job = await stage.job({"cron": "* * * * * *", "window": {"max_runs": 3}}, overlap="allow")
    scheduler = stage.scheduler()

    for _ in range(6):
        await scheduler.step()
        await stage.advance(seconds=1)

    assert len(await stage.runs_of(job)) == 3
    assert await stage.state_of(job) == "finished"
    assert await stage.world.count("cursors") == 0


async def test_jobs_that_share_a_schedule_with_jitter_keep_their_own_offsets(stage: Stage) -> None:
    schedule = {"cron": "0 * * * * *", "jitter": "30s"}
    planned = {await stage.job(schedule, overlap="allow") for _ in range(20)}
    first = await stage.world.conn.fetch("select job_id, fire_at from rota.cursors")
    scheduler = stage.scheduler()

    for _ in range(80):
        await scheduler.step()
        await stage.advance(seconds=2)

    rows = await stage.world.conn.fetch(
        "select job_id, due_at, scheduled_at from rota.live_runs order by scheduled_at"
    )
    assert len(rows) == 2 * len(planned)
    assert {(row[0], row[1]) for row in rows[:20]} == {(row[0], row[1]) for row in first}
    offsets = {(row[0], row[1] - row[2]) for row in rows}
    assert len({offset for _, offset in offsets}) > 20


async def test_whoever_waits_for_runs_is_told_their_queue(stage: Stage) -> None:
    await stage.job({"at": "2026-07-01T12:00:01Z"})
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.advance(seconds=1)
    await scheduler.fire()

    assert scheduler.hints == [frozenset({stage.world.queue_id})]


async def test_a_frozen_scheduler_that_thaws_fires_nothing(stage: Stage) -> None:
    job = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    frozen, other = stage.scheduler("frozen"), stage.scheduler("other")
    await frozen.step()
    held = frozen.tenure.ownership
    await stage.advance(seconds=7)
    await other.step()
    count = await stage.world.count("live_runs")

    # It believes to hold what it held: only the epoch in the database knows better.
    frozen.tenure.confirm(
        ShardOwnership(owner=held.owner, epochs=held.epochs), sent=stage.clock.monotonic()
    )
    await frozen.fire()

    assert count == 7
    assert await stage.world.count("live_runs") == count
    assert [event.count for event in frozen.told(TicksRejected)] == [1]
    assert compute_shard(job) in other.tenure.epochs


async def test_a_scheduler_whose_renewals_fail_stops_by_its_own_clock(stage: Stage) -> None:
    job = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.advance(seconds=4.5)
    await scheduler.fire()

    assert await stage.runs_of(job) == []


async def test_a_herd_larger_than_a_batch_is_fired_whole(stage: Stage) -> None:
    for _ in range(350):
        await stage.job({"at": "2026-07-01T12:00:01Z"})
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.advance(seconds=1)
    await scheduler.fire()

    assert await stage.world.count("live_runs") == 350
    assert len(scheduler.hints) == 4

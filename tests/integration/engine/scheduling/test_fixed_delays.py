"""A fixed delay counts from the end of the run before, and finishing pays nothing for it (S6)."""

from uuid import UUID

from tests.integration.engine.scheduling.conftest import Scheduler, Stage


async def first_run(stage: Stage, **given: object) -> tuple[UUID, Scheduler]:
    """A job that runs a minute after the end of its last run; it was made now."""
    job = await stage.job({"fixed_delay": "1m"}, **given)
    scheduler = stage.scheduler()
    await scheduler.step()
    await stage.advance(minutes=1)
    await scheduler.step()
    return job, scheduler


async def pass_time(stage: Stage, scheduler: Scheduler, *, seconds: int) -> None:
    for _ in range(seconds):
        await stage.advance(seconds=1)
        await scheduler.step()


async def test_the_first_tick_is_one_delay_after_the_job_was_made(stage: Stage) -> None:
    job, _ = await first_run(stage)

    assert await stage.runs_of(job) == [("12:01:00", "queued")]


async def test_the_next_tick_is_one_delay_after_the_end(stage: Stage) -> None:
    job, scheduler = await first_run(stage)
    await pass_time(stage, scheduler, seconds=20)
    await stage.finish_all()

    await pass_time(stage, scheduler, seconds=61)

    assert await stage.runs_of(job) == [("12:01:00", "succeeded"), ("12:02:20", "queued")]


async def test_a_run_that_takes_long_is_never_overtaken(stage: Stage) -> None:
    job, scheduler = await first_run(stage, overlap="allow")
    await stage.start_all()
    await pass_time(stage, scheduler, seconds=200)
    while_running = await stage.runs_of(job)
    await stage.finish_all()

    await pass_time(stage, scheduler, seconds=62)

    assert while_running == [("12:01:00", "running")]
    assert await stage.runs_of(job) == [("12:01:00", "succeeded"), ("12:05:20", "queued")]


async def test_after_an_outage_it_runs_once_and_counts_from_that_end(stage: Stage) -> None:
    job, scheduler = await first_run(stage)
    await stage.finish_all()
    await stage.advance(hours=5)
    await scheduler.step()
    caught_up = await stage.runs_of(job)
    await stage.finish_all()

    await pass_time(stage, scheduler, seconds=61)

    assert caught_up == [("12:01:00", "succeeded"), ("12:02:00", "queued")]
    assert [at for at, _ in await stage.runs_of(job)] == ["12:01:00", "12:02:00", "17:02:00"]


async def test_a_cap_ends_it(stage: Stage) -> None:
    job = await stage.job({"fixed_delay": "10s", "window": {"max_runs": 2}})
    scheduler = stage.scheduler()

    for _ in range(40):
        await stage.advance(seconds=1)
        await scheduler.step()
        await stage.finish_all()

    assert await stage.runs_of(job) == [("12:00:10", "succeeded"), ("12:00:20", "succeeded")]
    assert await stage.state_of(job) == "finished"

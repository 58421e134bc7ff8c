"""What becomes of ticks whose queue is paused: passed over, or gathered if the job says so (S6)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.engine.scheduling.conftest import Scheduler, Stage
from tests.support.world import NOON

from rota.core.overlap import Overlap
from rota.store import gates, interning, tenant_queues, tenants

MINUTELY = {"cron": "* * * * *"}
PAUSED = {"code": "queue_paused", "by": "kim"}


async def ticking(stage: Stage, **given: Any) -> tuple[UUID, Scheduler]:
    """A job that has run once, in a queue that was paused since."""
    job = await stage.job(given.pop("schedule", MINUTELY), **given)
    scheduler = stage.scheduler()
    await scheduler.step()
    await next_minute(stage, scheduler)
    await stage.finish_all()
    await pause(stage)
    return job, scheduler


async def pause(stage: Stage, *, paused: bool = True, by: str = "kim") -> None:
    await gates.pause_queue(stage.world.conn, stage.world.queue_id, paused=paused, by=by)


async def next_minute(stage: Stage, scheduler: Scheduler) -> None:
    await stage.advance(minutes=1)
    await scheduler.step()


async def states_of(stage: Stage, job: UUID) -> list[str]:
    return [state for _, state in await stage.runs_of(job)]


@pytest.mark.parametrize("overlap", Overlap)
async def test_ticks_of_a_paused_queue_are_passed_over_with_who_paused_it(
    stage: Stage, overlap: Overlap
) -> None:
    job, scheduler = await ticking(stage, overlap=overlap)

    for _ in range(2):
        await next_minute(stage, scheduler)
    await pause(stage, paused=False)
    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", "skipped", "skipped", "queued"]
    assert await stage.reasons_of(job) == [PAUSED, PAUSED]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
@pytest.mark.parametrize(("whose", "second"), [(1, "skipped"), (2, "queued")])
async def test_a_tenants_own_pause_passes_over_its_ticks_only(
    stage: Stage, overlap: Overlap, whose: int, second: str
) -> None:
    """In both statements that fire; the pause of another tenant in the same queue is not ours."""
    conn, queue_id = stage.world.conn, stage.world.queue_id
    await tenants.create_tenant(conn, name="acme")
    job, scheduler = await ticking(stage, overlap=overlap)
    await pause(stage, paused=False)
    await tenant_queues.pause_queue(conn, tenant_id=whose, queue_id=queue_id, by="kim")

    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", second]
    assert await stage.reasons_of(job) == [PAUSED] * (second == "skipped")


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.QUEUE_ALL])
async def test_a_job_may_let_its_runs_gather_instead(stage: Stage, overlap: Overlap) -> None:
    job, scheduler = await ticking(stage, overlap=overlap, when_queue_paused="accumulate")

    for _ in range(3):
        await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", *["queued"] * 3]


async def test_runs_that_gather_still_go_by_the_overlap_policy(stage: Stage) -> None:
    job, scheduler = await ticking(stage, when_queue_paused="accumulate")

    for _ in range(3):
        await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", "queued", "skipped", "skipped"]
    assert (await stage.reasons_of(job))[0] == {"code": "overlap"}


@pytest.mark.parametrize("overlap", [Overlap.CANCEL_RUNNING, Overlap.TERMINATE_RUNNING])
async def test_a_tick_that_is_passed_over_does_nothing_to_the_run_before_it(
    stage: Stage, overlap: Overlap
) -> None:
    job = await stage.job(MINUTELY, overlap=overlap)
    scheduler = stage.scheduler()
    await scheduler.step()
    await next_minute(stage, scheduler)
    await stage.start_all()
    await pause(stage)

    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["running", "skipped"]


async def test_one_that_waits_is_not_replaced_by_one_that_is_passed_over(stage: Stage) -> None:
    job = await stage.job(MINUTELY, overlap=Overlap.QUEUE_ONE)
    scheduler = stage.scheduler()
    await scheduler.step()
    await next_minute(stage, scheduler)
    await pause(stage)

    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["queued", "skipped"]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
async def test_the_last_tick_waits_for_the_queue_because_none_comes_after_it(
    stage: Stage, overlap: Overlap
) -> None:
    at = (NOON + timedelta(minutes=2)).isoformat()
    once, scheduler = await ticking(stage, schedule={"at": at}, overlap=overlap)
    capped = await stage.job({**MINUTELY, "window": {"max_runs": 2}}, overlap=overlap)
    await scheduler.reading.tick()

    for _ in range(3):
        await next_minute(stage, scheduler)

    assert await states_of(stage, once) == ["queued"]
    assert await states_of(stage, capped) == ["skipped", "queued"]


async def test_jobs_of_other_queues_in_the_same_batch_run(stage: Stage) -> None:
    other = await interning.intern_queue(stage.world.conn, "other")
    elsewhere = [await stage.job(MINUTELY, queue_id=other, overlap=each) for each in Overlap]
    job, scheduler = await ticking(stage)

    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", "skipped"]
    assert [(await states_of(stage, each))[-1] for each in elsewhere] == ["queued"] * len(Overlap)


async def test_a_fixed_delay_goes_on_after_a_tick_that_was_passed_over(stage: Stage) -> None:
    schedule = {"fixed_delay": "1m"}
    job, scheduler = await ticking(stage, schedule=schedule)

    for _ in range(3):
        await next_minute(stage, scheduler)
    await pause(stage, paused=False)
    for _ in range(2):
        await next_minute(stage, scheduler)

    states = await states_of(stage, job)
    assert states[0] == "succeeded"
    assert set(states[1:-1]) == {"skipped"}
    assert states[-1] == "queued"


async def test_who_pauses_a_paused_queue_again_is_not_who_paused_it(stage: Stage) -> None:
    job, scheduler = await ticking(stage)
    await pause(stage, by="lee")
    await next_minute(stage, scheduler)
    await pause(stage, paused=False)
    await pause(stage, by="lee")

    await next_minute(stage, scheduler)

    assert [reason["by"] for reason in await stage.reasons_of(job)] == ["kim", "lee"]

"""What a tick does when the run before it has not ended: every overlap policy (E4, F34)."""

from datetime import timedelta
from uuid import UUID

from tests.integration.engine.scheduling.conftest import Scheduler, Stage
from tests.support.world import NOON

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.store import live_runs
from rota.store.live_runs import RunEnding

MINUTELY = {"cron": "* * * * *"}


async def next_minute(stage: Stage, scheduler: Scheduler) -> None:
    await stage.advance(minutes=1)
    await scheduler.step()


async def ticked(
    stage: Stage, policy: str, minutes: int = 1, **given: object
) -> tuple[UUID, Scheduler]:
    """A job with an overlap policy, after some ticks."""
    job = await stage.job(MINUTELY, overlap=policy, **given)
    scheduler = stage.scheduler()
    await scheduler.step()
    for _ in range(minutes):
        await next_minute(stage, scheduler)
    return job, scheduler


async def states_of(stage: Stage, job: UUID) -> list[str]:
    return [state for _, state in await stage.runs_of(job)]


async def test_skip_lets_the_tick_go_by(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "skip")
    await stage.start_all()

    await next_minute(stage, scheduler)
    await stage.finish_all()
    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["succeeded", "skipped", "queued"]


async def test_allow_runs_beside_it(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "allow")
    await stage.start_all()

    await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["running", "queued"]


async def test_queue_one_keeps_the_latest_that_waits(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "queue_one")
    await stage.start_all()

    for _ in range(3):
        await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["running", "skipped", "skipped", "queued"]
    into = derive_tick_run_id(job, NOON + timedelta(minutes=3))
    assert (await stage.reasons_of(job))[0] == {"code": "overlap", "into": str(into)}


async def test_queue_one_keeps_the_first_that_waits_if_told_so(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "queue_one", keep_first=True)
    await stage.start_all()

    for _ in range(3):
        await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["running", "queued", "skipped", "skipped"]
    assert (await stage.reasons_of(job))[0] == {"code": "overlap"}


async def test_queue_one_never_throws_away_a_run_that_waits_to_be_tried_again(
    stage: Stage,
) -> None:
    job, scheduler = await ticked(stage, "queue_one")
    await stage.world.conn.execute("update rota.live_runs set attempt = 1")

    for _ in range(2):
        await next_minute(stage, scheduler)

    assert await states_of(stage, job) == ["queued", "skipped", "queued"]


async def test_queue_all_lets_them_wait_up_to_a_hundred(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "queue_all", minutes=98)
    for _ in range(4):
        await next_minute(stage, scheduler)

    states = await states_of(stage, job)

    assert states == ["queued"] * 100 + ["skipped"] * 2
    assert await stage.reasons_of(job) == [{"code": "overlap_full"}] * 2


async def test_cancel_running_asks_it_to_stop_and_waits(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "cancel_running")
    await stage.start_all()

    await next_minute(stage, scheduler)
    asked = await states_of(stage, job)
    await next_minute(stage, scheduler)

    assert asked == ["cancelling", "queued"]
    assert await states_of(stage, job) == ["cancelling", "cancelled", "queued"]


async def test_terminate_running_fences_it_off_and_starts(stage: Stage) -> None:
    job, scheduler = await ticked(stage, "terminate_running")
    (claimed,) = await stage.world.claim(session := await stage.world.session())

    await next_minute(stage, scheduler)
    late = await live_runs.finish_runs(
        stage.world.conn,
        session_id=session,
        endings=[RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED)],
    )

    assert late == {}
    assert await states_of(stage, job) == ["cancelled", "queued"]
    told = await stage.world.get(claimed.id)
    assert (told.session_id, told.attempt) == (session, 1)
    assert (await stage.reasons_of(job))[0]["code"] == "overlap"


async def test_a_job_that_cannot_start_for_an_hour_does_not_pile_up(stage: Stage) -> None:
    skip, scheduler = await ticked(stage, "skip", minutes=0)
    one = await stage.job(MINUTELY, overlap="queue_one")

    for _ in range(60):
        await next_minute(stage, scheduler)

    for job in (skip, one):
        states = await states_of(stage, job)
        assert (len(states), states.count("queued")) == (60, 1)


async def test_jobs_of_all_policies_in_one_batch_do_not_touch_each_other(stage: Stage) -> None:
    policies = ("skip", "allow", "queue_one", "queue_all", "cancel_running", "terminate_running")
    jobs = {policy: await stage.job(MINUTELY, overlap=policy) for policy in policies}
    scheduler = stage.scheduler()
    await scheduler.step()
    await next_minute(stage, scheduler)
    await stage.start_all()

    await next_minute(stage, scheduler)

    found = {policy: await states_of(stage, job) for policy, job in jobs.items()}
    assert found == {
        "skip": ["running", "skipped"],
        "allow": ["running", "queued"],
        "queue_one": ["running", "queued"],
        "queue_all": ["running", "queued"],
        "cancel_running": ["cancelling", "queued"],
        "terminate_running": ["cancelled", "queued"],
    }

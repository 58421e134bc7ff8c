"""A tenant gets no more jobs, shorter periods and waiting runs than it may have (T1)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.finished import make
from tests.support.world import NOON, World

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import InvalidSchedule, QuotaExceeded
from rota.core.overlap import Overlap
from rota.core.quotas import Quotas
from rota.core.submissions import JobSpec, RunSpec
from rota.core.uniqueness import UniqueRule
from rota.engine.submission.backfills.advancer import advance_oldest
from rota.engine.submission.backfills.requests import BackfillRequest, start_backfill
from rota.engine.submission.job_changes import JobChanges, delete_job, edit_job
from rota.engine.submission.job_submission import SubmittedJob, define_jobs, submit_jobs
from rota.engine.submission.requeue import (
    REQUEUE_ACTION,
    ReplayRequest,
    count_dead_letters,
    replay_run,
    requeue_dead_letters,
    retry_run,
)
from rota.engine.submission.run_triggers import run_now, submit_runs, submit_unique
from rota.store import submissions, tenants

HOURLY = {"cron": "0 * * * *"}
AT_ONCE = {"immediate": True}
HOUR = timedelta(hours=1)
DEAD = BulkRunFilter(kind="noop")


async def limited(world: World, **quotas: Any) -> None:
    await tenants.update_tenant(world.conn, 1, quotas=Quotas(**quotas))


async def hand_in(world: World, number: int = 1, **given: Any) -> list[SubmittedJob]:
    specs = [
        JobSpec(**{"name": f"job {world.new_id()}", "kind": "noop", "schedule": HOURLY} | given)
        for _ in range(number)
    ]
    return await submit_jobs(world.conn, specs, now=world.now, new_id=world.new_id)


async def a_job(world: World, **given: Any) -> UUID:
    return (await hand_in(world, **given))[0].job_id


async def ask(world: World, *specs: RunSpec) -> list[UUID]:
    return await submit_runs(world.conn, specs, now=world.now, new_id=world.new_id)


async def test_one_job_more_than_the_quota_is_refused_with_all_of_its_batch(world: World) -> None:
    await limited(world, max_jobs=3)
    await hand_in(world, 2)

    with pytest.raises(
        QuotaExceeded, match=r"max_jobs exceeded \(limit 3\): it has 2 unfinished jobs"
    ):
        await hand_in(world, 2)
    await hand_in(world, 1)

    assert await world.count("jobs") == 3


async def test_finished_and_deleted_jobs_do_not_count(world: World) -> None:
    await limited(world, max_jobs=1)
    await hand_in(world, 5, schedule=AT_ONCE)
    first = await a_job(world)

    await delete_job(world.conn, first, by="ana")
    await a_job(world)

    assert (await world.count("jobs"), await world.count("live_runs")) == (2, 5)


async def test_a_submission_counts_as_a_job_until_its_instant(world: World) -> None:
    await limited(world, max_jobs=2)
    await hand_in(world, 2, schedule={"after": "1m"})

    with pytest.raises(
        QuotaExceeded, match=r"max_jobs exceeded \(limit 2\): it has 2 unfinished jobs"
    ):
        await a_job(world)
    await world.advance(minutes=1)
    await submissions.move_due(world.conn, await world.own(), range(128), per_shard=10)
    await a_job(world)
    await hand_in(world, schedule={"after": "1m"})

    assert await world.count("live_runs") == 2


async def test_a_finished_job_that_gets_a_schedule_counts_again(world: World) -> None:
    await limited(world, max_jobs=1)
    spec = JobSpec(name="done", kind="noop", schedule=AT_ONCE)
    (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    done = made.job_id
    held = await a_job(world)

    with pytest.raises(QuotaExceeded, match="max_jobs"):
        await edit_job(world.conn, done, JobChanges(schedule=HOURLY), now=world.now)
    await edit_job(world.conn, held, JobChanges(schedule={"cron": "30 * * * *"}), now=world.now)
    await edit_job(world.conn, done, JobChanges(payload=1), now=world.now)


async def test_the_quota_of_one_tenant_is_not_that_of_another(world: World) -> None:
    await tenants.create_tenant(world.conn, name="acme")
    await limited(world, max_jobs=1, max_queued=1)

    await hand_in(world, 3, tenant="acme")
    await hand_in(world, 3, tenant="acme", schedule=AT_ONCE)
    await a_job(world)

    assert (await world.count("jobs"), await world.count("live_runs")) == (4, 3)


async def test_two_at_once_do_not_pass_the_quota_together(world: World, database: str) -> None:
    await limited(world, max_jobs=1)
    conns = [await asyncpg.connect(database) for _ in range(4)]

    async def one(conn: asyncpg.Connection, number: int) -> object:
        spec = JobSpec(name=f"job {number}", kind="noop", schedule=HOURLY)
        return await submit_jobs(conn, [spec], now=world.now, new_id=world.new_id)

    answers = await asyncio.gather(
        *(one(conn, number) for number, conn in enumerate(conns)), return_exceptions=True
    )
    for conn in conns:
        await conn.close()

    assert [isinstance(answer, QuotaExceeded) for answer in answers].count(True) == 3
    assert await world.count("jobs") == 1


@pytest.mark.parametrize(
    "schedule", [{"cron": "*/5 * * * * *"}, {"every": "9s"}, {"fixed_delay": "1s"}]
)
async def test_a_schedule_with_a_shorter_period_than_the_quota_is_refused(
    world: World, schedule: dict[str, Any]
) -> None:
    await limited(world, min_period=timedelta(seconds=10))
    job = await a_job(world, schedule={"every": "10s"})

    with pytest.raises(InvalidSchedule, match=r"PT10S apart \(the tenant's min_period\)"):
        await a_job(world, schedule=schedule)
    with pytest.raises(InvalidSchedule, match="min_period"):
        await edit_job(world.conn, job, JobChanges(schedule=schedule), now=world.now)

    assert await world.count("jobs") == 1


async def test_jobs_that_run_at_once_count_as_waiting_runs(world: World) -> None:
    await limited(world, max_queued=3)
    await hand_in(world, 2, schedule=AT_ONCE)

    with pytest.raises(
        QuotaExceeded, match=r"max_queued exceeded \(limit 3\): 2 runs are waiting"
    ) as no:
        await hand_in(world, 2, schedule=AT_ONCE)
    await hand_in(world, 1, schedule=AT_ONCE)
    await hand_in(world, 9)

    assert no.value.retry_after is not None
    assert await world.count("live_runs") == 3


async def test_runs_that_are_asked_for_are_held_against_the_quota(world: World) -> None:
    await limited(world, max_queued=2)
    job = await a_job(world, schedule=None, overlap=Overlap.ALLOW)
    spec = RunSpec(job_id=job)

    await ask(world, spec)
    with pytest.raises(QuotaExceeded):
        await ask(world, spec, spec)
    await run_now(world.conn, spec, now=world.now, new_id=world.new_id)
    with pytest.raises(QuotaExceeded, match="2 runs are waiting and the request adds 1"):
        await ask(world, spec)
    with pytest.raises(QuotaExceeded, match="2 runs are waiting and the request adds 1"):
        await run_now(world.conn, spec, now=world.now, new_id=world.new_id)

    assert await world.count("live_runs") == 2


async def test_a_run_that_somebody_executes_waits_no_longer(world: World) -> None:
    await limited(world, max_queued=1)
    spec = RunSpec(job_id=await a_job(world, schedule=None))
    await ask(world, spec)
    await world.claim(await world.session())

    await ask(world, spec)

    assert await world.count("live_runs") == 2


async def test_asking_again_for_the_same_run_is_not_refused(world: World) -> None:
    await limited(world, max_queued=1)
    job, id_ = await a_job(world, schedule=None), world.new_id()
    named = RunSpec(job_id=job, id=id_)
    unique = RunSpec(job_id=job, unique=UniqueRule(key="a"))

    first = await ask(world, named)
    again = await ask(world, named)
    with pytest.raises(QuotaExceeded):
        await ask(world, RunSpec(job_id=job, id=world.new_id()))
    with pytest.raises(QuotaExceeded):
        await submit_unique(world.conn, [unique], now=world.now, new_id=world.new_id)

    assert (first, again) == ([id_], [])
    assert await world.count("live_runs") == 1


async def test_what_died_comes_back_only_within_the_quota(world: World) -> None:
    job = await a_job(world, schedule=None)
    dead = [await make(world, "dead", job_id=job) for _ in range(3)]
    counted = await count_dead_letters(
        world.conn, DEAD, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )
    await limited(world, max_queued=1)
    again = ReplayRequest(run_id=dead[1], by="ana")

    with pytest.raises(QuotaExceeded, match="the request adds 3"):
        await requeue_dead_letters(world.conn, DEAD, tenant_id=1, token=counted.token, by="ana")
    await retry_run(world.conn, tenant_id=1, run_id=dead[0], by="ana")
    with pytest.raises(QuotaExceeded):
        await retry_run(world.conn, tenant_id=1, run_id=dead[1], by="ana")
    with pytest.raises(QuotaExceeded):
        await replay_run(world.conn, again, tenant_id=1, now=world.now, new_id=world.new_id)

    assert await world.count("live_runs") == 1


async def test_a_backfill_is_held_against_the_quota_and_its_dry_run_is_not(world: World) -> None:
    job = await a_job(world)
    await world.advance(hours=5)
    await world.conn.execute("update rota.cursors set tick_at = $1", NOON + 5 * HOUR)
    await limited(world, max_queued=3)

    async def fill(*, dry_run: bool = False) -> int:
        wanted = BackfillRequest(since=NOON + timedelta(seconds=1), until=NOON + 5 * HOUR)
        done = await start_backfill(
            world.conn,
            wanted,
            tenant_id=1,
            job_id=job,
            by="ann",
            now=world.now,
            new_id=world.new_id,
            dry_run=dry_run,
        )
        return done.counts.new

    assert (await fill(dry_run=True), await fill()) == (4, 4)
    await advance_oldest(world.conn)
    assert await world.count("live_runs") == 3

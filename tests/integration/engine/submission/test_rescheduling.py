"""A calendar that is changed moves the next ticks of the jobs that go by it (S15)."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.world import NOON, World

from rota.core.errors import Conflict, InvalidSchedule
from rota.core.submissions import JobSpec
from rota.engine.submission import rescheduling
from rota.engine.submission.job_changes import JobChanges, edit_job, pause_job, resume_job
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.rescheduling import RescheduledJobs, reschedule_followers
from rota.store import calendars, tenants

HOUR = timedelta(hours=1)
# World begins at noon of 2026-07-01, a Wednesday.
TODAY = {"ranges": [{"start": "2026-07-01T12:30:00", "end": "2026-07-01T18:00:00"}]}
SINCE_NOON = {"ranges": [{"start": "2026-07-01T06:00:00", "end": "2026-07-01T18:00:00"}]}
NEXT_YEAR = {"dates": ["2027-01-01"]}
ALWAYS = {"ranges": [{"start": "2026-01-01", "end": "2099-01-01"}]}
HOURLY = {"cron": "0 * * * *", "calendars": ["freeze"]}


async def freeze(world: World, body: dict[str, Any], *, tenant_id: int = 1) -> None:
    plain = {"name": "freeze", **body}
    await calendars.create_calendar(world.conn, tenant_id=tenant_id, plain=plain)


async def refreeze(world: World, body: dict[str, Any], *, version: int = 1) -> RescheduledJobs:
    plain = {"name": "freeze", **body}
    async with world.conn.transaction():
        await calendars.replace_calendar(world.conn, tenant_id=1, plain=plain, version=version)
        return await reschedule_followers(world.conn, tenant_id=1, name="freeze")


async def a_job(
    world: World, *, name: str = "report", tenant: str = "default", **given: Any
) -> UUID:
    spec = JobSpec(name=name, kind="noop", tenant=tenant, schedule=HOURLY | given)
    tenant_id = await world.conn.fetchval("select id from rota.tenants where name = $1", tenant)
    known = await calendars.read_calendars(world.conn, tenant_id=tenant_id)
    (made,) = await submit_jobs(
        world.conn, [spec], now=world.now, new_id=world.new_id, calendars=known
    )
    return made.job_id


async def cursor(world: World, job_id: UUID) -> tuple[datetime, datetime, int]:
    row = await world.conn.fetchrow(
        "select tick_at, fire_at, version from rota.cursors where job_id = $1", job_id
    )
    assert row is not None
    return tuple(row)


async def test_a_tick_that_is_blacked_out_now_is_passed_over(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world)

    done = await refreeze(world, TODAY)

    assert done == RescheduledJobs((job,), ())
    assert await cursor(world, job) == (NOON + 6 * HOUR, NOON + 6 * HOUR, 2)


async def test_a_tick_that_is_free_again_is_next(world: World) -> None:
    await freeze(world, TODAY)
    job = await a_job(world)

    await refreeze(world, NEXT_YEAR)

    assert await cursor(world, job) == (NOON + HOUR, NOON + HOUR, 2)


async def test_a_tick_that_was_put_off_runs_when_the_blackout_is_lifted(world: World) -> None:
    await world.advance(hours=-4)
    await freeze(world, SINCE_NOON)
    job = await a_job(world, cron="0 9 * * *", on_blackout="defer")
    put_off = await cursor(world, job)
    await world.advance(hours=4)

    await refreeze(world, NEXT_YEAR)

    assert put_off[:2] == (NOON - 3 * HOUR, NOON + 6 * HOUR)
    assert await cursor(world, job) == (NOON - 3 * HOUR, NOON, 2)


async def test_a_tick_that_was_brought_forward_and_ran_does_not_come_again(world: World) -> None:
    await freeze(world, TODAY)
    job = await a_job(world, cron="0 15 * * *", on_blackout="advance")
    brought = await cursor(world, job)
    # As if that tick had been fired: the cursor is at the one of tomorrow.
    tomorrow = NOON + 27 * HOUR
    await world.conn.execute("update rota.cursors set tick_at = $1, fire_at = $1", tomorrow)
    await world.advance(minutes=30)

    await refreeze(world, NEXT_YEAR)

    assert brought[:2] == (NOON + 3 * HOUR, NOON + HOUR / 2 - timedelta(seconds=1))
    assert (await cursor(world, job))[:2] == (tomorrow, tomorrow)


async def test_a_tick_that_is_due_is_decided_as_it_was_planned(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world)
    await world.advance(hours=1)

    await refreeze(world, TODAY)

    # With another version: what follows it is computed again.
    assert await cursor(world, job) == (NOON + HOUR, NOON + HOUR, 2)


async def test_a_tick_that_was_decided_a_moment_ago_is_not_planned_again(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world)
    await world.advance(minutes=59, seconds=59.995)
    # Fired some milliseconds ahead.
    await world.conn.execute("update rota.cursors set tick_at = $1, fire_at = $1", NOON + 2 * HOUR)

    await refreeze(world, {"dates": ["2027-01-02"]})

    assert (await cursor(world, job))[0] == NOON + 2 * HOUR


async def test_paused_jobs_and_those_of_others_stay_where_they_are(world: World) -> None:
    other = (await tenants.create_tenant(world.conn, name="acme")).id
    await freeze(world, NEXT_YEAR)
    await freeze(world, NEXT_YEAR, tenant_id=other)
    paused = await a_job(world)
    theirs = await a_job(world, tenant="acme")
    await pause_job(world.conn, paused, by="ana", now=world.now)
    before = [await cursor(world, job) for job in (paused, theirs)]

    done = await refreeze(world, TODAY)

    assert done == RescheduledJobs((), ())
    assert [await cursor(world, job) for job in (paused, theirs)] == before


async def test_a_paused_job_goes_by_the_new_calendar_when_it_is_resumed(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world)
    await pause_job(world.conn, job, by="ana", now=world.now)
    await refreeze(world, TODAY)

    known = await calendars.read_calendars(world.conn, tenant_id=1)
    changed = await resume_job(world.conn, job, now=world.now, calendars=known)

    assert changed.next_tick == NOON + 6 * HOUR


async def test_a_calendar_that_leaves_no_time_free_is_refused(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world)
    before = await cursor(world, job)

    with pytest.raises(InvalidSchedule, match="leave time free"):
        await refreeze(world, ALWAYS)

    assert await cursor(world, job) == before
    assert (await calendars.get_calendar(world.conn, tenant_id=1, name="freeze")).version == 1


async def test_a_job_whose_last_tick_is_blacked_out_is_finished(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    window = {"end": "2026-07-01T14:30:00Z"}
    job = await a_job(world, window=window)

    await refreeze(world, TODAY)

    assert await world.conn.fetchval("select state::text from rota.jobs") == "finished"
    assert await world.count("cursors") == 0
    assert isinstance(job, UUID)


async def test_too_many_jobs_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescheduling, "FOLLOWERS_MAX", 2)
    await freeze(world, NEXT_YEAR)
    for number in range(3):
        await a_job(world, name=f"job {number}")

    with pytest.raises(Conflict, match="more than 2 jobs use it"):
        await refreeze(world, TODAY)

    assert (await calendars.get_calendar(world.conn, tenant_id=1, name="freeze")).version == 1


async def test_a_job_that_is_made_while_its_calendar_is_replaced_is_refused(
    world: World, database: str
) -> None:
    await freeze(world, NEXT_YEAR)
    known = await calendars.read_calendars(world.conn, tenant_id=1)
    other = await asyncpg.connect(database)
    await other.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    plain = {"name": "freeze", **TODAY}
    spec = JobSpec(name="report", kind="noop", schedule=HOURLY)

    replacing = other.transaction()
    await replacing.start()
    await calendars.replace_calendar(other, tenant_id=1, plain=plain, version=1)
    with pytest.raises(Conflict, match="was changed by another request") as under_way:
        await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id, calendars=known)
    await replacing.commit()
    with pytest.raises(Conflict, match="was changed by another request"):
        await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id, calendars=known)
    await other.close()

    assert under_way.value.retry_after is not None
    assert await world.count("jobs") == 0


async def test_a_calendar_is_replaced_after_the_job_that_is_being_made_with_it(
    world: World, database: str
) -> None:
    await freeze(world, NEXT_YEAR)
    other = await asyncpg.connect(database)
    making = other.transaction()
    await making.start()
    known = await calendars.read_calendars(other, tenant_id=1)
    spec = JobSpec(name="report", kind="noop", schedule=HOURLY)
    (made,) = await submit_jobs(other, [spec], now=world.now, new_id=world.new_id, calendars=known)

    replacing = asyncio.create_task(refreeze(world, TODAY))
    await until(lambda: waits(other))
    await making.commit()
    await replacing
    await other.close()

    assert (await cursor(world, made.job_id))[0] == NOON + 6 * HOUR


async def waits(conn: asyncpg.Connection) -> bool:
    found = await conn.fetchval(
        "select count(*) from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'"
    )
    return bool(found)


async def test_an_edit_by_a_calendar_that_is_gone_is_refused(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    job = await a_job(world, calendars=[])
    known = await calendars.read_calendars(world.conn, tenant_id=1)
    await calendars.delete_calendar(world.conn, tenant_id=1, name="freeze")

    with pytest.raises(InvalidSchedule, match="no such calendar"):
        await edit_job(world.conn, job, JobChanges(schedule=HOURLY), now=world.now, calendars=known)


async def test_a_calendar_that_is_used_cannot_be_deleted(world: World) -> None:
    await freeze(world, NEXT_YEAR)
    await a_job(world)

    with pytest.raises(Conflict, match="'report'"):
        await calendars.delete_calendar(world.conn, tenant_id=1, name="freeze")

    assert (await calendars.get_calendar(world.conn, tenant_id=1, name="freeze")).version == 1

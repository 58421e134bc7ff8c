"""Schedulers know the calendars of the jobs at hand, and hear of their changes (S15)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from tests.integration.engine.scheduling.conftest import OneConnection, Scheduler, Stage

from rota.core.log_events import JobQuarantined
from rota.core.overlap import Overlap
from rota.core.submissions import JobSpec
from rota.engine.scheduling.schedule_cache import (
    CALENDAR_REFRESH_INTERVAL_S,
    CalendarRefresher,
    ScheduleCache,
    refresh_calendars,
)
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.rescheduling import reschedule_followers
from rota.store import calendars, tenants
from rota.store.driver import Connection

# World begins at noon of 2026-07-01.
BREAK = {"start": "2026-07-01T12:00:02", "end": "2026-07-01T12:00:04"}
LATER = {"start": "2026-07-02T00:00:00", "end": "2026-07-03T00:00:00"}


def ranges(*parts: dict[str, str]) -> dict[str, object]:
    return {"name": "freeze", "ranges": list(parts)}


async def a_job(stage: Stage, *, tenant: str = "default", tenant_id: int = 1, **given: Any) -> UUID:
    world = stage.world
    schedule = {"cron": "* * * * * *", "calendars": ["freeze"]} | given
    spec = JobSpec(
        name="report", kind="noop", tenant=tenant, schedule=schedule, overlap=Overlap.ALLOW
    )
    known = await calendars.read_calendars(world.conn, tenant_id=tenant_id)
    (made,) = await submit_jobs(
        world.conn, [spec], now=world.now, new_id=world.new_id, calendars=known
    )
    return made.job_id


async def freeze(stage: Stage, *parts: dict[str, str], tenant_id: int = 1) -> None:
    await calendars.create_calendar(stage.world.conn, tenant_id=tenant_id, plain=ranges(*parts))
    await reschedule_followers(stage.world.conn, tenant_id=tenant_id, name="freeze")


async def replaced(stage: Stage, *parts: dict[str, str], version: int = 1) -> None:
    conn = stage.world.conn
    await calendars.replace_calendar(conn, tenant_id=1, plain=ranges(*parts), version=version)


async def run_for(stage: Stage, scheduler: Scheduler, seconds: int) -> None:
    for _ in range(seconds):
        await scheduler.step()
        await stage.advance(seconds=1)
    await scheduler.step()


async def seconds_of(stage: Stage, job: UUID) -> list[str]:
    return [at[-2:] for at, _ in await stage.runs_of(job)]


def minding(stage: Stage, scheduler: Scheduler) -> CalendarRefresher:
    return CalendarRefresher(
        source=OneConnection(stage.world.conn), schedule_cache=scheduler.agenda.schedule_cache
    )


async def test_a_job_does_not_run_in_the_blackout_of_its_calendar(stage: Stage) -> None:
    await freeze(stage, BREAK)
    job, scheduler = await a_job(stage), stage.scheduler()

    await run_for(stage, scheduler, 6)

    assert await seconds_of(stage, job) == ["01", "04", "05", "06"]
    assert scheduler.told(JobQuarantined) == []


async def test_calendars_of_the_same_name_are_those_of_their_tenants(stage: Stage) -> None:
    other = (await tenants.create_tenant(stage.world.conn, name="acme")).id
    await freeze(stage, BREAK)
    await freeze(stage, LATER, tenant_id=other)
    mine = await a_job(stage)
    theirs = await a_job(stage, tenant="acme", tenant_id=other)

    await run_for(stage, stage.scheduler(), 5)

    assert await seconds_of(stage, mine) == ["01", "04", "05"]
    assert await seconds_of(stage, theirs) == ["01", "02", "03", "04", "05"]
    shown = await stage.world.conn.fetchval("select schedule from rota.jobs where id = $1", mine)
    assert json.loads(shown)["calendars"] == ["freeze"]


async def test_ticks_in_memory_are_void_once_the_calendar_is_replaced(stage: Stage) -> None:
    await freeze(stage, LATER)
    job, scheduler = await a_job(stage), stage.scheduler()
    await run_for(stage, scheduler, 1)

    await replaced(stage, {"start": "2026-07-01T12:00:03", "end": "2026-07-01T12:00:05"})
    await reschedule_followers(stage.world.conn, tenant_id=1, name="freeze")
    await run_for(stage, scheduler, 5)

    assert await seconds_of(stage, job) == ["01", "02", "05", "06"]


async def test_the_duty_finds_a_calendar_that_was_replaced_behind_its_back(stage: Stage) -> None:
    await freeze(stage, LATER)
    job, scheduler = await a_job(stage), stage.scheduler()
    duty = minding(stage, scheduler)
    await run_for(stage, scheduler, 1)
    await replaced(stage, {"start": "2026-07-01T12:00:03", "end": "2026-07-01T12:00:05"})

    rest = await duty.tick()
    await run_for(stage, scheduler, 5)

    # That 03 follows 02 was computed before, and no cursor was moved; what follows 03 was not.
    assert rest == CALENDAR_REFRESH_INTERVAL_S
    assert await seconds_of(stage, job) == ["01", "02", "03", "05", "06"]


async def test_without_calendars_nothing_is_asked(stage: Stage) -> None:
    await stage.job({"cron": "* * * * * *"})
    scheduler = stage.scheduler()
    await run_for(stage, scheduler, 1)
    asked: list[str] = []
    conn: Any = stage.world.conn
    conn.add_query_logger(lambda query: asked.append(query.query))

    await minding(stage, scheduler).tick()
    await run_for(stage, scheduler, 2)

    assert asked
    assert not [query for query in asked if "rota.calendars" in query]


async def test_a_job_whose_calendar_is_gone_is_set_aside_and_goes_on_with_a_new_one(
    stage: Stage,
) -> None:
    await freeze(stage, LATER)
    job, scheduler = await a_job(stage), stage.scheduler()
    # As a hand in psql might; there is no other way.
    await stage.world.conn.execute("delete from rota.calendars")

    await run_for(stage, scheduler, 2)

    assert await stage.state_of(job) == "quarantined"
    assert await stage.runs_of(job) == []
    held = await stage.world.conn.fetchval("select held from rota.jobs where id = $1", job)
    assert json.loads(held)["reason"] == (
        "calendars: 'freeze' is invalid: calendar does not exist; create it again and the job "
        "continues"
    )

    await freeze(stage, LATER)
    await run_for(stage, scheduler, 2)

    assert await stage.state_of(job) == "active"
    assert (await seconds_of(stage, job))[-2:] == ["03", "04"]


async def test_a_calendar_that_cannot_be_read_stops_nobody_else(stage: Stage) -> None:
    await freeze(stage, LATER)
    job = await a_job(stage)
    good, scheduler = await stage.job({"cron": "* * * * * *"}, overlap="allow"), stage.scheduler()
    await stage.world.conn.execute(
        "update rota.calendars set body = jsonb_set(body, '{timezone}', '\"Mars/Olympus\"')"
    )

    await run_for(stage, scheduler, 2)

    assert await stage.state_of(job) == "quarantined"
    assert await seconds_of(stage, good) == ["01", "02"]


async def test_a_deferring_job_runs_at_the_end_of_the_blackout(stage: Stage) -> None:
    await freeze(stage, BREAK)
    job = await a_job(stage, on_blackout="defer")

    await run_for(stage, stage.scheduler(), 5)

    # The last tick that it covers stands for all, and that is the one at its end.
    assert await seconds_of(stage, job) == ["01", "04", "05"]


class Meanwhile(OneConnection):
    """Somebody else looks at the calendars while this connection is in use."""

    def __init__(self, conn: Connection, rulebook: ScheduleCache) -> None:
        super().__init__(conn)
        self.rulebook = rulebook

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self.conn
        await refresh_calendars(self.conn, self.rulebook, {"1/freeze"})


async def test_the_duty_does_not_overwrite_what_reading_saw_meanwhile(stage: Stage) -> None:
    await freeze(stage, LATER)
    await a_job(stage)
    scheduler = stage.scheduler()
    await run_for(stage, scheduler, 1)
    rulebook = scheduler.agenda.schedule_cache
    edition = rulebook.revision
    duty = CalendarRefresher(source=Meanwhile(stage.world.conn, rulebook), schedule_cache=rulebook)

    rest = await duty.tick()

    assert (rest, rulebook.revision) == (0.0, edition + 1)

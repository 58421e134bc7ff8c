"""One bad job is set aside and stops nobody (F08, F11, semantics 16.7)."""

import json
from datetime import timedelta
from uuid import UUID

from tests.integration.engine.scheduling.conftest import Scheduler, Stage
from tests.support.world import NOON

from rota.core.log_events import JobQuarantined

SECOND = timedelta(seconds=1)


async def beside_a_good_one(stage: Stage) -> tuple[UUID, UUID, Scheduler]:
    good = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    bad = await stage.job({"cron": "*/2 * * * * *"}, overlap="allow")
    return good, bad, stage.scheduler()


async def spoil(stage: Stage, job: UUID, body: object) -> None:
    """As another version, a broken disk or a hand in psql might."""
    await stage.world.conn.execute(
        "update rota.schedules as s set body = $2 from rota.cursors as c"
        " where c.schedule_id = s.id and c.job_id = $1",
        job,
        json.dumps(body),
    )


async def refuse(stage: Stage, table: str, job: UUID) -> None:
    """The database finds fault with every row of this job, as a broken disk might."""
    await stage.world.conn.execute(
        "create function refuse() returns trigger language plpgsql as"
        " $$begin raise exception 'no' using errcode = '22000'; end$$"
    )
    await stage.world.conn.execute(
        f"create trigger refuse before insert on rota.{table} for each row"
        f" when (new.job_id = '{job}') execute function refuse()"
    )


async def test_a_schedule_that_cannot_be_read_sets_its_job_aside_with_the_reason(
    stage: Stage,
) -> None:
    good, bad, scheduler = await beside_a_good_one(stage)
    await spoil(stage, bad, {"cron": "* * *", "timezone": "UTC"})

    for _ in range(3):
        await scheduler.step()
        await stage.advance(seconds=1)

    assert len(await stage.runs_of(good)) == 2
    assert await stage.runs_of(bad) == []
    assert await stage.state_of(bad) == "quarantined"
    held = await stage.world.conn.fetchval("select held from rota.jobs where id = $1", bad)
    assert "cron" in json.loads(held)["reason"]
    assert [event.job_id for event in scheduler.told(JobQuarantined)] == [bad]


async def test_a_schedule_of_an_unknown_zone_or_calendar_sets_its_job_aside(stage: Stage) -> None:
    good, bad, scheduler = await beside_a_good_one(stage)
    worse = await stage.job({"cron": "*/3 * * * * *"})
    await spoil(stage, bad, {"cron": "* * * * * *", "timezone": "Mars/Olympus"})
    await spoil(stage, worse, {"cron": "* * * * * *", "calendars": ["holidays"]})

    await scheduler.step()
    await stage.advance(seconds=1)
    await scheduler.step()

    assert [await stage.state_of(job) for job in (good, bad, worse)] == [
        "active",
        "quarantined",
        "quarantined",
    ]


async def test_a_schedule_that_is_gone_sets_its_job_aside(stage: Stage) -> None:
    _, bad, scheduler = await beside_a_good_one(stage)
    await stage.world.conn.execute(
        "update rota.cursors set schedule_id = 4711 where job_id = $1", bad
    )

    await scheduler.step()

    assert await stage.state_of(bad) == "quarantined"


async def test_a_tick_that_the_database_refuses_is_found_among_many(stage: Stage) -> None:
    jobs = [await stage.job({"at": "2026-07-01T12:00:01Z"}) for _ in range(40)]
    bad = jobs[23]
    await refuse(stage, "live_runs", bad)
    scheduler = stage.scheduler()
    await scheduler.step()

    await stage.advance(seconds=1)
    await scheduler.fire()

    assert await stage.world.count("live_runs") == 39
    assert await stage.state_of(bad) == "quarantined"
    (told,) = scheduler.told(JobQuarantined)
    assert (told.job_id, "22000" in told.reason) == (bad, True)


async def test_a_record_that_the_database_refuses_is_found_among_many(stage: Stage) -> None:
    jobs = [await stage.job({"cron": "0 * * * *"}) for _ in range(20)]
    bad = jobs[13]
    await refuse(stage, "runs", bad)
    scheduler = stage.scheduler()
    await stage.advance(hours=5, minutes=30)

    await scheduler.step()

    assert await stage.world.count("live_runs") == 19
    assert await stage.state_of(bad) == "quarantined"
    assert [event.job_id for event in scheduler.told(JobQuarantined)] == [bad]


async def test_a_tick_before_the_time_of_computers_sets_its_job_aside(stage: Stage) -> None:
    good, bad, scheduler = await beside_a_good_one(stage)
    await stage.world.conn.execute(
        "update rota.cursors set tick_at = '1969-07-20', fire_at = '1969-07-20' where job_id = $1",
        bad,
    )

    await scheduler.step()

    assert await stage.state_of(bad) == "quarantined"
    assert await stage.state_of(good) == "active"


async def test_a_job_that_was_edited_meanwhile_is_not_set_aside(stage: Stage) -> None:
    _, bad, scheduler = await beside_a_good_one(stage)
    await spoil(stage, bad, {"cron": "* * *"})
    await stage.world.conn.execute("update rota.jobs set version = 2 where id = $1", bad)

    await scheduler.step()

    assert await stage.state_of(bad) == "active"
    assert scheduler.told(JobQuarantined) == []


async def test_what_was_set_aside_keeps_its_place(stage: Stage) -> None:
    _, bad, scheduler = await beside_a_good_one(stage)
    await spoil(stage, bad, [])

    await scheduler.step()

    row = await stage.world.conn.fetchrow(
        "select tick_at, fire_at, version from rota.cursors where job_id = $1", bad
    )
    assert row is not None
    assert tuple(row) == (NOON + 2 * SECOND, None, 2)

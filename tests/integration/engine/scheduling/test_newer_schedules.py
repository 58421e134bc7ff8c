"""A job whose schedule newer code wrote fires, or waits for newer code: never quarantined (O4)."""

import json
from typing import Any
from uuid import UUID

import pytest
from tests.integration.engine.scheduling.conftest import Stage
from tests.support import newer

from rota.core.log_events import JobQuarantined, JobSetAside
from rota.store import calendars, interning

OF_THE_JOB = (
    "update rota.schedules as s set body = $2 from rota.cursors as c"
    " where c.schedule_id = s.id and c.job_id = $1"
)
BODY = (
    "select s.body from rota.schedules as s inner join rota.cursors as c"
    " on c.schedule_id = s.id where c.job_id = $1"
)
FALLBACKS = ("misfire.on_outage", "misfire.on_resume", "misfire.on_edit")
VALUES: list[dict[str, Any]] = [
    {"dst": {"gap": "sideways"}},
    {"day_match": "most"},
    {"on_blackout": "ask"},
    {"cron": None, "sunset": "51.5,0.1"},
]


async def rewrite(stage: Stage, job: UUID, parts: dict[str, Any]) -> str:
    """As newer code would have written it; returns what was there before."""
    before = str(await stage.world.conn.fetchval(BODY, job))
    document = {key: value for key, value in (json.loads(before) | parts).items() if value}
    await stage.world.conn.execute(OF_THE_JOB, job, json.dumps(document))
    return before


async def a_job(stage: Stage, **parts: Any) -> UUID:
    return await stage.job({"cron": "*/2 * * * * *", **parts}, overlap="allow")


async def test_what_is_not_known_at_any_level_quarantines_no_job(stage: Stage) -> None:
    conn, fire, wait = stage.world.conn, set[UUID](), set[UUID]()
    for name, each in newer.newer_schedules().items():
        written = newer.WRITTEN[name.partition(":")[0]]
        if "event" in written:
            continue
        job = await stage.job(written, overlap="allow")
        body = json.dumps(each.document, sort_keys=True)
        await conn.execute(
            "update rota.cursors set schedule_id = $2 where job_id = $1",
            job,
            await interning.intern_schedule(conn, body),
        )
        is_known = each.path.endswith(newer.FIELD) or each.path in FALLBACKS
        (fire if is_known else wait).add(job)
    scheduler = stage.scheduler()

    for _ in range(5):
        await scheduler.step()
        await stage.advance(seconds=1)

    ran = {row[0] for row in await conn.fetch("select distinct job_id from rota.live_runs")}
    states = {row[0] for row in await conn.fetch("select distinct state::text from rota.jobs")}
    assert (ran, states) == (fire, {"active"})
    assert {event.job_id for event in scheduler.told(JobSetAside)} == wait
    assert scheduler.told(JobQuarantined) == []


@pytest.mark.parametrize("parts", VALUES, ids=str)
async def test_a_value_that_is_not_known_keeps_the_job_until_newer_code_comes(
    stage: Stage, parts: dict[str, Any]
) -> None:
    job, old = await a_job(stage, misfire={"on_outage": "all"}), stage.scheduler("old")
    good = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    before = await rewrite(stage, job, parts)

    for _ in range(4):
        await old.step()
        await stage.advance(seconds=1)

    assert await stage.runs_of(job) == []
    assert await stage.state_of(job) == "active"
    assert len(await stage.runs_of(good)) == 3
    assert [event.job_id for event in old.told(JobSetAside)] == [job]
    assert old.told(JobQuarantined) == []

    # The process is replaced by one that knows what is written there.
    await stage.world.conn.execute(OF_THE_JOB, job, before)
    await stage.world.conn.execute("update rota.shards set owner = null, expires_at = rota.now()")
    new = stage.scheduler("new")
    for _ in range(2):
        await new.step()
        await stage.advance(seconds=1)

    # No tick is lost, and none is doubled.
    assert [at for at, _ in await stage.runs_of(job)] == ["12:00:02", "12:00:04"]
    assert new.told(JobSetAside) == []


async def test_an_overlap_that_is_not_known_keeps_the_job(stage: Stage) -> None:
    await stage.world.conn.execute("alter type rota.overlap add value 'queue_two'")
    job, good = await a_job(stage), await a_job(stage)
    await stage.world.conn.execute(
        "update rota.cursors set overlap = 'queue_two' where job_id = $1", job
    )
    scheduler = stage.scheduler()

    for _ in range(3):
        await scheduler.step()
        await stage.advance(seconds=1)

    assert (await stage.runs_of(job), len(await stage.runs_of(good))) == ([], 1)
    assert await stage.state_of(job) == "active"
    assert [event.job_id for event in scheduler.told(JobSetAside)] == [job]


@pytest.mark.parametrize("late", [False, True])
async def test_a_calendar_that_only_newer_code_can_read_keeps_its_jobs(
    stage: Stage, *, late: bool
) -> None:
    conn = stage.world.conn
    await calendars.create_calendar(conn, tenant_id=1, plain={"name": "c", "dates": ["2027-01-01"]})
    job = await a_job(stage)
    good = await stage.job({"cron": "* * * * * *"}, overlap="allow")
    await rewrite(stage, job, {"calendars": ["1/c"]})
    await conn.execute("""update rota.calendars set body = '{"name": "c", "monthly": ["1st"]}'""")
    scheduler = stage.scheduler()
    if late:
        await stage.advance(minutes=10)

    for _ in range(3):
        await scheduler.step()
        await stage.advance(seconds=1)

    assert await stage.runs_of(job) == []
    assert await stage.state_of(job) == "active"
    assert await stage.runs_of(good) != []
    assert [event.job_id for event in scheduler.told(JobSetAside)] == [job]

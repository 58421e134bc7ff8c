"""A new tzdata moves the ticks to come, once for the whole cluster (S9, O4)."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.integration.engine.scheduling.conftest import OneConnection, Scheduler, Stage
from tests.support.wheels import installed_wheel, make_wheel
from tests.support.world import World

from rota.core.log_events import EngineEvent, ZoneRulesChanged, ZoneRulesOlder
from rota.core.time import zones
from rota.core.time.policies import CatchUp
from rota.engine.submission.job_changes import pause_job, resume_job
from rota.engine.submission.zone_rules import CHECK_INTERVAL_S, ZoneRulesUpdater
from rota.store import calendars, tzdata

NINE = {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}
# Berlin is two hours ahead of UTC in July. Etc/GMT-4 is four hours ahead of it.
LATER, EARLIER = "Etc/GMT", "Etc/GMT-4"
NEWER, NEWEST = "9999a", "9999b"

Install = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Install another wheel: zones with the rules of others."""

    def installed(
        rules: str | dict[str, str], version: str = NEWER
    ) -> AbstractContextManager[None]:
        given = {"Europe/Berlin": rules} if isinstance(rules, str) else rules
        folder = tmp_path / version
        if not folder.exists():
            make_wheel(folder, version=version, rules=given)
        return installed_wheel(folder)

    return installed


@pytest.fixture(autouse=True)
def _same_zones_afterwards() -> Iterator[None]:
    version = zones.tzdata_version()
    yield
    assert zones.tzdata_version() == version


async def apply_rules(stage: Stage) -> list[EngineEvent]:
    """What a scheduler does when it starts, until it has nothing more to do."""
    events: list[EngineEvent] = []
    updater = ZoneRulesUpdater(source=OneConnection(stage.world.conn), emit=events.append)
    while await updater.tick() != CHECK_INTERVAL_S:
        pass
    return events


async def at(stage: Stage, text: str) -> None:
    """Move to a time of July 2026: day, hour and minute."""
    wanted = datetime.strptime(f"2026-07-{text}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    await stage.advance(seconds=(wanted - stage.world.now).total_seconds())


async def step_at(stage: Stage, scheduler: Scheduler, text: str) -> None:
    await at(stage, text)
    await scheduler.step()


async def ticks(stage: Stage, job_id: UUID) -> list[str]:
    rows = await stage.world.conn.fetch(
        "select scheduled_at from rota.live_runs where job_id = $1 order by 1", job_id
    )
    return [f"{row[0]:%d %H:%M}" for row in rows]


async def cursor(stage: Stage, job_id: UUID) -> Any:
    return await stage.world.conn.fetchrow(
        "select c.tick_at, c.fire_at, c.version, j.version as job_version from rota.cursors as c"
        " join rota.jobs as j on j.id = c.job_id where c.job_id = $1",
        job_id,
    )


async def days(stage: Stage, job_id: UUID, scheduler: Scheduler, *times: str) -> list[str]:
    for time in times:
        await step_at(stage, scheduler, time)
    return await ticks(stage, job_id)


async def test_a_zone_that_moves_back_runs_once_at_the_new_time(
    stage: Stage, install: Install
) -> None:
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    await at(stage, "02 06:00")

    with install(LATER):
        (event,) = await apply_rules(stage)
        scheduler = stage.scheduler()
        ran = await days(stage, job_id, scheduler, "02 07:00", "02 08:59", "02 09:00", "03 09:00")

    assert ran == ["02 09:00", "03 09:00"]
    assert event == ZoneRulesChanged(
        before=zones.tzdata_version(), after=NEWER, zones=("Europe/Berlin",), jobs=1, moved=1
    )


async def test_a_zone_that_moves_forward_runs_once_at_the_new_time(
    stage: Stage, install: Install
) -> None:
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    await at(stage, "02 04:00")

    with install(EARLIER):
        await apply_rules(stage)
        scheduler = stage.scheduler()
        ran = await days(stage, job_id, scheduler, "02 04:59", "02 05:00", "02 07:00", "03 05:00")

    assert ran == ["02 05:00", "03 05:00"]


async def test_a_time_that_lies_behind_under_the_new_rules_runs_at_once(
    stage: Stage, install: Install
) -> None:
    """At 06:00Z the new nine o'clock has passed and the old one has not; nobody was late."""
    job_id = await stage.job(NINE | {"misfire": {"on_outage": "skip"}}, overlap="allow")
    await apply_rules(stage)
    await at(stage, "02 06:00")

    with install(EARLIER):
        await apply_rules(stage)
        scheduler = stage.scheduler()
        await scheduler.step()
        at_once = await ticks(stage, job_id)
        ran = await days(stage, job_id, scheduler, "02 07:00", "03 05:00")

    assert at_once == ["02 05:00"]
    assert ran == ["02 05:00", "03 05:00"]


async def test_a_local_time_that_was_decided_is_not_run_again(
    stage: Stage, install: Install
) -> None:
    """It has run at 07:00Z; the new nine o'clock of that day, 09:00Z, is yet to come."""
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    before = stage.scheduler()
    await step_at(stage, before, "02 07:00")
    await at(stage, "02 07:30")

    with install(LATER):
        await apply_rules(stage)
        scheduler = stage.scheduler("two")
        ran = await days(stage, job_id, scheduler, "02 09:00", "03 07:00", "03 09:00")

    assert ran == ["02 07:00", "03 09:00"]


async def test_a_tick_that_became_due_while_the_cluster_was_upgraded_runs_once(
    stage: Stage, install: Install
) -> None:
    """Nobody decided 07:00Z, and under the new rules it is not nine o'clock yet."""
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    await at(stage, "02 07:05")

    with install(LATER):
        await apply_rules(stage)
        scheduler = stage.scheduler()
        await scheduler.step()
        early = await ticks(stage, job_id)
        ran = await days(stage, job_id, scheduler, "02 09:00", "03 09:00")

    assert early == []
    assert ran == ["02 09:00", "03 09:00"]


async def test_an_outage_stays_an_outage_under_the_new_rules(
    stage: Stage, install: Install
) -> None:
    """Two days without a scheduler: `skip` records both, each under its new time."""
    job_id = await stage.job(NINE | {"misfire": {"on_outage": "skip"}}, overlap="allow")
    await apply_rules(stage)
    await at(stage, "03 12:00")

    with install(LATER):
        await apply_rules(stage)
        scheduler = stage.scheduler()
        ran = await days(stage, job_id, scheduler, "03 12:01", "04 09:00")

    assert ran == ["04 09:00"]
    (reason,) = await stage.reasons_of(job_id)
    assert (reason["code"], reason["count"]) == ("outage", 2)
    assert (reason["first"], reason["last"]) == ("2026-07-02T09:00:00Z", "2026-07-03T09:00:00Z")


async def test_several_times_a_day_go_on_after_the_last_local_time(
    stage: Stage, install: Install
) -> None:
    """08:00 ran at 06:00Z. At 08:00Z it would be eight again; nine o'clock is next."""
    job_id = await stage.job(NINE | {"cron": "0 8,9 * * *"}, overlap="allow")
    await apply_rules(stage)
    await step_at(stage, stage.scheduler(), "02 06:00")

    with install("Etc/GMT-1"):
        await apply_rules(stage)
        ran = await days(stage, job_id, stage.scheduler("two"), "02 07:00", "02 08:00", "03 07:00")

    assert ran == ["02 06:00", "02 08:00", "03 07:00"]


async def test_elapsed_time_goes_on_by_instants(stage: Stage, install: Install) -> None:
    job_id = await stage.job({"cron": "0 * * * *", "timezone": "Europe/Berlin"}, overlap="allow")
    await apply_rules(stage)
    await step_at(stage, stage.scheduler(), "01 13:00")

    with install("Asia/Kolkata"):
        await apply_rules(stage)
        scheduler = stage.scheduler("two")
        ran = await days(stage, job_id, scheduler, "01 13:30", "01 14:00", "01 14:30")

    assert ran == ["01 13:00", "01 13:30", "01 14:30"]


@pytest.mark.parametrize(
    "schedule",
    [
        {"cron": "0 9 * * *"},
        {"cron": "0 9 * * *", "timezone": "Asia/Tokyo"},
        {"every": "1h"},
        {"cron": "0 9 * * *", "timezone": "Europe/Berlin", "window": {"max_runs": 1}},
    ],
)
async def test_what_has_not_changed_is_not_touched(
    stage: Stage, install: Install, schedule: dict[str, Any]
) -> None:
    """The last one is in the zone that changed, but only for a time that it has not."""
    job_id = await stage.job(schedule)
    await apply_rules(stage)
    before = await cursor(stage, job_id)

    with install("Europe/Paris"):
        (event,) = await apply_rules(stage)

    assert await cursor(stage, job_id) == before
    assert isinstance(event, ZoneRulesChanged)
    assert event.moved == 0


async def test_versions_rise_so_that_what_schedulers_computed_is_void(
    stage: Stage, install: Install
) -> None:
    """A scheduler that has the old tick in memory fires nothing, and finds the new one."""
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    scheduler = stage.scheduler()
    await step_at(stage, scheduler, "02 06:59")
    await scheduler.reading.tick()

    with install(LATER):
        await apply_rules(stage)
    row = await cursor(stage, job_id)
    await step_at(stage, scheduler, "02 07:00")
    early = await ticks(stage, job_id)
    await step_at(stage, scheduler, "02 09:00")

    assert (row["version"], row["job_version"]) == (2, 2)
    assert early == []
    assert await ticks(stage, job_id) == ["02 09:00"]


async def test_a_paused_job_stays_paused_and_is_resumed_by_the_new_rules(
    stage: Stage, install: Install
) -> None:
    job_id = await stage.job(NINE)
    await apply_rules(stage)
    await pause_job(stage.world.conn, job_id, by="ana", now=stage.world.now)
    await at(stage, "02 06:00")

    with install(EARLIER):
        await apply_rules(stage)
        held = await cursor(stage, job_id)
        resumed = await resume_job(
            stage.world.conn, job_id, now=stage.world.now, missed=CatchUp.ALL
        )

    assert (held["fire_at"], f"{held['tick_at']:%d %H:%M}") == (None, "02 05:00")
    assert await ticks(stage, job_id) == ["02 05:00"]
    assert f"{resumed.next_tick:%d %H:%M}" == "03 05:00"


async def test_a_calendar_in_the_zone_moves_the_jobs_that_go_by_it(
    stage: Stage, install: Install
) -> None:
    """The night in Berlin ends at 08:00 there: 06:00Z, and 08:00Z under the new rules."""
    night = {
        "name": "night",
        "timezone": "Europe/Berlin",
        "weekly": [{"start": f"{day} 00:00", "end": f"{day} 08:00"} for day in ("wed", "thu")],
    }
    await calendars.create_calendar(stage.world.conn, tenant_id=1, plain=night)
    job_id = await stage.job({"cron": "0 7 * * *"})
    await stage.world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{calendars}', '[\"night\"]')"
    )
    await stage.world.conn.execute(
        "update rota.schedules set body = jsonb_set(body, '{calendars}', '[\"1/night\"]')"
    )
    await apply_rules(stage)

    with install(LATER):
        await apply_rules(stage)

    assert f"{(await cursor(stage, job_id))['tick_at']:%d %H:%M}" == "03 07:00"


async def test_an_older_process_changes_nothing_and_says_so_once(
    stage: Stage, install: Install
) -> None:
    job_id = await stage.job(NINE)
    await apply_rules(stage)
    with install(LATER):
        await apply_rules(stage)
    moved = await cursor(stage, job_id)

    events: list[EngineEvent] = []
    older = ZoneRulesUpdater(source=OneConnection(stage.world.conn), emit=events.append)
    rests = [await older.tick() for _ in range(3)]

    assert events == [ZoneRulesOlder(ours=zones.tzdata_version(), cluster=NEWER)]
    assert rests == [CHECK_INTERVAL_S] * 3
    assert await cursor(stage, job_id) == moved
    state = await tzdata.read_state(stage.world.conn)
    assert state is not None
    assert (state.version, state.older_seen_at) == (NEWER, stage.world.now)


async def test_what_an_older_process_has_computed_is_corrected_once_it_is_gone(
    stage: Stage, install: Install
) -> None:
    """It fired 09:00Z, the new nine o'clock, and took 07:00Z of the next day for the next one."""
    job_id = await stage.job(NINE, overlap="allow")
    await apply_rules(stage)
    with install(LATER):
        await apply_rules(stage)
    older = stage.scheduler("older")
    await apply_rules(stage)
    await step_at(stage, older, "02 09:00")
    wrong = await cursor(stage, job_id)
    await stage.advance(seconds=100)

    with install(LATER):
        (event,) = await apply_rules(stage)
        again = await apply_rules(stage)
        scheduler = stage.scheduler("two")
        ran = await days(stage, job_id, scheduler, "03 07:00", "03 09:00")

    assert f"{wrong['tick_at']:%d %H:%M}" == "03 07:00"
    assert (event, again) == (
        ZoneRulesChanged(before=NEWER, after=NEWER, zones=("Europe/Berlin",), jobs=1, moved=1),
        [],
    )
    assert ran == ["02 09:00", "03 09:00"]


async def many_jobs(world: World, stage: Stage, count: int) -> None:
    first = await stage.job(NINE)
    row = await cursor(stage, first)
    schedule = await world.conn.fetchval("select schedule from rota.jobs where id = $1", first)
    schedule_id = await world.conn.fetchval(
        "select schedule_id from rota.cursors where job_id = $1", first
    )
    for _ in range(count - 1):
        await world.job(
            schedule=schedule,
            schedule_id=schedule_id,
            tick_at=row["tick_at"],
            fire_at=row["fire_at"],
        )


async def test_a_process_that_stops_halfway_is_followed_by_another(
    stage: Stage, world: World, install: Install
) -> None:
    """More cursors than one transaction looks at."""
    await many_jobs(world, stage, 600)
    await apply_rules(stage)
    events: list[EngineEvent] = []

    with install(LATER):
        stops = ZoneRulesUpdater(source=OneConnection(world.conn), emit=events.append)
        await stops.tick()
        await stops.tick()
        halfway = await tzdata.read_state(world.conn)
        (event,) = await apply_rules(stage)

    assert halfway is not None
    assert 0 < halfway.moved < 600
    assert isinstance(event, ZoneRulesChanged)
    assert (events, event.jobs, event.moved) == ([], 600, 600)
    assert await world.conn.fetchval("select count(distinct tick_at) from rota.cursors") == 1


async def test_of_two_processes_that_start_at_once_each_cursor_is_moved_by_one(
    stage: Stage, world: World, database: str, install: Install
) -> None:
    await many_jobs(world, stage, 600)
    await apply_rules(stage)
    other = await asyncpg.connect(database)
    await World(other).begin()
    events: list[EngineEvent] = []

    async def work(conn: Any) -> None:
        updater = ZoneRulesUpdater(source=OneConnection(conn), emit=events.append)
        while await updater.tick() != CHECK_INTERVAL_S:
            pass

    with install(LATER):
        await asyncio.gather(work(world.conn), work(other))
    await other.close()

    versions = await world.conn.fetch("select distinct version from rota.jobs")
    assert [row[0] for row in versions] == [2]
    assert [(type(event), getattr(event, "moved", 0)) for event in events] == [
        (ZoneRulesChanged, 600)
    ]


async def test_an_upgrade_that_comes_while_another_is_applied_wins(
    stage: Stage, world: World, install: Install
) -> None:
    await many_jobs(world, stage, 600)
    await apply_rules(stage)
    with install(LATER):
        half = ZoneRulesUpdater(source=OneConnection(world.conn), emit=lambda _: None)
        await half.tick()

    with install(LATER, NEWEST):
        await apply_rules(stage)
    with install(LATER):
        assert await half.tick() == CHECK_INTERVAL_S

    state = await tzdata.read_state(world.conn)
    assert state is not None
    assert (state.version, state.target) == (NEWEST, None)
    assert await world.conn.fetchval("select count(distinct tick_at) from rota.cursors") == 1


async def test_a_zone_that_is_gone_from_the_wheel_moves_nothing(
    stage: Stage, install: Install, tmp_path: Path
) -> None:
    """Its jobs are quarantined when they are due; the others are moved."""
    gone = await stage.job(NINE | {"timezone": "Europe/Oslo"})
    moved = await stage.job(NINE)
    await apply_rules(stage)

    with install(LATER):
        names = tmp_path / NEWER / "tzdata" / "zones"
        names.write_text(names.read_text("utf-8").replace("Europe/Oslo\n", ""), "utf-8")
        zones.zone_names.cache_clear()
        (event,) = await apply_rules(stage)

    assert isinstance(event, ZoneRulesChanged)
    assert event.moved == 1
    assert (await cursor(stage, gone))["version"] == 1
    assert (await cursor(stage, moved))["version"] == 2


async def test_the_first_scheduler_notes_the_rules_and_moves_nothing(stage: Stage) -> None:
    job_id = await stage.job(NINE)
    before = await cursor(stage, job_id)

    events = await apply_rules(stage)

    state = await tzdata.read_state(stage.world.conn)
    assert state is not None
    assert (state.version, events) == (zones.tzdata_version(), [])
    assert await cursor(stage, job_id) == before
    rows = await tzdata.read_rules(stage.world.conn)
    assert {row.zone for row in rows} == zones.zone_names()

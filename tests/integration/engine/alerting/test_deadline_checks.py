"""Clock conditions: started, finished and succeeded in time, checked when it is time."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.watching import Incident, WatchDesk
from tests.support.world import NOON, World

MINUTE = timedelta(minutes=1)
HOURLY = {"cron": "0 * * * *"}
NIGHTLY = {"cron": "30 2 * * *"}


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    return await WatchDesk(world, has_defaults=False).begin()


async def test_a_run_that_starts_in_time_leaves_no_incident(desk: WatchDesk) -> None:
    await desk.add_job("report", HOURLY, expect={"start_within": "PT5M"})
    await desk.sync()

    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.run_tick(wait=timedelta(minutes=4))
    await desk.world.advance(minutes=5)
    await desk.check()

    assert await desk.incidents() == []
    assert await desk.watches() == [("start_within", "ok")]


async def test_a_run_that_does_not_start_in_time_is_an_incident_until_it_starts(
    desk: WatchDesk,
) -> None:
    await desk.add_job("report", HOURLY, expect={"start_within": "PT5M"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    (run_id,) = await desk.fire()
    await desk.world.advance(minutes=4)
    await desk.check()
    assert await desk.incidents() == []

    await desk.world.advance(minutes=2)
    await desk.check()
    assert await desk.incidents() == [Incident("start_within", "report", "open", 1)]
    assert await desk.titles() == [
        "report: the run of 2026-07-01 13:00 UTC did not start within 5 minutes"
    ]

    await desk.world.advance(minutes=1)
    await desk.check()
    assert await desk.incidents() == [Incident("start_within", "report", "open", 1)]

    await desk.start_run(run_id)
    await desk.world.advance(minutes=1)
    await desk.check()
    assert await desk.open_conditions() == []
    assert await desk.watches() == [("start_within", "ok")]


async def test_a_run_that_succeeds_by_its_deadline_leaves_no_incident(desk: WatchDesk) -> None:
    await desk.add_job("report", NIGHTLY, expect={"finish_by": "06:00"})
    await desk.sync()

    await desk.world.move_to(datetime(2026, 7, 2, 2, 30, tzinfo=UTC))
    await desk.run_tick(length=timedelta(hours=3))
    await desk.world.move_to(datetime(2026, 7, 2, 6, 1, tzinfo=UTC))
    await desk.check()

    assert await desk.incidents() == []


async def test_a_run_that_is_late_is_an_incident_until_it_succeeds(desk: WatchDesk) -> None:
    await desk.add_job("report", NIGHTLY, expect={"finish_by": "06:00"})
    await desk.sync()
    await desk.world.move_to(datetime(2026, 7, 2, 2, 30, tzinfo=UTC))
    (run_id,) = await desk.fire()
    await desk.start_run(run_id)

    await desk.world.move_to(datetime(2026, 7, 2, 6, 0, 1, tzinfo=UTC))
    await desk.check()
    assert await desk.incidents() == [Incident("finish_by", "report", "open", 1)]
    assert await desk.titles() == [
        "report: the run of 2026-07-02 02:30 UTC did not succeed by 2026-07-02 06:00 UTC"
    ]

    await desk.world.advance(minutes=10)
    await desk.end_run(run_id)
    await desk.check()
    await desk.check()
    assert await desk.open_conditions() == []


async def test_a_run_that_failed_and_is_late_is_one_incident(desk: WatchDesk) -> None:
    await desk.add_job("report", NIGHTLY, expect={"finish_by": "06:00", "failures": {"streak": 1}})
    await desk.sync()
    await desk.world.move_to(datetime(2026, 7, 2, 2, 30, tzinfo=UTC))
    await desk.run_tick("dead")
    await desk.check()
    assert await desk.incidents() == [Incident("failure_streak", "report", "open", 1)]

    await desk.world.move_to(datetime(2026, 7, 2, 6, 0, 1, tzinfo=UTC))
    await desk.check()

    assert await desk.incidents() == [Incident("finish_by", "report", "open", 1)]
    assert await desk.watches() == [("failure_streak", "firing"), ("finish_by", "firing")]


async def test_a_job_that_does_not_succeed_often_enough_is_an_incident_until_it_does(
    desk: WatchDesk,
) -> None:
    await desk.add_job("report", HOURLY, expect={"succeed_every": "PT2H"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.run_tick()
    await desk.check()
    await desk.pass_time(NOON + timedelta(hours=2, minutes=59), step=30 * MINUTE, state="dead")
    assert await desk.incidents() == []

    await desk.pass_time(NOON + timedelta(hours=4), step=10 * MINUTE, state="dead")
    assert await desk.incidents() == [Incident("succeed_every", "report", "open", 1)]

    await desk.world.move_to(NOON + timedelta(hours=5))
    await desk.run_tick()
    await desk.check()
    await desk.check()
    assert await desk.open_conditions() == []


async def test_backfills_replays_and_manual_runs_do_not_count(desk: WatchDesk) -> None:
    job_id = await desk.add_job(
        "report", HOURLY, expect={"succeed_every": "PT2H", "failures": {"streak": 1}}
    )
    await desk.sync()
    for hour in range(1, 4):
        await desk.world.move_to(NOON + timedelta(hours=hour))
        await desk.fire()
        for trigger, state in (("backfill", "succeeded"), ("replay", "dead"), ("manual", "dead")):
            run_id = await desk.world.run(job_id=job_id, trigger=trigger)
            await desk.start_run(run_id)
            await desk.world.advance(seconds=1)
            await desk.end_run(run_id, state)
        await desk.check()

    assert await desk.open_conditions() == ["succeed_every"]


@pytest.mark.parametrize("state", ["skipped", "missed"])
async def test_a_skipped_tick_says_nothing_and_a_missed_one_is_late(
    desk: WatchDesk, state: str
) -> None:
    job_id = await desk.add_job("report", HOURLY, expect={"start_within": "PT5M"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1, minutes=2))
    await (desk.skip(job_id) if state == "skipped" else desk.miss(job_id))
    await desk.world.advance(minutes=5)
    await desk.check()

    assert await desk.open_conditions() == ([] if state == "skipped" else ["start_within"])


async def test_lateness_is_unknown_while_ticks_are_not_fired(desk: WatchDesk) -> None:
    for number in range(20):
        await desk.add_job(f"job {number}", HOURLY, expect={"start_within": "PT1M"})
    desk.book.has_defaults = True
    await desk.sync()

    await desk.world.move_to(NOON + timedelta(hours=1, minutes=2))
    await desk.check()
    await desk.check_states()
    assert {state for _, state in await desk.watches()} >= {"unknown"}
    await desk.world.advance(minutes=1)
    await desk.check()
    await desk.check_states()
    assert await desk.open_conditions() == ["lag", "shard_without_owner"]

    # Fired late and started at once: only the installation was late.
    await desk.run_tick(length=timedelta(seconds=1))
    await desk.world.advance(minutes=2)
    await desk.check()
    assert [each.condition for each in await desk.incidents()] == ["lag", "shard_without_owner"]


async def test_a_paused_job_rests_and_is_watched_again_from_when_it_resumes(
    desk: WatchDesk,
) -> None:
    job_id = await desk.add_job(
        "report", HOURLY, expect={"succeed_every": "PT2H", "start_within": "PT5M"}
    )
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.fire()
    await desk.world.move_to(NOON + timedelta(hours=1, minutes=6))
    await desk.check()
    assert await desk.open_conditions() == ["start_within"]

    await desk.edit(job_id, state="paused", held={"by": "ann", "at": NOON.isoformat()})
    await desk.world.conn.execute("update rota.cursors set fire_at = null")
    await desk.world.advance(hours=5)
    await desk.check()
    await desk.keeper.tick()
    assert await desk.open_conditions() == []
    assert await desk.watches() == [("start_within", "ok"), ("succeed_every", "ok")]

    await desk.edit(job_id, state="active", schedule='{"cron": "0 * * * *"}')
    await desk.check()
    await desk.world.advance(minutes=30)
    await desk.check()
    assert await desk.open_conditions() == []
    await desk.world.move_to(NOON + timedelta(hours=9))
    for run_id in await desk.fire():
        await desk.start_run(run_id)
    await desk.check()
    assert await desk.open_conditions() == ["succeed_every"]


async def test_a_deleted_job_is_no_longer_watched(desk: WatchDesk) -> None:
    job_id = await desk.add_job("report", HOURLY, expect={"start_within": "PT5M"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.fire()
    await desk.world.move_to(NOON + timedelta(hours=1, minutes=6))
    await desk.check()
    assert await desk.open_conditions() == ["start_within"]

    await desk.edit(job_id, state="deleted")
    await desk.world.advance(seconds=5)
    await desk.check()

    assert await desk.watches() == []
    assert await desk.open_conditions() == []


async def test_an_edited_schedule_moves_the_next_check_and_keeps_the_tick_that_was_due(
    desk: WatchDesk,
) -> None:
    job_id = await desk.add_job("report", HOURLY, expect={"finish_by": "+2h"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.fire()
    await desk.edit(job_id, schedule='{"cron": "30 20 * * *"}')
    await desk.check()

    await desk.world.move_to(NOON + timedelta(hours=3, seconds=1))
    await desk.check()
    assert await desk.open_conditions() == ["finish_by"]
    row = await desk.world.conn.fetchrow("select tick_at from rota.watches")
    assert row is not None
    assert row[0] == datetime(2026, 7, 1, 20, 30, tzinfo=UTC)


async def test_a_rule_watches_all_jobs_that_it_matches_until_it_is_deleted(
    desk: WatchDesk,
) -> None:
    await desk.add_job("shop one", HOURLY, labels='{"team": "shop"}')
    await desk.add_job("shop two", HOURLY, labels='{"team": "shop"}')
    await desk.add_job("other", HOURLY)
    await desk.add_job("on demand", labels='{"team": "shop"}')
    rule_id = await desk.add_rule(
        "late", {"start_within": "PT5M"}, {"labels": {"team": "shop"}}, severity="page"
    )
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.fire()
    await desk.world.advance(minutes=6)
    await desk.check()
    assert [each.subject for each in await desk.incidents()] == ["shop one", "shop two"]

    await desk.world.conn.execute("delete from rota.expectations where id = $1", rule_id)
    await desk.world.advance(seconds=5)
    await desk.check()
    assert await desk.watches() == []
    assert await desk.open_conditions() == []


async def test_a_restart_forgets_nothing(desk: WatchDesk) -> None:
    await desk.add_job("report", HOURLY, expect={"start_within": "PT5M"})
    await desk.sync()
    await desk.world.move_to(NOON + timedelta(hours=1))
    await desk.fire()

    desk.start()
    await desk.world.advance(minutes=6)
    await desk.check()
    desk.start()
    await desk.world.advance(minutes=1)
    await desk.check()

    assert await desk.incidents() == [Incident("start_within", "report", "open", 1)]


async def test_every_tick_of_a_frequent_job_is_checked_once(desk: WatchDesk) -> None:
    await desk.add_job("report", {"cron": "* * * * *"}, expect={"start_within": "PT10S"})
    await desk.sync()
    for minute in range(1, 91):
        await desk.world.move_to(NOON + timedelta(minutes=minute))
        is_late = minute in (30, 90)
        await desk.run_tick(wait=timedelta(seconds=20 if is_late else 1))
    await desk.check()

    assert [each.state for each in await desk.incidents()] == ["resolved", "open"]


@pytest.mark.parametrize(
    ("day", "deadline"),
    [
        # The clock jumps from 02:00 to 03:00: 02:30 is 03:30 summer time.
        (datetime(2027, 3, 27, 23, 0, tzinfo=UTC), datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),
        # 02:30 occurs twice: the first counts.
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
    ],
)
async def test_a_deadline_on_the_day_of_a_clock_change(
    world: World, day: datetime, deadline: datetime
) -> None:
    await world.move_to(day - timedelta(hours=1))
    desk = await WatchDesk(world, has_defaults=False).begin()
    await desk.add_job(
        "report",
        {"cron": "0 0 * * *", "timezone": "Europe/Berlin"},
        expect={"finish_by": "02:30"},
    )
    await desk.check()
    await desk.world.move_to(day)
    for run_id in await desk.fire():
        await desk.start_run(run_id)
    await desk.world.move_to(deadline - timedelta(seconds=1))
    await desk.check()
    assert await desk.incidents() == []

    await desk.world.move_to(deadline + timedelta(seconds=1))
    await desk.check()
    assert await desk.open_conditions() == ["finish_by"]

"""Ticks nobody decided in time: they run by policy, and all are on record (S11, F03, F04, F07)."""

from typing import Any

import pytest
from tests.integration.engine.scheduling.conftest import Scheduler, Stage

from rota.core.ids import derive_tick_run_id
from rota.core.log_events import TicksCaughtUp, TicksRejected

HOUR = "0 * * * *"


async def after_outage(stage: Stage, **outage: float) -> Scheduler:
    """Nobody schedules for a while; then one does, until it has caught up."""
    scheduler = stage.scheduler()
    await scheduler.step()
    await stage.advance(**outage)
    await scheduler.step()
    return scheduler


def counted(reasons: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(reason["code"], reason["count"]) for reason in reasons]


async def test_by_default_the_latest_missed_tick_runs_and_stands_for_the_others(
    stage: Stage,
) -> None:
    job = await stage.job({"cron": HOUR})

    scheduler = await after_outage(stage, hours=5, minutes=30)

    assert await stage.runs_of(job) == [("16:00:00", "coalesced"), ("17:00:00", "queued")]
    (reason,) = await stage.reasons_of(job)
    assert reason == {
        "code": "caught_up",
        "count": 4,
        "first": "2026-07-01T13:00:00Z",
        "last": "2026-07-01T16:00:00Z",
        "at_least": False,
        "into": str(derive_tick_run_id(job, stage.world.now.replace(minute=0))),
    }
    assert [(e.ran, e.recorded) for e in scheduler.told(TicksCaughtUp)] == [(1, 4)]
    assert scheduler.told(TicksRejected) == []


async def test_all_of_them_run_in_order_if_the_policy_says_so(stage: Stage) -> None:
    job = await stage.job({"cron": HOUR, "misfire": {"on_outage": "all"}}, overlap="allow")

    await after_outage(stage, hours=5, minutes=30)

    assert await stage.runs_of(job) == [(f"{hour}:00:00", "queued") for hour in range(13, 18)]
    assert await stage.reasons_of(job) == []


async def test_beyond_the_most_that_is_caught_up_the_oldest_are_one_record(stage: Stage) -> None:
    misfire = {"on_outage": "all", "max_catchup": 3}
    job = await stage.job({"cron": HOUR, "misfire": misfire}, overlap="allow")

    await after_outage(stage, hours=10, minutes=30)

    states = [state for _, state in await stage.runs_of(job)]
    assert states == ["coalesced", "queued", "queued", "queued"]
    assert counted(await stage.reasons_of(job)) == [("caught_up", 7)]


async def test_none_of_them_runs_if_the_policy_is_to_skip(stage: Stage) -> None:
    job = await stage.job({"cron": HOUR, "misfire": {"on_outage": "skip"}})

    scheduler = await after_outage(stage, hours=5, minutes=30)
    await stage.advance(minutes=30)
    await scheduler.step()

    assert await stage.runs_of(job) == [("17:00:00", "missed"), ("18:00:00", "queued")]
    assert counted(await stage.reasons_of(job)) == [("outage", 5)]


async def test_past_the_start_deadline_a_tick_is_missed_and_the_next_one_runs(
    stage: Stage,
) -> None:
    job = await stage.job({"cron": "* * * * *", "misfire": {"start_deadline": "30s"}})

    scheduler = await after_outage(stage, minutes=1, seconds=45)
    await stage.advance(seconds=15)
    await scheduler.step()

    assert await stage.runs_of(job) == [("12:01:00", "missed"), ("12:02:00", "queued")]
    assert counted(await stage.reasons_of(job)) == [("start_deadline", 1)]


@pytest.mark.parametrize(("beyond", "state"), [({}, "queued"), ({"milliseconds": 1}, "missed")])
@pytest.mark.parametrize("policy", ["once", "all"])
async def test_only_a_tick_that_is_more_than_the_start_deadline_late_is_missed(
    stage: Stage, policy: str, beyond: dict[str, float], state: str
) -> None:
    misfire = {"start_deadline": "30m", "on_outage": policy}
    job = await stage.job({"cron": HOUR, "misfire": misfire})

    await after_outage(stage, minutes=90, **beyond)

    assert await stage.runs_of(job) == [("13:00:00", state)]


async def test_a_fixed_delay_that_is_exactly_its_start_deadline_late_runs(stage: Stage) -> None:
    misfire = {"start_deadline": "30m"}
    job = await stage.job({"fixed_delay": "1h", "misfire": misfire})

    await after_outage(stage, minutes=90)

    assert await stage.runs_of(job) == [("13:00:00", "queued")]


async def test_a_pace_spreads_the_runs_that_are_caught_up(stage: Stage) -> None:
    misfire = {"on_outage": "all", "pace": "1/min"}
    job = await stage.job({"cron": HOUR, "misfire": misfire}, overlap="allow")

    scheduler = await after_outage(stage, hours=3, minutes=30)
    counts = [len(await stage.runs_of(job))]
    for _ in range(3):
        await stage.advance(seconds=60)
        await scheduler.step()
        counts.append(len(await stage.runs_of(job)))

    assert counts == [1, 2, 3, 3]


async def test_a_short_break_is_no_outage_every_tick_runs(stage: Stage) -> None:
    job = await stage.job({"cron": "*/10 * * * * *"}, overlap="allow")

    await after_outage(stage, seconds=45)

    assert await stage.runs_of(job) == [
        (f"12:00:{second}", "queued") for second in (10, 20, 30, 40)
    ]


async def test_missed_ticks_count_against_the_cap_only_if_they_run(stage: Stage) -> None:
    schedule = {"cron": HOUR, "window": {"max_runs": 2}}
    job = await stage.job(schedule, overlap="allow")

    scheduler = await after_outage(stage, hours=5, minutes=30)
    await stage.advance(minutes=30)
    await scheduler.step()

    assert [state for _, state in await stage.runs_of(job)] == ["coalesced", "queued", "queued"]
    assert await stage.state_of(job) == "finished"


async def test_a_job_whose_window_ended_in_the_outage_is_finished(stage: Stage) -> None:
    window = {"end": "2026-07-01T15:00:00Z"}
    job = await stage.job({"cron": HOUR, "window": window, "misfire": {"on_outage": "skip"}})

    await after_outage(stage, hours=5)

    assert await stage.runs_of(job) == [("14:00:00", "missed")]
    assert await stage.state_of(job) == "finished"


async def test_overlap_holds_for_caught_up_ticks_too(stage: Stage) -> None:
    job = await stage.job({"cron": HOUR, "misfire": {"on_outage": "all"}}, overlap="skip")

    await after_outage(stage, hours=3, minutes=30)

    states = [state for _, state in await stage.runs_of(job)]
    assert states == ["queued", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("expression", "first", "last"),
    [
        ("* * * * * *", "2026-07-01T12:00:01Z", "2026-07-02T13:59:59Z"),
        ("* * * * *", "2026-07-01T12:01:00Z", "2026-07-02T13:59:00Z"),
    ],
)
async def test_after_a_day_without_schedulers_every_tick_is_accounted_for(
    stage: Stage, expression: str, first: str, last: str
) -> None:
    job = await stage.job({"cron": expression}, overlap="allow")

    scheduler = await after_outage(stage, hours=26)
    runs, (reason,) = await stage.runs_of(job), await stage.reasons_of(job)
    await stage.advance(seconds=1)
    await scheduler.step()

    # The latest runs, the others are one record from the first to the one before it.
    assert runs == [(last[11:19], "coalesced"), ("14:00:00", "queued")]
    assert (reason["first"], reason["last"], reason["at_least"]) == (first, last, True)
    every_second = expression == "* * * * * *"
    assert len(await stage.runs_of(job)) == (3 if every_second else 2)


async def test_a_daily_job_that_missed_its_hour_runs_once_when_there_is_a_scheduler(
    stage: Stage,
) -> None:
    job = await stage.job({"cron": "0 6 * * *"})

    await after_outage(stage, hours=26)

    assert await stage.runs_of(job) == [("06:00:00", "queued")]
    assert await stage.reasons_of(job) == []


async def test_a_crash_between_the_record_and_the_run_loses_and_doubles_nothing(
    stage: Stage,
) -> None:
    job = await stage.job({"cron": HOUR})
    first, second = stage.scheduler("first"), stage.scheduler("second")
    await first.step()
    await stage.advance(hours=5, minutes=30)
    await first.lease()
    await first.reading.tick()
    await first.firing.tick()  # finds that it is late
    await first.firing.tick()  # writes the record and moves the cursor
    recorded = await stage.runs_of(job)

    await stage.advance(seconds=7)
    await second.step()

    assert recorded == [("16:00:00", "coalesced")]
    assert await stage.runs_of(job) == [("16:00:00", "coalesced"), ("17:00:00", "queued")]

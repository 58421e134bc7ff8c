"""Conditions that ends of runs decide: streaks, rates, durations, dead letters, missed ticks."""

from datetime import timedelta

import pytest
from tests.support.watching import Incident, WatchDesk
from tests.support.world import NOON, World

HOUR = timedelta(hours=1)
HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    return await WatchDesk(world).begin()


async def run_hours(desk: WatchDesk, states: str) -> None:
    """One tick an hour; `.` succeeds, `x` fails, `m` is missed, `c` is cancelled by a person."""
    names = {".": "succeeded", "x": "dead", "c": "cancelled"}
    for state in states:
        hour = (desk.world.now - NOON) // HOUR + 1
        await desk.world.move_to(NOON + hour * HOUR)
        if state == "m":
            await desk.miss(await desk.world.conn.fetchval("select job_id from rota.cursors"))
        else:
            await desk.run_tick(names[state])
        await desk.check()


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("xx", []),
        ("xx.xx", []),
        ("xcx", []),
        ("xxx", [Incident("failure_streak", "report", "open", 1)]),
        ("xcxcx", [Incident("failure_streak", "report", "open", 1)]),
        ("xxxxx", [Incident("failure_streak", "report", "open", 3)]),
        ("xxx.", [Incident("failure_streak", "report", "resolved", 1)]),
        ("m", [Incident("missed_ticks", "report", "open", 1)]),
        ("m.", [Incident("missed_ticks", "report", "resolved", 1)]),
        ("mx", [Incident("missed_ticks", "report", "resolved", 1)]),
    ],
)
async def test_the_defaults_for_scheduled_jobs(
    desk: WatchDesk, states: str, expected: list[Incident]
) -> None:
    await desk.add_job("report", HOURLY)

    await run_hours(desk, states)

    assert await desk.incidents() == expected


async def test_healthy_runs_write_nothing(desk: WatchDesk) -> None:
    await desk.add_job("report", HOURLY)

    await run_hours(desk, "...")
    for _ in range(5):
        await desk.submit("succeeded")
    await desk.check()

    assert await desk.watches() == []
    assert await desk.world.count("alert_states") == 0


async def test_a_job_replaces_the_default_by_its_own_condition(desk: WatchDesk) -> None:
    await desk.add_job("report", HOURLY, expect={"failures": {"streak": 5}})

    await run_hours(desk, "xxxx")
    assert await desk.incidents() == []
    await run_hours(desk, "x")
    assert await desk.open_conditions() == ["failure_streak"]


async def test_the_same_event_twice_counts_once(desk: WatchDesk) -> None:
    await desk.add_job("report", HOURLY)
    await run_hours(desk, "xxx")
    assert await desk.incidents() == [Incident("failure_streak", "report", "open", 1)]

    # A relay that starts over reads the last minutes again.
    await desk.world.conn.execute("delete from rota.relays")
    desk.start()
    await desk.world.conn.execute("update rota.named_leases set expires_at = '-infinity'")
    await desk.check()

    assert await desk.incidents() == [Incident("failure_streak", "report", "open", 1)]


async def test_an_incident_ends_after_as_many_successes_as_the_policy_says(
    desk: WatchDesk,
) -> None:
    await desk.add_job("report", HOURLY, expect={"failures": {"streak": 1}}, alert={"clear": 2})

    await run_hours(desk, "x.")
    assert await desk.open_conditions() == ["failure_streak"]
    await run_hours(desk, ".")
    assert await desk.open_conditions() == []


async def test_a_rate_counts_all_runs_of_its_window(desk: WatchDesk) -> None:
    await desk.add_job(
        "report", HOURLY, expect={"failures": {"rate": "40%", "over": "PT10H", "at_least": 5}}
    )
    desk.book.has_defaults = False

    await run_hours(desk, "x..x")
    assert await desk.incidents() == []
    await run_hours(desk, "x")
    assert await desk.open_conditions() == ["failure_rate"]
    assert await desk.titles() == ["report: 3 of 5 runs failed within 10 hours"]
    await run_hours(desk, ".....")
    assert await desk.open_conditions() == []


async def test_a_new_group_of_dead_letters_of_a_task_is_an_incident_until_it_is_quiet(
    desk: WatchDesk,
) -> None:
    await desk.submit("dead")
    await desk.check()
    assert await desk.incidents() == [Incident("dead_letters", "noop", "open", 1)]
    assert await desk.titles() == ["noop: a dead letter: ValueError: no such file"]

    await desk.submit("dead")
    await desk.submit("succeeded")
    await desk.check()
    assert await desk.incidents() == [Incident("dead_letters", "noop", "open", 2)]

    await desk.world.advance(minutes=59)
    await desk.check()
    assert await desk.open_conditions() == ["dead_letters"]
    await desk.world.advance(minutes=2)
    await desk.check()
    assert await desk.open_conditions() == []
    assert await desk.watches() == []


async def test_enough_dead_letters_within_a_window(desk: WatchDesk) -> None:
    await desk.add_rule("dead", {"dead_letters": {"count": 3, "over": "PT1H"}}, {"task": "noop"})

    for minutes in (0, 50, 15):
        await desk.world.advance(minutes=minutes)
        await desk.submit("dead")
        await desk.check()
    assert await desk.incidents() == []
    assert await desk.watches() == [("dead_letters", "pending")]

    await desk.world.advance(minutes=10)
    await desk.submit("dead")
    await desk.check()
    assert await desk.open_conditions() == ["dead_letters"]


async def test_a_streak_of_a_task_counts_its_submissions_in_order(desk: WatchDesk) -> None:
    desk.book.has_defaults = False
    await desk.add_rule("task", {"failures": {"streak": 3}}, {"task": "noop"})

    for states in ("dead dead", "succeeded", "dead dead"):
        for state in states.split():
            await desk.submit(state)
        await desk.check()
        await desk.world.advance(seconds=5)
    assert await desk.incidents() == []
    await desk.submit("dead")
    await desk.check()
    assert await desk.incidents() == [Incident("failure_streak", "noop", "open", 1)]
    await desk.world.advance(seconds=5)
    await desk.check()
    await desk.submit("succeeded")
    await desk.check()
    assert await desk.open_conditions() == []
    assert await desk.watches() == []


async def test_a_run_that_lasts_too_long_is_an_incident_while_it_runs(desk: WatchDesk) -> None:
    desk.book.has_defaults = False
    await desk.add_job("report", HOURLY, expect={"max_duration": "PT10M"})
    await desk.check()
    await desk.world.move_to(NOON + HOUR)
    (run_id,) = await desk.fire()
    await desk.start_run(run_id)
    await desk.world.advance(minutes=9)
    await desk.check_states()
    assert await desk.incidents() == []

    for _ in range(3):
        await desk.world.advance(minutes=1, seconds=1)
        await desk.check_states()
    assert await desk.incidents(only_open=True) == [Incident("max_duration", "report", "open", 1)]

    await desk.check()
    await desk.end_run(run_id)
    await desk.check()
    assert await desk.open_conditions() == []


async def test_a_duration_relative_to_history_needs_history(desk: WatchDesk) -> None:
    desk.book.has_defaults = False
    await desk.add_job("report", HOURLY, expect={"max_duration": {"times": 2, "at_least": "PT1M"}})
    await desk.check()
    for number in range(1, 13):
        await desk.world.move_to(NOON + number * HOUR)
        (run_id,) = await desk.fire()
        await desk.start_run(run_id)
        await desk.world.advance(minutes=2)
        await desk.check_states()
        await desk.end_run(run_id)
    await desk.check()
    assert await desk.incidents() == []

    await desk.world.move_to(NOON + 13 * HOUR)
    (run_id,) = await desk.fire()
    await desk.start_run(run_id)
    await desk.world.advance(minutes=3, seconds=50)
    await desk.check_states()
    assert await desk.incidents() == []
    await desk.world.advance(seconds=20)
    await desk.check_states()
    assert await desk.titles() == ["report: a run lasts longer than 4 minutes"]


async def test_a_deleted_rule_ends_its_incidents(desk: WatchDesk) -> None:
    desk.book.has_defaults = False
    rule_id = await desk.add_rule("task", {"failures": {"streak": 1}}, {"task": "noop"})
    await desk.submit("dead")
    await desk.check()
    assert await desk.open_conditions() == ["failure_streak"]

    await desk.world.conn.execute("delete from rota.expectations where id = $1", rule_id)
    await desk.world.advance(minutes=1)
    await desk.check()

    assert await desk.open_conditions() == []
    assert await desk.watches() == []


async def test_a_quarantined_job_is_an_incident_until_it_is_active(desk: WatchDesk) -> None:
    job_id = await desk.add_job("report", HOURLY)
    await desk.check()
    await desk.edit(job_id, state="quarantined", held={"reason": "no such zone"})
    await desk.world.advance(seconds=3)
    await desk.check()
    assert await desk.incidents() == [Incident("quarantined", "report", "open", 1)]
    assert await desk.titles() == ["report: quarantined: no such zone"]

    await desk.edit(job_id, state="active")
    await desk.world.advance(seconds=3)
    await desk.check()
    assert await desk.open_conditions() == []
    assert await desk.watches() == []

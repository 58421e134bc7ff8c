"""What pausing, editing and resuming make of ticks that lie behind (S11, S14, P7)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.engine.submission.test_job_changes import a_job, change, go_on, history, stop
from tests.support.world import World

from rota.core.ids import derive_tick_run_id
from rota.core.overlap import Overlap
from rota.core.policy import Policy
from rota.core.states import JobState
from rota.core.time.policies import CatchUp
from rota.engine.submission.job_changes import resume_job
from rota.store import cursors
from rota.store.cursors import TickFiring

HOURLY = "0 * * * *"


def hour(of_day: int, minute: int = 0) -> datetime:
    return datetime(2026, 7, 1, of_day, minute, tzinfo=UTC)


async def at(world: World, of_day: int, minute: int = 0) -> None:
    await world.move_to(hour(of_day, minute))


async def fired_daily(world: World, **given: Any) -> UUID:
    """A job of 13:00 every day, whose tick of today was fired; it is 13:00."""
    job_id = await a_job(world, schedule={"cron": "0 13 * * *"}, **given)
    await at(world, 13)
    (due,) = await world.due()
    tomorrow = hour(13).replace(day=2)
    firing = TickFiring(due, derive_tick_run_id(job_id, due.tick_at), tomorrow, tomorrow)
    await cursors.fire_ticks(world.conn, await world.own(), [firing])
    return job_id


async def paused_hourly(world: World, **misfire: object) -> UUID:
    """An hourly job that was paused at 12:30."""
    job_id = await a_job(world, schedule={"cron": HOURLY, "misfire": misfire})
    await at(world, 12, 30)
    await stop(world, job_id)
    return job_id


def hourly(**misfire: object) -> dict[str, object]:
    return {"cron": HOURLY, "misfire": misfire}


async def alive(world: World) -> list[str]:
    rows = await world.conn.fetch("select scheduled_at from rota.live_runs order by 1")
    return [f"{row[0]:%H:%M}" for row in rows]


async def recorded(world: World) -> list[tuple[str, str, int]]:
    return [
        (state, reason["code"], reason.get("count", 1)) for state, reason in await history(world)
    ]


async def test_an_edit_with_all_runs_what_the_new_schedule_would_have_had(world: World) -> None:
    """From the last decided tick to the edit."""
    job_id = await fired_daily(world)
    await at(world, 16)

    edited = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert edited.runs == tuple(derive_tick_run_id(job_id, hour(n)) for n in (14, 15, 16))
    assert edited.next_tick == hour(17)
    assert await alive(world) == ["13:00", "14:00", "15:00", "16:00"]
    assert await recorded(world) == []


async def test_an_edit_with_once_runs_the_latest_and_records_the_others(world: World) -> None:
    job_id = await fired_daily(world)
    await at(world, 16, 20)

    edited = await change(world, job_id, schedule=hourly(on_edit="once"))

    assert edited.runs == (derive_tick_run_id(job_id, hour(16)),)
    assert await recorded(world) == [("coalesced", "caught_up", 2)]


async def test_a_job_that_never_fired_has_a_past_since_it_was_made(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "0 0 1 1 *"})
    await at(world, 14, 30)

    edited = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert edited.runs == (
        derive_tick_run_id(job_id, hour(13)),
        derive_tick_run_id(job_id, hour(14)),
    )


async def test_a_job_that_had_no_schedule_has_no_past(world: World) -> None:
    job_id = await a_job(world, schedule={"on_demand": True})
    await at(world, 14, 30)

    edited = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert (edited.runs, edited.next_tick) == ((), hour(15))


async def test_ticks_that_were_decided_before_do_not_run_again(world: World) -> None:
    """13:00 has run; a second edit begins after what the first one ran."""
    job_id = await fired_daily(world)
    await at(world, 14, 30)
    first = await change(world, job_id, schedule=hourly(on_edit="all"))
    second = await change(world, job_id, schedule={"cron": "0 9 * * *"})
    await at(world, 15, 30)

    third = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert first.runs == (derive_tick_run_id(job_id, hour(14)),)
    assert second.runs == ()
    assert third.runs == (derive_tick_run_id(job_id, hour(15)),)
    assert await alive(world) == ["13:00", "14:00", "15:00"]


async def test_what_an_outage_left_is_settled_by_the_old_schedule_alone(world: World) -> None:
    """The new one begins after it: no tick is both coalesced and run."""
    job_id = await a_job(world, schedule=hourly())
    await at(world, 15, 20)

    new = {"cron": "*/10 * * * *", "misfire": {"on_edit": "all"}}
    edited = await change(world, job_id, schedule=new)

    times = [hour(15), hour(15, 10), hour(15, 20)]
    assert edited.runs == tuple(derive_tick_run_id(job_id, time) for time in times)
    assert await recorded(world) == [("coalesced", "caught_up", 2)]


async def test_runs_of_the_new_schedule_are_of_the_new_job(world: World) -> None:
    """Its payload and policy came with the same edit."""
    job_id = await fired_daily(world, payload={"n": 1})
    await at(world, 14)

    await change(
        world,
        job_id,
        schedule=hourly(on_edit="all"),
        payload={"n": 2},
        queue="other",
        policy=Policy(deadline=timedelta(minutes=9)),
    )

    rows = await world.conn.fetch(
        "select r.payload, q.name, r.deadline_at from rota.live_runs as r"
        " join rota.queues as q on q.id = r.queue_id order by r.scheduled_at"
    )
    assert [tuple(row) for row in rows] == [
        ('{"n": 1}', "default", None),
        (None, "other", hour(14, 9)),
    ]


async def test_the_past_of_an_edit_obeys_the_overlap_policy(world: World) -> None:
    """E4: the run of 13:00 waits still."""
    job_id = await fired_daily(world, overlap=Overlap.SKIP)
    await at(world, 15)

    edited = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert edited.runs == ()
    assert [state for state, *_ in await recorded(world)] == ["skipped", "skipped"]


async def test_a_pause_after_an_outage_settles_what_was_due_before(world: World) -> None:
    """13:00 and 14:00 were due before the pause: `on_outage` decides, not `on_resume`."""
    job_id = await a_job(world, schedule=hourly())
    await at(world, 14, 30)

    await stop(world, job_id)
    made = await alive(world)
    await at(world, 15, 30)
    resumed = await go_on(world, job_id)

    assert made == ["14:00"]
    assert resumed.next_tick == hour(16)
    assert await alive(world) == ["14:00"]
    assert await recorded(world) == [("coalesced", "caught_up", 1), ("skipped", "paused", 1)]


async def test_once_a_pause_is_acknowledged_no_tick_is_decided(world: World) -> None:
    """P7: the backlog is decided by the pause itself."""
    job_id = await a_job(world, schedule=hourly())
    await at(world, 14, 30)
    due = await world.due()
    ownership = await world.own()

    await stop(world, job_id)
    after = await world.fire(ownership, due, every=None)

    assert after == []
    assert await world.due() == []
    assert await alive(world) == ["14:00"]


async def test_a_backlog_that_is_settled_at_a_pause_obeys_the_overlap_policy(
    world: World,
) -> None:
    job_id = await a_job(world, schedule=hourly(on_outage="all"), overlap=Overlap.SKIP)
    await at(world, 14, 30)

    await stop(world, job_id)

    assert await alive(world) == ["13:00"]
    assert [state for state, *_ in await recorded(world)] == ["skipped"]
    assert (await world.conn.fetchval("select state from rota.jobs where id = $1", job_id)) == (
        "paused"
    )


async def test_a_jittered_tick_that_is_not_due_yet_belongs_to_the_pause(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "5 * * * *", "jitter": "30m"})
    (due,) = await world.due(within=hour(13) - hour(12))
    await world.move_to(due.tick_at + (due.fire_at - due.tick_at) / 2)

    await stop(world, job_id)
    made = await alive(world)
    await at(world, 12, 59)
    await go_on(world, job_id)

    assert made == []
    assert await recorded(world) == [("skipped", "paused", 1)]


async def test_a_job_whose_last_tick_is_settled_at_a_pause_is_finished_when_resumed(
    world: World,
) -> None:
    job_id = await a_job(world, schedule={"at": "2026-07-01T13:00:00Z"})
    await at(world, 14)

    await stop(world, job_id)
    state = await world.conn.fetchval("select state from rota.jobs where id = $1", job_id)
    resumed = await go_on(world, job_id)

    assert (state, await alive(world)) == ("paused", ["13:00"])
    assert (resumed.state, resumed.next_tick) == (JobState.FINISHED, None)


async def test_a_job_whose_calendar_is_gone_can_still_be_paused(world: World) -> None:
    job_id = await a_job(world, schedule=hourly())
    await world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{calendars}', '[\"gone\"]')"
    )
    await at(world, 14, 30)

    await stop(world, job_id)

    assert await alive(world) == []
    assert await world.due() == []


@pytest.mark.parametrize("policy", ["all", "once"])
async def test_an_edit_of_max_catchup_while_paused_drops_nothing(world: World, policy: str) -> None:
    job_id = await paused_hourly(world, on_resume=policy)
    await at(world, 14, 30)

    await change(world, job_id, schedule=hourly(on_resume=policy, max_catchup=50))
    between = (await alive(world), await recorded(world))
    await at(world, 15, 30)
    await go_on(world, job_id)

    assert between == ([], [])
    if policy == "all":
        assert await alive(world) == ["13:00", "14:00", "15:00"]
        assert await recorded(world) == []
    else:
        assert await alive(world) == ["15:00"]
        assert await recorded(world) == [("coalesced", "caught_up", 2)]


@pytest.mark.parametrize(
    ("policy", "runs", "rows"),
    [
        ("all", ["13:00", "14:00", "14:45", "15:15"], []),
        ("once", ["15:15"], [("coalesced", "caught_up", 2), ("coalesced", "caught_up", 1)]),
        ("skip", [], [("skipped", "paused", 2), ("skipped", "paused", 2)]),
    ],
)
async def test_another_schedule_while_paused_keeps_what_the_old_one_had(
    world: World, policy: str, runs: list[str], rows: list[tuple[str, str, int]]
) -> None:
    """The ticks until the edit are the old schedule's, those after it the new one's."""
    job_id = await paused_hourly(world, on_resume=policy)
    await at(world, 14, 30)
    new = {"cron": "15,45 * * * *", "misfire": {"on_resume": policy}}
    edited = await change(world, job_id, schedule=new)
    await at(world, 15, 30)

    resumed = await go_on(world, job_id)

    assert (edited.runs, edited.state) == ((), JobState.PAUSED)
    assert resumed.next_tick == hour(15, 45)
    assert await alive(world) == runs
    assert await recorded(world) == rows


async def test_whoever_resumes_chooses_for_all_schedules_of_the_pause(world: World) -> None:
    job_id = await paused_hourly(world, on_resume="skip")
    await at(world, 13, 30)
    await change(world, job_id, schedule={"cron": "45 * * * *"})
    await at(world, 14)
    await change(world, job_id, schedule=None)
    await at(world, 15)

    resumed = await resume_job(world.conn, job_id, now=world.now, missed=CatchUp.ALL)

    assert (resumed.state, resumed.next_tick) == (JobState.ACTIVE, None)
    assert await alive(world) == ["13:00", "13:45"]


async def test_the_most_that_is_caught_up_holds_for_the_whole_pause(world: World) -> None:
    job_id = await paused_hourly(world, on_resume="all")
    await at(world, 15, 30)
    new = {"cron": "40,50 * * * *", "misfire": {"on_resume": "all", "max_catchup": 3}}
    await change(world, job_id, schedule=new)
    await at(world, 16)

    await go_on(world, job_id)

    assert await alive(world) == ["15:00", "15:40", "15:50"]
    assert await recorded(world) == [("coalesced", "caught_up", 2)]


async def test_what_was_kept_through_a_pause_is_forgotten_once_it_was_decided(
    world: World,
) -> None:
    job_id = await paused_hourly(world, on_resume="all")
    await at(world, 13, 30)
    await change(world, job_id, schedule={"cron": "0 0 * * *"})
    await go_on(world, job_id)
    await stop(world, job_id)

    again = await resume_job(world.conn, job_id, now=world.now, missed=CatchUp.ALL)

    assert again.runs == ()
    assert await recorded(world) == [("skipped", "paused", 1)]


async def test_many_edits_in_a_pause_keep_the_newest_and_record_the_oldest(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "* * * * *", "misfire": {"on_resume": "all"}})
    await stop(world, job_id)
    for n in range(22):
        await world.advance(minutes=1)
        second = {"cron": f"{n} * * * * *", "misfire": {"on_resume": "all"}}
        await change(world, job_id, schedule=second)

    await go_on(world, job_id)

    assert await world.count("live_runs") + len(await recorded(world)) == 22
    assert {code for _, code, _ in await recorded(world)} == {"paused"}


async def test_a_calendar_that_is_gone_does_not_keep_a_job_from_being_resumed(
    world: World,
) -> None:
    """Its schedule was replaced in the pause; what it had is recorded."""
    job_id = await paused_hourly(world, on_resume="all")
    await world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{calendars}', '[\"gone\"]')"
    )
    await at(world, 14, 30)
    await change(world, job_id, schedule={"cron": "45 * * * *", "misfire": {"on_resume": "all"}})
    await at(world, 15)

    await go_on(world, job_id)

    assert await alive(world) == ["14:45"]
    assert await recorded(world) == [("skipped", "paused", 2)]


@pytest.mark.parametrize("state", ["active", "quarantined", "paused"])
@pytest.mark.parametrize(("field", "value"), [("timezone", "Mars/Base"), ("calendars", ["gone"])])
async def test_a_schedule_that_cannot_be_evaluated_is_mended_by_an_edit(
    world: World, state: str, field: str, value: object
) -> None:
    job_id = await a_job(world, schedule=hourly())
    await world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, array[$1::text], $2::jsonb),"
        " state = $3::rota.job_state where id = $4",
        *(field, json.dumps(value), state, job_id),
    )
    await at(world, 14, 30)

    edited = await change(world, job_id, schedule=hourly(on_edit="all"))

    assert edited.next_tick == hour(15)
    assert edited.state is (JobState.PAUSED if state == "paused" else JobState.ACTIVE)


async def test_what_an_earlier_pause_kept_is_not_decided_by_a_later_one(world: World) -> None:
    """Code that does not know of it has resumed the job meanwhile, in a rolling upgrade."""
    job_id = await paused_hourly(world, on_resume="all")
    await at(world, 14, 30)
    await change(world, job_id, schedule={"cron": "0 0 * * *", "misfire": {"on_resume": "all"}})
    await world.conn.execute(
        "update rota.jobs set state = 'active', held = null where id = $1", job_id
    )

    await stop(world, job_id)
    resumed = await go_on(world, job_id)

    assert resumed.runs == ()

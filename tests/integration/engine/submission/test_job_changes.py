"""Pause, resume, edit and delete lose no tick and double none (S11, S14)."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.world import World

from rota.core.errors import IllegalMove, InvalidInput, InvalidSchedule, NotFound
from rota.core.ids import derive_tick_run_id
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.policy import Policy
from rota.core.states import JobState, RunState
from rota.core.submissions import JobSpec
from rota.core.time.policies import CatchUp
from rota.engine.submission.job_change_writer import ChangedJob
from rota.engine.submission.job_changes import (
    JobChanges,
    delete_job,
    edit_job,
    pause_job,
    resume_job,
)
from rota.engine.submission.job_submission import define_jobs
from rota.store import cursors, jobs
from rota.store.cursors import TickFiring

S = RunState
EVERY_MINUTE = {"every": "1m"}
ALL = {"every": "1m", "misfire": {"on_resume": "all"}}


async def a_job(world: World, **given: Any) -> UUID:
    spec = JobSpec(**{"name": "report", "kind": "noop", "overlap": Overlap.ALLOW} | given)
    (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def stop(world: World, job_id: UUID) -> None:
    await pause_job(world.conn, job_id, by="ana", reason="maintenance", now=world.now)


async def go_on(world: World, job_id: UUID, missed: CatchUp | None = None) -> ChangedJob:
    return await resume_job(world.conn, job_id, now=world.now, missed=missed)


async def change(world: World, job_id: UUID, **given: Any) -> ChangedJob:
    return await edit_job(world.conn, job_id, JobChanges(**given), now=world.now)


async def job_row(world: World, job_id: UUID) -> Any:
    return await world.conn.fetchrow(
        "select state, version, held, payload from rota.jobs where id = $1", job_id
    )


async def history(world: World) -> list[tuple[str, dict[str, Any]]]:
    rows = await world.conn.fetch("select state, reason from rota.runs order by id")
    return [(row[0], json.loads(row[1])) for row in rows]


def minutes(count: int) -> datetime:
    return datetime(2026, 7, 1, 12, count, tzinfo=UTC)


async def test_a_paused_job_has_nothing_due_and_says_who_paused_it(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    await stop(world, job_id)
    await stop(world, job_id)
    await world.advance(minutes=5)

    row = await job_row(world, job_id)
    assert (row["state"], row["version"]) == ("paused", 2)
    assert json.loads(row["held"])["by"] == "ana"
    assert await world.due() == []


async def ended(world: World) -> UUID:
    """A job whose only tick was fired and which nobody has marked as finished yet."""
    job_id = await a_job(world, schedule={"at": "2026-07-01T12:01:00Z"})
    await world.advance(minutes=1)
    await world.fire(await world.own(), await world.due(), every=None)
    return job_id


async def test_a_job_whose_last_tick_was_fired_cannot_be_paused(world: World) -> None:
    job_id = await ended(world)

    with pytest.raises(IllegalMove):
        await stop(world, job_id)


async def test_an_ended_job_that_gets_a_new_schedule_is_not_marked_as_finished(
    world: World,
) -> None:
    job_id = await ended(world)

    await change(world, job_id, schedule=EVERY_MINUTE)
    listed = await jobs.mark_finished(world.conn, limit=10)

    assert (listed, (await job_row(world, job_id))["state"]) == (1, "active")


async def test_an_edit_that_is_under_way_comes_before_the_mark(world: World, database: str) -> None:
    """The mark waits for the edit's lock and must then see the cursor that the edit made."""
    job_id = await ended(world)
    other = await asyncpg.connect(database)

    async def mark() -> None:
        async with other.transaction():
            await jobs.mark_finished(other, limit=10)

    async def is_waiting() -> bool:
        pids = await world.conn.fetchval("select pg_blocking_pids($1)", other.get_server_pid())
        return bool(pids)

    async with world.conn.transaction():
        await change(world, job_id, schedule=EVERY_MINUTE)
        marking = asyncio.create_task(mark())
        await until(is_waiting)
    await marking
    await other.close()

    assert (await job_row(world, job_id))["state"] == "active"


async def test_ticks_during_a_pause_are_recorded_and_not_run(world: World) -> None:
    """S11: on_resume is skip unless the job says otherwise."""
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await stop(world, job_id)
    await world.advance(minutes=3, seconds=30)

    resumed = await go_on(world, job_id)

    assert resumed == (3, JobState.ACTIVE, minutes(4), ())
    ((state, reason),) = await history(world)
    assert state == "skipped"
    assert reason == {
        "code": "paused",
        "count": 3,
        "first": "2026-07-01T12:01:00Z",
        "last": "2026-07-01T12:03:00Z",
    }
    assert (await job_row(world, job_id))["held"] is None
    (due,) = await world.due(within=timedelta(minutes=1))
    assert (due.tick_at, due.version) == (minutes(4), 3)


async def test_a_job_may_run_what_it_missed_in_a_pause(world: World) -> None:
    job_id = await a_job(world, schedule=ALL)
    await stop(world, job_id)
    await world.advance(minutes=3, seconds=30)

    resumed = await go_on(world, job_id)

    assert resumed.runs == tuple(derive_tick_run_id(job_id, minutes(n)) for n in (1, 2, 3))
    assert await world.count("live_runs") == 3
    assert await history(world) == []


async def test_whoever_resumes_may_choose_once(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await stop(world, job_id)
    await world.advance(minutes=3)

    resumed = await go_on(world, job_id, CatchUp.ONCE)

    assert resumed.runs == (derive_tick_run_id(job_id, minutes(3)),)
    ((state, reason),) = await history(world)
    assert (state, reason["count"], reason["into"]) == ("coalesced", 2, str(resumed.runs[0]))


async def test_caught_up_ticks_obey_the_overlap_policy(world: World) -> None:
    """E4: of three ticks that may run after all, the policy skip lets the first."""
    job_id = await a_job(world, schedule=ALL, overlap=Overlap.SKIP)
    await stop(world, job_id)
    await world.advance(minutes=3)

    resumed = await go_on(world, job_id)

    assert resumed.runs == (derive_tick_run_id(job_id, minutes(1)),)
    assert [state for state, _ in await history(world)] == ["skipped", "skipped"]


async def test_a_fixed_delay_counts_from_the_resume(world: World) -> None:
    """S6: a tick that was passed over counts as ended when that was decided."""
    job_id = await a_job(world, schedule={"fixed_delay": "10m"})
    await stop(world, job_id)
    await world.advance(minutes=3)
    early = await go_on(world, job_id)
    await stop(world, job_id)
    await world.advance(minutes=30)

    late = await go_on(world, job_id)

    assert early.next_tick == minutes(10)
    assert late.next_tick == minutes(43)


async def test_a_job_that_fires_once_and_was_paused_over_its_time_is_finished(
    world: World,
) -> None:
    job_id = await a_job(world, schedule={"after": "1m"})
    await stop(world, job_id)
    await world.advance(minutes=2)

    resumed = await go_on(world, job_id)

    assert (resumed.state, resumed.next_tick) == (JobState.FINISHED, None)
    assert await world.count("cursors") == 0
    assert [reason["code"] for _, reason in await history(world)] == ["paused"]


async def test_only_what_is_held_can_be_resumed(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    with pytest.raises(IllegalMove):
        await go_on(world, job_id)


async def test_an_edited_schedule_begins_now_and_the_old_one_pays_what_it_owes(
    world: World,
) -> None:
    """S14: a tick that was due when the edit came is run by its old time."""
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await world.advance(minutes=1, seconds=10)

    edited = await change(world, job_id, schedule={"cron": "30 * * * *"})

    assert edited.runs == (derive_tick_run_id(job_id, minutes(1)),)
    assert edited.next_tick == minutes(30)
    (due,) = await world.due(within=timedelta(hours=1))
    assert (due.tick_at, due.version) == (minutes(30), 2)


async def test_a_jittered_tick_in_flight_survives_an_edit(world: World) -> None:
    """Its nominal time has passed, its real one has not."""
    job_id = await a_job(world, schedule={"cron": "5 * * * *", "jitter": "30m"})
    (due,) = await world.due(within=timedelta(hours=1))
    await world.move_to(due.tick_at + (due.fire_at - due.tick_at) / 2)

    edited = await change(world, job_id, schedule={"cron": "0 0 * * *"})

    (run_id,) = edited.runs
    run = await world.get(run_id)
    assert (run.scheduled_at, run.due_at) == (due.tick_at, due.fire_at)


async def test_an_edit_never_fires_the_past_of_the_new_schedule(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "0 0 * * *"})

    edited = await change(world, job_id, schedule={"cron": "0 * * * *"})

    assert (edited.runs, edited.next_tick) == ((), datetime(2026, 7, 1, 13, tzinfo=UTC))
    assert await history(world) == []


async def test_runs_that_exist_keep_the_payload_they_were_made_with(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE, payload={"n": 1})
    await world.advance(minutes=1)
    due = await world.due()
    await world.fire(await world.own(), due, every=timedelta(minutes=1))

    edited = await change(world, job_id, payload={"n": 2})

    assert edited.next_tick == minutes(2)
    assert await world.conn.fetchval("select payload from rota.live_runs") == '{"n": 1}'
    assert (await job_row(world, job_id))["payload"] == '{"n": 2}'


async def test_a_new_payload_gives_the_ticks_to_come_other_gates(world: World) -> None:
    limits = (JobLimit(key="customer:{args.id}", max_running=1),)
    job_id = await a_job(world, schedule=EVERY_MINUTE, limits=limits, payload={"id": 1})

    await change(world, job_id, payload={"id": 2})
    with pytest.raises(InvalidInput):
        await change(world, job_id, payload={})

    key = await world.conn.fetchval(
        "select g.key from rota.cursors as c join rota.gates as g on g.id = c.gates[1]"
    )
    assert key == "key:customer:2"


async def test_a_new_policy_holds_for_the_ticks_to_come(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    await change(world, job_id, policy=Policy(deadline=timedelta(minutes=9)))

    row = await world.conn.fetchrow(
        "select c.deadline, c.policy_id = j.policy_id, c.tick_at from rota.cursors as c"
        " join rota.jobs as j on j.id = c.job_id"
    )
    assert tuple(row or ()) == (timedelta(minutes=9), True, minutes(1))


async def test_a_paused_job_stays_paused_through_an_edit(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await stop(world, job_id)
    await world.advance(minutes=2)

    edited = await change(world, job_id, schedule={"every": "5m"})
    due = await world.due(within=timedelta(days=1))
    resumed = await go_on(world, job_id)

    assert edited.state is JobState.PAUSED
    assert due == []
    assert resumed.next_tick == minutes(7)
    assert [reason["code"] for _, reason in await history(world)] == ["paused"]


async def test_a_finished_job_comes_back_with_a_new_schedule(world: World) -> None:
    job_id = await a_job(world, schedule={"immediate": True})

    edited = await change(world, job_id, schedule=EVERY_MINUTE)
    on_demand = await change(world, job_id, schedule=None)

    assert (edited.state, edited.next_tick) == (JobState.ACTIVE, minutes(1))
    assert (on_demand.state, on_demand.next_tick) == (JobState.ACTIVE, None)
    assert await world.count("cursors") == 0


@pytest.mark.parametrize(
    "schedule", [{"cron": "61 * * * *"}, {"immediate": True}, {"at": "2020-01-01T00:00:00Z"}]
)
async def test_a_wrong_schedule_changes_nothing(world: World, schedule: dict[str, Any]) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    with pytest.raises(InvalidSchedule) as refused:
        await change(world, job_id, schedule=schedule, payload={"n": 2})

    assert refused.value.field.startswith("schedule.")
    assert (await job_row(world, job_id))["version"] == 1


async def test_runs_so_far_count_towards_a_cap(world: World) -> None:
    """S10."""
    capped = {"every": "1m", "window": {"max_runs": 2}, "misfire": {"on_resume": "all"}}
    job_id = await a_job(world, schedule=capped)
    await stop(world, job_id)
    await world.advance(minutes=5)

    resumed = await go_on(world, job_id)

    assert len(resumed.runs) == 2
    assert (resumed.state, resumed.next_tick) == (JobState.FINISHED, None)


async def test_a_deleted_job_has_no_ticks_and_what_waits_is_cancelled(world: World) -> None:
    job_id = await a_job(world, schedule=ALL)
    await stop(world, job_id)
    await world.advance(minutes=2)
    await go_on(world, job_id)
    (running,) = await world.claim(await world.session(), room=1)

    cancelled = await delete_job(world.conn, job_id, by="ana")

    assert len(cancelled) == 1
    assert (await world.get(running.id)).state is S.RUNNING
    assert await world.count("cursors") == 0
    with pytest.raises(NotFound):
        await stop(world, job_id)
    again = await a_job(world)
    assert again != job_id


async def test_a_deleted_job_may_take_its_running_runs_along(world: World) -> None:
    job_id = await a_job(world, schedule={"immediate": True})
    (running,) = await world.claim(await world.session())

    await delete_job(world.conn, job_id, by="ana", cancel_running=True)

    assert (await world.get(running.id)).state is S.CANCELLING


async def test_edits_and_fires_at_once_make_every_tick_exactly_once(
    world: World, database: str
) -> None:
    """F13: fifty edits against a scheduler that fires as fast as it can."""
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    other = await asyncpg.connect(database)
    rival = await World(other).begin()
    ownership = await world.own()
    editing = True

    async def keep_firing() -> None:
        while editing:
            due = await cursors.read_due(rival.conn, shards=range(128), before=world.now, limit=10)
            firings = [
                TickFiring(each, derive_tick_run_id(each.job_id, each.tick_at), at, at)
                for each in due
                for at in [each.tick_at + timedelta(minutes=1)]
            ]
            await rival.move_to(world.now)
            await cursors.fire_ticks(rival.conn, ownership, firings)

    firing = asyncio.ensure_future(keep_firing())
    for n in range(50):
        await world.advance(minutes=1)
        await change(world, job_id, payload={"n": n}, schedule=EVERY_MINUTE)
    editing = False
    await firing

    rows = await world.conn.fetch("select id, scheduled_at from rota.live_runs")
    ticks = sorted(row[1] for row in rows)
    assert ticks == [minutes(0) + timedelta(minutes=n) for n in range(1, 51)]
    assert {row[0] for row in rows} == {derive_tick_run_id(job_id, tick) for tick in ticks}
    await other.close()

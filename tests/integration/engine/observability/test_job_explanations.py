"""Why a job without a waiting run does not run, against real rows (E18, S14)."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.support.world import World

from rota.core.errors import NotFound
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.submissions import JobSpec
from rota.engine.observability.explanations import Explanation, explain_job
from rota.engine.submission.job_changes import delete_job, pause_job
from rota.engine.submission.job_submission import define_jobs
from rota.store import gates, jobs, sessions
from rota.store.sessions import SessionRole

EVERY_MINUTE = {"every": "1m"}


async def why(world: World, job_id: UUID, *, tenant_id: int = 1) -> Explanation:
    return await explain_job(world.conn, tenant_id=tenant_id, job_id=job_id)


async def a_job(world: World, **given: Any) -> UUID:
    spec = JobSpec(**{"name": "report", "kind": "noop", "overlap": Overlap.ALLOW} | given)
    (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def test_a_paused_job_says_by_whom_and_why(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await pause_job(world.conn, job_id, by="ana", reason="maintenance", now=world.now)

    told = await why(world, job_id)

    assert (told.code, told.sentence) == ("paused", "The job was paused by ana: maintenance.")
    assert told.details["at"] == "2026-07-01T12:00:00Z"


async def test_a_pause_without_a_reason_gives_none(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await pause_job(world.conn, job_id, by="ana", now=world.now)

    assert (await why(world, job_id)).sentence == "The job was paused by ana."


async def test_a_quarantined_job_says_what_is_wrong_with_it(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await jobs.quarantine_job(world.conn, job_id=job_id, version=1, reason="no calendar 'bank'")

    told = await why(world, job_id)

    assert told.code == "quarantined"
    assert told.sentence == "The job was quarantined because it cannot be run: no calendar 'bank'."


async def test_a_job_without_a_schedule_runs_on_demand(world: World) -> None:
    assert (await why(world, await a_job(world))).code == "on_demand"
    asked = await a_job(world, name="asked", schedule={"on_demand": True})
    assert (await why(world, asked)).code == "on_demand"


async def test_a_job_that_waits_for_events_says_for_which(world: World) -> None:
    job_id = await a_job(world, schedule={"event": {"all_of": ["a.b", "c"], "within": "1m"}})

    told = await why(world, job_id)

    assert (told.code, told.details["types"]) == ("waits_for_event", ["a.b", "c"])
    assert told.sentence == (
        "The job is waiting for a.b and c; `rota events list` shows the events received."
    )


async def test_a_job_whose_schedule_came_to_its_end_is_finished(world: World) -> None:
    job_id = await a_job(world, schedule={"at": "2026-07-01T12:00:01Z"})
    await world.advance(seconds=2)
    await world.fire(await world.own(), await world.due(), every=None)

    assert (await why(world, job_id)).code == "finished"


async def test_a_job_with_a_tick_to_come_says_when(world: World) -> None:
    await world.own()
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    told = await why(world, job_id)

    assert told.code == "next_tick"
    assert told.sentence == "The next tick is due at 2026-07-01 12:01:00 UTC."
    assert told.details["fire_at"] == world.now + timedelta(minutes=1)


async def test_without_a_scheduler_no_tick_is_decided(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)

    before = await why(world, job_id)
    await world.advance(minutes=2)
    after = await why(world, job_id)

    assert before.code == after.code == "no_scheduler"
    assert before.sentence == (
        "The next tick is due at 2026-07-01 12:01:00 UTC, but no scheduler is running."
    )
    assert "was due at" in after.sentence


async def test_a_shard_that_nobody_holds_is_named(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    shard = await world.conn.fetchval("select shard from rota.cursors")
    owner = await world.session(role=SessionRole.SCHEDULER)
    others = [each for each in range(128) if each != shard]
    await sessions.hold_shards(world.conn, owner=owner, shards=others, ttl=timedelta(seconds=6))

    told = await why(world, job_id)
    await sessions.hold_shards(world.conn, owner=owner, shards=[shard], ttl=timedelta(seconds=6))
    taken = await why(world, job_id)
    await world.advance(seconds=7)
    run_out = await why(world, job_id)

    assert told.code == "shard_without_owner"
    assert told.details["shard"] == shard
    assert taken.code == "next_tick"
    assert run_out.code == "shard_without_owner"


async def test_a_tick_that_is_late_says_how_late(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    await world.advance(seconds=63)
    await world.own()

    told = await why(world, job_id)

    assert told.code == "tick_overdue"
    assert told.sentence == (
        "The tick of 2026-07-01 12:01:00 UTC is 3 seconds late; scheduler test is about to fire it."
    )


async def test_a_fixed_delay_waits_for_the_end_of_its_run(world: World) -> None:
    await world.own()
    job_id = await a_job(world, schedule={"fixed_delay": "1m"})

    alone = await why(world, job_id)
    run_id = await world.run(job_id=job_id)
    told = await why(world, job_id)

    assert alone.code == "next_tick"
    assert told.code == "after_its_run"
    assert told.details["runs"] == [run_id]


async def test_a_foreign_and_a_deleted_job_are_not_found(world: World) -> None:
    job_id = await a_job(world, schedule=EVERY_MINUTE)
    gone = await a_job(world, name="gone")
    await delete_job(world.conn, gone, by="ana")

    for tenant_id, wanted in ((2, job_id), (1, gone), (1, uuid4())):
        with pytest.raises(NotFound):
            await why(world, wanted, tenant_id=tenant_id)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"schedule": EVERY_MINUTE}, "queue_paused"),
        (
            {"schedule": EVERY_MINUTE, "when_queue_paused": WhenQueuePaused.ACCUMULATE},
            "next_tick",
        ),
        # Its only tick waits for the queue.
        ({"schedule": {"at": "2026-07-01T13:00:00Z"}}, "next_tick"),
    ],
)
async def test_a_job_in_a_paused_queue_says_if_its_ticks_are_passed_over(
    world: World, given: dict[str, Any], code: str
) -> None:
    job_id = await a_job(world, **given)
    await world.own()
    await gates.pause_queue(world.conn, world.queue_id, by="kim")

    told = await why(world, job_id)

    assert told.code == code
    assert ("paused by kim at 2026-07-01 12:00:00 UTC" in told.sentence) == (code != "next_tick")

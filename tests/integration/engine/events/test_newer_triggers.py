"""Events for a job whose trigger only newer code knows are on record, and disturb no other (O4)."""

import json
from typing import Any
from uuid import UUID

import pytest
from tests.support import newer
from tests.support.world import World

from rota.core.event_rules.event import NewEvent
from rota.core.submissions import JobSpec
from rota.engine.events.ingestion import IngestedEvents, ingest_events
from rota.engine.events.window_closing import close_due_windows
from rota.engine.submission.job_submission import submit_jobs
from rota.store import events

PAID = NewEvent(type="order.paid", source="shop", id="1", data={"amount": 150})


async def job(world: World, event: object) -> UUID:
    name = f"job {world.new_id().hex[-6:]}"
    spec = JobSpec(name=name, kind="noop", schedule={"event": event})
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def rewrite(world: World, job_id: UUID, event: object) -> None:
    await world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{event}', $2) where id = $1",
        job_id,
        json.dumps(event),
    )


async def taken(world: World) -> IngestedEvents:
    return await ingest_events(world.conn, 1, [PAID], now=world.now, new_id=world.new_id)


async def runs(world: World) -> list[UUID]:
    return [row[0] for row in await world.conn.fetch("select job_id from rota.live_runs")]


async def test_a_field_that_is_not_known_at_any_level_changes_nothing(world: World) -> None:
    simple, gathered = set[UUID](), set[UUID]()
    for name, each in newer.newer_schedules().items():
        kind = name.partition(":")[0]
        if "event" not in newer.WRITTEN[kind] or not each.path.endswith(newer.FIELD):
            continue
        newer_job = await job(world, newer.WRITTEN[kind]["event"])
        await world.conn.execute(
            "update rota.jobs set schedule = $2 where id = $1", newer_job, json.dumps(each.document)
        )
        (simple if kind == "event" else gathered).add(newer_job)

    answer = await taken(world)

    row = await events.read_event(world.conn, answer.events[0].event_id, tenant_id=1)
    told = {UUID(each["job_id"]): each["outcome"] for each in json.loads(row.matches)}
    assert set(await runs(world)) == simple
    assert set(told) == simple | gathered
    assert "failed" not in told.values()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "order.paid", "batch": {"size": "auto"}},
        {"type": "order.paid", "where": "event §"},
        {"all_of": [{"type": "order.paid", "where": "§"}, {"type": "u"}], "within": "PT1M"},
    ],
    ids=str,
)
async def test_a_trigger_that_is_not_known_is_on_record_with_the_event(
    world: World, event: Any
) -> None:
    newer, known = await job(world, "order.paid"), await job(world, "order.paid")
    await rewrite(world, newer, event)

    answer = await taken(world)

    assert await runs(world) == [known]
    row = await events.read_event(world.conn, answer.events[0].event_id, tenant_id=1)
    told = {each["job_id"]: each for each in json.loads(row.matches)}
    assert told[newer.hex]["outcome"] == "failed"
    assert "waits for a process of a newer version" in told[newer.hex]["why"]
    assert told[known.hex]["outcome"] == "matched"


async def test_what_was_gathered_for_it_is_kept_until_newer_code_comes(world: World) -> None:
    batch = {"type": "order.paid", "batch": {"size": 9, "within": "PT1M"}}
    newer = await job(world, batch)
    await taken(world)
    await rewrite(world, newer, {"type": "order.paid", "batch": {"size": "auto"}})
    await world.advance(minutes=2)

    assert await close_due_windows(world.conn) == 0
    assert await runs(world) == []

    await rewrite(world, newer, batch)
    assert await close_due_windows(world.conn) == 1
    assert await runs(world) == [newer]

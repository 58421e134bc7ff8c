"""Events are taken in once, and become exactly one run of each job that waits for them (S7)."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import InvalidInput, QuotaExceeded, StoreUnavailable
from rota.core.event_rules.event import EVENT_BYTES_MAX, NewEvent
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.quotas import Quotas
from rota.core.submissions import JobSpec
from rota.engine.events.ingestion import IngestedEvents, ingest_events
from rota.engine.submission import job_changes
from rota.engine.submission.job_changes import JobChanges
from rota.engine.submission.job_submission import submit_jobs
from rota.store import events, tenants
from rota.store.transaction import transaction

PAID = NewEvent(type="order.paid", source="shop", id="1", data={"amount": 150, "customer": "ada"})


async def job(world: World, event: object, **given: Any) -> UUID:
    name = f"job {world.new_id().hex[-6:]}"
    spec = JobSpec(name=name, kind="noop", schedule={"event": event}, **given)
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def taken(world: World, *events: NewEvent) -> IngestedEvents:
    return await ingest_events(world.conn, 1, events, now=world.now, new_id=world.new_id)


async def runs(world: World) -> list[tuple[UUID, Any]]:
    rows = await world.conn.fetch(
        "select job_id, payload from rota.live_runs order by created_at, id"
    )
    return [(row[0], json.loads(row[1])) for row in rows]


async def matches(world: World, event_id: UUID) -> list[dict[str, str]]:
    row = await events.read_event(world.conn, event_id, tenant_id=1)
    told: list[dict[str, str]] = json.loads(row.matches)
    return told


async def outcomes(world: World, event_id: UUID) -> list[str]:
    return [each["outcome"] for each in await matches(world, event_id)]


async def test_an_event_is_a_run_of_every_job_that_waits_for_its_type(world: World) -> None:
    wanting = {await job(world, each) for each in ("order.paid", "order.*", "*")}
    for other in ("order", "order.paid.*", "orders.paid", "paid"):
        await job(world, other)

    answer = await taken(world, PAID)

    found = await runs(world)
    assert {job_id for job_id, _ in found} == wanting
    assert set(answer.new_run_ids) == set(answer.events[0].run_ids)
    assert len(answer.new_run_ids) == 3
    event = found[0][1]["event"]
    assert (event["type"], event["source"], event["id"]) == ("order.paid", "shop", "1")
    assert event["data"] == {"amount": 150, "customer": "ada"}
    assert event["time"] == "2026-07-01T12:00:00Z"


async def test_the_same_event_again_makes_nothing_and_tells_of_the_first(world: World) -> None:
    await job(world, "order.paid")
    (first,) = (await taken(world, PAID)).events

    await world.advance(hours=5)
    again = await taken(world, PAID, PAID)

    assert again.new_run_ids == ()
    assert again.duplicates == 2
    assert {each.event_id for each in again.events} == {first.event_id}
    assert {each.run_ids for each in again.events} == {first.run_ids}
    assert len(await runs(world)) == 1


async def test_the_same_event_twice_in_one_batch_is_taken_once(world: World) -> None:
    await job(world, "order.paid")

    answer = await taken(world, PAID, PAID)

    assert [each.is_duplicate for each in answer.events] == [False, True]
    assert len({each.event_id for each in answer.events}) == 1
    assert len(await runs(world)) == 1


async def test_another_source_or_id_or_none_is_another_event(world: World) -> None:
    await job(world, "order.paid")
    others = [replace(PAID, source="mall"), replace(PAID, id="2")]
    without = replace(PAID, id=None)

    answer = await taken(world, PAID, *others, without, without)

    assert (answer.duplicates, len(await runs(world))) == (0, 5)


async def test_many_who_hand_in_the_same_event_at_once_make_one_run(
    world: World, database: str
) -> None:
    await job(world, "order.paid")
    conns = [await asyncpg.connect(database) for _ in range(6)]

    answers = await asyncio.gather(
        *(ingest_events(conn, 1, [PAID], now=world.now, new_id=world.new_id) for conn in conns)
    )

    assert sum(len(answer.new_run_ids) for answer in answers) == 1
    assert sorted(answer.duplicates for answer in answers) == [0, 1, 1, 1, 1, 1]
    assert len({answer.events[0].event_id for answer in answers}) == 1
    for conn in conns:
        await conn.close()


async def test_a_filter_decides_and_says_why_not(world: World) -> None:
    await job(world, {"type": "order.paid", "where": "event.data.amount > 100"})
    small = NewEvent(type="order.paid", data={"amount": 5})

    answer = await taken(world, PAID, small)

    assert len(answer.new_run_ids) == 1
    (told,) = await matches(world, answer.events[1].event_id)
    assert (told["outcome"], told["why"]) == ("filtered", "false: event.data.amount > 100")
    assert await outcomes(world, answer.events[0].event_id) == ["matched"]


async def test_a_filter_that_fails_is_no_match_and_is_told(world: World) -> None:
    await job(world, {"type": "*", "where": "event.data.amount + 1 > 100"})
    await job(world, "*")

    answer = await taken(world, NewEvent(type="order.paid", data={"amount": "much"}))

    told = {each["outcome"]: each for each in await matches(world, answer.events[0].event_id)}
    assert set(told) == {"failed", "matched"}
    assert "event.data.amount + 1 > 100" in told["failed"]["why"]
    assert len(await runs(world)) == 1


async def test_a_job_that_nobody_can_read_keeps_nothing_from_the_others(world: World) -> None:
    odd = await job(world, {"type": "order.paid", "where": "event.data.amount > 100"})
    await job(world, "order.paid")
    await world.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{event,where}', '\"was fine once\"')"
        " where id = $1",
        odd,
    )

    assert len((await taken(world, PAID)).new_run_ids) == 1


async def test_a_paused_job_is_not_run_and_it_is_on_record(world: World) -> None:
    job_id = await job(world, "order.paid")
    await job_changes.pause_job(world.conn, job_id, by="ada", now=world.now)
    first = await taken(world, PAID)
    await job_changes.resume_job(world.conn, job_id, now=world.now)
    second = await taken(world, NewEvent(type="order.paid"))

    (told,) = await matches(world, first.events[0].event_id)
    assert (told["outcome"], told["why"]) == ("paused", "the job is paused")
    assert await outcomes(world, second.events[0].event_id) == ["matched"]
    assert len(await runs(world)) == 1


async def test_a_deleted_or_changed_job_waits_no_longer(world: World) -> None:
    gone, changed = await job(world, "order.paid"), await job(world, "order.paid")
    await job_changes.delete_job(world.conn, gone, by="ada")
    await job_changes.edit_job(
        world.conn, changed, JobChanges(schedule={"event": {"type": "order.sent"}}), now=world.now
    )

    assert (await taken(world, PAID)).new_run_ids == ()
    assert len((await taken(world, NewEvent(type="order.sent"))).new_run_ids) == 1

    await job_changes.edit_job(
        world.conn, changed, JobChanges(schedule={"on_demand": True}), now=world.now
    )
    assert (await taken(world, NewEvent(type="order.sent"))).new_run_ids == ()


async def test_outside_the_window_of_its_job_an_event_is_on_record_only(world: World) -> None:
    spec = JobSpec(
        name="promotion",
        kind="noop",
        schedule={"event": "order.paid", "window": {"end": "2026-07-02T00:00:00Z"}},
    )
    await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    await world.advance(days=1)

    answer = await taken(world, PAID)

    (told,) = await matches(world, answer.events[0].event_id)
    assert (told["outcome"], told["why"]) == ("paused", "the job's window has ended")


async def test_a_payload_is_given_as_it_is_but_for_its_expressions(world: World) -> None:
    payload = {
        "argv": ["invoice", {"$": "event.data.customer"}],
        "amount": {"$": "event.data.amount * 2"},
        "all": {"$": "event.data"},
        "missing": {"$": "event.data.nothing.there"},
        "mode": "fast",
    }
    await job(world, "order.paid", payload=payload)

    await taken(world, PAID)

    ((_, given),) = await runs(world)
    assert given == {
        "argv": ["invoice", "ada"],
        "amount": 300,
        "all": {"amount": 150, "customer": "ada"},
        "missing": None,
        "mode": "fast",
    }


async def test_a_payload_that_cannot_be_made_is_no_run(world: World) -> None:
    await job(world, "order.paid", payload={"n": {"$": "event.data.customer * 2"}})
    big = {"a": {"$": "event.data"}, "b": {"$": "event.data"}}
    await job(world, "order.paid", payload=big)

    answer = await taken(world, PAID, NewEvent(type="order.paid", data="x" * 150_000))

    assert await outcomes(world, answer.events[0].event_id) == ["failed", "matched"]
    told = await matches(world, answer.events[1].event_id)
    assert "at most 256 KB" in told[1]["why"]


async def test_a_payload_with_a_wrong_expression_is_refused_when_saved(world: World) -> None:
    with pytest.raises(InvalidInput, match=r"payload\.a\[0\]"):
        await job(world, "order.paid", payload={"a": [{"$": "event.data +"}]})
    job_id = await job(world, "order.paid")
    with pytest.raises(InvalidInput, match=r"payload\.a"):
        await job_changes.edit_job(
            world.conn, job_id, JobChanges(payload={"a": {"$": "evnt.data"}}), now=world.now
        )


async def test_limits_and_order_hold_and_the_overlap_policy_is_not_asked(world: World) -> None:
    limit = JobLimit(key="customer:{args.event.data.customer}", max_running=1)
    await job(world, "order.paid", limits=(limit,), overlap=Overlap.QUEUE_ALL)
    events = [NewEvent(type="order.paid", data={"customer": who}) for who in ("ada", "bob", "ada")]

    await taken(world, *events)

    keys = await world.conn.fetch(
        "select array_agg(g.key order by g.key) from rota.live_runs as l"
        " join rota.gates as g on g.id = any(l.gates) group by l.id order by l.id"
    )
    told = sorted(row[0][1] for row in keys)
    assert told == ["key:customer:ada", "key:customer:ada", "key:customer:bob"]
    assert all(row[0][0].startswith("job:") for row in keys)


async def test_a_payload_without_the_key_of_a_limit_is_no_run(world: World) -> None:
    limit = JobLimit(key="customer:{args.event.data.customer}", max_running=1)
    await job(world, "order.paid", limits=(limit,))

    answer = await taken(world, NewEvent(type="order.paid", data={}))

    (told,) = await matches(world, answer.events[0].event_id)
    assert told["outcome"] == "failed"
    assert "args.event.data.customer" in told["why"]


async def test_more_runs_than_the_quota_lets_wait_refuse_all_of_a_batch(world: World) -> None:
    await tenants.update_tenant(world.conn, 1, quotas=Quotas(max_queued=2))
    await job(world, "order.paid")
    events = [NewEvent(type="order.paid", id=str(n)) for n in range(3)]

    with pytest.raises(QuotaExceeded):
        await taken(world, *events)

    assert [await world.count(table) for table in ("events", "event_keys", "live_runs")] == [0] * 3
    assert len((await taken(world, *events[:2])).new_run_ids) == 2


WRONG = {
    "empty": (NewEvent(type=""), "type"),
    "star": (NewEvent(type="order.*"), "type"),
    "long": (NewEvent(type="x" * 201), "type"),
    "control": (NewEvent(type="a", source="a\nb"), "source"),
    "long id": (NewEvent(type="a", id="x" * 501), "id"),
    "subject": (NewEvent(type="a", subject=""), "subject"),
    "large": (NewEvent(type="a", data="x" * EVENT_BYTES_MAX), "data"),
    "nul": (NewEvent(type="a", data={"a": "\x00"}), "data"),
    "many": (NewEvent(type="a", extensions={f"x{n}": 1 for n in range(33)}), "event"),
}


async def test_a_wrong_event_refuses_its_batch(world: World) -> None:
    for event, field in WRONG.values():
        with pytest.raises(InvalidInput) as refused:
            await taken(world, PAID, event)
        assert refused.value.field == f"events[1].{field}"

    assert await world.count("events") == 0


async def test_whoever_dies_before_the_commit_has_taken_nothing(
    world: World, database: str
) -> None:
    """Killed between taking events in and the commit: handed in again, they run once."""
    await job(world, "order.paid")
    await job(world, {"type": "order.paid", "debounce": "5s"})
    dying = await asyncpg.connect(database)
    pid = await dying.fetchval("select pg_backend_pid()")

    async def die() -> None:
        async with transaction(dying):
            await ingest_events(dying, 1, [PAID], now=world.now, new_id=world.new_id)
            await world.conn.fetchval("select pg_terminate_backend($1, 5000)", pid)

    with pytest.raises((StoreUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError)):
        await die()

    tables = ("events", "event_keys", "event_piles", "event_members", "live_runs")
    assert [await world.count(table) for table in tables] == [0] * 5
    assert len((await taken(world, PAID)).new_run_ids) == 1


async def test_tenants_do_not_see_each_others_events(world: World) -> None:
    other = (await tenants.create_tenant(world.conn, name="other")).id
    await job(world, "*")

    answer = await ingest_events(world.conn, other, [PAID], now=world.now, new_id=world.new_id)
    again = await taken(world, PAID)

    assert answer.new_run_ids == ()
    assert (again.duplicates, len(again.new_run_ids)) == (0, 1)


def numbered(number: int) -> Sequence[NewEvent]:
    return [NewEvent(type="order.paid", id=str(n), data={"n": n}) for n in range(number)]


async def test_a_thousand_events_are_taken_at_once_and_not_one_more(world: World) -> None:
    await job(world, {"type": "order.*", "where": "event.data.n % 2 == 0"})
    for n in range(20):
        await job(world, f"other.{n}")

    answer = await taken(world, *numbered(1000))

    assert len(answer.new_run_ids) == 500
    with pytest.raises(InvalidInput, match="a request can have at most 1000 events"):
        await taken(world, *numbered(1001))

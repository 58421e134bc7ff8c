"""One process of the fleet reads a source, says how far it got, and what went wrong (S7)."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.support.event_places import Folder, Stream
from tests.support.listeners import NAME, TYPE, Listener
from tests.support.world import World

from rota.contract.source_messages import MessageFormat
from rota.core.errors import StoreUnavailable
from rota.core.log_events import EventsIngested, MessageSkipped, SourceAcquired, SourceFailed
from rota.core.quotas import Quotas
from rota.core.submissions import JobSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.store import event_sources, tenants
from rota.store.event_sources import SourceRow
from rota.store.pool import read_database_time

LATER = timedelta(minutes=2)
Start = Callable[..., Listener]


@pytest.fixture
async def start(database: str, stream: Stream) -> AsyncIterator[Start]:
    """Processes that read a stream of Redis."""
    started: list[Listener] = []

    def begin(**given: Any) -> Listener:
        options = {**stream.options(), **given.pop("options", {})}
        started.append(Listener(database, given.pop("kind", stream.kind), options, **given))
        return started[-1]

    yield begin
    for each in started:
        await each.close()


@pytest.fixture
async def job(world: World) -> None:
    now = await read_database_time(world.conn)
    spec = JobSpec(name="on thing", kind="noop", schedule={"event": f"{TYPE}.*"})
    plain = JobSpec(name="on plain thing", kind="noop", schedule={"event": TYPE})
    await submit_jobs(world.conn, [spec, plain], now=now, new_id=world.new_id)


async def row(listener: Listener) -> SourceRow:
    async with listener.line.acquire() as conn:
        (found,) = await event_sources.list_sources(conn, tenant_id=1)
    return found


async def test_one_process_reads_and_another_goes_on_when_it_lets_go(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    one, two = start(), start()
    await stream.put('{"n": 1}')

    await one.until(1)
    waits = await two.duty.tick()
    await stream.put('{"n": 2}')
    await one.until(2)
    await one.close()
    await stream.put('{"n": 3}')
    await two.until(3)

    assert waits > 1
    assert await world.count("live_runs") == 3
    assert [type(each) for each in one.events].count(SourceAcquired) == 1
    assert sum(each.count for each in two.events if isinstance(each, EventsIngested)) == 1


async def test_a_process_that_lost_its_lease_commits_nothing(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    frozen, fresh = start(), start(ahead=LATER)
    await frozen.duty.tick()
    await fresh.duty.tick()
    await stream.put("while it was frozen")

    await frozen.duty.tick()
    before = await world.count("events")
    # Redis gave it to the frozen one, as the same consumer: the next to open reads it again.
    await fresh.close()
    last = start(ahead=LATER * 2)
    await last.until(1)

    assert before == 0
    assert await world.count("live_runs") == 1


async def test_the_row_tells_position_counts_and_reader(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start()
    await stream.put("a", "b")

    await listener.until(2)

    found = await row(listener)
    assert (found.name, found.kind, found.taken, found.refused) == (NAME, "redis_streams", 2, 0)
    assert (found.failures, found.error) == (0, None)
    assert found.position is not None
    assert found.reader == listener.duty.display_name
    assert found.taken_at is not None


async def test_a_database_that_was_away_for_a_moment_costs_nothing(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start()
    await listener.duty.tick()
    await stream.put("a", "b")
    await world.conn.execute(
        "create function rota.away() returns trigger language plpgsql as"
        " $$ begin raise exception 'shutting down' using errcode = '57P01'; end $$;"
        " create trigger away before update on rota.sources"
        " for each row execute function rota.away()"
    )

    with pytest.raises(StoreUnavailable):
        await listener.duty.tick()
    await world.conn.execute("drop trigger away on rota.sources")
    # The lease is still its own: it does not wait until that has run out.
    await listener.until(2, patience=10)

    assert await world.count("live_runs") == 2


async def test_an_event_carries_what_the_message_said(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start()
    await stream.put('{"amount": 7}', "no JSON")

    await listener.until(2)

    told = await world.conn.fetch("select body from rota.events order by body ->> 'id'")
    bodies = [json.loads(each[0]) for each in told]
    assert [each["data"] for each in bodies] == [{"amount": 7}, "no JSON"]
    assert {each["source"] for each in bodies} == {f"/sources/{NAME}"}
    assert {each["type"] for each in bodies} == {TYPE}
    assert bodies[0]["id"].startswith(f"{stream.name}/")


async def test_a_source_that_cannot_be_reached_says_so_without_its_password_and_is_let_go(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    broken = start(options={"url": "redis://me:hunter2@127.0.0.1:1/0"})

    pause = await broken.duty.tick()
    after = await row(broken)
    fine = start()
    await stream.put("a")
    await fine.until(1)

    (told,) = [each for each in broken.events if isinstance(each, SourceFailed)]
    assert pause >= 1
    assert (after.failures, after.reader) == (1, None)
    assert "127.0.0.1:1" in (after.error or "")
    assert "hunter2" not in f"{after.error}{told}"
    assert (await row(fine)).failures == 0


async def test_options_that_are_wrong_are_said_by_their_name(
    start: Start, folder: Folder, world: World
) -> None:
    listener = start(kind="folder")

    await listener.duty.tick()

    assert "path: None is invalid" in ((await row(listener)).error or "")


async def test_another_kind_under_the_same_name_begins_at_its_own_beginning(
    start: Start, stream: Stream, folder: Folder, world: World, job: None
) -> None:
    one = start()
    await stream.put("a")
    await one.until(1)
    await one.close()
    await folder.put("b")

    two = Listener(one.url, folder.kind, folder.options())
    await two.until(2)
    told = await row(two)
    await two.close()

    assert (told.kind, told.failures, told.error) == ("folder", 0, None)


async def test_a_message_that_is_no_event_stops_its_source_behind_the_ones_before_it(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start()
    await stream.put("a", "b", '{"nul": "\\u0000"}', "c")

    for _ in range(6):
        await listener.duty.tick()

    found = await row(listener)
    assert await world.count("live_runs") == 2
    assert found.taken == 2
    assert found.failures >= 1
    assert "message" in (found.error or "")


async def test_a_message_that_is_no_event_is_passed_over_and_counted_if_that_is_wanted(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start(more={"skips_bad": True})
    await stream.put("a", '{"nul": "\\u0000"}', "c")

    await listener.until(2)

    found = await row(listener)
    (refused,) = [each for each in listener.events if isinstance(each, MessageSkipped)]
    assert (found.taken, found.refused, found.failures) == (2, 1, 0)
    assert refused.message in (found.error or "")


async def test_what_a_quota_does_not_allow_waits_at_the_source(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    listener = start()
    await tenants.update_tenant(world.conn, 1, quotas=Quotas(max_queued=2))
    await stream.put("a", "b", "c")
    for _ in range(5):
        await listener.duty.tick()
    before, told = await world.count("live_runs"), await row(listener)

    await tenants.update_tenant(world.conn, 1, quotas=Quotas(max_queued=3))
    await listener.until(3)

    assert before == 2
    assert "max_queued" in (told.error or "")
    assert await world.count("events") == 3


async def test_cloudevents_are_the_events_that_they_say_they_are(
    start: Start, stream: Stream, world: World, job: None
) -> None:
    reading = MessageFormat(source="/sources/x", type="x", is_cloudevents=True)
    listener = start(more={})
    object.__setattr__(listener.duty.configured, "reading", reading)
    event = {"specversion": "1.0", "id": "7", "source": "/shop", "type": f"{TYPE}.paid"}
    await stream.put(json.dumps({**event, "data": {"n": 1}}), json.dumps(event))

    await listener.until(1)
    await listener.duty.tick()

    ((told,),) = await world.conn.fetch("select body from rota.events")
    body = json.loads(told)
    assert (body["id"], body["source"], body["type"]) == ("7", "/shop", f"{TYPE}.paid")
    # The second was the same event again, under another id of the stream.
    assert (await row(listener)).taken == 1


async def test_a_tenant_that_is_not_there_is_said_and_nothing_is_written(
    start: Start, world: World
) -> None:
    listener = start()
    object.__setattr__(listener.duty.configured, "tenant", "nobody")

    await listener.duty.tick()

    (told,) = listener.events
    assert isinstance(told, SourceFailed)
    assert "nobody" in told.reason
    assert await world.count("sources") == 0

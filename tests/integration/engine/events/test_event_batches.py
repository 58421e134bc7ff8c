"""Debounce, batches and waiting for several: one run, at the right time, whoever dies (S7)."""

import asyncio
import json
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.integration.engine.events.test_ingestion import job, matches, runs, taken
from tests.support.world import World

from rota.core.errors import StoreUnavailable
from rota.core.event_rules.event import NewEvent
from rota.engine.events.window_closing import WindowCloser, close_due_windows
from rota.engine.submission import job_changes
from rota.store.transaction import transaction

EMPTY = ("event_piles", "event_members")


def event(number: int, kind: str = "order.paid", **data: Any) -> NewEvent:
    return NewEvent(type=kind, id=str(number), data={"n": number, **data})


async def left(world: World) -> list[int]:
    return [await world.count(table) for table in EMPTY]


async def numbers(world: World) -> list[list[int]]:
    """The numbers of the events in each run, in the order of the runs."""
    found = []
    for _, payload in await runs(world):
        events = payload.get("events") or [payload["event"]]
        found.append([each["data"]["n"] for each in events])
    return sorted(found)


async def skipped(world: World) -> list[dict[str, Any]]:
    rows = await world.conn.fetch("select state::text, reason from rota.runs order by id")
    assert all(row[0] == "skipped" for row in rows)
    return [json.loads(row[1]) for row in rows]


async def test_a_debounce_runs_once_after_quiet_with_the_latest(world: World) -> None:
    await job(world, {"type": "order.paid", "debounce": "30s"})
    first = await taken(world, event(1))
    await world.advance(seconds=20)
    second = await taken(world, event(2), event(3))
    await world.advance(seconds=29)

    assert (first.new_run_ids, await close_due_windows(world.conn), await numbers(world)) == (
        (),
        0,
        [],
    )

    await world.advance(seconds=1)
    assert await close_due_windows(world.conn) == 1
    assert await numbers(world) == [[3]]
    assert first.events[0].run_ids == second.events[1].run_ids
    (made,) = await world.conn.fetch("select id from rota.live_runs")
    assert first.events[0].run_ids == (made[0],)
    assert await left(world) == [0, 0]
    (told,) = await matches(world, first.events[0].event_id)
    assert (told["outcome"], UUID(told["run_id"])) == ("gathered", made[0])


async def test_a_debounce_is_not_put_off_for_ever(world: World) -> None:
    await job(world, {"type": "order.paid", "debounce": {"quiet": "30s", "most": "60s"}})
    for number in range(4):
        await taken(world, event(number))
        await world.advance(seconds=20)

    # At 60 s it was due, and the event of that moment began another one.
    assert await numbers(world) == [[2]]
    await world.advance(seconds=30)
    await close_due_windows(world.conn)
    assert await numbers(world) == [[2], [3]]


async def test_a_debounce_is_kept_for_each_key(world: World) -> None:
    await job(world, {"type": "*", "debounce": {"quiet": "5s", "key": "event.data.who"}})
    answer = await taken(
        world,
        event(1, who="ada"),
        event(2, who="bob"),
        event(3, who="ada"),
        event(4),
        event(5, who=7),
    )
    await world.advance(seconds=5)
    await close_due_windows(world.conn)

    assert sorted(await numbers(world)) == [[2], [3], [5]]
    (told,) = await matches(world, answer.events[3].event_id)
    assert told["outcome"] == "failed"
    assert "must be a string or a number" in told["why"]


async def test_a_batch_runs_when_it_is_full_or_when_its_time_is_over(world: World) -> None:
    await job(world, {"type": "order.paid", "batch": {"size": 3, "within": "10s"}})

    full = await taken(world, *(event(number) for number in range(7)))
    assert len(full.new_run_ids) == 2
    assert await numbers(world) == [[0, 1, 2], [3, 4, 5]]

    await world.advance(seconds=9)
    assert len((await taken(world, event(7))).new_run_ids) == 0
    assert await close_due_windows(world.conn) == 0
    await world.advance(seconds=1)
    assert await close_due_windows(world.conn) == 1
    assert await numbers(world) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert await left(world) == [0, 0]


async def test_a_batch_is_full_when_its_payload_is(world: World) -> None:
    await job(world, {"type": "*", "batch": {"size": 100, "within": "10s"}})

    answer = await taken(world, *(event(number, text="x" * 100_000) for number in range(5)))
    await world.advance(seconds=10)
    await close_due_windows(world.conn)

    assert len(answer.new_run_ids) == 2
    assert await numbers(world) == [[0, 1], [2, 3], [4]]


async def test_several_are_waited_for_and_the_latest_of_each_counts(world: World) -> None:
    trigger = {
        "all_of": ["order.paid", {"type": "stock.*", "where": "event.data.left > 0"}],
        "within": "1h",
        "key": "event.data.order",
    }
    await job(world, trigger)
    await taken(world, event(1, order="a"), event(2, order="b"), event(3, order="a"))
    await taken(world, event(4, "stock.taken", order="a", left=0))
    await world.advance(minutes=59)

    answer = await taken(world, event(5, "stock.taken", order="a", left=4))

    assert len(answer.new_run_ids) == 1
    assert await numbers(world) == [[3, 5]]
    assert await left(world) == [1, 1]


async def test_several_that_do_not_all_come_are_given_up_on_record(world: World) -> None:
    await job(world, {"all_of": ["a", "b", "c"], "within": "1m"})
    answer = await taken(world, event(1, "b"))
    await world.advance(minutes=1)
    late = await taken(world, event(2, "a"), event(3, "c"))

    assert late.new_run_ids == ()
    assert late.events[0].run_ids != answer.events[0].run_ids
    (told,) = await skipped(world)
    assert (told["code"], told["missing"]) == ("incomplete", ["a", "c"])

    await world.advance(minutes=1)
    assert await close_due_windows(world.conn) == 1
    assert [each["missing"] for each in await skipped(world)] == [["a", "c"], ["b"]]
    assert (await runs(world), await left(world)) == ([], [0, 0])


async def test_the_same_type_twice_needs_two_events(world: World) -> None:
    await job(world, {"all_of": ["a", "a"], "within": "1m"})

    assert (await taken(world, event(1, "a"))).new_run_ids == ()
    assert len((await taken(world, event(2, "a"))).new_run_ids) == 1
    assert await numbers(world) == [[1, 2]]


async def test_what_was_gathered_for_a_paused_job_is_on_record_only(world: World) -> None:
    paused = await job(world, {"type": "*", "debounce": "5s"})
    deleted = await job(world, {"type": "*", "debounce": "5s"})
    await taken(world, event(1))
    await job_changes.pause_job(world.conn, paused, by="ada", now=world.now)
    await job_changes.delete_job(world.conn, deleted, by="ada")
    await world.advance(seconds=5)

    assert await close_due_windows(world.conn) == 2
    (told,) = await skipped(world)
    assert (told["code"], await runs(world), await left(world)) == ("paused", [], [0, 0])


async def test_a_payload_that_cannot_be_made_of_a_pile_is_on_record(world: World) -> None:
    await job(
        world, {"type": "*", "debounce": "5s"}, payload={"n": {"$": "event.data.n * event.type"}}
    )
    await job(
        world,
        {"type": "*", "batch": {"size": 2, "within": "5s", "key": "event.type"}},
        payload={"all": {"$": "events"}, "last": {"$": "event.data.n"}, "key": {"$": "key"}},
    )
    await taken(world, event(1), event(2))
    await world.advance(seconds=5)
    await close_due_windows(world.conn)

    (told,) = await skipped(world)
    assert told["code"] == "payload"
    ((_, payload),) = await runs(world)
    assert [each["data"]["n"] for each in payload["all"]] == [1, 2]
    assert (payload["last"], payload["key"]) == (2, "order.paid")


async def test_whoever_dies_while_making_a_run_leaves_the_pile(world: World, database: str) -> None:
    """Killed between making the run and the commit: the next one makes it, once."""
    await job(world, {"type": "*", "debounce": "5s"})
    answer = await taken(world, event(1))
    await world.advance(seconds=5)
    dying = await asyncpg.connect(database)
    await dying.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    pid = await dying.fetchval("select pg_backend_pid()")

    async def die() -> None:
        async with transaction(dying):
            assert await close_due_windows(dying) == 1
            await world.conn.fetchval("select pg_terminate_backend($1, 5000)", pid)

    with pytest.raises((StoreUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError)):
        await die()

    assert (await runs(world), await left(world)) == ([], [1, 1])
    assert [await close_due_windows(world.conn), await close_due_windows(world.conn)] == [1, 0]
    (made,) = await world.conn.fetch("select id from rota.live_runs")
    assert answer.events[0].run_ids == (made[0],)


async def test_many_nodes_make_each_run_once(world: World, database: str) -> None:
    await job(world, {"type": "*", "batch": {"size": 5, "within": "5s", "key": "event.data.n"}})
    await taken(world, *(event(number) for number in range(30)))
    await world.advance(seconds=5)
    conns = [await asyncpg.connect(database) for _ in range(3)]
    for conn in conns:
        await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())

    async def all_of(conn: Any) -> int:
        done = 0
        while made := await close_due_windows(conn, limit=4):
            done += made
        return done

    counts = await asyncio.gather(*map(all_of, conns))
    for conn in conns:
        await conn.close()

    assert sum(counts) == 30
    assert sorted(await numbers(world)) == [[number] for number in range(30)]


async def test_many_who_add_to_one_pile_at_once_lose_nothing(world: World, database: str) -> None:
    await job(world, {"type": "*", "batch": {"size": 4, "within": "5s"}})
    conns = [await asyncpg.connect(database) for _ in range(4)]

    async def add(place: int, conn: Any) -> None:
        for n in range(5):
            other = World(conn)
            other.now = world.now
            other.new_id = world.new_id  # type: ignore[method-assign]
            await taken(other, event(place * 5 + n))

    await asyncio.gather(*(add(place, conn) for place, conn in enumerate(conns)))
    for conn in conns:
        await conn.close()

    found = await numbers(world)
    assert [len(each) for each in found] == [4] * 5
    assert sorted(number for each in found for number in each) == list(range(20))
    assert await left(world) == [0, 0]


async def test_the_duty_rests_only_when_nothing_is_left(world: World) -> None:
    class Lent:
        def acquire(self) -> Any:
            return self

        async def __aenter__(self) -> Any:
            return world.conn

        async def __aexit__(self, *_: object) -> None:
            return None

    told: list[int] = []
    duty = WindowCloser(source=Lent(), on_runs_created=lambda: told.append(1))
    await job(world, {"type": "*", "debounce": {"quiet": "5s", "key": "event.data.n"}})
    await taken(world, *(event(number) for number in range(101)))

    assert await duty.tick() > 0
    await world.advance(seconds=5)
    assert [await duty.tick(), await duty.tick() > 0] == [0.0, True]
    assert (told, len(await runs(world))) == ([1, 1], 101)

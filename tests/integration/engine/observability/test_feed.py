"""The live feed tells what happened, and misses nothing that is committed late."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.feeding import news, types
from tests.support.standing import Standing
from tests.support.world import World

from rota.core.errors import StoreUnavailable
from rota.core.states import RunState
from rota.engine.observability.feed import LiveFeed
from rota.store import checkpoints, live_runs
from rota.store import feed as store_feed
from rota.store.checkpoints import RunProgress
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, ReturnedAttempt, RunEnding


@pytest.fixture
async def other(database: str, world: World) -> AsyncIterator[Connection]:
    """A second connection with the same clock."""
    conn = await asyncpg.connect(database)
    await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    yield conn
    await conn.close()


async def finish(conn: Connection, session: UUID, claimed: ClaimedRun) -> None:
    ending = RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED)
    assert await live_runs.finish_runs(conn, session_id=session, endings=[ending])


async def test_the_life_of_a_run_is_told_step_by_step(world: World, feed: LiveFeed) -> None:
    session = await world.session()
    async with feed.open(1) as stream:
        run_id = await world.run()
        made = await news(feed, stream)
        (claimed,) = await world.claim(session)
        started = await news(feed, stream)
        await checkpoints.save_progress(world.conn, [RunProgress(run_id, 1, 0.5, "half of it")])
        progressed = await news(feed, stream)
        await finish(world.conn, session, claimed)
        ended = await news(feed, stream)
        nothing = await news(feed, stream)

    told = [(event.type, event.state, event.run_id) for event in made + started + ended]
    assert told == [
        ("run.made", "queued", run_id),
        ("run.started", "running", run_id),
        ("run.ended", "succeeded", run_id),
    ]
    assert [(e.type, e.progress, e.message) for e in progressed] == [
        ("run.progressed", 0.5, "half of it")
    ]
    assert nothing == []


async def test_an_attempt_that_failed_and_a_wish_to_cancel_are_told(
    world: World, feed: LiveFeed
) -> None:
    session, claimed = await world.running()
    async with feed.open(1) as stream:
        back = ReturnedAttempt(claimed.id, 1, RunState.RETRYING, "failed", 1, timedelta(minutes=1))
        await live_runs.put_back_runs(world.conn, session_id=session, attempts=[back])
        failed = await news(feed, stream)
        await world.advance(minutes=2)
        await world.claim(await world.session())
        started = await news(feed, stream)
        await live_runs.cancel_runs(world.conn, ids=[claimed.id])
        asked = await news(feed, stream)

    assert [(e.type, e.state, e.message) for e in failed] == [
        ("run.attempted", "retrying", "failed")
    ]
    assert [(e.type, e.attempt) for e in started] == [("run.started", 2)]
    assert [(e.type, e.state) for e in asked] == [("run.cancelling", "cancelling")]


async def test_a_job_is_told_when_it_is_made_and_when_it_changes(
    world: World, feed: LiveFeed
) -> None:
    async with feed.open(1) as stream:
        job_id = await world.job(name="nightly")
        made = await news(feed, stream)
        await world.advance(seconds=1)
        await world.conn.execute(
            "update rota.jobs set state = 'paused', updated_at = rota.now() where id = $1", job_id
        )
        paused = await news(feed, stream)

    assert [(e.type, e.job_name, e.state, e.job_id) for e in made + paused] == [
        ("job.changed", "nightly", "active", job_id),
        ("job.changed", "nightly", "paused", job_id),
    ]


async def test_a_run_that_waited_for_days_is_told_when_it_ends(
    world: World, feed: LiveFeed
) -> None:
    session = await world.session()
    await world.run(id=world.new_id(), job_id=await world.job(name="late one"))
    await world.advance(days=3)
    session = await world.session()
    async with feed.open(1) as stream:
        (claimed,) = await world.claim(session)
        await finish(world.conn, session, claimed)
        ended = await news(feed, stream)

    assert [(e.type, e.job_name) for e in ended] == [("run.ended", "late one")]


async def test_a_tenant_hears_nothing_of_another(world: World, feed: LiveFeed) -> None:
    async with feed.open(1) as mine, feed.open(2) as theirs:
        await world.run(tenant_id=2)
        await world.job(tenant_id=2)

        assert await types(feed, mine) == []
        assert sorted(event.type for event in await theirs.next()) == ["job.changed", "run.made"]


@pytest.mark.parametrize("in_savepoint", [False, True])
async def test_what_is_committed_late_is_told_once_it_is(
    world: World, feed: LiveFeed, other: Connection, in_savepoint: bool
) -> None:
    session, claimed = await world.running()
    async with feed.open(1) as stream:
        await news(feed, stream)
        late = other.transaction()
        await late.__aenter__()
        if in_savepoint:
            # Its rows carry the number of the savepoint, which no snapshot lists as open.
            await other.execute("select pg_current_xact_id()")
            async with other.transaction():
                await finish(other, session, claimed)
        else:
            await finish(other, session, claimed)
        told: list[str] = []
        for _ in range(10):
            await world.advance(seconds=2)
            await world.run()
            told += await types(feed, stream)

        await late.__aexit__(None, None, None)
        after = await types(feed, stream)
        rest = await types(feed, stream)

    assert told == ["run.made"] * 10
    assert after == ["run.ended"]
    assert rest == []


async def test_a_transaction_that_stays_open_for_long_does_not_hold_the_feed_up(
    world: World, feed: LiveFeed, other: Connection
) -> None:
    async with other.transaction():
        await other.execute("select pg_current_xact_id()")
        async with feed.open(1) as stream:
            for _ in range(100):
                await world.advance(seconds=1)
                await world.run()
                assert await types(feed, stream) == ["run.made"]

            assert len(feed._delivered) <= 40


async def test_a_run_that_a_transaction_of_a_minute_ends_last_is_told(
    world: World, feed: LiveFeed, other: Connection
) -> None:
    session, claimed = await world.running()
    async with feed.open(1) as stream:
        await news(feed, stream)
        late = other.transaction()
        await late.__aenter__()
        await other.execute("select pg_current_xact_id()")
        told: list[str] = []
        for _ in range(60):
            await world.advance(seconds=1)
            await world.run()
            told += await types(feed, stream)
        await other.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
        await finish(other, session, claimed)
        await late.__aexit__(None, None, None)
        after = await types(feed, stream)
        rest = await types(feed, stream)

    assert told == ["run.made"] * 60
    assert after == ["run.ended"]
    assert rest == []


async def test_a_run_that_ended_long_before_its_transaction_commits_is_told(
    world: World, feed: LiveFeed, other: Connection
) -> None:
    session, claimed = await world.running()
    async with feed.open(1) as stream:
        await news(feed, stream)
        late = other.transaction()
        await late.__aenter__()
        await finish(other, session, claimed)
        told: list[str] = []
        for _ in range(150):
            await world.advance(seconds=2)
            await world.run()
            told += await types(feed, stream)
        await late.__aexit__(None, None, None)
        after = await types(feed, stream)
        await world.advance(seconds=20)
        rest = await types(feed, stream)
        remembered = len(feed._delivered)

    assert told == ["run.made"] * 150
    assert after == ["run.ended"]
    assert rest in ([], ["quiet"])
    assert remembered == 0


async def test_a_report_that_only_reads_does_not_hold_the_feed_up(
    world: World, feed: LiveFeed, other: Connection
) -> None:
    async with other.transaction():
        await other.execute("set transaction isolation level repeatable read")
        await other.execute("select pg_current_xact_id(), count(*) from rota.runs")
        async with feed.open(1) as stream:
            for _ in range(100):
                await world.advance(seconds=1)
                await world.run()
                assert await types(feed, stream) == ["run.made"]

            assert len(feed._delivered) <= 10
            assert feed._position is not None
            assert feed._position.since >= world.now - timedelta(seconds=10)


async def test_held_runs_that_start_and_stop_are_counted_apart(
    world: World, feed: LiveFeed
) -> None:
    session = await world.session()
    await world.runs(6)
    await world.claim(session)
    async with feed.open(1) as stream:
        ids = [run.id for run in await world.claim(session)]
        held = await world.conn.fetch("select id from rota.live_runs order by id")
        await live_runs.cancel_runs(world.conn, ids=[row[0] for row in held[:2]])
        told = await types(feed, stream)

    assert ids == []
    assert "lagged" not in told
    assert told.count("run.cancelling") == 2


async def test_nothing_is_lost_while_the_database_is_away(world: World) -> None:
    class Failing(Standing):
        is_away = False

        @asynccontextmanager
        async def acquire(self) -> AsyncIterator[Connection]:
            if self.is_away:
                raise StoreUnavailable("away")
            async with super().acquire() as conn:
                yield conn

    source = Failing(world.conn)
    feed = LiveFeed(source)
    async with feed.open(1) as stream:
        source.is_away = True
        made = await world.run()
        with pytest.raises(StoreUnavailable):
            await feed.tick()
        source.is_away = False
        await world.advance(seconds=60)
        events = await news(feed, stream)

    assert [event.run_id for event in events] == [made]


async def test_the_number_of_a_transaction_is_right_across_a_wrap(conn: Connection) -> None:
    near = 5 * 2**32 + 10
    for full in (near, near - 11, near + 2**31 - 1, near - 2**31, 5 * 2**32):
        short = str(full % 2**32)
        assert await conn.fetchval("select rota.full_xid($1::text::xid, $2)", short, near) == full


LOOKS = {
    "ended": (store_feed.ENDED, {"runs_rest_finished_at_idx", "jobs_pkey"}),
    "attempted": (store_feed.ATTEMPTED, {"attempts_rest_finished_at_idx", "live_runs_pkey"}),
    "made": (store_feed.MADE, {"live_runs_pkey", "jobs_pkey"}),
    "held": (store_feed.HELD_RUNS, {"live_runs_held", "jobs_pkey"}),
    "progressed": (store_feed.PROGRESSED, {"live_runs_held", "run_notes_rest_pkey"}),
    "jobs": (store_feed.JOBS, {"jobs_changed"}),
}


@pytest.mark.parametrize("name", LOOKS)
async def test_a_look_walks_its_indexes(world: World, name: str) -> None:
    look, wanted = LOOKS[name]
    nothing = ", ".join("null" for _ in look.parameters)
    async with world.conn.transaction():
        await store_feed.read_horizon(world.conn)
        await world.conn.execute(f"prepare look as {look.text}")
        rows = await world.conn.fetch(f"explain (format json) execute look({nothing})")
    plan = list(nodes(json.loads(rows[0][0])[0]["Plan"]))

    assert wanted <= {node.get("Index Name") for node in plan}
    assert not [node for node in plan if node["Node Type"] in {"Seq Scan", "Gather"}]


async def test_a_look_reads_the_end_of_history_and_not_all_of_it(
    world: World, feed: LiveFeed
) -> None:
    await fill(world.conn, 60_000)
    async with feed.open(1) as stream:
        await feed.tick()
        plan = await explain(world)
        await world.job()
        assert await types(feed, stream) == ["job.changed"]

    (heap,) = [node for node in plan if node["Node Type"] == "Bitmap Heap Scan"]
    assert heap["Relation Name"] == "runs_rest"
    pages = await world.conn.fetchval("select pg_relation_size('rota.runs_rest') / 8192")
    assert pages > 1_000
    assert heap["Lossy Heap Blocks"] <= 128


async def fill(conn: Connection, number: int) -> None:
    await conn.execute(
        """
        insert into rota.runs (
            id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, left_state, trigger, priority
        )
        select gen_random_uuid(), gen_random_uuid(), at, at, at, at - interval '1 hour', 1, 1, 1,
            1, 1, 'succeeded', 'running', 'tick', 5
        from generate_series(1, $1::integer), (select rota.now() as at) as clock
        """,
        number,
    )


async def explain(world: World) -> list[dict[str, Any]]:
    """How the ended runs of the last seconds are found."""
    async with world.conn.transaction():
        await store_feed.read_horizon(world.conn)
        arguments = store_feed.ENDED._bind(
            {"tenant_ids": [1], "xid": 3, "since": world.now - timedelta(seconds=6), "most": 10}
        )
        rows = await world.conn.fetch(
            f"explain (analyze, format json) {store_feed.ENDED.text}", *arguments
        )
    return list(nodes(json.loads(rows[0][0])[0]["Plan"]))


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)

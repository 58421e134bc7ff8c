"""A reader of a source is killed at any point: no event is lost, and none runs twice (S7)."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.event_places import Place, Topic
from tests.support.listeners import TYPE, Listener
from tests.support.world import World

from rota.core.submissions import JobSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.store.pool import read_database_time

ROOT = Path(__file__).parents[3]
# Later than any lease of the killed.
LATER = timedelta(minutes=2)


@pytest.fixture
async def job(world: World) -> None:
    """A job that runs once for every event."""
    now = await read_database_time(world.conn)
    spec = JobSpec(name="on thing", kind="noop", schedule={"event": TYPE})
    await submit_jobs(world.conn, [spec], now=now, new_id=world.new_id)


@asynccontextmanager
async def process(url: str, place: Place, dies: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A real process that reads the place."""
    wish = {"url": url, "kind": place.kind, "options": place.options(), "dies": dies}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.listeners", json.dumps(wish), cwd=ROOT
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def successor(url: str, place: Place) -> list[str]:
    """Another process reads on, and one more after it; the ids of the events that have a run."""
    for count in (3, 4):
        if count == 4:
            await place.put("d")
        listener = Listener(url, place.kind, place.options(), ahead=LATER * count)
        await listener.until(count)
        await listener.close()
    async with listener.line.acquire() as conn:
        rows = await conn.fetch("select body ->> 'id' from rota.events order by id")
        listener.line.close()
        return [row[0] for row in rows]


@pytest.mark.parametrize("dies", ["read", "committed"])
async def test_a_killed_reader_loses_nothing_and_runs_nothing_twice(
    place: Place, database: str, world: World, job: None, dies: str
) -> None:
    await place.put("a", "b", "c")
    async with process(database, place, dies) as child:
        code = await child.wait()
    before = await world.count("live_runs")

    events = await successor(database, place)

    assert code == -signal.SIGKILL
    assert before == (3 if dies == "committed" else 0)
    assert len(events) == len(set(events)) == await world.count("live_runs") == 4


async def test_a_reader_that_is_killed_inside_its_transaction_has_done_nothing(
    topic: Topic, database: str, world: World, job: None
) -> None:
    await topic.put("a", "b", "c")
    # Holds the last statement before the commit until the killed one's session is ended.
    await world.conn.execute(
        "create function rota.halt() returns trigger language plpgsql as"
        " $$ begin if new.taken > 0 then perform pg_sleep(4); end if; return new; end $$;"
        " create trigger halt before update on rota.sources"
        " for each row execute function rota.halt()"
    )
    sleeping = (
        "select pid from pg_stat_activity"
        " where wait_event = 'PgSleep' and datname = current_database()"
    )
    async with process(database, topic, "never") as child, asyncio.timeout(30):
        while (pid := await world.conn.fetchval(sleeping)) is None:
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.02)
        child.kill()
        await child.wait()
    await world.conn.execute("select pg_terminate_backend($1, 5000)", pid)
    await world.conn.execute("drop trigger halt on rota.sources")
    before = await world.count("events")

    events = await successor(database, topic)

    assert before == 0
    assert len(events) == len(set(events)) == await world.count("live_runs") == 4

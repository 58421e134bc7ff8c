"""The database's clock decides when a submission is due, whatever the API's machine shows (A5)."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.serving import Served, serving
from tests.support.wrong_clock import WrongClock

from rota.core.log_events import ClockSkewed
from rota.store.driver import Connection

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
# How far the estimate of the database's time may lag behind it.
ERROR = SECOND
OFFSETS = pytest.mark.parametrize("offset", [HOUR, -HOUR, 3 * SECOND], ids=["+1 h", "-1 h", "+3 s"])
DUE = "select min(due_at) from rota.live_runs"
LATER = "select due_at from rota.scheduled_runs"
TICK = "select tick_at from rota.cursors where job_id = any (select id from rota.jobs)"


async def moment(conn: Connection, query: str = "select rota.now()") -> datetime:
    return datetime.fromisoformat((await conn.fetchval(query)).isoformat())


async def posted(api: Served, path: str, body: Any, query: str) -> tuple[timedelta, timedelta]:
    """Send it; return how long after the database's times before and after it a row is due."""
    before = await moment(api.conn)
    answer = await api.platform.post(path, body)
    after = await moment(api.conn)
    assert answer.status in {200, 201, 202}, answer.text
    due = await moment(api.conn, query)
    return due - before, due - after


@OFFSETS
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/jobs", {"name": "now", "kind": "noop"}),
        ("/v1/jobs/bulk", {"jobs": [{"name": "now", "kind": "noop"}]}),
        ("/v1/jobs/bulk", {"jobs": [{"name": f"now {each}", "kind": "noop"} for each in "abc"]}),
    ],
    ids=["single", "bulk of one", "bulk"],
)
async def test_a_job_without_a_schedule_is_due_at_once(
    database: str, tmp_path: Path, offset: timedelta, path: str, body: Any
) -> None:
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        since, ahead = await posted(api, path, body, DUE)

    assert since >= timedelta(0) >= ahead


@OFFSETS
async def test_a_delay_counts_from_the_databases_time(
    database: str, tmp_path: Path, offset: timedelta
) -> None:
    job = {"name": "later", "kind": "noop", "schedule": {"after": "3s"}}
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        since, ahead = await posted(api, "/v1/jobs", job, LATER)

    assert since >= 3 * SECOND - ERROR
    assert ahead <= 3 * SECOND


@OFFSETS
async def test_an_interval_begins_with_the_databases_time(
    database: str, tmp_path: Path, offset: timedelta
) -> None:
    job = {"name": "often", "kind": "noop", "schedule": {"every": "1s"}}
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        since, ahead = await posted(api, "/v1/jobs", job, TICK)

    assert since >= -ERROR
    assert ahead <= SECOND


@OFFSETS
async def test_a_run_by_hand_is_due_at_once(
    database: str, tmp_path: Path, offset: timedelta
) -> None:
    job = {"name": "by hand", "kind": "noop", "schedule": {"cron": "0 0 1 1 *"}}
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        made = await api.platform.post("/v1/jobs", job)
        path = f"/v1/jobs/{made.json['job_id']}/runNow"
        since, ahead = await posted(api, path, None, DUE)

    assert since >= timedelta(0) >= ahead


@OFFSETS
async def test_a_time_is_past_by_the_databases_clock_only(
    database: str, tmp_path: Path, offset: timedelta
) -> None:
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        now = await moment(api.conn)
        soon, past = ((now + each * HOUR / 2).isoformat() for each in (1, -1))
        coming = await api.platform.post("/v1/jobs", {"name": "soon", "schedule_time": soon})
        gone = await api.platform.post("/v1/jobs", {"name": "past", "schedule_time": past})

    assert coming.status == 201
    assert gone.status == 422


@OFFSETS
async def test_an_event_is_received_at_the_databases_time(
    database: str, tmp_path: Path, offset: timedelta
) -> None:
    event = {"id": "1", "type": "order.paid", "source": "/shop", "data": {}}
    async with serving(database, tmp_path, clock=WrongClock(offset)) as api:
        since, ahead = await posted(
            api, "/v1/events", event, "select min(received_at) from rota.events"
        )

    assert since >= timedelta(0) >= ahead


async def test_an_api_whose_clock_is_far_off_is_not_ready(database: str, tmp_path: Path) -> None:
    async with serving(database, tmp_path, clock=WrongClock(HOUR)) as api:
        ready = await api.stranger().get("/readyz")
        alive = await api.stranger().get("/healthz")
        warned = [event.by for event in api.events if isinstance(event, ClockSkewed)]

    assert (ready.status, alive.status) == (503, 200)
    assert "clock" in ready.json["detail"]
    assert ready.headers["retry-after"] == "2"
    assert len(warned) == 1
    assert abs(warned[0] + HOUR) < SECOND


async def test_an_api_whose_clock_is_seconds_off_is_ready_and_warns(
    database: str, tmp_path: Path
) -> None:
    async with serving(database, tmp_path, clock=WrongClock(-5 * SECOND)) as api:
        ready = await api.stranger().get("/readyz")
        warned = [event.by for event in api.events if isinstance(event, ClockSkewed)]

    assert ready.status == 200
    assert len(warned) == 1


@pytest.mark.parametrize("error", [HOUR, -HOUR], ids=["+1 h", "-1 h"])
async def test_an_estimate_that_turned_wrong_is_not_used(
    database: str, tmp_path: Path, error: timedelta
) -> None:
    """As after the machine slept: the job is drafted again by the time of its transaction."""
    job = {"name": "later", "kind": "noop", "schedule": {"after": "3s"}}
    async with serving(database, tmp_path) as api:
        clock, now = api.database_clock, await moment(api.conn)
        clock.offset.record_response(
            now + error, sent=clock.monotonic() + 10, received=clock.monotonic()
        )

        since, ahead = await posted(api, "/v1/jobs", job, LATER)

    assert since >= 3 * SECOND - ERROR
    assert ahead <= 3 * SECOND

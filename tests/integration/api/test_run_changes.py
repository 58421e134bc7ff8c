"""A run tells when it last changed, and a deleted job stops what runs (I1, E11, E14)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.serving import Served
from tests.support.shop import Shop, open_shop, until
from tests.support.world import ALWAYS_SEEN

from rota.core.executor import AttemptContext, Retry
from rota.core.time import moments
from rota.store import live_runs


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    """A worker on the database of the API."""
    async with open_shop(database) as opened:
        yield opened


def modified(run: dict[str, Any]) -> datetime:
    return moments.parse(run["modified_time"])


async def submit(api: Served, kind: str, **more: Any) -> tuple[str, str]:
    made = await api.platform.post("/v1/jobs", {"name": kind, "kind": kind, **more})
    assert made.status == 201, made.text
    return made.json["job_id"], made.json["run_id"]


async def look(api: Served, run_id: str) -> dict[str, Any]:
    answer = await api.platform.get(f"/v1/runs/{run_id}")
    assert answer.status == 200, answer.text
    run: dict[str, Any] = answer.json
    return run


async def when(api: Served, run_id: str, **wanted: Any) -> dict[str, Any]:
    """The run, once it is like this."""

    async def is_so() -> dict[str, Any] | None:
        run = await look(api, run_id)
        return run if all(run[key] == value for key, value in wanted.items()) else None

    return await until(is_so)


async def test_progress_and_a_cancel_request_move_the_modified_time(
    api: Served, shop: Shop
) -> None:
    go_on, end = threading.Event(), threading.Event()

    @shop.handlers.handler("steady")
    async def steady(context: AttemptContext, _payload: Any) -> None:
        await asyncio.to_thread(go_on.wait)
        context.progress(0.5, "half")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(end.wait)

    job_id, run_id = await submit(api, "steady")
    waiting = await look(api, run_id)
    async with shop.worker():
        started = await when(api, run_id, status="running")
        go_on.set()
        halfway = await when(api, run_id, progress=0.5)
        asked = await api.platform.post(f"/v1/runs/{run_id}/cancel")
        cancelling = await look(api, run_id)
        latest = (await api.platform.get(f"/v1/jobs/{job_id}/status")).json["latest_run"]
        end.set()
        ended = await when(api, run_id, status="cancelled")

    assert waiting["modified_time"] == waiting["created_at"]
    assert started["modified_time"] == started["start_time"]
    assert asked.status == 202
    assert modified(started) < modified(halfway) < modified(cancelling) < modified(ended)
    assert latest["modified_time"] == cancelling["modified_time"]
    assert ended["modified_time"] == ended["end_time"]


async def test_a_retry_moves_the_modified_time_and_so_does_letting_it_go_again(
    api: Served, shop: Shop
) -> None:
    @shop.handlers.handler("later")
    async def later(_context: AttemptContext, _payload: Any) -> None:
        raise Retry("not yet", after=timedelta(hours=1))

    _, run_id = await submit(api, "later")
    async with shop.worker():
        retrying = await when(api, run_id, status="retrying")
        await api.platform.post(f"/v1/runs/{run_id}/cancel")
        cancelled = await when(api, run_id, status="cancelled")
    again = await api.platform.post(f"/v1/runs/{run_id}/retry")
    queued = await look(api, run_id)

    assert again.status == 200
    assert modified(retrying) > moments.parse(retrying["start_time"])
    assert modified(retrying) < modified(cancelled) < modified(queued)
    assert queued["status"] == "queued"


async def test_a_run_that_lost_its_worker_was_modified_then(api: Served, shop: Shop) -> None:
    _, run_id = await submit(api, "lonely")
    session = await shop.conn.fetchval("select gen_random_uuid()")
    await shop.conn.execute(
        "update rota.live_runs set state = 'running', attempt = 1, session_id = $1, "
        "started_at = rota.now()",
        session,
    )
    running = await look(api, run_id)

    await live_runs.reclaim_runs(shop.conn, sight=ALWAYS_SEEN)
    queued = await look(api, run_id)

    assert (running["status"], queued["status"]) == ("running", "queued")
    assert modified(running) < modified(queued)


@pytest.mark.parametrize(
    ("query", "ends"),
    [("", "cancelled"), ("?running=cancel", "cancelled"), ("?running=keep", "succeeded")],
)
async def test_deleting_a_job_cancels_what_runs_unless_it_is_kept(
    api: Served, shop: Shop, query: str, ends: str
) -> None:
    end = threading.Event()

    @shop.handlers.handler("long")
    async def long(_context: AttemptContext, _payload: Any) -> None:
        await asyncio.to_thread(end.wait)

    job_id, run_id = await submit(api, "long")
    async with shop.worker():
        await when(api, run_id, status="running")
        deleted = await api.platform.delete(f"/v1/jobs/{job_id}{query}")
        end.set()
        run = await when(api, run_id, status=ends)

    assert deleted.status == 204
    # What it was stays in history with its run.
    assert (await api.platform.get(f"/v1/jobs/{job_id}")).json["status"] == "finished"
    assert run["end_time"] is not None


async def test_the_older_word_for_keep_is_understood(api: Served) -> None:
    job_id, _ = await submit(api, "any")
    other, _ = await submit(api, "other")

    kept = await api.platform.delete(f"/v1/jobs/{job_id}?running=leave")
    wrong = await api.platform.delete(f"/v1/jobs/{other}?running=stop")

    assert (kept.status, wrong.status) == (204, 422)

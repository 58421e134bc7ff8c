"""Backfills over the API: begun, watched, paused, cancelled, and seen by nobody else (S13, T1)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from tests.support.serving import Answer, Served
from tests.support.shop import CLOCK, open_shop, until

from rota.core.executor import AttemptContext
from rota.engine.submission.backfills.advancer import advance_oldest
from rota.store.pool import DatabaseAccess, open_connection

DAY = {"since": "2026-07-01T00:00:00Z", "until": "2026-07-02T00:00:00Z"}


@asynccontextmanager
async def going_on(api: Served) -> AsyncIterator[None]:
    """A node that goes on with backfills."""

    async def again_and_again() -> None:
        async with open_connection(DatabaseAccess(url=api.access.url)) as conn:
            while True:
                await advance_oldest(conn)
                await CLOCK.sleep(0.01)

    duty = asyncio.create_task(again_and_again())
    try:
        yield
    finally:
        duty.cancel()
        await asyncio.gather(duty, return_exceptions=True)


async def a_job(api: Served, name: str = "hourly", **given: Any) -> str:
    job = {"name": name, "cron_expression": "0 * * * *", "kind": "report", **given}
    made = await api.platform.post("/v1/jobs", job)
    assert made.status == 201, made.text
    return str(made.json["job_id"])


async def begin(api: Served, job_id: str, **given: Any) -> str:
    done = await api.platform.post(f"/v1/jobs/{job_id}/backfills", {**DAY, **given})
    assert done.status == 201, done.text
    return str(done.json["backfill_id"])


async def get(api: Served, id_: str) -> Any:
    answer = await api.platform.get(f"/v1/backfills/{id_}")
    assert answer.status == 200, answer.text
    return answer.json


async def ended(api: Served, id_: str) -> Any:
    async def look_at_it() -> Any:
        found = await get(api, id_)
        return found if found["ended_at"] else None

    return await until(look_at_it)


async def test_every_tick_is_carried_out_and_its_handler_knows_the_nominal_time(
    api: Served, database: str
) -> None:
    job_id = await a_job(api)
    counted = await api.platform.post(f"/v1/jobs/{job_id}/backfills", {**DAY, "dry_run": True})
    seen: list[tuple[datetime, Any]] = []
    async with open_shop(database) as shop:

        @shop.handlers.handler("report")
        async def report(context: AttemptContext, payload: Any) -> None:
            seen.append((context.scheduled_at, payload))

        async with shop.worker(), going_on(api):
            id_ = await begin(api, job_id, payload={"why": "the fix"}, at_once=8)
            done = await ended(api, id_)
    runs = (await api.platform.get(f"/v1/jobs/{job_id}/runs?limit=50")).json["data"]

    assert (counted.status, counted.json["backfill_id"]) == (200, None)
    assert (counted.json["ticks"], counted.json["new"]) == (24, 24)
    assert (done["status"], done["succeeded"], done["left"], done["eta"]) == (
        "finished",
        24,
        0,
        None,
    )
    assert sorted(at.hour for at, _ in seen) == list(range(24))
    assert all(payload == {"why": "the fix"} for _, payload in seen)
    assert {run["trigger"] for run in runs} == {"backfill"}
    one = (await api.platform.get(f"/v1/runs/{runs[0]['run_id']}")).json
    assert one["backfill_id"] == id_


async def test_a_backfill_is_paused_resumed_and_cancelled(api: Served) -> None:
    id_ = await begin(api, await a_job(api))
    path = f"/v1/backfills/{id_}"

    paused = await api.platform.post(f"{path}/pause")
    twice = await api.platform.post(f"{path}/pause")
    resumed = await api.platform.post(f"{path}/resume")
    async with going_on(api):
        cancelled = await api.platform.post(f"{path}/cancel", {"reason": "wrong source"})
        done = await ended(api, id_)
    late = await api.platform.post(f"{path}/cancel")

    assert (paused.json["status"], resumed.json["status"]) == ("paused", "running")
    assert paused.json["left"] == 24
    assert (twice.status, twice.json["code"]) == (409, "illegal_move")
    assert cancelled.json["status"] == "cancelling"
    assert (done["status"], done["reason"]["reason"]) == ("cancelled", "wrong source")
    assert (late.status, late.json["detail"]) == (
        409,
        "backfill is cancelled; only running, paused or cancelling backfills can be cancelled",
    )


async def test_a_job_with_a_backfill_gets_no_second_one(api: Served) -> None:
    job_id = await a_job(api)
    id_ = await begin(api, job_id)

    second = await api.platform.post(f"/v1/jobs/{job_id}/backfills", DAY)

    assert (second.status, second.json["code"]) == (409, "conflict")
    assert id_ in second.json["detail"]


async def test_backfills_are_listed_by_page_job_and_status(api: Served) -> None:
    jobs = [await a_job(api, f"hourly {n}") for n in range(3)]
    ids = [await begin(api, job_id) for job_id in jobs]
    await api.platform.post(f"/v1/backfills/{ids[1]}/pause")

    async def listed(query: str) -> Any:
        return (await api.platform.get(f"/v1/backfills?{query}")).json

    first = await listed("limit=2")
    rest = await listed(f"limit=2&cursor={first['next_cursor']}")
    of_job = await listed(f"job_id={jobs[0]}")
    paused = await listed("status=paused&status=finished")
    other = await api.platform.get(
        f"/v1/backfills?limit=2&status=paused&cursor={first['next_cursor']}"
    )

    assert [each["backfill_id"] for each in (*first["data"], *rest["data"])] == ids[::-1]
    assert rest["next_cursor"] is None
    assert [each["backfill_id"] for each in of_job["data"]] == ids[:1]
    assert [each["backfill_id"] for each in paused["data"]] == ids[1:2]
    assert other.status == 400


async def test_a_wrong_plan_is_refused_with_the_field(api: Served) -> None:
    job_id = await a_job(api)
    wrong: list[tuple[str, Any]] = [
        ("until", "2026-06-01T00:00:00Z"),
        ("until", "2099-01-01T00:00:00Z"),
        ("since", "yesterday"),
        ("only", "some"),
        ("order", "random"),
        ("at_once", 0),
        ("priority", "urgent"),
    ]
    for name, value in wrong:
        plan = {**DAY, name: value}
        refused = await api.platform.post(f"/v1/jobs/{job_id}/backfills", plan)

        assert refused.status == 422, refused.text
        assert [each["pointer"] for each in refused.json["errors"]] == [f"/{name}"]
    unknown = await api.platform.post(f"/v1/jobs/{job_id}/backfills", {**DAY, "most": 3})
    by_hand = (
        await api.platform.post("/v1/jobs", {"name": "x", "schedule": {"on_demand": True}})
    ).json
    in_vain = await api.platform.post(f"/v1/jobs/{by_hand['job_id']}/backfills", DAY)

    assert (unknown.status, in_vain.status) == (422, 422)
    assert "ticks at known times" in in_vain.json["detail"]
    assert await api.conn.fetchval("select count(*) from rota.backfills") == 0


async def test_the_backfill_of_another_tenant_is_not_there(api: Served) -> None:
    id_ = await begin(api, await a_job(api))
    stranger = await api.caller("admin", tenant_id=await api.tenant("others"))

    async def tries() -> list[Answer]:
        path = f"/v1/backfills/{id_}"
        posted = [await stranger.post(f"{path}/{verb}") for verb in ("pause", "resume", "cancel")]
        return [await stranger.get(path), *posted]

    assert [answer.status for answer in await tries()] == [404] * 4
    assert (await stranger.get("/v1/backfills")).json["data"] == []
    assert (await get(api, id_))["status"] == "running"


async def test_who_began_and_ended_a_backfill_is_written_down(api: Served) -> None:
    id_ = await begin(api, await a_job(api))
    await api.platform.post(f"/v1/backfills/{id_}/cancel")

    noted = (await api.platform.get(f"/v1/audit?thing=backfill&thing_id={id_}")).json["data"]

    assert [each["action"] for each in noted] == ["backfill.cancel", "backfill.create"]


async def test_a_graph_is_backfilled_as_any_other_job(api: Served, database: str) -> None:
    steps = [
        {"name": "first", "kind": "report"},
        {"name": "last", "kind": "report", "needs": ["first"]},
    ]
    job_id = await a_job(api, "graph", kind="graph", graph={"steps": steps})
    async with open_shop(database) as shop:

        @shop.handlers.handler("report")
        async def report(_context: AttemptContext, _payload: Any) -> None: ...

        async with shop.worker(), going_on(api):
            id_ = await begin(api, job_id, until="2026-07-01T05:00:00Z", at_once=2)
            done = await ended(api, id_)
    counted = await api.platform.post(f"/v1/jobs/{job_id}/backfills", {**DAY, "dry_run": True})

    assert (done["status"], done["made"], done["succeeded"]) == ("finished", 5, 5)
    assert (counted.json["ran"], counted.json["missing"]) == (5, 19)


async def test_cancelling_stops_the_graphs_that_run_and_their_steps(
    api: Served, database: str
) -> None:
    job_id = await a_job(
        api, "graph", kind="graph", graph={"steps": [{"name": "only", "kind": "report"}]}
    )
    began = threading.Event()

    async def has_begun() -> bool:
        return began.is_set()

    async with open_shop(database) as shop:

        @shop.handlers.handler("report")
        async def report(_context: AttemptContext, _payload: Any) -> None:
            began.set()
            await asyncio.Event().wait()

        async with shop.worker(), going_on(api):
            id_ = await begin(api, job_id, at_once=1)
            await until(has_begun)
            await api.platform.post(f"/v1/backfills/{id_}/cancel", {"running": "cancel"})
            done = await ended(api, id_)
        left = await api.conn.fetchval("select count(*) from rota.live_runs")

    assert (done["status"], done["cancelled"], left) == ("cancelled", done["made"], 0)

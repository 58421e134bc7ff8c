"""`exactly_once` is refused where it cannot be kept, whatever way a job comes in (E2)."""

from typing import Any

import pytest
from tests.support.serving import Answer, Served

from rota.core.errors import InvalidInput
from rota.sdk.transaction import in_transaction
from rota.store import interning, kinds

BUILT_IN = ("http", "webhook", "shell", "notify", "sync", "sql", "etl", "graph")
GRAPH = {"steps": [{"name": "call", "kind": "task"}]}


def job(kind: str, **more: Any) -> dict[str, Any]:
    graph = {"graph": GRAPH} if kind == "graph" else {}
    return {"name": kind, "kind": kind, "guarantee": "exactly_once", **graph, **more}


async def describe(api: Served, **capable: bool) -> None:
    """What workers of these kinds would have said when they started."""
    for kind in capable:
        await interning.intern_kind(api.conn, kind)
    await kinds.describe_exactly_once(api.conn, capable)


def refused(answer: Answer, field: str) -> str:
    assert answer.status == 422, answer.text
    (error,) = answer.json["errors"]
    assert error["pointer"] == field
    return str(error["detail"])


@pytest.mark.parametrize("kind", BUILT_IN)
async def test_a_built_in_kind_refuses_it_with_the_reason(api: Served, kind: str) -> None:
    said = refused(await api.platform.post("/v1/jobs", job(kind)), "/guarantee")

    assert "at_least_once" in said
    assert "idempotency key" in said or kind == "graph"


async def test_a_kind_whose_workers_cannot_refuses_it(api: Served) -> None:
    await describe(api, isolated=False, threaded=True)

    said = refused(await api.platform.post("/v1/jobs", job("isolated")), "/guarantee")
    made = await api.platform.post("/v1/jobs", job("threaded"))
    unknown = await api.platform.post("/v1/jobs", job("unknown"))

    assert "'isolated'" in said
    assert "isolation" in said
    assert (made.status, unknown.status) == (201, 201)


async def test_a_bulk_with_one_of_them_is_refused_with_its_place(api: Served) -> None:
    await describe(api, isolated=False)
    time = {"schedule_time": "2030-01-01T00:00:00Z"}
    bodies = [
        {"jobs": [{"name": "fine"}, job("http")]},
        {"jobs": [{"name": "fine"}, job("isolated")]},
    ]
    alike = {"jobs": [job("isolated", **time) | {"name": name} for name in ("a", "b", "c")]}

    for body in bodies:
        refused(await api.platform.post("/v1/jobs/bulk", body), "/jobs/1/guarantee")
    refused(await api.platform.post("/v1/jobs/bulk", alike), "/jobs/0/guarantee")
    assert (await api.platform.get("/v1/jobs")).json["data"] == []


async def test_an_edit_to_it_is_refused_and_an_edit_of_the_kind_too(api: Served) -> None:
    await describe(api, isolated=False, threaded=True)
    made = await api.platform.post("/v1/jobs", {"name": "web", "kind": "http", "schedule": DAILY})
    able = await api.platform.post("/v1/jobs", job("threaded", schedule=DAILY))
    web, threaded = (f"/v1/jobs/{each.json['job_id']}" for each in (made, able))

    refused(await api.platform.put(web, {"guarantee": "exactly_once"}), "/guarantee")
    refused(await api.platform.put(threaded, {"kind": "isolated"}), "/guarantee")
    refused(await api.platform.put(threaded, {"kind": "shell"}), "/guarantee")
    by_name = await api.platform.put("/v1/jobs/by-name/web", {"guarantee": "exactly_once"})
    refused(by_name, "/guarantee")
    changed = await api.platform.put(threaded, {"kind": "shell", "guarantee": "at_most_once"})
    assert changed.status == 200


DAILY = {"cron": "0 9 * * *"}


async def test_a_job_of_an_earlier_release_can_still_be_changed_otherwise(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "web", "kind": "http", "schedule": DAILY})
    path = f"/v1/jobs/{made.json['job_id']}"
    policy_id = await interning.intern_policy(api.conn, '{"guarantee": "exactly_once"}')
    await api.conn.execute(
        "update rota.jobs set policy_id = $1, guarantee = 'exactly_once'", policy_id
    )

    changed = await api.platform.put(path, {"payload": {"url": "http://127.0.0.1/"}})
    repaired = await api.platform.put(path, {"guarantee": "at_least_once"})

    assert (changed.status, changed.json["guarantee"]) == (200, "exactly_once")
    assert (repaired.status, repaired.json["guarantee"]) == (200, "at_least_once")


async def test_a_step_refuses_it_with_its_place_in_the_graph(api: Served) -> None:
    await describe(api, isolated=False, threaded=True)

    def graph(step: dict[str, Any]) -> dict[str, Any]:
        steps = [{"name": "first", "kind": "threaded"}, {"name": "second", **step}]
        return {"name": "g", "kind": "graph", "graph": {"steps": steps}}

    exactly = {"guarantee": "exactly_once"}
    place = "/graph/steps/1/guarantee"

    for kind in ("http", "isolated"):
        body = graph({"kind": kind, **exactly})
        assert kind in refused(await api.platform.post("/v1/jobs", body), place)
    source = {"kind": "threaded", "map": {"source": {"kind": "items"}}, **exactly}
    assert "source" in refused(await api.platform.post("/v1/jobs", graph(source)), place)
    nested = {"graph": {"steps": [{"name": "in", "kind": "sql", **exactly}]}}
    refused(
        await api.platform.post("/v1/jobs", graph(nested)),
        "/graph/steps/1/graph/steps/0/guarantee",
    )
    made = await api.platform.post("/v1/jobs", graph({"kind": "threaded", **exactly}))
    assert made.status == 201


async def test_a_job_that_waits_for_events_refuses_it(api: Served) -> None:
    body = job("http", schedule={"event": {"type": "order.paid"}})

    refused(await api.platform.post("/v1/jobs", body), "/guarantee")


async def test_a_file_of_jobs_refuses_it_in_the_plan_already(api: Served) -> None:
    await describe(api, isolated=False)
    fine = {"name": "fine", "kind": "task", "schedule": DAILY}

    for kind in ("http", "isolated"):
        body = {"project": "billing", "jobs": [fine, job(kind, schedule=DAILY)]}
        for step in ("plan", "apply"):
            answer = await api.platform.post(f"/v1/manifests/{step}", body)
            refused(answer, "/jobs/1/guarantee")


async def test_a_job_in_the_callers_own_transaction_refuses_it(api: Served) -> None:
    await describe(api, isolated=False)

    async with api.conn.transaction():
        for kind in ("http", "isolated"):
            with pytest.raises(InvalidInput, match=r"^guarantee: 'exactly_once'"):
                await in_transaction(api.conn).create_job(**job(kind))
        await in_transaction(api.conn).create_job(**job("other"))

    assert await api.conn.fetchval("select count(*) from rota.live_runs") == 1

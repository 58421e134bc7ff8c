"""A graph is a job with steps: made, shown, changed, declared, and refused if it is wrong (D6)."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from tests.support.databases import clone_url, drop
from tests.support.serving import Caller, Served, serving

from rota.store.embedded import Embedded

# One API for all of them, and a tenant for each.
pytestmark = pytest.mark.asyncio(loop_scope="module")
STEPS: list[dict[str, Any]] = [
    {"name": "extract", "kind": "etl.extract", "payload": {"day": {"$": "input.day"}}},
    {"name": "load", "kind": "etl.load", "needs": ["extract"], "retries": 5, "timeout": "10m"},
]
NIGHTLY: dict[str, Any] = {
    "name": "nightly",
    "kind": "graph",
    "schedule": {"cron": "0 2 * * *"},
    "payload": {"day": "2026-11-01"},
    "graph": {"steps": STEPS},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    database = await clone_url(server.url)
    async with serving(database, tmp_path_factory.mktemp("api")) as served:
        yield served
    await drop(server.url, database)


@pytest_asyncio.fixture(loop_scope="module")
async def admin(api: Served) -> Caller:
    tenant_id = await api.tenant(f"t-{uuid4().hex[:12]}")
    return await api.caller("admin", tenant_id=tenant_id)


async def made(caller: Caller, job: dict[str, Any]) -> str:
    answer = await caller.post("/v1/jobs", job)
    assert answer.status == 201, answer.text
    return str(answer.json["job_id"])


async def graph_of(caller: Caller, job_id: str) -> Any:
    return (await caller.get(f"/v1/jobs/{job_id}")).json["graph"]


async def test_a_graph_is_kept_with_its_job_and_left_out_of_lists(admin: Caller) -> None:
    job_id = await made(admin, NIGHTLY)
    other_id = await made(admin, {"name": "plain", "kind": "x", "schedule_type": "ON_DEMAND"})

    listed = (await admin.get("/v1/jobs?kind=graph")).json["data"]

    assert await graph_of(admin, job_id) == NIGHTLY["graph"]
    assert await graph_of(admin, other_id) is None
    assert [(job["name"], job["graph"]) for job in listed] == [("nightly", None)]


async def test_equal_definitions_are_kept_once_for_each_tenant(api: Served, admin: Caller) -> None:
    steps = [{"name": f"s{uuid4().hex}", "kind": "x"}]
    jobs = [
        {"name": f"g{n}", "kind": "graph", "graph": {"steps": steps}, "schedule_type": "ON_DEMAND"}
        for n in range(3)
    ]
    other = await api.caller("admin", tenant_id=await api.tenant(f"t-{uuid4().hex[:12]}"))

    answer = await admin.post("/v1/jobs/bulk", {"jobs": jobs})
    await made(other, jobs[0])

    kept = await api.conn.fetch(
        "select tenant_id from rota.graphs where definition -> 'steps' -> 0 ->> 'name' = $1",
        steps[0]["name"],
    )
    assert answer.status == 201, answer.text
    assert len({row[0] for row in kept}) == len(kept) == 2


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        ({"graph": None}, "/graph", "a job of kind graph requires a graph with steps"),
        ({"kind": "etl"}, "/kind", "a job with a graph must have kind graph"),
        ({"graph": {"steps": []}}, "/graph/steps", "a list of 1 to 1000 steps"),
        (
            {"graph": {"steps": [{**STEPS[0], "needs": ["load"]}, STEPS[1]]}},
            "/graph/steps/0/needs/0",
            "extract → load → extract",
        ),
        (
            {"graph": {"steps": [STEPS[0], {**STEPS[1], "when": "steps.nope.result > 1"}]}},
            "/graph/steps/1/when",
            "nope",
        ),
    ],
    ids=["no steps", "another kind", "empty", "cycle", "bad expression"],
)
async def test_a_wrong_graph_is_refused_with_a_pointer_and_not_made(
    admin: Caller, change: dict[str, Any], pointer: str, said: str
) -> None:
    answer = await admin.post("/v1/jobs", {**NIGHTLY, **change})

    assert answer.status == 422
    assert answer.json["errors"][0]["pointer"] == pointer
    assert said in answer.text
    assert (await admin.get("/v1/jobs")).json["data"] == []


async def test_an_edit_gives_a_graph_other_steps(admin: Caller) -> None:
    job_id = await made(admin, NIGHTLY)

    answer = await admin.put(f"/v1/jobs/{job_id}", {"graph": {"steps": STEPS[:1]}})
    untouched = await admin.put(f"/v1/jobs/{job_id}", {"priority": "high"})

    assert answer.status == untouched.status == 200, answer.text
    assert answer.json["graph"] == untouched.json["graph"] == {"steps": STEPS[:1]}


async def test_an_edit_cannot_part_the_kind_from_the_steps(admin: Caller) -> None:
    graph_id = await made(admin, NIGHTLY)
    plain_id = await made(admin, {"name": "plain", "kind": "x", "schedule_type": "ON_DEMAND"})

    answers = [
        await admin.put(f"/v1/jobs/{graph_id}", {"kind": "other"}),
        await admin.put(f"/v1/jobs/{graph_id}", {"graph": None}),
        await admin.put(f"/v1/jobs/{plain_id}", {"kind": "graph"}),
        await admin.put(f"/v1/jobs/{plain_id}", {"graph": NIGHTLY["graph"]}),
    ]

    assert [answer.status for answer in answers] == [422] * 4
    assert await graph_of(admin, graph_id) == NIGHTLY["graph"]
    assert await graph_of(admin, plain_id) is None


async def test_an_edit_of_both_turns_a_job_into_a_graph_and_back(admin: Caller) -> None:
    job_id = await made(admin, {"name": "plain", "kind": "x", "schedule_type": "ON_DEMAND"})

    there = await admin.put(f"/v1/jobs/{job_id}", {"kind": "graph", "graph": {"steps": STEPS}})
    back = await admin.put(f"/v1/jobs/{job_id}", {"kind": "x", "graph": None})

    assert (there.json["kind"], there.json["graph"]) == ("graph", {"steps": STEPS})
    assert (back.json["kind"], back.json["graph"]) == ("x", None)


async def test_a_file_declares_a_graph_and_applies_it_once(admin: Caller) -> None:
    file = {"project": "etl", "jobs": [NIGHTLY]}
    changed = {**NIGHTLY, "graph": {"steps": STEPS[:1]}}

    first = await admin.post("/v1/manifests/apply", file)
    again = await admin.post("/v1/manifests/plan", file)
    other = await admin.post("/v1/manifests/apply", {"project": "etl", "jobs": [changed]})

    assert [each["action"] for each in first.json["changes"]] == ["create"]
    assert again.json["changes"] == []
    assert [each["field"] for each in other.json["changes"][0]["fields"]] == ["graph.steps"]
    job_id = other.json["changes"][0]["job_id"]
    assert await graph_of(admin, job_id) == changed["graph"]

"""Graph runs and the members of maps over the API (I1, D2, D5)."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from tests.support.serving import Caller, Served
from tests.support.shop import Shop, open_shop

from rota.core.executor import AttemptContext, Fail
from rota.core.states import RunState

STEPS: list[dict[str, Any]] = [
    {"name": "count", "kind": "count"},
    {
        "name": "each",
        "kind": "one",
        "needs": ["count"],
        "map": {"over": "steps.count.result", "tolerate": 1},
        "payload": {"n": {"$": "index"}},
        "retries": 0,
    },
    {"name": "alarm", "kind": "count", "needs": ["each"], "when": "failure"},
    {"name": "inner", "needs": ["count"], "graph": {"steps": [{"name": "a", "kind": "count"}]}},
]


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:

        @opened.handlers.handler("count")
        async def count(_context: AttemptContext, _payload: Any) -> int:
            return 7

        @opened.handlers.handler("one")
        async def one(_context: AttemptContext, payload: Any) -> int:
            if payload["n"] in BAD:
                raise Fail(f"no {payload['n']}")
            return int(payload["n"])

        yield opened


BAD: set[int] = set()


@pytest.fixture(autouse=True)
def only_four_is_bad() -> None:
    BAD.clear()
    BAD.add(4)


async def begun(caller: Caller, steps: list[dict[str, Any]], name: str = "nightly") -> str:
    made = await caller.post("/v1/jobs", {"name": name, "kind": "graph", "graph": {"steps": steps}})
    assert made.status == 201, made.text
    return str(made.json["run_id"])


def uuid(run_id: str) -> UUID:
    return UUID(run_id.removeprefix("run_"))


async def test_a_graph_run_is_shown_with_every_step_and_its_map(api: Served, shop: Shop) -> None:
    async with shop.worker():
        run_id = await begun(api.platform, STEPS)
        await shop.ends(uuid(run_id))

    shown = (await api.platform.get(f"/v1/runs/{run_id}/graph")).json
    steps = {step["name"]: step for step in shown["steps"]}
    inner = (await api.platform.get(f"/v1/runs/{steps['inner']['run_id']}/graph")).json
    job = (await api.platform.get(f"/v1/jobs/{shown['job_id']}/graph")).json

    assert (shown["status"], shown["counts"]) == ("succeeded", {"succeeded": 3, "skipped": 1})
    assert steps["each"]["map"] == {
        "total": 7,
        "made": 7,
        "alive": 0,
        "succeeded": 6,
        "failed": 1,
        "cancelled": 0,
        "progress": "7 of 7",
    }
    assert (steps["alarm"]["status"], steps["alarm"]["reason"]) == ("skipped", "condition")
    assert steps["count"]["run_status"] == "succeeded"
    assert shown["critical_path"][0] == "count"
    assert [step["name"] for step in inner["steps"]] == ["a"]
    assert job["graph"] == {"steps": STEPS}
    assert shown["graph"] == job["graph"]


async def test_members_are_listed_filtered_and_told_by_their_runs(api: Served, shop: Shop) -> None:
    async with shop.worker():
        run_id = await begun(api.platform, STEPS)
        await shop.ends(uuid(run_id))
    get = api.platform.get

    first = (await get(f"/v1/runs/{run_id}/members?step=each&limit=4")).json
    rest = (
        await get(f"/v1/runs/{run_id}/members?step=each&limit=4&cursor={first['next_cursor']}")
    ).json
    dead = (await get(f"/v1/runs/{run_id}/members?step=each&status=dead")).json
    steps = (await get(f"/v1/runs?graph_run_id={run_id}&limit=100")).json
    one = (await get(f"/v1/runs/{dead['data'][0]['run_id']}")).json

    assert [each["member"] for each in first["data"] + rest["data"]] == list(range(7))
    assert rest["next_cursor"] is None
    assert [each["error_message"] for each in dead["data"]] == ["Fail: no 4"]
    assert (one["graph_run_id"], one["step"], one["member"]) == (run_id, 1, 4)
    assert one["payload"] == {"n": 4}
    # The step before the map, its seven members, and the graph inside; not the graph run itself.
    assert len(steps["data"]) == 9
    assert {each["graph_run_id"] for each in steps["data"]} == {run_id}


async def test_a_graph_run_is_retried_from_its_failed_members(api: Served, shop: Shop) -> None:
    BAD.add(2)
    async with shop.worker():
        run_id = await begun(api.platform, STEPS)
        await shop.ends(uuid(run_id))
        before = (await api.platform.get(f"/v1/runs/{run_id}/graph")).json
        letters = (await api.platform.get("/v1/dead-letters")).json
        groups = (await api.platform.get("/v1/dead-letters/groups")).json
        BAD.clear()
        done = await api.platform.post(f"/v1/runs/{run_id}/retryFailed")
        run = await shop.ends(uuid(run_id))
        again = await api.platform.post(f"/v1/runs/{run_id}/retryFailed")

    reasons = {step["name"]: step["reason"] for step in before["steps"]}
    assert [each["run_id"] for each in letters["data"]] == [run_id]
    assert [each["count"] for each in groups["data"]] == [1]
    assert before["status"] == "dead"
    assert reasons["each"].startswith("2 of 7 members failed; first error: Fail: no ")
    assert (done.status, run.state) == (200, RunState.SUCCEEDED)
    assert (again.status, again.json["code"]) == (409, "illegal_move")
    entries = (await api.platform.get("/v1/audit?thing=run")).json["data"]
    assert [entry["action"] for entry in entries] == ["run.retry_failed"]


async def test_a_graph_run_is_paused_and_resumed(api: Served, shop: Shop) -> None:
    """Two steps one after the other; the second waits for the resume."""
    waits: dict[str, Any] = {"name": "first", "kind": "count", "queue": "later"}
    steps = [waits, {"name": "second", "kind": "count", "needs": ["first"]}]
    async with shop.worker():
        run_id = await begun(api.platform, steps)
        await shop.reaches(uuid(run_id), RunState.BLOCKED)
        paused = await api.platform.post(f"/v1/runs/{run_id}/pause")
        shown = (await api.platform.get(f"/v1/runs/{run_id}/graph")).json
        resumed = await api.platform.post(f"/v1/runs/{run_id}/resume")

    assert (paused.status, paused.json["status"]) == (200, "blocked")
    assert shown["paused_at"] is not None
    assert resumed.status == 200
    assert (await api.platform.get(f"/v1/runs/{run_id}/graph")).json["paused_at"] is None


async def test_a_graph_run_that_waits_shows_its_steps_waiting(api: Served) -> None:
    run_id = await begun(api.platform, STEPS)

    shown = (await api.platform.get(f"/v1/runs/{run_id}/graph")).json

    assert (shown["status"], shown["counts"]) == ("queued", {"waiting": 4})


async def test_what_has_no_graph_is_said_in_one_sentence(api: Served) -> None:
    made = (await api.platform.post("/v1/jobs", {"name": "plain", "kind": "noop"})).json
    run, job = f"/v1/runs/{made['run_id']}", f"/v1/jobs/{made['job_id']}"
    graph_run = await begun(api.platform, STEPS)

    refused = {
        f"GET {run}/graph": (404, "not_found"),
        f"GET {job}/graph": (404, "not_found"),
        f"GET {run}/members?step=each": (404, "not_found"),
        f"GET /v1/runs/{graph_run}/members?step=each": (404, "not_found"),
        f"GET {run}/members": (422, "invalid_input"),
        f"GET {run}/members?step=each&status=odd": (422, "invalid_input"),
        f"GET {run}/members?step=each&cursor=odd": (400, "malformed_request"),
        f"POST {run}/pause": (409, "conflict"),
        f"POST {run}/resume": (409, "conflict"),
        f"POST {run}/retryFailed": (409, "conflict"),
        f"GET /v1/runs/run_{'0' * 32}/graph": (404, "not_found"),
    }
    for line, (status, code) in refused.items():
        method, path = line.split(" ", 1)
        answer = await api.platform.call(method, path)
        assert (answer.status, answer.json["code"]) == (status, code), f"{line}: {answer.text}"


async def test_a_tenant_sees_nothing_of_another_ones_graphs(api: Served, shop: Shop) -> None:
    async with shop.worker():
        run_id = await begun(api.platform, STEPS)
        await shop.ends(uuid(run_id))
    other = await api.caller("admin", tenant_id=await api.tenant("other"))

    for path in ("graph", "members?step=each"):
        assert (await other.get(f"/v1/runs/{run_id}/{path}")).status == 404
    for path in ("retryFailed", "pause", "resume"):
        assert (await other.post(f"/v1/runs/{run_id}/{path}")).status == 404
    assert (await other.get(f"/v1/runs?graph_run_id={run_id}")).json["data"] == []

"""Words of other schedulers are understood where they come in (E17, I1)."""

from typing import Any
from uuid import UUID

import pytest
from tests.support.serving import Served

from rota.core.states import RunState
from rota.sdk.transaction import in_transaction
from rota.store import live_runs
from rota.store.live_runs import RunEnding

LATER = "2030-01-01T00:00:00Z"
TYPES = {
    "HTTP_REQUEST": "http",
    "DATABASE_QUERY": "sql",
    "ETL_TASK": "etl",
    "NOTIFICATION": "notify",
    "DATA_SYNC": "sync",
}


async def kind_of(api: Served, made: Any) -> str:
    assert made.status == 201, made.text
    shown = await api.platform.get(f"/v1/jobs/{made.json['job_id']}")
    return str(shown.json["kind"])


async def names(api: Served, path: str) -> list[str]:
    answer = await api.platform.get(path)
    assert answer.status == 200, answer.text
    return sorted(job["name"] for job in answer.json["data"])


@pytest.mark.parametrize(("job_type", "kind"), TYPES.items())
async def test_a_job_type_of_another_scheduler_is_a_kind(
    api: Served, job_type: str, kind: str
) -> None:
    body = {"job_type": job_type, "schedule_time": LATER, "payload": {}, "retries": 2}

    made = await api.platform.post("/v1/jobs", body)
    agreed = await api.platform.post("/v1/jobs", body | {"kind": kind})
    other = await api.platform.post("/v1/jobs", body | {"kind": "other"})

    assert await kind_of(api, made) == kind
    assert made.json["name"] == kind
    assert await kind_of(api, agreed) == kind
    assert (other.status, other.json["errors"][0]["pointer"]) == (422, "/job_type")


async def test_a_custom_job_is_a_program_or_a_handler(api: Served) -> None:
    custom = {"job_type": "CUSTOM", "schedule_time": LATER}

    program = await api.platform.post("/v1/jobs", custom | {"payload": {"argv": ["/bin/true"]}})
    handler = await api.platform.post("/v1/jobs", custom | {"name": "billing.report"})
    said = await api.platform.post("/v1/jobs", custom | {"name": "x", "kind": "billing.add"})
    neither = await api.platform.post("/v1/jobs", custom | {"payload": {"day": 1}})

    assert await kind_of(api, program) == "shell"
    assert await kind_of(api, handler) == "billing.report"
    assert await kind_of(api, said) == "billing.add"
    assert (neither.status, neither.json["errors"][0]["pointer"]) == (422, "/job_type")
    assert "argv" in neither.json["detail"]


async def test_job_types_are_understood_in_bulks_edits_and_transactions(api: Served) -> None:
    bulk = [
        {"job_type": "CUSTOM", "name": "a", "schedule_time": LATER, "payload": {"argv": ["/x"]}},
        {"job_type": "CUSTOM", "name": "b", "schedule_time": LATER, "payload": {}},
        {"job_type": "DATA_SYNC", "name": "c", "schedule_time": LATER},
        {"job_type": "DATA_SYNC", "name": "d", "cron_expression": "0 0 1 1 *"},
    ]

    made = await api.platform.post("/v1/jobs/bulk", {"jobs": bulk})
    edited = await api.platform.put("/v1/jobs/by-name/d", {"job_type": "HTTP_REQUEST"})
    async with api.conn.transaction():
        await in_transaction(api.conn).create_job(
            name="e", job_type="NOTIFICATION", schedule_time=LATER
        )
        await in_transaction(api.conn).create_job(name="f", job_type="CUSTOM", schedule_time=LATER)

    assert made.status == 201
    assert edited.json["kind"] == "http"
    listed = (await api.platform.get("/v1/jobs?type=all")).json["data"]
    assert {job["name"]: job["kind"] for job in listed} == {
        "a": "shell",
        "b": "b",
        "c": "sync",
        "d": "http",
        "e": "notify",
        "f": "f",
    }


async def claim(api: Served, run_id: UUID, worker: UUID) -> None:
    """What a worker with this session would do first."""
    await api.conn.execute(
        "update rota.live_runs set state = 'running', attempt = 1, session_id = $1, "
        "started_at = rota.now() where id = $2",
        worker,
        run_id,
    )


async def end(api: Served, shown: str, state: RunState) -> None:
    """Let a run end in this state."""
    run_id, worker = UUID(shown.removeprefix("run_")), UUID(int=9)
    await claim(api, run_id, worker)
    ending = RunEnding(run_id, 1, state, None, None)
    await live_runs.finish_runs(api.conn, session_id=worker, endings=[ending])


@pytest.fixture
async def jobs(api: Served) -> dict[str, str]:
    """One job for each thing that a job may be."""
    ids = {}
    for name in ("waiting", "paused", "over", "gone", "broken"):
        # One that is over has run once, and the others are definitions.
        schedule = {} if name == "over" else {"cron_expression": "0 0 1 1 *"}
        made = await api.platform.post("/v1/jobs", {"name": name, **schedule})
        ids[name] = made.json["job_id"]
    await api.platform.post(f"/v1/jobs/{ids['paused']}/pause")
    await api.platform.delete(f"/v1/jobs/{ids['gone']}")
    await api.conn.execute("update rota.jobs set state = 'quarantined' where name = 'broken'")
    await api.conn.execute(
        "delete from rota.cursors where job_id in (select id from rota.jobs where name = 'broken')"
    )
    return ids


@pytest.mark.usefixtures("jobs")
async def test_jobs_are_found_by_words_of_other_schedulers(api: Served) -> None:
    expected = {
        "SCHEDULED": ["over", "waiting"],
        "scheduled": ["over", "waiting"],
        "ENQUEUED": ["over", "waiting"],
        "RETRYING": ["over", "waiting"],
        "RUNNING": [],
        "COMPLETED": ["over"],
        "success": ["over"],
        "FAILED": ["broken"],
        "CANCELLED": ["gone"],
        "Paused": ["paused"],
    }

    found = {word: await names(api, f"/v1/jobs?type=all&status={word}") for word in expected}

    assert found == expected
    assert await names(api, "/v1/jobs?status=FAILED&status=paused") == ["broken", "paused"]
    assert await names(api, "/v1/jobs") == ["broken", "paused", "waiting"]


async def test_runs_are_found_by_words_of_other_schedulers(api: Served) -> None:
    ended = {"succeeded": "ok", "dead": "died", "lost": "lost", "cancelled": "stopped"}
    job_ids, run_ids = {}, {}
    for name in (*ended.values(), "new"):
        made = (await api.platform.post("/v1/jobs", {"name": name})).json
        job_ids[name], run_ids[name] = made["job_id"], made["run_id"]
    for state, name in ended.items():
        await end(api, run_ids[name], RunState(state))

    async def found(path: str) -> list[str]:
        answer = await api.platform.get(path)
        assert answer.status == 200, answer.text
        return sorted(run["job_name"] for run in answer.json["data"])

    expected = {
        "SCHEDULED": ["new"],
        "enqueued": ["new"],
        "COMPLETED": ["ok"],
        "Success": ["ok"],
        "FAILED": ["died", "lost"],
        "failed": ["died", "lost"],
        "CANCELLED": ["stopped"],
        "RETRYING": [],
        "RUNNING": [],
        "PAUSED": [],
    }

    assert {word: await found(f"/v1/runs?status={word}") for word in expected} == expected
    of_job = f"/v1/jobs/{job_ids['died']}/runs"
    assert await found(f"{of_job}?status=FAILED") == ["died"]
    assert await found(f"{of_job}?status=SUCCESS&status=queued") == []
    assert await found(of_job) == ["died"]


async def test_executions_are_found_under_both_spellings(api: Served) -> None:
    made = (await api.platform.post("/v1/jobs", {"name": "work"})).json
    run_id, worker = UUID(made["run_id"].removeprefix("run_")), UUID(int=7)
    await claim(api, run_id, worker)

    for path in ("/v1/executions", "/v1/job/executions"):
        found = await api.platform.get(f"{path}?worker_id=wrk_{worker.hex}")
        done = await api.platform.get(f"{path}?worker_id=wrk_{worker.hex}&status=COMPLETED")
        refused = await api.platform.get(path)
        assert [run["run_id"] for run in found.json["data"]] == [made["run_id"]]
        assert done.json["data"] == []
        assert refused.status == 422
    stranger = await api.stranger().get(f"/v1/job/executions?worker_id={worker.hex}")
    assert stranger.status == 401


@pytest.mark.parametrize(
    "path", ["/v1/jobs", "/v1/runs", "/v1/job/executions?worker_id=w", "/v1/executions?worker_id=w"]
)
async def test_a_word_that_nobody_uses_is_refused(api: Served, path: str) -> None:
    joint = "&" if "?" in path else "?"

    answer = await api.platform.get(f"{path}{joint}status=DONE")

    assert answer.status == 422
    assert answer.json["errors"][0]["pointer"] == "/status/0"
    assert "'DONE' is invalid: expected one of" in answer.json["detail"]
    assert "quarantined" in answer.json["detail"]

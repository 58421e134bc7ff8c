"""Jobs name secrets: what the API says about it, and that it never says a value (5.6, I22, S7)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.secret_jobs import dumped, executor, held
from tests.support.serving import Answer, Served
from tests.support.shop import Shop, until

from rota.config.settings import ApiSettings

CANARY = "canary-q8Zt5-hV1w7"
USES = {"kind": "on_loop", "payload": {"token": "{{secret:token}}"}}


@asynccontextmanager
async def working(api: Served, folder: Path) -> AsyncIterator[Shop]:
    """A worker with the master key of the API."""
    shop = Shop(conn=api.conn, access=api.access, api=ApiSettings(master_key=folder / "master.key"))
    shop.others = (lambda: executor("on_loop"),)
    async with shop.worker():
        yield shop


async def ended(api: Served, run_id: str) -> Answer:
    async def look() -> Answer | None:
        answer = await api.platform.get(f"/v1/runs/{run_id}")
        return answer if answer.json["end_time"] else None

    return await until(look)


async def test_no_answer_no_table_and_no_event_holds_the_value_of_a_run(
    api: Served, tmp_path: Path
) -> None:
    said = [await api.platform.put("/v1/secrets/token", {"value": CANARY})]
    async with working(api, tmp_path) as shop:
        for then in ("return", "raise"):
            payload = {"token": "{{secret:token}}", "then": then}
            made = await api.platform.post(
                "/v1/jobs", {"name": then, "kind": "on_loop", "payload": payload, "max_retries": 0}
            )
            run_id, job_id = made.json["run_id"], made.json["job_id"]
            done = await ended(api, run_id)
            said += [made, done, await api.platform.get(f"/v1/jobs/{job_id}")]
            said += [
                await api.platform.get(f"/v1/runs/{run_id}/{part}")
                for part in ("attempts", "explain", "logs")
            ]
    for path in ("secrets", "jobs", "runs", "audit", "statistics", "workers"):
        said.append(await api.platform.get(f"/v1/{path}"))
    said.append(await api.platform.get("/metrics"))

    assert made.json["warnings"] == []
    assert done.json["status"] == "dead"
    assert [answer.text for answer in said if answer.status not in {200, 201}] == []
    assert any("printed ***" in answer.text for answer in said)
    assert not any(held(answer.text, CANARY) for answer in said)
    dump = await dumped(api.conn)
    assert held(dump, "{{secret:token}}")
    assert held(dump, "printed ***")
    assert not held(dump, CANARY)
    assert not held(repr([api.events, shop.events]), CANARY)


async def test_a_job_that_names_a_secret_that_is_not_there_is_accepted_with_a_warning(
    api: Served,
) -> None:
    other = await api.caller("admin", tenant_id=await api.tenant("other"))
    await other.put("/v1/secrets/token", {"value": CANARY})
    await api.platform.put("/v1/secrets/known", {"value": CANARY})
    steps = [{"name": "a", "kind": "http", "payload": {"url": "{{secret:in-a-step}}"}}]

    alone = await api.platform.post("/v1/jobs", USES)
    known = await api.platform.post("/v1/jobs", {**USES, "payload": ["{{secret:known}}"]})
    graph = await api.platform.post("/v1/jobs", {"kind": "graph", "graph": {"steps": steps}})
    bulk = await api.platform.post("/v1/jobs/bulk", {"jobs": [{"kind": "x"}, USES]})
    theirs = await other.post("/v1/jobs", USES)

    def told(made: Any) -> list[str]:
        return [each for each in made["warnings"] if "secret" in each]

    missing = "secret 'token' does not exist; runs fail until it is created"
    assert told(alone.json) == [missing]
    assert told(known.json) == told(theirs.json) == []
    assert told(graph.json) == ["secret 'in-a-step' does not exist; runs fail until it is created"]
    assert [told(each) for each in bulk.json["jobs"]] == [[], [missing]]


async def test_a_reference_that_is_none_is_refused_wherever_a_payload_is_given(
    api: Served,
) -> None:
    text = "{{secret: x}}"
    made = await api.platform.post("/v1/jobs", {"kind": "echo", "schedule": {"event": "x"}})
    path = f"/v1/jobs/{made.json['job_id']}"
    steps = [{"name": "a", "kind": "echo", "payload": {"deep": [text]}}]

    answers = [
        await api.platform.post("/v1/jobs", {"kind": "echo", "payload": {"deep": [text]}}),
        await api.platform.post("/v1/jobs/bulk", {"jobs": [{"kind": "echo", "payload": text}]}),
        await api.platform.post("/v1/jobs", {"kind": "graph", "graph": {"steps": steps}}),
        await api.platform.put(path, {"payload": text}),
        await api.platform.post(f"{path}/runNow", {"payload": text}),
    ]

    assert [answer.status for answer in answers] == [422] * 5
    assert all("each closed" in answer.text for answer in answers)


async def test_a_secret_in_the_arguments_of_a_program_is_refused_when_the_job_is_saved(
    api: Served,
) -> None:
    payload = {"argv": ["/bin/login", "{{secret:x}}"]}

    answer = await api.platform.post("/v1/jobs", {"kind": "shell", "payload": payload})

    assert answer.status == 422
    assert "pass the secret in env or stdin" in answer.text


async def test_whoever_sends_an_event_cannot_have_a_secret_filled_in(
    api: Served, tmp_path: Path
) -> None:
    await api.platform.put("/v1/secrets/token", {"value": CANARY})
    payloads = {
        "bare": None,
        "filled": {"token": {"$": "event.data.text"}},
        "both": {"token": "{{secret:token}}", "then": {"$": "event.data.text"}},
    }
    for name, payload in payloads.items():
        body = {"name": name, "kind": "on_loop", "schedule": {"event": "x"}, "payload": payload}
        assert (await api.platform.post("/v1/jobs", body)).status == 201

    bad, good = [
        (await api.platform.post("/v1/events", {"type": "x", "data": {"text": text}})).json
        for text in ("{{secret:token}}", "return")
    ]
    shown = (await api.platform.get(f"/v1/events/{bad['events'][0]['event_id']}")).json
    async with working(api, tmp_path):
        ends = [await ended(api, run_id) for run_id in good["events"][0]["run_ids"]]

    assert bad["events"][0]["run_ids"] == []
    assert {each["outcome"] for each in shown["matches"]} == {"failed"}
    results = {end.json["job_name"]: end.json["result"] for end in ends}
    assert results["both"]["returned"] == "***"
    assert results["filled"]["returned"] == "return"


async def test_a_short_value_is_refused(api: Served) -> None:
    answer = await api.platform.put("/v1/secrets/pin", {"value": "12345"})

    assert answer.status == 422
    assert "12345" not in answer.text

"""What the dashboard asks beyond lists: the load to come, kinds and their payloads, draining."""

from typing import Any

from tests.support.serving import Served
from tests.support.shop import open_shop

import rota

DAY = "since=2030-01-07T00:00:00Z&until=2030-01-08T00:00:00Z"


async def made(api: Served, name: str, **job: Any) -> str:
    answer = await api.platform.post("/v1/jobs", {"name": name, **job})
    assert answer.status == 201, answer.text
    return str(answer.json["job_id"])


async def test_a_herd_is_seen_and_whose_it_is(api: Served) -> None:
    for number in range(5):
        await made(api, f"nightly {number}", cron_expression="0 2 * * *")
    busy = await made(api, "busy", cron_expression="*/10 2 * * *")
    await made(api, "later", schedule={"fixed_delay": "1h"})

    day = (await api.platform.get(f"/v1/schedules/load?{DAY}&bucket=hour")).json
    minute = "since=2030-01-07T02:00:00Z&until=2030-01-07T02:01:00Z"
    herd = (await api.platform.get(f"/v1/schedules/load?{minute}")).json

    assert day["buckets"] == [{"start": "2030-01-07T02:00:00Z", "ticks": 11}]
    assert (day["width_s"], day["jobs"], day["unknown"]) == (3600, 6, 1)
    assert day["busiest"][0] == {
        "job_id": busy,
        "job_name": "busy",
        "ticks": 6,
        "is_estimate": False,
    }
    assert herd["buckets"] == [{"start": "2030-01-07T02:00:00Z", "ticks": 6}]
    assert not day["is_estimate"]


async def test_submissions_that_wait_for_their_time_are_load_too(api: Served) -> None:
    once = await made(api, "once", schedule_time="2030-01-07T02:30:00Z")
    await made(api, "another day", schedule_time="2030-01-09T02:30:00Z")

    day = (await api.platform.get(f"/v1/schedules/load?{DAY}")).json

    assert day["buckets"] == [{"start": "2030-01-07T02:30:00Z", "ticks": 1}]
    (found,) = day["busiest"]
    assert (found["job_id"], found["job_name"]) == (once, "once")


async def test_paused_jobs_and_jobs_of_others_are_no_load(api: Served) -> None:
    paused = await made(api, "paused", cron_expression="0 2 * * *")
    await api.platform.post(f"/v1/jobs/{paused}/pause")
    other = await api.caller("viewer", tenant_id=await api.tenant("other"))
    await made(api, "ours", cron_expression="0 3 * * *")

    mine = (await api.platform.get(f"/v1/schedules/load?{DAY}")).json
    theirs = (await other.get(f"/v1/schedules/load?{DAY}")).json

    assert [each["job_name"] for each in mine["busiest"]] == ["ours"]
    assert (theirs["buckets"], theirs["jobs"]) == ([], 0)


async def test_a_span_that_makes_no_sense_is_refused(api: Served) -> None:
    wrong = [
        "since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z",
        "since=2030-01-01T00:00:00Z&until=2030-03-01T00:00:00Z&bucket=hour",
        "since=2030-01-01T00:00:00Z&until=2030-01-15T00:00:00Z&bucket=minute",
        "bucket=second",
        "since=soon",
    ]

    answers = [await api.platform.get(f"/v1/schedules/load?{query}") for query in wrong]

    assert {(answer.status, answer.json["code"]) for answer in answers} == {(422, "invalid_input")}


async def test_a_worker_tells_what_the_payloads_of_its_kinds_look_like(
    api: Served, database: str
) -> None:
    app = rota.App("shop")

    @app.job()
    def invoice(customer: str, amount: float = 9.5, tags: list[str] | None = None) -> None: ...

    async with open_shop(database) as shop:
        shop.handlers = app.handlers
        shop.handlers.handler("plain")(lambda _context, _payload: None)
        async with shop.worker():
            alive = (await api.platform.get("/v1/kinds")).json["data"]
    gone = (await api.platform.get("/v1/kinds")).json["data"]

    kinds = {each["kind"]: each for each in alive}
    schema = kinds["shop.invoice"]["payload_schema"]
    assert schema["required"] == ["customer"]
    assert schema["x-order"] == ["customer", "amount", "tags"]
    assert schema["properties"]["amount"] == {"type": "number", "default": 9.5}
    assert kinds["plain"] == {"kind": "plain", "workers": 1, "payload_schema": None}
    # What nobody carries out any more is still described.
    assert [(each["kind"], each["workers"]) for each in gone] == [("shop.invoice", 0)]


async def test_a_field_that_the_workers_of_a_kind_refuse_is_warned_of(
    api: Served, database: str
) -> None:
    app = rota.App("shop")

    @app.job()
    def invoice(customer: str, amount: float = 9.5) -> None: ...

    wrong = {"kind": "shop.invoice", "payload": {"customer": "ana", "amout": 1, "colour": "red"}}
    refused = "is not a field of kind 'shop.invoice'; its runs will fail"
    sentences = [
        f"payload.amout {refused}; did you mean amount?",
        f"payload.colour {refused}; known fields: amount, customer",
    ]
    async with open_shop(database) as shop:
        shop.handlers = app.handlers
        async with shop.worker():
            made = await api.platform.post("/v1/jobs", {"name": "wrong", **wrong})
            right = {**wrong, "name": "right", "payload": {"customer": "ana"}}
            fine = await api.platform.post("/v1/jobs", right)
            declared = [{"name": "nightly", "schedule": {"on_demand": True}, **wrong}]
            plan = {"project": "shop", "jobs": declared}
            planned = await api.platform.post("/v1/manifests/plan", plan)

    assert (made.status, made.json["warnings"]) == (201, sentences)
    assert fine.json["warnings"] == []
    assert planned.json["warnings"] == [f"nightly: {each}" for each in sentences]


async def test_a_worker_that_is_drained_takes_nothing_more_and_ends(
    api: Served, database: str
) -> None:
    async with open_shop(database) as shop, shop.worker() as worker:
        (found,) = (await api.platform.get("/v1/workers")).json["data"]
        operator = await api.caller("admin")

        refused = await operator.post(f"/v1/workers/{found['worker_id']}/drain")
        asked = await api.platform.post(f"/v1/workers/{found['worker_id']}/drain")
        ending = await worker.node
    again = await api.platform.post(f"/v1/workers/{found['worker_id']}/drain")

    assert (refused.status, asked.status, again.status) == (403, 202, 404)
    assert asked.json == {
        "worker_id": found["worker_id"],
        "name": found["name"],
        "is_draining": True,
    }
    assert (ending.exit_code, ending.cancelled) == (0, ())
    noted = (await api.platform.get("/v1/audit?action=worker.drain")).json["data"]
    assert [each["thing_id"] for each in noted] == [found["worker_id"]]


async def test_nobody_can_drain_what_is_no_worker(api: Served) -> None:
    for wrong in ("wrk_" + "0" * 32, "nonsense", "job_" + "0" * 32):
        answer = await api.platform.post(f"/v1/workers/{wrong}/drain")
        assert (answer.status, answer.json["code"]) == (404, "not_found")


async def test_a_ticket_logs_in_once_and_with_the_rights_of_its_key(api: Served) -> None:
    viewer = await api.caller("viewer")
    headers = {"Origin": api.url, "Sec-Fetch-Site": "same-origin"}
    ticket = (await viewer.post("/v1/login-tickets")).json

    async def log_in() -> Any:
        return await api.stranger().call(
            "POST", "/ui/session", {"ticket": ticket["ticket"]}, headers
        )

    first, second = await log_in(), await log_in()

    assert ticket["path"] == f"/login#ticket={ticket['ticket']}"
    assert (first.status, first.json["session"]["role"]) == (200, "viewer")
    assert (second.status, second.json["code"]) == (401, "unauthenticated")


async def test_an_old_ticket_is_worth_nothing(api: Served) -> None:
    ticket = (await api.platform.post("/v1/login-tickets")).json["ticket"]
    await api.conn.execute("update rota.logins set expires_at = now()")

    answer = await api.stranger().call(
        "POST", "/ui/session", {"ticket": ticket}, {"Origin": api.url}
    )

    assert answer.status == 401
    assert "older than a minute" in answer.json["detail"]


async def test_a_ticket_is_no_cookie(api: Served) -> None:
    ticket = (await api.platform.post("/v1/login-tickets")).json["ticket"]
    port = api.url.rpartition(":")[2]

    answer = await api.stranger().get("/ui/v1/jobs", Cookie=f"rota-{port}={ticket}")

    assert answer.status == 401

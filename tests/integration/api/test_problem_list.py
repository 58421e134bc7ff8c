"""`GET /v1/problems`: what is wrong now, through the API (I12)."""

from typing import Any

from tests.support.serving import Answer, Caller, Served

from rota.store import tenants

NO_PROCESSES = {"no_scheduler", "no_worker"}


async def problems(caller: Caller, query: str = "fresh=true") -> dict[str, Any]:
    answer: Answer = await caller.get(f"/v1/problems?{query}")
    assert answer.status == 200, answer.text
    return {problem["code"]: problem for problem in answer.json["data"]}


async def test_an_api_without_other_processes_says_what_to_start(api: Served) -> None:
    found = await problems(await api.caller("viewer"))

    assert found.keys() == NO_PROCESSES
    assert found["no_scheduler"]["severity"] == "page"
    assert found["no_scheduler"]["remedy"].startswith("Start one with `rota scheduler`")
    assert found["no_scheduler"]["subject"] == {"kind": "platform", "id": "rota", "name": "Rota"}


async def test_the_action_of_a_paused_queue_is_a_request_that_resumes_it(api: Served) -> None:
    admin = await api.caller("admin")
    await admin.post("/v1/queues", {"name": "mail"})
    await admin.post("/v1/queues/mail/pause")
    await admin.post("/v1/jobs", {"kind": "send", "queue": "mail"})

    paused = (await problems(admin))["tenant_queue_paused"]
    action = paused["action"]
    done = await admin.call(action["method"], action["path"], action["body"])

    assert paused["sentence"] == "Queue mail is paused; 1 run cannot start."
    assert (done.status, done.json["is_paused"]) == (200, False)
    assert "tenant_queue_paused" not in await problems(admin)


async def test_an_action_that_the_caller_may_not_take_is_left_out(api: Served) -> None:
    await api.platform.post("/v1/queues", {"name": "mail"})
    await api.platform.post("/v1/queues/mail/pause")
    admin, viewer = await api.caller("admin"), await api.caller("viewer")

    seen = [await problems(caller) for caller in (api.platform, admin, viewer)]

    actions = [found["queue_paused"]["action"] for found in seen]
    assert actions[0]["path"] == "/v1/queues/mail/resume?all_tenants=true"
    assert actions[1:] == [None, None]


async def test_a_tenant_sees_only_its_own_problems_and_the_platform_all(api: Served) -> None:
    tenant = await tenants.create_tenant(api.conn, name="other")
    other = await api.caller("admin", tenant_id=tenant.id)
    await other.post("/v1/queues", {"name": "mail"})
    await other.post("/v1/queues/mail/pause")

    own = await problems(other)
    foreign = await problems(await api.caller("admin"))
    refused = await (await api.caller("admin")).get("/v1/problems?all_tenants=true")

    assert "tenant_queue_paused" in own
    assert foreign.keys() == NO_PROCESSES
    assert (await problems(api.platform)).keys() == NO_PROCESSES
    assert refused.status == 403


async def test_the_list_is_up_to_five_seconds_old_unless_a_fresh_one_is_asked_for(
    api: Served,
) -> None:
    admin = await api.caller("admin")
    await admin.post("/v1/queues", {"name": "mail"})
    await problems(admin)
    await admin.post("/v1/queues/mail/pause")

    cached = await problems(admin, "fresh=false")

    assert "tenant_queue_paused" not in cached
    assert "tenant_queue_paused" in await problems(admin)

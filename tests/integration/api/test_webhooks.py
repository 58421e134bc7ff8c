"""Webhook subscriptions through the API: what is accepted, shown, refused and sent again (I7)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.serving import Caller, Served
from tests.support.webhooks import CLOCK, build_event, send_due
from tests.support.webhooks import sender as open_sender
from tests.support.world import World

from rota.core.webhook_subscriptions import ENDPOINTS_PER_TENANT_MAX
from rota.engine.webhooks.deliverer import WebhookDeliverer
from rota.engine.webhooks.subscriber import WebhookSubscriber

# The address is public, so nothing is looked up.
URL = "https://93.184.216.34/hook"


@pytest.fixture
async def receiver() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


@pytest.fixture
async def operator(api: Served) -> Caller:
    return await api.caller("operator")


@pytest.fixture
async def deliverer(api: Served, receiver: TargetServer) -> AsyncIterator[WebhookDeliverer]:
    async with open_sender(World(api.conn), port=receiver.port) as opened:
        opened.read_master_key = lambda: bytes([0x42] * 32)
        yield opened


async def create(caller: Caller, **given: Any) -> dict[str, Any]:
    made = await caller.post("/v1/webhooks", {"url": URL, "events": ["run.failed"], **given})
    assert made.status == 201, made.text
    return dict(made.json)


async def point_to(api: Served, webhook: dict[str, Any], url: str) -> None:
    """The guard of the API refuses private addresses, so the test writes this one itself."""
    await api.conn.execute(
        "update rota.webhook_endpoints set url = $1 where id = $2",
        url,
        UUID(webhook["webhook_id"].removeprefix("whe_")),
    )


async def consume(api: Served, number: int = 1, **given: Any) -> None:
    world = World(api.conn)
    world.now = CLOCK.now() + timedelta(seconds=1)
    events = [build_event(world, run_id=UUID(int=n + 1), **given) for n in range(number)]
    async with api.conn.transaction():
        await WebhookSubscriber().consume(api.conn, events, now=world.now)


async def test_a_subscription_is_created_shown_changed_and_deleted(
    api: Served, operator: Caller
) -> None:
    made = await create(operator, filter={"job": "nightly *", "labels": {"team": "billing"}})

    assert made["secret"].startswith("whsec_")
    assert (made["name"], made["state"], made["warnings"]) == ("93.184.216.34", "enabled", [])
    path = f"/v1/webhooks/{made['webhook_id']}"
    shown = await operator.get(path)
    assert "secret" not in shown.json
    assert shown.json["filter"]["job"] == "nightly *"
    assert shown.json["filter"]["labels"] == {"team": "billing"}
    assert made["secret"] not in (await operator.get("/v1/webhooks")).text

    changed = await operator.call(
        "PATCH", path, {"events": ["run.*"], "name": "billing"}, {"If-Match": '"1"'}
    )
    assert (changed.json["events"], changed.json["name"]) == (["run.*"], "billing")
    assert changed.json["filter"]["job"] == "nightly *", "a field that is not given stays"
    stale = await operator.call("PATCH", path, {"name": "x"}, {"If-Match": '"1"'})
    assert (stale.status, stale.json["code"]) == (412, "version_changed")

    assert (await operator.delete(path)).status == 204
    assert (await operator.get(path)).status == 404
    actions = await api.conn.fetch("select action from rota.audit where thing = 'webhook'")
    assert [row[0] for row in actions] == ["webhook.create", "webhook.update", "webhook.delete"]


@pytest.mark.parametrize(
    ("given", "field", "text"),
    [
        ({"url": "http://93.184.216.34/hook"}, "url", "allow_http"),
        ({"url": "https://10.0.0.1/hook"}, "url", "not a public address"),
        ({"url": "https://127.0.0.1/hook"}, "url", "not a public address"),
        ({"url": "https://[::1]/hook"}, "url", "not a public address"),
        ({"url": "https://localhost/hook"}, "url", "name of this machine"),
        ({"url": "https://169.254.169.254/latest"}, "url", "not a public address"),
        ({"url": "https://user:pw@93.184.216.34/"}, "url", "without user name and password"),
        ({"url": "https://93.184.216.34:5432/"}, "url", "port 5432 is not open"),
        ({"url": "ftp://93.184.216.34/"}, "url", "expected an http or https URL"),
        ({"events": ["run.faild"]}, "events[0]", "did you mean run.failed"),
        ({"events": ["nonsense"]}, "events[0]", "unknown event type"),
        ({"events": []}, "events", "1 to 30 items"),
        ({"secret": "whsec_short"}, "secret", "24 to 64"),
        ({"filter": {"labels": {"a": "b\x00"}}}, "labels.a", "control characters"),
    ],
)
async def test_what_can_never_work_is_refused_with_the_field(
    operator: Caller, given: dict[str, Any], field: str, text: str
) -> None:
    answer = await operator.post("/v1/webhooks", {"url": URL, "events": ["run.failed"], **given})

    assert answer.status == 422, answer.text
    assert field in answer.text
    assert text in answer.text
    assert "user:pw" not in answer.text


async def test_a_tenant_has_at_most_fifty_endpoints(api: Served, operator: Caller) -> None:
    for _ in range(ENDPOINTS_PER_TENANT_MAX):
        await create(operator)

    answer = await operator.post("/v1/webhooks", {"url": URL, "events": ["run.failed"]})

    assert answer.status == 422
    assert "at most 50 endpoints" in answer.text
    page = await operator.get("/v1/webhooks?limit=200")
    names = [each["name"] for each in page.json["data"]]
    assert len(set(names)) == ENDPOINTS_PER_TENANT_MAX


async def test_a_subscription_to_every_success_is_accepted_with_a_warning(
    operator: Caller,
) -> None:
    broad = await create(operator, events=["run.*"])
    narrow = await create(operator, events=["run.*"], filter={"job": "nightly report"})

    (warning,) = broad["warnings"]
    assert "one request for every run" in warning
    assert narrow["warnings"] == []


async def test_only_an_admin_may_send_payloads_and_see_them(api: Served, operator: Caller) -> None:
    admin = await api.caller("admin")
    refused = await operator.post(
        "/v1/webhooks", {"url": URL, "events": ["run.failed"], "include": ["payload"]}
    )
    assert refused.status == 403
    made = await create(admin, include=["payload", "result"])
    changed = await operator.call("PATCH", f"/v1/webhooks/{made['webhook_id']}", {"name": "mine"})
    assert changed.status == 403, "the endpoint gets payloads, so only an admin may change it"


async def test_a_viewer_sees_no_path_of_a_url(api: Served, operator: Caller) -> None:
    made = await create(operator, url="https://93.184.216.34/services/T0/B0/key?token=key")
    viewer = await api.caller("viewer")

    shown = await viewer.get(f"/v1/webhooks/{made['webhook_id']}")

    assert shown.json["url"] == "https://93.184.216.34/…"
    assert "key" not in (await viewer.get("/v1/webhooks")).text.replace("key_", "")


async def test_a_tenant_sees_nothing_of_another_tenants_endpoints(
    api: Served, operator: Caller
) -> None:
    made = await create(operator)
    other = await api.caller("admin", tenant_id=await api.tenant("other"))
    path = f"/v1/webhooks/{made['webhook_id']}"

    assert (await other.get("/v1/webhooks")).json["data"] == []
    for method, rest in (("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("POST", "/test")):
        assert (await other.call(method, path + rest)).status == 404
    assert (await other.get(f"{path}/deliveries")).status == 404


async def test_a_test_event_is_delivered_and_logged(
    api: Served, operator: Caller, receiver: TargetServer, deliverer: WebhookDeliverer
) -> None:
    made = await create(operator)
    path = f"/v1/webhooks/{made['webhook_id']}"
    await point_to(api, made, f"{receiver.url}/hook")

    asked = await operator.post(f"{path}/test")
    assert (asked.status, asked.json["state"]) == (202, "pending")
    await send_due(deliverer)

    delivery = await operator.get(f"{path}/deliveries/{asked.json['delivery_id']}")
    assert (delivery.json["state"], delivery.json["status"]) == ("delivered", 200)
    assert delivery.json["body"]["type"] == "webhook.test"
    assert delivery.json["history"][0]["status"] == 200
    (seen,) = receiver.requests
    assert seen["headers"]["webhook-id"] == delivery.json["event_id"]
    page = await operator.get(f"{path}/deliveries?state=delivered")
    assert [each["delivery_id"] for each in page.json["data"]] == [asked.json["delivery_id"]]

    again = await operator.post(f"{path}/deliveries/{asked.json['delivery_id']}/redeliver")
    assert again.status == 202
    await send_due(deliverer)
    first, second = receiver.requests
    assert first["headers"]["webhook-id"] == second["headers"]["webhook-id"]


async def test_enabling_asks_what_to_do_with_what_was_held(
    api: Served, operator: Caller, receiver: TargetServer, deliverer: WebhookDeliverer
) -> None:
    made = await create(operator)
    path = f"/v1/webhooks/{made['webhook_id']}"
    await point_to(api, made, f"{receiver.url}/hook")
    disabled = await operator.post(f"{path}/disable")
    assert (disabled.json["state"], disabled.json["disabled_reason"]) == ("disabled", "manual")
    assert (await operator.post(f"{path}/test")).status == 409
    await consume(api, 3)
    await send_due(deliverer)
    assert receiver.requests == []
    assert (await operator.get(path)).json["held"] == 3
    held = await operator.get(f"{path}/deliveries?state=held")
    assert [each["state"] for each in held.json["data"]] == ["held"] * 3

    undecided = await operator.post(f"{path}/enable")
    assert undecided.status == 422
    assert "held: required" in undecided.text
    without_token = await operator.post(f"{path}/enable", {"held": "replay"})
    assert without_token.status == 422
    counted = await operator.post(f"{path}/enable", {"held": "replay", "dry_run": True})
    assert (counted.json["matched"], counted.json["webhook"]["state"]) == (3, "disabled")
    token = counted.json["token"]
    other = await operator.post(f"{path}/enable", {"held": "drop", "token": token})
    assert other.status == 422, "the token confirms another choice"
    done = await operator.post(
        f"{path}/enable", {"held": "replay", "token": token, "per_minute": 60_000}
    )
    assert (done.json["done"], done.json["webhook"]["state"]) == (3, "enabled")
    while len(receiver.requests) < 3:
        await send_due(deliverer)
    assert (await operator.get(path)).json["pending"] == 0


@pytest.mark.parametrize(("choice", "sent"), [("newest", 1), ("drop", 0)])
async def test_held_deliveries_can_be_dropped_and_replayed_later(
    api: Served,
    operator: Caller,
    receiver: TargetServer,
    deliverer: WebhookDeliverer,
    choice: str,
    sent: int,
) -> None:
    made = await create(operator)
    path = f"/v1/webhooks/{made['webhook_id']}"
    await point_to(api, made, f"{receiver.url}/hook")
    await operator.post(f"{path}/disable")
    await consume(api, 4)
    counted = await operator.post(f"{path}/enable", {"held": choice, "dry_run": True})
    await operator.post(f"{path}/enable", {"held": choice, "token": counted.json["token"]})
    await send_due(deliverer)
    assert len(receiver.requests) == sent

    replay = {"states": ["dropped"], "per_minute": 60_000}
    dry = await operator.post(f"{path}/replay", {**replay, "dry_run": True})
    assert (dry.json["matched"], dry.json["done"]) == (4 - sent, 0)
    done = await operator.post(f"{path}/replay", {**replay, "token": dry.json["token"]})
    assert done.json["done"] == 4 - sent
    while len(receiver.requests) < 4:
        await send_due(deliverer)
    ids = {seen["headers"]["webhook-id"] for seen in receiver.requests}
    assert len(ids) == 4


async def test_rotating_returns_a_new_secret_and_says_how_long_the_former_signs(
    operator: Caller,
) -> None:
    made = await create(operator)

    rotated = await operator.post(f"/v1/webhooks/{made['webhook_id']}/rotate")

    assert rotated.json["secret"] not in {made["secret"], ""}
    assert rotated.json["former_secret_until"] is not None


async def test_payload_and_result_are_masked_and_only_for_endpoints_that_include_them(
    api: Served, receiver: TargetServer, deliverer: WebhookDeliverer
) -> None:
    admin = await api.caller("admin")
    thin, thick = await create(admin), await create(admin, include=["payload", "result"])
    for webhook in (thin, thick):
        await point_to(api, webhook, f"{receiver.url}/{webhook['webhook_id']}")
    submitted = await admin.post(
        "/v1/jobs", {"kind": "noop", "payload": {"customer": 7, "api_key": "k"}}
    )
    run_id = UUID(submitted.json["job_id"].removeprefix("job_"))
    cancelled = await admin.post(f"/v1/runs/run_{run_id.hex}/cancel", {})
    assert cancelled.status == 200, cancelled.text
    world = World(api.conn)
    world.now = CLOCK.now() + timedelta(seconds=1)
    event = replace(build_event(world), run_id=run_id)
    async with api.conn.transaction():
        await WebhookSubscriber().consume(api.conn, [event], now=world.now)
    await send_due(deliverer)

    bodies = {seen["path"].strip("/"): seen["body"] for seen in receiver.requests}
    assert "payload" not in bodies[thin["webhook_id"]]
    assert '"payload":{"api_key":"***","customer":7}' in bodies[thick["webhook_id"]]
    viewer = await api.caller("viewer")
    path = f"/v1/webhooks/{thick['webhook_id']}/deliveries"
    (row,) = (await viewer.get(path)).json["data"]
    shown = await viewer.get(f"{path}/{row['delivery_id']}")
    assert "payload" not in shown.json["body"]["data"]
    shown = await admin.get(f"{path}/{row['delivery_id']}")
    assert shown.json["body"]["data"]["payload"]["customer"] == 7

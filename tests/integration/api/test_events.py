"""Events and hooks at the door: both forms, signatures, and what was not run and why (S7)."""

import asyncio
import hmac
import json
from datetime import datetime, timedelta
from typing import Any

from tests.support.serving import CLOCK, Answer, Caller, Served

import rota
from rota.sdk import webhooks

PAID = {"type": "order.paid", "source": "shop", "id": "1", "data": {"amount": 150}}
CLOUD = {"specversion": "1.0", "type": "order.paid", "source": "/shop", "id": "c1"}


async def job(api: Served, name: str, event: Any, **given: Any) -> str:
    body = {"name": name, "kind": "noop", "schedule": {"event": event}, **given}
    made = await api.platform.post("/v1/jobs", body)
    assert made.status == 201, made.text
    return str(made.json["job_id"])


async def sent(api: Served, body: Any, media: str = "application/json", **headers: str) -> Answer:
    """As it is, with whichever content type."""
    caller = api.platform
    given = {"Authorization": f"Bearer {caller.key}", "Content-Type": media}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await posted(api, "/v1/events", json.dumps(body).encode(), given)


async def posted(api: Served, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    async with api.session.post(f"{api.url}{path}", data=body, headers=headers) as response:
        text = await response.text()
        return Answer(response.status, json.loads(text), response.headers, text)


async def test_an_event_starts_jobs_and_tells_which_and_why_not_the_others(api: Served) -> None:
    ran = await job(api, "ran", "order.paid")
    filtered = await job(api, "filtered", {"type": "order.*", "where": "event.data.amount > 200"})
    failed = await job(api, "failed", {"type": "*", "where": "event.data.amount + 'x' == 1"})
    paused = await job(api, "paused", "order.paid")
    await api.platform.post(f"/v1/jobs/{paused}/pause")
    await job(api, "other", "order.sent")

    first = await api.platform.post("/v1/events", PAID)
    again = await api.platform.post("/v1/events", PAID)

    assert (first.status, first.json["taken"], first.json["duplicates"]) == (202, 1, 0)
    assert (again.status, again.json["taken"], again.json["duplicates"]) == (202, 0, 1)
    (event,) = first.json["events"]
    assert again.json["events"] == [{**event, "duplicate": True}]
    shown = (await api.platform.get(f"/v1/events/{event['event_id']}")).json
    outcomes = {each["job_id"]: each["outcome"] for each in shown["matches"]}
    assert outcomes == {ran: "matched", filtered: "filtered", failed: "failed", paused: "paused"}
    assert {each["job_name"] for each in shown["matches"]} == {
        "ran",
        "filtered",
        "failed",
        "paused",
    }
    assert (shown["data"], shown["source"], shown["id"]) == ({"amount": 150}, "shop", "1")
    (run_id,) = event["run_ids"]
    run = (await api.platform.get(f"/v1/runs/{run_id}")).json
    assert (run["job_id"], run["trigger"]) == (ran, "event")
    assert run["payload"]["event"]["data"] == {"amount": 150}


async def test_the_client_hands_in_one_event(api: Served) -> None:
    async with rota.AsyncClient(api.url, api.platform.key) as client:
        first = await client.send_event("order.paid", {"n": 1}, source="shop", id="7")
        again = await client.send_event("order.paid", {"n": 1}, source="shop", id="7")
        shown = await client.get_event(first.event_id)

    assert (first.duplicate, again.duplicate) == (False, True)
    assert (again.event_id, shown.data) == (first.event_id, {"n": 1})


async def test_single_events_that_come_together_are_written_together(api: Served) -> None:
    job_id = await job(api, "ran", "order.paid")

    async def send(n: int) -> Answer:
        return await api.platform.post("/v1/events", {**PAID, "id": str(n)})

    answers = await asyncio.gather(*(send(n) for n in range(60)))

    assert {answer.status for answer in answers} == {202}
    made = {each for answer in answers for each in answer.json["events"][0]["run_ids"]}
    runs = (await api.platform.get(f"/v1/jobs/{job_id}/runs?limit=100")).json["data"]
    assert made == {run["run_id"] for run in runs}
    assert len(made) == 60
    commits = await api.conn.fetchval("select count(distinct xmin::text) from rota.events")
    assert commits < 60


async def test_one_event_handed_in_by_many_at_once_starts_a_job_once(api: Served) -> None:
    await job(api, "ran", "order.paid")

    answers = await asyncio.gather(*(api.platform.post("/v1/events", PAID) for _ in range(20)))

    assert sum(answer.json["taken"] for answer in answers) == 1
    assert len({json.dumps(answer.json["events"][0]["run_ids"]) for answer in answers}) == 1
    assert await api.conn.fetchval("select count(*) from rota.live_runs") == 1


async def test_one_bad_event_among_others_is_refused_alone(api: Served) -> None:
    async def send(n: int) -> Answer:
        kind = "a.*" if n == 7 else "order.paid"
        return await api.platform.post("/v1/events", {**PAID, "type": kind, "id": str(n)})

    answers = await asyncio.gather(*(send(n) for n in range(30)))

    assert [answer.status for answer in answers] == [422 if n == 7 else 202 for n in range(30)]
    assert answers[7].json["errors"][0]["pointer"] == "/type"


async def test_an_event_again_with_its_idempotency_key_is_answered_as_before(api: Served) -> None:
    first = await api.platform.post("/v1/events", {"type": "order.paid"}, Idempotency_Key="e-1")
    again = await api.platform.post("/v1/events", {"type": "order.paid"}, Idempotency_Key="e-1")

    assert (first.status, again.status) == (202, 202)
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert await api.conn.fetchval("select count(*) from rota.events") == 1


async def test_a_batch_is_taken_whole_or_not_at_all(api: Served) -> None:
    wrong = await api.platform.post("/v1/events", {"events": [PAID, {**PAID, "type": "a.*"}]})
    assert (wrong.status, wrong.json["errors"][0]["pointer"]) == (422, "/events/1/type")
    listed = await api.platform.get("/v1/events")
    assert listed.json["data"] == []

    many = [{"type": "order.paid", "id": str(n), "source": "s"} for n in range(5)]
    answer = await api.platform.post("/v1/events", {"events": many})
    assert (answer.json["taken"], [each["id"] for each in answer.json["events"]]) == (
        5,
        ["0", "1", "2", "3", "4"],
    )


async def test_cloudevents_are_taken_in_their_three_forms(api: Served) -> None:
    extended = {**CLOUD, "id": "c2", "traceparent": "00-1", "time": "2026-01-01T00:00:00Z"}
    one = await sent(api, CLOUD, "application/cloudevents+json; charset=utf-8")
    batch = await sent(api, [CLOUD, extended], "application/cloudevents-batch+json")
    binary = await sent(
        api,
        {"amount": 7},
        ce_specversion="1.0",
        ce_type="order.paid",
        ce_source="/shop",
        ce_id="caf%C3%A9",
        ce_subject="7",
    )

    assert [each.status for each in (one, batch, binary)] == [202] * 3
    assert (batch.json["taken"], batch.json["duplicates"]) == (1, 1)
    shown = [
        (await api.platform.get(f"/v1/events/{each['event_id']}")).json
        for each in (batch.json["events"][1], binary.json["events"][0])
    ]
    assert (shown[0]["attributes"], shown[0]["time"]) == (
        {"traceparent": "00-1"},
        "2026-01-01T00:00:00Z",
    )
    assert (shown[1]["id"], shown[1]["subject"], shown[1]["data"]) == ("café", "7", {"amount": 7})


WRONG: dict[str, tuple[Any, str, int, str]] = {
    "no version": ({"type": "a", "source": "b", "id": "c"}, "+json", 422, "specversion"),
    "other version": ({**CLOUD, "specversion": "0.3"}, "+json", 422, "specversion"),
    "no id": ({**CLOUD, "id": None}, "+json", 422, "id"),
    "no text": ({**CLOUD, "source": 7}, "+json", 422, "source"),
    "name": ({**CLOUD, "Big-Name": 1}, "+json", 422, "Big-Name"),
    "object": ({**CLOUD, "extra": {}}, "+json", 422, "extra"),
    "both": ({**CLOUD, "data": 1, "data_base64": "AA=="}, "+json", 422, "data_base64"),
    "time": ({**CLOUD, "time": "noon"}, "+json", 422, "time"),
    "list": ([CLOUD], "+json", 422, ""),
    "no list": (CLOUD, "-batch+json", 422, ""),
    "in a list": ([CLOUD, {**CLOUD, "type": ""}], "-batch+json", 422, "events[1].type"),
    "too many": ([CLOUD] * 1001, "-batch+json", 422, "events"),
    "avro": (CLOUD, "+avro", 415, ""),
}


async def test_a_wrong_event_is_refused_in_one_clear_sentence(api: Served) -> None:
    for name, (body, media, status, field) in WRONG.items():
        answer = await sent(api, body, f"application/cloudevents{media}")
        assert (answer.status, name) == (status, name), answer.text
        assert answer.json["detail"].startswith(field), answer.text
    own: dict[str, Any] = {
        "neither": {},
        "both": {**PAID, "events": [PAID]},
        "unknown": {**PAID, "tpye": "x"},
        "empty": {"events": []},
        "too many": {"events": [PAID] * 1001},
        "time": {**PAID, "time": "noon"},
        "text": "order.paid",
    }
    for name, body in own.items():
        answer = await sent(api, body)
        assert (answer.status, name) == (422, name), answer.text
    text = await posted(api, "/v1/events", b"x", {"Authorization": f"Bearer {api.platform.key}"})
    assert text.status == 415
    assert (await api.platform.get("/v1/events")).json["data"] == []


async def test_a_wrong_trigger_is_refused_when_the_job_is_saved(api: Served) -> None:
    wrong = {"type": "order.paid", "where": "event.data.amount >"}
    body = {"name": "a", "kind": "noop", "schedule": {"event": wrong}}

    answer = await api.platform.post("/v1/jobs", body)

    assert answer.status == 422
    assert answer.json["errors"][0]["pointer"] == "/schedule/event/where"
    assert "at character 20" in answer.json["detail"]


async def test_events_are_listed_by_page_and_filter(api: Served) -> None:
    for n in range(5):
        kind = "order.paid" if n % 2 else "order.sent"
        given = {"type": kind, "source": f"shop {n % 3}", "id": str(n)}
        await api.platform.post("/v1/events", given)

    async def ids(query: str) -> list[str]:
        found, cursor = [], ""
        while True:
            page = await api.platform.get(f"/v1/events?limit=2{query}{cursor}")
            assert page.status == 200, page.text
            found += [each["id"] for each in page.json["data"]]
            if page.json["next_cursor"] is None:
                return found
            cursor = f"&cursor={page.json['next_cursor']}"

    assert await ids("") == ["4", "3", "2", "1", "0"]
    assert await ids("&type=order.sent") == ["4", "2", "0"]
    assert await ids("&source=shop%201") == ["4", "1"]
    assert await ids("&source=shop%201&type=order.paid") == ["1"]
    assert await ids("&until=2020-01-01T00:00:00Z") == []
    assert await ids("&since=2020-01-01T00:00:00Z&type=order.paid") == ["3", "1"]
    foreign = await api.caller("viewer", tenant_id=await api.tenant("other"))
    assert (await foreign.get("/v1/events")).json["data"] == []
    stranger = await api.platform.get("/v1/events/evt_" + "0" * 32)
    assert stranger.status == 404


async def test_events_are_replayed_after_a_dry_run(api: Served) -> None:
    await api.platform.post("/v1/events", PAID)
    await job(api, "late", "order.paid")
    body = {"filter": {"type": "order.paid"}}

    bare = await api.platform.post("/v1/events:replay", body)
    dry = (await api.platform.post("/v1/events:replay", {**body, "dry_run": True})).json
    done = (await api.platform.post("/v1/events:replay", {**body, "token": dry["token"]})).json
    again = (await api.platform.post("/v1/events:replay", {**body, "token": dry["token"]})).json

    assert (bare.status, dry["matched"], dry["done"]) == (422, 1, 0)
    assert (done["done"], done["runs"], again["runs"]) == (1, 1, 0)
    nothing = await api.platform.post("/v1/events:replay", {"filter": {}, "dry_run": True})
    assert nothing.status == 422


class Sender:
    """Somebody who has the address of a hook and its secret, and no key."""

    def __init__(self, api: Served, hook: dict[str, Any]) -> None:
        self.api = api
        self.url = hook["url"]
        self.secret = hook["secret"]

    async def send(
        self, body: bytes, *, at: datetime | None = None, sent_id: str = "m1", **changed: str
    ) -> Answer:
        signed = webhooks.sign(body, self.secret, id=sent_id, now=at)
        signed |= {name.replace("_", "-"): value for name, value in changed.items()}
        return await posted(self.api, self.url, body, signed)


async def hook(api: Served, **given: str) -> dict[str, Any]:
    body = {"name": "payments", "type": "payment.received", **given}
    made = await api.platform.post("/v1/hooks", body)
    assert made.status == 201, made.text
    found: dict[str, Any] = made.json
    return found


async def test_a_signed_request_is_an_event_once(api: Served) -> None:
    await job(api, "book", "payment.*")
    sender = Sender(api, await hook(api))

    first = await sender.send(b'{"amount": 7}')
    again = await sender.send(b'{"amount": 7}')
    later = await sender.send(b'{"amount": 7}', at=CLOCK.now() + timedelta(minutes=4))

    assert (first.status, first.json["duplicate"], len(first.json["run_ids"])) == (202, False, 1)
    for repeated in (again, later):
        assert (repeated.status, repeated.json["duplicate"]) == (202, True)
        assert repeated.json["run_ids"] == first.json["run_ids"]
    shown = (await api.platform.get(f"/v1/events/{first.json['event_id']}")).json
    assert (shown["type"], shown["source"], shown["id"]) == (
        "payment.received",
        "hooks/payments",
        "m1",
    )
    assert shown["data"] == {"amount": 7}


async def test_what_is_not_signed_rightly_is_refused(api: Served) -> None:
    made = await hook(api)
    sender = Sender(api, made)
    good = webhooks.sign(b"{}", sender.secret, id="m1")
    minutes = timedelta(minutes=6)
    refused = [
        await posted(api, sender.url, b"{}", {}),
        await posted(api, sender.url, b'{"a": 1}', good),
        await posted(api, sender.url, b"{}", {**good, "webhook-id": "m2"}),
        await sender.send(b"{}", webhook_signature="v1,AAAA"),
        await sender.send(b"{}", at=CLOCK.now() - minutes),
        await sender.send(b"{}", at=CLOCK.now() + minutes),
        await Sender(api, {**made, "secret": webhooks.new_secret()}).send(b"{}"),
    ]
    assert [each.status for each in refused] == [401] * len(refused)
    assert all(sender.secret not in each.text for each in refused)
    unknown = await Sender(api, {**made, "url": "/v1/hooks/hook_" + "0" * 32}).send(b"{}")
    no_json = await sender.send(b"amount=7")
    large = await sender.send(json.dumps("x" * 300_000).encode())
    assert [each.status for each in (unknown, no_json, large)] == [404, 400, 413]
    assert (await api.platform.get("/v1/events")).json["data"] == []


async def test_githubs_signature_is_understood_and_is_the_id(api: Served) -> None:
    secret = "a secret of sixteen"
    made = await hook(api, style="github", secret=secret)
    body = b'{"ref": "main"}'
    digest = hmac.new(secret.encode(), body, "sha256").hexdigest()
    signed = {"X-Hub-Signature-256": f"sha256={digest}", "X-GitHub-Event": "push"}

    first = await posted(api, made["url"], body, {**signed, "X-GitHub-Delivery": "1"})
    again = await posted(api, made["url"], body, {**signed, "X-GitHub-Delivery": "2"})
    wrong = await posted(api, made["url"], b"{}", signed)
    bare = await posted(api, made["url"], body, {})

    assert (first.status, again.json["duplicate"]) == (202, True)
    assert [wrong.status, bare.status] == [401, 401]
    shown = (await api.platform.get(f"/v1/events/{first.json['event_id']}")).json
    assert shown["attributes"] == {"github_event": "push"}


async def test_a_github_delivery_is_not_accepted_again_after_its_event_was_forgotten(
    api: Served,
) -> None:
    secret = "a secret of sixteen"
    made = await hook(api, style="github", secret=secret)
    body = b'{"ref": "main"}'
    digest = hmac.new(secret.encode(), body, "sha256").hexdigest()
    signed = {"X-Hub-Signature-256": f"sha256={digest}"}
    first = await posted(api, made["url"], body, signed)
    # As retention does after some days.
    await api.conn.execute("delete from rota.event_keys")
    await api.conn.execute("delete from rota.events")

    replayed = await posted(api, made["url"], body, signed)

    assert (first.status, replayed.status) == (202, 401)
    assert "its event has expired" in replayed.json["detail"]
    assert (await api.platform.get("/v1/events")).json["data"] == []
    # The memory of a hook goes with it.
    assert (await api.platform.delete(made["url"])).status == 204
    assert await api.conn.fetchval("select count(*) from rota.hook_deliveries") == 0


async def test_a_secret_is_shown_once_and_rotated_without_a_gap(api: Served) -> None:
    made = await hook(api)
    old = Sender(api, made)
    listed = await api.platform.get("/v1/hooks")
    path = f"/v1/hooks/{made['hook_id']}/rotate"
    rotated = (await api.platform.post(path, {"former_for": "1h"})).json
    new = Sender(api, rotated)

    assert old.secret not in listed.text
    assert (rotated["version"], rotated["secret"] != made["secret"]) == (2, True)
    assert [(await each.send(b"{}", sent_id="x")).status for each in (old, new)] == [202, 202]

    await api.platform.post(path, {"former_for": "0s"})
    assert [(await each.send(b"{}", sent_id="y")).status for each in (old, new)] == [401, 401]
    sealed = await api.conn.fetchval("select ciphertext from rota.hooks")
    assert old.secret.encode() not in sealed

    deleted = await api.platform.delete(f"/v1/hooks/{made['hook_id']}")
    assert deleted.status == 204
    assert (await new.send(b"{}")).status == 404
    assert (await api.platform.get("/v1/hooks")).json["data"] == []


async def test_a_wrong_hook_is_refused(api: Served) -> None:
    await hook(api)
    wrong: list[tuple[dict[str, str], int]] = [
        ({"name": "payments"}, 409),
        ({"name": "b", "type": "a.*"}, 422),
        ({"name": "c", "secret": "short"}, 422),
        ({"name": "d", "secret": "short", "style": "github"}, 422),
        ({"name": "e", "style": "other"}, 422),
    ]

    for given, status in wrong:
        answer = await api.platform.post("/v1/hooks", {"type": "payment.received", **given})
        assert answer.status == status, answer.text
        assert "short" not in answer.text


async def test_hooks_of_another_tenant_are_not_there(api: Served) -> None:
    made = await hook(api)
    other: Caller = await api.caller("admin", tenant_id=await api.tenant("other"))

    assert (await other.get("/v1/hooks")).json["data"] == []
    assert (await other.delete(f"/v1/hooks/{made['hook_id']}")).status == 404
    assert (await other.post(f"/v1/hooks/{made['hook_id']}/rotate")).status == 404
    assert (await Sender(api, made).send(b"{}")).status == 202
    assert (await other.get("/v1/events")).json["data"] == []

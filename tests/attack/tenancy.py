"""What one tenant can reach of another."""

import json
from typing import Any

from rota.api import resources
from rota.api.operations import Operation, catalogue
from tests.attack.attacks import Findings, attack
from tests.attack.target import DEEP, Target

# Streams, and what ends the other attacks' keys.
LEFT_OUT = {"follow_feed", "feed"}


def list_payloads(target: Target) -> dict[str, tuple[str, Any]]:
    """Jobs that use what the worker has for the victim."""
    return {
        "connection": ("sql", {"connection": "acme-shop", "query": "select * from money"}),
        "channel": ("notify", {"channel": "ops", "title": DEEP, "body": "hello"}),
        "webhook secret": (
            "webhook",
            {"url": target.sink_url, "webhook": "partner", "type": "a.b", "data": {}},
        ),
        "place": ("sync", {"from": "vault:/plans", "to": "vault:/copy"}),
        "program": ("shell", {"argv": ["/usr/bin/id"]}),
        "network": ("http", {"url": target.sink_url}),
    }


@attack("worker-resources")
async def use_resources_of_others(target: Target, findings: Findings) -> None:
    """An operator names connections, channels, secrets, places and programs of another tenant."""
    payloads = list_payloads(target)
    for what, (kind, payload) in payloads.items():
        run_id = await target.submit(target.victim.operator, kind, payload, max_retries=0)
        ended = await target.wait_for_end(target.victim.operator, run_id)
        findings.expect(ended["status"] == "succeeded", f"{what}: its owner cannot use it: {ended}")
    payloads["undeclared connection"] = (
        "sql",
        {"connection": "undeclared", "query": "select * from money"},
    )
    before = len(target.received)
    for what, (kind, payload) in payloads.items():
        run_id = await target.submit(target.intruder.operator, kind, payload, max_retries=0)
        ended = await target.wait_for_end(target.intruder.operator, run_id, within=10)
        findings.expect(ended["status"] != "succeeded", f"{what} of another tenant was used")
        result = json.dumps([ended.get("result"), ended.get("error_message")])
        findings.expect(DEEP not in result, f"{what}: data of another tenant came back")
    sent = target.received[before:]
    findings.expect(not sent, f"requests were sent for another tenant: {sent}")


@attack("queue-of-others")
async def use_a_queue_of_others(target: Target, findings: Findings) -> None:
    """A run in a queue that a worker serves for another tenant only is not taken."""
    run_id = await target.submit(
        target.intruder.operator, "attack.wait", {"seconds": 0}, queue="acme-only"
    )
    mine = await target.submit(
        target.victim.operator, "attack.wait", {"seconds": 0}, queue="acme-only"
    )
    ended = await target.wait_for_end(target.victim.operator, mine)
    findings.expect(ended["status"] == "succeeded", "its owner's run was not taken")
    found = (await target.intruder.operator.get(f"/v1/runs/{run_id}")).json
    findings.expect(found["status"] == "queued", f"the intruder's run is {found['status']}")
    why = await target.intruder.viewer.get(f"/v1/runs/{run_id}/explain")
    findings.expect("tenant" in why.text, f"the explanation does not name the tenant: {why.text}")
    paused = await target.intruder.admin.post("/v1/queues/acme-only/pause")
    after = await target.submit(
        target.victim.operator, "attack.wait", {"seconds": 0}, queue="acme-only"
    )
    ended = await target.wait_for_end(target.victim.operator, after)
    findings.expect(
        ended["status"] == "succeeded", f"one tenant paused the queue of another ({paused.status})"
    )


@attack("visibility")
async def look_for_names_of_others(target: Target, findings: Findings) -> None:
    """A viewer looks for queues, hosts, kinds and figures of another tenant."""
    await target.victim.operator.post(
        "/v1/jobs", {"kind": "attack.wait", "queue": "secret-project", "payload": {"seconds": 0}}
    )
    begun = await target.victim.operator.post(
        "/v1/runs/external", {"job": "secret-backup", "host": "secret-host"}
    )
    findings.expect(begun.status == 201, f"external run: {begun.text}")
    for path in (
        "/v1/queues",
        "/v1/workers",
        "/v1/schedulers",
        "/v1/kinds",
        "/v1/tasks",
        "/metrics",
        "/v1/statistics",
        "/v1/statistics/series",
        "/v1/jobs",
        "/v1/runs",
        "/v1/dead-letters",
        "/v1/sources",
        "/v1/schedules/load",
    ):
        seen = await target.intruder.admin.get(path)
        for name in ("secret-project", "secret-backup", "secret-host"):
            findings.expect(name not in seen.text, f"{path} shows {name} of another tenant")
    await target.victim.operator.post(
        f"/v1/runs/{begun.json['run_id']}/external/end", {"exit_code": 0}
    )


@attack("foreign-ids")
async def use_ids_of_others(target: Target, findings: Findings) -> None:
    """Every operation, with ids of another tenant, for every role and without a key."""
    resources.load_operations()
    ids = await collect_ids(target)
    before = await read_everything(target)
    tenant = target.intruder
    callers = {
        "no key": target.nobody,
        "viewer": tenant.viewer,
        "operator": tenant.operator,
        "admin": tenant.admin,
    }
    for operation in catalogue.operations:
        if not operation.parameters or operation.name in LEFT_OUT or "name" in operation.path:
            continue
        path = fill_path(operation, ids)
        if path is None:
            continue
        for role, caller in callers.items():
            answer = await caller.call(operation.method, path, operation.example)
            findings.expect(
                answer.status >= 400 and answer.status < 500,
                f"{role}: {operation.method} {path} answered {answer.status}",
            )
            findings.expect(DEEP not in answer.text, f"{role}: {path} shows foreign data")
    findings.expect(await read_everything(target) == before, "something of the victim changed")


async def collect_ids(target: Target) -> dict[str, str]:
    """Things of the victim, one of each sort."""
    operator, admin = target.victim.operator, target.victim.admin
    job = await operator.post(
        "/v1/jobs",
        {
            "name": "mine",
            "kind": "attack.wait",
            "schedule": {"cron": "0 0 1 1 *"},
            "payload": {"note": DEEP},
        },
    )
    hook = await admin.post("/v1/hooks", {"name": "mine", "type": "a.b"})
    key = await admin.post("/v1/keys", {"name": "mine", "role": "viewer"})
    event = await operator.post("/v1/events", {"type": "a.b", "data": {"note": DEEP}})
    run_id = await target.submit(operator, "attack.wait", {"seconds": 0, "note": DEEP})
    await target.wait_for_end(operator, run_id)
    return {
        "job_id": job.json["job_id"],
        "run_id": run_id,
        "hook_id": hook.json["hook_id"],
        "key_id": key.json["key_id"],
        "event_id": event.json.get("event_id", "evt_" + "0" * 32),
        "tenant_id": str(target.victim.id),
        "backfill_id": "bkf_" + "0" * 32,
        "user_id": "nobody",
        "worker_id": "wrk_" + "0" * 32,
    }


def fill_path(operation: Operation, ids: dict[str, str]) -> str | None:
    if any(name not in ids for name in operation.parameters):
        return None
    return operation.path.format(**ids)


async def read_everything(target: Target) -> dict[str, Any]:
    """What the victim has, without what time changes by itself."""
    admin = target.victim.admin
    found = {}
    for path in ("/v1/jobs", "/v1/runs", "/v1/hooks", "/v1/keys", "/v1/calendars", "/v1/secrets"):
        listed = (await admin.get(path)).json["data"]
        found[path] = [
            {name: value for name, value in each.items() if name != "used_at"} for each in listed
        ]
    return found

"""Incidents are listed, acknowledged, commented and ended; silences and channels are managed."""

from datetime import timedelta
from typing import Any

import pytest
from tests.support.alerting import name_id
from tests.support.serving import CLOCK, Caller, Served

from rota.core.alert_channels import ChannelResult
from rota.core.alerts.finding import (
    PLATFORM_TENANT_ID,
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    Severity,
    SubjectKind,
    Verdict,
)
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.notification_planner import plan_due_groups
from rota.engine.alerting.notification_sender import claim_messages, record_result
from rota.store.alert_channels import ChannelReport, report_channels


async def find(api: Served, job: str = "report", tenant_id: int = 1, **given: Any) -> None:
    """Report a violation about a job."""
    finding = Finding(
        expectation=ExpectationRef(
            id=name_id(f"rule of {tenant_id}"),
            tenant_id=tenant_id,
            name="failures",
            condition="failure_streak",
            policy=AlertPolicy(severity=given.pop("severity", Severity.WARNING)),
        ),
        subject=AlertSubject(
            kind=SubjectKind.JOB, id=name_id(job).hex, name=job, labels=given.pop("labels", {})
        ),
        verdict=Verdict.VIOLATED,
        at=CLOCK.now(),
        title=f"{job} failed 3 times",
        facts={"error": "disk full"},
        **given,
    )
    async with api.conn.transaction():
        await apply_findings(api.conn, [finding], now=CLOCK.now())


async def list_titles(caller: Caller, query: str = "") -> list[str]:
    answer = await caller.get(f"/v1/incidents{query}")
    assert answer.status == 200, answer.text
    return [incident["title"] for incident in answer.json["data"]]


async def get_only(caller: Caller) -> dict[str, Any]:
    (incident,) = (await caller.get("/v1/incidents")).json["data"]
    found: dict[str, Any] = (await caller.get(f"/v1/incidents/{incident['incident_id']}")).json
    return found


async def add_channel(api: Served, name: str = "chat", **given: Any) -> None:
    report = ChannelReport(
        **{"name": name, "kind": "slack", "tenants": ("*",), "is_default": True, **given}
    )
    await report_channels(api.conn, [report], now=CLOCK.now())


async def test_an_incident_is_shown_with_its_thread_and_its_messages(api: Served) -> None:
    await add_channel(api)
    run_id = name_id("run")
    await find(api, run_id=run_id)
    await plan_due_groups(api.conn, now=CLOCK.now())

    shown = await get_only(api.platform)

    assert shown["title"] == "report failed 3 times"
    assert (shown["state"], shown["severity"], shown["count"]) == ("open", "warning", 1)
    assert shown["subject"] == {"kind": "job", "id": name_id("report").hex, "name": "report"}
    assert shown["run_id"] == f"run_{run_id.hex}"
    assert shown["expectation"]["name"] == "failures"
    assert shown["facts"] == {"error": "disk full"}
    assert [entry["type"] for entry in shown["thread"]] == ["opened"]
    (message,) = shown["notifications"]
    assert (message["channel"], message["kind"], message["state"]) == ("chat", "opened", "pending")


async def test_incidents_are_filtered_and_paged(api: Served) -> None:
    for number in range(5):
        await find(api, f"job {number}")
    await find(api, "bad", severity=Severity.PAGE)
    caller = api.platform
    page = (await caller.get("/v1/incidents?limit=4")).json
    rest = (await caller.get(f"/v1/incidents?limit=4&cursor={page['next_cursor']}")).json

    assert len({each["incident_id"] for each in page["data"] + rest["data"]}) == 6
    assert rest["next_cursor"] is None
    assert await list_titles(caller, "?severity=page") == ["bad failed 3 times"]
    assert len(await list_titles(caller, "?state=open")) == 6
    assert await list_titles(caller, "?state=resolved") == []
    assert (await caller.get("/v1/incidents?state=closed")).status == 422


async def test_an_operator_acknowledges_comments_and_resolves(api: Served) -> None:
    await find(api)
    operator = await api.caller("operator", user_id="ada")
    path = f"/v1/incidents/{(await get_only(operator))['incident_id']}"

    acknowledged = await operator.post(f"{path}/acknowledge", {"note": "I am on it"})
    again = await operator.post(f"{path}/acknowledge", {})
    noted = await operator.post(f"{path}/notes", {"text": "disk is full"})
    resolved = await operator.post(f"{path}/resolve", {})
    late = await operator.post(f"{path}/acknowledge", {})

    assert (acknowledged.json["state"], acknowledged.json["acknowledged_by"]) == (
        "acknowledged",
        "ada",
    )
    assert again.json["acknowledged_at"] == acknowledged.json["acknowledged_at"]
    assert noted.status == 201
    assert (resolved.json["state"], resolved.json["resolution"]) == ("resolved", "resolved by ada")
    thread = [(entry["type"], entry["by"]) for entry in resolved.json["thread"]]
    assert thread == [
        ("opened", None),
        ("acknowledged", "ada"),
        ("note", "ada"),
        ("resolved", "ada"),
    ]
    assert late.status == 409
    actions = [entry["action"] for entry in (await api.platform.get("/v1/audit")).json["data"]]
    assert {"incident.acknowledge", "incident.note", "incident.resolve"} <= set(actions)


async def test_a_viewer_only_reads(api: Served) -> None:
    await find(api)
    viewer = await api.caller("viewer")
    path = f"/v1/incidents/{(await get_only(viewer))['incident_id']}"

    assert (await viewer.post(f"{path}/acknowledge", {})).status == 403
    assert (await viewer.post("/v1/silences", {"for": "1h", "reason": "x"})).status == 403


async def test_another_tenant_sees_nothing_and_incidents_of_rota_only_the_platform(
    api: Served,
) -> None:
    await find(api)
    await find(api, "rota", tenant_id=PLATFORM_TENANT_ID)
    own = await api.caller("admin")
    stranger = await api.caller("admin", tenant_id=await api.tenant("other"))
    incident_id = (await get_only(own))["incident_id"]

    assert await list_titles(own) == ["report failed 3 times"]
    assert await list_titles(stranger) == []
    assert (await stranger.get(f"/v1/incidents/{incident_id}")).status == 404
    assert (await stranger.post(f"/v1/incidents/{incident_id}/resolve", {})).status == 404
    seen = (await api.platform.get("/v1/incidents")).json["data"]
    assert {each["title"]: each["is_platform"] for each in seen} == {
        "report failed 3 times": False,
        "rota failed 3 times": True,
    }
    rota = next(each for each in seen if each["is_platform"])
    acknowledged = await api.platform.post(f"/v1/incidents/{rota['incident_id']}/acknowledge", {})
    assert acknowledged.json["state"] == "acknowledged"


async def test_a_silence_applies_at_once_and_ends_by_hand(api: Served) -> None:
    await find(api, labels={"app": "shop"})
    await find(api, "other")
    body = {"match": {"labels": {"app": "shop"}}, "for": "20m", "reason": "deploy"}

    made = await api.platform.post("/v1/silences", body)

    assert made.status == 201, made.text
    assert (made.json["state"], made.json["reason"]) == ("active", "deploy")
    assert await list_titles(api.platform, "?state=silenced") == ["report failed 3 times"]
    assert await list_titles(api.platform, "?state=open") == ["other failed 3 times"]
    listed = (await api.platform.get("/v1/silences")).json["data"]
    assert [each["silence_id"] for each in listed] == [made.json["silence_id"]]

    path = f"/v1/silences/{made.json['silence_id']}"
    assert (await api.platform.delete(path)).status == 204
    assert (await api.platform.delete(path)).status == 404
    assert await list_titles(api.platform, "?state=silenced") == []
    assert (await api.platform.get("/v1/silences")).json["data"] == []
    ended = (await api.platform.get("/v1/silences?ended=true")).json["data"]
    assert [each["state"] for each in ended] == ["ended"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"reason": "x"}, "required, or give `ends_at` or `calendar`"),
        ({"reason": "x", "for": "31d"}, "must be at most 30 days"),
        ({"reason": "x", "for": "0s"}, "must be at least 1 second"),
        ({"reason": "x", "for": "1h", "ends_at": "2030-01-01T00:00:00Z"}, "give either"),
        ({"reason": "x", "ends_at": "2020-01-01T00:00:00Z"}, "must be in the future"),
        ({"reason": "x", "ends_at": "2090-01-01T00:00:00Z"}, "at most 30 days after"),
        ({"reason": "x", "calendar": "nowhere"}, "no such calendar"),
        ({"for": "1h"}, "reason"),
        ({"reason": "x", "for": "1h", "match": {"user": "x"}}, "user"),
    ],
)
async def test_a_silence_without_a_bounded_end_or_a_reason_is_refused(
    api: Served, body: dict[str, Any], message: str
) -> None:
    answer = await api.platform.post("/v1/silences", body)

    assert answer.status == 422
    assert message in answer.text


async def test_a_silence_follows_a_calendar_until_it_is_deleted(api: Served) -> None:
    calendar = {"calendar": {"weekly": [{"start": "tue 22:00", "end": "wed 02:00"}]}}
    assert (await api.platform.put("/v1/calendars/patching", calendar)).status < 300

    made = await api.platform.post(
        "/v1/silences", {"calendar": "patching", "reason": "patch tuesday"}
    )

    assert (made.json["ends_at"], made.json["calendar"]) == (None, "patching")


async def test_channels_show_names_and_health_and_never_addresses(api: Served) -> None:
    await add_channel(api)
    await add_channel(api, "theirs", tenants=("other",))
    viewer = await api.caller("viewer")

    (channel,) = (await viewer.get("/v1/channels")).json["data"]

    assert (channel["name"], channel["kind"], channel["health"]) == ("chat", "slack", "ok")
    assert "url" not in channel


async def test_a_test_message_is_sent_by_a_process_that_has_the_channel(api: Served) -> None:
    await add_channel(api)
    operator = await api.caller("operator", user_id="ada")

    asked = await operator.post("/v1/channels/chat/test", {})
    assert asked.status == 202, asked.text
    now = CLOCK.now() + timedelta(seconds=1)
    (claimed,) = (await claim_messages(api.conn, "chat", now=now)).messages
    await record_result(api.conn, claimed, ChannelResult(error="403 denied"), now=now)
    result = await operator.get(f"/v1/notifications/{asked.json['notification_id']}")

    assert asked.json["state"] == "pending"
    assert (result.json["state"], result.json["error"]) == ("failed", "403 denied")
    assert result.json["title"] == "Test message, requested by ada"
    listed = (await operator.get("/v1/notifications?channel=chat")).json["data"]
    assert [each["kind"] for each in listed] == ["test"]
    assert (await operator.post("/v1/channels/nowhere/test", {})).status == 404

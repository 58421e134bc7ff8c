"""Rules and routes as code: plan, apply, prune, drift, and what is refused."""

from typing import Any

import pytest
from tests.support.serving import CLOCK, Answer, Served

from rota.store import alert_channels
from rota.store.alert_channels import ChannelReport

NIGHTLY = {
    "name": "nightly",
    "kind": "report",
    "schedule": {"cron": "30 2 * * *"},
    "expect": {"finish_by": "06:00"},
    "alert": {"to": "team"},
}
RULE = {"name": "fails", "match": {"job": "n*"}, "when": {"failures": {"streak": 2}}, "to": "team"}
ROUTE = {"name": "team", "steps": [{"to": ["chat"], "repeat": "4h"}]}


@pytest.fixture(autouse=True)
async def channels(api: Served) -> None:
    reports = [ChannelReport(name="chat", kind="webhook", tenants=("*",))]
    await alert_channels.report_channels(api.conn, reports, now=CLOCK.now())


async def send(api: Served, verb: str, *, project: str = "billing", **sections: Any) -> Answer:
    body = {"project": project, "jobs": [], **sections}
    return await api.platform.post(f"/v1/manifests/{verb}", body)


def summarize(answer: Answer) -> list[tuple[str, str, str]]:
    assert answer.status == 200, answer.text
    return [(each["action"], each["thing"], each["name"]) for each in answer.json["alerts"]]


async def test_a_file_creates_updates_and_prunes_its_rules_and_routes(api: Served) -> None:
    sections: dict[str, Any] = {"jobs": [NIGHTLY], "alerts": [RULE], "routes": [ROUTE]}
    planned = await send(api, "plan", **sections)
    applied = await send(api, "apply", **sections, seen_alerts=planned.json["seen_alerts"])
    again = await send(api, "plan", **sections)
    changed_rule = RULE | {"when": {"failures": {"streak": 5}}, "severity": "page"}
    changed = await send(api, "apply", **sections | {"alerts": [changed_rule]})
    without: dict[str, Any] = {"jobs": [NIGHTLY | {"alert": {}}]}
    kept = await send(api, "apply", **without)
    pruned = await send(api, "apply", **without, prune=True)
    left = await api.platform.get("/v1/expectations")
    audit = await api.platform.get("/v1/audit?thing=route")

    both = [("create", "route", "team"), ("create", "rule", "fails")]
    assert (summarize(planned), summarize(applied), summarize(again)) == (both, both, [])
    assert again.json["changes"] == []
    fields = {each["field"] for each in changed.json["alerts"][0]["fields"]}
    assert fields == {"when.failures.streak", "severity"}
    assert summarize(kept) == []
    assert summarize(pruned) == [("prune", "route", "team"), ("prune", "rule", "fails")]
    assert left.json["data"] == []
    assert [each["action"] for each in audit.json["data"]] == ["route.delete", "route.create"]


async def test_a_manual_change_of_a_rule_is_drift(api: Served) -> None:
    await send(api, "apply", alerts=[RULE], routes=[ROUTE])
    listed = await api.platform.get("/v1/expectations")
    path = f"/v1/expectations/{listed.json['data'][0]['expectation_id']}"
    await api.platform.call("PATCH", path, {"enabled": False})

    planned = await send(api, "plan", alerts=[RULE], routes=[ROUTE])
    outdated = await send(
        api, "apply", alerts=[RULE], routes=[ROUTE], seen_alerts={"rule:fails": 1}
    )

    assert summarize(planned) == [("update", "rule", "fails")]
    assert (outdated.status, "version 2 now, not 1" in outdated.json["detail"]) == (409, True)


async def test_two_projects_do_not_share_a_rule_and_adopt_what_has_no_project(api: Served) -> None:
    draft = {name: value for name, value in RULE.items() if name != "to"}
    await api.platform.post("/v1/expectations", draft)
    adopted = await send(api, "apply", alerts=[draft])
    refused = await send(api, "plan", project="other", alerts=[draft])

    assert summarize(adopted) == [("update", "rule", "fails")]
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/alerts/0/name")


@pytest.mark.parametrize(
    ("sections", "pointer"),
    [
        ({"routes": [{"name": "r", "steps": [{"to": ["fax"]}]}]}, "/routes/0/steps/0/to/0"),
        ({"alerts": [RULE]}, "/alerts/0/to"),
        ({"alerts": [RULE, RULE], "routes": [ROUTE]}, "/alerts/1/name"),
        ({"jobs": [NIGHTLY]}, "/jobs/0/alert/to"),
        (
            {"jobs": [NIGHTLY | {"alert": {}, "expect": {"succeed_every": "2h"}}]},
            "/jobs/0/expect/succeed_every",
        ),
    ],
)
async def test_what_cannot_hold_is_refused_when_it_is_planned(
    api: Served, sections: dict[str, Any], pointer: str
) -> None:
    answer = await send(api, "plan", **sections)

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, pointer), answer.text


async def test_a_changed_expectation_of_a_stored_job_is_checked_when_it_is_planned(
    api: Served,
) -> None:
    job = NIGHTLY | {"alert": {}}
    await send(api, "apply", jobs=[job])
    answer = await send(api, "plan", jobs=[job | {"expect": {"succeed_every": "2h"}}])
    edited = await send(api, "plan", jobs=[job | {"expect": {"succeed_every": "26h"}}])

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (
        422,
        "/jobs/0/expect/succeed_every",
    )
    assert {each["field"] for each in edited.json["changes"][0]["fields"]} == {
        "expect.finish_by",
        "expect.succeed_every",
    }

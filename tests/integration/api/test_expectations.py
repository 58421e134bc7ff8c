"""Jobs say what is expected of them, rules say it of many, and what cannot hold is refused."""

from typing import Any

import pytest
from tests.support.serving import CLOCK, Answer, Caller, Served

from rota.core.alerts.conditions import FailureStreak, FinishBy
from rota.store import alert_channels, alert_routes, expectations
from rota.store.alert_channels import ChannelReport

NIGHTLY = {"name": "nightly", "cron_expression": "30 2 * * *", "timezone": "Europe/Berlin"}
EXPECT = {
    "start_within": "5m",
    "finish_by": "06:00",
    "at_risk": True,
    "succeed_every": "26h",
    "max_duration": {"times": 2, "at_least": "5m"},
    "failures": {"streak": 2, "rate": "10%", "over": "1h"},
    "dead_letters": 1,
    "missed_ticks": 1,
}
STORED = {
    "start_within": "PT5M",
    "finish_by": "06:00",
    "at_risk": {"probability": "20%"},
    "succeed_every": "P1DT2H",
    "max_duration": {"times": 2.0, "at_least": "PT5M"},
    "failures": {"streak": 2, "rate": "10%", "over": "PT1H", "at_least": 20},
    "dead_letters": {"count": 1, "over": "PT1H"},
    "missed_ticks": 1,
}


@pytest.fixture
async def channels(api: Served) -> None:
    reports = [
        ChannelReport(name="chat", kind="webhook", tenants=("*",)),
        ChannelReport(name="oncall", kind="pagerduty", tenants=("default",)),
        ChannelReport(name="secret", kind="mail", tenants=("other",)),
    ]
    await alert_channels.report_channels(api.conn, reports, now=CLOCK.now())


async def patch(caller: Caller, path: str, json: Any, **headers: str) -> Answer:
    return await caller.call("PATCH", path, json, headers)


async def create(caller: Caller, **fields: Any) -> dict[str, Any]:
    answer = await caller.post("/v1/jobs", NIGHTLY | fields)
    assert answer.status == 201, answer.text
    found: dict[str, Any] = answer.json
    return found


async def test_a_job_keeps_its_expectations_through_edits_and_shows_them(api: Served) -> None:
    made = await create(api.platform, expect=EXPECT, alert={"severity": "page", "for": "2m"})
    path = f"/v1/jobs/{made['job_id']}"

    shown = await api.platform.get(path)
    other = await api.platform.put(path, {"priority": 1})
    changed = await api.platform.put(path, {"expect": {"finish_by": "+3h30m"}})
    gone = await api.platform.put(path, {"expect": None, "alert": None})

    assert shown.json["expect"] == STORED
    assert shown.json["alert"] == {"severity": "page", "for": "PT2M"}
    assert other.json["expect"] == STORED
    assert changed.json["expect"] == {"finish_by": "+PT3H30M"}
    assert (gone.json["expect"], gone.json["alert"]) == (None, None)
    assert gone.json["version"] == 4


async def test_the_stored_form_of_an_expectation_is_accepted_as_input(api: Served) -> None:
    made = await create(api.platform, expect=STORED)

    changed = await api.platform.put(f"/v1/jobs/{made['job_id']}", {"expect": EXPECT})

    assert changed.json["version"] == 1


async def test_expectations_of_jobs_are_read_with_ids_that_survive_edits(api: Served) -> None:
    made = await create(api.platform, expect={"finish_by": "06:00", "failures": {"streak": 2}})
    rows = await api.conn.fetch("select id from rota.jobs where name = 'nightly'")

    found = await expectations.read_job_expectations(api.conn, [rows[0][0]])
    await api.platform.put(f"/v1/jobs/{made['job_id']}", {"expect": {"failures": {"streak": 5}}})
    later = await expectations.read_job_expectations(api.conn, [rows[0][0]])

    first = {each.condition.code: each for each in found[rows[0][0]]}
    second = {each.condition.code: each for each in later[rows[0][0]]}
    assert isinstance(first["finish_by"].condition, FinishBy)
    assert second["failure_streak"].condition == FailureStreak(streak=5)
    assert first["failure_streak"].id == second["failure_streak"].id
    assert set(second) == {"failure_streak"}


@pytest.mark.parametrize(
    ("job", "expect", "pointer", "sentence"),
    [
        (
            {"cron_expression": "0 8-18 * * 1-5", "timezone": "UTC"},
            {"succeed_every": "2h"},
            "/expect/succeed_every",
            "18:00 to Mon",
        ),
        (
            {"cron_expression": "0 8-18 * * 1-5", "timezone": "UTC"},
            {"succeed_every": "2h"},
            "/expect/succeed_every",
            "08:00 is 62 h",
        ),
        (
            {"cron_expression": "0 6 * * *"},
            {"finish_by": "06:00"},
            "/expect/finish_by",
            "must be after the tick: the deadline of the tick at",
        ),
        (
            {"cron_expression": "0 * * * *"},
            {"finish_by": "06:00"},
            "/expect/finish_by",
            "but the next tick is at",
        ),
        ({}, {"finish_by": "+0m"}, "/expect/finish_by", "must be at least 1 second"),
        ({}, {"finish_by": "6 am"}, "/expect/finish_by", 'a time of day such as "06:00"'),
        ({}, {"finish_by": 360}, "/expect/finish_by", "(in quotes in YAML)"),
        ({}, {"at_risk": True}, "/expect/at_risk", "requires `finish_by`"),
        ({}, {"failures": {}}, "/expect/failures", "required: `streak`"),
        ({}, {"failures": {"over": "1h", "streak": 1}}, "/expect/failures/over", "`rate`"),
        ({}, {"failures": {"rate": "0%"}}, "/expect/failures/rate", "a percentage such as 10%"),
        ({}, {"no_worker": "2m"}, "/expect/no_worker", "unknown field"),
        (
            {"schedule": {"on_demand": True}},
            {"start_within": "5m"},
            "/expect/start_within",
            "requires a schedule with ticks",
        ),
        (
            {"schedule": {"event": "order.paid"}},
            {"succeed_every": "5m"},
            "/expect/succeed_every",
            "requires a schedule with ticks",
        ),
    ],
)
async def test_what_cannot_hold_is_refused_with_an_example(
    api: Served, job: dict[str, Any], expect: dict[str, Any], pointer: str, sentence: str
) -> None:
    draft = {"name": "a", **(job or {"cron_expression": "30 2 * * *"}), "expect": expect}
    answer = await api.platform.post("/v1/jobs", draft)

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, pointer)
    assert sentence in answer.json["detail"]


async def test_an_edit_of_the_schedule_is_refused_if_an_expectation_no_longer_holds(
    api: Served,
) -> None:
    made = await create(api.platform, expect={"succeed_every": "26h"})
    path = f"/v1/jobs/{made['job_id']}"

    weekly = await api.platform.put(path, {"cron_expression": "0 2 * * 1"})
    both = await api.platform.put(
        path, {"cron_expression": "0 2 * * 1", "expect": {"succeed_every": "8d"}}
    )

    assert (weekly.status, weekly.json["errors"][0]["pointer"]) == (422, "/expect/succeed_every")
    assert both.status == 200


async def test_probable_mistakes_are_warnings(api: Served) -> None:
    made = await create(
        api.platform,
        timeout="10m",
        expect={"max_duration": "40m", "finish_by": "02:00"},
    )

    warnings = " ".join(made["warnings"])
    assert "max_duration: 40 minutes is too long: an attempt ends after 10 minutes" in warnings
    assert "23 hours 30 minutes later" in warnings


async def test_a_submission_with_expectations_is_told_to_use_a_rule(api: Served) -> None:
    draft = {"kind": "noop", "expect": {"max_duration": "5m"}}
    answer = await api.platform.post("/v1/jobs", draft)

    sentence = "expect is not stored for a one-time submission; create a rule for its task"
    assert sentence in answer.json["warnings"]


@pytest.mark.usefixtures("channels")
async def test_alerts_report_only_to_routes_and_channels_that_the_tenant_has(api: Served) -> None:
    made = await create(api.platform, alert={"to": "chat"})
    path = f"/v1/jobs/{made['job_id']}"
    unknown = await api.platform.post("/v1/jobs", NIGHTLY | {"name": "b", "alert": {"to": "chta"}})
    hidden = await api.platform.put(path, {"alert": {"to": "secret"}})
    route = await api.platform.put("/v1/routes/team", {"steps": [{"to": ["chat"]}]})
    routed = await api.platform.put(path, {"alert": {"to": "team"}})

    assert (unknown.status, unknown.json["errors"][0]["pointer"]) == (422, "/alert/to")
    assert "known channels: chat, oncall; did you mean chat?" in unknown.json["detail"]
    assert hidden.status == 422
    assert "secret," not in hidden.json["detail"]
    assert (route.status, routed.status) == (201, 200)


@pytest.mark.usefixtures("channels")
async def test_routes_are_created_replaced_listed_and_deleted(api: Served) -> None:
    steps = [
        {"to": ["chat"], "repeat": "4h"},
        {"to": ["oncall"], "after": "30m", "unless": "acknowledged", "severity": "page"},
    ]
    created = await api.platform.put("/v1/routes/team", {"steps": steps})
    replaced = await api.platform.put("/v1/routes/team", {"steps": steps[:1]})
    listed = await api.platform.get("/v1/routes")
    wrong = await api.platform.put("/v1/routes/team", {"steps": [{"to": ["chat", "fax"]}]})
    taken = await api.platform.put("/v1/routes/chat", {"steps": steps[:1]})
    await create(api.platform, alert={"to": "team"})
    used = await api.platform.delete("/v1/routes/team")
    routes = await alert_routes.read_routes(api.conn)

    assert (created.status, created.json["steps"][1]["after"]) == (201, "PT30M")
    assert (replaced.status, replaced.json["version"]) == (200, 2)
    assert [each["name"] for each in listed.json["data"]] == ["team"]
    assert (wrong.status, wrong.json["errors"][0]["pointer"]) == (422, "/steps/0/to/1")
    assert taken.status == 409
    assert (used.status, "used by 'nightly'" in used.json["detail"]) == (409, True)
    assert [route.steps[0].channels for route in routes.values()] == [("chat",)]


async def test_rules_are_created_changed_listed_and_deleted(api: Served) -> None:
    await create(api.platform, labels={"team": "billing"})
    draft = {
        "name": "billing fails",
        "match": {"labels": {"team": "billing"}},
        "when": {"failures": {"streak": 2}},
        "severity": "page",
    }
    created = await api.platform.post("/v1/expectations", draft)
    path = f"/v1/expectations/{created.json['expectation_id']}"
    twin = await api.platform.post("/v1/expectations", draft)
    changed = await patch(api.platform, path, {"for": "5m", "severity": None})
    stale = await patch(api.platform, path, {"enabled": False}, **{"if-match": '"1"'})
    listed = await api.platform.get("/v1/expectations")
    rules = await expectations.read_expectations(api.conn)
    audit = await api.platform.get("/v1/audit?thing=expectation")
    deleted = await api.platform.delete(path)
    missing = await api.platform.get(path)

    assert (created.status, created.json["warnings"]) == (201, [])
    assert twin.status == 409
    assert (changed.json["for"], changed.json["severity"]) == ("PT5M", "warning")
    assert (changed.json["when"], changed.json["version"]) == ({"failures": {"streak": 2}}, 2)
    assert stale.status == 412
    assert [each["name"] for each in listed.json["data"]] == ["billing fails"]
    assert [rule.condition for rule in rules] == [FailureStreak(streak=2)]
    assert [each["action"] for each in audit.json["data"]][:2] == [
        "expectation.update",
        "expectation.create",
    ]
    assert (deleted.status, missing.status) == (204, 404)


@pytest.mark.parametrize(
    ("rule", "pointer", "sentence"),
    [
        ({"when": {}}, "/when", "expected exactly one condition, got none"),
        (
            {"when": {"dead_letters": 1, "missed_ticks": 1}},
            "/when",
            "got dead_letters, missed_ticks; write one rule for each",
        ),
        ({"when": {"oldest_wait": "x"}}, "/when/oldest_wait", "expected a duration"),
        (
            {"when": {"no_worker": "2m"}, "match": {"job": "nightly"}},
            "/match/job",
            "no_worker allows only queue; omit it",
        ),
        (
            {"when": {"succeed_every": "12h"}, "match": {"job": "nightly"}},
            "/when/succeed_every",
            "02:30 is 25 h",
        ),
        (
            {"when": {"failures": {"streak": 1}}, "match": {"job": "etl", "step": "lod"}},
            "/match/step",
            "job 'etl' has no such step; its steps: load",
        ),
        ({"when": {"dead_letters": 1}, "to": "nobody"}, "/to", "known channels: none"),
    ],
)
async def test_a_rule_that_cannot_hold_is_refused(
    api: Served, rule: dict[str, Any], pointer: str, sentence: str
) -> None:
    await create(api.platform)
    graph = {"steps": [{"name": "load", "kind": "noop"}]}
    made = await api.platform.post(
        "/v1/jobs",
        {"name": "etl", "kind": "graph", "graph": graph, "schedule": {"on_demand": True}},
    )
    assert made.status == 201, made.text

    answer = await api.platform.post("/v1/expectations", {"name": "r"} | rule)

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, pointer), answer.text
    assert sentence in answer.json["detail"]


async def test_a_rule_that_matches_nothing_is_created_with_a_warning(api: Served) -> None:
    drafts = [
        {"name": "a", "match": {"job": "none-*"}, "when": {"failures": {"streak": 1}}},
        {"name": "b", "match": {"job": "etl-*", "step": "load"}, "when": {"dead_letters": 1}},
        {"name": "c", "match": {"job": "n*"}, "when": {"succeed_every": "1h"}},
    ]
    await create(api.platform)
    answers = [await api.platform.post("/v1/expectations", draft) for draft in drafts]

    assert [answer.status for answer in answers] == [201, 201, 201]
    assert answers[0].json["warnings"] == ["match: matches no job at present"]
    assert answers[1].json["warnings"] == ["match: matches no step of a graph at present"]
    assert answers[2].json["warnings"][0].startswith("job 'nightly': when.succeed_every:")


async def test_only_the_platform_has_rules_about_the_installation(api: Served) -> None:
    tenant_id = await api.tenant("acme")
    admin = await api.caller("admin", tenant_id=tenant_id)
    draft = {"name": "late", "when": {"lag": "10s"}}

    refused = await admin.post("/v1/expectations", draft)
    created = await api.platform.post("/v1/expectations", draft)

    assert (refused.status, created.status) == (403, 201)


async def test_tenants_do_not_see_each_others_rules(api: Served) -> None:
    admin = await api.caller("admin", tenant_id=await api.tenant("acme"))
    draft = {"name": "r", "when": {"dead_letters": 1}}
    created = await api.platform.post("/v1/expectations", draft)

    listed = await admin.get("/v1/expectations")
    fetched = await admin.get(f"/v1/expectations/{created.json['expectation_id']}")

    assert (listed.json["data"], fetched.status) == ([], 404)


async def test_a_tenant_has_at_most_two_hundred_rules(api: Served) -> None:
    await api.conn.execute(
        "insert into rota.expectations (id, tenant_id, name, selector, condition, policy) "
        "select gen_random_uuid(), 1, 'r' || n, '{}', '{\"dead_letters\": 1}', '{}' "
        "from generate_series(1, 200) as n"
    )
    answer = await api.platform.post("/v1/expectations", {"name": "x", "when": {"dead_letters": 1}})

    assert (answer.status, "200" in answer.json["detail"]) == (429, True)


async def test_a_job_lists_its_own_expectations_and_the_rules_that_match(api: Served) -> None:
    made = await create(
        api.platform, expect={"finish_by": "06:00"}, labels={"team": "billing"}, queue="slow"
    )
    for name, match in (
        ("by label", {"labels": {"team": "billing"}}),
        ("by queue", {"queue": "slow"}),
        ("by name", {"job": "night*"}),
        ("other", {"job": "day*"}),
        ("steps only", {"job": "night*", "step": "*"}),
    ):
        draft = {"name": name, "match": match, "when": {"failures": {"streak": 2}}}
        assert (await api.platform.post("/v1/expectations", draft)).status == 201

    listed = await api.platform.get(f"/v1/jobs/{made['job_id']}/expectations")

    found = [
        (each["origin"], each["name"])
        for each in listed.json["data"]
        if each["origin"] != "default"
    ]
    assert found == [
        ("job", "nightly: finish_by"),
        ("rule", "by label"),
        ("rule", "by name"),
        ("rule", "by queue"),
    ]
    assert {each["state"] for each in listed.json["data"]} == {"ok"}


async def test_a_condition_of_a_newer_release_is_ignored_and_kept(api: Served) -> None:
    made = await create(api.platform, expect={"missed_ticks": 2})
    newer = '{"missed_ticks": 2, "quantum": "1h"}'
    await api.conn.execute("update rota.jobs set expect = $1::jsonb", newer)
    rows = await api.conn.fetch("select id from rota.jobs")

    found = await expectations.read_job_expectations(api.conn, [rows[0][0]])
    shown = await api.platform.get(f"/v1/jobs/{made['job_id']}")

    assert [each.condition.code for each in found[rows[0][0]]] == ["missed_ticks"]
    assert shown.json["expect"]["quantum"] == "1h"

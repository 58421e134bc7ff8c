"""The API shows jobs that newer code wrote, and destroys nothing that it does not know (O4)."""

import json
from typing import Any

from tests.support import newer
from tests.support.serving import Caller, Served

JOB = {"name": "a job", "kind": "noop", "cron_expression": "0 0 1 1 *", "max_retries": 2}


async def a_job(api: Served, **parts: Any) -> tuple[Caller, str]:
    """A job, and somebody who may change it."""
    caller = await api.caller("admin")
    made = await caller.post("/v1/jobs", JOB | parts)
    assert made.status == 201, made.text
    return caller, f"/v1/jobs/{made.json['job_id']}"


async def rewrite_policy(api: Served, **parts: Any) -> None:
    await api.conn.execute("update rota.policies set body = body || $1::jsonb", json.dumps(parts))


async def rewrite_schedule(api: Served, **parts: Any) -> None:
    for table, column in (("jobs", "schedule"), ("schedules", "body")):
        await api.conn.execute(
            f"update rota.{table} set {column} = {column} || $1::jsonb", json.dumps(parts)
        )


async def policy_of_the_job(api: Served) -> dict[str, Any]:
    text = await api.conn.fetchval(
        "select p.body from rota.policies as p inner join rota.jobs as j on j.policy_id = p.id"
    )
    found: dict[str, Any] = json.loads(text)
    return found


async def test_a_job_with_unknown_fields_is_shown_and_edited_without_losing_them(
    api: Served,
) -> None:
    caller, job = await a_job(api)
    await rewrite_policy(api, colour="blue", retries={"max": 2, "tone": "dark"})
    await rewrite_schedule(api, colour="blue")

    shown = await caller.get(job)
    listed = await caller.get("/v1/jobs")
    edited = await caller.put(job, {"timeout": "PT7S", "priority": "high"})
    retried = await caller.put(job, {"max_retries": 5})

    assert (shown.status, listed.status, edited.status, retried.status) == (200, 200, 200, 200)
    assert shown.json["schedule"]["colour"] == "blue"
    assert edited.json["timeout"] == "PT7S"
    policy = await policy_of_the_job(api)
    assert (policy["colour"], policy["timeout"]) == ("blue", "PT7S")
    assert (policy["retries"]["max"], policy["retries"]["tone"]) == (5, "dark")
    assert (await caller.get(job)).json["schedule"]["colour"] == "blue"


async def test_schedules_with_something_new_at_any_level_are_shown_and_edited_or_refused(
    api: Served,
) -> None:
    caller = await api.caller("admin")
    newer_schedules = newer.newer_schedules()
    drafts = [
        {"name": name, "kind": "noop", "schedule": newer.WRITTEN[name.partition(":")[0]]}
        for name in newer_schedules
    ]
    made = await caller.post("/v1/jobs/bulk", {"jobs": drafts})
    assert made.status < 300, made.text
    for name, each in newer_schedules.items():
        await api.conn.execute(
            "update rota.jobs set schedule = $2 where name = $1", name, json.dumps(each.document)
        )
    ids = {
        row[1]: f"/v1/jobs/job_{row[0].hex}"
        for row in await api.conn.fetch("select id, name from rota.jobs")
    }

    for name, each in newer_schedules.items():
        shown = await caller.get(ids[name])
        edited = await caller.put(ids[name], {"priority": "high"})
        status = await caller.get(f"{ids[name]}/status")

        assert (shown.status, status.status) == (200, 200), name
        assert shown.json["schedule"] == each.document, name
        assert edited.status in {200, 409}, (name, edited.text)
        if each.path.endswith(newer.FIELD):
            assert edited.status == 200, (name, edited.text)
            assert edited.json["schedule"] == each.document, name
    assert (await caller.get("/v1/jobs?limit=200")).status == 200


async def test_unknown_fields_survive_a_pause(api: Served) -> None:
    caller, job = await a_job(api)
    await rewrite_schedule(api, colour="blue", misfire={"on_outage": "newest_three"})

    assert (await caller.post(f"{job}/pause")).status == 200
    assert (await caller.post(f"{job}/resume")).status == 200

    body = await api.conn.fetchval(
        "select s.body from rota.schedules as s"
        " inner join rota.cursors as c on c.schedule_id = s.id"
    )
    assert json.loads(body)["colour"] == "blue"
    assert json.loads(body)["misfire"]["on_outage"] == "newest_three"


async def test_unknown_fields_of_a_request_are_refused_as_ever(api: Served) -> None:
    caller, job = await a_job(api)

    answers = [
        await caller.put(job, {"colour": "blue"}),
        await caller.put(job, {"retries": {"max": 1, "tone": "dark"}}),
        await caller.put(job, {"schedule": {"cron": "* * * * *", "colour": "blue"}}),
        await caller.put(job, {"guarantee": "twice"}),
    ]

    assert [answer.status for answer in answers] == [422, 422, 422, 422]


async def test_values_that_are_not_known_are_shown_and_an_edit_of_them_is_refused(
    api: Served,
) -> None:
    caller, job = await a_job(api)
    await rewrite_policy(api, guarantee="twice")
    await rewrite_schedule(api, dst={"gap": "sideways"})

    shown = await caller.get(job)
    why = await caller.get(f"{job}/status")
    refused = [
        await caller.put(job, {"timeout": "PT7S"}),
        await caller.post(f"{job}/runNow"),
    ]

    assert shown.json["schedule"]["dst"] == {"gap": "sideways"}
    assert [(answer.status, answer.json["code"]) for answer in refused] == [
        (409, "conflict"),
        (409, "conflict"),
    ]
    assert "not known to this version" in refused[0].json["detail"]
    assert "on hold" in why.json["explanation"]
    assert (await policy_of_the_job(api))["guarantee"] == "twice"


async def test_limits_and_quotas_of_newer_code(api: Served) -> None:
    limits = [{"key": "k", "max": 3}]
    caller, job = await a_job(api, limits=limits)
    await api.conn.execute(
        """update rota.tenants set quotas = '{"max_jobs": 9, "max_colours": 2}'"""
    )
    await api.conn.execute(
        """update rota.jobs set limits = '[{"key": "k", "max": 3, "colour": "blue"}]'"""
    )

    known = await caller.post(f"{job}/runNow")
    await api.conn.execute("""update rota.jobs set limits = '[{"key": "k", "window": {}}]'""")
    newer = await caller.post(f"{job}/runNow")

    assert known.status < 300, known.text
    assert (newer.status, newer.json["code"]) == (409, "conflict")
    assert (await caller.get(job)).json["limits"] == [{"key": "k", "window": {}}]


async def test_an_overlap_that_is_not_known_is_shown(api: Served) -> None:
    caller, job = await a_job(api)
    await api.conn.execute("alter type rota.overlap add value 'queue_two'")
    await api.conn.execute("update rota.jobs set overlap = 'queue_two'")

    shown, listed = await caller.get(job), await caller.get("/v1/jobs")
    refused = [await caller.post(f"{job}/runNow"), await caller.put(job, {"priority": "high"})]

    assert (shown.status, shown.json["overlap"], listed.status) == (200, "queue_two", 200)
    assert [(answer.status, answer.json["code"]) for answer in refused] == [
        (409, "conflict"),
        (409, "conflict"),
    ]


async def test_a_calendar_of_newer_code_is_shown_and_disturbs_no_other_job(api: Served) -> None:
    caller = await api.caller("admin")
    for name in ("a", "b"):
        body = {"calendar": {"name": name, "dates": ["2030-12-25"]}}
        assert (await caller.put(f"/v1/calendars/{name}", body)).status == 201
    await api.conn.execute(
        "update rota.calendars set body = body || '{\"colour\": \"blue\"}' where name = 'a'"
    )
    await api.conn.execute(
        """update rota.calendars set body = '{"name": "b", "monthly": ["1st"]}' where name = 'b'"""
    )

    listed = await caller.get("/v1/calendars")
    one = await caller.get("/v1/calendars/a")
    made = await caller.post(
        "/v1/jobs",
        {"name": "j", "kind": "noop", "schedule": {"cron": "0 0 * * *", "calendars": ["a"]}},
    )

    assert [each["calendar"].get("colour") for each in listed.json["data"]] == ["blue", None]
    assert listed.json["data"][1]["calendar"]["monthly"] == ["1st"]
    assert (one.json["calendar"]["colour"], made.status) == ("blue", 201)


async def test_calendars_with_something_new_at_any_level_are_shown_and_used(api: Served) -> None:
    caller = await api.caller("admin")
    for place, each in enumerate(newer.newer_calendars()):
        name = f"c{place}"
        calendar = {**newer.CALENDAR, "name": name}
        assert (await caller.put(f"/v1/calendars/{name}", {"calendar": calendar})).status == 201
        await api.conn.execute(
            "update rota.calendars set body = $2 where name = $1",
            name,
            json.dumps({**each.document, "name": name}),
        )

        shown = await caller.get(f"/v1/calendars/{name}")
        made = await caller.post(
            "/v1/jobs",
            {"name": name, "kind": "noop", "schedule": {"cron": "0 0 * * *", "calendars": [name]}},
        )

        assert (shown.status, made.status) == (200, 201), (each.path, made.text)
        assert newer.FIELD in str(shown.json["calendar"])


async def test_graphs_with_something_new_at_any_level_are_shown(api: Served) -> None:
    caller = await api.caller("admin")
    made = await caller.post("/v1/jobs", {"name": "g", "kind": "graph", "graph": newer.GRAPH})
    for each in newer.newer_graphs():
        await api.conn.execute("update rota.graphs set definition = $1", json.dumps(each.document))

        job = await caller.get(f"/v1/jobs/{made.json['job_id']}")
        run = await caller.get(f"/v1/runs/{made.json['run_id']}/graph")

        assert job.json["graph"] == each.document
        assert run.status == 200, run.text


async def test_what_is_not_known_at_any_level_of_a_policy_is_shown_and_never_an_error(
    api: Served,
) -> None:
    caller, job = await a_job(api)
    documents = [each.document for each in newer.newer_policies()]
    for document in [*documents, {"retries": "many"}, {"timeout": {"soft": "PT1S"}}, []]:
        await api.conn.execute("update rota.policies set body = $1::jsonb", json.dumps(document))

        shown, listed = await caller.get(job), await caller.get("/v1/jobs")
        why = await caller.get(f"{job}/status")
        edited = await caller.put(job, {"labels": {"a": "b"}, "timeout": "PT7S"})

        assert (shown.status, listed.status, why.status) == (200, 200, 200), document
        assert edited.status in {200, 409}, edited.text


async def test_what_is_not_known_in_a_row_of_a_job_is_shown_and_never_an_error(
    api: Served,
) -> None:
    caller, job = await a_job(api)
    await api.conn.execute("alter type rota.when_queue_paused add value 'ask'")
    for change, name, value in [
        ('labels = \'{"team": {"deep": 1}}\'', "labels", {"team": {"deep": 1}}),
        ("limits = '7'", "limits", 7),
        ('limits = \'[{"key": "k", "max": 3, "colour": 1}]\'', "limits", None),
        ("when_queue_paused = 'ask'", "when_queue_paused", "ask"),
    ]:
        await api.conn.execute(f"update rota.jobs set {change}")

        shown, listed = await caller.get(job), await caller.get("/v1/jobs")
        run = await caller.post(f"{job}/runNow")

        assert (shown.status, listed.status) == (200, 200), change
        assert value is None or shown.json[name] == value
        assert run.status in {200, 201, 202, 409}, run.text

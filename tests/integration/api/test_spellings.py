"""The requests of I1, letter by letter, and the fields they answer with."""

from typing import Any

from tests.support.serving import Served

JOB = {
    *("job_id", "name", "kind", "schedule_type", "cron_expression", "schedule_time", "status"),
    *("payload", "max_retries", "user_id", "created_at", "updated_at"),
}
LATEST = {"run_id", "status", "start_time", "modified_time", "attempt_number", "executor_id"}
RUN = {
    *("run_id", "status", "start_time", "end_time", "modified_time", "attempt_number"),
    *("executor_id", "error_message", "log_url"),
}


async def test_a_cron_job_is_made_and_shows_what_it_was_given(api: Served) -> None:
    body = {
        "name": "daily report",
        "schedule_type": "CRON",
        "cron_expression": "0 9 * * 1-5",
        "payload": {"to": "ana@example.org"},
        "max_retries": 3,
    }

    made = await api.platform.post("/v1/jobs", body)
    shown = await api.platform.get(f"/v1/jobs/{made.json['job_id']}")

    assert made.status == 201
    assert made.headers["location"] == f"/v1/jobs/{made.json['job_id']}"
    assert shown.json.keys() >= JOB
    assert {key: shown.json[key] for key in body} == body
    assert (shown.json["kind"], shown.json["status"]) == ("daily report", "active")


async def test_the_short_form_is_understood(api: Served) -> None:
    body = {
        "job_type": "email",
        "schedule_time": "2030-01-01T10:00:00Z",
        "payload": {"to": "ana"},
        "retries": 5,
    }

    made = await api.platform.post("/v1/jobs", body)
    shown = (await api.platform.get(f"/v1/jobs/{made.json['job_id']}")).json

    assert made.status == 201
    assert (shown["kind"], shown["schedule_type"]) == ("email", "FUTURE")
    assert (shown["schedule_time"], shown["max_retries"]) == ("2030-01-01T10:00:00Z", 5)
    assert shown["name"] == "email"


async def test_neither_a_time_nor_an_expression_means_at_once(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "now"})
    job_id = made.json["job_id"]

    status = (await api.platform.get(f"/v1/jobs/{job_id}/status")).json
    runs = (await api.platform.get(f"/v1/jobs/{job_id}/runs")).json["data"]

    assert made.json["warnings"] == [
        "no live worker serves the kind 'now'; its runs wait until one does"
    ]
    assert status.keys() >= {"job_id", "latest_run"}
    assert status["latest_run"].keys() >= LATEST
    assert (status["latest_run"]["status"], status["latest_run"]["attempt_number"]) == ("queued", 0)
    assert [run["run_id"] for run in runs] == [made.json["run_id"]]
    assert runs[0].keys() >= RUN


async def test_jobs_are_found_by_status_and_user(api: Served) -> None:
    for name, user in (("a", "u003"), ("b", "u004"), ("c", "u003")):
        await api.platform.post(
            "/v1/jobs", {"name": name, "schedule_time": "2030-01-01T00:00:00Z", "user_id": user}
        )

    found = await api.platform.get("/v1/jobs?status=pending&user_id=u003")

    assert sorted(job["name"] for job in found.json["data"]) == ["a", "c"]


async def test_a_job_is_changed_with_only_the_changed_fields(api: Served) -> None:
    job_id = await a_job(api, schedule_time="2030-01-01T00:00:00Z", payload={"n": 1})

    changed = await api.platform.put(f"/v1/jobs/{job_id}", {"payload": {"n": 2}})

    assert changed.status == 200
    assert changed.json["payload"] == {"n": 2}
    assert changed.json["schedule_time"] == "2030-01-01T00:00:00Z"


async def test_everything_about_a_job_can_be_changed(api: Served) -> None:
    job_id = await a_job(api, cron_expression="0 0 1 1 *")
    wanted: dict[str, Any] = {
        "name": "another name",
        "kind": "another kind",
        "queue": "heavy",
        "priority": 2,
        "overlap": "queue_one",
        "keep_first": True,
        "when_queue_paused": "accumulate",
        "labels": {"team": "billing"},
        "user_id": "u9",
        "max_retries": 7,
        "timeout": "PT5M",
        "guarantee": "at_most_once",
        "target": "payments",
    }

    changed = (await api.platform.put(f"/v1/jobs/{job_id}", wanted)).json

    assert {key: changed[key] for key in wanted} == wanted


async def test_a_target_is_taken_back_by_null_and_refused_if_it_is_no_name(api: Served) -> None:
    job_id = await a_job(api, schedule_time="2030-01-01T00:00:00Z", target="example.org:443")
    path = f"/v1/jobs/{job_id}"

    refused = await api.platform.call("PATCH", path, {"target": "two words"})
    untouched = (await api.platform.call("PATCH", path, {"priority": 3})).json
    without = (await api.platform.call("PATCH", path, {"target": None})).json

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/target")
    assert (untouched["target"], without["target"]) == ("example.org:443", None)


async def test_a_limit_is_lifted_by_null_and_stays_if_nothing_is_said(api: Served) -> None:
    job_id = await a_job(api, schedule_time="2030-01-01T00:00:00Z", timeout="5m", deadline="2h")
    path = f"/v1/jobs/{job_id}"

    lifted = (await api.platform.call("PATCH", path, {"timeout": None})).json
    again = (await api.platform.put(path, {"deadline": None, "priority": 2})).json
    untouched = (await api.platform.call("PATCH", path, {"priority": 3})).json
    limited = (await api.platform.call("PATCH", path, {"timeout": "1h"})).json
    new = await a_job(api, name="endless", schedule_time="2030-01-01T00:00:00Z", timeout=None)

    assert (lifted["timeout"], lifted["deadline"]) == (None, "PT2H")
    assert (again["timeout"], again["deadline"]) == (None, None)
    assert (untouched["timeout"], untouched["deadline"]) == (None, None)
    assert (limited["timeout"], limited["deadline"]) == ("PT1H", None)
    assert (await api.platform.get(f"/v1/jobs/{new}")).json["timeout"] is None


async def test_a_limit_that_is_neither_a_time_nor_null_is_refused(api: Served) -> None:
    path = f"/v1/jobs/{await a_job(api, schedule_time='2030-01-01T00:00:00Z')}"

    limits = ("", "soon", "25h", 0, False)
    answers = [await api.platform.call("PATCH", path, {"timeout": each}) for each in limits]

    assert [each.status for each in answers] == [422] * len(limits)
    assert {each.json["errors"][0]["pointer"] for each in answers} == {"/timeout"}
    assert (await api.platform.get(path)).json["timeout"] == "PT15M"


async def test_a_deleted_job_is_gone_and_its_name_is_free(api: Served) -> None:
    job_id = await a_job(api, cron_expression="0 0 1 1 *")

    deleted = await api.platform.delete(f"/v1/jobs/{job_id}")
    after = await api.platform.get(f"/v1/jobs/{job_id}")
    again = await api.platform.post("/v1/jobs", {"name": "job", "cron_expression": "0 0 1 1 *"})

    assert (deleted.status, after.status, again.status) == (204, 404, 201)


async def test_run_now_runs_a_job_past_its_schedule_with_another_payload(api: Served) -> None:
    job_id = await a_job(api, schedule_time="2030-01-01T00:00:00Z", payload={"n": 1})

    made = await api.platform.post(f"/v1/jobs/{job_id}/runNow", {"payload": {"n": 2}})
    run = (await api.platform.get(f"/v1/runs/{made.json['run_id']}")).json

    assert made.status == 202
    assert (run["payload"], run["trigger"], run["status"]) == ({"n": 2}, "manual", "queued")


async def test_executions_of_an_unknown_worker_are_none(api: Served) -> None:
    found = await api.platform.get("/v1/executions?worker_id=w001")

    assert (found.status, found.json) == (200, {"data": [], "next_cursor": None})


async def test_up_to_a_thousand_jobs_are_made_at_once_or_none(api: Served) -> None:
    many = [{"name": f"job {n}", "cron_expression": "0 0 1 1 *"} for n in range(1000)]

    made = await api.platform.post("/v1/jobs/bulk", {"jobs": many})
    taken = await api.platform.post("/v1/jobs/bulk", {"jobs": [many[7] | {"name": "new"}, many[7]]})
    count = await api.conn.fetchval("select count(*) from rota.jobs")

    assert (made.status, len(made.json["jobs"])) == (201, 1000)
    assert (taken.status, taken.json["code"]) == (409, "conflict")
    assert taken.json["errors"][0]["pointer"] == "/jobs/1/name"
    assert count == 1000


async def a_job(api: Served, **given: Any) -> str:
    made = await api.platform.post("/v1/jobs", {"name": "job", **given})
    assert made.status == 201, made.text
    return str(made.json["job_id"])


async def test_a_name_with_a_slash_is_as_good_as_any_other(api: Served) -> None:
    path = "/v1/jobs/by-name/reports%2Fnightly%20one"
    made = await api.platform.put(path, {"cron_expression": "0 2 * * *"})
    again = await api.platform.put(path, {"cron_expression": "0 3 * * *"})

    assert (made.status, again.status) == (201, 200)
    assert (made.json["name"], again.json["job_id"]) == (
        "reports/nightly one",
        made.json["job_id"],
    )


async def test_a_job_that_waits_to_be_asked_is_active(api: Served) -> None:
    asked = await api.platform.post("/v1/jobs", {"name": "by hand", "schedule_type": "ON_DEMAND"})
    told = await api.platform.post("/v1/jobs", {"name": "told", "schedule": {"event": "paid"}})

    shown = [
        (await api.platform.get(f"/v1/jobs/{made.json['job_id']}")).json["status"]
        for made in (asked, told)
    ]
    listed = (await api.platform.get("/v1/jobs?status=active")).json["data"]
    assert shown == ["active", "active"]
    assert {each["name"] for each in listed} == {"by hand", "told"}

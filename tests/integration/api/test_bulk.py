"""Many jobs in one request: all or none, each with its answer, whichever way they went."""

from typing import Any

from tests.support.serving import Served

LATER = "2030-01-01T00:00:00Z"


def jobs(number: int, **shared: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"job {n}", "kind": "noop", "schedule_time": LATER, "payload": n} | shared
        for n in range(number)
    ]


async def test_a_bulk_answers_the_same_whatever_the_neighbours_are(api: Served) -> None:
    odd = {"name": "odd", "kind": "other", "schedule_time": LATER}
    nightly = {"name": "nightly", "kind": "noop", "cron_expression": "0 3 * * *"}
    alike = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs(3)})
    mixed = await api.platform.post("/v1/jobs/bulk", {"jobs": [*jobs(3), odd, nightly]})

    assert (alike.status, mixed.status) == (201, 201)
    for one, other in zip(alike.json["jobs"], mixed.json["jobs"], strict=False):
        assert one | {"job_id": ""} == other | {"job_id": ""}
        assert one["warnings"]
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 7
    assert await api.conn.fetchval("select name from rota.jobs") == "nightly"


async def test_only_definitions_of_a_bulk_are_in_the_audit_log(api: Served) -> None:
    """A submission says itself who made it, and from where."""
    nightly = {"name": "nightly", "kind": "noop", "cron_expression": "0 3 * * *"}
    await api.platform.post("/v1/jobs/bulk", {"jobs": [*jobs(2), nightly]})

    found = (await api.platform.get("/v1/audit?limit=100&action=job.create")).json["data"]
    (note,) = found
    assert note["after"] == {"name": "nightly", "version": 1}
    rows = await api.conn.fetch("select submitter, address from rota.scheduled_runs")
    assert [tuple(row) for row in rows] == [(note["actor"], note["source"])] * 2


async def test_what_differs_between_neighbours_is_written_for_each(api: Served) -> None:
    """Names, payloads, labels, users and times; a nameless one is called after its kind."""
    given: list[dict[str, Any]] = [
        {"kind": "noop", "schedule_time": LATER},
        {"kind": "noop", "schedule_time": "2031-01-01T00:00:00+01:00", "name": "a", "payload": [1]},
        {"kind": "noop", "schedule": {"at": LATER}, "labels": {"k": "v"}, "user_id": "kim"},
        {"kind": "noop", "schedule_time": LATER, "priority": 2, "payload": {"n": True}},
    ]
    made = await api.platform.post("/v1/jobs/bulk", {"jobs": given})

    assert made.status == 201, made.text
    assert [each["name"] for each in made.json["jobs"]] == ["noop", "a", "noop", "noop"]
    times = [each["next_run_at"] for each in made.json["jobs"]]
    assert times == [LATER, "2030-12-31T23:00:00Z", LATER, LATER]
    rows = {
        f"job_{row[0].hex}": tuple(row)[1:]
        for row in await api.conn.fetch(
            "select id, name, payload, labels, user_id, priority from rota.scheduled_runs"
        )
    }
    assert [rows[each["job_id"]] for each in made.json["jobs"]] == [
        (None, None, None, None, 5),
        ("a", "[1]", None, None, 5),
        (None, None, '{"k": "v"}', "kim", 5),
        (None, '{"n": true}', None, None, 2),
    ]


async def test_each_of_many_is_there_with_what_is_its_own(api: Served) -> None:
    made = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs(3, labels={"team": "ops"})})

    for n, each in enumerate(made.json["jobs"]):
        job = (await api.platform.get(f"/v1/jobs/{each['job_id']}")).json
        told = (job["name"], job["payload"], job["labels"], job["schedule_time"])
        assert told == (f"job {n}", n, {"team": "ops"}, LATER)
        assert job["status"] == "active"


async def test_one_that_is_wrong_refuses_all_of_them_and_says_where(api: Served) -> None:
    wrong = {
        "/jobs/1/name": {"name": "\x07"},
        "/jobs/1/schedule/at": {"schedule_time": "9999-01-01T00:00:00Z"},
        "/jobs/1/payload": {"payload": "\x00"},
    }
    for pointer, change in wrong.items():
        given = jobs(3)
        given[1] |= change

        refused = await api.platform.post("/v1/jobs/bulk", {"jobs": given})

        assert refused.status == 422, refused.text
        assert refused.json["errors"][0]["pointer"] == pointer
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 0


async def test_what_only_seems_equal_is_read_for_each(api: Served) -> None:
    """For Python true is 1; for a schedule it is not."""
    schedules = [{"every": "1h", "window": {"max_runs": most}} for most in (1, True)]
    given = [{"name": f"job {each}", "kind": "noop", "schedule": each} for each in schedules]

    refused = await api.platform.post("/v1/jobs/bulk", {"jobs": given})

    assert refused.status == 422, refused.text
    assert refused.json["errors"][0]["pointer"] == "/jobs/1/schedule/window/max_runs"
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 0


async def test_the_same_request_twice_with_one_key_makes_the_jobs_once(api: Served) -> None:
    given = {"jobs": jobs(3)}
    first = await api.platform.post("/v1/jobs/bulk", given, Idempotency_Key="nightly")
    again = await api.platform.post("/v1/jobs/bulk", given, Idempotency_Key="nightly")

    assert (first.status, again.status) == (201, 201)
    assert first.json == again.json
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 3


async def test_a_bulk_that_is_due_now_is_runs_that_a_worker_can_claim(api: Served) -> None:
    given = [{"kind": "noop", "payload": {"n": n}, "user_id": "kim"} for n in range(3)]

    made = (await api.platform.post("/v1/jobs/bulk", {"jobs": given})).json["jobs"]

    assert {each["status"] for each in made} == {"pending"}
    assert [each["run_id"] for each in made] == [
        each["job_id"].replace("job_", "run_") for each in made
    ]
    rows = await api.conn.fetch(
        "select 'run_' || replace(id::text, '-', '') as id, payload from rota.live_runs"
        " where state = 'queued' and user_id = 'kim' order by payload"
    )
    found = [tuple(row) for row in rows]
    assert found == [(each["run_id"], f'{{"n": {n}}}') for n, each in enumerate(made)]

"""Many jobs in one request: all or none, each with its answer, whichever way they went."""

from typing import Any

from tests.support.serving import Served

LATER = "2030-01-01T00:00:00Z"


def jobs(number: int, **shared: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"job {n}", "kind": "noop", "schedule_time": LATER, "payload": n} | shared
        for n in range(number)
    ]


async def audited(api: Served) -> list[dict[str, Any]]:
    found = (await api.platform.get("/v1/audit?limit=100&action=job.create")).json["data"]
    own = {"id", "at", "thing_id", "request_id", "after", "audit_id"}
    return [{key: value for key, value in row.items() if key not in own} for row in found]


async def test_jobs_that_are_alike_answer_and_are_noted_as_any_others(api: Served) -> None:
    odd = {"name": "odd", "kind": "other", "schedule_time": LATER}
    alike = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs(3)})
    for each in alike.json["jobs"]:
        await api.platform.delete(f"/v1/jobs/{each['job_id']}")
    mixed = await api.platform.post("/v1/jobs/bulk", {"jobs": [*jobs(3), odd]})

    assert (alike.status, mixed.status) == (201, 201)
    for one, other in zip(alike.json["jobs"], mixed.json["jobs"], strict=False):
        assert one | {"job_id": ""} == other | {"job_id": ""}
        assert one["warnings"]
    notes = await audited(api)
    assert len(notes) == 7
    assert all(note == notes[0] for note in notes)


async def test_each_of_many_is_there_with_what_is_its_own(api: Served) -> None:
    made = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs(3, labels={"team": "ops"})})

    for n, each in enumerate(made.json["jobs"]):
        job = (await api.platform.get(f"/v1/jobs/{each['job_id']}")).json
        told = (job["name"], job["payload"], job["labels"], job["schedule_time"])
        assert told == (f"job {n}", n, {"team": "ops"}, LATER)
        assert job["status"] == "active"


async def test_one_that_is_wrong_refuses_all_of_them_and_says_where(api: Served) -> None:
    wrong = {
        "/jobs/1/name": {"name": "job 0"},
        "/jobs/1/schedule/at": {"schedule_time": "9999-01-01T00:00:00Z"},
        "/jobs/1/payload": {"payload": "\x00"},
    }
    for pointer, change in wrong.items():
        given = jobs(3)
        given[1] |= change

        refused = await api.platform.post("/v1/jobs/bulk", {"jobs": given})

        assert refused.status == 422, refused.text
        assert refused.json["errors"][0]["pointer"] == pointer
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 0


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
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 3

"""GET /v1/jobs/outcomes (issue 7: the list of jobs)."""

from tests.support.serving import Served


async def test_outcomes_are_answered_in_the_order_in_which_jobs_are_named(api: Served) -> None:
    ids = []
    for name in ("one", "two"):
        made = await api.platform.post("/v1/jobs", {"name": name, "schedule": {"on_demand": True}})
        ids.append(made.json["job_id"])
    run = (await api.platform.post(f"/v1/jobs/{ids[0]}/runNow")).json["run_id"]
    await api.platform.post(f"/v1/runs/{run}/cancel", {"reason": "not today"})

    asked = f"job_id={ids[1]}&job_id={ids[0]}&job_id={ids[1]}"
    found = (await api.platform.get(f"/v1/jobs/outcomes?{asked}")).json["data"]

    assert [each["job_id"] for each in found] == [ids[1], ids[0]]
    assert found[0]["runs"] == []
    (only,) = found[1]["runs"]
    assert (only["run_id"], only["status"], only["start_time"]) == (run, "cancelled", None)
    assert only["reason"]["code"]


async def test_jobs_of_another_tenant_have_no_outcomes(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "ours"})
    stranger = await api.caller("viewer", tenant_id=await api.tenant("other"))

    answer = await stranger.get(f"/v1/jobs/outcomes?job_id={made.json['job_id']}")

    assert answer.json == {"data": [{"job_id": made.json["job_id"], "runs": []}]}


async def test_what_is_no_job_and_too_many_of_them_are_refused(api: Served) -> None:
    many = "&".join(f"job_id=job_{number:032x}" for number in range(51))

    answers = [
        await api.platform.get(f"/v1/jobs/outcomes?{query}")
        for query in ("job_id=nonsense", many, "each=0", "each=21", "else=1")
    ]

    assert {(answer.status, answer.json["code"]) for answer in answers} == {(422, "invalid_input")}

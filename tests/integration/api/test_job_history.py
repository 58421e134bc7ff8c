"""Every change of a definition is in the job's history, with author, origin and what differs."""

from typing import Any

from tests.support.serving import Served

ZERO = "job_" + "0" * 32


async def a_job(api: Served, **given: Any) -> str:
    draft = {"name": "report", "cron_expression": "0 2 * * *", "payload": {"n": 1}, **given}
    return str((await api.platform.post("/v1/jobs", draft)).json["job_id"])


async def history(api: Served, job_id: str, query: str = "") -> list[dict[str, Any]]:
    answer = await api.platform.get(f"/v1/jobs/{job_id}/history{query}")
    assert answer.status == 200, answer.text
    return list(answer.json["data"])


async def test_an_edit_tells_its_author_its_origin_and_only_what_differs(api: Served) -> None:
    job_id = await a_job(api)
    edit = {"cron_expression": "0 3 * * *", "payload": {"n": 2}, "labels": {"team": "a"}}
    by_cli = {"Rota-Origin": "cli"}
    assert (await api.platform.call("PATCH", f"/v1/jobs/{job_id}", edit, by_cli)).status == 200

    update, create = await history(api, job_id)

    assert (create["action"], create["version"], create["origin"]) == ("job.create", 1, "api")
    assert (update["action"], update["version"], update["origin"]) == ("job.update", 2, "cli")
    assert update["author"] == create["author"] != ""
    assert update["changes"] == [
        {"field": "schedule.cron", "before": "0 2 * * *", "after": "0 3 * * *", "is_shown": True},
        {"field": "payload", "before": None, "after": None, "is_shown": False},
        {"field": "labels.team", "before": None, "after": "a", "is_shown": True},
    ]


async def test_pauses_and_the_deletion_are_told_and_runs_are_not(api: Served) -> None:
    job_id = await a_job(api)
    for action in ("runNow", "pause", "resume"):
        await api.platform.post(f"/v1/jobs/{job_id}/{action}", {})
    await api.platform.call("DELETE", f"/v1/jobs/{job_id}")

    told = [(each["action"], each["changes"]) for each in await history(api, job_id)]

    names = ("job.delete", "job.resume", "job.pause", "job.create")
    assert told == [(name, []) for name in names]


async def test_an_edit_without_a_difference_makes_neither_a_version_nor_an_entry(
    api: Served,
) -> None:
    job_id = await a_job(api)
    before = (await api.platform.get(f"/v1/jobs/{job_id}")).json

    same = {"payload": {"n": 1}, "priority": before["priority"], "schedule": before["schedule"]}
    answer = await api.platform.call("PATCH", f"/v1/jobs/{job_id}", same)

    assert (answer.status, answer.json["version"]) == (200, 1)
    assert len(await history(api, job_id)) == 1


async def test_a_claimed_origin_is_one_of_those_a_client_may_be(api: Served) -> None:
    job_id = await a_job(api)
    for place, origin in enumerate(("import", "dashboard", "code", "nonsense")):
        edit = {"payload": {"place": place}}
        await api.platform.call("PATCH", f"/v1/jobs/{job_id}", edit, {"Rota-Origin": origin})

    origins = [each["origin"] for each in await history(api, job_id)]

    assert origins == ["api", "api", "api", "import", "api"]


async def test_the_history_goes_page_by_page_and_shows_no_other_tenant(api: Served) -> None:
    job_id = await a_job(api)
    await api.platform.call("PATCH", f"/v1/jobs/{job_id}", {"payload": {"n": 2}})
    stranger = await api.caller("viewer", tenant_id=await api.tenant("acme"))
    viewer = await api.caller("viewer")

    page = (await viewer.get(f"/v1/jobs/{job_id}/history?limit=1")).json
    path = f"/v1/jobs/{job_id}/history?limit=1&cursor={page['next_cursor']}"
    rest = (await viewer.get(path)).json

    assert [each["version"] for each in (*page["data"], *rest["data"])] == [2, 1]
    assert rest["next_cursor"] is None
    assert (await stranger.get(f"/v1/jobs/{job_id}/history")).status == 404
    assert (await viewer.get(f"/v1/jobs/{ZERO}/history")).status == 404


async def test_a_replay_with_an_edited_payload_says_so(api: Served) -> None:
    job_id = await a_job(api)
    run_id = (await api.platform.post(f"/v1/jobs/{job_id}/runNow", {})).json["run_id"]
    await api.platform.post(f"/v1/runs/{run_id}/cancel", {})
    await api.platform.call("PATCH", f"/v1/jobs/{job_id}", {"payload": {"n": 2}})

    made = {}
    for body in ({}, {"payload": {"n": 7}}):
        answer = await api.platform.post(f"/v1/runs/{run_id}/replay", body)
        assert answer.status == 201, answer.text
        made[answer.json["run_id"]] = body
    entries = (await api.platform.get("/v1/audit?action=run.replay")).json["data"]

    shown = [(await api.platform.get(f"/v1/runs/{each}")).json for each in made]
    assert [each["payload"] for each in shown] == [{"n": 1}, {"n": 7}]
    assert [each["job_version"] for each in shown] == [1, 1]
    assert [each["after"]["payload"] for each in entries] == ["edited", "same"]

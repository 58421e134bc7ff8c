"""A job's version counts changes of its definition, and nothing else."""

from collections.abc import Mapping

from tests.support.serving import Served


async def test_only_an_edit_makes_the_next_version(api: Served) -> None:
    """I4: running, pausing and resuming a job leave its definition alone."""
    made = (
        await api.platform.post("/v1/jobs", {"name": "report", "cron_expression": "0 2 * * *"})
    ).json
    path = f"/v1/jobs/{made['job_id']}"
    for action in ("runNow", "pause", "resume", "runNow"):
        answer = await api.platform.post(f"{path}/{action}", {})
        assert answer.status < 300, answer.text

    operated = await api.platform.get(path)
    seen = {"If-Match": '"1"'}
    edited = await api.platform.call("PATCH", path, {"priority": "high"}, seen)
    late = await api.platform.call("PATCH", path, {"priority": "low"}, seen)

    assert (operated.json["version"], operated.headers["ETag"]) == (1, '"1"')
    assert (edited.status, edited.json["version"]) == (200, 2)
    assert (late.status, late.json["code"]) == (412, "version_changed")
    assert (await api.platform.get(path)).json["version"] == 2


async def test_nothing_but_a_change_of_the_definition_raises_the_version(api: Served) -> None:
    """I4: runs, calendars, backfills, retries, a file and an app that say the same."""
    call = api.platform.call
    calendar = {"calendar": {"dates": ["2026-12-25"]}}
    put = await call("PUT", "/v1/calendars/feasts", calendar)
    assert put.status < 300, put.text
    job = {
        "name": "report",
        "kind": "noop",
        "schedule": {"cron": "0 2 * * *", "calendars": ["feasts"]},
        "labels": {"rota.project": "shop"},
    }
    made = await api.platform.post("/v1/jobs", job)
    assert made.status == 201, made.text
    path = f"/v1/jobs/{made.json['job_id']}"
    run_id = (await api.platform.post(f"{path}/runNow", {})).json["run_id"]
    since, until = "2026-11-01T00:00:00Z", "2026-11-04T00:00:00Z"
    deeds = [
        ("POST", f"/v1/runs/{run_id}/cancel", {}),
        ("POST", f"/v1/runs/{run_id}/replay", {}),
        ("POST", f"/v1/runs/{run_id}/retry", None),
        ("POST", f"{path}/runNow", {"payload": {"n": 1}}),
        ("PUT", "/v1/calendars/feasts", {"calendar": {"dates": ["2026-12-26"]}}),
        ("POST", f"{path}/pause", {}),
        ("PUT", "/v1/calendars/feasts", {"calendar": {"dates": ["2026-12-27"]}}),
        ("POST", f"{path}/resume", {"missed": "skip"}),
        ("POST", f"{path}/backfills", {"since": since, "until": until}),
        ("PATCH", path, {"priority": 5}),
        ("POST", "/v1/manifests/apply", {"project": "shop", "jobs": [_declared(job)]}),
    ]
    for method, place, body in deeds:
        answer = await call(method, place, body)
        assert answer.status < 300, (place, answer.text)

        shown = await api.platform.get(path)
        assert (shown.json["version"], shown.headers["ETag"]) == (1, '"1"'), place
    assert await api.conn.fetchval("select count(*) from rota.job_versions") == 0


def _declared(job: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in job.items() if name != "labels"}

"""Quotas and calendars as clients see them (T1, S15)."""

from datetime import datetime, timedelta
from typing import Any

from tests.support.serving import Served

from rota.core.quotas import Quotas
from rota.store import tenants

HOURLY = {"cron_expression": "0 * * * *"}
FREE = {"calendar": {"dates": ["2090-01-01"]}}
ALWAYS = {"calendar": {"ranges": [{"start": "2020-01-01", "end": "2099-01-01"}]}}


async def tenant(api: Served, **quotas: Any) -> Any:
    made = await tenants.create_tenant(api.conn, name="acme", quotas=Quotas(**quotas))
    return await api.caller("admin", tenant_id=made.id)


async def test_a_job_beyond_the_quota_is_answered_as_429(api: Served) -> None:
    acme = await tenant(api, max_jobs=1)

    first = await acme.post("/v1/jobs", {"name": "one", **HOURLY})
    second = await acme.post("/v1/jobs", {"name": "two", **HOURLY})
    others = await api.platform.post("/v1/jobs", {"name": "two", **HOURLY})

    assert [first.status, second.status, others.status] == [201, 429, 201]
    assert second.json["code"] == "quota_exceeded"
    assert "max_jobs" in second.json["detail"]
    assert "retry-after" not in second.headers


async def test_a_run_beyond_the_quota_is_answered_with_when_to_try_again(api: Served) -> None:
    acme = await tenant(api, max_queued=1)
    job = (await acme.post("/v1/jobs", {"name": "one", **HOURLY})).json["job_id"]

    first = await acme.post(f"/v1/jobs/{job}/runNow", {"overlap": "allow"})
    second = await acme.post(f"/v1/jobs/{job}/runNow", {"overlap": "allow"})
    at_once = await acme.post("/v1/jobs", {"name": "two"})

    assert [first.status, second.status, at_once.status] == [202, 429, 429]
    assert second.json["code"] == at_once.json["code"] == "quota_exceeded"
    assert int(second.headers["retry-after"]) >= 1


async def test_a_bulk_beyond_a_quota_is_refused_as_a_whole(api: Served) -> None:
    acme = await tenant(api, max_jobs=4, max_queued=2)
    later, now = {"kind": "noop", "schedule_time": "2030-01-01T00:00:00Z"}, {"kind": "noop"}

    answers = [
        await acme.post("/v1/jobs/bulk", {"jobs": [each] * number})
        for each, number in [(later, 5), (now, 3), (later, 4), (now, 2), (later, 2), (now, 2)]
    ]

    assert [answer.status for answer in answers] == [429, 429, 201, 201, 429, 429]
    assert "max_jobs" in answers[0].json["detail"]
    assert "max_queued" in answers[1].json["detail"]
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 4
    assert await api.conn.fetchval("select count(*) from rota.live_runs") == 2


async def test_a_calendar_that_is_replaced_moves_the_next_tick(api: Served) -> None:
    admin = api.platform
    await admin.put("/v1/calendars/freeze", FREE)
    schedule = {"cron": "0 * * * *", "calendars": ["freeze"]}
    made = await admin.post("/v1/jobs", {"name": "one", "schedule": schedule})
    job = f"/v1/jobs/{made.json['job_id']}"
    before = (await admin.get(job)).json["next_run_at"]
    until = (datetime.fromisoformat(before) + timedelta(days=9)).date().isoformat()
    days = {"calendar": {"ranges": [{"start": before[:10], "end": until}]}}

    replaced = await admin.put("/v1/calendars/freeze", days)
    refused = await admin.put("/v1/calendars/freeze", ALWAYS)

    assert (made.status, replaced.status) == (201, 200)
    assert (refused.status, refused.json["code"]) == (422, "invalid_schedule")
    shown = (await admin.get(job)).json
    assert shown["status"] == "active"
    assert shown["next_run_at"] > f"{until}T23:59"

"""Jobs as code over the API: plan, apply, prune, drift, and what is refused (I6)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from tests.support.databases import clone_url, drop
from tests.support.serving import CLOCK, Answer, Caller, Served, serving

from rota.core.time.moments import to_rfc3339
from rota.store.embedded import Embedded

# One API for all of them, and a tenant for each.
pytestmark = pytest.mark.asyncio(loop_scope="module")
NEXT_YEAR = to_rfc3339(CLOCK.now().replace(microsecond=0) + timedelta(days=365))
NIGHTLY = {
    "name": "nightly report",
    "kind": "report",
    "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
    "payload": {"format": "pdf"},
}
HOURLY = {"name": "hourly", "kind": "tick", "schedule": {"every": "1h"}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    database = await clone_url(server.url)
    async with serving(database, tmp_path_factory.mktemp("api")) as served:
        yield served
    await drop(server.url, database)


@pytest_asyncio.fixture(loop_scope="module")
async def tenant_id(api: Served) -> int:
    return await api.tenant(f"t-{uuid4().hex[:12]}")


@pytest_asyncio.fixture(loop_scope="module")
async def admin(api: Served, tenant_id: int) -> Caller:
    return await api.caller("admin", user_id="ada", tenant_id=tenant_id)


async def plan(caller: Caller, *jobs: Any, project: str = "billing") -> Answer:
    return await caller.post("/v1/manifests/plan", {"project": project, "jobs": list(jobs)})


async def apply(caller: Caller, *jobs: Any, project: str = "billing", **more: Any) -> Answer:
    body = {"project": project, "jobs": list(jobs), **more}
    return await caller.post("/v1/manifests/apply", body)


def actions(answer: Answer) -> dict[str, str]:
    assert answer.status == 200, answer.text
    return {each["name"]: each["action"] for each in answer.json["changes"]}


def fields(answer: Answer, name: str) -> dict[str, tuple[Any, Any]]:
    (change,) = (each for each in answer.json["changes"] if each["name"] == name)
    return {each["field"]: (each["before"], each["after"]) for each in change["fields"]}


async def names(caller: Caller) -> set[str]:
    return {job["name"] for job in (await caller.get("/v1/jobs")).json["data"]}


async def test_a_plan_says_what_would_be_made_and_when_it_runs_and_makes_nothing(
    admin: Caller,
) -> None:
    planned = await plan(admin, NIGHTLY)

    assert actions(planned) == {"nightly report": "create"}
    (change,) = planned.json["changes"]
    assert len(change["next_after"]) == 3
    assert change["job_id"] is None
    assert await names(admin) == set()


async def test_what_was_applied_is_there_and_applying_it_again_changes_nothing(
    api: Served, admin: Caller
) -> None:
    done = await apply(admin, NIGHTLY, HOURLY)
    assert actions(done) == {"nightly report": "create", "hourly": "create"}
    (made, _) = done.json["changes"]
    job = (await admin.get(f"/v1/jobs/{made['job_id']}")).json
    assert job["labels"] == {"rota.project": "billing"}
    assert job["schedule"]["cron"] == "30 2 * * *"

    again = await apply(admin, NIGHTLY, HOURLY)

    assert actions(again) == {}
    assert again.json["unchanged"] == 2
    assert (await admin.get(f"/v1/jobs/{made['job_id']}")).json["version"] == job["version"]


async def test_each_field_that_differs_is_shown_and_changed(admin: Caller) -> None:
    await apply(admin, NIGHTLY)
    wanted = NIGHTLY | {
        "payload": {"format": "csv"},
        "retries": 7,
        "queue": "slow",
        "priority": "high",
        "overlap": "queue_one",
        "keep_first": True,
        "when_queue_paused": "accumulate",
        "labels": {"team": "a"},
        "timeout": "none",
    }

    planned = await plan(admin, wanted)

    assert fields(planned, "nightly report") == {
        "payload.format": ("pdf", "csv"),
        "retries.max": (3, 7),
        "timeout": ("PT15M", "none"),
        "queue": ("default", "slow"),
        "priority": (5, 1),
        "overlap": ("skip", "queue_one"),
        "keep_first": (False, True),
        "when_queue_paused": ("skip", "accumulate"),
        "labels.team": (None, "a"),
    }
    assert planned.json["changes"][0]["moves"] is False
    assert actions(await apply(admin, wanted)) == {"nightly report": "update"}
    assert actions(await plan(admin, wanted)) == {}


async def test_a_field_that_is_taken_out_of_the_file_has_its_default_again(admin: Caller) -> None:
    await apply(
        admin, NIGHTLY | {"retries": {"max": 9, "base": "5s"}, "limits": [{"key": "k", "max": 2}]}
    )

    planned = await plan(admin, NIGHTLY)

    changed = fields(planned, "nightly report")
    assert set(changed) == {"retries.max", "retries.base", "limits"}
    assert changed["limits"][1] == []


async def test_a_plan_says_which_next_runs_move(admin: Caller) -> None:
    await apply(admin, NIGHTLY)
    later = NIGHTLY | {"schedule": {"cron": "30 3 * * *", "timezone": "Europe/Berlin"}}

    (change,) = (await plan(admin, later)).json["changes"]

    assert change["moves"] is True
    assert len(change["next_before"]) == len(change["next_after"]) == 3
    assert change["next_before"] != change["next_after"]
    done = (await apply(admin, later)).json["changes"][0]
    job = (await admin.get(f"/v1/jobs/{done['job_id']}")).json
    assert job["next_run_at"] == change["next_after"][0]


async def test_an_interval_keeps_its_anchor_when_only_something_else_changes(admin: Caller) -> None:
    await apply(admin, HOURLY)
    (before,) = (await admin.get("/v1/jobs")).json["data"]

    changed = await apply(admin, HOURLY | {"payload": {"a": 1}})

    assert set(fields(changed, "hourly")) == {"payload"}
    (after,) = (await admin.get("/v1/jobs")).json["data"]
    assert after["schedule"] == before["schedule"]


@pytest.mark.parametrize(
    "schedule",
    [
        {"rrule": "FREQ=DAILY;BYHOUR=9", "timezone": "Europe/Berlin"},
        {"fixed_delay": "10m"},
        {"cron": ["0 9 * * *", "0 17 * * FRI"], "jitter": "5m"},
        {"cron": "CRON_TZ=Asia/Tokyo 0 9 * * *"},
        {"at": NEXT_YEAR},
        {"event": "orders.created"},
        {"every": "90s", "window": {"start": "2026-01-01T00:00:00Z"}},
    ],
)
async def test_any_schedule_is_the_same_when_it_is_declared_again(
    admin: Caller, schedule: dict[str, Any]
) -> None:
    job = {"name": "j", "kind": "k", "schedule": schedule}
    assert actions(await apply(admin, job)) == {"j": "create"}

    assert actions(await plan(admin, job)) == {}


async def test_a_job_without_a_schedule_runs_on_demand_and_not_at_once(admin: Caller) -> None:
    await apply(admin, {"name": "by hand", "kind": "k"})

    (job,) = (await admin.get("/v1/jobs")).json["data"]
    assert job["schedule_type"] == "ON_DEMAND"
    assert (await admin.get("/v1/runs")).json["data"] == []
    assert actions(await plan(admin, {"name": "by hand", "kind": "k"})) == {}


async def test_only_jobs_of_the_project_are_pruned_and_only_when_asked(admin: Caller) -> None:
    await apply(admin, NIGHTLY, HOURLY)
    await apply(admin, HOURLY | {"name": "theirs"}, project="other")
    await admin.post("/v1/jobs", {"name": "by hand", "kind": "k", "cron_expression": "0 1 * * *"})

    assert actions(await plan(admin, NIGHTLY)) == {"hourly": "prune"}
    await apply(admin, NIGHTLY)
    assert "hourly" in await names(admin)

    done = await apply(admin, NIGHTLY, prune=True)

    assert actions(done) == {"hourly": "prune"}
    assert await names(admin) == {"nightly report", "theirs", "by hand"}


async def test_a_job_that_somebody_made_by_hand_is_taken_over(admin: Caller) -> None:
    await admin.post("/v1/jobs", {"name": "hourly", "kind": "old", "cron_expression": "0 1 * * *"})

    planned = await plan(admin, HOURLY)

    changed = fields(planned, "hourly")
    assert changed["kind"] == ("old", "tick")
    assert changed["labels.rota.project"] == (None, "billing")


async def test_a_job_of_another_project_is_refused_and_nothing_is_done(admin: Caller) -> None:
    await apply(admin, HOURLY, project="other")

    refused = await apply(admin, NIGHTLY, HOURLY)

    assert refused.status == 422
    assert "'other'" in refused.json["detail"]
    assert refused.json["errors"][0]["pointer"] == "/jobs/1/name"
    assert await names(admin) == {"hourly"}


async def test_what_changed_since_the_plan_is_refused_with_what_and_by_whom(
    api: Served, admin: Caller, tenant_id: int
) -> None:
    await apply(admin, NIGHTLY, HOURLY)
    wanted = NIGHTLY | {"retries": 9}
    seen = (await plan(admin, wanted, HOURLY)).json["seen"]
    bob = await api.caller("admin", user_id="bob", tenant_id=tenant_id)
    await bob.put("/v1/jobs/by-name/nightly%20report", {"payload": {"format": "html"}})

    refused = await apply(admin, wanted, HOURLY, seen=seen)

    assert refused.status == 409
    assert "'nightly report' has version 2 now, not 1, by bob" in refused.json["detail"]
    (job,) = (await admin.get("/v1/jobs?q=nightly")).json["data"]
    assert job["max_retries"] == 3


async def test_a_change_of_what_the_plan_leaves_alone_does_not_matter(admin: Caller) -> None:
    await apply(admin, NIGHTLY, HOURLY)
    wanted = NIGHTLY | {"retries": 9}
    seen = (await plan(admin, wanted, HOURLY)).json["seen"]
    # Its version rises, and it still is what is declared.
    await admin.put("/v1/jobs/by-name/hourly", {"priority": 5})

    assert actions(await apply(admin, wanted, HOURLY, seen=seen)) == {"nightly report": "update"}


async def test_one_bad_job_refuses_the_whole_file(admin: Caller) -> None:
    bad = {"name": "bad", "kind": "k", "schedule": {"cron": "61 * * * *"}}

    refused = await apply(admin, NIGHTLY, bad, HOURLY)

    assert refused.status == 422
    assert refused.json["errors"][0]["pointer"] == "/jobs/1/schedule/cron"
    assert await names(admin) == set()


@pytest.mark.parametrize(
    ("job", "pointer"),
    [
        ({"schedule": {"immediate": True}}, "/jobs/0/schedule/immediate"),
        ({"schedule": {"after": "5m"}}, "/jobs/0/schedule/after"),
        ({"labels": {"rota.project": "x"}}, "/jobs/0/labels/rota/project"),
        ({"schedule": {"cron": "0 1 * * *", "calendars": ["none"]}}, "/jobs/0/schedule/calendars"),
        ({"unique": {"key": "k"}}, "/jobs/0/unique"),
        ({"timeout": "soon"}, "/jobs/0/timeout"),
        ({"timeout": None}, "/jobs/0/timeout"),
        ({"name": "nul\x00"}, "/jobs/0/name"),
    ],
)
async def test_what_cannot_be_declared_is_refused_with_its_place(
    admin: Caller, job: dict[str, Any], pointer: str
) -> None:
    refused = await plan(admin, {"name": "j", "kind": "k"} | job)

    assert refused.status == 422, refused.text
    assert refused.json["errors"][0]["pointer"] == pointer


async def test_a_name_twice_is_refused(admin: Caller) -> None:
    refused = await apply(admin, HOURLY, HOURLY)

    assert refused.status == 422
    assert refused.json["errors"][0]["pointer"] == "/jobs/1/name"


async def test_jobs_are_paused_and_resumed_as_declared_and_left_alone_otherwise(
    admin: Caller,
) -> None:
    await apply(admin, NIGHTLY | {"paused": True})
    (job,) = (await admin.get("/v1/jobs")).json["data"]
    assert job["status"] == "paused"
    assert actions(await plan(admin, NIGHTLY)) == {}

    planned = await plan(admin, NIGHTLY | {"paused": False})
    assert fields(planned, "nightly report") == {"paused": (True, False)}
    assert planned.json["changes"][0]["next_before"] == []
    assert len(planned.json["changes"][0]["next_after"]) == 3
    await apply(admin, NIGHTLY | {"paused": False})

    (job,) = (await admin.get("/v1/jobs")).json["data"]
    assert job["status"] == "active"


async def test_what_was_changed_by_hand_is_told_with_who_and_when(
    api: Served, admin: Caller, tenant_id: int
) -> None:
    await apply(admin, NIGHTLY, HOURLY)
    bob = await api.caller("admin", user_id="bob", tenant_id=tenant_id)
    await bob.put("/v1/jobs/by-name/nightly%20report", {"priority": 1})
    for priority in (1, 5):
        await bob.put("/v1/jobs/by-name/hourly", {"priority": priority})

    planned = (await plan(admin, NIGHTLY, HOURLY)).json

    (change,) = planned["changes"]
    assert (change["touched"]["by"], change["touched"]["action"]) == ("bob", "job.update")
    assert planned["touched"]["hourly"]["by"] == "bob"
    await apply(admin, NIGHTLY, HOURLY)
    after = (await plan(admin, NIGHTLY, HOURLY)).json
    assert (after["changes"], after["touched"]) == ([], {})


async def test_the_audit_log_has_each_job_and_the_file(admin: Caller) -> None:
    await apply(admin, NIGHTLY)
    await apply(admin, NIGHTLY | {"retries": 1}, HOURLY)

    entries = (await admin.get("/v1/audit?limit=50")).json["data"]

    told = [(each["action"], each["thing"], each["actor"]) for each in reversed(entries)]
    assert told == [
        ("job.create", "job", "ada"),
        ("manifest.apply", "manifest", "ada"),
        ("job.update", "job", "ada"),
        ("job.create", "job", "ada"),
        ("manifest.apply", "manifest", "ada"),
    ]
    assert entries[0]["after"] == {"create": 1, "update": 1, "prune": 0}
    assert entries[2]["after"]["changed"] == ["retries"]
    assert entries[2]["after"]["version"] == 2
    assert (entries[2]["before"], entries[2]["after"]["retries"]) == (
        {"retries": {"max": 3}},
        {"max": 1},
    )
    assert {each["origin"] for each in entries} == {"file"}


async def test_tenants_do_not_see_each_others_projects(api: Served, admin: Caller) -> None:
    await apply(admin, NIGHTLY)
    stranger = await api.caller("admin", tenant_id=await api.tenant("acme"))

    assert actions(await plan(stranger, HOURLY)) == {"hourly": "create"}
    assert actions(await apply(stranger, prune=True)) == {}
    assert await names(admin) == {"nightly report"}


async def test_a_one_time_job_whose_time_has_passed_is_still_as_declared(
    api: Served, admin: Caller, tenant_id: int
) -> None:
    once = {"name": "once", "kind": "k", "schedule": {"at": NEXT_YEAR}}
    assert actions(await apply(admin, once)) == {"once": "create"}
    past = "2020-01-01T00:00:00Z"
    await api.conn.execute("delete from rota.cursors where tenant_id = $1", tenant_id)
    await api.conn.execute(
        "update rota.jobs set schedule = jsonb_set(schedule, '{at}', to_jsonb($1::text))"
        " where tenant_id = $2",
        past,
        tenant_id,
    )

    assert actions(await plan(admin, once | {"schedule": {"at": past}})) == {}


def dates(*days: str) -> dict[str, Any]:
    return {"name": "holidays", "calendar": {"yearly": list(days)}}


def daily(name: str = "daily", **more: Any) -> dict[str, Any]:
    schedule = {"cron": "0 12 * * *", "calendars": ["holidays"]}
    return {"name": name, "kind": "k", "schedule": schedule, **more}


async def test_calendars_are_written_with_the_jobs_that_go_by_them(admin: Caller) -> None:
    done = await apply(admin, daily(), calendars=[dates("12-25")])

    assert actions(done) == {"daily": "create"}
    assert [(each["action"], each["name"]) for each in done.json["calendars"]] == [
        ("create", "holidays")
    ]
    again = await apply(admin, daily(), calendars=[dates("12-25")])
    assert (again.json["changes"], again.json["calendars"]) == ([], [])
    told = (await admin.get("/v1/audit?thing=calendar")).json["data"]
    assert [each["action"] for each in told] == ["calendar.create"]


async def test_a_calendar_that_changes_moves_the_runs_of_jobs_that_stay_as_they_are(
    admin: Caller,
) -> None:
    await apply(admin, daily(), calendars=[dates("12-25")])
    (job,) = (await admin.get("/v1/jobs")).json["data"]
    tomorrow = str(job["next_run_at"])[5:10]
    body = {"project": "billing", "jobs": [daily()], "calendars": [dates("12-25", tomorrow)]}

    planned = (await admin.post("/v1/manifests/plan", body)).json

    assert [each["field"] for each in planned["calendars"][0]["fields"]] == ["yearly"]
    (change,) = planned["changes"]
    assert (change["fields"], change["moves"]) == ([], True)
    assert change["next_before"][0] == job["next_run_at"]
    assert change["next_after"][0] == change["next_before"][1]
    await admin.post("/v1/manifests/apply", body)
    (after,) = (await admin.get("/v1/jobs")).json["data"]
    assert after["next_run_at"] == change["next_after"][0]


async def test_a_calendar_that_somebody_else_changed_is_refused_and_so_is_who_may_not(
    api: Served, admin: Caller, tenant_id: int
) -> None:
    await apply(admin, calendars=[dates("12-25")])
    body = {"project": "billing", "jobs": [], "calendars": [dates("12-26")]}
    planned = (await admin.post("/v1/manifests/plan", body)).json
    await admin.put("/v1/calendars/holidays", {"calendar": {"yearly": ["01-01"]}})

    stale = await apply(admin, calendars=[dates("12-26")], seen_calendars=planned["seen_calendars"])
    assert (stale.status, stale.json["code"]) == (409, "conflict")
    assert "calendar 'holidays' has version 2 now, not 1" in stale.json["detail"]

    operator = await api.caller("operator", tenant_id=tenant_id)
    refused = await apply(operator, daily(), calendars=[dates("12-26")])
    assert refused.status == 403
    assert await names(admin) == set()
    assert (await apply(operator, daily(), calendars=[dates("01-01")])).status == 200


async def test_a_calendar_that_is_wrong_is_refused_with_its_place(admin: Caller) -> None:
    wrong = await apply(admin, daily(), calendars=[dates("12-25"), dates("13-41") | {"name": "b"}])
    twice = await apply(admin, calendars=[dates("12-25"), dates("12-25")])

    assert wrong.json["errors"][0]["pointer"] == "/calendars/1/calendar/yearly/0"
    assert twice.json["errors"][0]["pointer"] == "/calendars/1/calendar/name"
    assert await names(admin) == set()

"""One-time submissions through the calls for jobs: read, list, change, cancel, run again (I1)."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.serving import Answer, Served
from tests.support.world import World

from rota.core.states import RunState
from rota.core.time.moments import to_rfc3339
from rota.store import interning, live_runs
from rota.store.live_runs import RunEnding

LATER = {"job_type": "greet", "payload": {"to": "ada"}}


async def test_a_submission_answers_to_its_id_until_it_has_ended(api: Served) -> None:
    made = await submit(api, name="greet ada", kind="greet", payload={"to": "ada"}, user_id="u003")
    path = f"/v1/jobs/{made['job_id']}"

    found = await api.platform.get(path)
    status = (await api.platform.get(f"{path}/status")).json
    runs = (await api.platform.get(f"{path}/runs")).json["data"]

    assert (found.status, found.headers["ETag"]) == (200, '"1"')
    job = found.json
    assert (job["name"], job["kind"], job["user_id"]) == ("greet ada", "greet", "u003")
    assert (job["schedule_type"], job["schedule_time"], job["status"]) == (
        "IMMEDIATE",
        None,
        "finished",
    )
    assert (job["payload"], job["version"], job["held"]) == ({"to": "ada"}, 1, None)
    assert (status["status"], status["latest_run"]["status"]) == ("finished", "queued")
    assert "No live worker" in status["explanation"]
    assert [run["run_id"] for run in runs] == [made["run_id"]]

    await finish(api, made)

    assert (await api.platform.get(path)).json["payload"] == {"to": "ada"}
    ended = (await api.platform.get(f"{path}/status")).json
    assert ended["latest_run"]["status"] == "succeeded"
    run = (await api.platform.get(f"/v1/runs/{made['run_id']}")).json
    assert (run["job_name"], run["user_id"], run["payload"]) == ("greet ada", "u003", {"to": "ada"})
    assert run["submitter"]
    assert run["address"] == "127.0.0.1"


async def test_a_submission_for_later_shows_its_time(api: Served) -> None:
    at = await soon(api, hours=1)
    made = await submit(api, **LATER, schedule_time=at, labels={"team": "web"})
    path = f"/v1/jobs/{made['job_id']}"

    job = (await api.platform.get(path)).json
    status = (await api.platform.get(f"{path}/status")).json

    # It is called after its kind.
    assert (job["name"], job["schedule_type"], job["status"]) == ("greet", "FUTURE", "active")
    assert (job["schedule_time"], job["next_run_at"]) == (at, at)
    assert job["labels"] == {"team": "web"}
    assert (status["status"], status["latest_run"]) == ("active", None)
    assert "no scheduler is running" in status["explanation"]
    assert (await api.platform.get(f"{path}/runs")).json["data"] == []


async def test_everything_about_a_submission_changes_before_it_starts(api: Served) -> None:
    made = await submit(api, **LATER, schedule_time=await soon(api, hours=1))
    path = f"/v1/jobs/{made['job_id']}"
    other = await soon(api, hours=2)
    wanted = {
        "name": "greet grace",
        "kind": "welcome",
        "queue": "mail",
        "priority": "high",
        "payload": {"to": "grace"},
        "labels": {"team": "web"},
        "user_id": "u007",
        "max_retries": 7,
        "timeout": "PT5M",
        "limits": [{"key": "customer:{args.to}", "max": 2}],
        "schedule_time": other,
    }

    answer = await api.platform.call("PUT", path, wanted, {"If-Match": '"1"'})

    job = ok(answer)
    assert {name: job[name] for name in wanted if name not in {"limits", "priority"}} == {
        name: value for name, value in wanted.items() if name not in {"limits", "priority"}
    }
    assert job["priority"] < 5
    assert job["limits"] == [{"key": "customer:grace", "max": 2, "rate": None}]
    assert (job["job_id"], job["version"]) == (made["job_id"], 1)
    assert (await api.platform.get(path)).json == job
    assert await audited(api, made) == ["job.update"]


async def test_only_what_is_said_changes(api: Served) -> None:
    made = await submit(
        api,
        **LATER,
        schedule_time=await soon(api, hours=1),
        limits=[{"key": "mail", "max": 3}],
        max_retries=7,
    )
    path = f"/v1/jobs/{made['job_id']}"
    before = (await api.platform.get(path)).json

    after = ok(await api.platform.call("PATCH", path, {"priority": 1}))

    assert after == before | {"priority": 1}


async def test_another_version_than_the_first_is_refused(api: Served) -> None:
    made = await submit(api, **LATER, schedule_time=await soon(api, hours=1))
    path = f"/v1/jobs/{made['job_id']}"

    refused = await api.platform.call("PUT", path, {"priority": 1}, {"If-Match": '"2"'})

    assert (refused.status, refused.json["code"]) == (412, "version_changed")
    assert (await api.platform.get(path)).json["priority"] == 5


async def test_a_waiting_submission_can_still_be_changed_and_put_off(api: Served) -> None:
    made = await submit(api, **LATER)
    path = f"/v1/jobs/{made['job_id']}"

    changed = ok(await api.platform.call("PUT", path, {"payload": {"to": "grace"}}))
    assert (changed["payload"], changed["status"]) == ({"to": "grace"}, "finished")
    at = await soon(api, hours=3)
    later = ok(await api.platform.call("PUT", path, {"schedule_time": at}))

    assert (later["status"], later["next_run_at"]) == ("active", at)
    assert (later["job_id"], later["payload"]) == (made["job_id"], {"to": "grace"})
    assert (await api.platform.get(f"{path}/runs")).json["data"] == []
    now = ok(await api.platform.call("PUT", path, {"schedule_type": "IMMEDIATE"}))
    assert (now["status"], now["payload"]) == ("finished", {"to": "grace"})
    (run,) = (await api.platform.get(f"{path}/runs")).json["data"]
    assert run["status"] == "queued"


async def test_what_has_started_or_ended_cannot_be_changed(api: Served) -> None:
    made = await submit(api, **LATER)
    path = f"/v1/jobs/{made['job_id']}"
    session_id = await start(api, made)

    running = await api.platform.call("PUT", path, {"priority": 1})
    await end(api, made, session_id)
    ended = await api.platform.call("PUT", path, {"priority": 1})

    for refused, state in ((running, "running"), (ended, "succeeded")):
        assert (refused.status, refused.json["code"]) == (409, "illegal_move")
        assert f"submission is {state}; it cannot be changed" in refused.json["detail"]
    assert await audited(api, made) == []


async def test_a_recurring_schedule_makes_a_submission_a_job_with_its_id(api: Served) -> None:
    made = await submit(
        api, **LATER, schedule_time=await soon(api, hours=1), labels={"team": "web"}, max_retries=7
    )
    path = f"/v1/jobs/{made['job_id']}"

    job = ok(
        await api.platform.call("PUT", path, {"name": "hourly", "cron_expression": "0 * * * *"})
    )

    assert (job["job_id"], job["schedule_type"]) == (made["job_id"], "CRON")
    assert (job["payload"], job["labels"], job["max_retries"]) == (
        {"to": "ada"},
        {"team": "web"},
        7,
    )
    assert [each["job_id"] for each in await listed(api)] == [made["job_id"]]
    assert await listed(api, "type=one_time") == []
    assert await audited(api, made) == ["job.update"]


@pytest.mark.parametrize("delay", [None, 1], ids=["waiting", "for later"])
async def test_deleting_a_submission_cancels_its_run(api: Served, delay: int | None) -> None:
    when = {} if delay is None else {"schedule_time": await soon(api, hours=delay)}
    made = await submit(api, **LATER, **when, name="greet ada", labels={"team": "web"})
    path = f"/v1/jobs/{made['job_id']}"

    deleted = await api.platform.call("DELETE", path)

    assert deleted.status == 204
    (run,) = (await api.platform.get(f"{path}/runs")).json["data"]
    assert (run["status"], run["job_name"]) == ("cancelled", "greet ada")
    job = (await api.platform.get(path)).json
    assert (job["status"], job["next_run_at"], job["labels"]) == (
        "finished",
        None,
        {"team": "web"},
    )
    assert await audited(api, made) == ["job.delete"]
    # There is nothing left to cancel.
    assert (await api.platform.call("DELETE", path)).status == 204


async def test_deleting_what_runs_asks_it_to_stop_unless_it_may_go_on(api: Served) -> None:
    made = await submit(api, **LATER)
    path = f"/v1/jobs/{made['job_id']}"
    await start(api, made)

    await api.platform.call("DELETE", f"{path}?running=keep")
    kept = (await api.platform.get(f"{path}/status")).json["latest_run"]["status"]
    await api.platform.call("DELETE", path)

    assert kept == "running"
    asked = (await api.platform.get(f"{path}/status")).json["latest_run"]["status"]
    assert asked == "cancelling"


async def test_run_now_makes_what_waits_for_its_time_due(api: Served) -> None:
    made = await submit(api, **LATER, schedule_time=await soon(api, hours=1))
    path = f"/v1/jobs/{made['job_id']}"

    answer = await api.platform.post(f"{path}/runNow", {"priority": "high"})

    assert (answer.status, answer.json["refused"]) == (202, None)
    assert answer.json["run_id"].removeprefix("run") == made["job_id"].removeprefix("job")
    (run,) = (await api.platform.get(f"{path}/runs")).json["data"]
    assert (run["run_id"], run["status"]) == (answer.json["run_id"], "queued")
    assert run["priority"] < 5
    assert await audited(api, made) == ["job.run"]


async def test_run_now_runs_an_ended_one_again_with_the_same_payload(api: Served) -> None:
    made = await submit(api, **LATER, name="greet ada", labels={"team": "web"}, user_id="u003")
    path = f"/v1/jobs/{made['job_id']}"
    waiting = await api.platform.post(f"{path}/runNow", {})
    await finish(api, made)

    again = await api.platform.post(f"{path}/runNow", {})

    # While it waits or runs no other is made.
    assert (waiting.json["refused"], waiting.json["run_id"]) == ("overlap", made["run_id"])
    assert (again.status, again.json["refused"]) == (202, None)
    assert again.json["job_id"] == made["job_id"]
    runs = (await api.platform.get(f"{path}/runs")).json["data"]
    assert {run["run_id"]: run["status"] for run in runs} == {
        made["run_id"]: "succeeded",
        again.json["run_id"]: "queued",
    }
    new = (await api.platform.get(f"/v1/runs/{again.json['run_id']}")).json
    assert (new["job_id"], new["job_name"], new["payload"], new["labels"], new["user_id"]) == (
        made["job_id"],
        "greet ada",
        {"to": "ada"},
        {"team": "web"},
        "u003",
    )
    # It is one submission all the same.
    assert [each["job_id"] for each in await listed(api, "type=one_time")] == [made["job_id"]]


async def test_a_submission_cannot_be_paused(api: Served) -> None:
    made = await submit(api, **LATER, schedule_time=await soon(api, hours=1))

    for action in ("pause", "resume"):
        refused = await api.platform.post(f"/v1/jobs/{made['job_id']}/{action}", {})

        assert (refused.status, refused.json["code"]) == (409, "illegal_move")
        assert "schedule_time" in refused.json["detail"]
        assert "DELETE" in refused.json["detail"]


async def test_jobs_are_listed_by_type(api: Served) -> None:
    nightly = {"name": "nightly", "cron_expression": "0 2 * * *"}
    definition = ok(await api.platform.post("/v1/jobs", nightly), 201)
    later = await submit(api, **LATER, schedule_time=await soon(api, hours=1), user_id="u003")
    old = await submit(api, **LATER, user_id="u007")
    await finish(api, old)
    now = await submit(api, **LATER, user_id="u003")
    graph = {
        "name": "steps",
        "kind": "graph",
        "schedule_time": await soon(api, hours=1),
        "graph": {"steps": [{"name": "first", "kind": "greet"}]},
    }
    one_time_graph = ok(await api.platform.post("/v1/jobs", graph), 201)

    async def ids(query: str = "") -> set[str]:
        return {each["job_id"] for each in await listed(api, query)}

    submissions = {each["job_id"] for each in (later, now, old, one_time_graph)}
    assert await ids() == {definition["job_id"]}
    assert await ids("type=definition") == {definition["job_id"]}
    assert await ids("type=one_time") == submissions
    assert await ids("type=all") == submissions | {definition["job_id"]}
    # REQUIREMENTS I1: these two states are about runs.
    assert await ids("status=pending&user_id=u003") == {later["job_id"], now["job_id"]}
    assert await ids("status=pending&user_id=u003&type=definition") == set()
    assert await ids("status=active") == {definition["job_id"]}
    assert await ids("type=one_time&status=active") == {
        later["job_id"],
        one_time_graph["job_id"],
    }
    await start(api, now)
    assert await ids("status=running") == {now["job_id"]}


async def test_a_job_that_is_put_by_its_name_is_found_by_it_again(api: Served) -> None:
    """Whoever declares a job by its name means one job, even if it runs once."""
    draft = {"kind": "greet", "schedule_time": await soon(api, hours=1)}

    first = ok(await api.platform.call("PUT", "/v1/jobs/by-name/greeting", draft), 201)
    second = ok(await api.platform.call("PUT", "/v1/jobs/by-name/greeting", {"priority": 1}))

    assert second["job_id"] == first["job_id"]
    assert len(await listed(api, "type=all")) == 1


async def test_pages_of_both_sorts_show_each_once(api: Served) -> None:
    expected = set()
    for number in range(6):
        job = {"name": f"nightly {number}", "cron_expression": "0 2 * * *"}
        expected.add(ok(await api.platform.post("/v1/jobs", job), 201)["job_id"])
        expected.add((await submit(api, **LATER))["job_id"])
        at = await soon(api, minutes=5 + number)
        expected.add((await submit(api, **LATER, schedule_time=at))["job_id"])

    seen: list[str] = []
    cursor, pages = "", 0
    while pages == 0 or cursor:
        query = f"type=all&limit=4{cursor and f'&cursor={cursor}'}"
        found = ok(await api.platform.get(f"/v1/jobs?{query}"))
        seen += [each["job_id"] for each in found["data"]]
        cursor, pages = found["next_cursor"], pages + 1
        if pages == 2:
            # What comes meanwhile is newer than the pages that follow.
            await submit(api, **LATER)

    assert len(seen) == len(set(seen)) == len(expected)
    assert set(seen) == expected
    other = await api.platform.get(f"/v1/jobs?type=one_time&cursor={'A' * 20}")
    assert (other.status, other.json["code"]) == (400, "malformed_request")


async def test_another_tenant_neither_sees_nor_touches_a_submission(api: Served) -> None:
    made = await submit(api, **LATER, schedule_time=await soon(api, hours=1))
    stranger = await api.caller("admin", tenant_id=await api.tenant("other"))
    path = f"/v1/jobs/{made['job_id']}"

    answers = [
        await stranger.get(path),
        await stranger.get(f"{path}/status"),
        await stranger.call("PUT", path, {"priority": 1}),
        await stranger.call("DELETE", path),
        await stranger.post(f"{path}/runNow", {}),
    ]

    assert {answer.status for answer in answers} == {404}
    assert ok(await stranger.get("/v1/jobs?type=all"))["data"] == []
    assert (await api.platform.get(path)).json["status"] == "active"


async def submit(api: Served, **draft: Any) -> dict[str, Any]:
    made: dict[str, Any] = ok(await api.platform.post("/v1/jobs", draft), 201)
    return made


async def listed(api: Served, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ok(await api.platform.get(f"/v1/jobs?{query}"))["data"]
    return found


def ok(answer: Answer, status: int = 200) -> Any:
    assert answer.status == status, answer.text
    return answer.json


async def soon(api: Served, **time: float) -> str:
    now: datetime = await api.conn.fetchval("select rota.now()")
    return to_rfc3339((now + timedelta(**time)).replace(microsecond=0))


async def audited(api: Served, made: dict[str, Any]) -> list[str]:
    """What the audit log says of it, the oldest first."""
    found = ok(await api.platform.get("/v1/audit"))["data"]
    return [each["action"] for each in found if each["thing_id"] == made["job_id"]][::-1]


async def start(api: Served, made: dict[str, Any]) -> UUID:
    """Let a worker take it; return its session."""
    world = World(api.conn)
    world.now = await api.conn.fetchval("select rota.now()")
    world.queue_id = await interning.intern_queue(api.conn, "default")
    world.kind_id = await interning.intern_kind(api.conn, "greet")
    session_id = await world.session()
    claimed = await world.claim(session_id)
    assert UUID(made["run_id"].removeprefix("run_")) in {run.id for run in claimed}
    return session_id


async def end(api: Served, made: dict[str, Any], session_id: UUID) -> None:
    id_ = UUID(made["run_id"].removeprefix("run_"))
    ending = RunEnding(id=id_, attempt=1, state=RunState.SUCCEEDED)
    assert await live_runs.finish_runs(api.conn, session_id=session_id, endings=[ending])


async def finish(api: Served, made: dict[str, Any]) -> None:
    await end(api, made, await start(api, made))

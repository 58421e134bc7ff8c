"""Operations on runs and what is around them, through the API (E10, E11, E13, S12, S13, S15)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.serving import Answer, Served
from tests.support.shop import Shop, until

from rota.core.executor import AttemptContext, Fail, Stream
from rota.engine.submission.backfills.advancer import advance_oldest

FUTURE = "2030-01-01T00:00:00Z"


@asynccontextmanager
async def working(api: Served) -> AsyncIterator[Shop]:
    """A worker with a few handlers."""
    shop = Shop(conn=api.conn, access=api.access)

    @shop.handlers.handler("echo")
    async def echo(context: AttemptContext, payload: Any) -> Any:
        context.write(Stream.STDOUT, b"hello\n")
        return payload

    @shop.handlers.handler("broken")
    async def broken(_context: AttemptContext, _payload: Any) -> None:
        raise Fail("no such customer 42")

    @shop.handlers.handler("ports")
    async def ports(_context: AttemptContext, payload: Any) -> None:
        raise Fail(payload)

    async with shop.worker():
        yield shop


async def ended(api: Served, run_id: str) -> Answer:
    async def look() -> Answer | None:
        answer = await api.platform.get(f"/v1/runs/{run_id}")
        return answer if answer.json["end_time"] else None

    return await until(look)


async def run(api: Served, kind: str, **given: Any) -> str:
    made = await api.platform.post("/v1/jobs", {"kind": kind, **given})
    assert made.status == 201, made.text
    return str(made.json["run_id"])


async def test_a_run_tells_its_result_its_attempts_and_its_output(api: Served) -> None:
    async with working(api):
        run_id = await run(api, "echo", payload={"n": 1})
        done = await ended(api, run_id)
        attempts = (await api.platform.get(f"/v1/runs/{run_id}/attempts")).json["data"]

        async def said() -> list[str]:
            found = await api.platform.get(f"/v1/runs/{run_id}/logs")
            return [line["text"] for line in found.json["data"]]

        lines = await until(said)

    assert (done.json["status"], done.json["result"]) == ("succeeded", {"n": 1})
    assert [(each["attempt_number"], each["outcome"]) for each in attempts] == [(1, "succeeded")]
    assert lines == ["hello\n"]


async def test_the_output_of_a_run_can_be_followed_to_its_end(api: Served) -> None:
    async with working(api):
        run_id = await run(api, "echo")
        headers = {"Authorization": f"Bearer {api.platform.key}"}
        url = f"{api.url}/v1/runs/{run_id}/logs?follow=true"
        async with api.session.get(url, headers=headers) as stream:
            text = (await stream.content.read()).decode()

    assert stream.headers["content-type"].startswith("text/event-stream")
    assert "id: 1.0\nevent: line\n" in text
    assert '"text":"hello\\n"' in text
    assert text.endswith("event: end\ndata: {}\n\n")


async def test_a_waiting_run_explains_itself_and_is_cancelled_at_once(api: Served) -> None:
    run_id = await run(api, "nobody serves this")

    why = (await api.platform.get(f"/v1/runs/{run_id}/explain")).json
    cancelled = await api.platform.post(f"/v1/runs/{run_id}/cancel", {"reason": "not needed"})
    again = await api.platform.post(f"/v1/runs/{run_id}/cancel")

    assert "no live worker" in why["sentence"].lower()
    assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
    assert (again.status, again.json["code"]) == (409, "illegal_move")


async def test_a_dead_letter_is_grouped_retried_replayed_and_dropped(api: Served) -> None:
    async with working(api):
        first = await run(api, "broken")
        second = await run(api, "broken")
        await ended(api, first)
        await ended(api, second)
        groups = (await api.platform.get("/v1/dead-letters/groups")).json["data"]
        retried = await api.platform.post(f"/v1/runs/{first}/retry")
        after = await ended(api, first)
        replayed = await api.platform.post(f"/v1/runs/{second}/replay", {"payload": {"n": 2}})
        await ended(api, replayed.json["run_id"])
    dropped = await api.platform.delete(f"/v1/dead-letters/{first}")
    left = (await api.platform.get("/v1/dead-letters")).json["data"]

    assert {group["message"] for group in groups} == {"no such customer 42"}
    assert (retried.status, after.json["attempt_number"]) == (200, 2)
    assert replayed.status == 201
    assert dropped.status == 204
    assert {each["run_id"] for each in left} == {second, replayed.json["run_id"]}


async def test_a_group_spans_jobs_and_is_read_with_its_sample(api: Served) -> None:
    async with working(api):
        first, second = await run(api, "broken"), await run(api, "broken")
        for run_id in (first, second):
            await ended(api, run_id)
    groups = (await api.platform.get("/v1/dead-letters/groups?kind=broken")).json
    (group,) = groups["data"]
    path = f"/v1/dead-letters/groups/broken/{group['fingerprint']}"
    read = (await api.platform.get(f"{path}?until={groups['until']}")).json
    before = await api.platform.get(f"{path}?until={group['first_seen']}")

    assert (group["count"], group["counts_per_hour"][-1]) == (2, 2)
    assert len(group["counts_per_hour"]) == 24
    assert group["frame"].endswith("broken")
    assert sum(job["count"] for job in group["jobs"]) == 2
    assert read["sample"]["run_id"] == group["sample_run_id"]
    assert group["sample_run_id"] in {first, second}
    assert read["sample"]["reason"]["frame"] == group["frame"]
    assert {name: read[name] for name in group} == group
    assert (before.status, before.json["code"]) == (404, "not_found")


async def test_dead_letters_are_requeued_with_a_changed_payload(api: Served) -> None:
    made = {"name": "ports", "kind": "ports", "schedule_time": FUTURE}
    job_id = (await api.platform.post("/v1/jobs", made)).json["job_id"]
    path, body = f"/v1/jobs/{job_id}/runNow", {"payload": {"port": 80, "host": "a"}}
    async with working(api):
        run_id = (await api.platform.post(path, body)).json["run_id"]
        await ended(api, run_id)
    edit = {"filter": {"kind": "ports"}, "patch": {"port": 81}}
    many = "/v1/dead-letters/edit"

    counted = await api.platform.post(many, {**edit, "dry_run": True})
    token = counted.json["token"]
    without = await api.platform.post(many, {"filter": {"kind": "ports"}, "token": token})
    done = await api.platform.post(many, {**edit, "token": token})
    waiting = (await api.platform.get("/v1/runs?kind=ports&status=queued")).json["data"]
    (new,) = [each["run_id"] for each in waiting if each["trigger"] == "replay"]

    assert (counted.json["matched"], done.json["done"], without.status) == (1, 1, 422)
    assert (await api.platform.get(f"/v1/runs/{new}")).json["payload"] == {"port": 81, "host": "a"}
    assert (await api.platform.get("/v1/dead-letters")).json["data"] == []


async def test_replay_and_drop_mean_exactly_the_group_that_is_shown(api: Served) -> None:
    """O3: of one task and one type of error, but not of every message."""
    job = {"name": "ports", "kind": "ports", "schedule_time": FUTURE}
    made = await api.platform.post("/v1/jobs", job)
    job_id = made.json["job_id"]
    async with working(api):
        for said in ("port 80 is not open", "port 8080 is not open", "no route", "port 1 is shut"):
            made = await api.platform.post(f"/v1/jobs/{job_id}/runNow", {"payload": said})
            await ended(api, made.json["run_id"])
        groups = (await api.platform.get("/v1/dead-letters/groups")).json["data"]
        group = next(each for each in groups if each["message"] == "port 8080 is not open")
        which = {"kind": "ports", "fingerprint": group["fingerprint"]}
        query = "&".join(f"{name}={value}" for name, value in which.items())
        listed = (await api.platform.get(f"/v1/dead-letters?{query}")).json["data"]
        many = "/v1/dead-letters/replay"
        counted = await api.platform.post(many, {"filter": which, "dry_run": True})
        token = counted.json["token"]
        wider = await api.platform.post(many, {"filter": {"job_id": job_id}, "token": token})
        done = await api.platform.post(many, {"filter": which, "token": token})
        for each in listed:
            await ended(api, each["run_id"])
    attempts = {
        each["reason"]["message"]: each["attempt_number"]
        for each in (await api.platform.get(f"/v1/dead-letters?job_id={job_id}")).json["data"]
    }

    assert len(groups) == 3
    assert group["count"] == len(listed) == counted.json["matched"] == done.json["done"] == 2
    assert {each["reason"]["message"] for each in listed} == {
        "port 80 is not open",
        "port 8080 is not open",
    }
    assert (wider.status, wider.json["code"]) == (422, "invalid_input")
    assert attempts == {
        "port 80 is not open": 2,
        "port 8080 is not open": 2,
        "no route": 1,
        "port 1 is shut": 1,
    }


async def test_many_dead_letters_go_again_after_a_dry_run(api: Served) -> None:
    async with working(api):
        for _ in range(3):
            await ended(api, await run(api, "broken"))
        which = {"filter": {"kind": "broken"}}
        counted = await api.platform.post("/v1/dead-letters/replay", {**which, "dry_run": True})
        without = await api.platform.post("/v1/dead-letters/replay", which)
        everything = await api.platform.post(
            "/v1/dead-letters/drop", {"filter": {}, "dry_run": True}
        )
        done = await api.platform.post(
            "/v1/dead-letters/replay", {**which, "token": counted.json["token"]}
        )

    assert counted.json["matched"] == 3
    assert (without.status, everything.status) == (422, 422)
    assert (done.status, done.json["done"]) == (200, 3)


async def test_a_schedule_is_previewed_in_words_with_its_next_times(api: Served) -> None:
    asked = {"schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, "count": 3}

    shown = (await api.platform.post("/v1/schedules/preview", asked)).json

    assert "02:30" in shown["sentence"]
    assert len(shown["upcoming"]) == 3
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 0


async def test_a_range_of_the_past_is_backfilled_once(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "hourly", "cron_expression": "0 * * * *"})
    path = f"/v1/jobs/{made.json['job_id']}/backfills"
    day = {"since": "2026-07-01T00:00:00Z", "until": "2026-07-02T00:00:00Z"}

    dry = await api.platform.post(path, {**day, "dry_run": True})
    done = await api.platform.post(path, day)
    await advance_oldest(api.conn)
    again = await api.platform.post(path, {**day, "dry_run": True})

    assert (dry.status, done.status) == (200, 201)
    assert (dry.json["ticks"], dry.json["missing"], dry.json["new"]) == (24, 24, 24)
    assert (again.json["alive"], again.json["new"]) == (24, 0)
    assert await api.conn.fetchval("select count(*) from rota.live_runs") == 24


async def test_pausing_keeps_who_and_why_and_resuming_goes_on(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "x", "cron_expression": "0 0 1 1 *"})
    path = f"/v1/jobs/{made.json['job_id']}"

    paused = (await api.platform.post(f"{path}/pause", {"reason": "holidays"})).json
    again = await api.platform.post(f"{path}/resume")
    twice = await api.platform.post(f"{path}/resume")

    assert (paused["status"], paused["held"]["reason"]) == ("paused", "holidays")
    assert (again.json["status"], twice.status) == ("active", 409)


async def test_a_paused_queue_starts_nothing(api: Served) -> None:
    await api.platform.post("/v1/queues/default/pause")
    async with working(api):
        run_id = await run(api, "echo")
        why = (await api.platform.get(f"/v1/runs/{run_id}/explain")).json
        await api.platform.post("/v1/queues/default/resume")
        done = await ended(api, run_id)

    assert "paused" in why["sentence"]
    assert done.json["status"] == "succeeded"


async def test_a_paused_queue_knows_who_paused_it_until_it_goes_on(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "x", "cron_expression": "0 0 1 1 *"})
    held = (await api.platform.post(f"/v1/jobs/{made.json['job_id']}/pause")).json["held"]
    who = "select paused_by from rota.queues where name = 'default'"

    await api.platform.post("/v1/queues/default/pause")
    paused_by = await api.conn.fetchval(who)
    await api.platform.post("/v1/queues/default/resume")

    assert paused_by == held["by"]
    assert await api.conn.fetchval(who) is None


async def test_ticks_of_a_paused_queue_are_skipped_or_gathered_and_nothing_else(
    api: Served,
) -> None:
    job = {"name": "x", "schedule_time": FUTURE}

    usual = await api.platform.post("/v1/jobs", job)
    wrong = await api.platform.post("/v1/jobs", job | {"when_queue_paused": "wait"})

    shown = await api.platform.get(f"/v1/jobs/{usual.json['job_id']}")
    assert shown.json["when_queue_paused"] == "skip"
    assert wrong.status == 422
    assert "when_queue_paused" in wrong.text


async def test_a_secret_is_written_and_never_shown(api: Served) -> None:
    first = await api.platform.put("/v1/secrets/token", {"value": "s3cret"})
    second = await api.platform.put("/v1/secrets/token", {"value": "another"})
    listed = await api.platform.get("/v1/secrets")
    kept = await api.conn.fetchval("select ciphertext from rota.secrets")

    assert (first.json["version"], second.json["version"]) == (1, 2)
    assert "s3cret" not in listed.text + first.text
    assert b"another" not in kept


async def test_the_worker_and_what_it_executed_are_listed(api: Served) -> None:
    async with working(api):
        run_id = await run(api, "echo")
        await ended(api, run_id)
        (worker,) = (await api.platform.get("/v1/workers")).json["data"]
        found = await api.platform.get(f"/v1/executions?worker_id={worker['worker_id']}")

    assert "echo" in worker["kinds"]
    assert [each["run_id"] for each in found.json["data"]] == [run_id]


async def test_the_feed_tells_of_a_run_as_it_happens(api: Served) -> None:
    headers = {"Authorization": f"Bearer {api.platform.key}"}
    async with api.session.get(f"{api.url}/v1/feed", headers=headers) as stream:
        await stream.content.readline()
        run_id = await run(api, "echo")
        text = ""
        while run_id not in text:
            text += (await stream.content.readline()).decode()

    assert "event: " in text


async def test_equal_submissions_become_one_run(api: Served) -> None:
    body: dict[str, Any] = {
        "kind": "echo",
        "unique": {"key": "report {args.day}"},
        "payload": {"day": 1},
    }

    first = await api.platform.post("/v1/jobs", body)
    again = await api.platform.post("/v1/jobs", body)
    other = await api.platform.post("/v1/jobs", {**body, "payload": {"day": 2}})
    rejected = await api.platform.post(
        "/v1/jobs", {**body, "unique": {**body["unique"], "on_conflict": "reject"}}
    )

    assert again.json["run_id"] == first.json["run_id"]
    assert (again.json["deduplicated"], other.json["deduplicated"]) == (True, False)
    assert rejected.status == 409

"""Schedules that are legal and expensive to look through."""

import asyncio
from datetime import timedelta
from typing import Any

from tests.attack.attacks import Findings, attack
from tests.attack.target import CLOCK, Target
from tests.support.serving import Answer

DENSE = "0-58 0-58 0-22 * * *"
HOURS = ",".join(map(str, range(24)))
LATER = "2034-05-01T00:00:00Z"
# 503 and 429 are refusals of a busy server; they must come with a time to try again.
ANSWERED = {200, 201, 202, 400, 413, 422, 429, 503}


def dense_calendar(rules: int) -> dict[str, Any]:
    """A calendar that blocks `rules` short windows in each hour of every day."""
    windows = [
        {"rrule": f"FREQ=DAILY;BYHOUR={HOURS};BYMINUTE={minute};BYSECOND=0", "length": "PT1S"}
        for minute in range(rules)
    ]
    return {"recurring": windows}


def blocked_schedule(rules: int) -> dict[str, Any]:
    """A schedule all of whose ticks fall into the windows of such a calendar."""
    return {"cron": f"0 0-{rules - 1} * * * *" if rules > 1 else "0 0 * * * *"}


def expect_answer(findings: Findings, answer: Answer, what: str) -> None:
    findings.expect(answer.status in ANSWERED, f"{what}: answered {answer.status}")


@attack("preview-dense")
async def preview_dense_schedules(target: Target, findings: Findings) -> None:
    """A viewer previews schedules with a tick almost every second."""
    for lines in (1, 6, 30):
        schedule = {"cron": [DENSE] * lines, "timezone": "Europe/Berlin"}
        async with target.watch_bystander(findings, f"{lines} dense lines"):
            answer = await target.intruder.viewer.post(
                "/v1/schedules/preview", {"schedule": schedule, "count": 100}
            )
        expect_answer(findings, answer, f"preview of {lines} lines")


@attack("preview-calendar")
async def preview_through_windows(target: Target, findings: Findings) -> None:
    """A viewer previews schedules that a stored calendar blocks for years."""
    for rules in (1, 3, 6, 15):
        name = f"dense-{rules}"
        stored = await target.intruder.admin.put(
            f"/v1/calendars/{name}", {"calendar": dense_calendar(rules)}
        )
        expect_answer(findings, stored, f"calendar of {24 * rules} windows a day")
        schedule = {**blocked_schedule(rules), "calendars": [name]}
        async with target.watch_bystander(findings, f"{24 * rules} windows a day"):
            answer = await target.intruder.viewer.post(
                "/v1/schedules/preview", {"schedule": schedule, "count": 100}
            )
        expect_answer(findings, answer, f"preview through {24 * rules} windows a day")


@attack("plan-calendars")
async def plan_many_blocked_jobs(target: Target, findings: Findings) -> None:
    """A viewer plans a project whose jobs are blocked for years."""
    for jobs in (1, 4, 1000):
        manifest = {
            "project": "flood",
            "calendars": [{"name": "dense", "calendar": dense_calendar(3)}],
            "jobs": [
                {
                    "name": f"job {number}",
                    "kind": "attack.wait",
                    "schedule": {**blocked_schedule(3), "calendars": ["dense"]},
                }
                for number in range(jobs)
            ],
        }
        async with target.watch_bystander(findings, f"plan of {jobs} jobs"):
            answer = await target.intruder.viewer.post("/v1/manifests/plan", manifest)
        expect_answer(findings, answer, f"plan of {jobs} jobs")


@attack("plan-rrules")
async def plan_heavy_rules(target: Target, findings: Findings) -> None:
    """A viewer plans 1,000 jobs with heavy recurrence rules."""
    minutes = ",".join(map(str, range(60)))
    rules = [f"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR={HOURS};BYMINUTE={minutes}"] * 4
    manifest = {
        "project": "flood",
        "jobs": [
            {"name": f"job {number}", "kind": "attack.wait", "schedule": {"rrule": rules}}
            for number in range(1000)
        ],
    }
    async with target.watch_bystander(findings, "plan of 1,000 rules"):
        answer = await target.intruder.viewer.post("/v1/manifests/plan", manifest)
    expect_answer(findings, answer, "plan of 1,000 rules")


@attack("preview-flood")
async def preview_at_once(target: Target, findings: Findings) -> None:
    """A viewer asks for 50 heavy previews at the same time."""
    body = {"schedule": {"cron": [DENSE] * 30, "timezone": "Europe/Berlin"}, "count": 100}
    async with target.watch_bystander(findings, "50 previews at once"):
        answers = await asyncio.gather(
            *(target.intruder.viewer.post("/v1/schedules/preview", body) for _ in range(50))
        )
    for answer in answers:
        expect_answer(findings, answer, "one of 50 previews")
        if answer.status in (429, 503):
            findings.expect("Retry-After" in answer.headers, "a refusal without Retry-After")


@attack("stored-schedule")
async def store_a_blocked_job(target: Target, findings: Findings) -> None:
    """A stored job whose next tick is years away behind windows is set aside, and others fire."""
    name = "dense-stored"
    calendar = await target.intruder.admin.put(
        f"/v1/calendars/{name}", {"calendar": dense_calendar(15)}
    )
    expect_answer(findings, calendar, "calendar")
    before = await read_shard_owners(target)
    soon = CLOCK.now() + timedelta(seconds=4)
    async with target.watch_bystander(findings, "firing through 360 windows a day"):
        made = await target.intruder.operator.post(
            "/v1/jobs",
            {
                "name": "blocked for years",
                "kind": "attack.wait",
                "payload": {"seconds": 0},
                "schedule": {
                    "at": [soon.isoformat(), LATER],
                    **blocked_schedule(15),
                    "calendars": [name],
                },
            },
        )
        findings.expect(made.status == 201, f"the job was not stored: {made.text}")
        job = await target.wait_for_job(
            target.intruder.viewer, made.json["job_id"], lambda job: job["status"] == "quarantined"
        )
        findings.expect("steps" in str(job["held"]), f"it was not set aside for its steps: {job}")
    findings.expect(await read_shard_owners(target) == before, "shards changed hands")
    victim = await target.submit(target.victim.operator, "attack.wait", {"seconds": 0})
    ended = await target.wait_for_end(target.victim.operator, victim)
    findings.expect(ended["status"] == "succeeded", "a run of another tenant did not end")


async def read_shard_owners(target: Target) -> list[Any]:
    listed = await target.platform.get("/v1/shards")
    return [(each.get("shard"), each.get("epoch")) for each in listed.json["data"]]

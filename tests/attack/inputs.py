"""Values that are wrong in ways that programs forget."""

from typing import Any
from urllib.parse import quote

from tests.attack.attacks import Findings, attack
from tests.attack.target import Target

EDGES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
NAMES = ("\x00", "a\x00b", "%00", "x" * 3000, "\ud7ff", "../..", "")
INVISIBLE = ("\u202e", "\u2066", "\u200b", "\ufeff")


@attack("odd-values")
async def send_odd_values(target: Target, findings: Findings) -> None:
    """Names with NUL, instants at the edge of time and broken cursors are refused, not 500."""
    admin = target.intruder.admin

    async def expect_refused(method: str, path: str, body: Any = None) -> None:
        answer = await admin.call(method, path, body)
        findings.expect(answer.status < 500, f"{method} {path[:120]} answered {answer.status}")

    for name in NAMES:
        for place in ("calendars", "users", "secrets", "queues", "jobs", "runs", "hooks", "events"):
            await expect_refused("GET", f"/v1/{place}/{quote(name, safe='')}")
        await expect_refused("DELETE", f"/v1/calendars/{quote(name, safe='')}")
        await expect_refused("PUT", f"/v1/secrets/{quote(name, safe='')}", {"value": "a"})
    for cursor in ("", "\x00", ".", "1.", ".1", "\x001", "a" * 5000, "eyJ9", "MDAwMA"):
        for place in (
            "jobs",
            "runs",
            "dead-letters",
            "hooks",
            "keys",
            "audit",
            "events",
            "calendars",
            "secrets",
            "backfills",
            "executions",
            "users",
            "tenants",
        ):
            await expect_refused("GET", f"/v1/{place}?cursor={quote(cursor, safe='')}")
    for edge in EDGES:
        for path in ("runs", "audit", "events", "statistics/series", "schedules/load"):
            for field in ("since", "until", "from", "to", "after", "before"):
                await expect_refused("GET", f"/v1/{path}?{field}={quote(edge)}")
        await expect_refused(
            "POST", "/v1/schedules/preview", {"schedule": {"at": [edge], "timezone": "UTC"}}
        )
        await expect_refused("POST", "/v1/jobs", {"kind": "attack.wait", "schedule_time": edge})
        await expect_refused(
            "PUT", "/v1/calendars/edge", {"calendar": {"ranges": [{"start": edge, "end": edge}]}}
        )
    await expect_refused("PUT", "/v1/secrets/nul", {"value": "a\x00b"})


@attack("invisible-names")
async def hide_characters_in_names(target: Target, findings: Findings) -> None:
    """Characters that nobody sees or that turn text around are refused in names."""
    operator, admin = target.intruder.operator, target.intruder.admin
    for character in INVISIBLE:
        name = f"pay{character}roll"
        for answer in (
            await operator.post("/v1/jobs", {"name": name, "kind": "attack.wait"}),
            await operator.post("/v1/jobs", {"name": "a", "kind": name}),
            await operator.post("/v1/jobs", {"name": "a", "kind": "attack.wait", "user_id": name}),
            await admin.post("/v1/keys", {"name": name, "role": "viewer"}),
            await admin.post("/v1/hooks", {"name": name, "type": "a.b"}),
        ):
            findings.expect(answer.status == 422, f"{character!r} was taken: {answer.status}")


@attack("sql-in-values")
async def send_sql_in_values(target: Target, findings: Findings) -> None:
    """SQL in parameters is a value like any other."""
    for text in ("' or 1=1 --", "'; select pg_sleep(5) --", "$1", "%' union select 1 --"):
        for path in ("jobs?name=", "jobs?status=", "runs?kind=", "runs?queue=", "audit?actor="):
            answer = await target.intruder.admin.get(f"/v1/{path}{quote(text)}")
            findings.expect(answer.status in (200, 400, 422), f"{path}{text}: {answer.status}")
            findings.expect("syntax" not in answer.text, f"{path}{text}: a database error shows")

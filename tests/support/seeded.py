"""One installation in which nothing moves: jobs of every sort, runs of every sort, two queues.

Only the API runs, on the real clock, so figures on its pages stay what they are. Everything ended
between 50 and 3 minutes ago or more than 3 hours ago: whichever minute a page begins its hour with,
it means the same runs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from rota.core.ids import build_id
from rota.runtime.clock import SystemClock
from tests.support.serving import Served

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
ENDED: Final = """
insert into rota.runs (
    id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
    queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt, reason
)
select
    $1, j.id, $2, $3, $3, $4, $5, $6, j.tenant_id, j.queue_id, j.kind_id, j.policy_id, j.version,
    $7::rota.run_state, $8::rota.run_state, $9::rota.run_trigger, j.priority, $10, $11
from rota.jobs as j where j.id = $12
"""
LIVE: Final = """
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id, policy_id,
    job_version, state, trigger, priority, guarantee
)
select
    $1, j.id, $2, $2, $2, $2, j.tenant_id, j.queue_id, j.kind_id, j.policy_id, j.version, 'queued',
    'tick', j.priority, j.guarantee
from rota.jobs as j where j.id = $3
"""
CLAIMED: Final = """
update rota.live_runs
set state = 'running', session_id = $2, started_at = $3, attempt = 1
where id = $1
"""
# A run that ended without a start waited until then; a tick that was passed over never was one.
LEFT: Final = {"expired": "queued", "cancelled": "queued"}


@dataclass(kw_only=True)
class Seeded:
    """The jobs by their names; `now` is when it was seeded."""

    api: Served
    now: datetime
    jobs: dict[str, UUID] = field(default_factory=dict)
    worker: UUID = field(default_factory=uuid4)

    async def rows(self, sql: str, *values: Any) -> Sequence[Any]:
        return await self.api.conn.fetch(sql, *values)

    async def value(self, sql: str, *values: Any) -> Any:
        return await self.api.conn.fetchval(sql, *values)

    def path(self, job: str) -> str:
        return f"/jobs/job_{self.jobs[job].hex}"

    async def job(self, name: str, **given: Any) -> None:
        answer = await self.api.platform.post("/v1/jobs", {"name": name, "kind": "noop", **given})
        assert answer.status == 201, answer.text
        self.jobs[name] = UUID(answer.json["job_id"].removeprefix("job_"))

    async def ended(self, job: str, state: str, **given: Any) -> None:
        """A run that ended `ago`, was due `late` before it started, and took `took`."""
        run: dict[str, Any] = {"ago": 10 * MINUTE, "late": 0.05, "took": 1.5, "attempt": 1}
        run |= {"trigger": "tick", "reason": None, "started": True, "waits": None} | given
        end = self.now - run["ago"]
        start = end - timedelta(seconds=run["took"])
        due = start - timedelta(seconds=run["late"])
        # When the row was made: with its tick, or by a backfill long after it.
        made = due if run["waits"] is None else start - timedelta(seconds=run["waits"])
        await self.api.conn.execute(
            ENDED,
            build_id(due, uuid4().bytes[:10]),
            self.worker if run["started"] else None,
            due,
            made,
            start if run["started"] else None,
            end,
            state,
            "running" if run["started"] else LEFT.get(state),
            run["trigger"],
            run["attempt"] if run["started"] else 0,
            None if run["reason"] is None else json.dumps(run["reason"]),
            self.jobs[job],
        )

    async def alive(self, job: str, state: str, *, ago: timedelta) -> None:
        """A run that has waited, or run, for so long; a negative time is still to come."""
        since = self.now - ago
        run_id = build_id(since, uuid4().bytes[:10])
        await self.api.conn.execute(LIVE, run_id, since, self.jobs[job])
        if state == "running":
            await self.api.conn.execute(CLAIMED, run_id, self.worker, since)


async def seed(api: Served) -> Seeded:
    """Fill an empty installation."""
    found = Seeded(api=api, now=SystemClock().now())
    await _jobs(found)
    await _history(found)
    await _present(found)
    return found


async def _jobs(found: Seeded) -> None:
    berlin = {"timezone": "Europe/Berlin"}
    await found.job("hourly", cron_expression="0 * * * *")
    await found.job("nightly", queue="reports", schedule={"cron": "30 2 * * *", **berlin})
    await found.job("quick", schedule={"every": "7s"})
    combined = {"cron": ["0 9 * * *", "30 2 * * *"], "every": "5m", **berlin}
    await found.job("combined", queue="reports", schedule=combined)
    for number in range(20):
        await found.job(f"herd {number}", cron_expression="*/5 * * * *")
    path = f"/v1/jobs/job_{found.jobs['hourly'].hex}"
    edited = await found.api.platform.call("PATCH", path, {"labels": {"team": "web"}})
    assert edited.status == 200, edited.text
    await found.api.platform.post("/v1/queues/reports/pause")


async def _history(found: Seeded) -> None:
    for number in range(30):
        ago = (3 + 1.5 * number) * MINUTE
        await found.ended("hourly", "succeeded", ago=ago, late=0.02 * number, took=1 + number / 10)
        await found.ended("quick", "succeeded", ago=ago + MINUTE / 3, late=0.01)
    for number in range(12):
        error = {"type": "ConnectionError", "message": f"port {8000 + number} is not open"}
        await found.ended("nightly", "dead", ago=(5 + number) * MINUTE, reason=error)
    for number in range(3):
        error = {"type": "ConnectionError", "message": f"no route to host {number}"}
        await found.ended("nightly", "dead", ago=(20 + number) * MINUTE, reason=error)
    for number in range(9):
        # A backfill of last week, replays of yesterday, runs by hand and second attempts: no lag.
        long = {"late": 7 * 86_400 - 600 * number, "waits": 30}
        await found.ended("hourly", "succeeded", trigger="backfill", ago=7 * MINUTE, **long)
        await found.ended("quick", "dead", trigger="replay", late=86_400, ago=8 * MINUTE)
        await found.ended("hourly", "succeeded", trigger="manual", late=40, ago=9 * MINUTE)
        await found.ended("quick", "succeeded", attempt=2, late=900, ago=11 * MINUTE)
    for state in ("skipped", "missed", "expired", "cancelled"):
        why = {"code": "overlap" if state == "skipped" else "outage"}
        await found.ended("combined", state, started=False, reason=why, ago=12 * MINUTE)
    for number in range(20):
        await found.ended("hourly", "succeeded", ago=(4 + number) * HOUR)


async def _present(found: Seeded) -> None:
    conn = found.api.conn
    await conn.execute(
        "insert into rota.sessions (id, role, name, slots, expires_at)"
        " values ($1, 'worker', 'w1', 8, 'infinity'), ($2, 'scheduler', 's1', 0, 'infinity')",
        found.worker,
        scheduler := uuid4(),
    )
    await conn.execute("update rota.shards set owner = $1, expires_at = 'infinity'", scheduler)
    for number in range(4):
        await found.alive("hourly", "queued", ago=(10 + number) * HOUR)
    for number in range(3):
        await found.alive("nightly", "queued", ago=(30 + number) * HOUR)
    await found.alive("hourly", "queued", ago=-24 * HOUR)
    for number in range(2):
        await found.alive("quick", "running", ago=(2 + number) * HOUR + 5 * MINUTE)
    # Two ticks are late; no other comes while somebody looks.
    late = [found.jobs["herd 0"], found.jobs["herd 1"]]
    await conn.execute(
        "update rota.cursors"
        " set fire_at = case when job_id = any($1) then $2::timestamptz else $3 end",
        late,
        found.now - 90 * MINUTE,
        (found.now + 2 * 24 * HOUR).replace(microsecond=0),
    )

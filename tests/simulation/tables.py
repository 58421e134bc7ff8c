"""What is in the tables after a step, read with plain queries of the simulation's own."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.states import CLAIMED_STATES, WAITING_STATES
from rota.store.driver import Connection

# All tables in one question: this is asked after every step. Arrays as text, because the driver
# reads none inside a row, and minus infinity as an early day, because Python has none. A run is
# read alike from both tables; what only one has is null.
EVERYTHING = """
select
    array(
        select row(
            l.id, l.job_id, l.session_id, l.scheduled_at, l.due_at, l.ready_at, l.started_at,
            l.deadline_at, null::timestamptz, l.state::text, l.trigger::text, l.attempt,
            l.failures, l.losses, l.guarantee::text, l.gates::text, null::text, null::text
        )
        from rota.live_runs as l
    ) as alive,
    array(
        select row(
            r.id, r.job_id, r.session_id, r.scheduled_at, r.due_at, null::timestamptz,
            r.started_at, null::timestamptz, r.finished_at, r.state::text, r.trigger::text,
            r.attempt, r.failures, r.losses, null::text, r.gates::text, r.result::text,
            r.reason::text
        )
        from rota.runs as r
    ) as ended,
    array(
        select row(a.run_id, a.attempt, a.session_id, a.outcome, a.reason::text)
        from rota.attempts as a
        order by a.run_id, a.attempt
    ) as attempts,
    array(
        select row(j.id, rota.shown_state(j)::text, c.tick_at, c.fire_at, c.shard)
        from rota.jobs as j
        left join rota.cursors as c on j.id = c.job_id
    ) as jobs,
    array(
        select row(s.id, s.beat_at, greatest(s.expires_at, '0002-01-01'), s.running::text)
        from rota.sessions as s
    ) as sessions,
    array(
        select row(h.id, h.owner, h.epoch, greatest(h.expires_at, '0002-01-01'))
        from rota.shards as h
        where h.owner is not null
    ) as shards,
    array(select row(g.id, g.key, g.in_order) from rota.gates as g) as gates,
    array(select row(w.id, w.shard, w.due_at) from rota.scheduled_runs as w) as submissions
"""
EMPTY = """
truncate
    rota.jobs, rota.cursors, rota.live_runs, rota.runs, rota.attempts, rota.sessions, rota.gates,
    rota.scheduled_runs, rota.job_versions
restart identity;
update rota.queues set paused_at = null, gate_id = null;
update rota.shards set owner = null, epoch = 0, expires_at = '-infinity' where owner is not null;
"""


AGES_AGO = 1000


class Run(NamedTuple):
    id: UUID
    job_id: UUID
    session_id: UUID | None
    scheduled_at: datetime
    due_at: datetime
    ready_at: datetime | None
    started_at: datetime | None
    deadline_at: datetime | None
    finished_at: datetime | None
    state: str
    trigger: str
    attempt: int
    failures: int
    losses: int
    guarantee: str | None
    gates_text: str | None
    result: str | None
    reason: str | None

    @property
    def gates(self) -> list[int]:
        return [int(gate) for gate in (self.gates_text or "{}")[1:-1].split(",") if gate]

    @property
    def is_held(self) -> bool:
        return self.state in CLAIMED_STATES

    @property
    def waits(self) -> bool:
        return self.state in WAITING_STATES

    @property
    def why(self) -> dict[str, Any]:
        return dict(json.loads(self.reason)) if self.reason else {}


class Attempt(NamedTuple):
    run_id: UUID
    attempt: int
    session_id: UUID | None
    outcome: str
    reason: str | None


class Job(NamedTuple):
    """A job and its cursor, if it has one."""

    id: UUID
    state: str
    tick_at: datetime | None
    fire_at: datetime | None
    shard: int | None


class Session(NamedTuple):
    id: UUID
    beat_at: datetime
    expires_at: datetime
    running: str

    @property
    def is_expired(self) -> bool:
        """Marked as dead for ever; not only with a lease that has run out."""
        return self.expires_at.year < AGES_AGO


class Shard(NamedTuple):
    id: int
    owner: UUID
    epoch: int
    expires_at: datetime


class Gate(NamedTuple):
    id: int
    key: str
    in_order: bool


class Submission(NamedTuple):
    """A submission that waits for its instant."""

    id: UUID
    shard: int
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """`now` is the database's clock when this was read."""

    now: datetime
    alive: dict[UUID, Run]
    ended: dict[UUID, Run]
    attempts: dict[UUID, list[Attempt]]
    jobs: dict[UUID, Job]
    sessions: dict[UUID, Session]
    shards: dict[int, Shard]
    gates: dict[int, Gate]
    submissions: dict[UUID, Submission]

    def held(self) -> list[Run]:
        return [run for run in self.alive.values() if run.is_held]

    def of_job(self, job_id: UUID) -> list[Run]:
        runs = (*self.alive.values(), *self.ended.values())
        return [run for run in runs if run.job_id == job_id]

    def is_lost(self, run: Run, *, unknown_for: timedelta) -> bool:
        """Whether the session that holds a run is dead, or alive without knowing of it."""
        session = self.sessions.get(run.session_id) if run.session_id else None
        if session is None or session.expires_at <= self.now:
            return True
        assert run.started_at is not None
        return str(run.id) not in session.running and session.beat_at > run.started_at + unknown_for


async def read(conn: Connection, now: datetime) -> Tables:
    found = await conn.fetchrow(EVERYTHING)
    assert found is not None
    alive, ended, attempts, jobs, sessions, shards, gates, submissions = found
    by_run: dict[UUID, list[Attempt]] = {}
    for row in attempts:
        by_run.setdefault(row[0], []).append(Attempt(*row))
    return Tables(
        now=now,
        alive={row[0]: Run(*row) for row in alive},
        ended={row[0]: Run(*row) for row in ended},
        attempts=by_run,
        jobs={row[0]: Job(*row) for row in jobs},
        sessions={row[0]: Session(*row) for row in sessions},
        shards={row[0]: Shard(*row) for row in shards},
        gates={row[0]: Gate(*row) for row in gates},
        submissions={row[0]: Submission(*row) for row in submissions},
    )

"""The tables as they are at the end, read into a history."""

import json
from datetime import datetime, timedelta

from rota.store.driver import Connection
from tests.chaos.history import History, Row, StepRow, Try

LIVE = """
select id, job_id, state::text, scheduled_at, due_at, attempt, failures, losses, trigger::text,
    null::text, created_at, started_at, null::timestamptz, null::jsonb, true
from rota.live_runs
"""
ENDED = """
select id, job_id, state::text, scheduled_at, due_at, attempt, failures, losses, trigger::text,
    left_state::text, created_at, started_at, finished_at, reason, false
from rota.runs
"""
TRIES = """
select run_id, attempt, outcome, started_at, finished_at, reason from rota.attempts
order by run_id, attempt
"""
STEPS = """
select graph_run_id, step, state::text, created_at, null::timestamptz
from rota.live_runs where graph_run_id is not null
union all
select graph_run_id, step, state::text, created_at, finished_at
from rota.runs where graph_run_id is not null
"""
FIELDS = (
    *("id", "job_id", "state", "scheduled_at", "due_at", "attempt", "failures", "losses"),
    *("trigger", "left_state", "created_at", "started_at", "finished_at"),
)


async def read_tables(conn: Connection, history: History) -> None:
    """Add what the database says. Read in one snapshot: a run must not be seen in two places."""
    await conn.execute("begin isolation level repeatable read read only")
    for *values, reason, is_live in [*await conn.fetch(LIVE), *await conn.fetch(ENDED)]:
        told = json.loads(reason or "{}")
        row = Row(
            **dict(zip(FIELDS, values, strict=True)),
            first=moment(told.get("first")),
            last=moment(told.get("last")),
            is_live=is_live,
        )
        history.rows.append(row)
    for run_id, attempt, outcome, started_at, finished_at, reason in await conn.fetch(TRIES):
        delay = json.loads(reason or "{}").get("delay", 0)
        history.tries.append(
            Try(
                run_id=run_id,
                attempt=attempt,
                outcome=outcome,
                started_at=started_at,
                finished_at=finished_at,
                delay=timedelta(seconds=delay),
            )
        )
    history.steps = [StepRow._make(row) for row in await conn.fetch(STEPS)]
    boards = await conn.fetch("select run_id, board from rota.graph_runs")
    history.boards = {row[0]: row[1] for row in boards}
    states = await conn.fetch("select id, rota.shown_state(j)::text from rota.jobs as j")
    history.job_states = {row[0]: row[1] for row in states}
    cursors = await conn.fetch("select job_id, tick_at from rota.cursors")
    history.cursors = {row[0]: row[1] for row in cursors}
    await conn.execute("commit")


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

"""From rows of the store to the JSON that is shown. Room: api."""

import json
from typing import Any, Final
from uuid import UUID

from rota.api import identifiers
from rota.api.shapes.jobs import JobView, LatestRun, ScheduleType
from rota.api.shapes.pieces import moment, moment_or_none
from rota.api.shapes.runs import RunDetail, RunView
from rota.core.policy import NO_LIMIT
from rota.store.job_views import JobRow
from rota.store.run_views import RunRow

TYPES: Final[dict[str, ScheduleType]] = {
    "immediate": "IMMEDIATE",
    "at": "FUTURE",
    "after": "DELAYED",
    "cron": "CRON",
    "rrule": "RRULE",
    "every": "INTERVAL",
    "fixed_delay": "INTERVAL",
    "event": "EVENT",
    "on_demand": "ON_DEMAND",
}


def job_view(row: JobRow) -> JobView:
    schedule = loaded(row.schedule)
    policy = loaded(row.policy) or {}
    retries = policy.get("retries", {})
    return JobView(
        job_id=identifiers.job(row.id),
        name=row.name,
        kind=row.kind or "",
        schedule_type=schedule_type(schedule),
        cron_expression=_first(schedule, "cron"),
        schedule_time=_first(schedule, "at"),
        schedule=schedule,
        timezone=None if schedule is None else schedule.get("timezone"),
        status=row.state.value,
        payload=loaded(row.payload),
        graph=loaded(row.graph),
        max_retries=retries.get("max", 0),
        retries=retries,
        timeout=_limit(policy.get("timeout")),
        deadline=_limit(policy.get("deadline")),
        grace=policy.get("grace", "PT10S"),
        guarantee=row.guarantee.value,
        target=policy.get("target"),
        queue=row.queue or "",
        priority=row.priority,
        overlap=row.overlap.value,
        keep_first=row.keep_first,
        when_queue_paused=row.when_queue_paused.value,
        limits=loaded(row.limits) or [],
        labels=loaded(row.labels) or {},
        user_id=row.user_id,
        held=loaded(row.held),
        next_run_at=moment_or_none(row.next_fire_at),
        version=row.version,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
    )


def _limit(said: str | None) -> str | None:
    return None if said == NO_LIMIT else said


def schedule_type(schedule: dict[str, Any] | None) -> ScheduleType:
    if schedule is None:
        return "ON_DEMAND"
    found = {name for rule, name in TYPES.items() if rule in schedule}
    return found.pop() if len(found) == 1 else "MIXED"


def run_view(row: RunRow) -> RunView:
    return RunView(**_common(row))


def run_detail(row: RunRow, *, backfill_id: UUID | None = None) -> RunDetail:
    return RunDetail(
        **_common(row),
        payload=loaded(row.payload),
        result=loaded(row.result),
        deadline_at=moment_or_none(row.deadline_at),
        backfill_id=None if backfill_id is None else identifiers.backfill(backfill_id),
    )


def latest_run(row: RunRow) -> LatestRun:
    return LatestRun(
        run_id=identifiers.run(row.id),
        status=row.state.value,
        start_time=moment_or_none(row.started_at),
        modified_time=moment(row.modified_at),
        attempt_number=row.attempt,
        executor_id=_executor(row),
    )


def _common(row: RunRow) -> dict[str, Any]:
    reason = loaded(row.reason)
    return {
        "run_id": identifiers.run(row.id),
        "job_id": identifiers.job(row.job_id),
        "job_name": row.job,
        "status": row.state.value,
        "scheduled_at": moment(row.scheduled_at),
        "due_at": moment(row.due_at),
        "start_time": moment_or_none(row.started_at),
        "end_time": moment_or_none(row.finished_at),
        "modified_time": moment(row.modified_at),
        "created_at": moment(row.created_at),
        "attempt_number": row.attempt,
        "failures": row.failures,
        "executor_id": _executor(row),
        "worker": row.worker,
        "kind": row.kind or "",
        "queue": row.queue or "",
        "priority": row.priority,
        "trigger": row.trigger,
        "error_message": message_of(reason),
        "reason": reason,
        "progress": row.progress,
        "progress_message": row.message,
        "graph_run_id": None if row.graph_run_id is None else identifiers.run(row.graph_run_id),
        "step": row.step,
        "member": row.member,
        "log_url": f"/v1/runs/{identifiers.run(row.id)}/logs",
    }


def _executor(row: RunRow) -> str | None:
    return None if row.session_id is None else identifiers.shown("wrk", row.session_id)


def message_of(reason: Any) -> str | None:
    if not isinstance(reason, dict) or "message" not in reason:
        return None
    return f"{reason.get('type', 'Error')}: {reason['message']}"


def loaded(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _first(schedule: dict[str, Any] | None, rule: str) -> str | None:
    """The only expression of a rule, as the flat field shows it."""
    said = None if schedule is None else schedule.get(rule)
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    return said if isinstance(said, str) else None

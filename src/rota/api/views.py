"""Converts rows of the store to response JSON."""

import json
from typing import Any, Final
from uuid import UUID

import msgspec

from rota.api import identifiers
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.jobs import JobView, LatestRunView, ScheduleType
from rota.api.schemas.runs import RunDetail, RunView, TracebackError
from rota.contract.job_values import build_policy_response, read_row_values
from rota.store.job_views import JobRow
from rota.store.run_views import RunRow

SCHEDULE_TYPES: Final[dict[str, ScheduleType]] = {
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


def build_job_view(row: JobRow) -> JobView:
    values = read_row_values(row) | build_policy_response(load_json(row.policy))
    schedule = values["schedule"] if isinstance(values["schedule"], dict) else None
    return JobView(
        job_id=identifiers.format_job_id(row.id),
        **values | {"guarantee": row.guarantee.value},
        status=row.state.value,
        schedule_type=find_schedule_type(schedule),
        cron_expression=_first(schedule, "cron"),
        schedule_time=_first(schedule, "at"),
        timezone=None if schedule is None else schedule.get("timezone"),
        max_retries=_retries_of(values["retries"]),
        held=load_json(row.held),
        next_run_at=format_optional_time(row.next_fire_at),
        version=row.version,
        created_at=format_time(row.created_at),
        updated_at=format_time(row.updated_at),
    )


def _retries_of(retries: Any) -> int:
    """Return the number of retries; 0 if only newer code can interpret them."""
    max_retries = retries.get("max") if isinstance(retries, dict) else None
    return max_retries if isinstance(max_retries, int) else 0


def find_schedule_type(schedule: dict[str, Any] | None) -> ScheduleType:
    if schedule is None:
        return "ON_DEMAND"
    types = {name for rule, name in SCHEDULE_TYPES.items() if rule in schedule}
    return types.pop() if len(types) == 1 else "MIXED"


def build_run_view(row: RunRow) -> RunView:
    return RunView(**_common(row))


def build_run_detail(row: RunRow, *, backfill_id: UUID | None = None) -> RunDetail:
    return RunDetail(
        **_common(row),
        payload=load_json(row.payload),
        user_id=row.user_id,
        submitter=row.submitter,
        address=row.address,
        result=load_json(row.result),
        deadline_at=format_optional_time(row.deadline_at),
        backfill_id=None if backfill_id is None else identifiers.format_backfill_id(backfill_id),
        traceback=split_reason(row.reason)[1],
    )


def build_latest_run(row: RunRow) -> LatestRunView:
    return LatestRunView(
        run_id=identifiers.format_run_id(row.id),
        status=row.state.value,
        start_time=format_optional_time(row.started_at),
        modified_time=format_time(row.modified_at),
        attempt_number=row.attempt,
        executor_id=_executor(row),
    )


def _common(row: RunRow) -> dict[str, Any]:
    reason, _ = split_reason(row.reason)
    return {
        "run_id": identifiers.format_run_id(row.id),
        "job_id": identifiers.format_job_id(row.job_id),
        "job_name": row.job,
        "job_version": row.job_version,
        "status": row.state.value,
        "scheduled_at": format_time(row.scheduled_at),
        "due_at": format_time(row.due_at),
        "start_time": format_optional_time(row.started_at),
        "end_time": format_optional_time(row.finished_at),
        "modified_time": format_time(row.modified_at),
        "created_at": format_time(row.created_at),
        "attempt_number": row.attempt,
        "failures": row.failures,
        "executor_id": _executor(row),
        "worker": row.worker,
        "kind": row.kind or "",
        "queue": row.queue or "",
        "priority": row.priority,
        "trigger": row.trigger,
        "error_message": format_message(reason),
        "reason": reason,
        "progress": row.progress,
        "progress_message": row.message,
        "labels": load_json(row.labels),
        "graph_run_id": None
        if row.graph_run_id is None
        else identifiers.format_run_id(row.graph_run_id),
        "step": row.step,
        "member": row.member,
        "log_url": f"/v1/runs/{identifiers.format_run_id(row.id)}/logs",
    }


def _executor(row: RunRow) -> str | None:
    return None if row.session_id is None else identifiers.format_id("wrk", row.session_id)


def split_reason(text: str | None) -> tuple[Any, list[TracebackError] | None]:
    """Split a stored reason and its traceback; drop a traceback that only newer code can read."""
    reason = load_json(text)
    if not isinstance(reason, dict) or "traceback" not in reason:
        return reason, None
    traceback = reason.pop("traceback")
    try:
        return reason, msgspec.convert(traceback, list[TracebackError])
    except msgspec.ValidationError:
        return reason, None


def format_message(reason: Any) -> str | None:
    if not isinstance(reason, dict) or "message" not in reason:
        return None
    return f"{reason.get('type', 'Error')}: {reason['message']}"


def load_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _first(schedule: dict[str, Any] | None, rule: str) -> str | None:
    """Return the single expression of a rule, for the flat field."""
    expression = None if schedule is None else schedule.get(rule)
    if isinstance(expression, list) and len(expression) == 1:
        expression = expression[0]
    return expression if isinstance(expression, str) else None

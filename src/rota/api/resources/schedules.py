"""Operations that preview schedules and create backfills of past ticks."""

from typing import Any

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import parse_instant, read_job_row, write_audit_entry
from rota.api.schemas.backfills import BackfillEstimate, BackfillPlan
from rota.api.schemas.field_types import format_time
from rota.api.schemas.schedules import PreviewDraft, PreviewView, UpcomingView, WarningView
from rota.contract.schedule import read_schedule, write_schedule
from rota.core.access import Permission
from rota.core.backfills import BackfillOrder, BackfillSelection
from rota.core.errors import InvalidInput
from rota.core.lanes import parse_priority
from rota.core.submissions import prefix_errors
from rota.core.time import durations, preview, zones
from rota.core.time.budget import PREVIEW_STEPS_MAX, Check, SearchBudget
from rota.core.time.preview import SchedulePreview
from rota.engine.submission.backfills.requests import (
    DEFAULT_PRIORITY,
    BackfillAnswer,
    BackfillRequest,
    start_backfill,
)
from rota.store import calendars


@operation(
    "POST",
    "/v1/schedules/preview",
    tag="schedules",
    permission=Permission.READ,
    # It computes outside its transaction.
    scope="none",
    body=PreviewDraft,
    answer=PreviewView,
    problems=("invalid_schedule",),
    example={"schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, "count": 5},
)
async def preview_schedule(call: Call) -> Reply:
    """Preview a schedule: its description, its next times and the effects of daylight saving."""
    draft: PreviewDraft = call.body
    async with call.open_tenant_transaction():
        known = await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)
    now = call.now

    def compute(check: Check) -> PreviewView:
        with prefix_errors("schedule"):
            schedule = read_schedule(draft.schedule, now=now, seed="preview")
        shown = preview.preview_schedule(
            schedule,
            now,
            count=draft.count,
            calendars=known,
            viewer=draft.viewer,
            budget=SearchBudget(PREVIEW_STEPS_MAX, check=check),
        )
        return build_preview_view(shown, write_schedule(schedule))

    return Reply(await call.compute(compute))


def build_preview_view(shown: SchedulePreview, schedule: dict[str, Any]) -> PreviewView:
    return PreviewView(
        sentence=shown.sentence,
        follows=shown.follows.value,
        timezone=shown.timezone,
        tzdata=shown.tzdata,
        schedule=schedule,
        upcoming=[
            UpcomingView(
                at=format_time(tick.at),
                due_at=format_time(tick.due_at),
                local=zones.format_local_time(tick.at, shown.timezone),
                viewed=tick.viewer_local.isoformat(),
                notes=list(tick.notes),
            )
            for tick in shown.upcoming
        ],
        warnings=[
            WarningView(code=warning.concern.value, detail=warning.detail)
            for warning in shown.warnings
        ],
    )


@operation(
    "POST",
    "/v1/jobs/{job_id}/backfills",
    tag="jobs",
    permission=Permission.OPERATE,
    body=BackfillPlan,
    answer=BackfillEstimate,
    status=201,
    other_statuses=(200,),
    problems=("invalid_schedule", "conflict"),
    example={"since": "2026-07-01T00:00:00Z", "until": "2026-07-02T00:00:00Z", "dry_run": True},
)
async def create_backfill(call: Call) -> Reply:
    """Create a backfill of a past range of any length (201), or count its ticks (200).

    A background service creates the runs step by step; `GET /v1/backfills/{backfill_id}` shows the
    progress. A job has one backfill at a time.
    """
    row = await read_job_row(call)
    plan: BackfillPlan = call.body
    since, until = parse_instant(plan.since, "since"), parse_instant(plan.until, "until")
    if since is None or until is None:
        raise InvalidInput("since", plan.since, "expected a time in both `since` and `until`")
    result = await start_backfill(
        call.conn,
        BackfillRequest(
            since=since,
            until=until,
            only=BackfillSelection(plan.only),
            order=BackfillOrder(plan.order),
            at_once=plan.at_once,
            priority=DEFAULT_PRIORITY if plan.priority is None else parse_priority(plan.priority),
            payload=plan.payload,
        ),
        tenant_id=call.tenant_id,
        job_id=row.id,
        by=call.actor,
        now=call.now,
        new_id=call.service.new_id,
        calendars=await calendars.read_calendars(call.conn, tenant_id=call.tenant_id),
        dry_run=plan.dry_run,
    )
    if result.backfill_id is not None:
        details = {"since": plan.since, "until": plan.until, "only": plan.only, "job": row.name}
        shown = identifiers.format_backfill_id(result.backfill_id)
        await write_audit_entry(call, "backfill.create", "backfill", shown, details)
    return Reply(build_backfill_counts(result), 200 if plan.dry_run else 201)


def build_backfill_counts(result: BackfillAnswer) -> BackfillEstimate:
    counted, id_ = result
    return BackfillEstimate(
        backfill_id=None if id_ is None else identifiers.format_backfill_id(id_),
        ticks=counted.ticks,
        ran=counted.ran,
        alive=counted.alive,
        failed=counted.failed,
        missing=counted.missing,
        new=counted.new,
        undecided=counted.undecided,
        estimated=counted.is_guess,
        takes=None if counted.takes is None else durations.to_iso(counted.takes),
    )

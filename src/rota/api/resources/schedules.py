"""Schedules before they are saved, and ticks of the past. Room: api/resources."""

from typing import Any

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.shared import audited, instant, job_row
from rota.api.shapes.pieces import moment
from rota.api.shapes.schedules import (
    BackfillDraft,
    BackfillView,
    PreviewDraft,
    PreviewView,
    UpcomingView,
    WarningView,
)
from rota.core.access import Permission
from rota.core.errors import InvalidInput
from rota.core.priority import parse_priority
from rota.core.submission import within
from rota.core.time import plain
from rota.core.time.preview import Preview, preview
from rota.flow.submit import backfilling
from rota.flow.submit.backfilling import LOW, Only, Range
from rota.store import calendars, hints


@operation(
    "POST",
    "/v1/schedules/preview",
    tag="schedules",
    permission=Permission.READ,
    body=PreviewDraft,
    answer=PreviewView,
    problems=("invalid_schedule",),
    example={"schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, "count": 5},
)
async def preview_schedule(call: Call) -> Reply:
    """What a schedule will do: in words, its next times, and what daylight saving does to them."""
    draft: PreviewDraft = call.body
    known = await calendars.read_all(call.conn, tenant_id=call.tenant_id)
    with within("schedule"):
        schedule = plain.parse(draft.schedule, now=call.now, seed="preview")
    shown = preview(schedule, call.now, count=draft.count, calendars=known, viewer=draft.viewer)
    return Reply(preview_view(shown, plain.to_plain(schedule)))


def preview_view(shown: Preview, schedule: dict[str, Any]) -> PreviewView:
    return PreviewView(
        sentence=shown.sentence,
        follows=shown.follows.value,
        timezone=shown.timezone,
        tzdata=shown.tzdata,
        schedule=schedule,
        upcoming=[
            UpcomingView(
                at=moment(each.at),
                due_at=moment(each.due_at),
                local=each.local.isoformat(),
                viewed=each.viewed.isoformat(),
                notes=list(each.notes),
            )
            for each in shown.upcoming
        ],
        warnings=[
            WarningView(code=each.concern.value, detail=each.detail) for each in shown.warnings
        ],
    )


@operation(
    "POST",
    "/v1/jobs/{job_id}/backfill",
    tag="jobs",
    permission=Permission.OPERATE,
    body=BackfillDraft,
    answer=BackfillView,
    problems=("illegal_move", "invalid_schedule", "conflict"),
    example={"since": "2026-07-01T00:00:00Z", "until": "2026-07-02T00:00:00Z", "dry_run": True},
)
async def backfill_job(call: Call) -> Reply:
    """Make runs for ticks of a past range; a dry run tells how many there would be."""
    row = await job_row(call)
    draft: BackfillDraft = call.body
    since, until = instant(draft.since, "since"), instant(draft.until, "until")
    if since is None or until is None:
        raise InvalidInput("since", draft.since, "a time, and one in `until`")
    known = await calendars.read_all(call.conn, tenant_id=call.tenant_id)
    done = await backfilling.backfill(
        call.conn,
        Range(
            since=since,
            until=until,
            only=Only(draft.only),
            priority=LOW if draft.priority is None else parse_priority(draft.priority),
            at_once=draft.at_once,
            name=draft.name,
        ),
        tenant_id=call.tenant_id,
        job_id=row.id,
        now=call.now,
        dry_run=draft.dry_run,
        calendars=known,
    )
    if not draft.dry_run:
        told = {"since": draft.since, "until": draft.until, "new": done.new}
        await audited(call, "job.backfill", "job", identifiers.job(row.id), told)
        call.hints.add(hints.RUNS)
    counts = {key: value for key, value in done._asdict().items() if key != "run_ids"}
    return Reply(BackfillView(**counts, run_ids=[identifiers.run(each) for each in done.run_ids]))

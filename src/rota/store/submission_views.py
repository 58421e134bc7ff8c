"""Reads one-time submissions as the API shows them: one, or a page of matches.

Reads only. A submission is a run without a job (docs/adr/0044-submissions.md). It waits in
rota.scheduled_runs until it is due, then moves to rota.live_runs and finally to rota.runs. The API
shows it as a job that runs once, so the rows are those of job_views.py. A scan reads a bounded
number of rows, so a page may be short and still have a next page.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.states import JobState
from rota.core.time import durations, moments
from rota.store.driver import Connection
from rota.store.job_views import (
    FIRST_TIME,
    LAST_TIME,
    JobActivity,
    JobFilter,
    JobRow,
    name_pattern,
)
from rota.store.ordered_scan import SCAN_ROWS_MAX, ordered_scan
from rota.store.run_views import (
    FIND_NAME_IDS,
    FIRST_ID,
    LAST_ID,
    ScannedRun,
    check_page_limit,
    first_id_from,
)
from rota.store.statement import statement

# A run that is due this soon after the request counts as immediate.
IMMEDIATE_MAX_DELAY: Final = timedelta(seconds=1)
# There is only one version: a submission that has started cannot be changed.
SUBMISSION_VERSION: Final = 1


class SubmissionRow(NamedTuple):
    """A submission as it is stored; JSON as text. `state` is None before it becomes a run."""

    job_id: UUID
    run_id: UUID
    state: str | None
    name: str
    kind: str | None
    queue: str | None
    priority: int
    guarantee: Guarantee
    due_at: datetime
    created_at: datetime
    updated_at: datetime
    payload: str | None
    labels: str
    policy: str | None
    user_id: str | None
    gates: list[int] | None


class SubmissionRunId(NamedTuple):
    id: UUID


class GateLimit(NamedTuple):
    id: int
    key: str
    most: int | None
    rate_count: int | None
    rate_per: timedelta | None
    rate_burst: int | None


class SubmissionPage(NamedTuple):
    """Submissions, latest due time first, and the run id of the next page; None on the last
    page.
    """

    rows: list[JobRow]
    after: UUID | None


READ = statement("submission_views/read", SubmissionRow)
FIND = statement("submission_views/find", SubmissionRunId)
LIMITS = statement("submission_views/limits", GateLimit)
SCAN = statement("submission_views/scan", ScannedRun)
SCAN_USER = statement("submission_views/scan_user", ScannedRun)


async def get_submission(conn: Connection, *, tenant_id: int, job_id: UUID) -> JobRow | None:
    """Return the submission with this id, until retention removes its runs."""
    rows = await READ.all(conn, tenant_id=tenant_id, ids=[job_id])
    rows = [row for row in rows if row.job_id == job_id]
    if not rows:
        found = await FIND.one(conn, tenant_id=tenant_id, job_id=job_id)
        if found is not None:
            rows = await READ.all(conn, tenant_id=tenant_id, ids=[found.id])
    shown = await _show(conn, rows[:1])
    return shown[0] if shown else None


async def list_submissions(
    conn: Connection,
    *,
    tenant_id: int,
    filter: JobFilter,  # noqa: A002 — the word of the API
    after: UUID | None = None,
    limit: int = 50,
) -> SubmissionPage:
    """Return matching submissions, latest due time first, after the run with the id `after`."""
    check_page_limit(limit)
    conditions = await _conditions(conn, filter, after)
    if conditions is None:
        return SubmissionPage([], None)
    walk, more = SCAN, {}
    if filter.user_id is not None:
        walk, more = SCAN_USER, {"user_id": filter.user_id}
    async with ordered_scan(conn):
        found = await walk.all(
            conn, tenant_id=tenant_id, most=limit + 1, look=SCAN_ROWS_MAX, **conditions, **more
        )
    ids, following = _split_page(found, limit=limit)
    if following is not None and following <= conditions["from_id"]:
        following = None
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids)
    return SubmissionPage(await _show(conn, rows), following)


async def _conditions(
    conn: Connection, chosen: JobFilter, after: UUID | None
) -> dict[str, Any] | None:
    """Return the filter as parameters of the scans; None if nothing can match."""
    names = await FIND_NAME_IDS.one(conn, queue=chosen.queue, kind=chosen.kind)
    queue_id, kind_id = (None, None) if names is None else names
    if (chosen.queue is not None and queue_id is None) or (
        chosen.kind is not None and kind_id is None
    ):
        return None
    places = _places(chosen)
    if not any(places.values()):
        return None
    key, value = chosen.label or (None, None)
    return places | {
        "kind_id": kind_id,
        "queue_id": queue_id,
        "label_key": key,
        "label_value": value,
        "pattern": name_pattern(chosen.q),
        "before_id": after or LAST_ID,
        # A submission is never due before it was created, and its id begins with its due time.
        "from_id": first_id_from(chosen.created_after) if chosen.created_after else FIRST_ID,
        "from_at": chosen.created_after or FIRST_TIME,
        "until_at": chosen.created_before or LAST_TIME,
    }


def _places(chosen: JobFilter) -> dict[str, bool]:
    """Return the tables that can hold submissions in the requested states."""
    is_unfiltered = not chosen.states and not chosen.doing
    includes_runs = is_unfiltered or JobState.FINISHED in chosen.states
    return {
        "scheduled": is_unfiltered
        or JobState.ACTIVE in chosen.states
        or JobActivity.PENDING in chosen.doing,
        "waiting": includes_runs or JobActivity.PENDING in chosen.doing,
        "held": includes_runs or JobActivity.RUNNING in chosen.doing,
        "ended": includes_runs,
    }


def _split_page(found: Sequence[ScannedRun], *, limit: int) -> tuple[list[UUID], UUID | None]:
    """Return the ids of a page and where the next one starts: after its last id, or where the first
    of the scans ended. Ids beyond that point belong to a later page.
    """
    horizon = max((row.id for row in found if not row.fits), default=None)
    ids = sorted({row.id for row in found if row.fits}, reverse=True)
    if horizon is not None:
        ids = [id_ for id_ in ids if id_ >= horizon]
    if len(ids) > limit:
        return ids[:limit], ids[limit - 1]
    return ids, horizon


async def _show(conn: Connection, rows: Sequence[SubmissionRow]) -> list[JobRow]:
    wanted = {gate for row in rows for gate in row.gates or ()}
    limits: dict[int, dict[str, Any]] = {}
    if wanted:
        read = await LIMITS.all(conn, ids=sorted(wanted))
        limits = {row.id: _limit(row) for row in read}
    return [_as_job(row, limits) for row in rows]


def _limit(row: GateLimit) -> dict[str, Any]:
    rate = None
    if row.rate_count is not None and row.rate_per is not None:
        per = durations.to_iso(row.rate_per)
        rate = {"count": row.rate_count, "per": per, "burst": row.rate_burst}
    return {"key": row.key, "max": row.most, "rate": rate}


def _as_job(row: SubmissionRow, limits: dict[int, dict[str, Any]]) -> JobRow:
    """Convert a submission to a job that runs once."""
    is_made = row.state is not None
    passed = [limits[gate] for gate in row.gates or () if gate in limits]
    return JobRow(
        id=row.job_id,
        name=row.name,
        state=JobState.FINISHED if is_made else JobState.ACTIVE,
        version=SUBMISSION_VERSION,
        kind=row.kind,
        queue=row.queue,
        priority=row.priority,
        overlap=Overlap.SKIP,
        keep_first=False,
        when_queue_paused=WhenQueuePaused.SKIP,
        guarantee=row.guarantee,
        schedule=json.dumps(_schedule(row)),
        payload=row.payload,
        labels=row.labels,
        limits=json.dumps(passed) if passed else None,
        policy=row.policy,
        user_id=row.user_id,
        held=None,
        created_at=row.created_at,
        updated_at=row.updated_at,
        next_tick_at=None if is_made else row.due_at,
        next_fire_at=None if is_made else row.due_at,
        run_id=row.run_id,
    )


def _schedule(row: SubmissionRow) -> dict[str, object]:
    if row.state is not None and row.due_at - row.created_at < IMMEDIATE_MAX_DELAY:
        return {"immediate": True, "timezone": "UTC"}
    return {"at": moments.to_rfc3339(row.due_at), "timezone": "UTC"}

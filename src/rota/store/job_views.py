"""Reads the jobs of a tenant as the API shows them: one, or a page of matches.

Reads only. A scan finds the ids, newest first, along an index in the same order; then the rows are
read by id. A scan reads a bounded number of jobs, so a page may be short and still have a next
page: only `after is None` marks the last page. jobs.py changes jobs.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.states import JobState
from rota.store.driver import Connection
from rota.store.ordered_scan import SCAN_ROWS_MAX, ordered_scan
from rota.store.run_views import FIND_NAME_IDS, LAST_ID, check_filter_text, check_page_limit
from rota.store.statement import Statement, statement

FIRST_TIME: Final = datetime(1, 1, 2, tzinfo=UTC)
LAST_TIME: Final = datetime(9999, 12, 30, tzinfo=UTC)
# For the chart of the upcoming load.
SCHEDULES_MAX: Final = 10_000
# How many jobs one count reads: some 50 ms.
COUNTED_JOBS_MAX: Final = 10_000


class JobRow(NamedTuple):
    """A job as the API shows it; JSON as text. `next_tick_at` is None without a future tick, and
    `next_fire_at` is None while the job is held. `run_id` is the run of a one-time submission
    (submission_views.py).
    """

    id: UUID
    name: str
    state: JobState
    version: int
    kind: str | None
    queue: str | None
    priority: int
    overlap: Overlap
    keep_first: bool
    when_queue_paused: WhenQueuePaused
    guarantee: Guarantee
    schedule: str | None
    payload: str | None
    labels: str
    limits: str | None
    policy: str | None
    user_id: str | None
    held: str | None
    created_at: datetime
    updated_at: datetime
    next_tick_at: datetime | None
    next_fire_at: datetime | None
    graph: str | None = None
    run_id: UUID | None = None
    description: str | None = None
    # JSON.
    expect: str | None = None
    alert: str | None = None


class JobPagePosition(NamedTuple):
    """The position at which a page ended."""

    created_at: datetime
    id: UUID


class JobPage(NamedTuple):
    """Jobs, newest first, and the position of the next page; None on the last page."""

    rows: list[JobRow]
    after: JobPagePosition | None


class ScannedJob(NamedTuple):
    """A matching job, or how far the scan read."""

    id: UUID
    created_at: datetime
    fits: bool


class FoundJobId(NamedTuple):
    id: UUID


class JobActivity(StrEnum):
    """The activity of a job, in addition to its state."""

    # It has a future tick, or a run that waits.
    PENDING = "pending"
    # A worker executes a run of it.
    RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Selects jobs to list; fields that are not set do not restrict the list.

    A job matches if it has one of the states or one of the activities; without either, all match
    except deleted ones. `q` is part of the name, case-insensitive. `created_after` is inclusive,
    `created_before` exclusive.
    """

    states: frozenset[JobState] = frozenset()
    doing: frozenset[JobActivity] = frozenset()
    user_id: str | None = None
    kind: str | None = None
    queue: str | None = None
    label: tuple[str, str] | None = None
    q: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    # True: only jobs that run once. False: only the others. None: both.
    is_one_time: bool | None = None

    def __post_init__(self) -> None:
        for field in ("user_id", "kind", "queue", "q"):
            check_filter_text(field, getattr(self, field))
        for text in self.label or ():
            check_filter_text("label", text)


class ScheduledJob(NamedTuple):
    """A job with future ticks; its schedule as JSON text. `fired` is set only if the number of
    ticks is limited; `tick_at` is the first undecided tick.
    """

    job_id: UUID
    job: str
    schedule: str
    fired: int | None
    tick_at: datetime


class JobCount(NamedTuple):
    """How many jobs are in a state, and when the next of them fires."""

    state: JobState
    number: int
    next_at: datetime | None


SCAN = statement("job_views/scan", ScannedJob)
SCAN_USER = statement("job_views/scan_user", ScannedJob)
SCAN_RUNNING = statement("job_views/scan_running", ScannedJob)
READ = statement("job_views/read", JobRow)
FIND = statement("job_views/find", FoundJobId)
SCHEDULES = statement("job_views/schedules", ScheduledJob)
COUNT_JOBS = statement("job_views/count", JobCount)


async def get_job(conn: Connection, *, tenant_id: int, job_id: UUID) -> JobRow | None:
    """Return a job by id, unless it is deleted."""
    row = await READ.one(conn, tenant_id=tenant_id, ids=[job_id], with_graph=True)
    return None if row is None or row.state is JobState.DELETED else row


async def get_job_by_name(conn: Connection, *, tenant_id: int, name: str) -> JobRow | None:
    """Return the job that currently has this name."""
    check_filter_text("name", name)
    found = await FIND.one(conn, tenant_id=tenant_id, name=name)
    return None if found is None else await get_job(conn, tenant_id=tenant_id, job_id=found.id)


async def list_jobs(
    conn: Connection,
    *,
    tenant_id: int,
    filter: JobFilter,  # noqa: A002 — the word of the API
    after: JobPagePosition | None = None,
    limit: int = 50,
) -> JobPage:
    """Return matching jobs, newest first, after a position."""
    check_page_limit(limit)
    names = await FIND_NAME_IDS.one(conn, queue=filter.queue, kind=filter.kind)
    if names is None or _is_unknown(filter, names.queue_id, names.kind_id):
        return JobPage([], None)
    walk, more = _choose_scan(filter)
    async with ordered_scan(conn):
        found = await walk.all(
            conn,
            tenant_id=tenant_id,
            queue_id=names.queue_id,
            kind_id=names.kind_id,
            most=limit + 1,
            **_conditions(filter, after),
            **more,
        )
    ids, following = _split_page(found, limit=limit)
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids, with_graph=False)
    return JobPage(rows, following)


async def read_schedules(conn: Connection, *, tenant_id: int) -> list[ScheduledJob]:
    """Return at most `SCHEDULES_MAX` schedules plus one, which shows that there are more."""
    return await SCHEDULES.all(conn, tenant_id=tenant_id, most=SCHEDULES_MAX + 1)


async def count_jobs(
    conn: Connection, *, tenant_id: int, limit: int = COUNTED_JOBS_MAX
) -> list[JobCount]:
    """Count the tenant's jobs by state; if there are more than `limit`, only the newest."""
    return await COUNT_JOBS.all(conn, tenant_id=tenant_id, most=limit)


def _is_unknown(chosen: JobFilter, queue_id: int | None, kind_id: int | None) -> bool:
    """Return whether nothing can match, because the queue or kind does not exist."""
    return (chosen.queue is not None and queue_id is None) or (
        chosen.kind is not None and kind_id is None
    )


def _choose_scan(chosen: JobFilter) -> tuple[Statement[ScannedJob], dict[str, Any]]:
    """Return the fastest scan for this filter, and the parameters that only it takes."""
    if chosen.doing == {JobActivity.RUNNING} and not chosen.states:
        return SCAN_RUNNING, {"user_id": chosen.user_id}
    more: dict[str, Any] = {
        "states": sorted(chosen.states) or None,
        "pending": JobActivity.PENDING in chosen.doing,
        "running": JobActivity.RUNNING in chosen.doing,
        "look": SCAN_ROWS_MAX,
    }
    if chosen.user_id is None:
        return SCAN, more
    return SCAN_USER, more | {"user_id": chosen.user_id}


def _conditions(chosen: JobFilter, after: JobPagePosition | None) -> dict[str, Any]:
    """Return the filter as parameters of all scans."""
    before = after or JobPagePosition(LAST_TIME, LAST_ID)
    if chosen.created_before is not None:
        # No id is smaller than this, so the time itself is excluded.
        before = min(before, JobPagePosition(chosen.created_before, UUID(int=0)))
    key, value = chosen.label or (None, None)
    return {
        "label_key": key,
        "label_value": value,
        "pattern": name_pattern(chosen.q),
        "is_one_time": chosen.is_one_time,
        "before_at": before.created_at,
        "before_id": before.id,
        "from_at": chosen.created_after or FIRST_TIME,
    }


def name_pattern(part: str | None) -> str | None:
    """Return a pattern that matches names containing this text literally; None matches all."""
    if part is None:
        return None
    literal = part.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{literal}%"


def _split_page(
    found: list[ScannedJob], *, limit: int
) -> tuple[list[UUID], JobPagePosition | None]:
    """Return the ids of a page and where the next one starts: after its last job, or where the scan
    ended.
    """
    fitting = [row for row in found if row.fits]
    if len(fitting) > limit:
        last = fitting[limit - 1]
        return [row.id for row in fitting[:limit]], JobPagePosition(last.created_at, last.id)
    horizon = next((JobPagePosition(row.created_at, row.id) for row in found if not row.fits), None)
    return [row.id for row in fitting], horizon

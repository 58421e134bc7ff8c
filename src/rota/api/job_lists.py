"""Lists jobs: definitions, one-time submissions, or both merged.

Definitions are sorted by creation time, submissions by due time; a page of both merges the two by
these times. A cursor stores a position in each list, so new entries do not shift others to another
page.
"""

from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

from rota.api import identifiers
from rota.api.problems import ProblemError
from rota.api.schemas.field_types import format_time
from rota.api.schemas.job_queries import JobType
from rota.core.errors import RotaError
from rota.core.ids import read_id_time
from rota.core.time import moments
from rota.store import job_views, submission_views
from rota.store.driver import Connection
from rota.store.job_views import JobFilter, JobPagePosition, JobRow

# Cursor markers of a list that is exhausted, and of one that is not started.
EXHAUSTED: Final = "-"
NOT_STARTED: Final = "+"
# Parts of a cursor.
CURSOR_PARTS: Final = 3


class JobListPosition(NamedTuple):
    """The position after a page in each of the two lists; None at the start."""

    jobs: JobPagePosition | None = None
    submissions: UUID | None = None
    jobs_done: bool = False
    submissions_done: bool = False

    @property
    def is_end(self) -> bool:
        return self.jobs_done and self.submissions_done


class JobListPage(NamedTuple):
    rows: list[JobRow]
    after: JobListPosition | None


async def read_job_page(
    conn: Connection,
    *,
    tenant_id: int,
    filter: JobFilter,  # noqa: A002 — the word of the API
    job_type: JobType,
    after: JobListPosition | None = None,
    limit: int = 50,
) -> JobListPage:
    """Read a page of jobs of this type."""
    place = after or JobListPosition(submissions_done=job_type == "definition")
    jobs, submissions = job_views.JobPage([], None), submission_views.SubmissionPage([], None)
    if not place.jobs_done:
        is_one_time = None if job_type == "all" else job_type == "one_time"
        chosen = replace(filter, is_one_time=is_one_time)
        jobs = await job_views.list_jobs(
            conn, tenant_id=tenant_id, filter=chosen, after=place.jobs, limit=limit
        )
    if not place.submissions_done:
        submissions = await submission_views.list_submissions(
            conn, tenant_id=tenant_id, filter=filter, after=place.submissions, limit=limit
        )
    return _merge(jobs, submissions, place, limit)


def _merge(
    jobs: job_views.JobPage,
    submissions: submission_views.SubmissionPage,
    place: JobListPosition,
    limit: int,
) -> JobListPage:
    """Merge the newest of both lists, down to the time that both pages cover."""
    rows = [(row.created_at, row.id, row) for row in jobs.rows]
    rows += [(read_id_time(_run_id(row)), _run_id(row), row) for row in submissions.rows]
    rows.sort(key=lambda entry: entry[:2], reverse=True)
    floors = [] if jobs.after is None else [jobs.after.created_at]
    floors += [] if submissions.after is None else [read_id_time(submissions.after)]
    shown = [row for at, _, row in rows if not floors or at >= max(floors)][:limit]
    of_jobs = [row for row in shown if row.run_id is None]
    of_submissions = [row for row in shown if row.run_id is not None]
    after = place
    if len(of_jobs) == len(jobs.rows):
        after = after._replace(jobs=jobs.after, jobs_done=jobs.after is None)
    elif of_jobs:
        after = after._replace(jobs=JobPagePosition(of_jobs[-1].created_at, of_jobs[-1].id))
    if len(of_submissions) == len(submissions.rows):
        is_done = submissions.after is None
        after = after._replace(submissions=submissions.after, submissions_done=is_done)
    elif of_submissions:
        after = after._replace(submissions=_run_id(of_submissions[-1]))
    return JobListPage(shown, None if after.is_end else after)


def _run_id(row: JobRow) -> UUID:
    return row.run_id or row.id


def write_position(position: JobListPosition) -> list[str]:
    """Write a position as parts of a cursor."""
    at, job_id = NOT_STARTED, NOT_STARTED
    if position.jobs_done:
        at = job_id = EXHAUSTED
    elif position.jobs is not None:
        at, job_id = (
            format_time(position.jobs.created_at),
            identifiers.format_job_id(position.jobs.id),
        )
    run_id = EXHAUSTED if position.submissions_done else NOT_STARTED
    if not position.submissions_done and position.submissions is not None:
        run_id = identifiers.format_run_id(position.submissions)
    return [at, job_id, run_id]


def read_position(parts: list[str]) -> JobListPosition:
    """Read the position in a cursor; raise `ProblemError` if it is not a cursor of a job list."""
    try:
        at, job_id, run_id = parts
        place = JobListPosition(jobs_done=at == EXHAUSTED, submissions_done=run_id == EXHAUSTED)
        if at not in {EXHAUSTED, NOT_STARTED}:
            read = JobPagePosition(
                moments.parse(at, field="cursor"), identifiers.parse_id("job_id", job_id)
            )
            place = place._replace(jobs=read)
        if run_id not in {EXHAUSTED, NOT_STARTED}:
            place = place._replace(submissions=identifiers.parse_id("run_id", run_id))
    except (ValueError, RotaError):
        raise ProblemError(
            "malformed_request", "invalid cursor; use `next_cursor` of the previous page"
        ) from None
    return place

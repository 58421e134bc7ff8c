"""Schemas of runs, attempts and their output.

Schemas of dead letters and their groups.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import (
    ANY_CASE,
    STATUS_FILTER,
    Cursor,
    Limit,
    Moment,
    StatusAlias,
    Word,
)
from rota.contract.run import RunRecord

RunStatus = Literal[
    "blocked",
    "queued",
    "running",
    "cancelling",
    "retrying",
    "succeeded",
    "dead",
    "cancelled",
    "skipped",
    "missed",
    "coalesced",
    "expired",
    "lost",
    "quarantined",
    StatusAlias,
]
RunStatusFilter = Annotated[RunStatus, Meta(description=STATUS_FILTER, extra=ANY_CASE)]


class RunView(RunRecord, kw_only=True, frozen=True):
    """A run and its current state."""


class TracebackFrame(Struct, kw_only=True, frozen=True):
    """One call. `is_own`: code of the user, not of Rota, Python or a library."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


class TracebackError(Struct, kw_only=True, frozen=True):
    """One exception, with its frames in the order of the calls.

    `relation` is `raised` for the error that ended the attempt, whose message is `error_message`;
    then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one
    `depth` deeper). `omitted_frames` counts frames omitted from the middle.
    """

    relation: Literal["raised", "cause", "context", "member"]
    type: str
    message: str | None
    depth: int
    frames: list[TracebackFrame]
    omitted_frames: int


class RunDetail(RunView, kw_only=True, frozen=True):
    """One run with its payload, its result and the backfill that created it.

    `submitter` and `address` are the caller and its address; null for a run that a job created.
    `traceback` belongs to the last attempt; null if no exception ended it.
    """

    payload: Any
    user_id: str | None
    submitter: str | None
    address: str | None
    result: Any
    deadline_at: str | None
    backfill_id: str | None
    traceback: list[TracebackError] | None


Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]


class RunsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[RunStatusFilter] = []
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by job. Default: all."),
    ] = None
    kind: Annotated[Word | None, Meta(description="Filter by kind. Default: all.")] = None
    queue: Annotated[Word | None, Meta(description="Filter by queue. Default: all.")] = None
    worker_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | None,
        Meta(description="Filter by the worker of the last attempt: its id or name. Default: all."),
    ] = None
    graph_run_id: Annotated[
        Annotated[str, Meta(pattern="^run_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by graph run: its steps. Default: all."),
    ] = None
    created_after: Annotated[
        Moment | None, Meta(description="Created at or after this time. Default: any.")
    ] = None
    created_before: Annotated[
        Moment | None, Meta(description="Created before this time. Default: any.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class RunsOfJobQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[RunStatusFilter] = []
    trigger: Annotated[
        Literal["tick", "manual", "api", "event", "graph", "backfill", "replay"] | UnsetType,
        Meta(description="Filter by trigger; `tick` is the schedule. Default: all."),
    ] = UNSET
    limit: Limit = 50
    cursor: Cursor | None = None


class PageQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    cursor: Cursor | None = None


class CancelDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `force` the run ends immediately; its worker's result is rejected."""

    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Reason, shown with the run. Default: none."),
    ] = None
    force: Annotated[
        bool,
        Meta(description="End the run now without waiting for its worker. Default: `false`."),
    ] = False


class ReplayDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    payload: Annotated[
        Any | UnsetType,
        Meta(description="Payload of the new run. Default: the payload of the replayed run."),
    ] = UNSET


class RunStateView(Struct, kw_only=True, frozen=True):
    run_id: str
    status: str


class RunExplanation(Struct, kw_only=True, frozen=True):
    """Why the run is in its state, in one sentence."""

    run_id: str
    status: str
    code: str
    sentence: str
    details: dict[str, Any]
    prediction: Annotated[
        str | None,
        Meta(description="When an unfinished run will finish, if that can be predicted."),
    ] = None


class AttemptView(Struct, kw_only=True, frozen=True):
    attempt_number: int
    outcome: str
    start_time: str | None
    end_time: str | None
    executor_id: str | None
    worker: str | None
    error_message: str | None
    reason: dict[str, Any] | None
    traceback: list[TracebackError] | None


class Attempts(Struct, kw_only=True, frozen=True):
    data: list[AttemptView]


class LogLine(Struct, kw_only=True, frozen=True):
    """A piece of output as written: several lines, or part of one."""

    attempt_number: int
    seq: int
    stream: str
    at: str
    text: str


class LogsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Selects a page of output, or a stream."""

    after: Annotated[
        Annotated[str, Meta(pattern=r"^\d{1,5}\.\d{1,9}$")] | None,
        Meta(description="`cursor` of the previous page. Default: the first page."),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(description="Maximum pieces per page. Default: 500."),
    ] = 500
    follow: Annotated[
        bool,
        Meta(description="Return a stream of events until the run has ended. Default: `false`."),
    ] = False


class Logs(Struct, kw_only=True, frozen=True):
    """A page of output. Continue from `cursor`, even if there is no more output yet."""

    data: list[LogLine]
    cursor: str | None
    is_complete: bool


class BulkFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Selects runs. At least one field is required."""

    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by job. Default: all."),
    ] = None
    kind: Annotated[Word | None, Meta(description="Filter by kind. Default: all.")] = None
    queue: Annotated[Word | None, Meta(description="Filter by queue. Default: all.")] = None
    error: Annotated[Word, Meta(description="Filter by error type. Default: all.")] | None = None
    fingerprint: Annotated[
        Fingerprint | None,
        Meta(description="Filter dead letters by error fingerprint. Default: all."),
    ] = None
    since: Annotated[
        Moment | None,
        Meta(description="Ended at or after this time; unfinished runs: created. Default: any."),
    ] = None
    until: Annotated[
        Moment | None,
        Meta(description="Ended before this time; unfinished runs: created. Default: any."),
    ] = None


class BulkDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Send a dry run first, which returns the count and a token; then repeat it with the token."""

    filter: Annotated[BulkFilter, Meta(description="Selects runs; at least one field is required.")]
    dry_run: Annotated[
        bool, Meta(description="Only count, and return a confirmation token. Default: `false`.")
    ] = False
    token: Annotated[
        Annotated[str, Meta(min_length=1, max_length=500)] | None,
        Meta(
            description="Token of a dry run with the same filter; required unless `dry_run`. "
            "Default: none."
        ),
    ] = None


class ReplayManyDraft(BulkDraft, kw_only=True, forbid_unknown_fields=True):
    """Adds a rate limit, so that a recovering dependency is not flooded."""

    per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=60_000)] | None,
        Meta(description="Maximum starts per minute. Default: all at once."),
    ] = None
    before: Annotated[
        Annotated[int, Meta(ge=0, le=10_000_000)],
        Meta(description="Runs that earlier calls requeued at the same rate. Default: 0."),
    ] = 0


class EditManyDraft(ReplayManyDraft, kw_only=True, forbid_unknown_fields=True):
    """Adds a change of the payloads. Each dead letter becomes a new run and is dropped."""

    patch: Annotated[
        dict[str, Any],
        Meta(
            description="JSON merge patch (RFC 7396) for the payload of each run: its fields "
            "replace those of the payload; null removes a field. Required unless `dry_run`. "
            "Default: `{}`."
        ),
    ] = {}


class BulkActionResult(Struct, kw_only=True, frozen=True):
    """`matched` runs fit the filter, this call changed `done`, and `token` is for the next call."""

    matched: int
    done: int
    token: str | None


class ExecutionsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    worker_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)],
        Meta(description="Id or name of a worker."),
    ]
    status: list[RunStatusFilter] = []
    limit: Limit = 50
    cursor: Cursor | None = None


class DeadLettersQuery(RunsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    fingerprint: Annotated[
        Fingerprint | None,
        Meta(description="Filter by error fingerprint. Default: all."),
    ] = None
    ended_after: Annotated[
        Moment | None, Meta(description="Ended at or after this time. Default: any.")
    ] = None
    ended_before: Annotated[
        Moment | None, Meta(description="Ended before this time. Default: any.")
    ] = None


class DeadGroupJob(Struct, kw_only=True, frozen=True):
    """A job in the group and the number of its runs there. All one-time submissions share one entry
    without id and name.
    """

    job_id: str | None
    job_name: str | None
    count: int


class DeadGroupView(Struct, kw_only=True, frozen=True):
    """Dead letters of one task with the same error: the same type, the same message apart from
    numbers and ids, and the same innermost frame of the user's code.

    `message` is the newest one. `frame` is `module:function`; null if the task runs no Python code
    of the user. `counts_per_hour` covers the 24 hours before `until`, oldest first. `versions` are
    the definition versions of the jobs. `jobs` lists up to five jobs with the most failures;
    `job_count` is the number of all. List, requeue, edit and drop select exactly this group with
    the filter `kind`, `fingerprint`, `since` and `until`.
    """

    kind: str
    error_type: str
    message: str
    frame: str | None
    fingerprint: str
    count: int
    first_seen: str
    last_seen: str
    counts_per_hour: list[int]
    versions: list[int]
    jobs: list[DeadGroupJob]
    job_count: int
    sample_run_id: str


class DeadGroups(Struct, kw_only=True, frozen=True):
    """Groups of dead letters that ended from `since` on and before `until`. `is_partial`: only the
    newest are grouped; `count` and `first_seen` exclude older ones.
    """

    data: list[DeadGroupView]
    since: str
    until: str
    is_partial: bool


class DeadGroupDetail(DeadGroupView, kw_only=True, frozen=True):
    """One group, with its newest run in full."""

    sample: RunDetail
    since: str
    until: str
    is_partial: bool


class DeadGroupQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by job. Default: all jobs and one-time submissions."),
    ] = None
    since: Annotated[
        Moment | None, Meta(description="Ended at or after this time. Default: 30 days ago.")
    ] = None
    until: Annotated[Moment | None, Meta(description="Ended before this time. Default: now.")] = (
        None
    )


class DeadGroupsQuery(DeadGroupQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[Word | None, Meta(description="Filter by task. Default: all.")] = None
    limit: Limit = 50

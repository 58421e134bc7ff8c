"""Runs, attempts and their output as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import (
    ANY_CASE,
    IN_STATES,
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
InStates = Annotated[RunStatus, Meta(description=IN_STATES, extra=ANY_CASE)]


class RunView(RunRecord, kw_only=True, frozen=True):
    """A run as it is now."""


class TracebackFrame(Struct, kw_only=True, frozen=True):
    """One call. `is_own`: the user's code, not Rota's, Python's or a library's."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


class TracebackError(Struct, kw_only=True, frozen=True):
    """One exception, with its frames in the order of the calls.

    `relation` is `raised` for the error that ended the attempt, whose message is `error_message`;
    then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one
    `depth` deeper). `omitted_frames` were left out of the middle.
    """

    relation: Literal["raised", "cause", "context", "member"]
    type: str
    message: str | None
    depth: int
    frames: list[TracebackFrame]
    omitted_frames: int


class RunDetail(RunView, kw_only=True, frozen=True):
    """One run with what it was given and what came of it, and the backfill that made it.

    `submitter` and `address` are who submitted it and from where; null for a run that a job made.
    `traceback` is of the last attempt; null if no exception ended it.
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
    status: list[InStates] = []
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None, Meta(description="Of this job.")
    ] = None
    kind: Annotated[Word | None, Meta(description="Of this kind.")] = None
    queue: Annotated[Word | None, Meta(description="In this queue.")] = None
    worker_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | None,
        Meta(description="Executed last by this worker: its id or its name."),
    ] = None
    graph_run_id: Annotated[
        Annotated[str, Meta(pattern="^run_[0-9a-f]{32}$")] | None,
        Meta(description="Steps of this graph run."),
    ] = None
    created_after: Annotated[Moment | None, Meta(description="Made at this time or later.")] = None
    created_before: Annotated[Moment | None, Meta(description="Made before this time.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class RunsOfJobQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[InStates] = []
    trigger: Annotated[
        Literal["tick", "manual", "api", "event", "graph", "backfill", "replay"] | UnsetType,
        Meta(description="Made by this: `tick` for those of the schedule. Default: any."),
    ] = UNSET
    limit: Limit = 50
    cursor: Cursor | None = None


class PageQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    cursor: Cursor | None = None


class CancelDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `force` it ends now, whatever its worker does; its result is refused."""

    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Why, for whoever asks later."),
    ] = None
    force: Annotated[bool, Meta(description="End it now, whatever its worker does.")] = False


class ReplayDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    payload: Annotated[
        Any | UnsetType,
        Meta(description="A payload to use instead. Default: the payload that the run used."),
    ] = UNSET


class RunState(Struct, kw_only=True, frozen=True):
    run_id: str
    status: str


class Explained(Struct, kw_only=True, frozen=True):
    """Why it is where it is, in one sentence."""

    run_id: str
    status: str
    code: str
    sentence: str
    details: dict[str, Any]


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
    """A piece of output as it was written; it may hold several lines, or a part of one."""

    attempt_number: int
    seq: int
    stream: str
    at: str
    text: str


class LogsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """`after` is the `cursor` of the page before; `follow` answers a stream of events."""

    after: Annotated[
        Annotated[str, Meta(pattern=r"^\d{1,5}\.\d{1,9}$")] | None,
        Meta(description="`cursor` of the page before."),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=1000)], Meta(description="How many pieces at most.")
    ] = 500
    follow: Annotated[
        bool, Meta(description="Answer a stream of events that goes on until the run has ended.")
    ] = False


class Logs(Struct, kw_only=True, frozen=True):
    """`cursor` is where to go on from, also when there is nothing more yet."""

    data: list[LogLine]
    cursor: str | None
    is_complete: bool


class BulkFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which runs; at least one of these must be said."""

    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None, Meta(description="Of this job.")
    ] = None
    kind: Annotated[Word | None, Meta(description="Of this kind.")] = None
    queue: Annotated[Word | None, Meta(description="In this queue.")] = None
    error: Annotated[Word, Meta(description="The type of the error.")] | None = None
    fingerprint: Annotated[
        Fingerprint | None,
        Meta(description="Dead letters with this fingerprint of their error. Default: any."),
    ] = None
    since: Annotated[
        Moment | None, Meta(description="Ended at this time or later; if unfinished, made.")
    ] = None
    until: Annotated[
        Moment | None, Meta(description="Ended before this time; if unfinished, made.")
    ] = None


class BulkDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """First a dry run, which answers how many and a token; then the same with the token."""

    filter: Annotated[
        BulkFilter, Meta(description="Which runs; at least one of its fields must be said.")
    ]
    dry_run: Annotated[
        bool, Meta(description="Only count them, and answer the token to do it.")
    ] = False
    token: Annotated[
        Annotated[str, Meta(min_length=1, max_length=500)] | None,
        Meta(description="The token of a dry run with the same filter."),
    ] = None


class ReplayManyDraft(BulkDraft, kw_only=True, forbid_unknown_fields=True):
    """The same, and how fast: what they died of may not bear them all at once."""

    per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=60_000)] | None,
        Meta(description="How many may begin in a minute. Default: all at once."),
    ] = None
    before: Annotated[
        Annotated[int, Meta(ge=0, le=10_000_000)],
        Meta(description="How many were let go by calls before this one, at the same pace."),
    ] = 0


class EditManyDraft(ReplayManyDraft, kw_only=True, forbid_unknown_fields=True):
    """The same, and how payloads change. Each becomes a new run, and the dead one is dropped."""

    patch: Annotated[
        dict[str, Any],
        Meta(
            description="A JSON merge patch (RFC 7396) for the payload of each run: its fields "
            "replace those of the payload, and null removes a field. A dry run needs none."
        ),
    ] = {}


class BulkDone(Struct, kw_only=True, frozen=True):
    """`matched` is what the filter finds, `done` what this call did, `token` is for the next."""

    matched: int
    done: int
    token: str | None


class ExecutionsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    worker_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)],
        Meta(description="A worker: its id or its name."),
    ]
    status: list[InStates] = []
    limit: Limit = 50
    cursor: Cursor | None = None

"""Jobs as JSON: how they are asked for, changed and shown. Room: api/shapes.

Two ways to say when: the nested `schedule`, which is the canonical one, and the flat fields
`schedule_type`, `schedule_time` and `cron_expression`. Neither means at once.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rota.api.shapes.pieces import Cursor, Duration, Json, Labels, Limit, Moment, Name, Word

ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
Guarantee = Literal["at_least_once", "at_most_once", "exactly_once"]
Status = Literal["active", "pending", "running", "paused", "quarantined", "finished"]
Priority = Annotated[int, Meta(ge=0, le=9)] | Literal["high", "medium", "normal", "low"]
Most = Annotated[int, Meta(ge=0, le=100)]


class RetriesDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often and how soon a failed run is tried again."""

    max: Most | None = None
    kind: Literal["exponential", "constant", "linear", "list"] | None = None
    base: Duration | None = None
    cap: Duration | None = None
    delays: Annotated[list[Duration], Meta(max_length=100)] | None = None
    jitter: Literal["full", "equal", "none"] | None = None


class RateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """So many starts per time, of which `burst` may come at once."""

    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    per: Duration
    burst: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class LimitDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A limit that all runs with the same key share; `{args.id}` is filled from the payload."""

    key: Annotated[str, Meta(min_length=1, max_length=180)]
    max: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    rate: RateDraft | None = None


class UniqueDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of equal submissions one becomes a run; the others get it, are refused, or replace it."""

    key: Annotated[str, Meta(min_length=1, max_length=180)]
    held_while: Literal["queued", "live"] | UnsetType = field(name="while", default=UNSET)
    within: Duration | UnsetType = UNSET
    on_conflict: Literal["return", "reject", "replace"] | UnsetType = UNSET


class Details(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a new job and a change of one have in common. A field that is left out is the usual, or
    stays as it is.
    """

    name: Name | UnsetType = UNSET
    kind: Word | UnsetType = UNSET
    job_type: Annotated[Word, Meta(description="Another name for `kind`.")] | UnsetType = UNSET
    schedule: dict[str, Json] | UnsetType = UNSET
    schedule_type: ScheduleType | UnsetType = UNSET
    schedule_time: Moment | UnsetType = UNSET
    cron_expression: Annotated[str, Meta(min_length=1, max_length=256)] | UnsetType = UNSET
    timezone: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    payload: Json | UnsetType = UNSET
    max_retries: Most | UnsetType = UNSET
    retries: Most | RetriesDraft | UnsetType = UNSET
    timeout: Duration | UnsetType = UNSET
    deadline: Duration | UnsetType = UNSET
    grace: Duration | UnsetType = UNSET
    guarantee: Guarantee | UnsetType = UNSET
    queue: Word | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    overlap: OverlapName | UnsetType = UNSET
    keep_first: bool | UnsetType = UNSET
    limits: Annotated[list[LimitDraft], Meta(max_length=8)] | UnsetType = UNSET
    labels: Annotated[Labels, Meta(max_length=32)] | UnsetType = UNSET
    user_id: Name | UnsetType | None = UNSET


class JobDraft(Details, kw_only=True, forbid_unknown_fields=True):
    """A job that is to be made. Without a kind its name is its kind; without a name it gets one."""

    unique: UniqueDraft | UnsetType = UNSET


class JobEdit(Details, kw_only=True, forbid_unknown_fields=True):
    """Only what is to be different."""


class JobDrafts(Struct, kw_only=True, forbid_unknown_fields=True):
    """Jobs that are made together: all or none."""

    jobs: Annotated[list[JobDraft], Meta(min_length=1, max_length=1000)]


class JobMade(Struct, kw_only=True, frozen=True):
    """`run_id` is the first run of a job that runs at once. One that is `deduplicated` was there
    before: the uniqueness rule found it.
    """

    job_id: str
    run_id: str | None
    deduplicated: bool
    next_run_at: str | None
    name: str
    status: str
    warnings: list[str]


class JobsMade(Struct, kw_only=True, frozen=True):
    jobs: list[JobMade]


class JobView(Struct, kw_only=True, frozen=True):
    """A job as it is now."""

    job_id: str
    name: str
    kind: str
    schedule_type: ScheduleType
    cron_expression: str | None
    schedule_time: str | None
    schedule: dict[str, Any] | None
    timezone: str | None
    status: str
    payload: Any
    max_retries: int
    retries: dict[str, Any]
    timeout: str | None
    deadline: str | None
    guarantee: str
    queue: str
    priority: int
    overlap: str
    keep_first: bool
    limits: list[dict[str, Any]]
    labels: dict[str, str]
    user_id: str | None
    held: dict[str, Any] | None
    next_run_at: str | None
    version: int
    created_at: str
    updated_at: str


class JobsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[Status] = []
    user_id: Name | None = None
    kind: Word | None = None
    queue: Word | None = None
    label: (
        Annotated[
            str, Meta(max_length=129, pattern="^[^:]+:.*$", description="As in team:billing.")
        ]
        | None
    ) = None
    q: (
        Annotated[str, Meta(min_length=1, max_length=200, description="Part of the name.")] | None
    ) = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class DeleteQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    running: Literal["leave", "cancel"] = "leave"


class PauseDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=1000)] | None = None


class ResumeDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """What becomes of the ticks that were missed; without it what the schedule says."""

    missed: Literal["skip", "once", "all"] | None = None


class RunNowDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run past the schedule; without a payload it has its job's."""

    payload: Json = None
    priority: Priority | None = None
    overlap: OverlapName | None = None


class Triggered(Struct, kw_only=True, frozen=True):
    """`refused` says why there is no run: the overlap policy did not allow one."""

    job_id: str
    run_id: str
    refused: str | None


class LatestRun(Struct, kw_only=True, frozen=True):
    run_id: str
    status: str
    start_time: str | None
    modified_time: str
    attempt_number: int
    executor_id: str | None


class JobStatus(Struct, kw_only=True, frozen=True):
    job_id: str
    status: str
    latest_run: LatestRun | None
    explanation: str

"""Jobs as JSON: how they are asked for, changed and shown. Room: api/shapes.

Two ways to say when: the nested `schedule`, which is the canonical one, and the flat fields
`schedule_type`, `schedule_time` and `cron_expression`. Neither means at once.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rota.api.shapes.pieces import (
    ANY_CASE,
    IN_STATES,
    Cursor,
    Duration,
    Json,
    Labels,
    Limit,
    Moment,
    Name,
    Status,
    Word,
)

ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
PausedQueueName = Literal["skip", "accumulate"]
Guarantee = Literal["at_least_once", "at_most_once", "exactly_once"]
Priority = Annotated[int, Meta(ge=0, le=9)] | Literal["high", "medium", "normal", "low"]
Most = Annotated[int, Meta(ge=0, le=100)]


class RetriesDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often and how soon a failed run is tried again."""

    max: Annotated[
        Most | None,
        Meta(description="How many more attempts after the first; 3 unless it is said."),
    ] = None
    kind: Annotated[
        Literal["exponential", "constant", "linear", "list"] | None,
        Meta(description="How the delay grows from one attempt to the next."),
    ] = None
    base: Annotated[Duration | None, Meta(description="The first delay.")] = None
    cap: Annotated[Duration | None, Meta(description="The longest delay.")] = None
    delays: Annotated[
        Annotated[list[Duration], Meta(max_length=100)] | None,
        Meta(description="With `list`: each delay in turn; the last one repeats."),
    ] = None
    jitter: Annotated[
        Literal["full", "equal", "none"] | None, Meta(description="How much of a delay is chance.")
    ] = None


class RateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """So many starts per time, of which `burst` may come at once."""

    count: Annotated[Annotated[int, Meta(ge=1, le=1_000_000)], Meta(description="So many starts …")]
    per: Annotated[Duration, Meta(description="… in this time.")]
    burst: Annotated[
        Annotated[int, Meta(ge=1, le=1_000_000)],
        Meta(description="How many of them may come at once."),
    ] = 1


class LimitDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A limit that all runs with the same key share; `{args.id}` is filled from the payload."""

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=180)],
        Meta(description="Runs with the same key share the limit."),
    ]
    max: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="How many may run at a time."),
    ] = None
    rate: Annotated[RateDraft | None, Meta(description="How many may start per time.")] = None


class UniqueDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of equal submissions one becomes a run; the others get it, are refused, or replace it."""

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=180)],
        Meta(description="What makes it equal; `{args.id}` is filled from the payload."),
    ]
    held_while: Annotated[
        Literal["queued", "live"] | UnsetType,
        Meta(description="Held until it begins, or, as usual, until it has ended."),
    ] = field(name="while", default=UNSET)
    within: (
        Annotated[
            Duration,
            Meta(description="The key is held at least this long, whatever became of the run."),
        ]
        | UnsetType
    ) = UNSET
    on_conflict: Annotated[
        Literal["return", "reject", "replace"] | UnsetType,
        Meta(description="Who comes later gets the first, as usual, or 409, or replaces it."),
    ] = UNSET


class Details(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a new job and a change of one have in common. A field that is left out is the usual, or
    stays as it is.
    """

    name: Annotated[
        Name | UnsetType, Meta(description="Unique in the tenant among jobs that are not deleted.")
    ] = UNSET
    kind: Annotated[
        Word | UnsetType,
        Meta(description="Which handler carries it out; the name unless it is said."),
    ] = UNSET
    job_type: (
        Annotated[
            Word,
            Meta(
                description="Another name for `kind`, which also knows the names of other "
                "schedulers, such as `HTTP_REQUEST`."
            ),
        ]
        | UnsetType
    ) = UNSET
    schedule: Annotated[
        dict[str, Json] | UnsetType,
        Meta(description="As in docs/reference/schedules.md; at once unless it is said."),
    ] = UNSET
    schedule_type: Annotated[
        ScheduleType | UnsetType,
        Meta(
            description="What the schedule is; not needed, and refused if the rest says otherwise."
        ),
    ] = UNSET
    schedule_time: (
        Annotated[Moment, Meta(description="Run once, at this time. Short for `schedule.at`.")]
        | UnsetType
    ) = UNSET
    cron_expression: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | UnsetType,
        Meta(description="Run by this expression. Short for `schedule.cron`."),
    ] = UNSET
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType,
        Meta(description="An IANA name for the flat fields; UTC unless it is said."),
    ] = UNSET
    payload: Annotated[Json | UnsetType, Meta(description="What the handler is given.")] = UNSET
    graph: Annotated[
        dict[str, Json] | UnsetType | None,
        Meta(description="With the kind `graph`: its steps, as in docs/howto/graphs.md."),
    ] = UNSET
    max_retries: Annotated[
        Most | UnsetType,
        Meta(description="How many more attempts after the first. Short for `retries.max`."),
    ] = UNSET
    retries: Annotated[
        Most | RetriesDraft | UnsetType,
        Meta(description="A number, or how often and how soon a failed run is tried again."),
    ] = UNSET
    timeout: (
        Annotated[
            Duration | None,
            Meta(
                description="The longest an attempt may take; 15 minutes unless it is said, "
                "null for no limit."
            ),
        ]
        | UnsetType
    ) = UNSET
    deadline: (
        Annotated[
            Duration | None,
            Meta(
                description="How long after its due time a run may go on; no limit unless said, "
                "null to lift it."
            ),
        ]
        | UnsetType
    ) = UNSET
    grace: (
        Annotated[
            Duration,
            Meta(description="From asking an attempt to stop to ending it by force; 10 s usually."),
        ]
        | UnsetType
    ) = UNSET
    guarantee: Annotated[
        Guarantee | UnsetType,
        Meta(
            description="What happens if a worker is lost. `exactly_once` needs a handler that "
            "completes its run in `ctx.transaction()`; other kinds refuse it. "
            "Default: `at_least_once`."
        ),
    ] = UNSET
    target: (
        Annotated[
            Annotated[str, Meta(min_length=1, max_length=253)] | None,
            Meta(
                description="What its attempts depend on. While it does not answer, runs wait "
                "instead of using up their retries. Unless it is said the host or the connection, "
                "of kinds that have one; null, or `none`, for that."
            ),
        ]
        | UnsetType
    ) = UNSET
    queue: Annotated[
        Word | UnsetType, Meta(description="Which workers serve it; `default` unless it is said.")
    ] = UNSET
    priority: Annotated[
        Priority | UnsetType,
        Meta(description="From 0, which goes first, to 9, or by name; 5 unless it is said."),
    ] = UNSET
    overlap: Annotated[
        OverlapName | UnsetType,
        Meta(description="What if a run of it is alive when it is due; `skip` unless said."),
    ] = UNSET
    keep_first: Annotated[
        bool | UnsetType,
        Meta(description="With `queue_one`: the run that waits stays, the new one is skipped."),
    ] = UNSET
    when_queue_paused: Annotated[
        PausedQueueName | UnsetType,
        Meta(description="What if it is due while its queue is paused; `skip` unless said."),
    ] = UNSET
    limits: Annotated[
        Annotated[list[LimitDraft], Meta(max_length=8)] | UnsetType,
        Meta(description="Limits that its runs share with others of the same key."),
    ] = UNSET
    labels: Annotated[
        Annotated[Labels, Meta(max_length=32)] | UnsetType,
        Meta(description="Names and values of your own, to find it by."),
    ] = UNSET
    user_id: Annotated[
        Name | UnsetType | None, Meta(description="Whose job it is, for your own bookkeeping.")
    ] = UNSET


class JobDraft(Details, kw_only=True, forbid_unknown_fields=True):
    """A job that is to be made. Without a kind its name is its kind; without a name it gets one."""

    unique: Annotated[
        UniqueDraft | UnsetType, Meta(description="Of equal submissions only one becomes a run.")
    ] = UNSET


class JobEdit(Details, kw_only=True, forbid_unknown_fields=True):
    """Only what is to be different."""


class JobDrafts(Struct, kw_only=True, forbid_unknown_fields=True):
    """Jobs that are made together: all or none."""

    jobs: Annotated[
        Annotated[list[JobDraft], Meta(min_length=1, max_length=1000)],
        Meta(description="Each as in the operation that makes one."),
    ]


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
    graph: Annotated[
        dict[str, Any] | None,
        Meta(description="The steps of a graph; null for another kind, and in lists."),
    ]
    max_retries: int
    retries: dict[str, Any]
    timeout: str | None
    deadline: str | None
    grace: str
    guarantee: str
    target: Annotated[
        str | None, Meta(description="What it says to depend on; null if it says nothing.")
    ]
    queue: str
    priority: int
    overlap: str
    keep_first: bool
    when_queue_paused: str
    limits: list[dict[str, Any]]
    labels: dict[str, str]
    user_id: str | None
    held: dict[str, Any] | None
    next_run_at: str | None
    version: int
    created_at: str
    updated_at: str


class JobsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[Annotated[Status, Meta(description=IN_STATES, extra=ANY_CASE)]] = []
    user_id: Annotated[Name | None, Meta(description="Of this user.")] = None
    kind: Annotated[Word | None, Meta(description="Of this kind.")] = None
    queue: Annotated[Word | None, Meta(description="In this queue.")] = None
    label: (
        Annotated[
            str, Meta(max_length=129, pattern="^[^:]+:.*$", description="As in team:billing.")
        ]
        | None
    ) = None
    q: (
        Annotated[str, Meta(min_length=1, max_length=200, description="Part of the name.")] | None
    ) = None
    created_after: Annotated[Moment | None, Meta(description="Made at this time or later.")] = None
    created_before: Annotated[Moment | None, Meta(description="Made before this time.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class DeleteQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    running: Annotated[
        Literal["cancel", "keep", "leave"],
        Meta(
            description="What happens to runs that are being executed: their workers are asked to "
            "stop them, or they go on (`keep`; `leave` is an older word for it). Default: `cancel`."
        ),
    ] = "cancel"


class PauseDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="Why, for whoever finds it paused."),
    ] = None


class ResumeDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """What becomes of the ticks that were missed; without it what the schedule says."""

    missed: Annotated[
        Literal["skip", "once", "all"] | None,
        Meta(description="Whether ticks missed in the pause run: none, one, or each."),
    ] = None


class RunNowDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run past the schedule; without a payload it has its job's."""

    payload: Annotated[Json, Meta(description="Instead of the job's own.")] = None
    priority: Annotated[Priority | None, Meta(description="Instead of the job's own.")] = None
    overlap: Annotated[OverlapName | None, Meta(description="Instead of the job's own.")] = None


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

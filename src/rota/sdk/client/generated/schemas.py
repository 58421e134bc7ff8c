"""The JSON that the API takes and gives. Room: sdk/client/generated.

Rendered from src/rota/api by `make generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

# How times and durations may be given.
Moment = str | datetime
Duration = str | timedelta
Priority = int | Literal["high", "medium", "normal", "low"]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
StatusAlias = Literal[
    "SCHEDULED",
    "ENQUEUED",
    "RUNNING",
    "RETRYING",
    "COMPLETED",
    "SUCCESS",
    "FAILED",
    "CANCELLED",
    "PAUSED",
    "scheduled",
    "enqueued",
    "running",
    "retrying",
    "completed",
    "success",
    "failed",
    "cancelled",
    "paused",
]
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
    "SCHEDULED",
    "ENQUEUED",
    "RUNNING",
    "RETRYING",
    "COMPLETED",
    "SUCCESS",
    "FAILED",
    "CANCELLED",
    "PAUSED",
    "scheduled",
    "enqueued",
    "completed",
    "success",
    "failed",
    "paused",
]
RoleName = Literal["viewer", "operator", "admin", "platform"]


class LoadPart(Struct, frozen=True, kw_only=True):
    start: datetime
    ticks: int


class BusyJob(Struct, frozen=True, kw_only=True):
    """`is_estimate`: its schedule has too many ticks to walk. Cron and intervals are exact."""

    job_id: str
    job_name: str
    ticks: int
    is_estimate: bool


class LoadView(Struct, frozen=True, kw_only=True):
    """`buckets` are those with ticks. `unknown` jobs run again some time after they have ended.
    `is_estimate`: a job is an estimate, or there are more schedules than are read for one answer.
    """

    since: datetime
    until: str
    width_s: float
    buckets: list[LoadPart]
    jobs: int
    unknown: int
    busiest: list[BusyJob]
    is_estimate: bool


class KindView(Struct, frozen=True, kw_only=True):
    """`workers` are those alive that carry it out; `payload_schema` is JSON Schema, if known."""

    kind: str
    workers: int
    payload_schema: dict[str, Any] | None = None


class AuditView(Struct, frozen=True, kw_only=True):
    """Who did what, when and from where.

    `source` is the client's address. `origin` is what made the change: `code` (an app that declares
    jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction`
    (`rota.within`); null for entries of earlier releases.
    """

    id: int
    at: datetime
    actor: str
    key_id: str | None = None
    source: str | None = None
    origin: str | None = None
    action: str
    thing: str
    thing_id: str
    before: Any
    after: Any
    request_id: str | None = None


class BackfillProgress(Struct, frozen=True, kw_only=True):
    """A backfill as it is now. `ticks` were looked at, `made` runs were made for them, `alive` of
    which have not ended; `left` is what is alive or not even made. `reached` is the time up to
    which ticks are decided, or down to which if the newest come first.
    """

    backfill_id: str
    job_id: str
    job_name: str | None = None
    status: str
    since: datetime
    until: str
    only: str
    order: str
    at_once: int
    priority: int
    payload: Any
    reached: str
    ticks: int
    made: int
    succeeded: int
    failed: int
    cancelled: int
    alive: int
    left: int
    expected: int
    estimated: bool
    eta: str | None = None
    paused_at: datetime | None = None
    created_at: datetime
    created_by: str
    ended_at: datetime | None = None
    reason: dict[str, Any] | None = None


class CalendarView(Struct, frozen=True, kw_only=True):
    name: str
    calendar: dict[str, Any]
    version: int
    updated_at: datetime


class QueueView(Struct, frozen=True, kw_only=True):
    """A queue, and what of the caller's tenant is in it. Counts end at 10,000."""

    name: str
    is_paused: bool
    is_paused_for_all: bool
    paused_at: datetime | None = None
    max: int | None = None
    rate: dict[str, Any] | None = None
    waiting: int
    later: int
    running: int
    oldest_waiting_since: datetime | None = None


class QueueCreated(Struct, frozen=True, kw_only=True):
    name: str


class QueueState(Struct, frozen=True, kw_only=True):
    name: str
    is_paused: bool
    is_for_all: bool


class RateDraft(Struct, kw_only=True):
    """So many starts per time, of which `burst` may come at once."""

    count: int
    per: Duration
    burst: int | UnsetType = UNSET


class WorkerView(Struct, frozen=True, kw_only=True):
    worker_id: str
    name: str
    is_alive: bool
    is_draining: bool
    slots: int
    running: int
    queues: list[str]
    tenants: list[str]
    kinds: list[str]
    started_at: datetime
    beat_at: datetime


class WorkerDrained(Struct, frozen=True, kw_only=True):
    worker_id: str
    name: str
    is_draining: bool


class SchedulerView(Struct, frozen=True, kw_only=True):
    scheduler_id: str
    name: str
    is_draining: bool
    started_at: datetime
    beat_at: datetime
    shards: list[int]


class ShardView(Struct, frozen=True, kw_only=True):
    shard: int
    scheduler: str | None = None
    epoch: int
    expires_at: datetime | None = None


class RunRecord(Struct, frozen=True, kw_only=True):
    """The fields of a run, alive or finished."""

    run_id: str
    job_id: str
    job_name: str | None = None
    job_version: int | None = None
    status: str
    scheduled_at: datetime
    due_at: datetime
    start_time: datetime | None = None
    end_time: datetime | None = None
    modified_time: datetime
    created_at: datetime
    attempt_number: int
    failures: int
    executor_id: str | None = None
    worker: str | None = None
    kind: str
    queue: str
    priority: int
    trigger: str
    error_message: str | None = None
    reason: dict[str, Any] | None = None
    progress: float | None = None
    progress_message: str | None = None
    labels: dict[str, str]
    graph_run_id: str | None = None
    step: int | None = None
    member: int | None = None
    log_url: str


class RunView(RunRecord, frozen=True, kw_only=True):
    """A run as it is now."""


class TracebackFrame(Struct, frozen=True, kw_only=True):
    """One call. `is_own`: the user's code, not Rota's, Python's or a library's."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


class TracebackError(Struct, frozen=True, kw_only=True):
    """One exception, with its frames in the order of the calls.

    `relation` is `raised` for the error that ended the attempt, whose message is `error_message`;
    then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one
    `depth` deeper). `omitted_frames` were left out of the middle.
    """

    relation: str
    type: str
    message: str | None = None
    depth: int
    frames: list[TracebackFrame]
    omitted_frames: int


class RunDetail(RunView, frozen=True, kw_only=True):
    """One run with what it was given and what came of it, and the backfill that made it.

    `submitter` and `address` are who submitted it and from where; null for a run that a job made.
    `traceback` is of the last attempt; null if no exception ended it.
    """

    payload: Any
    user_id: str | None = None
    submitter: str | None = None
    address: str | None = None
    result: Any
    deadline_at: datetime | None = None
    backfill_id: str | None = None
    traceback: list[TracebackError] | None = None


class AttemptView(Struct, frozen=True, kw_only=True):
    attempt_number: int
    outcome: str
    start_time: datetime | None = None
    end_time: datetime | None = None
    executor_id: str | None = None
    worker: str | None = None
    error_message: str | None = None
    reason: dict[str, Any] | None = None
    traceback: list[TracebackError] | None = None


class Explained(Struct, frozen=True, kw_only=True):
    """Why it is where it is, in one sentence."""

    run_id: str
    status: str
    code: str
    sentence: str
    details: dict[str, Any]


class RunState(Struct, frozen=True, kw_only=True):
    run_id: str
    status: str


class Triggered(Struct, frozen=True, kw_only=True):
    """`refused` says why there is no run: the overlap policy did not allow one."""

    job_id: str
    run_id: str
    refused: str | None = None


class BulkDone(Struct, frozen=True, kw_only=True):
    """`matched` is what the filter finds, `done` what this call did, `token` is for the next."""

    matched: int
    done: int
    token: str | None = None


class BulkFilter(Struct, kw_only=True):
    """Which runs; at least one of these must be said."""

    job_id: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    queue: str | UnsetType | None = UNSET
    error: str | UnsetType | None = UNSET
    fingerprint: str | UnsetType | None = UNSET
    since: Moment | UnsetType | None = UNSET
    until: Moment | UnsetType | None = UNSET


class DeadGroupJob(Struct, frozen=True, kw_only=True):
    """A job of the group and how many of the group are its runs. All one-time submissions together
    are one entry, without id and name.
    """

    job_id: str | None = None
    job_name: str | None = None
    count: int


class DeadGroupView(Struct, frozen=True, kw_only=True):
    """Dead letters of one task that failed alike: the same type of error, the same message apart
    from numbers and ids, the same innermost frame of the user's code.

    `message` is that of the newest. `frame` is `module:function`; null if the task runs no Python
    code of the user. `counts_per_hour` has the last 24 hours before `until`, the oldest first.
    `versions` are the definition versions of the jobs. `jobs` has at most the five with the most
    failures, `job_count` says how many there are. With `kind`, `fingerprint`, `since` and `until`
    as a filter, the list, the replay, the edit and the drop mean exactly these.
    """

    kind: str
    error_type: str
    message: str
    frame: str | None = None
    fingerprint: str
    count: int
    first_seen: datetime
    last_seen: datetime
    counts_per_hour: list[int]
    versions: list[int]
    jobs: list[DeadGroupJob]
    job_count: int
    sample_run_id: str


class DeadGroups(Struct, frozen=True, kw_only=True):
    """Groups of the dead letters that ended from `since` on and before `until`. `is_partial`: only
    the newest are grouped; `count` and `first_seen` do not consider older ones.
    """

    items: list[DeadGroupView] = field(name="data")
    since: datetime
    until: str
    is_partial: bool


class DeadGroupDetail(DeadGroupView, frozen=True, kw_only=True):
    """One group, with its newest run in full."""

    sample: RunDetail
    since: datetime
    until: str
    is_partial: bool


class EventTaken(Struct, frozen=True, kw_only=True):
    """A `duplicate` came before, and made nothing again. `run_ids` are the runs that it is part of;
    one that is gathered with others is not made yet.
    """

    event_id: str
    source: str
    id: str
    duplicate: bool
    run_ids: list[str]


class EventsTaken(Struct, frozen=True, kw_only=True):
    taken: int
    duplicates: int
    events: list[EventTaken]


class EventDraft(Struct, kw_only=True):
    source: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    time: Moment | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    data: Any | UnsetType = UNSET
    type: str


class MatchView(Struct, frozen=True, kw_only=True):
    """What an event was for a job that waits for its type, and why."""

    job_id: str
    job_name: str | None = None
    outcome: str
    run_id: str | None = None
    why: str | None = None
    replay: str | None = None


class EventView(Struct, frozen=True, kw_only=True):
    """`attributes` are those beside the usual ones, as CloudEvents has them."""

    event_id: str
    type: str
    source: str
    id: str
    time: str
    subject: str | None = None
    received_at: datetime
    data: Any
    attributes: dict[str, Any]
    matches: list[MatchView]


class Replayed(Struct, frozen=True, kw_only=True):
    """`matched` is what the filter finds, `done` how many were matched again, `runs` the runs that
    were made of them at once.
    """

    matched: int
    done: int
    runs: int
    token: str | None = None


class EventFilter(Struct, kw_only=True):
    """Which events; at least one of these must be said."""

    type: str | UnsetType | None = UNSET
    source: str | UnsetType | None = UNSET
    since: Moment | UnsetType | None = UNSET
    until: Moment | UnsetType | None = UNSET
    job_id: str | UnsetType | None = UNSET


class ExternalRun(Struct, frozen=True, kw_only=True):
    """Without a word about it for `lease_seconds` it is taken for lost."""

    job_id: str
    run_id: str
    lease_seconds: int
    log_url: str


class ExternalAnswer(Struct, frozen=True, kw_only=True):
    """`cancel`: somebody asked for it to be stopped."""

    run_id: str
    cancel: bool
    status: str


class OutputPiece(Struct, kw_only=True):
    seq: int
    text: str
    stream: Literal["stdout", "stderr"] | UnsetType = UNSET


class GraphView(Struct, frozen=True, kw_only=True):
    """What a job's graph consists of, as it was written."""

    job_id: str
    graph: dict[str, Any]


class MapView(Struct, frozen=True, kw_only=True):
    """How far a map is. `total` is null while its source still counts; `alive` wait or run."""

    total: int | None = None
    made: int
    alive: int
    succeeded: int
    failed: int
    cancelled: int
    progress: str


class StepView(Struct, frozen=True, kw_only=True):
    """One step. `status` is waiting, live, succeeded, failed, cancelled or skipped; `run_id` is its
    run, of a sub-graph the graph run to look at next, and of a map its source if it has one.
    """

    name: str
    index: int
    kind: str
    needs: list[str]
    status: str
    is_graph: bool
    is_critical: bool
    run_id: str | None = None
    run_status: str | None = None
    attempt_number: int | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    reason: str | None = None
    map: MapView | None = None


class RunGraphView(Struct, frozen=True, kw_only=True):
    """A graph run: its graph, and what became of every step. `counts` is how many are in which
    state, `find_critical_path` the steps that decided how long it took.
    """

    run_id: str
    job_id: str
    status: str
    round: int
    start_time: datetime | None = None
    paused_at: datetime | None = None
    end_time: datetime | None = None
    counts: dict[str, int]
    critical_path: list[str]
    steps: list[StepView]
    graph: dict[str, Any]


class HookView(Struct, frozen=True, kw_only=True):
    hook_id: str
    name: str
    type: str
    style: str
    url: str
    version: int
    created_at: datetime
    used_at: datetime | None = None


class HookMade(HookView, frozen=True, kw_only=True):
    """With its secret, which is shown this once."""

    secret: str


class JobCountView(Struct, frozen=True, kw_only=True):
    """`next_fire_time` is the earliest of these jobs; null if none of them fires again."""

    status: str
    count: int
    next_fire_time: datetime | None = None


class JobCountsView(Struct, frozen=True, kw_only=True):
    items: list[JobCountView] = field(name="data")
    is_complete: bool


class JobMade(Struct, frozen=True, kw_only=True):
    """`run_id` is the first run of a job that runs at once. One that is `deduplicated` was there
    before: the uniqueness rule found it.
    """

    job_id: str
    run_id: str | None = None
    deduplicated: bool
    next_run_at: datetime | None = None
    name: str
    status: str
    warnings: list[str]


class RetriesDraft(Struct, kw_only=True):
    """How often and how soon a failed run is tried again. Null counts as left out."""

    max: int | UnsetType | None = UNSET
    kind: Literal["exponential", "constant", "linear", "list"] | UnsetType | None = UNSET
    base: Duration | UnsetType | None = UNSET
    cap: Duration | UnsetType | None = UNSET
    delays: Sequence[Duration] | UnsetType | None = UNSET
    jitter: Literal["full", "equal", "none"] | UnsetType | None = UNSET


class LimitDraft(Struct, kw_only=True):
    """A limit that all runs with the same key share; `{args.id}` is filled from the payload."""

    key: str
    max: int | UnsetType | None = UNSET
    rate: RateDraft | Mapping[str, Any] | UnsetType | None = UNSET


class UniqueDraft(Struct, kw_only=True):
    """Of equal submissions one becomes a run; the others get it, are refused, or replace it."""

    key: str
    held_while: Literal["queued", "live"] | UnsetType = field(name="while", default=UNSET)
    within: Duration | UnsetType = UNSET
    on_conflict: Literal["return", "reject", "replace"] | UnsetType = UNSET


class JobsMade(Struct, frozen=True, kw_only=True):
    jobs: list[JobMade]


class JobDraft(Struct, kw_only=True):
    """A job that is to be made. Without a kind its name is its kind; without a name it gets one."""

    name: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    job_type: str | UnsetType = UNSET
    schedule: Mapping[str, Any] | UnsetType = UNSET
    schedule_type: ScheduleType | UnsetType = UNSET
    schedule_time: Moment | UnsetType = UNSET
    cron_expression: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    payload: Any | UnsetType = UNSET
    graph: Mapping[str, Any] | UnsetType | None = UNSET
    max_retries: int | UnsetType = UNSET
    retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET
    timeout: Duration | UnsetType | None = UNSET
    deadline: Duration | UnsetType | None = UNSET
    grace: Duration | UnsetType = UNSET
    guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET
    target: str | UnsetType | None = UNSET
    queue: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    overlap: OverlapName | UnsetType = UNSET
    keep_first: bool | UnsetType = UNSET
    when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET
    limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET
    user_id: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET


class JobIdentity(Struct, frozen=True, kw_only=True):
    """What comes first in an answer about a job."""

    job_id: str


class JobValues(JobIdentity, frozen=True, kw_only=True):
    """A job in an answer: every field of the contract."""

    name: str
    kind: str
    schedule: dict[str, Any] | None = None
    payload: Any
    graph: dict[str, Any] | None = None
    retries: dict[str, Any]
    timeout: str | None = None
    deadline: str | None = None
    grace: str
    guarantee: str
    target: str | None = None
    queue: str
    priority: int
    overlap: str
    keep_first: bool
    when_queue_paused: str
    limits: list[dict[str, Any]]
    labels: dict[str, str]
    user_id: str | None = None
    description: str | None = None


class JobView(JobValues, frozen=True, kw_only=True):
    """A job as it is now: the fields of the contract, and what Rota says about it."""

    status: str
    schedule_type: str
    cron_expression: str | None = None
    schedule_time: str | None = None
    timezone: str | None = None
    max_retries: int
    held: dict[str, Any] | None = None
    next_run_at: datetime | None = None
    version: int
    created_at: datetime
    updated_at: datetime


class LatestRun(Struct, frozen=True, kw_only=True):
    run_id: str
    status: str
    start_time: datetime | None = None
    modified_time: datetime
    attempt_number: int
    executor_id: str | None = None


class JobStatus(Struct, frozen=True, kw_only=True):
    job_id: str
    status: str
    latest_run: LatestRun | None = None
    explanation: str


class ChangedFieldView(Struct, frozen=True, kw_only=True):
    """One field, by its path. `is_shown` is false for a payload and for values that are too long:
    the log keeps only that they changed.
    """

    field: str
    before: Any
    after: Any
    is_shown: bool


class JobChangeView(Struct, frozen=True, kw_only=True):
    """One change of a job: who made it, when, by which means, and what became different.

    `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`,
    `dashboard`, `api`, or `transaction` (`rota.within`); null for changes by earlier releases.
    `version` is the version that the job has since; null if the entry does not say. `details` is
    what else the entry says, such as the reason of a pause.
    """

    id: int
    at: datetime
    author: str
    origin: str | None = None
    action: str
    version: int | None = None
    changes: list[ChangedFieldView]
    details: dict[str, Any]


class KeyView(Struct, frozen=True, kw_only=True):
    """A key without its secret, which nobody can show again."""

    key_id: str
    name: str
    handle: str
    role: str
    user_id: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None


class KeyMade(KeyView, frozen=True, kw_only=True):
    """The only time that the key itself is shown."""

    key: str


class TicketView(Struct, frozen=True, kw_only=True):
    """`path` follows the address of the API."""

    ticket: str
    path: str
    expires_at: datetime


class LogLine(Struct, frozen=True, kw_only=True):
    """A piece of output as it was written; it may hold several lines, or a part of one."""

    attempt_number: int
    seq: int
    stream: str
    at: datetime
    text: str


class Logs(Struct, frozen=True, kw_only=True):
    """`cursor` is where to go on from, also when there is nothing more yet."""

    items: list[LogLine] = field(name="data")
    cursor: str | None = None
    is_complete: bool


class FieldChange(Struct, frozen=True, kw_only=True):
    field: str
    before: Any
    after: Any


class TouchedView(Struct, frozen=True, kw_only=True):
    """Who changed it by hand, and when."""

    by: str
    at: datetime
    action: str


class ChangeView(Struct, frozen=True, kw_only=True):
    """One job that is not as declared. `next_before` and `next_after` are when its next runs start;
    `note` says why they are not known.
    """

    action: str
    name: str
    job_id: str | None = None
    version: int
    fields: list[FieldChange]
    sentence: str | None = None
    next_before: list[str]
    next_after: list[str]
    moves: bool
    note: str | None = None
    touched: TouchedView | None = None


class CalendarChangeView(Struct, frozen=True, kw_only=True):
    action: str
    name: str
    version: int
    fields: list[FieldChange]


class PlanView(Struct, frozen=True, kw_only=True):
    """What differs. `touched` are jobs that are as declared, and were changed by hand since."""

    project: str
    changes: list[ChangeView]
    calendars: list[CalendarChangeView]
    unchanged: int
    touched: dict[str, TouchedView]
    seen: dict[str, int]
    seen_calendars: dict[str, int]
    warnings: list[str]


class DeclaredJob(Struct, kw_only=True):
    """A job as a file declares it: a field that is left out has its default. Without a schedule it
    runs on demand. A limit is lifted by `none`; null is what an empty field of YAML is.
    """

    name: str
    kind: str | UnsetType = UNSET
    job_type: str | UnsetType = UNSET
    schedule: Mapping[str, Any] | UnsetType = UNSET
    schedule_type: ScheduleType | UnsetType = UNSET
    schedule_time: Moment | UnsetType = UNSET
    cron_expression: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    payload: Any | UnsetType = UNSET
    graph: Mapping[str, Any] | UnsetType | None = UNSET
    max_retries: int | UnsetType = UNSET
    retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET
    timeout: Duration | UnsetType = UNSET
    deadline: Duration | UnsetType = UNSET
    grace: Duration | UnsetType = UNSET
    guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET
    target: str | UnsetType | None = UNSET
    queue: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    overlap: OverlapName | UnsetType = UNSET
    keep_first: bool | UnsetType = UNSET
    when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET
    limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET
    user_id: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    paused: bool | UnsetType = UNSET


class DeclaredCalendar(Struct, kw_only=True):
    name: str
    calendar: Mapping[str, Any]


class OutcomeView(Struct, frozen=True, kw_only=True):
    """A run that runs, or how it ended; `reason` is also why a tick became none."""

    run_id: str
    status: str
    scheduled_at: datetime
    start_time: datetime | None = None
    end_time: datetime | None = None
    error_message: str | None = None
    reason: dict[str, Any] | None = None


class JobOutcomes(Struct, frozen=True, kw_only=True):
    """The newest first."""

    job_id: str
    runs: list[OutcomeView]


class UpcomingView(Struct, frozen=True, kw_only=True):
    """`local` is what clocks in the schedule's zone show at `at`, with their offset from UTC."""

    at: datetime
    due_at: datetime
    local: str
    viewed: str
    notes: list[str]


class WarningView(Struct, frozen=True, kw_only=True):
    code: str
    detail: str


class PreviewView(Struct, frozen=True, kw_only=True):
    sentence: str
    follows: str
    timezone: str
    tzdata: str
    schedule: dict[str, Any]
    upcoming: list[UpcomingView]
    warnings: list[WarningView]


class BackfillView(Struct, frozen=True, kw_only=True):
    """How many ticks there are, have run, have not; `undecided` is the scheduler's own business."""

    ticks: int
    exist: int
    missing: int
    new: int
    undecided: int
    run_ids: list[str]


class BackfillPlanned(Struct, frozen=True, kw_only=True):
    """What was counted: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`, `new` are
    those that get a run. With `estimated` the range was too long to look at each. `undecided` is
    the scheduler's own business, `takes` how long it will take, if the job has run before.
    """

    backfill_id: str | None = None
    ticks: int
    ran: int
    alive: int
    failed: int
    missing: int
    new: int
    undecided: int
    estimated: bool
    takes: str | None = None


class SecretView(Struct, frozen=True, kw_only=True):
    name: str
    version: int
    updated_at: datetime


class Health(Struct, frozen=True, kw_only=True):
    status: str


class WhoAmI(Struct, frozen=True, kw_only=True):
    key_id: str
    name: str
    tenant: str
    role: str
    user_id: str | None = None
    expires_at: datetime | None = None
    warning: str | None = None


class SourceView(Struct, frozen=True, kw_only=True):
    """A source of events, and how far it was read."""

    name: str
    kind: str
    state: str
    reader: str | None = None
    position: str | None = None
    lag: int | None = None
    taken: int
    refused: int
    read_at: datetime | None = None
    taken_at: datetime | None = None
    failures: int
    error: str | None = None
    error_at: datetime | None = None


class DepthView(Struct, frozen=True, kw_only=True):
    queue: str
    waiting: int
    oldest_wait_s: float | None = None


class StatisticsView(Struct, frozen=True, kw_only=True):
    """`is_estimate`: there were too many runs to count each."""

    since: datetime
    now: datetime
    runs: dict[str, int]
    is_estimate: bool
    failure_rate: float | None = None
    runs_per_second: float
    wait_p50_s: float | None = None
    wait_p99_s: float | None = None
    duration_p50_s: float | None = None
    duration_p99_s: float | None = None
    queues: list[DepthView]
    late_ticks: int
    latest_tick_by_s: float


class BucketView(Struct, frozen=True, kw_only=True):
    """Runs that ended from `start` on. The percentiles of their lags are to a twentieth."""

    start: datetime
    runs: dict[str, int]
    mean_wait_s: float | None = None
    wait_p50_s: float | None = None
    wait_p99_s: float | None = None
    longest_wait_s: float | None = None
    mean_duration_s: float | None = None


class SeriesView(Struct, frozen=True, kw_only=True):
    width_s: float
    is_estimate: bool
    buckets: list[BucketView]


class TaskItem(Struct, frozen=True, kw_only=True):
    """A task in the list.

    `workers` is the number of live workers that serve it. `runs_per_minute` and `compute_failure_rate` are
    of the runs that ended in the last hour. `scheduled` counts submissions for a later instant.
    `last_run_at` is the end of the last run among the newest 32,000 of your tenant.
    `is_estimate`: more runs ended in the last hour than are read. `is_partial`: more runs wait or
    are scheduled than are counted.
    """

    kind: str
    description: str | None = None
    workers: int
    runs_per_minute: float
    failure_rate: float | None = None
    running: int
    waiting: int
    scheduled: int
    last_run_at: datetime | None = None
    is_estimate: bool
    is_partial: bool


class TaskWorker(Struct, frozen=True, kw_only=True):
    worker_id: str
    name: str
    is_draining: bool
    queues: list[str]


class TaskFailure(Struct, frozen=True, kw_only=True):
    run_id: str
    ended_at: datetime
    error_type: str | None = None
    message: str | None = None


class TaskJob(Struct, frozen=True, kw_only=True):
    job_id: str
    name: str
    status: str
    next_run_at: datetime | None = None


class TaskBucket(Struct, frozen=True, kw_only=True):
    """Runs that ended from `start` on, for `width_s` seconds."""

    start: datetime
    ended: int
    failed: int
    duration_p50_s: float | None = None
    duration_p99_s: float | None = None
    wait_p50_s: float | None = None
    wait_p99_s: float | None = None


class TaskView(Struct, frozen=True, kw_only=True):
    """A task and its figures.

    `description`, `payload_schema` and `default_policy` are what a worker told when it started.
    `default_policy` holds the options declared on the handler; `null` if there are none.
    `runs`, `ended`, `failed`, the rates and the percentiles are of the runs that ended from `since`
    on. Ticks that never became a run do not count. `duration_*` is the time of the last attempt,
    `wait_*` the time from when a run could start until it started; the percentiles are accurate to
    a twentieth. `is_estimate`: there were too many runs to count each. `is_partial`: more runs wait
    or are scheduled than are counted. `jobs` are the newest 50 of this kind.
    """

    kind: str
    description: str | None = None
    payload_schema: dict[str, Any] | None = None
    default_policy: dict[str, Any] | None = None
    supports_exactly_once: bool | None = None
    workers: list[TaskWorker]
    running: int
    waiting: int
    scheduled: int
    is_partial: bool
    window: str
    since: datetime
    now: datetime
    runs: dict[str, int]
    ended: int
    failed: int
    failure_rate: float | None = None
    runs_per_minute: float
    duration_p50_s: float | None = None
    duration_p99_s: float | None = None
    wait_p50_s: float | None = None
    wait_p99_s: float | None = None
    is_estimate: bool
    last_run_at: datetime | None = None
    last_failure: TaskFailure | None = None
    jobs: list[TaskJob]
    has_more_jobs: bool
    width_s: float
    series: list[TaskBucket]


class TenantView(Struct, frozen=True, kw_only=True):
    tenant_id: int
    name: str
    weight: int
    quotas: dict[str, Any]
    is_paused: bool
    paused_at: datetime | None = None
    created_at: datetime


class QuotasDraft(Struct, kw_only=True):
    """What a tenant may have at most. A quota that is absent has its default; null lifts it."""

    max_jobs: int | UnsetType | None = UNSET
    max_queued: int | UnsetType | None = UNSET
    max_running: int | UnsetType | None = UNSET
    runs_per_s: int | UnsetType | None = UNSET
    min_period: Duration | UnsetType | None = UNSET
    max_queues: int | UnsetType | None = UNSET
    max_kinds: int | UnsetType | None = UNSET
    max_limit_keys: int | UnsetType | None = UNSET
    max_hooks: int | UnsetType | None = UNSET
    max_calendars: int | UnsetType | None = UNSET
    max_secrets: int | UnsetType | None = UNSET
    max_keys: int | UnsetType | None = UNSET


class UserView(Struct, frozen=True, kw_only=True):
    """Whom jobs and keys name. `jobs` are those that are not deleted, counted up to 200; `keys`
    are those that are valid.
    """

    user_id: str
    jobs: int
    keys: int


class KeysRevoked(Struct, frozen=True, kw_only=True):
    """The keys that were valid until now."""

    user_id: str
    key_ids: list[str]

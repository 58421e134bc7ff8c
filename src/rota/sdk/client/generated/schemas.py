"""Defines the data types of requests and responses of the API.

Rendered from src/rota/api by `make generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

# Accepted types of times and durations.
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


class RouteView(Struct, frozen=True, kw_only=True):
    name: str
    steps: list[dict[str, Any]]
    project: str | None = None
    version: int
    created_at: datetime
    updated_at: datetime


class RouteStepDraft(Struct, kw_only=True):
    """One step of a route: channels, and when they get messages."""

    to: Sequence[str]
    after: Duration | UnsetType | None = UNSET
    repeat: Duration | UnsetType | None = UNSET
    unless: Literal["acknowledged"] | UnsetType | None = UNSET
    severity: Literal["info", "warning", "page"] | UnsetType | None = UNSET
    recovery: bool | UnsetType | None = UNSET


class AuditView(Struct, frozen=True, kw_only=True):
    """One entry of the audit log.

    `source` is the client's address. `origin` is the means of the change: `code` (an app that
    declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction`
    (`rota.in_transaction`); null for entries of earlier releases.
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
    """The state of a backfill. `ticks` were processed and `made` runs were created for them;
    `alive` of these have not ended; `left` runs are active or not created yet. `reached` is the
    time up to which ticks are processed, or down to which if the newest run first.
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


class IncidentSubject(Struct, frozen=True, kw_only=True):
    """What an incident is about."""

    kind: str
    id: str
    name: str


class IncidentExpectation(Struct, frozen=True, kw_only=True):
    """The violated expectation, the worst if there are several."""

    id: str
    name: str


class ThreadEntryView(Struct, frozen=True, kw_only=True):
    """An entry of the thread of an incident. `by` is null for Rota itself."""

    at: datetime
    type: str
    by: str | None = None
    text: str | None = None


class IncidentNotification(Struct, frozen=True, kw_only=True):
    """A message about an incident."""

    notification_id: str
    channel: str
    kind: str
    state: str
    created_at: datetime
    sent_at: datetime | None = None
    attempts: int
    error: str | None = None


class IncidentView(Struct, frozen=True, kw_only=True):
    """An incident. `thread` and `notifications` are present for a single incident only."""

    incident_id: str
    title: str
    condition: str
    severity: str
    state: str
    subject: IncidentSubject
    job_id: str | None = None
    run_id: str | None = None
    opened_at: datetime
    last_seen_at: datetime
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    resolution: str | None = None
    count: int
    silenced_until: str | None = None
    is_flapping: bool
    inhibited_by: str | None = None
    is_platform: bool
    expectation: IncidentExpectation
    facts: dict[str, Any]
    thread: list[ThreadEntryView] | None = None
    notifications: list[IncidentNotification] | None = None


class NotificationView(Struct, frozen=True, kw_only=True):
    """A message about incidents to one channel."""

    notification_id: str
    channel: str
    kind: str
    severity: str
    state: str
    title: str | None = None
    incident_ids: list[str]
    incident_count: int
    created_at: datetime
    next_at: datetime | None = None
    sent_at: datetime | None = None
    attempts: int
    error: str | None = None
    digest_id: str | None = None


class ChannelView(Struct, frozen=True, kw_only=True):
    """A channel that a process reported. Its address is never shown."""

    name: str
    kind: str
    is_default: bool
    health: str
    recovery: bool
    minimum_severity: str
    last_sent_at: datetime | None = None
    failing_since: datetime | None = None
    last_error: str | None = None
    reported_at: datetime


class QueueView(Struct, frozen=True, kw_only=True):
    """A queue with the runs of the caller's tenant in it. Counts end at 10,000."""

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
    """At most `count` runs start per `per`, of which `burst` may start at the same time."""

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
    version: str | None = None
    observe_url: str | None = None


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
    version: str | None = None
    observe_url: str | None = None


class ShardView(Struct, frozen=True, kw_only=True):
    shard: int
    scheduler: str | None = None
    epoch: int
    expires_at: datetime | None = None


class RunRecord(Struct, frozen=True, kw_only=True):
    """The fields of a run, active or finished."""

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
    """A run and its current state."""


class TracebackFrame(Struct, frozen=True, kw_only=True):
    """One call. `is_own`: code of the user, not of Rota, Python or a library."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


class TracebackError(Struct, frozen=True, kw_only=True):
    """One exception, with its frames in the order of the calls.

    `relation` is `raised` for the error that ended the attempt, whose message is `error_message`;
    then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one
    `depth` deeper). `omitted_frames` counts frames omitted from the middle.
    """

    relation: str
    type: str
    message: str | None = None
    depth: int
    frames: list[TracebackFrame]
    omitted_frames: int


class RunDetail(RunView, frozen=True, kw_only=True):
    """One run with its payload, its result and the backfill that created it.

    `submitter` and `address` are the caller and its address; null for a run that a job created.
    `traceback` belongs to the last attempt; null if no exception ended it.
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


class RunExplanation(Struct, frozen=True, kw_only=True):
    """Why the run is in its state, in one sentence."""

    run_id: str
    status: str
    code: str
    sentence: str
    details: dict[str, Any]
    prediction: str | None = None


class RunStateView(Struct, frozen=True, kw_only=True):
    run_id: str
    status: str


class StartedRun(Struct, frozen=True, kw_only=True):
    """`refused` is set if the overlap policy did not allow the run, and says why."""

    job_id: str
    run_id: str
    refused: str | None = None


class BulkActionResult(Struct, frozen=True, kw_only=True):
    """`matched` runs fit the filter, this call changed `done`, and `token` is for the next call."""

    matched: int
    done: int
    token: str | None = None


class BulkFilter(Struct, kw_only=True):
    """Selects runs. At least one field is required."""

    job_id: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    queue: str | UnsetType | None = UNSET
    error: str | UnsetType | None = UNSET
    fingerprint: str | UnsetType | None = UNSET
    since: Moment | UnsetType | None = UNSET
    until: Moment | UnsetType | None = UNSET


class DeadGroupJob(Struct, frozen=True, kw_only=True):
    """A job in the group and the number of its runs there. All one-time submissions share one entry
    without id and name.
    """

    job_id: str | None = None
    job_name: str | None = None
    count: int


class DeadGroupView(Struct, frozen=True, kw_only=True):
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
    """Groups of dead letters that ended from `since` on and before `until`. `is_partial`: only the
    newest are grouped; `count` and `first_seen` exclude older ones.
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


class EventReceipt(Struct, frozen=True, kw_only=True):
    """One accepted event. A `duplicate` was received before and creates no runs. `run_ids` are the
    runs that contain the event; a run that collects several events does not exist yet.
    """

    event_id: str
    source: str
    id: str
    duplicate: bool
    run_ids: list[str]


class EventReceipts(Struct, frozen=True, kw_only=True):
    taken: int
    duplicates: int
    events: list[EventReceipt]


class EventDraft(Struct, kw_only=True):
    source: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    time: Moment | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    data: Any | UnsetType = UNSET
    type: str


class MatchView(Struct, frozen=True, kw_only=True):
    """How an event matched a job that waits for its type, and why."""

    job_id: str
    job_name: str | None = None
    outcome: str
    run_id: str | None = None
    why: str | None = None
    replay: str | None = None


class EventView(Struct, frozen=True, kw_only=True):
    """A received event. `attributes` are its CloudEvents extension attributes."""

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


class EventReplayResult(Struct, frozen=True, kw_only=True):
    """`matched` events fit the filter, `done` were replayed, and `runs` were created at once."""

    matched: int
    done: int
    runs: int
    token: str | None = None


class EventFilter(Struct, kw_only=True):
    """Selects events. At least one field is required."""

    type: str | UnsetType | None = UNSET
    source: str | UnsetType | None = UNSET
    since: Moment | UnsetType | None = UNSET
    until: Moment | UnsetType | None = UNSET
    job_id: str | UnsetType | None = UNSET


class ExpectationView(Struct, frozen=True, kw_only=True):
    """A rule. Durations are in ISO 8601."""

    expectation_id: str
    name: str
    match: dict[str, Any]
    when: dict[str, Any]
    to: str | None = None
    severity: str
    hold_for: str = field(name="for")
    clear: int
    recovery: bool
    enabled: bool
    project: str | None = None
    version: int
    created_at: datetime
    updated_at: datetime
    warnings: list[str]


class AtRiskDraft(Struct, kw_only=True):
    """Warns before `finish_by` is missed."""

    probability: float | str | UnsetType = UNSET


class MaxDurationDraft(Struct, kw_only=True):
    """A limit that follows the job's own history."""

    times: float
    at_least: Duration | UnsetType | None = UNSET


class FailuresDraft(Struct, kw_only=True):
    """How many failures are too many: a streak, a rate, or both."""

    streak: int | UnsetType | None = UNSET
    rate: float | str | UnsetType | None = UNSET
    over: Duration | UnsetType | None = UNSET
    at_least: int | UnsetType | None = UNSET


class DeadLettersDraft(Struct, kw_only=True):
    """How many new dead letters with the same error are too many."""

    count: int | UnsetType = UNSET
    over: Duration | UnsetType | None = UNSET


class RuleCondition(Struct, kw_only=True):
    """The condition of a rule: exactly one field."""

    start_within: Duration | UnsetType | None = UNSET
    finish_by: str | UnsetType | None = UNSET
    at_risk: bool | AtRiskDraft | Mapping[str, Any] | UnsetType | None = UNSET
    succeed_every: Duration | UnsetType | None = UNSET
    max_duration: Duration | MaxDurationDraft | Mapping[str, Any] | UnsetType | None = UNSET
    failures: FailuresDraft | Mapping[str, Any] | UnsetType | None = UNSET
    dead_letters: int | DeadLettersDraft | Mapping[str, Any] | UnsetType | None = UNSET
    missed_ticks: int | UnsetType | None = UNSET
    no_worker: Duration | UnsetType | None = UNSET
    oldest_wait: Duration | UnsetType | None = UNSET
    lag: Duration | UnsetType | None = UNSET


class SubjectMatch(Struct, kw_only=True):
    """Which subjects a rule or a silence applies to. All given fields must match; without any, all
    jobs match. `*` in a pattern stands for any characters.
    """

    job: str | UnsetType | None = UNSET
    step: str | UnsetType | None = UNSET
    task: str | UnsetType | None = UNSET
    queue: str | UnsetType | None = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET


class JobExpectationView(Struct, frozen=True, kw_only=True):
    """An expectation of a job: its own, a rule that matches it, or a default of Rota."""

    expectation_id: str
    name: str
    origin: str
    condition: str
    when: dict[str, Any]
    to: str | None = None
    severity: str
    state: str
    since: datetime | None = None
    next_check_at: datetime | None = None
    incident_id: str | None = None


class ExternalRun(Struct, frozen=True, kw_only=True):
    """A started run. It counts as lost after `lease_seconds` without a report."""

    job_id: str
    run_id: str
    lease_seconds: int
    log_url: str


class ExternalRunState(Struct, frozen=True, kw_only=True):
    """`cancel`: a user requested cancellation; stop the process."""

    run_id: str
    cancel: bool
    status: str


class OutputPiece(Struct, kw_only=True):
    seq: int
    text: str
    stream: Literal["stdout", "stderr"] | UnsetType = UNSET


class GraphView(Struct, frozen=True, kw_only=True):
    """The graph of a job, as defined."""

    job_id: str
    graph: dict[str, Any]


class MapView(Struct, frozen=True, kw_only=True):
    """Progress of a map. `total` is null while its source still counts; `alive` members wait or
    run.
    """

    total: int | None = None
    made: int
    alive: int
    succeeded: int
    failed: int
    cancelled: int
    progress: str


class StepView(Struct, frozen=True, kw_only=True):
    """One step. `status` is waiting, live, succeeded, failed, cancelled or skipped. `run_id` is the
    run of the step; for a sub-graph its graph run, for a map the run of its source, if any.
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
    """A graph run: its graph and the state of every step. `counts` is the number of steps per
    state; `critical_path` lists the steps that determined the duration.
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


class CreatedHook(HookView, frozen=True, kw_only=True):
    """A new hook with its secret, which is shown only once."""

    secret: str


class JobCountView(Struct, frozen=True, kw_only=True):
    """Jobs of one status. `next_fire_time` is the earliest next tick; null if none fires again."""

    status: str
    count: int
    next_fire_time: datetime | None = None


class JobCountsView(Struct, frozen=True, kw_only=True):
    items: list[JobCountView] = field(name="data")
    is_complete: bool


class CreatedJob(Struct, frozen=True, kw_only=True):
    """A created job. `run_id` is the run of a job that runs at once. `deduplicated`: the uniqueness
    rule found an existing job or run, and none was created.
    """

    job_id: str
    run_id: str | None = None
    deduplicated: bool
    next_run_at: datetime | None = None
    name: str
    status: str
    warnings: list[str]


class RetriesDraft(Struct, kw_only=True):
    """How often and how soon a failed run is retried. A null field has its default."""

    max: int | UnsetType | None = UNSET
    kind: Literal["exponential", "constant", "linear", "list"] | UnsetType | None = UNSET
    base: Duration | UnsetType | None = UNSET
    cap: Duration | UnsetType | None = UNSET
    delays: Sequence[Duration] | UnsetType | None = UNSET
    jitter: Literal["full", "equal", "none"] | UnsetType | None = UNSET


class LimitDraft(Struct, kw_only=True):
    """A limit shared by all runs with the same key. `{args.id}` in the key is replaced by the
    value in the payload.
    """

    key: str
    max: int | UnsetType | None = UNSET
    rate: RateDraft | Mapping[str, Any] | UnsetType | None = UNSET


class ExpectDraft(Struct, kw_only=True):
    """What must hold for the runs of a job. Each field is a condition of its own."""

    start_within: Duration | UnsetType | None = UNSET
    finish_by: str | UnsetType | None = UNSET
    at_risk: bool | AtRiskDraft | Mapping[str, Any] | UnsetType | None = UNSET
    succeed_every: Duration | UnsetType | None = UNSET
    max_duration: Duration | MaxDurationDraft | Mapping[str, Any] | UnsetType | None = UNSET
    failures: FailuresDraft | Mapping[str, Any] | UnsetType | None = UNSET
    dead_letters: int | DeadLettersDraft | Mapping[str, Any] | UnsetType | None = UNSET
    missed_ticks: int | UnsetType | None = UNSET


class AlertDraft(Struct, kw_only=True):
    """How violations are reported."""

    to: str | UnsetType | None = UNSET
    severity: Literal["info", "warning", "page"] | UnsetType | None = UNSET
    hold_for: Duration | UnsetType | None = field(name="for", default=UNSET)
    clear: int | UnsetType | None = UNSET
    recovery: bool | UnsetType | None = UNSET


class UniqueDraft(Struct, kw_only=True):
    """Deduplicates submissions: the first one with a key becomes a run; a later one returns that
    run, is rejected, or replaces it.
    """

    key: str
    held_while: Literal["queued", "live"] | UnsetType = field(name="while", default=UNSET)
    within: Duration | UnsetType = UNSET
    on_conflict: Literal["return", "reject", "replace"] | UnsetType = UNSET


class CreatedJobs(Struct, frozen=True, kw_only=True):
    jobs: list[CreatedJob]


class JobDraft(Struct, kw_only=True):
    """A new job. `kind` defaults to the name; a job without a name gets a generated one."""

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
    expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET
    alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET
    unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET


class JobIdentity(Struct, frozen=True, kw_only=True):
    """The first field of a job in a response."""

    job_id: str


class JobValues(JobIdentity, frozen=True, kw_only=True):
    """A job in a response: every field of the contract."""

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
    expect: dict[str, Any] | None = None
    alert: dict[str, Any] | None = None


class JobView(JobValues, frozen=True, kw_only=True):
    """A job with its fields and its current state."""

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


class LatestRunView(Struct, frozen=True, kw_only=True):
    run_id: str
    status: str
    start_time: datetime | None = None
    modified_time: datetime
    attempt_number: int
    executor_id: str | None = None


class JobStatus(Struct, frozen=True, kw_only=True):
    job_id: str
    status: str
    latest_run: LatestRunView | None = None
    explanation: str
    prediction: str | None = None


class ChangedFieldView(Struct, frozen=True, kw_only=True):
    """One changed field, by its path. `is_shown` is false for payloads and for long values: the log
    records only that they changed.
    """

    field: str
    before: Any
    after: Any
    is_shown: bool


class JobChangeView(Struct, frozen=True, kw_only=True):
    """One change of a job: author, time, origin and the changed fields.

    `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`,
    `dashboard`, `api`, or `transaction` (`rota.in_transaction`); null for changes by earlier
    releases. `version` is the job's version after the change; null if unknown. `details` contains
    other facts, such as the reason of a pause.
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
    """A key without its secret, which cannot be shown again."""

    key_id: str
    name: str
    handle: str
    role: str
    user_id: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None


class CreatedKey(KeyView, frozen=True, kw_only=True):
    """A new key with its secret, which is shown only once."""

    key: str


class TicketView(Struct, frozen=True, kw_only=True):
    """A login ticket. Append `path` to the address of the API."""

    ticket: str
    path: str
    expires_at: datetime


class LogLine(Struct, frozen=True, kw_only=True):
    """A piece of output as written: several lines, or part of one."""

    attempt_number: int
    seq: int
    stream: str
    at: datetime
    text: str


class Logs(Struct, frozen=True, kw_only=True):
    """A page of output. Continue from `cursor`, even if there is no more output yet."""

    items: list[LogLine] = field(name="data")
    cursor: str | None = None
    is_complete: bool


class FieldChange(Struct, frozen=True, kw_only=True):
    field: str
    before: Any
    after: Any


class ManualChangeView(Struct, frozen=True, kw_only=True):
    """The last change outside the manifest."""

    by: str
    at: datetime
    action: str


class ChangeView(Struct, frozen=True, kw_only=True):
    """One job that differs from its declaration. `next_before` and `next_after` are its next ticks;
    `note` says why they are unknown.
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
    touched: ManualChangeView | None = None


class CalendarChangeView(Struct, frozen=True, kw_only=True):
    action: str
    name: str
    version: int
    fields: list[FieldChange]


class AlertChangeView(Struct, frozen=True, kw_only=True):
    """One rule or route that differs from its declaration."""

    thing: str
    action: str
    name: str
    version: int
    fields: list[FieldChange]


class PlanView(Struct, frozen=True, kw_only=True):
    """The differences. `touched` jobs match their declaration but were changed outside it."""

    project: str
    changes: list[ChangeView]
    calendars: list[CalendarChangeView]
    alerts: list[AlertChangeView]
    unchanged: int
    touched: dict[str, ManualChangeView]
    seen: dict[str, int]
    seen_calendars: dict[str, int]
    seen_alerts: dict[str, int]
    warnings: list[str]


class DeclaredJob(Struct, kw_only=True):
    """A job declared in a file. An omitted field has its default. A job without a schedule runs on
    demand. `none` removes a limit; null is an empty YAML field.
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
    expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET
    alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET
    paused: bool | UnsetType = UNSET


class DeclaredCalendar(Struct, kw_only=True):
    name: str
    calendar: Mapping[str, Any]


class RuleDraft(Struct, kw_only=True):
    """A rule: one condition for all subjects that `match` selects, and how it is reported."""

    to: str | UnsetType | None = UNSET
    severity: Literal["info", "warning", "page"] | UnsetType | None = UNSET
    hold_for: Duration | UnsetType | None = field(name="for", default=UNSET)
    clear: int | UnsetType | None = UNSET
    recovery: bool | UnsetType | None = UNSET
    name: str
    when: RuleCondition | Mapping[str, Any]
    match: SubjectMatch | Mapping[str, Any] | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class DeclaredRoute(Struct, kw_only=True):
    name: str
    steps: Sequence[RouteStepDraft | Mapping[str, Any]]


class TargetGroup(Struct, frozen=True, kw_only=True):
    """Targets with the same labels, in the form of Prometheus' HTTP service discovery."""

    targets: list[str]
    labels: dict[str, str]


class DemandView(Struct, frozen=True, kw_only=True):
    """The demand of a queue: how many slots it could use."""

    queue: str
    demand: int
    ready: int
    running: int
    upcoming: int


class OutcomeView(Struct, frozen=True, kw_only=True):
    """A run and its outcome. `reason` also explains why a tick was skipped."""

    run_id: str
    status: str
    scheduled_at: datetime
    start_time: datetime | None = None
    end_time: datetime | None = None
    error_message: str | None = None
    reason: dict[str, Any] | None = None


class JobOutcomes(Struct, frozen=True, kw_only=True):
    """The recent runs of a job, newest first."""

    job_id: str
    runs: list[OutcomeView]


class PingView(Struct, frozen=True, kw_only=True):
    """A ping without its URL."""

    ping_id: str
    name: str
    handle: str
    state: str
    schedule: dict[str, Any]
    grace: str
    alert: dict[str, Any]
    version: int
    created_at: datetime
    pinged_at: datetime | None = None
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    overdue_at: datetime | None = None


class CreatedPing(PingView, frozen=True, kw_only=True):
    """A new ping with its URL, which is shown only once."""

    ping_url: str


class PredictionView(Struct, frozen=True, kw_only=True):
    """When a run will finish. Without enough history `expected_at` is null; `reason` says why."""

    job_id: str
    run_id: str | None = None
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None = None
    expected_at: datetime | None = None
    likely_by: str | None = None
    deadline: str | None = None
    probability: float | None = None
    samples: int
    basis: str | None = None
    reason: str | None = None
    sentence: str


class ProblemSubjectView(Struct, frozen=True, kw_only=True):
    kind: str
    id: str
    name: str


class ProblemActionView(Struct, frozen=True, kw_only=True):
    """A request that ends the problem. Left out if the caller may not send it."""

    label: str
    method: str
    path: str
    body: dict[str, Any] | None = None
    needs_token: bool


class ProblemView(Struct, frozen=True, kw_only=True):
    code: str
    sentence: str
    cause: str | None = None
    since: datetime | None = None
    severity: str
    subject: ProblemSubjectView
    remedy: str
    action: ProblemActionView | None = None
    links: dict[str, str]


class RehearsedRule(Struct, frozen=True, kw_only=True):
    """What one rule, or one condition of a job, would have done."""

    name: str
    origin: str
    condition: str
    incidents: int
    messages: int
    subjects: int
    first_at: datetime | None = None
    last_at: datetime | None = None
    example: str | None = None
    skipped: str | None = None


class Rehearsal(Struct, frozen=True, kw_only=True):
    """What rules would have done over a part of the history."""

    since: datetime
    until: str
    runs: int
    is_complete: bool
    incidents: int
    messages: int
    rules: list[RehearsedRule]


class UpcomingView(Struct, frozen=True, kw_only=True):
    """A next time. `local` is `at` in the schedule's time zone, with its UTC offset."""

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


class BackfillEstimate(Struct, frozen=True, kw_only=True):
    """The counts: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`; `new` ticks get a
    run. `estimated`: the range was too long to check each tick. `undecided` ticks are left to the
    scheduler. `takes` is the expected duration, if the job has run before.
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


class SilenceView(Struct, frozen=True, kw_only=True):
    """A silence. `ends_at` is null for one that follows a calendar without an end."""

    silence_id: str
    match: SubjectMatch
    starts_at: datetime
    ends_at: datetime | None = None
    calendar: str | None = None
    reason: str
    state: str
    created_by: str
    created_at: datetime
    ended_by: str | None = None


class SourceView(Struct, frozen=True, kw_only=True):
    """An event source and its progress."""

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
    """Statistics of a tenant. `is_estimate`: there were too many runs to count each."""

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
    """Runs that ended from `start` on. The percentiles of their waits are accurate to 5 %."""

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

    `workers` is the number of live workers that serve it. `runs_per_minute` and `failure_rate`
    cover runs that ended in the last hour. `scheduled` counts submissions for a later time.
    `last_run_at` is the end of the last run among the newest 32,000 of your tenant. `is_estimate`:
    more runs ended in the last hour than are read. `is_partial`: more runs wait or are scheduled
    than are counted.
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

    A worker reports `description`, `payload_schema` and `default_policy` when it starts.
    `default_policy` contains the options declared on the handler; null without options. `runs`,
    `ended`, `failed`, the rates and the percentiles cover runs that ended from `since` on. Ticks
    without a run do not count. `duration_*` is the time of the last attempt, `wait_*` the time from
    when a run could start until it started; the percentiles are accurate to 5 %. `is_estimate`:
    there were too many runs to count each. `is_partial`: more runs wait or are scheduled than are
    counted. `jobs` are the newest 50 of this kind.
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
    """The quotas of a tenant. An omitted quota has its default; null removes the limit."""

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


class LoadPart(Struct, frozen=True, kw_only=True):
    start: datetime
    ticks: int


class BusyJob(Struct, frozen=True, kw_only=True):
    """A job with many ticks. `is_estimate`: it has too many ticks to compute each. Cron and
    intervals are exact.
    """

    job_id: str
    job_name: str
    ticks: int
    is_estimate: bool


class LoadView(Struct, frozen=True, kw_only=True):
    """The upcoming ticks. `buckets` omits empty buckets. `unknown` jobs have a fixed delay after
    each
    run, so their ticks are not known. `is_estimate`: a job is an estimate, or there are more
    schedules than one response covers.
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
    """A kind. `workers` is the number of live workers that serve it; `payload_schema` is its JSON
    Schema, if known.
    """

    kind: str
    workers: int
    payload_schema: dict[str, Any] | None = None


class UserView(Struct, frozen=True, kw_only=True):
    """A user of jobs and keys. `jobs` counts jobs that are not deleted, up to 200; `keys` counts
    valid keys.
    """

    user_id: str
    jobs: int
    keys: int


class KeysRevoked(Struct, frozen=True, kw_only=True):
    """The revoked keys."""

    user_id: str
    key_ids: list[str]


class WebhookFilter(Struct, frozen=True, kw_only=True):
    """Conditions that an event must meet, all of them. `*` in a name matches any characters."""

    job: str | None = None
    task: str | None = None
    queue: str | None = None
    labels: dict[str, str]
    severity: str | None = None


class WebhookView(Struct, frozen=True, kw_only=True):
    """An endpoint without its secret. `url` is shortened for viewers. `pending` counts deliveries
    that wait, `held` those that wait because the endpoint is disabled; both up to 100,001.
    `failing_since` is the first failed attempt since the last success.
    """

    webhook_id: str
    name: str
    url: str
    events: list[str]
    filter: WebhookFilter
    include: list[str]
    format: str
    allow_http: bool
    state: str
    disabled_reason: str | None = None
    disabled_at: datetime | None = None
    failures: int
    failing_since: datetime | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str | None = None
    pending: int
    held: int
    version: int
    former_secret_until: str | None = None
    created_at: datetime
    created_by: str
    updated_at: datetime
    warnings: list[str]


class CreatedWebhook(WebhookView, frozen=True, kw_only=True):
    """An endpoint with its secret, which is shown only once."""

    secret: str


class EnabledWebhook(Struct, frozen=True, kw_only=True):
    """`matched` deliveries were held, `done` of them were changed, and `token` confirms."""

    webhook: WebhookView
    matched: int
    done: int
    token: str | None = None


class DeliveryView(Struct, frozen=True, kw_only=True):
    """One event for one endpoint. `event_id` is the `webhook-id` of its requests. `status` and
    `error` are those of the last attempt.
    """

    delivery_id: str
    event_id: str
    type: str
    state: str
    attempts: int
    next_attempt_at: datetime | None = None
    created_at: datetime
    finished_at: datetime | None = None
    status: int | None = None
    error: str | None = None


class ReplayedDeliveries(Struct, frozen=True, kw_only=True):
    """`matched` deliveries fit the filter, this call scheduled `done`, and `token` confirms."""

    matched: int
    done: int
    token: str | None = None


class DeliveryAttempt(Struct, frozen=True, kw_only=True):
    at: datetime
    status: int | None = None
    error: str | None = None
    duration_ms: int


class DeliveryDetails(DeliveryView, frozen=True, kw_only=True):
    """Adds the request body, the beginning of the last response, and the last 20 attempts."""

    content_type: str
    body: Any
    response: str | None = None
    history: list[DeliveryAttempt]

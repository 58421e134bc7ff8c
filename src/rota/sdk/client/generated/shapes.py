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
ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
Guarantee = Literal["at_least_once", "at_most_once", "exactly_once"]
Status = Literal["active", "pending", "running", "paused", "quarantined", "finished"]
Priority = int | Literal["high", "medium", "normal", "low"]
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
]
RoleName = Literal["viewer", "operator", "admin", "platform"]


class AuditView(Struct, frozen=True, kw_only=True):
    """Who did what, when and from where."""

    id: int
    at: datetime
    actor: str
    key_id: str | None = None
    source: str | None = None
    action: str
    thing: str
    thing_id: str
    before: Any
    after: Any
    request_id: str | None = None


class CalendarView(Struct, frozen=True, kw_only=True):
    name: str
    calendar: dict[str, Any]
    version: int
    updated_at: datetime


class QueueView(Struct, frozen=True, kw_only=True):
    """A queue, and what of the caller's tenant is in it. Counts end at 10,000."""

    name: str
    is_paused: bool
    paused_at: datetime | None = None
    max: int | None = None
    rate: dict[str, Any] | None = None
    waiting: int
    later: int
    running: int
    oldest_waiting_since: datetime | None = None


class QueueState(Struct, frozen=True, kw_only=True):
    name: str
    is_paused: bool


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
    kinds: list[str]
    started_at: datetime
    beat_at: datetime


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


class RunView(Struct, frozen=True, kw_only=True):
    """A run as it is now; `modified_time` is the last time that anything happened to it."""

    run_id: str
    job_id: str
    job_name: str | None = None
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
    log_url: str


class RunDetail(RunView, frozen=True, kw_only=True):
    """One run with what it was given and what came of it."""

    payload: Any
    result: Any
    deadline_at: datetime | None = None


class AttemptView(Struct, frozen=True, kw_only=True):
    attempt_number: int
    outcome: str
    start_time: datetime | None = None
    end_time: datetime | None = None
    executor_id: str | None = None
    worker: str | None = None
    error_message: str | None = None
    reason: dict[str, Any] | None = None


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
    since: Moment | UnsetType | None = UNSET
    until: Moment | UnsetType | None = UNSET


class DeadGroupView(Struct, frozen=True, kw_only=True):
    """Dead letters that died alike."""

    job_id: str
    job_name: str | None = None
    error_type: str
    message: str
    count: int
    first_seen: datetime
    last_seen: datetime
    sample_run_id: str


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
    """How often and how soon a failed run is tried again."""

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
    max_retries: int | UnsetType = UNSET
    retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET
    timeout: Duration | UnsetType = UNSET
    deadline: Duration | UnsetType = UNSET
    grace: Duration | UnsetType = UNSET
    guarantee: Guarantee | UnsetType = UNSET
    queue: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    overlap: OverlapName | UnsetType = UNSET
    keep_first: bool | UnsetType = UNSET
    limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET
    user_id: str | UnsetType | None = UNSET
    unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET


class JobView(Struct, frozen=True, kw_only=True):
    """A job as it is now."""

    job_id: str
    name: str
    kind: str
    schedule_type: str
    cron_expression: str | None = None
    schedule_time: str | None = None
    schedule: dict[str, Any] | None = None
    timezone: str | None = None
    status: str
    payload: Any
    max_retries: int
    retries: dict[str, Any]
    timeout: str | None = None
    deadline: str | None = None
    grace: str
    guarantee: str
    queue: str
    priority: int
    overlap: str
    keep_first: bool
    limits: list[dict[str, Any]]
    labels: dict[str, str]
    user_id: str | None = None
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


class DeclaredJob(Struct, kw_only=True):
    """A job as a file declares it: a field that is left out has its default. Without a schedule it
    runs on demand.
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
    max_retries: int | UnsetType = UNSET
    retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET
    timeout: Duration | UnsetType = UNSET
    deadline: Duration | UnsetType = UNSET
    grace: Duration | UnsetType = UNSET
    guarantee: Guarantee | UnsetType = UNSET
    queue: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    overlap: OverlapName | UnsetType = UNSET
    keep_first: bool | UnsetType = UNSET
    limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET
    user_id: str | UnsetType | None = UNSET
    paused: bool | UnsetType = UNSET


class DeclaredCalendar(Struct, kw_only=True):
    name: str
    calendar: Mapping[str, Any]


class UpcomingView(Struct, frozen=True, kw_only=True):
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
    start: datetime
    runs: dict[str, int]
    mean_wait_s: float | None = None
    longest_wait_s: float | None = None
    mean_duration_s: float | None = None


class SeriesView(Struct, frozen=True, kw_only=True):
    width_s: float
    is_estimate: bool
    buckets: list[BucketView]


class TenantView(Struct, frozen=True, kw_only=True):
    tenant_id: int
    name: str
    weight: int
    quotas: dict[str, Any]
    is_paused: bool
    paused_at: datetime | None = None
    created_at: datetime


class QuotasDraft(Struct, kw_only=True):
    """What a tenant may have at most; what is not said is not limited."""

    max_jobs: int | UnsetType | None = UNSET
    max_queued: int | UnsetType | None = UNSET
    max_running: int | UnsetType | None = UNSET
    runs_per_s: int | UnsetType | None = UNSET
    min_period: Duration | UnsetType | None = UNSET


class UserView(Struct, frozen=True, kw_only=True):
    """Whom jobs and keys name. `jobs` are those that are not deleted, counted up to 10,000; `keys`
    are those that are valid.
    """

    user_id: str
    jobs: int
    keys: int


class KeysRevoked(Struct, frozen=True, kw_only=True):
    """The keys that were valid until now."""

    user_id: str
    key_ids: list[str]

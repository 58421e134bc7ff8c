"""Schemas of tasks."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import Cursor, Limit

Window = Literal["1h", "24h", "7d", "30d"]


class TasksQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    q: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="Part of the kind or description; case is ignored. Default: all."),
    ] = None
    served: Annotated[
        bool | UnsetType,
        Meta(
            description="`true`: tasks that a live worker serves; `false`: tasks without a live "
            "worker. Default: both."
        ),
    ] = UNSET
    limit: Limit = 50
    cursor: Cursor | None = None


class TaskQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    window: Annotated[
        Window,
        Meta(
            description="Period of the figures: the last hour by minute, 24 hours or 7 days by "
            "hour, 30 days by day. Default: `24h`."
        ),
    ] = "24h"


class TaskItem(Struct, kw_only=True, frozen=True):
    """A task in the list.

    `workers` is the number of live workers that serve it. `runs_per_minute` and `failure_rate`
    cover runs that ended in the last hour. `scheduled` counts submissions for a later time.
    `last_run_at` is the end of the last run among the newest 32,000 of your tenant. `is_estimate`:
    more runs ended in the last hour than are read. `is_partial`: more runs wait or are scheduled
    than are counted.
    """

    kind: str
    description: str | None
    workers: int
    runs_per_minute: float
    failure_rate: float | None
    running: int
    waiting: int
    scheduled: int
    last_run_at: str | None
    is_estimate: bool
    is_partial: bool


class TaskWorker(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_draining: bool
    queues: list[str]


class TaskFailure(Struct, kw_only=True, frozen=True):
    run_id: str
    ended_at: str
    error_type: str | None
    message: str | None


class TaskJob(Struct, kw_only=True, frozen=True):
    job_id: str
    name: str
    status: str
    next_run_at: str | None


class TaskBucket(Struct, kw_only=True, frozen=True):
    """Runs that ended from `start` on, for `width_s` seconds."""

    start: str
    ended: int
    failed: int
    duration_p50_s: float | None
    duration_p99_s: float | None
    wait_p50_s: float | None
    wait_p99_s: float | None


class TaskView(Struct, kw_only=True, frozen=True):
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
    description: str | None
    payload_schema: dict[str, Any] | None
    default_policy: dict[str, Any] | None
    supports_exactly_once: bool | None
    workers: list[TaskWorker]
    running: int
    waiting: int
    scheduled: int
    is_partial: bool
    window: Window
    since: str
    now: str
    runs: dict[str, int]
    ended: int
    failed: int
    failure_rate: float | None
    runs_per_minute: float
    duration_p50_s: float | None
    duration_p99_s: float | None
    wait_p50_s: float | None
    wait_p99_s: float | None
    is_estimate: bool
    last_run_at: str | None
    last_failure: TaskFailure | None
    jobs: list[TaskJob]
    has_more_jobs: bool
    width_s: float
    series: list[TaskBucket]

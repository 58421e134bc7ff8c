"""Builds the request of each operation of the API from its arguments.

Rendered from src/rota/api by `make generate`; do not edit.
"""

# ruff: noqa: A002, D417, PLR0913

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from rota.sdk.client.generated.schemas import (
    AlertDraft,
    AttemptView,
    AuditView,
    BackfillEstimate,
    BackfillProgress,
    BulkActionResult,
    BulkFilter,
    CalendarView,
    ChannelView,
    CreatedHook,
    CreatedJob,
    CreatedJobs,
    CreatedKey,
    CreatedPing,
    CreatedWebhook,
    DeadGroupDetail,
    DeadGroups,
    DeclaredCalendar,
    DeclaredJob,
    DeclaredRoute,
    DeliveryDetails,
    DeliveryView,
    DemandView,
    Duration,
    EnabledWebhook,
    EventDraft,
    EventFilter,
    EventReceipts,
    EventReplayResult,
    EventView,
    ExpectationView,
    ExpectDraft,
    ExternalRun,
    ExternalRunState,
    GraphView,
    Health,
    HookView,
    IncidentView,
    JobChangeView,
    JobCountsView,
    JobDraft,
    JobExpectationView,
    JobOutcomes,
    JobStatus,
    JobView,
    KeysRevoked,
    KeyView,
    KindView,
    LimitDraft,
    LoadView,
    Logs,
    Moment,
    NotificationView,
    OutputPiece,
    OverlapName,
    PingView,
    PlanView,
    PredictionView,
    PreviewView,
    Priority,
    ProblemView,
    QueueCreated,
    QueueState,
    QueueView,
    QuotasDraft,
    RateDraft,
    Rehearsal,
    ReplayedDeliveries,
    RetriesDraft,
    RoleName,
    RouteStepDraft,
    RouteView,
    RuleCondition,
    RuleDraft,
    RunDetail,
    RunExplanation,
    RunGraphView,
    RunStateView,
    RunStatus,
    RunView,
    SchedulerView,
    ScheduleType,
    SecretView,
    SeriesView,
    ShardView,
    SilenceView,
    SourceView,
    StartedRun,
    StatisticsView,
    SubjectMatch,
    TargetGroup,
    TaskItem,
    TaskView,
    TenantView,
    TicketView,
    UniqueDraft,
    UserView,
    WebhookFilter,
    WebhookView,
    WhoAmI,
    WorkerDrained,
    WorkerView,
)
from rota.sdk.client.methods import ApiMethod
from rota.sdk.client.pages import Page
from rota.sdk.client.requests import ApiRequest


class Operations:
    """The methods of both clients, under the names of the operations."""

    @ApiMethod
    def create_job(
        self,
        *,
        name: str | UnsetType = UNSET,
        kind: str | UnsetType = UNSET,
        job_type: str | UnsetType = UNSET,
        schedule: Mapping[str, Any] | UnsetType = UNSET,
        schedule_type: ScheduleType | UnsetType = UNSET,
        schedule_time: Moment | UnsetType = UNSET,
        cron_expression: str | UnsetType = UNSET,
        timezone: str | UnsetType = UNSET,
        payload: Any | UnsetType = UNSET,
        graph: Mapping[str, Any] | UnsetType | None = UNSET,
        max_retries: int | UnsetType = UNSET,
        retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET,
        timeout: Duration | UnsetType | None = UNSET,
        deadline: Duration | UnsetType | None = UNSET,
        grace: Duration | UnsetType = UNSET,
        guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedJob]:
        """Create a job.

        The job runs on its schedule; without one it runs at once. If no live worker serves its
        kind, or if the payload references a secret that does not exist (`{{secret:name}}`), the job
        is still created and the response contains a warning.

        Args:
            name: Name of the job; unique in the tenant among jobs that are not deleted. Default: a
                name that begins with the kind.
            kind: Handler that runs the job. Default: the job's name.
            job_type: Alternative to `kind` that also accepts the names of other schedulers, such as
                `HTTP_REQUEST`. Default: `kind`.
            schedule: When the job runs (docs/reference/schedules.md). Default: once, immediately.
            schedule_type: Type of the schedule; the request is rejected if the schedule has another
                type. Default: derived from the schedule.
            schedule_time: Run once, at this time. Shorthand for `schedule.at`. Default: none.
            cron_expression: Run at the times of this cron expression. Shorthand for
                `schedule.cron`. Default: none.
            timezone: IANA time zone of `schedule_time` and `cron_expression`. Default: UTC.
            payload: Arguments of the handler, any JSON. Default: null.
            graph: Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null.
            max_retries: Retries after the first attempt. Shorthand for `retries.max`. Default: 3.
            retries: How a failed run is retried: the number of retries after the first attempt, or
                an object with delays. Default: 3.
            timeout: Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no
                limit. Default: 15 minutes.
            deadline: Time limit of the whole run with all its retries, counted from its due time.
                `none`, or null in JSON, means no limit. Default: no limit.
            grace: Time between asking an attempt to stop and killing it, at most 10 minutes.
                Default: 10 s.
            guarantee: Delivery guarantee if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds reject it. Default:
                `at_least_once`.
            target: Service that the attempts depend on. While it is down, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host (http) or connection (sql), if the kind has one.
            queue: Queue that its runs wait in. Default: `default`.
            priority: Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5.
            overlap: What to do when the job is due and its previous run is still active. Default:
                `skip`.
            keep_first: With overlap `queue_one`: keep the waiting run and skip the new one.
                Default: false.
            when_queue_paused: What to do when the job is due while its queue is paused. Default:
                `skip`.
            limits: Concurrency and rate limits, shared by all runs with the same key. Default:
                none.
            labels: Your own names and values, to filter jobs by. Default: none.
            user_id: Owner of the job, for your own records. Default: null.
            description: What the job does, at most 1,000 characters. Default: null.
            expect: What must hold for its runs; a violation opens an incident
                (docs/howto/alerts.md). Default: null.
            alert: How incidents of the job are reported. Default: as a warning, to the default
                channels.
            unique: Deduplicates submissions with the same key. Default: no deduplication.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs",
            response_type=CreatedJob,
            body={
                "name": name,
                "kind": kind,
                "job_type": job_type,
                "schedule": schedule,
                "schedule_type": schedule_type,
                "schedule_time": schedule_time,
                "cron_expression": cron_expression,
                "timezone": timezone,
                "payload": payload,
                "graph": graph,
                "max_retries": max_retries,
                "retries": retries,
                "timeout": timeout,
                "deadline": deadline,
                "grace": grace,
                "guarantee": guarantee,
                "target": target,
                "queue": queue,
                "priority": priority,
                "overlap": overlap,
                "keep_first": keep_first,
                "when_queue_paused": when_queue_paused,
                "limits": limits,
                "labels": labels,
                "user_id": user_id,
                "description": description,
                "expect": expect,
                "alert": alert,
                "unique": unique,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def create_jobs(
        self, jobs: Sequence[JobDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> ApiRequest[CreatedJobs]:
        """Create up to 1,000 jobs, all or none.

        Args:
            jobs: Jobs, each as in `POST /v1/jobs`.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/bulk",
            response_type=CreatedJobs,
            body={"jobs": jobs},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_jobs(
        self,
        *,
        type: Literal["definition", "one_time", "all"] | None = None,
        status: Sequence[
            Literal[
                "active",
                "pending",
                "running",
                "paused",
                "quarantined",
                "finished",
                "deleted",
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
                "retrying",
                "completed",
                "success",
                "failed",
                "cancelled",
            ]
        ]
        | Literal[
            "active",
            "pending",
            "running",
            "paused",
            "quarantined",
            "finished",
            "deleted",
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
            "retrying",
            "completed",
            "success",
            "failed",
            "cancelled",
        ]
        | None = None,
        user_id: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        label: str | None = None,
        q: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[JobView]]:
        """List jobs, newest first.

        One-time submissions are sorted by their due time.

        Args:
            type: `definition` lists jobs that can run more than once, `one_time` lists one-time
                submissions, `all` lists both. Default: `all` if `status` includes `pending` or
                `running`, which refer to runs; otherwise `definition`.
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            user_id: Filter by user. Default: all.
            kind: Filter by kind. Default: all.
            queue: Filter by queue. Default: all.
            label: Filter by label, as in `team:billing`. Default: all.
            q: Part of the name. Default: all jobs.
            created_after: Created at or after this time. Default: any.
            created_before: Created before this time. Default: any.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs",
            response_type=Page[JobView],
            query={
                "type": type,
                "status": status,
                "user_id": user_id,
                "kind": kind,
                "queue": queue,
                "label": label,
                "q": q,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @ApiMethod
    def get_job(self, job_id: str) -> ApiRequest[JobView]:
        """Get a job."""
        return ApiRequest(
            method="GET", path="/v1/jobs/{}", response_type=JobView, path_arguments=(job_id,)
        )

    @ApiMethod
    def update_job(
        self,
        job_id: str,
        *,
        name: str | UnsetType = UNSET,
        kind: str | UnsetType = UNSET,
        job_type: str | UnsetType = UNSET,
        schedule: Mapping[str, Any] | UnsetType = UNSET,
        schedule_type: ScheduleType | UnsetType = UNSET,
        schedule_time: Moment | UnsetType = UNSET,
        cron_expression: str | UnsetType = UNSET,
        timezone: str | UnsetType = UNSET,
        payload: Any | UnsetType = UNSET,
        graph: Mapping[str, Any] | UnsetType | None = UNSET,
        max_retries: int | UnsetType = UNSET,
        retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET,
        timeout: Duration | UnsetType | None = UNSET,
        deadline: Duration | UnsetType | None = UNSET,
        grace: Duration | UnsetType = UNSET,
        guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """Update a job: only the given fields change.

        With `If-Match`, the update succeeds only if the job still has that version. A one-time
        submission can be updated until it starts. A recurring schedule turns it into a job with the
        same id.

        Args:
            name: Name of the job; unique in the tenant among jobs that are not deleted. Default: a
                name that begins with the kind.
            kind: Handler that runs the job. Default: the job's name.
            job_type: Alternative to `kind` that also accepts the names of other schedulers, such as
                `HTTP_REQUEST`. Default: `kind`.
            schedule: When the job runs (docs/reference/schedules.md). Default: once, immediately.
            schedule_type: Type of the schedule; the request is rejected if the schedule has another
                type. Default: derived from the schedule.
            schedule_time: Run once, at this time. Shorthand for `schedule.at`. Default: none.
            cron_expression: Run at the times of this cron expression. Shorthand for
                `schedule.cron`. Default: none.
            timezone: IANA time zone of `schedule_time` and `cron_expression`. Default: UTC.
            payload: Arguments of the handler, any JSON. Default: null.
            graph: Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null.
            max_retries: Retries after the first attempt. Shorthand for `retries.max`. Default: 3.
            retries: How a failed run is retried: the number of retries after the first attempt, or
                an object with delays. Default: 3.
            timeout: Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no
                limit. Default: 15 minutes.
            deadline: Time limit of the whole run with all its retries, counted from its due time.
                `none`, or null in JSON, means no limit. Default: no limit.
            grace: Time between asking an attempt to stop and killing it, at most 10 minutes.
                Default: 10 s.
            guarantee: Delivery guarantee if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds reject it. Default:
                `at_least_once`.
            target: Service that the attempts depend on. While it is down, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host (http) or connection (sql), if the kind has one.
            queue: Queue that its runs wait in. Default: `default`.
            priority: Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5.
            overlap: What to do when the job is due and its previous run is still active. Default:
                `skip`.
            keep_first: With overlap `queue_one`: keep the waiting run and skip the new one.
                Default: false.
            when_queue_paused: What to do when the job is due while its queue is paused. Default:
                `skip`.
            limits: Concurrency and rate limits, shared by all runs with the same key. Default:
                none.
            labels: Your own names and values, to filter jobs by. Default: none.
            user_id: Owner of the job, for your own records. Default: null.
            description: What the job does, at most 1,000 characters. Default: null.
            expect: What must hold for its runs; a violation opens an incident
                (docs/howto/alerts.md). Default: null.
            alert: How incidents of the job are reported. Default: as a warning, to the default
                channels.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/jobs/{}",
            response_type=JobView,
            path_arguments=(job_id,),
            body={
                "name": name,
                "kind": kind,
                "job_type": job_type,
                "schedule": schedule,
                "schedule_type": schedule_type,
                "schedule_time": schedule_time,
                "cron_expression": cron_expression,
                "timezone": timezone,
                "payload": payload,
                "graph": graph,
                "max_retries": max_retries,
                "retries": retries,
                "timeout": timeout,
                "deadline": deadline,
                "grace": grace,
                "guarantee": guarantee,
                "target": target,
                "queue": queue,
                "priority": priority,
                "overlap": overlap,
                "keep_first": keep_first,
                "when_queue_paused": when_queue_paused,
                "limits": limits,
                "labels": labels,
                "user_id": user_id,
                "description": description,
                "expect": expect,
                "alert": alert,
            },
            if_match=if_match,
        )

    @ApiMethod
    def patch_job(
        self,
        job_id: str,
        *,
        name: str | UnsetType = UNSET,
        kind: str | UnsetType = UNSET,
        job_type: str | UnsetType = UNSET,
        schedule: Mapping[str, Any] | UnsetType = UNSET,
        schedule_type: ScheduleType | UnsetType = UNSET,
        schedule_time: Moment | UnsetType = UNSET,
        cron_expression: str | UnsetType = UNSET,
        timezone: str | UnsetType = UNSET,
        payload: Any | UnsetType = UNSET,
        graph: Mapping[str, Any] | UnsetType | None = UNSET,
        max_retries: int | UnsetType = UNSET,
        retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET,
        timeout: Duration | UnsetType | None = UNSET,
        deadline: Duration | UnsetType | None = UNSET,
        grace: Duration | UnsetType = UNSET,
        guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """Update a job, as with PUT.

        Args:
            name: Name of the job; unique in the tenant among jobs that are not deleted. Default: a
                name that begins with the kind.
            kind: Handler that runs the job. Default: the job's name.
            job_type: Alternative to `kind` that also accepts the names of other schedulers, such as
                `HTTP_REQUEST`. Default: `kind`.
            schedule: When the job runs (docs/reference/schedules.md). Default: once, immediately.
            schedule_type: Type of the schedule; the request is rejected if the schedule has another
                type. Default: derived from the schedule.
            schedule_time: Run once, at this time. Shorthand for `schedule.at`. Default: none.
            cron_expression: Run at the times of this cron expression. Shorthand for
                `schedule.cron`. Default: none.
            timezone: IANA time zone of `schedule_time` and `cron_expression`. Default: UTC.
            payload: Arguments of the handler, any JSON. Default: null.
            graph: Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null.
            max_retries: Retries after the first attempt. Shorthand for `retries.max`. Default: 3.
            retries: How a failed run is retried: the number of retries after the first attempt, or
                an object with delays. Default: 3.
            timeout: Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no
                limit. Default: 15 minutes.
            deadline: Time limit of the whole run with all its retries, counted from its due time.
                `none`, or null in JSON, means no limit. Default: no limit.
            grace: Time between asking an attempt to stop and killing it, at most 10 minutes.
                Default: 10 s.
            guarantee: Delivery guarantee if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds reject it. Default:
                `at_least_once`.
            target: Service that the attempts depend on. While it is down, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host (http) or connection (sql), if the kind has one.
            queue: Queue that its runs wait in. Default: `default`.
            priority: Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5.
            overlap: What to do when the job is due and its previous run is still active. Default:
                `skip`.
            keep_first: With overlap `queue_one`: keep the waiting run and skip the new one.
                Default: false.
            when_queue_paused: What to do when the job is due while its queue is paused. Default:
                `skip`.
            limits: Concurrency and rate limits, shared by all runs with the same key. Default:
                none.
            labels: Your own names and values, to filter jobs by. Default: none.
            user_id: Owner of the job, for your own records. Default: null.
            description: What the job does, at most 1,000 characters. Default: null.
            expect: What must hold for its runs; a violation opens an incident
                (docs/howto/alerts.md). Default: null.
            alert: How incidents of the job are reported. Default: as a warning, to the default
                channels.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PATCH",
            path="/v1/jobs/{}",
            response_type=JobView,
            path_arguments=(job_id,),
            body={
                "name": name,
                "kind": kind,
                "job_type": job_type,
                "schedule": schedule,
                "schedule_type": schedule_type,
                "schedule_time": schedule_time,
                "cron_expression": cron_expression,
                "timezone": timezone,
                "payload": payload,
                "graph": graph,
                "max_retries": max_retries,
                "retries": retries,
                "timeout": timeout,
                "deadline": deadline,
                "grace": grace,
                "guarantee": guarantee,
                "target": target,
                "queue": queue,
                "priority": priority,
                "overlap": overlap,
                "keep_first": keep_first,
                "when_queue_paused": when_queue_paused,
                "limits": limits,
                "labels": labels,
                "user_id": user_id,
                "description": description,
                "expect": expect,
                "alert": alert,
            },
            if_match=if_match,
        )

    @ApiMethod
    def put_job(
        self,
        name: str,
        *,
        kind: str | UnsetType = UNSET,
        job_type: str | UnsetType = UNSET,
        schedule: Mapping[str, Any] | UnsetType = UNSET,
        schedule_type: ScheduleType | UnsetType = UNSET,
        schedule_time: Moment | UnsetType = UNSET,
        cron_expression: str | UnsetType = UNSET,
        timezone: str | UnsetType = UNSET,
        payload: Any | UnsetType = UNSET,
        graph: Mapping[str, Any] | UnsetType | None = UNSET,
        max_retries: int | UnsetType = UNSET,
        retries: int | RetriesDraft | Mapping[str, Any] | UnsetType = UNSET,
        timeout: Duration | UnsetType | None = UNSET,
        deadline: Duration | UnsetType | None = UNSET,
        grace: Duration | UnsetType = UNSET,
        guarantee: Literal["at_least_once", "at_most_once", "exactly_once"] | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: Literal["skip", "accumulate"] | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        expect: ExpectDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """Create or update the job with this name.

        Args:
            kind: Handler that runs the job. Default: the job's name.
            job_type: Alternative to `kind` that also accepts the names of other schedulers, such as
                `HTTP_REQUEST`. Default: `kind`.
            schedule: When the job runs (docs/reference/schedules.md). Default: once, immediately.
            schedule_type: Type of the schedule; the request is rejected if the schedule has another
                type. Default: derived from the schedule.
            schedule_time: Run once, at this time. Shorthand for `schedule.at`. Default: none.
            cron_expression: Run at the times of this cron expression. Shorthand for
                `schedule.cron`. Default: none.
            timezone: IANA time zone of `schedule_time` and `cron_expression`. Default: UTC.
            payload: Arguments of the handler, any JSON. Default: null.
            graph: Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null.
            max_retries: Retries after the first attempt. Shorthand for `retries.max`. Default: 3.
            retries: How a failed run is retried: the number of retries after the first attempt, or
                an object with delays. Default: 3.
            timeout: Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no
                limit. Default: 15 minutes.
            deadline: Time limit of the whole run with all its retries, counted from its due time.
                `none`, or null in JSON, means no limit. Default: no limit.
            grace: Time between asking an attempt to stop and killing it, at most 10 minutes.
                Default: 10 s.
            guarantee: Delivery guarantee if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds reject it. Default:
                `at_least_once`.
            target: Service that the attempts depend on. While it is down, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host (http) or connection (sql), if the kind has one.
            queue: Queue that its runs wait in. Default: `default`.
            priority: Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5.
            overlap: What to do when the job is due and its previous run is still active. Default:
                `skip`.
            keep_first: With overlap `queue_one`: keep the waiting run and skip the new one.
                Default: false.
            when_queue_paused: What to do when the job is due while its queue is paused. Default:
                `skip`.
            limits: Concurrency and rate limits, shared by all runs with the same key. Default:
                none.
            labels: Your own names and values, to filter jobs by. Default: none.
            user_id: Owner of the job, for your own records. Default: null.
            description: What the job does, at most 1,000 characters. Default: null.
            expect: What must hold for its runs; a violation opens an incident
                (docs/howto/alerts.md). Default: null.
            alert: How incidents of the job are reported. Default: as a warning, to the default
                channels.
            unique: Deduplicates submissions with the same key. Default: no deduplication.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/jobs/by-name/{}",
            response_type=JobView,
            path_arguments=(name,),
            body={
                "kind": kind,
                "job_type": job_type,
                "schedule": schedule,
                "schedule_type": schedule_type,
                "schedule_time": schedule_time,
                "cron_expression": cron_expression,
                "timezone": timezone,
                "payload": payload,
                "graph": graph,
                "max_retries": max_retries,
                "retries": retries,
                "timeout": timeout,
                "deadline": deadline,
                "grace": grace,
                "guarantee": guarantee,
                "target": target,
                "queue": queue,
                "priority": priority,
                "overlap": overlap,
                "keep_first": keep_first,
                "when_queue_paused": when_queue_paused,
                "limits": limits,
                "labels": labels,
                "user_id": user_id,
                "description": description,
                "expect": expect,
                "alert": alert,
                "unique": unique,
            },
            if_match=if_match,
        )

    @ApiMethod
    def get_job_by_name(self, name: str) -> ApiRequest[JobView]:
        """Get a job by name."""
        return ApiRequest(
            method="GET", path="/v1/jobs/by-name/{}", response_type=JobView, path_arguments=(name,)
        )

    @ApiMethod
    def pause_job(
        self,
        job_id: str,
        *,
        reason: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[JobView]:
        """Pause a job.

        It fires no ticks until it is resumed; existing runs continue. Ticks that were due before
        the pause but not fired, because no scheduler ran, are handled first, as `misfire.on_outage`
        says.

        Args:
            reason: Reason, shown with the paused job. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/pause",
            response_type=JobView,
            path_arguments=(job_id,),
            body={"reason": reason},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_job(
        self,
        job_id: str,
        *,
        missed: Literal["skip", "once", "all"] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[JobView]:
        """Resume a job.

        Ticks missed during the pause run or are recorded as `missed` says.

        Args:
            missed: Which missed ticks to run: none, one, or all. Default: the misfire policy of the
                schedule.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/resume",
            response_type=JobView,
            path_arguments=(job_id,),
            body={"missed": missed},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def run_job_now(
        self,
        job_id: str,
        *,
        payload: Any | UnsetType = UNSET,
        priority: Priority | UnsetType | None = UNSET,
        overlap: OverlapName | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[StartedRun]:
        """Run a job now, regardless of its schedule.

        A waiting one-time submission becomes due. A submission that has already run runs again: the
        new run has the same `job_id`. The run is accepted (202) and starts when a worker is free;
        poll `GET /v1/runs/{run_id}` for its state.

        Args:
            payload: Payload of the run. Default: the job's payload.
            priority: Priority of the run. Default: the job's priority.
            overlap: What to do if the previous run is still active. Default: the job's policy.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/runNow",
            response_type=StartedRun,
            path_arguments=(job_id,),
            body={"payload": payload, "priority": priority, "overlap": overlap},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def get_job_status(self, job_id: str) -> ApiRequest[JobStatus]:
        """Get the status of a job: its newest run, and why it waits."""
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/status",
            response_type=JobStatus,
            path_arguments=(job_id,),
        )

    @ApiMethod
    def list_runs_of_job(
        self,
        job_id: str,
        *,
        status: Sequence[RunStatus] | RunStatus | None = None,
        trigger: Literal["tick", "manual", "api", "event", "graph", "backfill", "replay"]
        | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[RunView]]:
        """List the runs of a job, newest first.

        Args:
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            trigger: Filter by trigger; `tick` is the schedule. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/runs",
            response_type=Page[RunView],
            path_arguments=(job_id,),
            query={"status": status, "trigger": trigger, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def list_job_changes(
        self, job_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[JobChangeView]]:
        """List the changes of a job, newest first: created, updated, paused, resumed, deleted.

        Each change names its author, its origin and, for an update, the changed fields. The changes
        of a deleted job are kept as long as the audit log.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/history",
            response_type=Page[JobChangeView],
            path_arguments=(job_id,),
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def list_outcomes(
        self, *, job_id: Sequence[str] | None = None, each: int | None = None
    ) -> ApiRequest[Page[JobOutcomes]]:
        """List the recent runs of several jobs: running, ended, or skipped with the reason.

        The jobs are in the order of the query; a job that does not exist has no runs.

        Args:
            job_id: Jobs to list (repeatable, up to 50). Default: none.
            each: Maximum runs per job. Default: 20.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/outcomes",
            response_type=Page[JobOutcomes],
            query={"job_id": job_id, "each": each},
        )

    @ApiMethod
    def predict_job_finish(
        self, job_id: str, *, by: str | None = None
    ) -> ApiRequest[PredictionView]:
        """Predict when the unfinished run of a job, or its next tick, will finish.

        The prediction comes from the job's own history: its last runs, weekday and day of the
        month. With a deadline it includes the probability of success by then. With fewer than 15
        successful runs there is no prediction, and `reason` says so.

        Args:
            by: Deadline: a time of day in the job's zone, the first one after the tick (`06:00`),
                or a duration after the tick (`+3h30m`). Default: `expect.finish_by` of the job.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/prediction",
            response_type=PredictionView,
            path_arguments=(job_id,),
            query={"by": by},
        )

    @ApiMethod
    def create_backfill(
        self,
        job_id: str,
        *,
        since: Moment,
        until: Moment,
        only: Literal["missing", "failed", "all"] | UnsetType = UNSET,
        order: Literal["oldest", "newest"] | UnsetType = UNSET,
        at_once: int | UnsetType = UNSET,
        priority: Priority | UnsetType | None = UNSET,
        payload: Any | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BackfillEstimate]:
        """Create a backfill of a past range of any length (201), or count its ticks (200).

        A background service creates the runs step by step; `GET /v1/backfills/{backfill_id}` shows
        the progress. A job has one backfill at a time.

        Args:
            since: Start of the range (inclusive).
            until: End of the range (exclusive); not in the future.
            only: Which ticks to run: those that never ran, those whose runs failed, or all.
                Default: `missing`.
            order: Which ticks run first. Default: `oldest`.
            at_once: Maximum concurrent runs of the backfill. Default: 4.
            priority: Priority of the runs. Default: `low`.
            payload: Payload of the runs. Default: the job's payload.
            dry_run: Only count the ticks. Default: `false`.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/backfills",
            response_type=BackfillEstimate,
            path_arguments=(job_id,),
            body={
                "since": since,
                "until": until,
                "only": only,
                "order": order,
                "at_once": at_once,
                "priority": priority,
                "payload": payload,
                "dry_run": dry_run,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_job(
        self, job_id: str, *, running: Literal["cancel", "keep", "leave"] | None = None
    ) -> ApiRequest[None]:
        """Delete a job and cancel its runs, or cancel a one-time submission.

        Waiting runs end at once. Workers are asked to stop running ones, unless `running=keep`. The
        run of a submission stays in the history, with the submission's id.

        Args:
            running: What happens to running runs: `cancel` asks their workers to stop them, `keep`
                lets them finish (`leave` is an older name for it). Default: `cancel`.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/jobs/{}",
            response_type=NoneType,
            path_arguments=(job_id,),
            query={"running": running},
        )

    @ApiMethod
    def preview_schedule(
        self,
        *,
        schedule: Mapping[str, Any],
        count: int | UnsetType = UNSET,
        viewer: str | UnsetType | None = UNSET,
    ) -> ApiRequest[PreviewView]:
        """Preview a schedule: its description, its next times and the effects of daylight saving.

        Args:
            schedule: A schedule; see docs/reference/schedules.md.
            count: Number of next times to show. Default: 10.
            viewer: IANA time zone of the viewer; each time is also shown in it. Default: the zone
                of the schedule.
        """
        return ApiRequest(
            method="POST",
            path="/v1/schedules/preview",
            response_type=PreviewView,
            body={"schedule": schedule, "count": count, "viewer": viewer},
        )

    @ApiMethod
    def get_load(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        bucket: Literal["minute", "hour"] | None = None,
    ) -> ApiRequest[LoadView]:
        """Count the upcoming ticks of all jobs by minute or hour.

        Request a single minute to see which jobs its ticks belong to.

        Args:
            since: Start of the range. Default: now.
            until: End of the range, at most 35 days after `since`. Default: a day after `since`.
            bucket: Bucket width; at most a week by minute. Default: `minute`.
        """
        return ApiRequest(
            method="GET",
            path="/v1/schedules/load",
            response_type=LoadView,
            query={"since": since, "until": until, "bucket": bucket},
        )

    @ApiMethod
    def list_backfills(
        self,
        *,
        status: Sequence[Literal["running", "paused", "cancelling", "finished", "cancelled"]]
        | Literal["running", "paused", "cancelling", "finished", "cancelled"]
        | None = None,
        job_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[BackfillProgress]]:
        """List backfills, newest first.

        Args:
            status: Filter by status (repeatable). Default: all.
            job_id: Filter by job. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/backfills",
            response_type=Page[BackfillProgress],
            query={"status": status, "job_id": job_id, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_backfill(self, backfill_id: str) -> ApiRequest[BackfillProgress]:
        """Get a backfill with its progress and its expected end."""
        return ApiRequest(
            method="GET",
            path="/v1/backfills/{}",
            response_type=BackfillProgress,
            path_arguments=(backfill_id,),
        )

    @ApiMethod
    def pause_backfill(
        self, backfill_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[BackfillProgress]:
        """Pause a backfill.

        No more of its runs start; running ones may finish.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/backfills/{}/pause",
            response_type=BackfillProgress,
            path_arguments=(backfill_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_backfill(
        self, backfill_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[BackfillProgress]:
        """Resume a paused backfill.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/backfills/{}/resume",
            response_type=BackfillProgress,
            path_arguments=(backfill_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def cancel_backfill(
        self,
        backfill_id: str,
        *,
        running: Literal["finish", "cancel"] | UnsetType = UNSET,
        reason: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BackfillProgress]:
        """Cancel a backfill.

        No more runs are created and waiting ones are cancelled; running ones may finish or are
        cancelled too. The backfill is `cancelling` until its last run has ended.

        Args:
            running: What happens to running runs. Default: `finish`.
            reason: Reason, shown with the backfill. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/backfills/{}/cancel",
            response_type=BackfillProgress,
            path_arguments=(backfill_id,),
            body={"running": running, "reason": reason},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_tasks(
        self,
        *,
        q: str | None = None,
        served: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[TaskItem]]:
        """List tasks by kind, with their load and the figures of the last hour.

        A task is a kind of work that workers serve for your tenant, or that your jobs and runs
        name. A task with `workers` 0 has no live worker: its runs wait. Graphs are jobs, not tasks.

        Args:
            q: Part of the kind or description; case is ignored. Default: all.
            served: `true`: tasks that a live worker serves; `false`: tasks without a live worker.
                Default: both.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/tasks",
            response_type=Page[TaskItem],
            query={"q": q, "served": served, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_task(
        self, kind: str, *, window: Literal["1h", "24h", "7d", "30d"] | None = None
    ) -> ApiRequest[TaskView]:
        """Get a task with its description, workers and figures.

        Args:
            window: Period of the figures: the last hour by minute, 24 hours or 7 days by hour, 30
                days by day. Default: `24h`.
        """
        return ApiRequest(
            method="GET",
            path="/v1/tasks/{}",
            response_type=TaskView,
            path_arguments=(kind,),
            query={"window": window},
        )

    @ApiMethod
    def plan_manifest(
        self,
        *,
        project: str,
        jobs: Sequence[DeclaredJob | Mapping[str, Any]],
        calendars: Sequence[DeclaredCalendar | Mapping[str, Any]] | UnsetType = UNSET,
        alerts: Sequence[RuleDraft | Mapping[str, Any]] | UnsetType = UNSET,
        routes: Sequence[DeclaredRoute | Mapping[str, Any]] | UnsetType = UNSET,
    ) -> ApiRequest[PlanView]:
        """Plan a manifest: show what applying it would change, and which next runs move.

        Changes nothing. Jobs of the project that are not declared appear as `prune`.

        Args:
            project: Name of the project, stored in the label `rota.project`.
            jobs: All jobs of the project.
            calendars: Calendars to create or replace; none is deleted. Default: none.
            alerts: All rules of the project. Default: none.
            routes: All routes of the project. Default: none.
        """
        return ApiRequest(
            method="POST",
            path="/v1/manifests/plan",
            response_type=PlanView,
            body={
                "project": project,
                "jobs": jobs,
                "calendars": calendars,
                "alerts": alerts,
                "routes": routes,
            },
        )

    @ApiMethod
    def apply_manifest(
        self,
        *,
        project: str,
        jobs: Sequence[DeclaredJob | Mapping[str, Any]],
        calendars: Sequence[DeclaredCalendar | Mapping[str, Any]] | UnsetType = UNSET,
        alerts: Sequence[RuleDraft | Mapping[str, Any]] | UnsetType = UNSET,
        routes: Sequence[DeclaredRoute | Mapping[str, Any]] | UnsetType = UNSET,
        prune: bool | UnsetType = UNSET,
        seen: Mapping[str, int] | UnsetType | None = UNSET,
        seen_calendars: Mapping[str, int] | UnsetType | None = UNSET,
        seen_alerts: Mapping[str, int] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[PlanView]:
        """Apply a manifest: make the jobs of a project match it, all or none.

        With `seen` of a plan, the call is refused if anything has changed since. Returns the
        changes made.

        Args:
            project: Name of the project, stored in the label `rota.project`.
            jobs: All jobs of the project.
            calendars: Calendars to create or replace; none is deleted. Default: none.
            alerts: All rules of the project. Default: none.
            routes: All routes of the project. Default: none.
            prune: Delete jobs, rules and routes of the project that are not declared. Default:
                `false`.
            seen: `seen` of the plan; refused if a job has changed since. Default: not checked.
            seen_calendars: `seen_calendars` of the plan; refused if a calendar has changed since.
                Default: not checked.
            seen_alerts: `seen_alerts` of the plan; refused if a rule or a route has changed since.
                Default: not checked.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/manifests/apply",
            response_type=PlanView,
            body={
                "project": project,
                "jobs": jobs,
                "calendars": calendars,
                "alerts": alerts,
                "routes": routes,
                "prune": prune,
                "seen": seen,
                "seen_calendars": seen_calendars,
                "seen_alerts": seen_alerts,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_runs(
        self,
        *,
        status: Sequence[RunStatus] | RunStatus | None = None,
        job_id: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        worker_id: str | None = None,
        graph_run_id: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[RunView]]:
        """List runs, newest first.

        A page may be shorter than its limit and still have a next one.

        Args:
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            job_id: Filter by job. Default: all.
            kind: Filter by kind. Default: all.
            queue: Filter by queue. Default: all.
            worker_id: Filter by the worker of the last attempt: its id or name. Default: all.
            graph_run_id: Filter by graph run: its steps. Default: all.
            created_after: Created at or after this time. Default: any.
            created_before: Created before this time. Default: any.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/runs",
            response_type=Page[RunView],
            query={
                "status": status,
                "job_id": job_id,
                "kind": kind,
                "queue": queue,
                "worker_id": worker_id,
                "graph_run_id": graph_run_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @ApiMethod
    def list_executions(
        self,
        *,
        worker_id: str,
        status: Sequence[RunStatus] | RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[RunView]]:
        """List the runs whose current or last attempt is on a worker.

        `GET /v1/job/executions` is an alias.

        Args:
            worker_id: Id or name of a worker.
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/executions",
            response_type=Page[RunView],
            query={"worker_id": worker_id, "status": status, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_run(self, run_id: str) -> ApiRequest[RunDetail]:
        """Get a run with its payload and its result."""
        return ApiRequest(
            method="GET", path="/v1/runs/{}", response_type=RunDetail, path_arguments=(run_id,)
        )

    @ApiMethod
    def list_attempts(self, run_id: str) -> ApiRequest[Page[AttemptView]]:
        """List the attempts of a run, oldest first."""
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/attempts",
            response_type=Page[AttemptView],
            path_arguments=(run_id,),
        )

    @ApiMethod
    def explain_run(self, run_id: str) -> ApiRequest[RunExplanation]:
        """Explain in one sentence why a run waits or how it ended."""
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/explain",
            response_type=RunExplanation,
            path_arguments=(run_id,),
        )

    @ApiMethod
    def cancel_run(
        self,
        run_id: str,
        *,
        reason: str | UnsetType | None = UNSET,
        force: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[RunStateView]:
        """Cancel a run.

        A waiting run ends at once. For a running one, the worker is asked to stop it (202).

        Args:
            reason: Reason, shown with the run. Default: none.
            force: End the run now without waiting for its worker. Default: `false`.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/cancel",
            response_type=RunStateView,
            path_arguments=(run_id,),
            body={"reason": reason, "force": force},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def retry_run(
        self, run_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[RunStateView]:
        """Retry a dead, lost or cancelled run under the same run id.

        It keeps its original payload and policy; later changes of the job have no effect.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/retry",
            response_type=RunStateView,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def replay_run(
        self, run_id: str, *, payload: Any | UnsetType = UNSET, idempotency_key: str | None = None
    ) -> ApiRequest[StartedRun]:
        """Replay a finished run as a new run.

        The new run has the kind, queue, policy and payload of the finished one; later changes of
        the job have no effect. Set `payload` to use a different payload.

        Args:
            payload: Payload of the new run. Default: the payload of the replayed run.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/replay",
            response_type=StartedRun,
            path_arguments=(run_id,),
            body={"payload": payload},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def cancel_runs(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BulkActionResult]:
        """Cancel many runs.

        A dry run returns the count and a confirmation token.

        Args:
            filter: Selects runs; at least one field is required.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/bulk-cancel",
            response_type=BulkActionResult,
            body={"filter": filter, "dry_run": dry_run, "token": token},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def begin_external_run(
        self,
        *,
        job: str,
        host: str,
        payload: Any | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[ExternalRun]:
        """Start an external run, which the caller executes.

        The run is `running` at once. The caller reports at least once every `lease_seconds`, and
        ends the run.

        Args:
            job: Name of the job; created with the kind `exec` if missing.
            host: Host on which the process runs.
            payload: Description of the work. Default: none.
            labels: Labels of the job, if it is created. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/external",
            response_type=ExternalRun,
            body={"job": job, "host": host, "payload": payload, "labels": labels},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def tell_external_run(
        self,
        run_id: str,
        *,
        output: Sequence[OutputPiece | Mapping[str, Any]] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[ExternalRunState]:
        """Report that an external run continues, with its new output.

        Args:
            output: Output since the last report. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/external",
            response_type=ExternalRunState,
            path_arguments=(run_id,),
            body={"output": output},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def end_external_run(
        self,
        run_id: str,
        *,
        exit_code: int,
        output: Sequence[OutputPiece | Mapping[str, Any]] | UnsetType = UNSET,
        why: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[ExternalRunState]:
        """End an external run with its exit code.

        Args:
            exit_code: 0 is success, any other value is a failure.
            output: Output since the last report. Default: none.
            why: Error message. Default: the exit code.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/external/end",
            response_type=ExternalRunState,
            path_arguments=(run_id,),
            body={"output": output, "exit_code": exit_code, "why": why},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def get_logs(
        self, run_id: str, *, after: str | None = None, limit: int | None = None
    ) -> ApiRequest[Logs]:
        """Get the output of a run in order; `follow_logs` streams new lines.

        Args:
            after: `cursor` of the previous page. Default: the first page.
            limit: Maximum pieces per page. Default: 500.
        """
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/logs",
            response_type=Logs,
            path_arguments=(run_id,),
            query={"after": after, "limit": limit},
        )

    @ApiMethod
    def predict_run_finish(
        self, run_id: str, *, by: str | None = None
    ) -> ApiRequest[PredictionView]:
        """Predict when an unfinished run of a job will finish.

        Args:
            by: Deadline: a time of day in the job's zone, the first one after the tick (`06:00`),
                or a duration after the tick (`+3h30m`). Default: `expect.finish_by` of the job.
        """
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/prediction",
            response_type=PredictionView,
            path_arguments=(run_id,),
            query={"by": by},
        )

    @ApiMethod
    def get_graph(self, job_id: str) -> ApiRequest[GraphView]:
        """Get the graph of a job."""
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/graph",
            response_type=GraphView,
            path_arguments=(job_id,),
        )

    @ApiMethod
    def get_run_graph(self, run_id: str) -> ApiRequest[RunGraphView]:
        """Get a graph run with the state, run, times and map progress of every step."""
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/graph",
            response_type=RunGraphView,
            path_arguments=(run_id,),
        )

    @ApiMethod
    def list_members(
        self,
        run_id: str,
        *,
        step: str,
        status: Sequence[RunStatus] | RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[RunView]]:
        """List the members of a map in order.

        A page may be shorter than its limit and still have a next one.

        Args:
            step: Name of the map step.
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/members",
            response_type=Page[RunView],
            path_arguments=(run_id,),
            query={"step": step, "status": status, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def retry_run_graph(
        self, run_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[RunStateView]:
        """Retry the failed steps of a finished graph run.

        Steps that succeeded do not run again.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/retryFailed",
            response_type=RunStateView,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def pause_run(
        self, run_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[RunStateView]:
        """Pause a graph run.

        No more steps start; running ones continue.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/pause",
            response_type=RunStateView,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_run(
        self, run_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[RunStateView]:
        """Resume a paused graph run.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/resume",
            response_type=RunStateView,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_dead_letters(
        self,
        *,
        status: Sequence[RunStatus] | RunStatus | None = None,
        job_id: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        worker_id: str | None = None,
        graph_run_id: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        fingerprint: str | None = None,
        ended_after: Moment | None = None,
        ended_before: Moment | None = None,
    ) -> ApiRequest[Page[RunView]]:
        """List dead letters: runs that are dead, lost or quarantined.

        Args:
            status: Filter by status (repeatable). Status names of other schedulers are accepted;
                case is ignored. Default: all.
            job_id: Filter by job. Default: all.
            kind: Filter by kind. Default: all.
            queue: Filter by queue. Default: all.
            worker_id: Filter by the worker of the last attempt: its id or name. Default: all.
            graph_run_id: Filter by graph run: its steps. Default: all.
            created_after: Created at or after this time. Default: any.
            created_before: Created before this time. Default: any.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
            fingerprint: Filter by error fingerprint. Default: all.
            ended_after: Ended at or after this time. Default: any.
            ended_before: Ended before this time. Default: any.
        """
        return ApiRequest(
            method="GET",
            path="/v1/dead-letters",
            response_type=Page[RunView],
            query={
                "status": status,
                "job_id": job_id,
                "kind": kind,
                "queue": queue,
                "worker_id": worker_id,
                "graph_run_id": graph_run_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
                "fingerprint": fingerprint,
                "ended_after": ended_after,
                "ended_before": ended_before,
            },
        )

    @ApiMethod
    def list_dead_groups(
        self,
        *,
        job_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        kind: str | None = None,
        limit: int | None = None,
    ) -> ApiRequest[DeadGroups]:
        """List dead letters grouped by task and error, most recent first.

        Args:
            job_id: Filter by job. Default: all jobs and one-time submissions.
            since: Ended at or after this time. Default: 30 days ago.
            until: Ended before this time. Default: now.
            kind: Filter by task. Default: all.
            limit: Maximum items per page. Default: 50.
        """
        return ApiRequest(
            method="GET",
            path="/v1/dead-letters/groups",
            response_type=DeadGroups,
            query={"job_id": job_id, "since": since, "until": until, "kind": kind, "limit": limit},
        )

    @ApiMethod
    def get_dead_group(
        self,
        kind: str,
        fingerprint: str,
        *,
        job_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> ApiRequest[DeadGroupDetail]:
        """Get a group of dead letters with its newest run.

        Args:
            job_id: Filter by job. Default: all jobs and one-time submissions.
            since: Ended at or after this time. Default: 30 days ago.
            until: Ended before this time. Default: now.
        """
        return ApiRequest(
            method="GET",
            path="/v1/dead-letters/groups/{}/{}",
            response_type=DeadGroupDetail,
            path_arguments=(
                kind,
                fingerprint,
            ),
            query={"job_id": job_id, "since": since, "until": until},
        )

    @ApiMethod
    def replay_dead_letters(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        per_minute: int | UnsetType | None = UNSET,
        before: int | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BulkActionResult]:
        """Requeue dead letters unchanged.

        A dry run returns the count and a confirmation token.

        Args:
            filter: Selects runs; at least one field is required.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            per_minute: Maximum starts per minute. Default: all at once.
            before: Runs that earlier calls requeued at the same rate. Default: 0.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/replay",
            response_type=BulkActionResult,
            body={
                "filter": filter,
                "dry_run": dry_run,
                "token": token,
                "per_minute": per_minute,
                "before": before,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def edit_dead_letters(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        per_minute: int | UnsetType | None = UNSET,
        before: int | UnsetType = UNSET,
        patch: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BulkActionResult]:
        """Requeue dead letters with changed payloads.

        A dry run returns the count and a confirmation token.

        Args:
            filter: Selects runs; at least one field is required.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            per_minute: Maximum starts per minute. Default: all at once.
            before: Runs that earlier calls requeued at the same rate. Default: 0.
            patch: JSON merge patch (RFC 7396) for the payload of each run: its fields replace those
                of the payload; null removes a field. Required unless `dry_run`. Default: `{}`.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/edit",
            response_type=BulkActionResult,
            body={
                "filter": filter,
                "dry_run": dry_run,
                "token": token,
                "per_minute": per_minute,
                "before": before,
                "patch": patch,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def drop_dead_letters(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BulkActionResult]:
        """Drop dead letters.

        The runs stay in the history. A dry run returns the count and a confirmation token.

        Args:
            filter: Selects runs; at least one field is required.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/drop",
            response_type=BulkActionResult,
            body={"filter": filter, "dry_run": dry_run, "token": token},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def drop_dead_letter(self, run_id: str) -> ApiRequest[None]:
        """Drop a dead letter.

        The run stays in the history.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/dead-letters/{}",
            response_type=NoneType,
            path_arguments=(run_id,),
        )

    @ApiMethod
    def send_events(
        self,
        *,
        source: str | UnsetType = UNSET,
        id: str | UnsetType = UNSET,
        time: Moment | UnsetType = UNSET,
        subject: str | UnsetType = UNSET,
        data: Any | UnsetType = UNSET,
        type: str | UnsetType = UNSET,
        events: Sequence[EventDraft | Mapping[str, Any]] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[EventReceipts]:
        """Send events: each starts a run of every job that waits for it.

        An event with the same source and id is a duplicate and starts no runs. CloudEvents 1.0 are
        accepted as application/cloudevents+json, as application/cloudevents-batch+json, and with
        `ce-` headers.

        Args:
            source: Where the event comes from. Default: `api`.
            id: Id of the event; an event with the same source and id is a duplicate. Default: a new
                id.
            time: When the event happened. Default: when it arrives.
            subject: What the event is about. Default: none.
            data: Event data, any JSON. Default: null.
            type: What happened, such as `order.paid`. Default: none; then `events` is required.
            events: Several events; all of them are accepted, or none. Default: the single event in
                the other fields.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/events",
            response_type=EventReceipts,
            body={
                "source": source,
                "id": id,
                "time": time,
                "subject": subject,
                "data": data,
                "type": type,
                "events": events,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_events(
        self,
        *,
        type: str | None = None,
        source: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[EventView]]:
        """List received events, newest first.

        Args:
            type: Filter by type. Default: all.
            source: Filter by source. Default: all.
            since: Received at or after this time. Default: any.
            until: Received before this time. Default: any.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/events",
            response_type=Page[EventView],
            query={
                "type": type,
                "source": source,
                "since": since,
                "until": until,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @ApiMethod
    def get_event(self, event_id: str) -> ApiRequest[EventView]:
        """Get an event with its result for each job.

        For a job that did not run, the result says why.
        """
        return ApiRequest(
            method="GET", path="/v1/events/{}", response_type=EventView, path_arguments=(event_id,)
        )

    @ApiMethod
    def replay_events(
        self,
        *,
        filter: EventFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[EventReplayResult]:
        """Replay events: match them again with the current jobs and start new runs.

        A dry run returns the count and a confirmation token.

        Args:
            filter: Selects events; at least one field is required.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/events:replay",
            response_type=EventReplayResult,
            body={"filter": filter, "dry_run": dry_run, "token": token},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_sources(self) -> ApiRequest[Page[SourceView]]:
        """List event sources with their readers, progress and last errors."""
        return ApiRequest(method="GET", path="/v1/sources", response_type=Page[SourceView])

    @ApiMethod
    def create_hook(
        self,
        *,
        name: str,
        type: str,
        style: Literal["standard", "github"] | UnsetType = UNSET,
        secret: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedHook]:
        """Create a hook.

        The response contains its secret, which is shown only once.

        Args:
            name: Unique in the tenant. The source of its events is `hooks/` and this name.
            type: Type of its events.
            style: How requests are signed: Standard Webhooks, or X-Hub-Signature-256 (`github`).
                Default: `standard`.
            secret: A secret chosen by the sender. Default: a random one.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/hooks",
            response_type=CreatedHook,
            body={"name": name, "type": type, "style": style, "secret": secret},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_hooks(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[HookView]]:
        """List hooks by name, without their secrets.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/hooks",
            response_type=Page[HookView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def rotate_hook(
        self,
        hook_id: str,
        *,
        secret: str | UnsetType | None = UNSET,
        former_for: Duration | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedHook]:
        """Rotate the secret of a hook.

        The previous secret stays valid for `former_for`.

        Args:
            secret: A secret chosen by the sender. Default: a random one.
            former_for: How long the previous secret stays valid. Default: 1 day.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/hooks/{}/rotate",
            response_type=CreatedHook,
            path_arguments=(hook_id,),
            body={"secret": secret, "former_for": former_for},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_hook(self, hook_id: str) -> ApiRequest[None]:
        """Delete a hook.

        Its URL accepts no more events.
        """
        return ApiRequest(
            method="DELETE", path="/v1/hooks/{}", response_type=NoneType, path_arguments=(hook_id,)
        )

    @ApiMethod
    def create_expectation(
        self,
        *,
        name: str,
        when: RuleCondition | Mapping[str, Any],
        to: str | UnsetType | None = UNSET,
        severity: Literal["info", "warning", "page"] | UnsetType | None = UNSET,
        hold_for: Duration | UnsetType | None = UNSET,
        clear: int | UnsetType | None = UNSET,
        recovery: bool | UnsetType | None = UNSET,
        match: SubjectMatch | Mapping[str, Any] | UnsetType = UNSET,
        enabled: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[ExpectationView]:
        """Create a rule: one condition for all subjects that match.

        A rule that matches nothing at present is created with a warning. The condition `lag` is
        about the installation and needs the role platform.

        Args:
            name: Name of the rule; unique in the tenant.
            when: The condition that must be met; exactly one field.
            to: Name of a route or a channel. Default: the default channels.
            severity: How urgent an incident is; `page` may wake people. Default: `warning`.
            hold_for: How long a violation must last before an incident opens, at most a day.
                Default: 0 s.
            clear: How many times in a row the condition must be met before the incident ends.
                Default: 1.
            recovery: Whether a message is sent when the incident ends. Default: true.
            match: What the rule applies to. Default: every job.
            enabled: Whether the rule is checked. Default: true.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/expectations",
            response_type=ExpectationView,
            body={
                "to": to,
                "severity": severity,
                "for": hold_for,
                "clear": clear,
                "recovery": recovery,
                "name": name,
                "when": when,
                "match": match,
                "enabled": enabled,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_expectations(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[ExpectationView]]:
        """List rules by name.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/expectations",
            response_type=Page[ExpectationView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_expectation(self, expectation_id: str) -> ApiRequest[ExpectationView]:
        """Get a rule."""
        return ApiRequest(
            method="GET",
            path="/v1/expectations/{}",
            response_type=ExpectationView,
            path_arguments=(expectation_id,),
        )

    @ApiMethod
    def update_expectation(
        self,
        expectation_id: str,
        *,
        name: str | UnsetType = UNSET,
        when: RuleCondition | Mapping[str, Any] | UnsetType = UNSET,
        match: SubjectMatch | Mapping[str, Any] | UnsetType = UNSET,
        to: str | UnsetType | None = UNSET,
        severity: Literal["info", "warning", "page"] | UnsetType | None = UNSET,
        hold_for: Duration | UnsetType | None = UNSET,
        clear: int | UnsetType | None = UNSET,
        recovery: bool | UnsetType | None = UNSET,
        enabled: bool | UnsetType = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[ExpectationView]:
        """Change a rule.

        An open incident of the rule stays open; its next check decides.

        Args:
            name: New name. Default: unchanged.
            when: The condition; exactly one field. Default: unchanged.
            match: What the rule applies to. Default: unchanged.
            to: Name of a route or a channel. Default: unchanged.
            severity: How urgent an incident is. Default: unchanged.
            hold_for: How long a violation must last before an incident opens. Default: unchanged.
            clear: How many times in a row the condition must be met before the incident ends.
                Default: unchanged.
            recovery: Whether a message is sent when the incident ends. Default: unchanged.
            enabled: Whether the rule is checked. Default: unchanged.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PATCH",
            path="/v1/expectations/{}",
            response_type=ExpectationView,
            path_arguments=(expectation_id,),
            body={
                "name": name,
                "when": when,
                "match": match,
                "to": to,
                "severity": severity,
                "for": hold_for,
                "clear": clear,
                "recovery": recovery,
                "enabled": enabled,
            },
            if_match=if_match,
        )

    @ApiMethod
    def list_job_expectations(self, job_id: str) -> ApiRequest[Page[JobExpectationView]]:
        """List what is expected of a job.

        Its own conditions, the rules that match it, and the defaults that apply; each with its
        state, its next check and its open incident.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/expectations",
            response_type=Page[JobExpectationView],
            path_arguments=(job_id,),
        )

    @ApiMethod
    def rehearse_expectations(
        self,
        *,
        rules: Sequence[RuleDraft | Mapping[str, Any]] | UnsetType | None = UNSET,
        routes: Mapping[str, Sequence[RouteStepDraft | Mapping[str, Any]]] | UnsetType = UNSET,
        include_jobs: bool | UnsetType = UNSET,
        since: Duration | UnsetType = UNSET,
    ) -> ApiRequest[Rehearsal]:
        """Rehearse rules: replay them over the history and count incidents and messages.

        Stores and sends nothing. Reads at most 100,000 runs, the newest first. Acknowledgements,
        silences and storm limits are not replayed, so the number of messages is an upper bound.

        Args:
            rules: Rules to replay. Default: the stored rules.
            routes: Routes that replace stored ones of the same name. Default: none.
            include_jobs: Replay the `expect` of jobs too. Default: true.
            since: How far to go back, at most 90 days. Default: 30 days.
        """
        return ApiRequest(
            method="POST",
            path="/v1/expectations/rehearse",
            response_type=Rehearsal,
            body={"rules": rules, "routes": routes, "include_jobs": include_jobs, "since": since},
            body_required=False,
            repeat="by_key",
        )

    @ApiMethod
    def delete_expectation(self, expectation_id: str) -> ApiRequest[None]:
        """Delete a rule.

        Its open incidents end.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/expectations/{}",
            response_type=NoneType,
            path_arguments=(expectation_id,),
        )

    @ApiMethod
    def put_route(
        self,
        name: str,
        steps: Sequence[RouteStepDraft | Mapping[str, Any]],
        *,
        if_match: int | None = None,
    ) -> ApiRequest[RouteView]:
        """Create a route (201) or replace it (200).

        A job or a rule reports to a route by its name. A route cannot have the name of a channel.

        Args:
            steps: Steps in order.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/routes/{}",
            response_type=RouteView,
            path_arguments=(name,),
            body={"steps": steps},
            if_match=if_match,
        )

    @ApiMethod
    def list_routes(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[RouteView]]:
        """List routes by name.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/routes",
            response_type=Page[RouteView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_route(self, name: str) -> ApiRequest[RouteView]:
        """Get a route."""
        return ApiRequest(
            method="GET", path="/v1/routes/{}", response_type=RouteView, path_arguments=(name,)
        )

    @ApiMethod
    def delete_route(self, name: str) -> ApiRequest[None]:
        """Delete a route that no job and no rule reports to."""
        return ApiRequest(
            method="DELETE", path="/v1/routes/{}", response_type=NoneType, path_arguments=(name,)
        )

    @ApiMethod
    def list_incidents(
        self,
        *,
        state: Literal["open", "acknowledged", "resolved", "silenced"] | None = None,
        severity: Literal["info", "warning", "page"] | None = None,
        job: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[IncidentView]]:
        """List incidents, latest first.

        A platform key also sees incidents of the installation itself.

        Args:
            state: Filter by state; `silenced` are open ones whose messages a silence holds back.
                Default: all.
            severity: Filter by severity. Default: all.
            job: Filter by the id of a job. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/incidents",
            response_type=Page[IncidentView],
            query={
                "state": state,
                "severity": severity,
                "job": job,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @ApiMethod
    def get_incident(self, incident_id: str) -> ApiRequest[IncidentView]:
        """Get an incident with its thread and messages."""
        return ApiRequest(
            method="GET",
            path="/v1/incidents/{}",
            response_type=IncidentView,
            path_arguments=(incident_id,),
        )

    @ApiMethod
    def acknowledge_incident(
        self,
        incident_id: str,
        *,
        note: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[IncidentView]:
        """Acknowledge an incident.

        Repeated messages and escalations that ask for it stop until the incident ends, its severity
        rises or another incident joins its group.

        Args:
            note: A comment for the thread. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/incidents/{}/acknowledge",
            response_type=IncidentView,
            path_arguments=(incident_id,),
            body={"note": note},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resolve_incident(
        self,
        incident_id: str,
        *,
        note: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[IncidentView]:
        """Resolve an incident by hand.

        The next violation opens a new incident.

        Args:
            note: A comment for the thread. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/incidents/{}/resolve",
            response_type=IncidentView,
            path_arguments=(incident_id,),
            body={"note": note},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def add_incident_note(
        self, incident_id: str, text: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[IncidentView]:
        """Add a note to the thread of an incident.

        Args:
            text: The comment.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/incidents/{}/notes",
            response_type=IncidentView,
            path_arguments=(incident_id,),
            body={"text": text},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_notifications(
        self,
        *,
        channel: str | None = None,
        state: Literal["pending", "sending", "sent", "failed", "suppressed", "digested"]
        | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[NotificationView]]:
        """List messages about incidents, latest first.

        Args:
            channel: Filter by the name of a channel. Default: all.
            state: Filter by state. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/notifications",
            response_type=Page[NotificationView],
            query={"channel": channel, "state": state, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_notification(self, notification_id: str) -> ApiRequest[NotificationView]:
        """Get a message about incidents."""
        return ApiRequest(
            method="GET",
            path="/v1/notifications/{}",
            response_type=NotificationView,
            path_arguments=(notification_id,),
        )

    @ApiMethod
    def list_channels(self) -> ApiRequest[Page[ChannelView]]:
        """List the alert channels that the tenant may use, without their addresses."""
        return ApiRequest(method="GET", path="/v1/channels", response_type=Page[ChannelView])

    @ApiMethod
    def send_test_message(
        self, name: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[NotificationView]:
        """Send a test message to a channel.

        A scheduler that has the channel sends it within seconds. Get the notification for the
        result.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/channels/{}/test",
            response_type=NotificationView,
            path_arguments=(name,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_silences(
        self, *, ended: bool | None = None, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[SilenceView]]:
        """List silences, latest end first.

        Args:
            ended: Also list ended silences. Default: false.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/silences",
            response_type=Page[SilenceView],
            query={"ended": ended, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def create_silence(
        self,
        *,
        reason: str,
        match: SubjectMatch | Mapping[str, Any] | UnsetType = UNSET,
        starts_at: Moment | UnsetType | None = UNSET,
        ends_at: Moment | UnsetType | None = UNSET,
        duration: Duration | UnsetType | None = UNSET,
        calendar: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[SilenceView]:
        """Silence incidents.

        Checks go on and incidents stay visible. When the silence ends while an incident is still
        open, its message is sent.

        Args:
            reason: Why messages are held back.
            match: What the silence applies to. Default: everything of the tenant.
            starts_at: When the silence begins. Default: now.
            ends_at: When the silence ends. Default: `for` after its start.
            duration: How long the silence lasts, instead of `ends_at`. Default: none.
            calendar: Name of a calendar: the silence holds in its windows, until it is deleted.
                Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/silences",
            response_type=SilenceView,
            body={
                "reason": reason,
                "match": match,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "for": duration,
                "calendar": calendar,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def end_silence(self, silence_id: str) -> ApiRequest[None]:
        """End a silence now.

        Messages about incidents that are still open are sent.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/silences/{}",
            response_type=NoneType,
            path_arguments=(silence_id,),
        )

    @ApiMethod
    def create_ping(
        self,
        *,
        name: str,
        every: Duration | UnsetType | None = UNSET,
        cron: str | UnsetType | None = UNSET,
        timezone: str | UnsetType = UNSET,
        grace: Duration | UnsetType = UNSET,
        alert: AlertDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedPing]:
        """Create a ping URL for work that Rota does not run.

        The response contains the URL, which is shown only once. An incident opens when no success
        arrives in time, when a failure is reported, or when work that has begun does not end within
        `grace`.

        Args:
            name: Name of the ping, and of the job that shows its runs.
            every: A success is expected this often, 1m to 366d. Default: by `cron`.
            cron: A success is expected at these times. Default: by `every`.
            timezone: Time zone of `cron`. Default: UTC.
            grace: How long a success may be late, and how long the work may take after `/start`.
                Default: 1h.
            alert: How incidents are reported. Default: to the default channels.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/pings",
            response_type=CreatedPing,
            body={
                "name": name,
                "every": every,
                "cron": cron,
                "timezone": timezone,
                "grace": grace,
                "alert": alert,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_pings(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[PingView]]:
        """List pings by name, without their URLs.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/pings",
            response_type=Page[PingView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_ping(self, ping_id: str) -> ApiRequest[PingView]:
        """Get a ping without its URL."""
        return ApiRequest(
            method="GET", path="/v1/pings/{}", response_type=PingView, path_arguments=(ping_id,)
        )

    @ApiMethod
    def rotate_ping(
        self, ping_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[CreatedPing]:
        """Replace the URL of a ping.

        The former URL stops working at once.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/pings/{}/rotate",
            response_type=CreatedPing,
            path_arguments=(ping_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_ping(self, ping_id: str) -> ApiRequest[None]:
        """Delete a ping.

        Its URL stops working; its job and runs stay.
        """
        return ApiRequest(
            method="DELETE", path="/v1/pings/{}", response_type=NoneType, path_arguments=(ping_id,)
        )

    @ApiMethod
    def create_webhook(
        self,
        *,
        url: str,
        events: Sequence[str],
        name: str | UnsetType | None = UNSET,
        filter: WebhookFilter | Mapping[str, Any] | UnsetType | None = UNSET,
        include: Sequence[Literal["payload", "result"]] | UnsetType = UNSET,
        format: Literal["standard", "cloudevents"] | UnsetType = UNSET,
        allow_http: bool | UnsetType = UNSET,
        secret: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedWebhook]:
        """Subscribe a URL to events.

        Rota sends each event as a request that is signed as Standard Webhooks specifies, and
        retries for three days. The response contains the secret, which is shown only once.

        Args:
            url: Where events are sent. It must be public: the same rules as for `http` jobs apply.
                `https`, unless `allow_http` is set.
            events: Event types or patterns; an event must match one of them.
            name: Unique in the tenant. Default: the host of the URL.
            filter: Which events are sent. Default: all.
            include: Fields to send in addition, masked: payload and result of the run. Requires the
                role admin. Default: none.
            format: Form of the body: `{type, timestamp, data}` (`standard`) or a CloudEvent.
                Default: `standard`.
            allow_http: Allow a URL without TLS, readable on the way. Default: `false`.
            secret: Signing secret: `whsec_` and the base64 of 24 to 64 random bytes. Default: a
                random one.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks",
            response_type=CreatedWebhook,
            body={
                "url": url,
                "events": events,
                "name": name,
                "filter": filter,
                "include": include,
                "format": format,
                "allow_http": allow_http,
                "secret": secret,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_webhooks(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[WebhookView]]:
        """List webhook endpoints by name, without their secrets.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/webhooks",
            response_type=Page[WebhookView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_webhook(self, webhook_id: str) -> ApiRequest[WebhookView]:
        """Get a webhook endpoint: subscription, health, and how many deliveries wait."""
        return ApiRequest(
            method="GET",
            path="/v1/webhooks/{}",
            response_type=WebhookView,
            path_arguments=(webhook_id,),
        )

    @ApiMethod
    def change_webhook(
        self,
        webhook_id: str,
        *,
        url: str | UnsetType = UNSET,
        events: Sequence[str] | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        filter: WebhookFilter | Mapping[str, Any] | UnsetType | None = UNSET,
        include: Sequence[Literal["payload", "result"]] | UnsetType = UNSET,
        format: Literal["standard", "cloudevents"] | UnsetType = UNSET,
        allow_http: bool | UnsetType = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[WebhookView]:
        """Change a subscription. Deliveries that wait are sent to the new URL.

        Args:
            url: Where events are sent. It must be public: the same rules as for `http` jobs apply.
                `https`, unless `allow_http` is set. Default: unchanged.
            events: Event types or patterns; an event must match one of them. Default: unchanged.
            name: Unique in the tenant. Default: unchanged.
            filter: Replaces the whole filter; null removes it. Default: unchanged.
            include: Fields to send in addition, masked: payload and result of the run. Requires the
                role admin. Default: unchanged.
            format: Form of the body: `{type, timestamp, data}` (`standard`) or a CloudEvent.
                Default: unchanged.
            allow_http: Allow a URL without TLS. Default: unchanged.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PATCH",
            path="/v1/webhooks/{}",
            response_type=WebhookView,
            path_arguments=(webhook_id,),
            body={
                "url": url,
                "events": events,
                "name": name,
                "filter": filter,
                "include": include,
                "format": format,
                "allow_http": allow_http,
            },
            if_match=if_match,
        )

    @ApiMethod
    def rotate_webhook(
        self,
        webhook_id: str,
        *,
        secret: str | UnsetType | None = UNSET,
        former_for: Duration | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedWebhook]:
        """Replace the secret of a webhook endpoint.

        Both secrets sign for `former_for`. The response contains the new one, shown only once.

        Args:
            secret: Signing secret: `whsec_` and the base64 of 24 to 64 random bytes. Default: a
                random one.
            former_for: How long the previous secret signs as well. Default: 24 hours.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/rotate",
            response_type=CreatedWebhook,
            path_arguments=(webhook_id,),
            body={"secret": secret, "former_for": former_for},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def disable_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[WebhookView]:
        """Disable a webhook endpoint. Its deliveries are held for 14 days.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/disable",
            response_type=WebhookView,
            path_arguments=(webhook_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def enable_webhook(
        self,
        webhook_id: str,
        *,
        held: Literal["replay", "newest", "drop"] | UnsetType | None = UNSET,
        per_minute: int | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[EnabledWebhook]:
        """Enable a webhook endpoint, and decide about its held deliveries.

        A dry run returns how many are held, and a confirmation token.

        Args:
            held: What happens to held deliveries: send all (`replay`), send only the newest, or
                drop them. Required if there are any. Default: none.
            per_minute: Pace of `replay`, in deliveries per minute. Default: 600.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same `held`. Default: none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/enable",
            response_type=EnabledWebhook,
            path_arguments=(webhook_id,),
            body={"held": held, "per_minute": per_minute, "dry_run": dry_run, "token": token},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def test_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[DeliveryView]:
        """Send a test event to a webhook endpoint.

        Get the delivery to see the result.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/test",
            response_type=DeliveryView,
            path_arguments=(webhook_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def replay_webhook(
        self,
        webhook_id: str,
        *,
        states: Sequence[Literal["failed", "dropped", "delivered"]] | UnsetType | None = UNSET,
        events: Sequence[str] | UnsetType | None = UNSET,
        since: Moment | UnsetType | None = UNSET,
        until: Moment | UnsetType | None = UNSET,
        per_minute: int | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[ReplayedDeliveries]:
        """Send deliveries of a webhook endpoint again, at a pace.

        A dry run returns the count and a confirmation token. Each request keeps its `webhook-id`.

        Args:
            states: Which deliveries to send again. Default: `failed`.
            events: Event types or patterns. Default: all.
            since: Events at or after this time. Default: any.
            until: Events before this time. Default: any.
            per_minute: Pace, in deliveries per minute. Default: 600.
            dry_run: Only count, and return a confirmation token. Default: `false`.
            token: Token of a dry run with the same filter; required unless `dry_run`. Default:
                none.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/replay",
            response_type=ReplayedDeliveries,
            path_arguments=(webhook_id,),
            body={
                "states": states,
                "events": events,
                "since": since,
                "until": until,
                "per_minute": per_minute,
                "dry_run": dry_run,
                "token": token,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_webhook_deliveries(
        self,
        webhook_id: str,
        *,
        state: Literal["all", "pending", "held", "delivered", "failed", "dropped"] | None = None,
        type: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[DeliveryView]]:
        """List the deliveries of a webhook endpoint, newest event first. They are kept for 14 days.

        Args:
            state: Filter by state. Default: `all`.
            type: Filter by event type. Default: all.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/webhooks/{}/deliveries",
            response_type=Page[DeliveryView],
            path_arguments=(webhook_id,),
            query={"state": state, "type": type, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_webhook_delivery(
        self, webhook_id: str, delivery_id: str
    ) -> ApiRequest[DeliveryDetails]:
        """Get a delivery: its request, the last response and its attempts.

        Payload and result are in the body only for the role admin.
        """
        return ApiRequest(
            method="GET",
            path="/v1/webhooks/{}/deliveries/{}",
            response_type=DeliveryDetails,
            path_arguments=(
                webhook_id,
                delivery_id,
            ),
        )

    @ApiMethod
    def redeliver_webhook(
        self, webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[DeliveryView]:
        """Send a delivery again, with the same `webhook-id`.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/webhooks/{}/deliveries/{}/redeliver",
            response_type=DeliveryView,
            path_arguments=(
                webhook_id,
                delivery_id,
            ),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_webhook(self, webhook_id: str) -> ApiRequest[None]:
        """Delete a webhook endpoint. Deliveries that wait are not sent."""
        return ApiRequest(
            method="DELETE",
            path="/v1/webhooks/{}",
            response_type=NoneType,
            path_arguments=(webhook_id,),
        )

    @ApiMethod
    def list_queues(self, *, all_tenants: bool | None = None) -> ApiRequest[Page[QueueView]]:
        """List your queues with their pauses, limits and counts of runs.

        A queue is yours if you created it, named it in a job, or have a run in it. A platform key
        lists the queues of every tenant, with the pauses and limits for all tenants; the counts
        cover its own tenant.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
        """
        return ApiRequest(
            method="GET",
            path="/v1/queues",
            response_type=Page[QueueView],
            query={"all_tenants": all_tenants},
        )

    @ApiMethod
    def create_queue(
        self, name: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[QueueCreated]:
        """Create a queue of your tenant.

        Tenants share no queues: runs of two tenants in queues of the same name do not affect each
        other. A queue is also created when a job names it. The status is 200 if the queue exists.

        Args:
            name: 1 to 63 characters of a-z, 0-9, dot, dash and underscore, starting with a letter
                or digit.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/queues",
            response_type=QueueCreated,
            body={"name": name},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def pause_queue(
        self, queue: str, *, all_tenants: bool | None = None, idempotency_key: str | None = None
    ) -> ApiRequest[QueueState]:
        """Pause a queue.

        No more of its runs start; running ones continue. The pause applies to your tenant; with a
        platform key to all tenants, unless `all_tenants=false`.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/queues/{}/pause",
            response_type=QueueState,
            path_arguments=(queue,),
            query={"all_tenants": all_tenants},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_queue(
        self, queue: str, *, all_tenants: bool | None = None, idempotency_key: str | None = None
    ) -> ApiRequest[QueueState]:
        """Resume a queue.

        The pauses are independent: a tenant resumes its own, a platform key the one for all
        tenants.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/queues/{}/resume",
            response_type=QueueState,
            path_arguments=(queue,),
            query={"all_tenants": all_tenants},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def limit_queue(
        self,
        queue: str,
        *,
        all_tenants: bool | None = None,
        max: int | UnsetType | None = UNSET,
        rate: RateDraft | Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> ApiRequest[None]:
        """Limit the concurrency and the rate of a queue.

        An omitted limit is removed. The limits apply to your tenant's runs; with a platform key to
        the runs of all tenants together, unless `all_tenants=false`. If both are set, both apply.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
            max: Maximum concurrent runs. Default: no limit.
            rate: Maximum rate of starts. Default: no limit.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/queues/{}/limits",
            response_type=NoneType,
            path_arguments=(queue,),
            query={"all_tenants": all_tenants},
            body={"max": max, "rate": rate},
        )

    @ApiMethod
    def get_queue_demand(
        self, queue: str, *, all_tenants: bool | None = None
    ) -> ApiRequest[DemandView]:
        """Get how many slots a queue could use, for an autoscaler.

        The demand is the number of ready and running runs, and of those that become ready within 60
        seconds. It covers your tenant; with a platform key all tenants, unless `all_tenants=false`.
        An unknown queue is an error, because a demand of 0 would remove its workers.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
        """
        return ApiRequest(
            method="GET",
            path="/v1/queues/{}/demand",
            response_type=DemandView,
            path_arguments=(queue,),
            query={"all_tenants": all_tenants},
        )

    @ApiMethod
    def list_workers(
        self, *, all_tenants: bool | None = None, with_dead: bool | None = None
    ) -> ApiRequest[Page[WorkerView]]:
        """List the workers that execute runs of your tenant, with their kinds, queues and load.

        A platform key lists every worker, unless `all_tenants=false`. `running` counts the runs of
        the caller's tenant.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
            with_dead: Include recently stopped workers. Default: `false`.
        """
        return ApiRequest(
            method="GET",
            path="/v1/workers",
            response_type=Page[WorkerView],
            query={"all_tenants": all_tenants, "with_dead": with_dead},
        )

    @ApiMethod
    def drain_worker(
        self, worker_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[WorkerDrained]:
        """Drain a worker: finish its current runs, then stop.

        The worker learns of it with its next heartbeat and claims no more runs. Its current runs
        have `worker.drain` to finish. Draining cannot be undone; start another worker instead.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/workers/{}/drain",
            response_type=WorkerDrained,
            path_arguments=(worker_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_schedulers(self) -> ApiRequest[Page[SchedulerView]]:
        """List the live schedulers with their shards."""
        return ApiRequest(method="GET", path="/v1/schedulers", response_type=Page[SchedulerView])

    @ApiMethod
    def list_shards(self) -> ApiRequest[Page[ShardView]]:
        """List the 128 shards with their schedulers."""
        return ApiRequest(method="GET", path="/v1/shards", response_type=Page[ShardView])

    @ApiMethod
    def list_targets(self) -> ApiRequest[list[TargetGroup]]:
        """List the processes to scrape, for `http_sd_configs` of Prometheus.

        Each live process whose observability listener is on is one group. The last group is the
        page of the cluster's metrics, in the API process that has been running longest, so that its
        series exist once.
        """
        return ApiRequest(method="GET", path="/v1/targets", response_type=list[TargetGroup])

    @ApiMethod
    def list_kinds(self) -> ApiRequest[Page[KindView]]:
        """List the kinds of jobs that workers serve, with the schemas of their payloads."""
        return ApiRequest(method="GET", path="/v1/kinds", response_type=Page[KindView])

    @ApiMethod
    def get_job_counts(self) -> ApiRequest[JobCountsView]:
        """Count jobs by status, with the next tick of each status.

        Counts the newest 10,000 jobs of your tenant. Deleted jobs do not count.
        """
        return ApiRequest(method="GET", path="/v1/statistics/jobs", response_type=JobCountsView)

    @ApiMethod
    def get_statistics(self, *, since: Moment | None = None) -> ApiRequest[StatisticsView]:
        """Get statistics: runs by outcome, waits, durations, queue depths and late ticks.

        `runs`, `wait_*` and `duration_*` cover runs that ended since `since`. `wait_*` is the time
        from when a run could start until it started. Backfills, replays, retries and manually
        started runs have none.

        Args:
            since: Start of the period, at most a month ago. Default: an hour ago.
        """
        return ApiRequest(
            method="GET",
            path="/v1/statistics",
            response_type=StatisticsView,
            query={"since": since},
        )

    @ApiMethod
    def get_series(
        self, *, span: Literal["hour", "day", "month"] | None = None
    ) -> ApiRequest[SeriesView]:
        """Get statistics over time: the last hour by minute, day by hour, or month by day.

        A run counts in the bucket in which it ended.

        Args:
            span: Last hour by minute, day by hour, or month by day. Default: `hour`.
        """
        return ApiRequest(
            method="GET",
            path="/v1/statistics/series",
            response_type=SeriesView,
            query={"span": span},
        )

    @ApiMethod
    def put_calendar(
        self, name: str, calendar: Mapping[str, Any], *, if_match: int | None = None
    ) -> ApiRequest[CalendarView]:
        """Create a calendar (201) or replace it (200).

        The next ticks of the jobs that use the calendar are recomputed; at most 1,000 jobs may use
        it.

        Args:
            calendar: A calendar; see docs/reference/schedules.md.
            if_match: Fail if the current `version` is not this one. Default: no check.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/calendars/{}",
            response_type=CalendarView,
            path_arguments=(name,),
            body={"calendar": calendar},
            if_match=if_match,
        )

    @ApiMethod
    def list_calendars(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[CalendarView]]:
        """List calendars by name.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/calendars",
            response_type=Page[CalendarView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_calendar(self, name: str) -> ApiRequest[CalendarView]:
        """Get a calendar."""
        return ApiRequest(
            method="GET",
            path="/v1/calendars/{}",
            response_type=CalendarView,
            path_arguments=(name,),
        )

    @ApiMethod
    def delete_calendar(self, name: str) -> ApiRequest[None]:
        """Delete a calendar that no job uses."""
        return ApiRequest(
            method="DELETE", path="/v1/calendars/{}", response_type=NoneType, path_arguments=(name,)
        )

    @ApiMethod
    def put_secret(self, name: str, value: str) -> ApiRequest[SecretView]:
        """Create a secret, or a new version of it.

        The API never returns its value.

        Args:
            value: The secret. Shorter values cannot be masked in logs.
        """
        return ApiRequest(
            method="PUT",
            path="/v1/secrets/{}",
            response_type=SecretView,
            path_arguments=(name,),
            body={"value": value},
        )

    @ApiMethod
    def list_secrets(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[SecretView]]:
        """List the names of secrets.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/secrets",
            response_type=Page[SecretView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def delete_secret(self, name: str) -> ApiRequest[None]:
        """Delete a secret with all its versions."""
        return ApiRequest(
            method="DELETE", path="/v1/secrets/{}", response_type=NoneType, path_arguments=(name,)
        )

    @ApiMethod
    def create_key(
        self,
        *,
        name: str,
        role: RoleName,
        user_id: str | UnsetType | None = UNSET,
        lifetime: Duration | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedKey]:
        """Create an API key.

        The response contains the key, which is shown only once.

        Args:
            name: Purpose of the key.
            role: Role of the key; at most your own.
            user_id: User named in the audit log. Default: none; the log names the key.
            lifetime: Lifetime, at most a year. Default: 90 days.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/keys",
            response_type=CreatedKey,
            body={"name": name, "role": role, "user_id": user_id, "lifetime": lifetime},
            repeat="never",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[KeyView]]:
        """List the API keys of the tenant, oldest first, without their secrets.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/keys",
            response_type=Page[KeyView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def revoke_key(self, key_id: str) -> ApiRequest[KeyView]:
        """Revoke an API key.

        The key stops working within five seconds.
        """
        return ApiRequest(
            method="DELETE", path="/v1/keys/{}", response_type=KeyView, path_arguments=(key_id,)
        )

    @ApiMethod
    def list_users(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[UserView]]:
        """List users by name, with their numbers of jobs and valid keys.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/users",
            response_type=Page[UserView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_user(self, user_id: str) -> ApiRequest[UserView]:
        """Get a user."""
        return ApiRequest(
            method="GET", path="/v1/users/{}", response_type=UserView, path_arguments=(user_id,)
        )

    @ApiMethod
    def revoke_keys_of_user(self, user_id: str) -> ApiRequest[KeysRevoked]:
        """Revoke all keys of a user.

        The keys stop working within five seconds.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/users/{}/keys",
            response_type=KeysRevoked,
            path_arguments=(user_id,),
        )

    @ApiMethod
    def create_tenant(
        self,
        *,
        name: str,
        weight: int | UnsetType = UNSET,
        quotas: QuotasDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[TenantView]:
        """Create a tenant.

        Args:
            name: Unique among the tenants.
            weight: Share of busy workers relative to other tenants. Default: 1.
            quotas: Quotas of the tenant. Default: the default of each quota.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/tenants",
            response_type=TenantView,
            body={"name": name, "weight": weight, "quotas": quotas},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_tenants(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[TenantView]]:
        """List tenants, oldest first.

        Args:
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/tenants",
            response_type=Page[TenantView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_tenant(self, tenant_id: int | str) -> ApiRequest[TenantView]:
        """Get a tenant."""
        return ApiRequest(
            method="GET",
            path="/v1/tenants/{}",
            response_type=TenantView,
            path_arguments=(tenant_id,),
        )

    @ApiMethod
    def update_tenant(
        self,
        tenant_id: int | str,
        *,
        weight: int | UnsetType = UNSET,
        quotas: QuotasDraft | Mapping[str, Any] | UnsetType = UNSET,
    ) -> ApiRequest[TenantView]:
        """Update the weight or the quotas of a tenant.

        Args:
            weight: Share of busy workers relative to other tenants. Default: unchanged.
            quotas: Replaces all quotas; an omitted quota gets its default. Default: unchanged.
        """
        return ApiRequest(
            method="PATCH",
            path="/v1/tenants/{}",
            response_type=TenantView,
            path_arguments=(tenant_id,),
            body={"weight": weight, "quotas": quotas},
        )

    @ApiMethod
    def pause_tenant(
        self, tenant_id: int | str, *, idempotency_key: str | None = None
    ) -> ApiRequest[TenantView]:
        """Pause a tenant.

        No more of its runs start; running ones continue.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/tenants/{}/pause",
            response_type=TenantView,
            path_arguments=(tenant_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_tenant(
        self, tenant_id: int | str, *, idempotency_key: str | None = None
    ) -> ApiRequest[TenantView]:
        """Resume a tenant.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/tenants/{}/resume",
            response_type=TenantView,
            path_arguments=(tenant_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def create_tenant_key(
        self,
        tenant_id: int | str,
        *,
        name: str,
        role: RoleName,
        user_id: str | UnsetType | None = UNSET,
        lifetime: Duration | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[CreatedKey]:
        """Create an API key for a tenant.

        The response contains the key, which is shown only once.

        Args:
            name: Purpose of the key.
            role: Role of the key; at most your own.
            user_id: User named in the audit log. Default: none; the log names the key.
            lifetime: Lifetime, at most a year. Default: 90 days.
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/tenants/{}/keys",
            response_type=CreatedKey,
            path_arguments=(tenant_id,),
            body={"name": name, "role": role, "user_id": user_id, "lifetime": lifetime},
            repeat="never",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_tenant(self, tenant_id: int | str) -> ApiRequest[None]:
        """Delete a tenant that has no jobs."""
        return ApiRequest(
            method="DELETE",
            path="/v1/tenants/{}",
            response_type=NoneType,
            path_arguments=(tenant_id,),
        )

    @ApiMethod
    def list_audit(
        self,
        *,
        thing: str | None = None,
        thing_id: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApiRequest[Page[AuditView]]:
        """List the audit log, newest first.

        Reads are logged too.

        Args:
            thing: Filter by type of object: `job`, `run`, `key` and so on. Default: all.
            thing_id: Filter by id or name of the object. Default: all.
            actor: Filter by author. Default: all.
            action: Filter by action, such as `job.pause`. Default: all.
            since: At or after this time. Default: any.
            until: Before this time. Default: any.
            limit: Maximum items per page. Default: 50.
            cursor: `next` of the previous page. Default: the first page.
        """
        return ApiRequest(
            method="GET",
            path="/v1/audit",
            response_type=Page[AuditView],
            query={
                "thing": thing,
                "thing_id": thing_id,
                "actor": actor,
                "action": action,
                "since": since,
                "until": until,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @ApiMethod
    def create_login_ticket(self, *, idempotency_key: str | None = None) -> ApiRequest[TicketView]:
        """Create a login link for the dashboard.

        The link is valid once and for a minute. A key may have ten unused links. The audit log
        records the login, not the link.

        Args:
            idempotency_key: For a day, a repeated request with the same key returns the first
                response.
        """
        return ApiRequest(
            method="POST",
            path="/v1/login-tickets",
            response_type=TicketView,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_problems(
        self, *, all_tenants: bool | None = None, fresh: bool | None = None
    ) -> ApiRequest[Page[ProblemView]]:
        """List what is wrong now, the most severe first, each with its cause and its remedy.

        Covers schedulers, workers, waiting runs, pauses, quarantined jobs, dead letters of the last
        24 hours, event sources, webhook endpoints, alert channels, quotas and open incidents. A
        platform key lists the problems of all tenants, unless `all_tenants=false`; jobs, dead
        letters and quotas are always those of its own tenant. The list is up to 5 seconds old,
        unless `fresh=true`.

        Args:
            all_tenants: Act for all tenants; `true` requires a platform key. Default: true for a
                platform key, false for other keys.
            fresh: Find the problems anew; otherwise the list is up to 5 seconds old. Default:
                `false`.
        """
        return ApiRequest(
            method="GET",
            path="/v1/problems",
            response_type=Page[ProblemView],
            query={"all_tenants": all_tenants, "fresh": fresh},
        )

    @ApiMethod
    def get_health(self) -> ApiRequest[Health]:
        """Check whether this process is alive.

        Does not query the database.
        """
        return ApiRequest(method="GET", path="/healthz", response_type=Health)

    @ApiMethod
    def get_readiness(self) -> ApiRequest[Health]:
        """Check whether this process is ready.

        It is ready if the database answered within the last second and the machine's clock is
        within 30 seconds of the database's.
        """
        return ApiRequest(method="GET", path="/readyz", response_type=Health)

    @ApiMethod
    def get_whoami(self) -> ApiRequest[WhoAmI]:
        """Get the caller's key, tenant and role."""
        return ApiRequest(method="GET", path="/v1/whoami", response_type=WhoAmI)

    @ApiMethod
    def get_metrics(self) -> ApiRequest[str]:
        """Get metrics for Prometheus.

        A platform key gets the metrics of the installation and of this process; to scrape several
        API processes, use their own listeners and `/metrics/cluster`. Other keys get the series of
        their own tenant. The format is OpenMetrics if `Accept` asks for it, else the text format.
        """
        return ApiRequest(method="GET", path="/metrics", response_type=str)

    @ApiMethod
    def get_cluster_metrics(self) -> ApiRequest[str]:
        """Get the metrics of the installation for Prometheus.

        They are the same in every API process, so scrape one. Rota reads them at most every five
        seconds. While the database does not answer, the page has only `rota_database_up 0`.
        """
        return ApiRequest(method="GET", path="/metrics/cluster", response_type=str)

    @ApiMethod
    def get_openapi(self) -> ApiRequest[dict[str, Any]]:
        """Get the OpenAPI 3.1 document of this API."""
        return ApiRequest(method="GET", path="/v1/openapi.json", response_type=dict[str, Any])

    @ApiMethod
    def get_page(self) -> ApiRequest[str]:
        """Show the interactive API page."""
        return ApiRequest(method="GET", path="/docs", response_type=str)

    @ApiMethod
    def get_page_file(self, file: str) -> ApiRequest[str]:
        """Get a file of the API page."""
        return ApiRequest(method="GET", path="/docs/{}", response_type=str, path_arguments=(file,))

    @ApiMethod
    def get_problem(self, code: str) -> ApiRequest[str]:
        """Explain a problem code; the `type` of a problem links here."""
        return ApiRequest(
            method="GET", path="/problems/{}", response_type=str, path_arguments=(code,)
        )

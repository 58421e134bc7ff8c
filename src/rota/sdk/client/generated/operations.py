"""The request that each operation of the API makes of its arguments. Room: sdk/client/generated.

Rendered from src/rota/api by `make generate`; do not edit.
"""

# ruff: noqa: A002, D417, PLR0913

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from rota.sdk.client.generated.schemas import (
    AttemptView,
    AuditView,
    BackfillPlanned,
    BackfillProgress,
    BackfillView,
    BulkDone,
    BulkFilter,
    CalendarView,
    DeadGroupDetail,
    DeadGroups,
    DeclaredCalendar,
    DeclaredJob,
    Duration,
    EventDraft,
    EventFilter,
    EventsTaken,
    EventView,
    Explained,
    ExternalAnswer,
    ExternalRun,
    GraphView,
    Health,
    HookMade,
    HookView,
    JobChangeView,
    JobCountsView,
    JobDraft,
    JobMade,
    JobOutcomes,
    JobsMade,
    JobStatus,
    JobView,
    KeyMade,
    KeysRevoked,
    KeyView,
    KindView,
    LimitDraft,
    LoadView,
    Logs,
    Moment,
    OutputPiece,
    OverlapName,
    PlanView,
    PreviewView,
    Priority,
    QueueCreated,
    QueueState,
    QueueView,
    QuotasDraft,
    RateDraft,
    Replayed,
    RetriesDraft,
    RoleName,
    RunDetail,
    RunGraphView,
    RunState,
    RunStatus,
    RunView,
    SchedulerView,
    ScheduleType,
    SecretView,
    SeriesView,
    ShardView,
    SourceView,
    StatisticsView,
    TaskItem,
    TaskView,
    TenantView,
    TicketView,
    Triggered,
    UniqueDraft,
    UserView,
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
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[JobMade]:
        """Make a job.

        With a time or a cron expression it runs then, otherwise at once. A kind that no live worker
        serves is accepted, with a warning; so is a secret that there is not, by the name of which
        the payload calls it (`{{secret:name}}`).

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: The handler that executes it. Default: the name.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`. Default: `kind`.
            schedule: As in docs/reference/schedules.md. Default: run at once.
            schedule_type: What the schedule is; refused if the schedule is another. Default:
                derived from the schedule.
            schedule_time: Run once, at this time. Short for `schedule.at`. Default: none.
            cron_expression: Run by this expression. Short for `schedule.cron`. Default: none.
            timezone: An IANA name for the flat fields. Default: UTC.
            payload: What the handler is given. Default: null.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null.
            max_retries: Attempts after the first one. Short for `retries.max`. Default: 3.
            retries: A number of attempts after the first one, or how often and how soon a failed
                run is tried again. Default: 3.
            timeout: The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is
                no limit. Default: 15 minutes.
            deadline: How long after its due time a run may go on. `none`, or null in JSON, is no
                limit. Default: no limit.
            grace: From asking an attempt to stop to ending it by force, at most 10 minutes.
                Default: 10 s.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host or the connection of kinds that have one.
            queue: The workers that serve it. Default: `default`.
            priority: From 0, which goes first, to 9, or high, medium, normal, low. Default: 5.
            overlap: What happens when it is due while a run of it is alive. Default: `skip`.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped. Default:
                false.
            when_queue_paused: What happens when it is due while its queue is paused. Default:
                `skip`.
            limits: Limits that its runs share with others of the same key. Default: none.
            labels: Names and values of your own, to find it by. Default: none.
            user_id: Whose job it is, for your own bookkeeping. Default: null.
            description: What the job is for, in your words; at most 1,000 characters. Default:
                null.
            unique: Of equal submissions only one becomes a run. Default: no such rule.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs",
            response_type=JobMade,
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
                "unique": unique,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def create_jobs(
        self, jobs: Sequence[JobDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> ApiRequest[JobsMade]:
        """Make up to 1,000 jobs, all or none.

        Args:
            jobs: Each as in the operation that makes one.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/bulk",
            response_type=JobsMade,
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
        """Jobs, newest first; one-time submissions are where the time is at which they are due.

        Args:
            type: `definition` lists jobs that can run more than once, `one_time` lists one-time
                submissions, `all` lists both. Default: `all` if `status` asks for `pending` or
                `running`, which are about runs; otherwise `definition`.
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            user_id: Of this user.
            kind: Of this kind.
            queue: In this queue.
            label: As in team:billing.
            q: Part of the name.
            created_after: Made at this time or later.
            created_before: Made before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """One job."""
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
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """Change a job: only the fields that are given.

        With `If-Match` it is changed only if it still has that version. A one-time submission can
        be changed until it starts. A recurring schedule makes it a job with the same id.

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: The handler that executes it. Default: the name.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`. Default: `kind`.
            schedule: As in docs/reference/schedules.md. Default: run at once.
            schedule_type: What the schedule is; refused if the schedule is another. Default:
                derived from the schedule.
            schedule_time: Run once, at this time. Short for `schedule.at`. Default: none.
            cron_expression: Run by this expression. Short for `schedule.cron`. Default: none.
            timezone: An IANA name for the flat fields. Default: UTC.
            payload: What the handler is given. Default: null.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null.
            max_retries: Attempts after the first one. Short for `retries.max`. Default: 3.
            retries: A number of attempts after the first one, or how often and how soon a failed
                run is tried again. Default: 3.
            timeout: The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is
                no limit. Default: 15 minutes.
            deadline: How long after its due time a run may go on. `none`, or null in JSON, is no
                limit. Default: no limit.
            grace: From asking an attempt to stop to ending it by force, at most 10 minutes.
                Default: 10 s.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host or the connection of kinds that have one.
            queue: The workers that serve it. Default: `default`.
            priority: From 0, which goes first, to 9, or high, medium, normal, low. Default: 5.
            overlap: What happens when it is due while a run of it is alive. Default: `skip`.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped. Default:
                false.
            when_queue_paused: What happens when it is due while its queue is paused. Default:
                `skip`.
            limits: Limits that its runs share with others of the same key. Default: none.
            labels: Names and values of your own, to find it by. Default: none.
            user_id: Whose job it is, for your own bookkeeping. Default: null.
            description: What the job is for, in your words; at most 1,000 characters. Default:
                null.
            if_match: Only if this is still its `version`.
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
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """The same as PUT.

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: The handler that executes it. Default: the name.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`. Default: `kind`.
            schedule: As in docs/reference/schedules.md. Default: run at once.
            schedule_type: What the schedule is; refused if the schedule is another. Default:
                derived from the schedule.
            schedule_time: Run once, at this time. Short for `schedule.at`. Default: none.
            cron_expression: Run by this expression. Short for `schedule.cron`. Default: none.
            timezone: An IANA name for the flat fields. Default: UTC.
            payload: What the handler is given. Default: null.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null.
            max_retries: Attempts after the first one. Short for `retries.max`. Default: 3.
            retries: A number of attempts after the first one, or how often and how soon a failed
                run is tried again. Default: 3.
            timeout: The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is
                no limit. Default: 15 minutes.
            deadline: How long after its due time a run may go on. `none`, or null in JSON, is no
                limit. Default: no limit.
            grace: From asking an attempt to stop to ending it by force, at most 10 minutes.
                Default: 10 s.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host or the connection of kinds that have one.
            queue: The workers that serve it. Default: `default`.
            priority: From 0, which goes first, to 9, or high, medium, normal, low. Default: 5.
            overlap: What happens when it is due while a run of it is alive. Default: `skip`.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped. Default:
                false.
            when_queue_paused: What happens when it is due while its queue is paused. Default:
                `skip`.
            limits: Limits that its runs share with others of the same key. Default: none.
            labels: Names and values of your own, to find it by. Default: none.
            user_id: Whose job it is, for your own bookkeeping. Default: null.
            description: What the job is for, in your words; at most 1,000 characters. Default:
                null.
            if_match: Only if this is still its `version`.
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
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        if_match: int | None = None,
    ) -> ApiRequest[JobView]:
        """Make the job of this name, or change it if there is one.

        Args:
            kind: The handler that executes it. Default: the name.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`. Default: `kind`.
            schedule: As in docs/reference/schedules.md. Default: run at once.
            schedule_type: What the schedule is; refused if the schedule is another. Default:
                derived from the schedule.
            schedule_time: Run once, at this time. Short for `schedule.at`. Default: none.
            cron_expression: Run by this expression. Short for `schedule.cron`. Default: none.
            timezone: An IANA name for the flat fields. Default: UTC.
            payload: What the handler is given. Default: null.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null.
            max_retries: Attempts after the first one. Short for `retries.max`. Default: 3.
            retries: A number of attempts after the first one, or how often and how soon a failed
                run is tried again. Default: 3.
            timeout: The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is
                no limit. Default: 15 minutes.
            deadline: How long after its due time a run may go on. `none`, or null in JSON, is no
                limit. Default: no limit.
            grace: From asking an attempt to stop to ending it by force, at most 10 minutes.
                Default: 10 s.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. `none`, or null in JSON, restores the default. Default: the
                host or the connection of kinds that have one.
            queue: The workers that serve it. Default: `default`.
            priority: From 0, which goes first, to 9, or high, medium, normal, low. Default: 5.
            overlap: What happens when it is due while a run of it is alive. Default: `skip`.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped. Default:
                false.
            when_queue_paused: What happens when it is due while its queue is paused. Default:
                `skip`.
            limits: Limits that its runs share with others of the same key. Default: none.
            labels: Names and values of your own, to find it by. Default: none.
            user_id: Whose job it is, for your own bookkeeping. Default: null.
            description: What the job is for, in your words; at most 1,000 characters. Default:
                null.
            unique: Of equal submissions only one becomes a run. Default: no such rule.
            if_match: Only if this is still its `version`.
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
                "unique": unique,
            },
            if_match=if_match,
        )

    @ApiMethod
    def get_job_by_name(self, name: str) -> ApiRequest[JobView]:
        """The job of this name."""
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
        """Fire no more ticks until it is resumed; runs that exist go on.

        Ticks that were due before the pause, because no scheduler was there, are decided first, as
        `misfire.on_outage` says.

        Args:
            reason: Why, for whoever finds it paused.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Go on. What was missed meanwhile runs or is recorded as its schedule says, or as asked.

        Args:
            missed: Whether ticks missed in the pause run: none, one, or each.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
    ) -> ApiRequest[Triggered]:
        """Run it past its schedule, with its own payload or another.

        A one-time submission that waits for its time becomes due. One that ran already runs again:
        the new run has the same `job_id`. The run is accepted (202) and starts when a worker is
        free; `GET /v1/runs/{run_id}` follows it.

        Args:
            payload: Instead of the job's own.
            priority: Instead of the job's own.
            overlap: Instead of the job's own.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/runNow",
            response_type=Triggered,
            path_arguments=(job_id,),
            body={"payload": payload, "priority": priority, "overlap": overlap},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def get_job_status(self, job_id: str) -> ApiRequest[JobStatus]:
        """How it stands: its newest run, and why it waits if it does."""
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
        """Its runs, newest first.

        Args:
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            trigger: Made by this: `tick` for those of the schedule. Default: any.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """Changes of a job, latest first: created, updated, paused, resumed, deleted.

        Each names its author, its origin and, for an update, the fields that differ. The changes of
        a deleted job stay as long as the audit log does.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """How the last runs of several jobs went: what runs, how it ended, or why there was none.

        In the order in which the jobs are named; one that is not there has no runs.

        Args:
            job_id: Of this job; may be given up to 50 times.
            each: How many of each job at most.
        """
        return ApiRequest(
            method="GET",
            path="/v1/jobs/outcomes",
            response_type=Page[JobOutcomes],
            query={"job_id": job_id, "each": each},
        )

    @ApiMethod
    def backfill_job(
        self,
        job_id: str,
        *,
        since: Moment,
        until: Moment,
        only: Literal["missing", "all"] | UnsetType = UNSET,
        priority: Priority | UnsetType | None = UNSET,
        at_once: int | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[BackfillView]:
        """Make runs for ticks of a past range, all at once; a dry run only counts them.

        At most 1,000 runs; `POST /v1/jobs/{job_id}/backfills` is for ranges of any length.

        Args:
            since: The first tick that counts.
            until: Ticks before this time count; it may not lie in the future.
            only: Ticks that never ran, or each of them again.
            priority: Of the runs that are made; `low` unless it is said.
            at_once: How many of them may run at a time.
            name: With `all`: each name runs every tick once.
            dry_run: Only count.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/backfill",
            response_type=BackfillView,
            path_arguments=(job_id,),
            body={
                "since": since,
                "until": until,
                "only": only,
                "priority": priority,
                "at_once": at_once,
                "name": name,
                "dry_run": dry_run,
            },
            repeat="by_key",
            idempotency_key=idempotency_key,
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
    ) -> ApiRequest[BackfillPlanned]:
        """Begin to make runs for a past range of any length (201), or only count them (200).

        A node makes the runs little by little; `GET /v1/backfills/{backfill_id}` tells how far it
        is. A job has one at a time.

        Args:
            since: The first tick that counts.
            until: Ticks before this time count; it may not lie in the future.
            only: Ticks that never ran, those whose runs failed, or each of them again.
            order: Which of them run first.
            at_once: How many of them may run at a time.
            priority: Of the runs that are made; `low` unless it is said.
            payload: Of the runs, instead of the job's.
            dry_run: Only count.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/jobs/{}/backfills",
            response_type=BackfillPlanned,
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

        Runs that wait end at once. The workers of runs that are being executed are asked to stop
        them, unless `running=keep`. The run of a submission stays in history, with the submission's
        id.

        Args:
            running: What happens to runs that are being executed: their workers are asked to stop
                them, or they go on (`keep`; `leave` is an older word for it). Default: `cancel`.
        """
        return ApiRequest(
            method="DELETE",
            path="/v1/jobs/{}",
            response_type=NoneType,
            path_arguments=(job_id,),
            query={"running": running},
        )

    @ApiMethod
    def get_load(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        bucket: Literal["minute", "hour"] | None = None,
    ) -> ApiRequest[LoadView]:
        """How many ticks of all your jobs fall into each minute or hour to come.

        Ask for one minute to see whose they are.

        Args:
            since: Now unless it is said.
            until: A day after `since` unless it is said, 35 days at most.
            bucket: How wide a part is; a week of minutes at most.
        """
        return ApiRequest(
            method="GET",
            path="/v1/schedules/load",
            response_type=LoadView,
            query={"since": since, "until": until, "bucket": bucket},
        )

    @ApiMethod
    def preview_schedule(
        self,
        *,
        schedule: Mapping[str, Any],
        count: int | UnsetType = UNSET,
        viewer: str | UnsetType | None = UNSET,
    ) -> ApiRequest[PreviewView]:
        """What a schedule will do: in words, its next times, and what daylight saving does to them.

        Args:
            schedule: A schedule in the form of docs/reference/schedules.md.
            count: How many of the next times to show.
            viewer: The zone of whoever looks, an IANA name; each time is shown in it as well.
        """
        return ApiRequest(
            method="POST",
            path="/v1/schedules/preview",
            response_type=PreviewView,
            body={"schedule": schedule, "count": count, "viewer": viewer},
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
        """Backfills, the newest first.

        Args:
            status: Those in this state; may be given several times.
            job_id: Of this job.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/backfills",
            response_type=Page[BackfillProgress],
            query={"status": status, "job_id": job_id, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_backfill(self, backfill_id: str) -> ApiRequest[BackfillProgress]:
        """One backfill: how far it is, and when it will be done."""
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
        """Start no more of its runs; those that run may finish.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Let a paused backfill go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Make no more runs and cancel those that wait; what runs may finish, or is cancelled too.

        It is `cancelling` until the last of its runs has ended.

        Args:
            running: What becomes of runs that are at work.
            reason: Why, for whoever asks later.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """List tasks by kind, with their load and their last hour.

        A task is a kind of work that workers serve for your tenant, or that your jobs and runs
        name. A task with `workers` 0 has no live worker: its runs wait. Graphs are jobs, not tasks.

        Args:
            q: Part of the kind or of the description, in any case. Default: all.
            served: `true`: tasks that a live worker serves; `false`: those that no live worker
                serves. Default: both.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """Show a task: what it does, who serves it, and how its runs fare.

        Args:
            window: How far the figures go back: the last hour by minutes, 24 hours or 7 days by
                hours, 30 days by days. Default: `24h`.
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
    ) -> ApiRequest[PlanView]:
        """What applying the jobs of a project would change, and which of its next runs move.

        Changes nothing. Jobs of the project that are not declared are shown as `prune`.

        Args:
            project: Whose jobs these are; kept in their label `rota.project`.
            jobs: All that the project is to have.
            calendars: Calendars of the tenant, made or replaced; none is ever deleted.
        """
        return ApiRequest(
            method="POST",
            path="/v1/manifests/plan",
            response_type=PlanView,
            body={"project": project, "jobs": jobs, "calendars": calendars},
        )

    @ApiMethod
    def apply_manifest(
        self,
        *,
        project: str,
        jobs: Sequence[DeclaredJob | Mapping[str, Any]],
        calendars: Sequence[DeclaredCalendar | Mapping[str, Any]] | UnsetType = UNSET,
        prune: bool | UnsetType = UNSET,
        seen: Mapping[str, int] | UnsetType | None = UNSET,
        seen_calendars: Mapping[str, int] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ApiRequest[PlanView]:
        """Make the jobs of a project what is declared: all of it, or nothing.

        With the `seen` of a plan it is refused if anything is not as the plan saw it. Answers what
        was done.

        Args:
            project: Whose jobs these are; kept in their label `rota.project`.
            jobs: All that the project is to have.
            calendars: Calendars of the tenant, made or replaced; none is ever deleted.
            prune: Delete the jobs of the project that are not declared.
            seen: `seen` of the plan: refused if a job has another version by now.
            seen_calendars: The same for calendars.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/manifests/apply",
            response_type=PlanView,
            body={
                "project": project,
                "jobs": jobs,
                "calendars": calendars,
                "prune": prune,
                "seen": seen,
                "seen_calendars": seen_calendars,
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
        """Runs, newest first; a page may be short and still have a next one.

        Args:
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            job_id: Of this job.
            kind: Of this kind.
            queue: In this queue.
            worker_id: Executed last by this worker: its id or its name.
            graph_run_id: Steps of this graph run.
            created_after: Made at this time or later.
            created_before: Made before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """The runs that a worker executes or executed last.

        `GET /v1/job/executions` is the same.

        Args:
            worker_id: A worker: its id or its name.
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/executions",
            response_type=Page[RunView],
            query={"worker_id": worker_id, "status": status, "limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_run(self, run_id: str) -> ApiRequest[RunDetail]:
        """One run, with its payload and its result."""
        return ApiRequest(
            method="GET", path="/v1/runs/{}", response_type=RunDetail, path_arguments=(run_id,)
        )

    @ApiMethod
    def list_attempts(self, run_id: str) -> ApiRequest[Page[AttemptView]]:
        """Every attempt of a run, the first one first."""
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/attempts",
            response_type=Page[AttemptView],
            path_arguments=(run_id,),
        )

    @ApiMethod
    def explain_run(self, run_id: str) -> ApiRequest[Explained]:
        """Why it waits, or what became of it, in one sentence."""
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/explain",
            response_type=Explained,
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
    ) -> ApiRequest[RunState]:
        """Cancel a run: at once if it waits; if it runs, its worker is asked to stop it (202).

        Args:
            reason: Why, for whoever asks later.
            force: End it now, whatever its worker does.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/cancel",
            response_type=RunState,
            path_arguments=(run_id,),
            body={"reason": reason, "force": force},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def retry_run(self, run_id: str, *, idempotency_key: str | None = None) -> ApiRequest[RunState]:
        """Run a dead, lost or cancelled run again under its id, with what it ran with.

        Changes of the job since then have no effect on it.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/retry",
            response_type=RunState,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def replay_run(
        self, run_id: str, *, payload: Any | UnsetType = UNSET, idempotency_key: str | None = None
    ) -> ApiRequest[Triggered]:
        """Make a new run of what a finished run ran with: kind, queue, policy and payload.

        Changes of the job since then have no effect on it. Give `payload` to replay with another
        one.

        Args:
            payload: A payload to use instead. Default: the payload that the run used.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/replay",
            response_type=Triggered,
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
    ) -> ApiRequest[BulkDone]:
        """Cancel many runs: a dry run answers how many, and the token to do it.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/bulk-cancel",
            response_type=BulkDone,
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
        """Begin a run that the caller carries out: it is running from now on.

        The caller tells of it at least once in `lease_seconds`, and ends it.

        Args:
            job: Of which job; made, with the kind `exec`, if need be.
            host: Where it is, to find the process by.
            payload: What it does, for whoever looks.
            labels: Of the job, if it is made.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
    ) -> ApiRequest[ExternalAnswer]:
        """Say that it goes on, and what it wrote.

        Args:
            output: What it wrote since the last time.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/external",
            response_type=ExternalAnswer,
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
    ) -> ApiRequest[ExternalAnswer]:
        """Say how it ended.

        Args:
            exit_code: 0 is success, anything else is not.
            output: What it wrote since the last time.
            why: What went wrong; the exit code unless it is said.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/external/end",
            response_type=ExternalAnswer,
            path_arguments=(run_id,),
            body={"output": output, "exit_code": exit_code, "why": why},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def get_logs(
        self, run_id: str, *, after: str | None = None, limit: int | None = None
    ) -> ApiRequest[Logs]:
        """What its attempts wrote, in order; `follow_logs` goes on as they come.

        Args:
            after: `cursor` of the page before.
            limit: How many pieces at most.
        """
        return ApiRequest(
            method="GET",
            path="/v1/runs/{}/logs",
            response_type=Logs,
            path_arguments=(run_id,),
            query={"after": after, "limit": limit},
        )

    @ApiMethod
    def get_graph(self, job_id: str) -> ApiRequest[GraphView]:
        """The graph of a job."""
        return ApiRequest(
            method="GET",
            path="/v1/jobs/{}/graph",
            response_type=GraphView,
            path_arguments=(job_id,),
        )

    @ApiMethod
    def get_run_graph(self, run_id: str) -> ApiRequest[RunGraphView]:
        """A graph run with every step: its state, its run, its times, and how far its maps are."""
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
        """The members of a map in their order; a page may be short and still have a next one.

        Args:
            step: The name of the map.
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
    ) -> ApiRequest[RunState]:
        """Let a graph run that ended go on from its failed steps; what succeeded is not done again.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/retryFailed",
            response_type=RunState,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def pause_run(self, run_id: str, *, idempotency_key: str | None = None) -> ApiRequest[RunState]:
        """Let a graph run start no more steps; those that run go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/pause",
            response_type=RunState,
            path_arguments=(run_id,),
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def resume_run(
        self, run_id: str, *, idempotency_key: str | None = None
    ) -> ApiRequest[RunState]:
        """Let a paused graph run go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/runs/{}/resume",
            response_type=RunState,
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
        """Runs that need somebody to look: dead, lost or quarantined.

        Args:
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            job_id: Of this job.
            kind: Of this kind.
            queue: In this queue.
            worker_id: Executed last by this worker: its id or its name.
            graph_run_id: Steps of this graph run.
            created_after: Made at this time or later.
            created_before: Made before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
            fingerprint: Dead letters with this fingerprint of their error. Default: any.
            ended_after: Ended at this time or later. Default: any.
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
        """Group dead letters by task and error, the last seen first.

        Args:
            job_id: Runs of this job. Default: any job, and one-time submissions.
            since: Ended at this time or later. Default: 30 days ago.
            until: Ended before this time. Default: now.
            kind: Of this task. Default: any.
            limit: How many of them at most.
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
        """One group of dead letters, with its newest run in full.

        Args:
            job_id: Runs of this job. Default: any job, and one-time submissions.
            since: Ended at this time or later. Default: 30 days ago.
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
    ) -> ApiRequest[BulkDone]:
        """Requeue dead letters as they are. A dry run returns the count and a token.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            per_minute: How many may begin in a minute. Default: all at once.
            before: How many were let go by calls before this one, at the same pace.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/replay",
            response_type=BulkDone,
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
    ) -> ApiRequest[BulkDone]:
        """Requeue dead letters with changed payloads. A dry run returns the count and a token.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            per_minute: How many may begin in a minute. Default: all at once.
            before: How many were let go by calls before this one, at the same pace.
            patch: A JSON merge patch (RFC 7396) for the payload of each run: its fields replace
                those of the payload, and null removes a field. A dry run needs none.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/edit",
            response_type=BulkDone,
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
    ) -> ApiRequest[BulkDone]:
        """Drop dead letters; they stay in history. A dry run returns the count and a token.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/dead-letters/drop",
            response_type=BulkDone,
            body={"filter": filter, "dry_run": dry_run, "token": token},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def drop_dead_letter(self, run_id: str) -> ApiRequest[None]:
        """Take one dead letter off the list; the run stays in history."""
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
    ) -> ApiRequest[EventsTaken]:
        """Hand in events: each becomes a run of every job that waits for it.

        The same source and id again are the same event and make nothing. CloudEvents 1.0 are taken
        as application/cloudevents+json, application/cloudevents-batch+json, and by ce- headers.

        Args:
            source: Where it comes from. Default: `api`.
            id: Its id: the same source and id again are the same event. Default: a new id.
            time: When it happened. Default: when it arrives.
            subject: What it is about. Default: none.
            data: Any JSON that describes what happened. Default: null.
            type: What happened, as in order.paid. Default: none; `events` is required.
            events: Several events: all are taken, or none. Default: the one event.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/events",
            response_type=EventsTaken,
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
        """Events that arrived, the newest first.

        Args:
            type: Of this type.
            source: From this source.
            since: That arrived at this time or later.
            until: That arrived before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """An event, and what it came to, job by job; where it did not run, why."""
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
    ) -> ApiRequest[Replayed]:
        """Match events again with the jobs as they are now; their runs are new ones.

        A dry run answers how many, and the token to do it.

        Args:
            filter: Which events; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/events:replay",
            response_type=Replayed,
            body={"filter": filter, "dry_run": dry_run, "token": token},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_sources(self) -> ApiRequest[Page[SourceView]]:
        """The sources that events come from: who reads them, how far, and what went wrong last."""
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
    ) -> ApiRequest[HookMade]:
        """Make a hook; this is the only time that its secret is shown.

        Args:
            name: Unique in the tenant; the source is hooks/ and it.
            type: The type of the events that come of it.
            style: How requests are signed: Standard Webhooks, or X-Hub-Signature-256.
            secret: A secret that the sender has made. Default: drawn at random.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/hooks",
            response_type=HookMade,
            body={"name": name, "type": type, "style": style, "secret": secret},
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_hooks(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[HookView]]:
        """The hooks by name, without their secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
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
    ) -> ApiRequest[HookMade]:
        """Give a hook another secret; the one before is good for a day, or as long as is said.

        Args:
            secret: A secret that the sender has made. Default: drawn at random.
            former_for: How long the secret before is good as well.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/hooks/{}/rotate",
            response_type=HookMade,
            path_arguments=(hook_id,),
            body={"secret": secret, "former_for": former_for},
            body_required=False,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def delete_hook(self, hook_id: str) -> ApiRequest[None]:
        """Delete a hook: from now on nothing is taken there."""
        return ApiRequest(
            method="DELETE", path="/v1/hooks/{}", response_type=NoneType, path_arguments=(hook_id,)
        )

    @ApiMethod
    def list_queues(self, *, all_tenants: bool | None = None) -> ApiRequest[Page[QueueView]]:
        """Your queues: whether they are paused, their limits, and what waits and runs there.

        A queue is yours if you created it, named it in a job, or have a run in it. A platform key
        lists the queues of every tenant, with the pauses and limits that hold for all; the counts
        are of its own tenant.

        Args:
            all_tenants: Whether it is about every tenant; `true` needs a platform key. Default:
                true for a platform key, false for other keys.
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

        Tenants share no queues: runs of two tenants in queues of the same name do not concern each
        other. A queue is also created when a job names it. If you have it already, the answer is
        200.

        Args:
            name: 1 to 63 of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Start nothing of this queue any more; what runs goes on.

        It holds for your tenant's runs. With a platform key it holds for every tenant, unless
        `all_tenants=false` is said.

        Args:
            all_tenants: Whether it is about every tenant; `true` needs a platform key. Default:
                true for a platform key, false for other keys.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Start its runs again.

        Each pause is lifted by itself: a tenant's own by the tenant, the one for all tenants with a
        platform key.

        Args:
            all_tenants: Whether it is about every tenant; `true` needs a platform key. Default:
                true for a platform key, false for other keys.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Let so many run at a time and so many start per time; nothing said lifts the limits.

        It holds for your tenant's runs. With a platform key it holds for the runs of all tenants
        together, unless `all_tenants=false` is said. Where both are set, both hold.

        Args:
            all_tenants: Whether it is about every tenant; `true` needs a platform key. Default:
                true for a platform key, false for other keys.
            max: How many may run at a time.
            rate: How many may start per time.
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
    def list_kinds(self) -> ApiRequest[Page[KindView]]:
        """The kinds of jobs that workers carry out, with what their payloads look like."""
        return ApiRequest(method="GET", path="/v1/kinds", response_type=Page[KindView])

    @ApiMethod
    def list_workers(
        self, *, all_tenants: bool | None = None, with_dead: bool | None = None
    ) -> ApiRequest[Page[WorkerView]]:
        """The workers that take runs of your tenant, with what they serve and how busy they are.

        A platform key lists every worker, unless `all_tenants=false` is said. The runs that are
        counted are of the caller's tenant.

        Args:
            all_tenants: Whether it is about every tenant; `true` needs a platform key. Default:
                true for a platform key, false for other keys.
            with_dead: Also those that have died or stopped lately.
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
        """Let a worker take no more runs, and end when those that it has have ended.

        It hears of it with its next heartbeat. What it runs may take as long as it stays within the
        time that the process has to stop; there is no way back but to start another worker.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """The schedulers that are alive, with their shards."""
        return ApiRequest(method="GET", path="/v1/schedulers", response_type=Page[SchedulerView])

    @ApiMethod
    def list_shards(self) -> ApiRequest[Page[ShardView]]:
        """The 128 shards and who fires them."""
        return ApiRequest(method="GET", path="/v1/shards", response_type=Page[ShardView])

    @ApiMethod
    def get_job_counts(self) -> ApiRequest[JobCountsView]:
        """Number of jobs by status, and when the next one of each status fires.

        Counts the newest 10,000 jobs of your tenant. Deleted jobs do not count.
        """
        return ApiRequest(method="GET", path="/v1/statistics/jobs", response_type=JobCountsView)

    @ApiMethod
    def get_statistics(self, *, since: Moment | None = None) -> ApiRequest[StatisticsView]:
        """How it goes: runs by outcome, lag and durations, what waits now, what is late.

        `runs`, `wait_*` and `duration_*` are of the runs that ended since `since`. `wait_*` is the
        lag: how long a run that could start waited for its start. Backfills, replays, retries and
        runs started by hand have none.

        Args:
            since: An hour ago unless it is said, a month ago at most.
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
        """The same over the last hour by minutes, the last day by hours, or the last month by days.

        A run counts in the bucket in which it ended, whenever it was due.

        Args:
            span: The last hour by minutes, day by hours, or month by days.
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
        """Make the calendar of this name (201), or replace it.

        The next ticks of the jobs that go by it are computed anew; at most 1,000 jobs may.

        Args:
            calendar: A calendar in the form of docs/reference/schedules.md.
            if_match: Only if this is still its `version`.
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
        """Calendars by name.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/calendars",
            response_type=Page[CalendarView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_calendar(self, name: str) -> ApiRequest[CalendarView]:
        """One calendar."""
        return ApiRequest(
            method="GET",
            path="/v1/calendars/{}",
            response_type=CalendarView,
            path_arguments=(name,),
        )

    @ApiMethod
    def delete_calendar(self, name: str) -> ApiRequest[None]:
        """Delete a calendar that no job goes by."""
        return ApiRequest(
            method="DELETE", path="/v1/calendars/{}", response_type=NoneType, path_arguments=(name,)
        )

    @ApiMethod
    def put_secret(self, name: str, value: str) -> ApiRequest[SecretView]:
        """Write a secret, or a new version of it. Nobody can read it back.

        Args:
            value: The secret. A shorter one could not be kept out of logs.
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
        """The names of the secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/secrets",
            response_type=Page[SecretView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def delete_secret(self, name: str) -> ApiRequest[None]:
        """Delete a secret in all its versions."""
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
    ) -> ApiRequest[KeyMade]:
        """Make a key; this is the only time that it is shown.

        Args:
            name: What it is for.
            role: What it may do; none above your own.
            user_id: Who is named in the audit log instead of the key.
            lifetime: 90 days unless it is said, a year at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/keys",
            response_type=KeyMade,
            body={"name": name, "role": role, "user_id": user_id, "lifetime": lifetime},
            repeat="never",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[KeyView]]:
        """The keys of the tenant, the oldest first, without their secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/keys",
            response_type=Page[KeyView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def revoke_key(self, key_id: str) -> ApiRequest[KeyView]:
        """Revoke a key: within five seconds nobody can use it any more."""
        return ApiRequest(
            method="DELETE", path="/v1/keys/{}", response_type=KeyView, path_arguments=(key_id,)
        )

    @ApiMethod
    def list_users(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ApiRequest[Page[UserView]]:
        """The users of the tenant, by name: how many jobs and valid keys each has.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/users",
            response_type=Page[UserView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_user(self, user_id: str) -> ApiRequest[UserView]:
        """One user."""
        return ApiRequest(
            method="GET", path="/v1/users/{}", response_type=UserView, path_arguments=(user_id,)
        )

    @ApiMethod
    def revoke_keys_of_user(self, user_id: str) -> ApiRequest[KeysRevoked]:
        """Revoke all keys of a user: within five seconds none of them can be used any more."""
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
        """Make a tenant.

        Args:
            name: Unique among the tenants.
            weight: Its share of busy workers, next to the others.
            quotas: What it may have at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """All tenants, the oldest first.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return ApiRequest(
            method="GET",
            path="/v1/tenants",
            response_type=Page[TenantView],
            query={"limit": limit, "cursor": cursor},
        )

    @ApiMethod
    def get_tenant(self, tenant_id: int | str) -> ApiRequest[TenantView]:
        """One tenant."""
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
        """Change its weight or its quotas.

        Args:
            weight: Its share of busy workers, next to the others.
            quotas: All of them anew: what is absent has its default again.
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
        """Start no run of it any more; what runs goes on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
        """Start its runs again.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
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
    ) -> ApiRequest[KeyMade]:
        """Make a key for a tenant; this is the only time that it is shown.

        Args:
            name: What it is for.
            role: What it may do; none above your own.
            user_id: Who is named in the audit log instead of the key.
            lifetime: 90 days unless it is said, a year at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/tenants/{}/keys",
            response_type=KeyMade,
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
        """Changes, the latest first. That somebody read them is written down as well.

        Args:
            thing: What was changed: `job`, `run`, `key` and so on.
            thing_id: The id or the name of what was changed.
            actor: Who changed it.
            action: How, as in `job.pause`.
            since: At this time or later.
            until: Before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
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
        """Make a link that logs in at the dashboard, once and within a minute.

        A key may have ten unused links. The audit log has the log-in, not the link.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return ApiRequest(
            method="POST",
            path="/v1/login-tickets",
            response_type=TicketView,
            repeat="by_key",
            idempotency_key=idempotency_key,
        )

    @ApiMethod
    def get_health(self) -> ApiRequest[Health]:
        """Whether this process answers.

        It never asks the database.
        """
        return ApiRequest(method="GET", path="/healthz", response_type=Health)

    @ApiMethod
    def get_readiness(self) -> ApiRequest[Health]:
        """Whether this process can serve.

        It can while its database answers, as of a second ago, and its machine's clock is at most 30
        seconds from the database's.
        """
        return ApiRequest(method="GET", path="/readyz", response_type=Health)

    @ApiMethod
    def get_whoami(self) -> ApiRequest[WhoAmI]:
        """Whose key this is and what it may do."""
        return ApiRequest(method="GET", path="/v1/whoami", response_type=WhoAmI)

    @ApiMethod
    def get_metrics(self) -> ApiRequest[str]:
        """Figures for Prometheus.

        A platform key gets those of the whole installation and of this process. Other keys get the
        series of their own tenant.
        """
        return ApiRequest(method="GET", path="/metrics", response_type=str)

    @ApiMethod
    def get_openapi(self) -> ApiRequest[dict[str, Any]]:
        """This interface as an OpenAPI 3.1 document."""
        return ApiRequest(method="GET", path="/v1/openapi.json", response_type=dict[str, Any])

    @ApiMethod
    def get_page(self) -> ApiRequest[str]:
        """A page to read about this interface and to try it out."""
        return ApiRequest(method="GET", path="/docs", response_type=str)

    @ApiMethod
    def get_page_file(self, file: str) -> ApiRequest[str]:
        """What the page is made of."""
        return ApiRequest(method="GET", path="/docs/{}", response_type=str, path_arguments=(file,))

    @ApiMethod
    def get_problem(self, code: str) -> ApiRequest[str]:
        """What a problem means; its `type` leads here."""
        return ApiRequest(
            method="GET", path="/problems/{}", response_type=str, path_arguments=(code,)
        )

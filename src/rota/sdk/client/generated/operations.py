"""Every operation of the API as a method. Room: sdk/client/generated.

Rendered from src/rota/api by `make generate`; do not edit.
"""

# ruff: noqa: A002, D417, PLR0913

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeVar

from msgspec import UNSET, UnsetType

from rota.sdk.client.generated.shapes import (
    AttemptView,
    AuditView,
    BackfillPlanned,
    BackfillProgress,
    BackfillView,
    BulkDone,
    BulkFilter,
    CalendarView,
    DeadGroupView,
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
    Guarantee,
    Health,
    HookMade,
    HookView,
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
    PausedQueueName,
    PlanView,
    PreviewView,
    Priority,
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
    Status,
    TenantView,
    TicketView,
    Triggered,
    UniqueDraft,
    UserView,
    WhoAmI,
    WorkerDrained,
    WorkerView,
)
from rota.sdk.client.pages import Page
from rota.sdk.client.requests import Request

T = TypeVar("T")


class Operations:
    """One method for each; `_send` carries it out."""

    def _send(self, request: Request[T]) -> T:
        raise NotImplementedError

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
        guarantee: Guarantee | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: PausedQueueName | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> JobMade:
        """Make a job.

        With a time or a cron expression it runs then, otherwise at once. A kind that no live worker
        serves is accepted, with a warning; so is a secret that there is not, by the name of which
        the payload calls it (`{{secret:name}}`).

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: Which handler carries it out; the name unless it is said.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`.
            schedule: As in docs/reference/schedules.md; at once unless it is said.
            schedule_type: What the schedule is; not needed, and refused if the rest says otherwise.
            schedule_time: Run once, at this time. Short for `schedule.at`.
            cron_expression: Run by this expression. Short for `schedule.cron`.
            timezone: An IANA name for the flat fields; UTC unless it is said.
            payload: What the handler is given.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md.
            max_retries: How many more attempts after the first. Short for `retries.max`.
            retries: A number, or how often and how soon a failed run is tried again.
            timeout: The longest an attempt may take; 15 minutes unless it is said, null for no
                limit.
            deadline: How long after its due time a run may go on; no limit unless said, null to
                lift it.
            grace: From asking an attempt to stop to ending it by force; 10 s usually.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. Unless it is said the host or the connection, of kinds that
                have one; null, or `none`, for that.
            queue: Which workers serve it; `default` unless it is said.
            priority: From 0, which goes first, to 9, or by name; 5 unless it is said.
            overlap: What if a run of it is alive when it is due; `skip` unless said.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped.
            when_queue_paused: What if it is due while its queue is paused; `skip` unless said.
            limits: Limits that its runs share with others of the same key.
            labels: Names and values of your own, to find it by.
            user_id: Whose job it is, for your own bookkeeping.
            unique: Of equal submissions only one becomes a run.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_job",
                method="POST",
                path="/v1/jobs",
                answer=JobMade,
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
                    "unique": unique,
                },
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def create_jobs(
        self,
        jobs: Sequence[JobDraft | Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
    ) -> JobsMade:
        """Make up to 1,000 jobs, all or none.

        Args:
            jobs: Each as in the operation that makes one.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_jobs",
                method="POST",
                path="/v1/jobs/bulk",
                answer=JobsMade,
                body={"jobs": jobs},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def list_jobs(
        self,
        *,
        status: Sequence[Status] | Status | None = None,
        user_id: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        label: str | None = None,
        q: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[JobView]:
        """Jobs, newest first.

        Args:
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
        return self._send(
            Request(
                name="list_jobs",
                method="GET",
                path="/v1/jobs",
                answer=Page[JobView],
                query={
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
        )

    def get_job(
        self,
        job_id: str,
    ) -> JobView:
        """One job."""
        return self._send(
            Request(
                name="get_job",
                method="GET",
                path="/v1/jobs/{}",
                answer=JobView,
                places=(job_id,),
            )
        )

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
        guarantee: Guarantee | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: PausedQueueName | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        if_match: int | None = None,
    ) -> JobView:
        """Change a job: only the fields that are given.

        With `If-Match` it is changed only if it still has that version.

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: Which handler carries it out; the name unless it is said.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`.
            schedule: As in docs/reference/schedules.md; at once unless it is said.
            schedule_type: What the schedule is; not needed, and refused if the rest says otherwise.
            schedule_time: Run once, at this time. Short for `schedule.at`.
            cron_expression: Run by this expression. Short for `schedule.cron`.
            timezone: An IANA name for the flat fields; UTC unless it is said.
            payload: What the handler is given.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md.
            max_retries: How many more attempts after the first. Short for `retries.max`.
            retries: A number, or how often and how soon a failed run is tried again.
            timeout: The longest an attempt may take; 15 minutes unless it is said, null for no
                limit.
            deadline: How long after its due time a run may go on; no limit unless said, null to
                lift it.
            grace: From asking an attempt to stop to ending it by force; 10 s usually.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. Unless it is said the host or the connection, of kinds that
                have one; null, or `none`, for that.
            queue: Which workers serve it; `default` unless it is said.
            priority: From 0, which goes first, to 9, or by name; 5 unless it is said.
            overlap: What if a run of it is alive when it is due; `skip` unless said.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped.
            when_queue_paused: What if it is due while its queue is paused; `skip` unless said.
            limits: Limits that its runs share with others of the same key.
            labels: Names and values of your own, to find it by.
            user_id: Whose job it is, for your own bookkeeping.
            if_match: Only if this is still its `version`.
        """
        return self._send(
            Request(
                name="update_job",
                method="PUT",
                path="/v1/jobs/{}",
                answer=JobView,
                places=(job_id,),
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
                },
                if_match=if_match,
            )
        )

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
        guarantee: Guarantee | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: PausedQueueName | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        if_match: int | None = None,
    ) -> JobView:
        """The same as PUT.

        Args:
            name: Unique in the tenant among jobs that are not deleted.
            kind: Which handler carries it out; the name unless it is said.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`.
            schedule: As in docs/reference/schedules.md; at once unless it is said.
            schedule_type: What the schedule is; not needed, and refused if the rest says otherwise.
            schedule_time: Run once, at this time. Short for `schedule.at`.
            cron_expression: Run by this expression. Short for `schedule.cron`.
            timezone: An IANA name for the flat fields; UTC unless it is said.
            payload: What the handler is given.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md.
            max_retries: How many more attempts after the first. Short for `retries.max`.
            retries: A number, or how often and how soon a failed run is tried again.
            timeout: The longest an attempt may take; 15 minutes unless it is said, null for no
                limit.
            deadline: How long after its due time a run may go on; no limit unless said, null to
                lift it.
            grace: From asking an attempt to stop to ending it by force; 10 s usually.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. Unless it is said the host or the connection, of kinds that
                have one; null, or `none`, for that.
            queue: Which workers serve it; `default` unless it is said.
            priority: From 0, which goes first, to 9, or by name; 5 unless it is said.
            overlap: What if a run of it is alive when it is due; `skip` unless said.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped.
            when_queue_paused: What if it is due while its queue is paused; `skip` unless said.
            limits: Limits that its runs share with others of the same key.
            labels: Names and values of your own, to find it by.
            user_id: Whose job it is, for your own bookkeeping.
            if_match: Only if this is still its `version`.
        """
        return self._send(
            Request(
                name="patch_job",
                method="PATCH",
                path="/v1/jobs/{}",
                answer=JobView,
                places=(job_id,),
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
                },
                if_match=if_match,
            )
        )

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
        guarantee: Guarantee | UnsetType = UNSET,
        target: str | UnsetType | None = UNSET,
        queue: str | UnsetType = UNSET,
        priority: Priority | UnsetType = UNSET,
        overlap: OverlapName | UnsetType = UNSET,
        keep_first: bool | UnsetType = UNSET,
        when_queue_paused: PausedQueueName | UnsetType = UNSET,
        limits: Sequence[LimitDraft | Mapping[str, Any]] | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        user_id: str | UnsetType | None = UNSET,
        unique: UniqueDraft | Mapping[str, Any] | UnsetType = UNSET,
        if_match: int | None = None,
    ) -> JobView:
        """Make the job of this name, or change it if there is one.

        Args:
            kind: Which handler carries it out; the name unless it is said.
            job_type: Another name for `kind`, which also knows the names of other schedulers, such
                as `HTTP_REQUEST`.
            schedule: As in docs/reference/schedules.md; at once unless it is said.
            schedule_type: What the schedule is; not needed, and refused if the rest says otherwise.
            schedule_time: Run once, at this time. Short for `schedule.at`.
            cron_expression: Run by this expression. Short for `schedule.cron`.
            timezone: An IANA name for the flat fields; UTC unless it is said.
            payload: What the handler is given.
            graph: With the kind `graph`: its steps, as in docs/howto/graphs.md.
            max_retries: How many more attempts after the first. Short for `retries.max`.
            retries: A number, or how often and how soon a failed run is tried again.
            timeout: The longest an attempt may take; 15 minutes unless it is said, null for no
                limit.
            deadline: How long after its due time a run may go on; no limit unless said, null to
                lift it.
            grace: From asking an attempt to stop to ending it by force; 10 s usually.
            guarantee: What happens if a worker is lost. `exactly_once` needs a handler that
                completes its run in `ctx.transaction()`; other kinds refuse it. Default:
                `at_least_once`.
            target: What its attempts depend on. While it does not answer, runs wait instead of
                using up their retries. Unless it is said the host or the connection, of kinds that
                have one; null, or `none`, for that.
            queue: Which workers serve it; `default` unless it is said.
            priority: From 0, which goes first, to 9, or by name; 5 unless it is said.
            overlap: What if a run of it is alive when it is due; `skip` unless said.
            keep_first: With `queue_one`: the run that waits stays, the new one is skipped.
            when_queue_paused: What if it is due while its queue is paused; `skip` unless said.
            limits: Limits that its runs share with others of the same key.
            labels: Names and values of your own, to find it by.
            user_id: Whose job it is, for your own bookkeeping.
            unique: Of equal submissions only one becomes a run.
            if_match: Only if this is still its `version`.
        """
        return self._send(
            Request(
                name="put_job",
                method="PUT",
                path="/v1/jobs/by-name/{}",
                answer=JobView,
                places=(name,),
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
                    "unique": unique,
                },
                if_match=if_match,
            )
        )

    def get_job_by_name(
        self,
        name: str,
    ) -> JobView:
        """The job of this name."""
        return self._send(
            Request(
                name="get_job_by_name",
                method="GET",
                path="/v1/jobs/by-name/{}",
                answer=JobView,
                places=(name,),
            )
        )

    def pause_job(
        self,
        job_id: str,
        *,
        reason: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> JobView:
        """Fire no more ticks until it is resumed; runs that exist go on.

        Ticks that were due before the pause, because no scheduler was there, are decided first, as
        `misfire.on_outage` says.

        Args:
            reason: Why, for whoever finds it paused.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="pause_job",
                method="POST",
                path="/v1/jobs/{}/pause",
                answer=JobView,
                places=(job_id,),
                body={"reason": reason},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def resume_job(
        self,
        job_id: str,
        *,
        missed: Literal["skip", "once", "all"] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> JobView:
        """Go on. What was missed meanwhile runs or is recorded as its schedule says, or as asked.

        Args:
            missed: Whether ticks missed in the pause run: none, one, or each.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="resume_job",
                method="POST",
                path="/v1/jobs/{}/resume",
                answer=JobView,
                places=(job_id,),
                body={"missed": missed},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def run_job_now(
        self,
        job_id: str,
        *,
        payload: Any | UnsetType = UNSET,
        priority: Priority | UnsetType | None = UNSET,
        overlap: OverlapName | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Triggered:
        """Run it past its schedule, with its own payload or another.

        The run is accepted (202) and starts when a worker is free; `GET /v1/runs/{run_id}` follows
        it.

        Args:
            payload: Instead of the job's own.
            priority: Instead of the job's own.
            overlap: Instead of the job's own.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="run_job_now",
                method="POST",
                path="/v1/jobs/{}/runNow",
                answer=Triggered,
                places=(job_id,),
                body={"payload": payload, "priority": priority, "overlap": overlap},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def get_job_status(
        self,
        job_id: str,
    ) -> JobStatus:
        """How it stands: its newest run, and why it waits if it does."""
        return self._send(
            Request(
                name="get_job_status",
                method="GET",
                path="/v1/jobs/{}/status",
                answer=JobStatus,
                places=(job_id,),
            )
        )

    def list_runs_of_job(
        self,
        job_id: str,
        *,
        status: Sequence[RunStatus] | RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[RunView]:
        """Its runs, newest first.

        Args:
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_runs_of_job",
                method="GET",
                path="/v1/jobs/{}/runs",
                answer=Page[RunView],
                places=(job_id,),
                query={"status": status, "limit": limit, "cursor": cursor},
            )
        )

    def list_outcomes(
        self,
        *,
        job_id: Sequence[str] | None = None,
        each: int | None = None,
    ) -> Page[JobOutcomes]:
        """How the last runs of several jobs went: what runs, how it ended, or why there was none.

        In the order in which the jobs are named; one that is not there has no runs.

        Args:
            job_id: Of this job; may be given up to 50 times.
            each: How many of each job at most.
        """
        return self._send(
            Request(
                name="list_outcomes",
                method="GET",
                path="/v1/jobs/outcomes",
                answer=Page[JobOutcomes],
                query={"job_id": job_id, "each": each},
            )
        )

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
    ) -> BackfillView:
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
        return self._send(
            Request(
                name="backfill_job",
                method="POST",
                path="/v1/jobs/{}/backfill",
                answer=BackfillView,
                places=(job_id,),
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
        )

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
    ) -> BackfillPlanned:
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
        return self._send(
            Request(
                name="create_backfill",
                method="POST",
                path="/v1/jobs/{}/backfills",
                answer=BackfillPlanned,
                places=(job_id,),
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
        )

    def delete_job(
        self,
        job_id: str,
        *,
        running: Literal["cancel", "keep", "leave"] | None = None,
    ) -> None:
        """Delete a job and cancel its runs.

        Runs that wait end at once. The workers of runs that are being executed are asked to stop
        them, unless `running=keep`.

        Args:
            running: What happens to runs that are being executed: their workers are asked to stop
                them, or they go on (`keep`; `leave` is an older word for it). Default: `cancel`.
        """
        return self._send(
            Request(
                name="delete_job",
                method="DELETE",
                path="/v1/jobs/{}",
                answer=NoneType,
                places=(job_id,),
                query={"running": running},
            )
        )

    def get_load(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        bucket: Literal["minute", "hour"] | None = None,
    ) -> LoadView:
        """How many ticks of all your jobs fall into each minute or hour to come.

        Ask for one minute to see whose they are.

        Args:
            since: Now unless it is said.
            until: A day after `since` unless it is said, 35 days at most.
            bucket: How wide a part is; a week of minutes at most.
        """
        return self._send(
            Request(
                name="get_load",
                method="GET",
                path="/v1/schedules/load",
                answer=LoadView,
                query={"since": since, "until": until, "bucket": bucket},
            )
        )

    def preview_schedule(
        self,
        *,
        schedule: Mapping[str, Any],
        count: int | UnsetType = UNSET,
        viewer: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> PreviewView:
        """What a schedule will do: in words, its next times, and what daylight saving does to them.

        Args:
            schedule: A schedule in the form of docs/reference/schedules.md.
            count: How many of the next times to show.
            viewer: The zone of whoever looks, an IANA name; each time is shown in it as well.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="preview_schedule",
                method="POST",
                path="/v1/schedules/preview",
                answer=PreviewView,
                body={"schedule": schedule, "count": count, "viewer": viewer},
                idempotency_key=idempotency_key,
            )
        )

    def list_backfills(
        self,
        *,
        status: Sequence[Literal["running", "paused", "cancelling", "finished", "cancelled"]]
        | Literal["running", "paused", "cancelling", "finished", "cancelled"]
        | None = None,
        job_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[BackfillProgress]:
        """Backfills, the newest first.

        Args:
            status: Those in this state; may be given several times.
            job_id: Of this job.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_backfills",
                method="GET",
                path="/v1/backfills",
                answer=Page[BackfillProgress],
                query={"status": status, "job_id": job_id, "limit": limit, "cursor": cursor},
            )
        )

    def get_backfill(
        self,
        backfill_id: str,
    ) -> BackfillProgress:
        """One backfill: how far it is, and when it will be done."""
        return self._send(
            Request(
                name="get_backfill",
                method="GET",
                path="/v1/backfills/{}",
                answer=BackfillProgress,
                places=(backfill_id,),
            )
        )

    def pause_backfill(
        self,
        backfill_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> BackfillProgress:
        """Start no more of its runs; those that run may finish.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="pause_backfill",
                method="POST",
                path="/v1/backfills/{}/pause",
                answer=BackfillProgress,
                places=(backfill_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def resume_backfill(
        self,
        backfill_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> BackfillProgress:
        """Let a paused backfill go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="resume_backfill",
                method="POST",
                path="/v1/backfills/{}/resume",
                answer=BackfillProgress,
                places=(backfill_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def cancel_backfill(
        self,
        backfill_id: str,
        *,
        running: Literal["finish", "cancel"] | UnsetType = UNSET,
        reason: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> BackfillProgress:
        """Make no more runs and cancel those that wait; what runs may finish, or is cancelled too.

        It is `cancelling` until the last of its runs has ended.

        Args:
            running: What becomes of runs that are at work.
            reason: Why, for whoever asks later.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="cancel_backfill",
                method="POST",
                path="/v1/backfills/{}/cancel",
                answer=BackfillProgress,
                places=(backfill_id,),
                body={"running": running, "reason": reason},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def plan_manifest(
        self,
        *,
        project: str,
        jobs: Sequence[DeclaredJob | Mapping[str, Any]],
        calendars: Sequence[DeclaredCalendar | Mapping[str, Any]] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> PlanView:
        """What applying the jobs of a project would change, and which of its next runs move.

        Changes nothing. Jobs of the project that are not declared are shown as `prune`.

        Args:
            project: Whose jobs these are; kept in their label `rota.project`.
            jobs: All that the project is to have.
            calendars: Calendars of the tenant, made or replaced; none is ever deleted.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="plan_manifest",
                method="POST",
                path="/v1/manifests/plan",
                answer=PlanView,
                body={"project": project, "jobs": jobs, "calendars": calendars},
                idempotency_key=idempotency_key,
            )
        )

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
    ) -> PlanView:
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
        return self._send(
            Request(
                name="apply_manifest",
                method="POST",
                path="/v1/manifests/apply",
                answer=PlanView,
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
        )

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
    ) -> Page[RunView]:
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
        return self._send(
            Request(
                name="list_runs",
                method="GET",
                path="/v1/runs",
                answer=Page[RunView],
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
        )

    def list_executions(
        self,
        *,
        worker_id: str,
        status: Sequence[RunStatus] | RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[RunView]:
        """The runs that a worker executes or executed last.

        `GET /v1/job/executions` is the same.

        Args:
            worker_id: A worker: its id or its name.
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_executions",
                method="GET",
                path="/v1/executions",
                answer=Page[RunView],
                query={"worker_id": worker_id, "status": status, "limit": limit, "cursor": cursor},
            )
        )

    def get_run(
        self,
        run_id: str,
    ) -> RunDetail:
        """One run, with its payload and its result."""
        return self._send(
            Request(
                name="get_run",
                method="GET",
                path="/v1/runs/{}",
                answer=RunDetail,
                places=(run_id,),
            )
        )

    def list_attempts(
        self,
        run_id: str,
    ) -> Page[AttemptView]:
        """Every attempt of a run, the first one first."""
        return self._send(
            Request(
                name="list_attempts",
                method="GET",
                path="/v1/runs/{}/attempts",
                answer=Page[AttemptView],
                places=(run_id,),
            )
        )

    def explain_run(
        self,
        run_id: str,
    ) -> Explained:
        """Why it waits, or what became of it, in one sentence."""
        return self._send(
            Request(
                name="explain_run",
                method="GET",
                path="/v1/runs/{}/explain",
                answer=Explained,
                places=(run_id,),
            )
        )

    def cancel_run(
        self,
        run_id: str,
        *,
        reason: str | UnsetType | None = UNSET,
        force: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> RunState:
        """Cancel a run: at once if it waits; if it runs, its worker is asked to stop it (202).

        Args:
            reason: Why, for whoever asks later.
            force: End it now, whatever its worker does.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="cancel_run",
                method="POST",
                path="/v1/runs/{}/cancel",
                answer=RunState,
                places=(run_id,),
                body={"reason": reason, "force": force},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def retry_run(
        self,
        run_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> RunState:
        """Let a run that died, was lost or was cancelled go again, as itself.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="retry_run",
                method="POST",
                path="/v1/runs/{}/retry",
                answer=RunState,
                places=(run_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def replay_run(
        self,
        run_id: str,
        *,
        payload: Any | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Triggered:
        """Make a new run like a finished one, with the same payload or another.

        Args:
            payload: Instead of the one that the run had.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="replay_run",
                method="POST",
                path="/v1/runs/{}/replay",
                answer=Triggered,
                places=(run_id,),
                body={"payload": payload},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def cancel_runs(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> BulkDone:
        """Cancel many runs: a dry run answers how many, and the token to do it.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="cancel_runs",
                method="POST",
                path="/v1/runs/bulk-cancel",
                answer=BulkDone,
                body={"filter": filter, "dry_run": dry_run, "token": token},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def begin_external_run(
        self,
        *,
        job: str,
        host: str,
        payload: Any | UnsetType = UNSET,
        labels: Mapping[str, str] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ExternalRun:
        """Begin a run that the caller carries out: it is running from now on.

        The caller tells of it at least once in `lease_seconds`, and ends it.

        Args:
            job: Of which job; made, with the kind `exec`, if need be.
            host: Where it is, to find the process by.
            payload: What it does, for whoever looks.
            labels: Of the job, if it is made.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="begin_external_run",
                method="POST",
                path="/v1/runs/external",
                answer=ExternalRun,
                body={"job": job, "host": host, "payload": payload, "labels": labels},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def tell_external_run(
        self,
        run_id: str,
        *,
        output: Sequence[OutputPiece | Mapping[str, Any]] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> ExternalAnswer:
        """Say that it goes on, and what it wrote.

        Args:
            output: What it wrote since the last time.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="tell_external_run",
                method="POST",
                path="/v1/runs/{}/external",
                answer=ExternalAnswer,
                places=(run_id,),
                body={"output": output},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def end_external_run(
        self,
        run_id: str,
        *,
        exit_code: int,
        output: Sequence[OutputPiece | Mapping[str, Any]] | UnsetType = UNSET,
        why: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> ExternalAnswer:
        """Say how it ended.

        Args:
            exit_code: 0 is success, anything else is not.
            output: What it wrote since the last time.
            why: What went wrong; the exit code unless it is said.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="end_external_run",
                method="POST",
                path="/v1/runs/{}/external/end",
                answer=ExternalAnswer,
                places=(run_id,),
                body={"output": output, "exit_code": exit_code, "why": why},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def get_logs(
        self,
        run_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> Logs:
        """What its attempts wrote, in order; `follow_logs` goes on as they come.

        Args:
            after: `cursor` of the page before.
            limit: How many pieces at most.
        """
        return self._send(
            Request(
                name="get_logs",
                method="GET",
                path="/v1/runs/{}/logs",
                answer=Logs,
                places=(run_id,),
                query={"after": after, "limit": limit},
            )
        )

    def get_graph(
        self,
        job_id: str,
    ) -> GraphView:
        """The graph of a job."""
        return self._send(
            Request(
                name="get_graph",
                method="GET",
                path="/v1/jobs/{}/graph",
                answer=GraphView,
                places=(job_id,),
            )
        )

    def get_run_graph(
        self,
        run_id: str,
    ) -> RunGraphView:
        """A graph run with every step: its state, its run, its times, and how far its maps are."""
        return self._send(
            Request(
                name="get_run_graph",
                method="GET",
                path="/v1/runs/{}/graph",
                answer=RunGraphView,
                places=(run_id,),
            )
        )

    def list_members(
        self,
        run_id: str,
        *,
        step: str,
        status: Sequence[RunStatus] | RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[RunView]:
        """The members of a map in their order; a page may be short and still have a next one.

        Args:
            step: The name of the map.
            status: Those in this state; may be given several times. Words of other schedulers are
                understood, in any case.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_members",
                method="GET",
                path="/v1/runs/{}/members",
                answer=Page[RunView],
                places=(run_id,),
                query={"step": step, "status": status, "limit": limit, "cursor": cursor},
            )
        )

    def retry_run_graph(
        self,
        run_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> RunState:
        """Let a graph run that ended go on from its failed steps; what succeeded is not done again.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="retry_run_graph",
                method="POST",
                path="/v1/runs/{}/retryFailed",
                answer=RunState,
                places=(run_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def pause_run(
        self,
        run_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> RunState:
        """Let a graph run start no more steps; those that run go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="pause_run",
                method="POST",
                path="/v1/runs/{}/pause",
                answer=RunState,
                places=(run_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def resume_run(
        self,
        run_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> RunState:
        """Let a paused graph run go on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="resume_run",
                method="POST",
                path="/v1/runs/{}/resume",
                answer=RunState,
                places=(run_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

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
    ) -> Page[RunView]:
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
        """
        return self._send(
            Request(
                name="list_dead_letters",
                method="GET",
                path="/v1/dead-letters",
                answer=Page[RunView],
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
        )

    def list_dead_groups(
        self,
        *,
        since: Moment | None = None,
        limit: int | None = None,
    ) -> Page[DeadGroupView]:
        """Dead letters that died alike, counted together, the last seen first.

        Args:
            since: Died at this time or later; a month ago unless it is said.
            limit: How many of them at most.
        """
        return self._send(
            Request(
                name="list_dead_groups",
                method="GET",
                path="/v1/dead-letters/groups",
                answer=Page[DeadGroupView],
                query={"since": since, "limit": limit},
            )
        )

    def replay_dead_letters(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        per_minute: int | UnsetType | None = UNSET,
        before: int | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> BulkDone:
        """Let dead letters go again: a dry run answers how many, and the token to do it.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            per_minute: How many may begin in a minute; all at once unless it is said.
            before: How many were let go by calls before this one, at the same pace.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="replay_dead_letters",
                method="POST",
                path="/v1/dead-letters/replay",
                answer=BulkDone,
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
        )

    def drop_dead_letters(
        self,
        *,
        filter: BulkFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> BulkDone:
        """Take dead letters off the list: a dry run answers how many, and the token to do it.

        Args:
            filter: Which runs; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="drop_dead_letters",
                method="POST",
                path="/v1/dead-letters/drop",
                answer=BulkDone,
                body={"filter": filter, "dry_run": dry_run, "token": token},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def drop_dead_letter(
        self,
        run_id: str,
    ) -> None:
        """Take one dead letter off the list; the run stays in history."""
        return self._send(
            Request(
                name="drop_dead_letter",
                method="DELETE",
                path="/v1/dead-letters/{}",
                answer=NoneType,
                places=(run_id,),
            )
        )

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
    ) -> EventsTaken:
        """Hand in events: each becomes a run of every job that waits for it.

        The same source and id again are the same event and make nothing. CloudEvents 1.0 are taken
        as application/cloudevents+json, application/cloudevents-batch+json, and by ce- headers.

        Args:
            source: Where it comes from; `api` unless it is said.
            id: With its source it is the same event for ever; drawn unless it is said.
            time: When it happened; now unless it is said.
            subject: What it is about.
            data: Whatever else there is to say.
            type: Which jobs it concerns, as in order.paid.
            events: Several events instead of one: all are taken, or none.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="send_events",
                method="POST",
                path="/v1/events",
                answer=EventsTaken,
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
        )

    def list_events(
        self,
        *,
        type: str | None = None,
        source: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[EventView]:
        """Events that arrived, the newest first.

        Args:
            type: Of this type.
            source: From this source.
            since: That arrived at this time or later.
            until: That arrived before this time.
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_events",
                method="GET",
                path="/v1/events",
                answer=Page[EventView],
                query={
                    "type": type,
                    "source": source,
                    "since": since,
                    "until": until,
                    "limit": limit,
                    "cursor": cursor,
                },
            )
        )

    def get_event(
        self,
        event_id: str,
    ) -> EventView:
        """An event, and what it came to, job by job; where it did not run, why."""
        return self._send(
            Request(
                name="get_event",
                method="GET",
                path="/v1/events/{}",
                answer=EventView,
                places=(event_id,),
            )
        )

    def replay_events(
        self,
        *,
        filter: EventFilter | Mapping[str, Any],
        dry_run: bool | UnsetType = UNSET,
        token: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Replayed:
        """Match events again with the jobs as they are now; their runs are new ones.

        A dry run answers how many, and the token to do it.

        Args:
            filter: Which events; at least one of its fields must be said.
            dry_run: Only count them, and answer the token to do it.
            token: The token of a dry run with the same filter.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="replay_events",
                method="POST",
                path="/v1/events:replay",
                answer=Replayed,
                body={"filter": filter, "dry_run": dry_run, "token": token},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def list_sources(
        self,
    ) -> Page[SourceView]:
        """The sources that events come from: who reads them, how far, and what went wrong last."""
        return self._send(
            Request(
                name="list_sources",
                method="GET",
                path="/v1/sources",
                answer=Page[SourceView],
            )
        )

    def create_hook(
        self,
        *,
        name: str,
        type: str,
        style: Literal["standard", "github"] | UnsetType = UNSET,
        secret: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> HookMade:
        """Make a hook; this is the only time that its secret is shown.

        Args:
            name: Unique in the tenant; the source is hooks/ and it.
            type: The type of the events that come of it.
            style: How requests are signed: Standard Webhooks, or X-Hub-Signature-256.
            secret: A secret that the sender has made; drawn unless it is said.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_hook",
                method="POST",
                path="/v1/hooks",
                answer=HookMade,
                body={"name": name, "type": type, "style": style, "secret": secret},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def list_hooks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[HookView]:
        """The hooks by name, without their secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_hooks",
                method="GET",
                path="/v1/hooks",
                answer=Page[HookView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def rotate_hook(
        self,
        hook_id: str,
        *,
        secret: str | UnsetType | None = UNSET,
        former_for: Duration | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> HookMade:
        """Give a hook another secret; the one before is good for a day, or as long as is said.

        Args:
            secret: A secret that the sender has made; drawn unless it is said.
            former_for: How long the secret before is good as well.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="rotate_hook",
                method="POST",
                path="/v1/hooks/{}/rotate",
                answer=HookMade,
                places=(hook_id,),
                body={"secret": secret, "former_for": former_for},
                body_required=False,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def delete_hook(
        self,
        hook_id: str,
    ) -> None:
        """Delete a hook: from now on nothing is taken there."""
        return self._send(
            Request(
                name="delete_hook",
                method="DELETE",
                path="/v1/hooks/{}",
                answer=NoneType,
                places=(hook_id,),
            )
        )

    def list_queues(
        self,
    ) -> Page[QueueView]:
        """Every queue: whether it is paused, its limits, and what of yours waits and runs in it."""
        return self._send(
            Request(
                name="list_queues",
                method="GET",
                path="/v1/queues",
                answer=Page[QueueView],
            )
        )

    def pause_queue(
        self,
        queue: str,
        *,
        idempotency_key: str | None = None,
    ) -> QueueState:
        """Start nothing of this queue any more; what runs goes on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="pause_queue",
                method="POST",
                path="/v1/queues/{}/pause",
                answer=QueueState,
                places=(queue,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def resume_queue(
        self,
        queue: str,
        *,
        idempotency_key: str | None = None,
    ) -> QueueState:
        """Start its runs again.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="resume_queue",
                method="POST",
                path="/v1/queues/{}/resume",
                answer=QueueState,
                places=(queue,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def limit_queue(
        self,
        queue: str,
        *,
        max: int | UnsetType | None = UNSET,
        rate: RateDraft | Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> None:
        """Let so many run at a time and so many start per time; nothing said lifts the limits.

        Args:
            max: How many may run at a time.
            rate: How many may start per time.
        """
        return self._send(
            Request(
                name="limit_queue",
                method="PUT",
                path="/v1/queues/{}/limits",
                answer=NoneType,
                places=(queue,),
                body={"max": max, "rate": rate},
            )
        )

    def list_kinds(
        self,
    ) -> Page[KindView]:
        """The kinds of jobs that workers carry out, with what their payloads look like."""
        return self._send(
            Request(
                name="list_kinds",
                method="GET",
                path="/v1/kinds",
                answer=Page[KindView],
            )
        )

    def list_workers(
        self,
        *,
        with_dead: bool | None = None,
    ) -> Page[WorkerView]:
        """The workers that are alive, with what they serve and how busy they are.

        Args:
            with_dead: Also those that have died or stopped lately.
        """
        return self._send(
            Request(
                name="list_workers",
                method="GET",
                path="/v1/workers",
                answer=Page[WorkerView],
                query={"with_dead": with_dead},
            )
        )

    def drain_worker(
        self,
        worker_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> WorkerDrained:
        """Let a worker take no more runs, and end when those that it has have ended.

        It hears of it with its next heartbeat. What it runs may take as long as it stays within the
        time that the process has to stop; there is no way back but to start another worker.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="drain_worker",
                method="POST",
                path="/v1/workers/{}/drain",
                answer=WorkerDrained,
                places=(worker_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def list_schedulers(
        self,
    ) -> Page[SchedulerView]:
        """The schedulers that are alive, with their shards."""
        return self._send(
            Request(
                name="list_schedulers",
                method="GET",
                path="/v1/schedulers",
                answer=Page[SchedulerView],
            )
        )

    def list_shards(
        self,
    ) -> Page[ShardView]:
        """The 128 shards and who fires them."""
        return self._send(
            Request(
                name="list_shards",
                method="GET",
                path="/v1/shards",
                answer=Page[ShardView],
            )
        )

    def get_statistics(
        self,
        *,
        since: Moment | None = None,
    ) -> StatisticsView:
        """How it goes: runs by outcome, waits and durations, what waits now, what is late.

        Args:
            since: An hour ago unless it is said, a month ago at most.
        """
        return self._send(
            Request(
                name="get_statistics",
                method="GET",
                path="/v1/statistics",
                answer=StatisticsView,
                query={"since": since},
            )
        )

    def get_series(
        self,
        *,
        span: Literal["hour", "day", "month"] | None = None,
    ) -> SeriesView:
        """The same over the last hour by minutes, the last day by hours, or the last month by days.

        Args:
            span: The last hour by minutes, day by hours, or month by days.
        """
        return self._send(
            Request(
                name="get_series",
                method="GET",
                path="/v1/statistics/series",
                answer=SeriesView,
                query={"span": span},
            )
        )

    def put_calendar(
        self,
        name: str,
        calendar: Mapping[str, Any],
        *,
        if_match: int | None = None,
    ) -> CalendarView:
        """Make the calendar of this name (201), or replace it.

        The next ticks of the jobs that go by it are computed anew; at most 1,000 jobs may.

        Args:
            calendar: A calendar in the form of docs/reference/schedules.md.
            if_match: Only if this is still its `version`.
        """
        return self._send(
            Request(
                name="put_calendar",
                method="PUT",
                path="/v1/calendars/{}",
                answer=CalendarView,
                places=(name,),
                body={"calendar": calendar},
                if_match=if_match,
            )
        )

    def list_calendars(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[CalendarView]:
        """Calendars by name.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_calendars",
                method="GET",
                path="/v1/calendars",
                answer=Page[CalendarView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def get_calendar(
        self,
        name: str,
    ) -> CalendarView:
        """One calendar."""
        return self._send(
            Request(
                name="get_calendar",
                method="GET",
                path="/v1/calendars/{}",
                answer=CalendarView,
                places=(name,),
            )
        )

    def delete_calendar(
        self,
        name: str,
    ) -> None:
        """Delete a calendar that no job goes by."""
        return self._send(
            Request(
                name="delete_calendar",
                method="DELETE",
                path="/v1/calendars/{}",
                answer=NoneType,
                places=(name,),
            )
        )

    def put_secret(
        self,
        name: str,
        value: str,
    ) -> SecretView:
        """Write a secret, or a new version of it. Nobody can read it back.

        Args:
            value: The secret. A shorter one could not be kept out of logs.
        """
        return self._send(
            Request(
                name="put_secret",
                method="PUT",
                path="/v1/secrets/{}",
                answer=SecretView,
                places=(name,),
                body={"value": value},
            )
        )

    def list_secrets(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[SecretView]:
        """The names of the secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_secrets",
                method="GET",
                path="/v1/secrets",
                answer=Page[SecretView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def delete_secret(
        self,
        name: str,
    ) -> None:
        """Delete a secret in all its versions."""
        return self._send(
            Request(
                name="delete_secret",
                method="DELETE",
                path="/v1/secrets/{}",
                answer=NoneType,
                places=(name,),
            )
        )

    def create_key(
        self,
        *,
        name: str,
        role: RoleName,
        user_id: str | UnsetType | None = UNSET,
        lifetime: Duration | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> KeyMade:
        """Make a key; this is the only time that it is shown.

        Args:
            name: What it is for.
            role: What it may do; none above your own.
            user_id: Who is named in the audit log instead of the key.
            lifetime: 90 days unless it is said, a year at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_key",
                method="POST",
                path="/v1/keys",
                answer=KeyMade,
                body={"name": name, "role": role, "user_id": user_id, "lifetime": lifetime},
                repeat="never",
                idempotency_key=idempotency_key,
            )
        )

    def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[KeyView]:
        """The keys of the tenant, the oldest first, without their secrets.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_keys",
                method="GET",
                path="/v1/keys",
                answer=Page[KeyView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def revoke_key(
        self,
        key_id: str,
    ) -> KeyView:
        """Revoke a key: within five seconds nobody can use it any more."""
        return self._send(
            Request(
                name="revoke_key",
                method="DELETE",
                path="/v1/keys/{}",
                answer=KeyView,
                places=(key_id,),
            )
        )

    def list_users(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[UserView]:
        """The users of the tenant, by name: how many jobs and valid keys each has.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_users",
                method="GET",
                path="/v1/users",
                answer=Page[UserView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def get_user(
        self,
        user_id: str,
    ) -> UserView:
        """One user."""
        return self._send(
            Request(
                name="get_user",
                method="GET",
                path="/v1/users/{}",
                answer=UserView,
                places=(user_id,),
            )
        )

    def revoke_keys_of_user(
        self,
        user_id: str,
    ) -> KeysRevoked:
        """Revoke all keys of a user: within five seconds none of them can be used any more."""
        return self._send(
            Request(
                name="revoke_keys_of_user",
                method="DELETE",
                path="/v1/users/{}/keys",
                answer=KeysRevoked,
                places=(user_id,),
            )
        )

    def create_tenant(
        self,
        *,
        name: str,
        weight: int | UnsetType = UNSET,
        quotas: QuotasDraft | Mapping[str, Any] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> TenantView:
        """Make a tenant.

        Args:
            name: Unique among the tenants.
            weight: Its share of busy workers, next to the others.
            quotas: What it may have at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_tenant",
                method="POST",
                path="/v1/tenants",
                answer=TenantView,
                body={"name": name, "weight": weight, "quotas": quotas},
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def list_tenants(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[TenantView]:
        """All tenants, the oldest first.

        Args:
            limit: How many of them at most.
            cursor: `next` of the page before.
        """
        return self._send(
            Request(
                name="list_tenants",
                method="GET",
                path="/v1/tenants",
                answer=Page[TenantView],
                query={"limit": limit, "cursor": cursor},
            )
        )

    def get_tenant(
        self,
        tenant_id: int | str,
    ) -> TenantView:
        """One tenant."""
        return self._send(
            Request(
                name="get_tenant",
                method="GET",
                path="/v1/tenants/{}",
                answer=TenantView,
                places=(tenant_id,),
            )
        )

    def update_tenant(
        self,
        tenant_id: int | str,
        *,
        weight: int | UnsetType = UNSET,
        quotas: QuotasDraft | Mapping[str, Any] | UnsetType = UNSET,
    ) -> TenantView:
        """Change its weight or its quotas.

        Args:
            weight: Its share of busy workers, next to the others.
            quotas: All of them anew: what is not said is not limited any more.
        """
        return self._send(
            Request(
                name="update_tenant",
                method="PATCH",
                path="/v1/tenants/{}",
                answer=TenantView,
                places=(tenant_id,),
                body={"weight": weight, "quotas": quotas},
            )
        )

    def pause_tenant(
        self,
        tenant_id: int | str,
        *,
        idempotency_key: str | None = None,
    ) -> TenantView:
        """Start no run of it any more; what runs goes on.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="pause_tenant",
                method="POST",
                path="/v1/tenants/{}/pause",
                answer=TenantView,
                places=(tenant_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def resume_tenant(
        self,
        tenant_id: int | str,
        *,
        idempotency_key: str | None = None,
    ) -> TenantView:
        """Start its runs again.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="resume_tenant",
                method="POST",
                path="/v1/tenants/{}/resume",
                answer=TenantView,
                places=(tenant_id,),
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def create_tenant_key(
        self,
        tenant_id: int | str,
        *,
        name: str,
        role: RoleName,
        user_id: str | UnsetType | None = UNSET,
        lifetime: Duration | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> KeyMade:
        """Make a key for a tenant; this is the only time that it is shown.

        Args:
            name: What it is for.
            role: What it may do; none above your own.
            user_id: Who is named in the audit log instead of the key.
            lifetime: 90 days unless it is said, a year at most.
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_tenant_key",
                method="POST",
                path="/v1/tenants/{}/keys",
                answer=KeyMade,
                places=(tenant_id,),
                body={"name": name, "role": role, "user_id": user_id, "lifetime": lifetime},
                repeat="never",
                idempotency_key=idempotency_key,
            )
        )

    def delete_tenant(
        self,
        tenant_id: int | str,
    ) -> None:
        """Delete a tenant that has no jobs."""
        return self._send(
            Request(
                name="delete_tenant",
                method="DELETE",
                path="/v1/tenants/{}",
                answer=NoneType,
                places=(tenant_id,),
            )
        )

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
    ) -> Page[AuditView]:
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
        return self._send(
            Request(
                name="list_audit",
                method="GET",
                path="/v1/audit",
                answer=Page[AuditView],
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
        )

    def create_login_ticket(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> TicketView:
        """Make a link that logs in at the dashboard, once and within a minute.

        Args:
            idempotency_key: The same key with the same request gets the same answer, for a day.
        """
        return self._send(
            Request(
                name="create_login_ticket",
                method="POST",
                path="/v1/login-tickets",
                answer=TicketView,
                repeat="by_key",
                idempotency_key=idempotency_key,
            )
        )

    def get_health(
        self,
    ) -> Health:
        """Whether this process answers.

        It never asks the database.
        """
        return self._send(
            Request(
                name="get_health",
                method="GET",
                path="/healthz",
                answer=Health,
            )
        )

    def get_readiness(
        self,
    ) -> Health:
        """Whether this process can serve.

        It can while its database answers, as of a second ago, and its machine's clock is at most 30
        seconds from the database's.
        """
        return self._send(
            Request(
                name="get_readiness",
                method="GET",
                path="/readyz",
                answer=Health,
            )
        )

    def get_whoami(
        self,
    ) -> WhoAmI:
        """Whose key this is and what it may do."""
        return self._send(
            Request(
                name="get_whoami",
                method="GET",
                path="/v1/whoami",
                answer=WhoAmI,
            )
        )

    def get_metrics(
        self,
    ) -> str:
        """Figures for Prometheus: of the whole installation, and of this process."""
        return self._send(
            Request(
                name="get_metrics",
                method="GET",
                path="/metrics",
                answer=str,
            )
        )

    def get_openapi(
        self,
    ) -> dict[str, Any]:
        """This interface as an OpenAPI 3.1 document."""
        return self._send(
            Request(
                name="get_openapi",
                method="GET",
                path="/v1/openapi.json",
                answer=dict[str, Any],
            )
        )

    def get_page(
        self,
    ) -> str:
        """A page to read about this interface and to try it out."""
        return self._send(
            Request(
                name="get_page",
                method="GET",
                path="/docs",
                answer=str,
            )
        )

    def get_page_file(
        self,
        file: str,
    ) -> str:
        """What the page is made of."""
        return self._send(
            Request(
                name="get_page_file",
                method="GET",
                path="/docs/{}",
                answer=str,
                places=(file,),
            )
        )

    def get_problem(
        self,
        code: str,
    ) -> str:
        """What a problem means; its `type` leads here."""
        return self._send(
            Request(
                name="get_problem",
                method="GET",
                path="/problems/{}",
                answer=str,
                places=(code,),
            )
        )

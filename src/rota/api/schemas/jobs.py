"""Schemas of jobs: drafts, edits and views.

A schedule has two forms: the nested `schedule`, which is canonical, and the flat fields
`schedule_type`, `schedule_time` and `cron_expression`. A job without a schedule runs at once.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import (
    Json,
    Priority,
)
from rota.contract.job import JobDraft, JobEdit, JobValues, OverlapName, ScheduleType

__all__ = [
    "CreatedJob",
    "CreatedJobs",
    "JobDraft",
    "JobDrafts",
    "JobEdit",
    "JobStatus",
    "JobView",
    "LatestRunView",
    "OverlapName",
    "PauseDraft",
    "ResumeDraft",
    "RunNowDraft",
    "ScheduleType",
    "StartedRun",
]


class JobDrafts(Struct, kw_only=True, forbid_unknown_fields=True):
    """Jobs to create together: all or none."""

    jobs: Annotated[
        Annotated[list[JobDraft], Meta(min_length=1, max_length=1000)],
        Meta(description="Jobs, each as in `POST /v1/jobs`."),
    ]


class CreatedJob(Struct, kw_only=True, frozen=True):
    """A created job. `run_id` is the run of a job that runs at once. `deduplicated`: the uniqueness
    rule found an existing job or run, and none was created.
    """

    job_id: str
    run_id: str | None
    deduplicated: bool
    next_run_at: str | None
    name: str
    status: str
    warnings: list[str]


class CreatedJobs(Struct, kw_only=True, frozen=True):
    jobs: list[CreatedJob]


class JobView(JobValues, kw_only=True, frozen=True):
    """A job with its fields and its current state."""

    status: str
    schedule_type: ScheduleType
    cron_expression: str | None
    schedule_time: str | None
    timezone: str | None
    max_retries: int
    held: dict[str, Any] | None
    next_run_at: str | None
    version: int
    created_at: str
    updated_at: str


class PauseDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="Reason, shown with the paused job. Default: none."),
    ] = None


class ResumeDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """How to treat the ticks missed during the pause."""

    missed: Annotated[
        Literal["skip", "once", "all"] | None,
        Meta(
            description="Which missed ticks to run: none, one, or all. Default: the misfire "
            "policy of "
            "the schedule."
        ),
    ] = None


class RunNowDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run outside the schedule."""

    payload: Annotated[
        Json, Meta(description="Payload of the run. Default: the job's payload.")
    ] = None
    priority: Annotated[
        Priority | None, Meta(description="Priority of the run. Default: the job's priority.")
    ] = None
    overlap: Annotated[
        OverlapName | None,
        Meta(
            description="What to do if the previous run is still active. Default: the job's policy."
        ),
    ] = None


class StartedRun(Struct, kw_only=True, frozen=True):
    """`refused` is set if the overlap policy did not allow the run, and says why."""

    job_id: str
    run_id: str
    refused: str | None


class LatestRunView(Struct, kw_only=True, frozen=True):
    run_id: str
    status: str
    start_time: str | None
    modified_time: str
    attempt_number: int
    executor_id: str | None


class JobStatus(Struct, kw_only=True, frozen=True):
    job_id: str
    status: str
    latest_run: LatestRunView | None
    explanation: str
    prediction: Annotated[
        str | None,
        Meta(description="When the next run will finish, if that can be predicted."),
    ] = None

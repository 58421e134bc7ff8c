"""Jobs as JSON: how they are asked for, changed and shown. Room: api/shapes.

Two ways to say when: the nested `schedule`, which is the canonical one, and the flat fields
`schedule_type`, `schedule_time` and `cron_expression`. Neither means at once.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import (
    Json,
    Priority,
)
from rota.contract.job import JobDraft, JobEdit, JobValues, OverlapName, ScheduleType

__all__ = [
    "JobDraft",
    "JobDrafts",
    "JobEdit",
    "JobMade",
    "JobStatus",
    "JobView",
    "JobsMade",
    "LatestRun",
    "OverlapName",
    "PauseDraft",
    "ResumeDraft",
    "RunNowDraft",
    "ScheduleType",
    "Triggered",
]


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


class JobView(JobValues, kw_only=True, frozen=True):
    """A job as it is now: the fields of the contract, and what Rota says about it."""

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

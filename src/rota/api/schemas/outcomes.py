"""Schemas of the recent outcomes of several jobs."""

from typing import Annotated, Any

from msgspec import Meta, Struct


class OutcomesQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    job_id: Annotated[
        list[
            Annotated[
                str,
                Meta(
                    pattern="^job_[0-9a-f]{32}$",
                    description="Jobs to list (repeatable, up to 50). Default: none.",
                ),
            ]
        ],
        Meta(max_length=50),
    ] = []
    each: Annotated[
        Annotated[int, Meta(ge=1, le=20)], Meta(description="Maximum runs per job. Default: 20.")
    ] = 20


class OutcomeView(Struct, kw_only=True, frozen=True):
    """A run and its outcome. `reason` also explains why a tick was skipped."""

    run_id: str
    status: str
    scheduled_at: str
    start_time: str | None
    end_time: str | None
    error_message: str | None
    reason: dict[str, Any] | None


class JobOutcomes(Struct, kw_only=True, frozen=True):
    """The recent runs of a job, newest first."""

    job_id: str
    runs: list[OutcomeView]


class Outcomes(Struct, kw_only=True, frozen=True):
    data: list[JobOutcomes]

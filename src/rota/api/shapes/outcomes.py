"""How the last runs of several jobs went, as JSON. Room: api/shapes."""

from typing import Annotated, Any

from msgspec import Meta, Struct


class OutcomesQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    job_id: Annotated[
        list[
            Annotated[
                str,
                Meta(
                    pattern="^job_[0-9a-f]{32}$",
                    description="Of this job; may be given up to 50 times.",
                ),
            ]
        ],
        Meta(max_length=50),
    ] = []
    each: Annotated[
        Annotated[int, Meta(ge=1, le=20)], Meta(description="How many of each job at most.")
    ] = 20


class OutcomeView(Struct, kw_only=True, frozen=True):
    """A run that runs, or how it ended; `reason` is also why a tick became none."""

    run_id: str
    status: str
    scheduled_at: str
    start_time: str | None
    end_time: str | None
    error_message: str | None
    reason: dict[str, Any] | None


class JobOutcomes(Struct, kw_only=True, frozen=True):
    """The newest first."""

    job_id: str
    runs: list[OutcomeView]


class Outcomes(Struct, kw_only=True, frozen=True):
    data: list[JobOutcomes]

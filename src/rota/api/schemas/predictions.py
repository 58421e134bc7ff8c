"""The JSON of predictions."""

from typing import Annotated

from msgspec import Meta, Struct


class PredictionQuery(Struct, kw_only=True, frozen=True):
    by: Annotated[
        Annotated[str, Meta(min_length=2, max_length=64)] | None,
        Meta(
            description="Deadline: a time of day in the job's zone, the first one after the tick "
            "(`06:00`), or a duration after the tick (`+3h30m`). Default: `expect.finish_by` of "
            "the job."
        ),
    ] = None


class PredictionView(Struct, kw_only=True, frozen=True):
    """When a run will finish. Without enough history `expected_at` is null; `reason` says why."""

    job_id: str
    run_id: Annotated[
        str | None, Meta(description="The run; null for a tick that was not fired yet.")
    ]
    scheduled_at: str
    due_at: str
    started_at: str | None
    expected_at: Annotated[
        str | None, Meta(description="Half of such runs finish by this time. Default: null.")
    ]
    likely_by: Annotated[
        str | None, Meta(description="9 of 10 such runs finish by this time. Default: null.")
    ]
    deadline: str | None
    probability: Annotated[
        float | None,
        Meta(description="Probability of success by the deadline, 0 to 1. Default: null."),
    ]
    samples: Annotated[int, Meta(description="Successful runs that the prediction is made of.")]
    basis: str | None
    reason: Annotated[str | None, Meta(description="Why there is no prediction. Default: null.")]
    sentence: str

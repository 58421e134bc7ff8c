"""Defines a run as the API, the client and the CLI return it.

Times are RFC 3339 in UTC. Null means that it has not happened yet, or does not apply.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct


class RunRecord(Struct, kw_only=True, frozen=True):
    """The fields of a run, active or finished."""

    run_id: Annotated[str, Meta(description="Id of the run.")]
    job_id: Annotated[
        str, Meta(description="Id of its job; for a one-time submission, its own id.")
    ]
    job_name: Annotated[
        str | None,
        Meta(description="Name of the job or submission; its kind if it has no name."),
    ]
    job_version: Annotated[
        int | None,
        Meta(
            description=(
                "Version of the job's definition that the run uses, even if the job has changed "
                "since; null if that version is no longer stored."
            )
        ),
    ]
    status: Annotated[str, Meta(description="State of the run (docs/reference/states.md).")]
    scheduled_at: Annotated[str, Meta(description="Time given by the schedule or by the caller.")]
    due_at: Annotated[
        str,
        Meta(
            description=("Earliest start: `scheduled_at`, shifted by jitter, `defer` or `advance`.")
        ),
    ]
    start_time: Annotated[str | None, Meta(description="When the last attempt started.")]
    end_time: Annotated[str | None, Meta(description="When the run finished.")]
    modified_time: Annotated[
        str,
        Meta(
            description=(
                "When it last changed: it started, reported progress, was retried, was asked to "
                "cancel, or finished."
            )
        ),
    ]
    created_at: Annotated[str, Meta(description="When the run was created.")]
    attempt_number: Annotated[
        int, Meta(description="Number of attempts so far; 0 before the first.")
    ]
    failures: Annotated[int, Meta(description="Number of failed attempts.")]
    executor_id: Annotated[str | None, Meta(description="Id of the worker that last claimed it.")]
    worker: Annotated[str | None, Meta(description="Name of that worker.")]
    kind: Annotated[str, Meta(description="Kind of the job.")]
    queue: Annotated[str, Meta(description="Queue of the run.")]
    priority: Annotated[int, Meta(description="Priority from 0 (first) to 9 (last).")]
    trigger: Annotated[
        str,
        Meta(description="Trigger: tick, manual, api, event, graph, backfill or replay."),
    ]
    error_message: Annotated[str | None, Meta(description="Message of the last error.")]
    reason: Annotated[
        dict[str, Any] | None,
        Meta(description="Why it is in this state: the last error, or another reason."),
    ]
    progress: Annotated[float | None, Meta(description="Reported progress, from 0 to 1.")]
    progress_message: Annotated[str | None, Meta(description="Message reported with the progress.")]
    labels: Annotated[
        dict[str, str], Meta(description="Labels of the job version that it uses, or its own.")
    ]
    graph_run_id: Annotated[str | None, Meta(description="For a step: id of its graph run.")]
    step: Annotated[int | None, Meta(description="For a step: index in the graph.")]
    member: Annotated[int | None, Meta(description="For a member of a map: index in the map.")]
    log_url: Annotated[str, Meta(description="Path of its log.")]

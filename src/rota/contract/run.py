"""A run as the API, the client and the CLI show it. Room: contract.

Times are RFC 3339 in UTC. Null means that it has not happened, or that it does not apply.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct


class RunRecord(Struct, kw_only=True, frozen=True):
    """The fields of a run, alive or finished."""

    run_id: Annotated[str, Meta(description="Id of the run.")]
    job_id: Annotated[str, Meta(description="Id of its job; of a submission, its own id.")]
    job_name: Annotated[
        str | None,
        Meta(description="Name of the job or submission; of a nameless submission, its kind."),
    ]
    job_version: Annotated[
        int | None,
        Meta(
            description=(
                "Version of the job's definition that it uses, whatever became of the job since; "
                "null if that definition is no longer stored."
            )
        ),
    ]
    status: Annotated[str, Meta(description="State, as in docs/reference/states.md.")]
    scheduled_at: Annotated[str, Meta(description="The time that its schedule or caller named.")]
    due_at: Annotated[
        str,
        Meta(
            description=(
                "When it may first start: `scheduled_at`, moved by jitter, `defer` or `advance`."
            )
        ),
    ]
    start_time: Annotated[str | None, Meta(description="When the last attempt started.")]
    end_time: Annotated[str | None, Meta(description="When the run ended.")]
    modified_time: Annotated[
        str,
        Meta(
            description=(
                "When it last changed: started, made progress, was retried, was asked to cancel, "
                "or ended."
            )
        ),
    ]
    created_at: Annotated[str, Meta(description="When the run was made.")]
    attempt_number: Annotated[int, Meta(description="Attempts so far; 0 before the first.")]
    failures: Annotated[int, Meta(description="Attempts that failed.")]
    executor_id: Annotated[str | None, Meta(description="Id of the worker that took it last.")]
    worker: Annotated[str | None, Meta(description="Name of that worker.")]
    kind: Annotated[str, Meta(description="Kind of job.")]
    queue: Annotated[str, Meta(description="Queue that it waits or waited in.")]
    priority: Annotated[int, Meta(description="Priority; 0 goes first.")]
    trigger: Annotated[
        str,
        Meta(description="What made it: tick, manual, api, event, graph, backfill or replay."),
    ]
    error_message: Annotated[str | None, Meta(description="Message of the last error.")]
    reason: Annotated[
        dict[str, Any] | None, Meta(description="Why it is in its state: the error, or a cause.")
    ]
    progress: Annotated[float | None, Meta(description="Share done, from 0 to 1, as reported.")]
    progress_message: Annotated[str | None, Meta(description="What was reported with it.")]
    labels: Annotated[
        dict[str, str], Meta(description="Labels of the definition that it uses, or its own.")
    ]
    graph_run_id: Annotated[str | None, Meta(description="Of a step: its graph run.")]
    step: Annotated[int | None, Meta(description="Of a step: its place in the graph.")]
    member: Annotated[int | None, Meta(description="Of a member of a map: its index.")]
    log_url: Annotated[str, Meta(description="Path of its output.")]

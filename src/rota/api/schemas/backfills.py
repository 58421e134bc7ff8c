"""Schemas of backfills."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Cursor, Json, Limit, Moment
from rota.contract.field_types import Priority

BackfillStatus = Literal["running", "paused", "cancelling", "finished", "cancelled"]


class BackfillPlan(Struct, kw_only=True, forbid_unknown_fields=True):
    """Ticks from `since` on and before `until`, any number. Their runs are created step by step.

    `missing` ticks never ran, or their runs were cancelled. All runs of `failed` ticks failed. A
    tick with an active run is skipped.
    """

    since: Annotated[Moment, Meta(description="Start of the range (inclusive).")]
    until: Annotated[Moment, Meta(description="End of the range (exclusive); not in the future.")]
    only: Annotated[
        Literal["missing", "failed", "all"],
        Meta(
            description="Which ticks to run: those that never ran, those whose runs failed, or "
            "all. "
            "Default: `missing`."
        ),
    ] = "missing"
    order: Annotated[
        Literal["oldest", "newest"], Meta(description="Which ticks run first. Default: `oldest`.")
    ] = "oldest"
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(description="Maximum concurrent runs of the backfill. Default: 4."),
    ] = 4
    priority: Annotated[
        Priority | None, Meta(description="Priority of the runs. Default: `low`.")
    ] = None
    payload: Annotated[
        Json, Meta(description="Payload of the runs. Default: the job's payload.")
    ] = None
    dry_run: Annotated[bool, Meta(description="Only count the ticks. Default: `false`.")] = False


class BackfillEstimate(Struct, kw_only=True, frozen=True):
    """The counts: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`; `new` ticks get a
    run. `estimated`: the range was too long to check each tick. `undecided` ticks are left to the
    scheduler. `takes` is the expected duration, if the job has run before.
    """

    backfill_id: str | None
    ticks: int
    ran: int
    alive: int
    failed: int
    missing: int
    new: int
    undecided: int
    estimated: bool
    takes: str | None


class BackfillProgress(Struct, kw_only=True, frozen=True):
    """The state of a backfill. `ticks` were processed and `made` runs were created for them;
    `alive` of these have not ended; `left` runs are active or not created yet. `reached` is the
    time up to which ticks are processed, or down to which if the newest run first.
    """

    backfill_id: str
    job_id: str
    job_name: str | None
    status: str
    since: str
    until: str
    only: str
    order: str
    at_once: int
    priority: int
    payload: Any
    reached: str
    ticks: int
    made: int
    succeeded: int
    failed: int
    cancelled: int
    alive: int
    left: int
    expected: int
    estimated: bool
    eta: str | None
    paused_at: str | None
    created_at: str
    created_by: str
    ended_at: str | None
    reason: dict[str, Any] | None


class BackfillsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    status: list[
        Annotated[BackfillStatus, Meta(description="Filter by status (repeatable). Default: all.")]
    ] = []
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by job. Default: all."),
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class BackfillCancel(Struct, kw_only=True, forbid_unknown_fields=True):
    """Waiting runs are cancelled. Running ones may finish, or are asked to stop."""

    running: Annotated[
        Literal["finish", "cancel"],
        Meta(description="What happens to running runs. Default: `finish`."),
    ] = "finish"
    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Reason, shown with the backfill. Default: none."),
    ] = None

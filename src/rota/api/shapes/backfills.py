"""Backfills as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Cursor, Json, Limit, Moment
from rota.contract.pieces import Priority

BackfillStatus = Literal["running", "paused", "cancelling", "finished", "cancelled"]


class BackfillPlan(Struct, kw_only=True, forbid_unknown_fields=True):
    """Ticks from `since` on and before `until`, however many; their runs are made little by little.

    `missing` are ticks that never ran, or whose runs were cancelled; `failed` those whose runs all
    failed. A tick with a run that is alive is left alone.
    """

    since: Annotated[Moment, Meta(description="The first tick that counts.")]
    until: Annotated[
        Moment, Meta(description="Ticks before this time count; it may not lie in the future.")
    ]
    only: Annotated[
        Literal["missing", "failed", "all"],
        Meta(description="Ticks that never ran, those whose runs failed, or each of them again."),
    ] = "missing"
    order: Annotated[Literal["oldest", "newest"], Meta(description="Which of them run first.")] = (
        "oldest"
    )
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=1000)], Meta(description="How many of them may run at a time.")
    ] = 4
    priority: Annotated[
        Priority | None, Meta(description="Of the runs that are made; `low` unless it is said.")
    ] = None
    payload: Annotated[Json, Meta(description="Of the runs, instead of the job's.")] = None
    dry_run: Annotated[bool, Meta(description="Only count.")] = False


class BackfillPlanned(Struct, kw_only=True, frozen=True):
    """What was counted: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`, `new` are
    those that get a run. With `estimated` the range was too long to look at each. `undecided` is
    the scheduler's own business, `takes` how long it will take, if the job has run before.
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
    """A backfill as it is now. `ticks` were looked at, `made` runs were made for them, `alive` of
    which have not ended; `left` is what is alive or not even made. `reached` is the time up to
    which ticks are decided, or down to which if the newest come first.
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
        Annotated[
            BackfillStatus, Meta(description="Those in this state; may be given several times.")
        ]
    ] = []
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None, Meta(description="Of this job.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class BackfillCancel(Struct, kw_only=True, forbid_unknown_fields=True):
    """What waits is cancelled; what runs may finish, or is asked to stop."""

    running: Annotated[
        Literal["finish", "cancel"], Meta(description="What becomes of runs that are at work.")
    ] = "finish"
    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Why, for whoever asks later."),
    ] = None

"""Previews of schedules and backfills as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Moment, Name
from rota.contract.bodies import ScheduleObject
from rota.contract.pieces import Priority


class PreviewDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A schedule that is not saved yet."""

    schedule: Annotated[
        ScheduleObject, Meta(description="A schedule in the form of docs/reference/schedules.md.")
    ]
    count: Annotated[
        Annotated[int, Meta(ge=1, le=100)], Meta(description="How many of the next times to show.")
    ] = 10
    viewer: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)] | None,
        Meta(
            description="The zone of whoever looks, an IANA name; each time is shown in it as well."
        ),
    ] = None


class UpcomingView(Struct, kw_only=True, frozen=True):
    """`local` is what clocks in the schedule's zone show at `at`, with their offset from UTC."""

    at: str
    due_at: str
    local: str
    viewed: str
    notes: list[str]


class WarningView(Struct, kw_only=True, frozen=True):
    code: str
    detail: str


class PreviewView(Struct, kw_only=True, frozen=True):
    sentence: str
    follows: str
    timezone: str
    tzdata: str
    schedule: dict[str, Any]
    upcoming: list[UpcomingView]
    warnings: list[WarningView]


class BackfillDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Ticks from `since` on and before `until`, which may not lie in the future.

    `missing` makes runs for those that never ran; `all` runs each again, once for each `name`.
    """

    since: Annotated[Moment, Meta(description="The first tick that counts.")]
    until: Annotated[
        Moment, Meta(description="Ticks before this time count; it may not lie in the future.")
    ]
    only: Annotated[
        Literal["missing", "all"], Meta(description="Ticks that never ran, or each of them again.")
    ] = "missing"
    priority: Annotated[
        Priority | None, Meta(description="Of the runs that are made; `low` unless it is said.")
    ] = None
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=1000)], Meta(description="How many of them may run at a time.")
    ] = 4
    name: Annotated[Name, Meta(description="With `all`: each name runs every tick once.")] = (
        "backfill"
    )
    dry_run: Annotated[bool, Meta(description="Only count.")] = False


class BackfillView(Struct, kw_only=True, frozen=True):
    """How many ticks there are, have run, have not; `undecided` is the scheduler's own business."""

    ticks: int
    exist: int
    missing: int
    new: int
    undecided: int
    run_ids: list[str]

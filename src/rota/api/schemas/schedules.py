"""Schemas of schedule previews and of short backfills."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.schemas.common import Moment, Name
from rota.contract.document_fields import ScheduleObject
from rota.contract.field_types import Priority


class PreviewDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A schedule to preview."""

    schedule: Annotated[
        ScheduleObject, Meta(description="A schedule; see docs/reference/schedules.md.")
    ]
    count: Annotated[
        Annotated[int, Meta(ge=1, le=100)],
        Meta(description="Number of next times to show. Default: 10."),
    ] = 10
    viewer: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)] | None,
        Meta(
            description="IANA time zone of the viewer; each time is also shown in it. Default: the "
            "zone of the schedule."
        ),
    ] = None


class UpcomingView(Struct, kw_only=True, frozen=True):
    """A next time. `local` is `at` in the schedule's time zone, with its UTC offset."""

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
    """Ticks from `since` on and before `until`, which must not be in the future.

    `missing` creates runs for ticks that never ran; `all` runs each tick again, once per `name`.
    """

    since: Annotated[Moment, Meta(description="Start of the range (inclusive).")]
    until: Annotated[Moment, Meta(description="End of the range (exclusive); not in the future.")]
    only: Annotated[
        Literal["missing", "all"],
        Meta(description="Run ticks that never ran, or all ticks again. Default: `missing`."),
    ] = "missing"
    priority: Annotated[
        Priority | None, Meta(description="Priority of the runs. Default: `low`.")
    ] = None
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(description="Maximum concurrent runs of the backfill. Default: 4."),
    ] = 4
    name: Annotated[
        Name,
        Meta(description="With `all`, each name runs every tick once. Default: `backfill`."),
    ] = "backfill"
    dry_run: Annotated[bool, Meta(description="Only count the ticks. Default: `false`.")] = False


class BackfillView(Struct, kw_only=True, frozen=True):
    """Counts of ticks; `undecided` ticks are left to the scheduler."""

    ticks: int
    exist: int
    missing: int
    new: int
    undecided: int
    run_ids: list[str]

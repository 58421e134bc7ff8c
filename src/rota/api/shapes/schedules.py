"""Previews of schedules and backfills as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.jobs import Priority
from rota.api.shapes.pieces import Json, Moment, Name


class PreviewDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A schedule that is not saved yet."""

    schedule: dict[str, Json]
    count: Annotated[int, Meta(ge=1, le=100)] = 10
    viewer: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class UpcomingView(Struct, kw_only=True, frozen=True):
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

    since: Moment
    until: Moment
    only: Literal["missing", "all"] = "missing"
    priority: Priority | None = None
    at_once: Annotated[int, Meta(ge=1, le=1000)] = 4
    name: Name = "backfill"
    dry_run: bool = False


class BackfillView(Struct, kw_only=True, frozen=True):
    """How many ticks there are, have run, have not; `undecided` is the scheduler's own business."""

    ticks: int
    exist: int
    missing: int
    new: int
    undecided: int
    run_ids: list[str]

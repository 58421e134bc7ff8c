"""Schemas of schedule previews."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.contract.document_fields import ScheduleObject


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

"""Types of fields that many schemas share, and the format of times."""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta

from rota.contract.field_types import Duration, Json, Labels, Moment, Name, Priority, Word
from rota.core.time import moments

__all__ = [
    "ANY_CASE",
    "STATUS_FILTER",
    "Cursor",
    "Duration",
    "Json",
    "Labels",
    "Limit",
    "Moment",
    "Name",
    "Priority",
    "Status",
    "StatusAlias",
    "Word",
    "format_optional_time",
    "format_time",
]

Limit = Annotated[int, Meta(ge=1, le=200, description="Maximum items per page. Default: 50.")]
Cursor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="`next_cursor` of the previous page. Default: the first page.",
    ),
]
# A query parameter with this in its `Meta` ignores case.
ANY_CASE: Final = {"any_case": True}
# State names of other schedulers (core/aliases.py); case does not matter.
StatusAlias = Literal[
    "SCHEDULED",
    "ENQUEUED",
    "RUNNING",
    "RETRYING",
    "COMPLETED",
    "SUCCESS",
    "FAILED",
    "CANCELLED",
    "PAUSED",
    "scheduled",
    "enqueued",
    "running",
    "retrying",
    "completed",
    "success",
    "failed",
    "cancelled",
    "paused",
]
# Filters for jobs: their state, their activity, or an alias.
Status = Literal[
    "active",
    "pending",
    "running",
    "paused",
    "quarantined",
    "finished",
    "deleted",
    StatusAlias,
]
STATUS_FILTER: Final = (
    "Filter by status (repeatable). Status names of other schedulers are accepted; case is "
    "ignored. Default: all."
)


def format_time(value: datetime) -> str:
    """Format a time in UTC, with a Z."""
    return moments.to_rfc3339(value)


def format_optional_time(value: datetime | None) -> str | None:
    return None if value is None else format_time(value)

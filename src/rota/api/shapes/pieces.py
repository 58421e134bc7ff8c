"""Small shapes that many others are made of. Room: api/shapes."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from rota.core.time import moments

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Word = Annotated[str, Meta(min_length=1, max_length=200)]
Duration = Annotated[
    str, Meta(min_length=1, max_length=64, description="ISO 8601, or short as in 15m or 1h30m.")
]
Moment = Annotated[
    str, Meta(min_length=1, max_length=64, description="RFC 3339, such as 2026-07-01T12:00:00Z.")
]
Labels = dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=64)]]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many of them at most.")]
Cursor = Annotated[
    str, Meta(min_length=1, max_length=500, description="`next_cursor` of the page before.")
]
Json = Any
# A query parameter with this in its `Meta` is read in small letters.
ANY_CASE: Final = {"any_case": True}
# The words of other schedulers for states, which core/aliases.py knows; case does not matter.
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
# What a job may be listed by: its state, what it is doing, or another word for that.
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
IN_STATES: Final = (
    "Those in this state; may be given several times. Words of other schedulers are understood, in "
    "any case."
)


def moment(value: datetime) -> str:
    """A time as we write it: UTC, with a Z."""
    return moments.rfc3339(value)


def moment_or_none(value: datetime | None) -> str | None:
    return None if value is None else moment(value)

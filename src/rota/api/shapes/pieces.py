"""Small shapes that many others are made of. Room: api/shapes."""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta

from rota.contract.pieces import Duration, Json, Labels, Moment, Name, Priority, Word
from rota.core.time import moments

__all__ = [
    "ANY_CASE",
    "IN_STATES",
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
    "moment",
    "moment_or_none",
]

Limit = Annotated[int, Meta(ge=1, le=200, description="How many of them at most.")]
Cursor = Annotated[
    str, Meta(min_length=1, max_length=500, description="`next_cursor` of the page before.")
]
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

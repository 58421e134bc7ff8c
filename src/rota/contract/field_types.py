"""Defines types that fields of many documents share."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from rota.contract.documents import ALLOWED_KEY
from rota.core.submissions import LABEL_CHARACTERS_MAX, NAME_CHARACTERS_MAX
from rota.core.time import durations

DURATION_ALLOWED: Final = f"{durations.DURATION_FORMAT}; a number alone has no unit"
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
Word = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
Duration = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=durations.DURATION_CHARACTERS_MAX,
        description="Duration in ISO 8601, or short such as 15m or 1h30m.",
        extra={ALLOWED_KEY: DURATION_ALLOWED},
    ),
]
Moment = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        description="Time in RFC 3339, such as 2026-07-01T12:00:00Z.",
        extra={ALLOWED_KEY: "a time such as 2026-07-01T12:00:00Z"},
    ),
]
LabelText = Annotated[str, Meta(max_length=LABEL_CHARACTERS_MAX)]
Labels = dict[LabelText, LabelText]
Priority = Annotated[int, Meta(ge=0, le=9)] | Literal["high", "medium", "normal", "low"]
Json = Any

"""Defines the types of durations and instants in documents."""

from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta

from rota.contract.documents import ALLOWED_KEY
from rota.core.time import durations, moments

SECOND: Final = timedelta(seconds=1)
DAY: Final = timedelta(days=1)
Duration = Annotated[
    str,
    Meta(
        max_length=durations.DURATION_CHARACTERS_MAX,
        examples=["15m"],
        extra={ALLOWED_KEY: durations.DURATION_FORMAT},
    ),
]
Instant = Annotated[
    str,
    Meta(
        max_length=64,
        examples=["2030-01-31T09:00:00Z"],
        extra={ALLOWED_KEY: moments.INSTANT_FORMAT},
    ),
]

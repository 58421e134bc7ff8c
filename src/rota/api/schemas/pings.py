"""Schemas of pings, to which work outside of Rota reports."""

from typing import Annotated, Any

from msgspec import Meta, Struct


class PingQuery(Struct, kw_only=True, frozen=True):
    rid: Annotated[
        Annotated[str, Meta(max_length=64)],
        Meta(
            description="Your id of this run, so that a start and its end belong together. "
            "Default: empty, one run at a time."
        ),
    ] = ""


class PingView(Struct, kw_only=True, frozen=True):
    """A ping without its URL."""

    ping_id: str
    name: str
    handle: Annotated[str, Meta(description="The first characters of the token in the URL.")]
    state: Annotated[
        str,
        Meta(
            description="`new`: no signal yet. `up`, `down`: by the last check. `running`: work "
            "has begun and not ended."
        ),
    ]
    schedule: Annotated[dict[str, Any], Meta(description="When a success is expected.")]
    grace: str
    alert: dict[str, Any]
    version: int
    created_at: str
    pinged_at: str | None
    succeeded_at: str | None
    failed_at: str | None
    overdue_at: Annotated[
        str | None, Meta(description="When a missing success becomes an incident. Default: null.")
    ]


class CreatedPing(PingView, kw_only=True, frozen=True):
    """A new ping with its URL, which is shown only once."""

    ping_url: Annotated[str, Meta(description="Path of the URL; prepend the address of the API.")]

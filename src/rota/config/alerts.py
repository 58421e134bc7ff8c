"""Declares the settings of alerts."""

from typing import Annotated

from msgspec import Meta, Struct

from rota.config.declarations import text

PUBLIC_URL_PATTERN = r"^https?://[^\s@?#]+\Z"


class AlertSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Alerts: incidents and the messages about them."""

    public_url: Annotated[
        Annotated[str, Meta(pattern=PUBLIC_URL_PATTERN)] | None,
        text(
            "a URL such as https://rota.example.org",
            "Address of the dashboard for links in messages. Default: the address of the API in "
            "the same process, else messages have no links.",
        ),
    ] = None
    defaults: Annotated[
        bool,
        text(
            "true or false",
            "Whether Rota brings expectations along: three failures in a row and missed ticks of "
            "scheduled jobs, dead letters, quarantined jobs, queues without workers, and problems "
            "of Rota itself. Default: true.",
        ),
    ] = True

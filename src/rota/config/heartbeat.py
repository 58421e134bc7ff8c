"""Declares the settings of the outgoing heartbeat."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct

from rota.config.declarations import HOUR, MINUTE, SECOND, span, text


class HeartbeatSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A heartbeat to a monitor outside of Rota, which alerts when it stops."""

    url: Annotated[
        Annotated[str, Meta(pattern=r"^https?://[^\s]+\Z", max_length=2048)] | None,
        text(
            "an http or https URL, or a reference such as ${HEARTBEAT_URL}",
            "URL that one scheduler requests while Rota works: all shards are owned, ticks are "
            "fired in time, events are relayed in time, and the database accepts writes. Otherwise "
            "it posts the reason to the URL with /fail appended, in the form of healthchecks.io. "
            "Default: none.",
            secret=True,
        ),
    ] = None
    every: Annotated[
        timedelta,
        span(10 * SECOND, HOUR, "How often the heartbeat is sent. Default: 1 minute."),
    ] = MINUTE

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={'***' if self.url else None}, every={self.every})"

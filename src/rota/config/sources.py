"""Declares the settings of an event source.

    [sources.orders]
    kind = "postgres_table"
    type = "order.paid"

    [sources.orders.options]
    url = "postgresql://rota:${SHOP_PASSWORD}@db.example/shop"
    table = "outbox"

Each kind defines its own options (src/rota/sources). Their texts may refer to secrets that are
stored elsewhere (references.py).
"""

from datetime import timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from rota.config.declarations import HOUR, MILLISECOND, SECOND, choice, number, span, text

KIND_PATTERN = r"^[a-z][a-z0-9_]{0,62}\Z"


class SourceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source of events. Of all schedulers that have it in their settings, one reads it."""

    kind: Annotated[
        str,
        text(
            "a kind of source: postgres_table, folder, kafka, redis_streams, nats, or one from a "
            "plug-in",
            "Kind of the source. Required.",
            pattern=KIND_PATTERN,
        ),
    ]
    tenant: Annotated[
        str,
        text(
            "the name of a tenant",
            'Tenant that receives the events. It must exist. Default: "default".',
            min_length=1,
        ),
    ] = "default"
    type: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        text(
            "an event type such as order.paid",
            "Type of events whose message has none. Default: the name of the source.",
        ),
    ] = None
    format: Annotated[
        Literal["plain", "cloudevents"],
        choice(
            "Format of a message: the data of an event (`plain`), or a CloudEvents event. "
            'Default: "plain".'
        ),
    ] = "plain"
    on_bad: Annotated[
        Literal["stop", "skip"],
        choice(
            "What happens at an invalid message: the source stops and reports it, or skips and "
            'counts it. Default: "stop".'
        ),
    ] = "stop"
    batch: Annotated[int, number(1, 1000, "Maximum events per transaction. Default: 500.")] = 500
    every: Annotated[
        timedelta,
        span(50 * MILLISECOND, HOUR, "Polling interval of an idle table or folder. Default: 1 s."),
    ] = SECOND
    options: Annotated[
        dict[str, Any],
        text(
            "a table of options of this kind",
            "Options of the kind; see docs/howto/event-sources.md. Default: {}.",
            secret=True,
        ),
    ] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kind={self.kind!r}, tenant={self.tenant!r}, …)"

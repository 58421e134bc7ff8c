"""The settings of a source of events. Room: config.

    [sources.orders]
    kind = "postgres_table"
    type = "order.paid"

    [sources.orders.options]
    url = "postgresql://rota:${SHOP_PASSWORD}@db.example/shop"
    table = "outbox"

What the options of a kind are is the kind's own business (src/rota/sources). Their texts may refer
to secrets that are elsewhere (references.py).
"""

from datetime import timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from rota.config.declaring import HOUR, MILLISECOND, SECOND, choice, number, span, text

KIND = r"^[a-z][a-z0-9_]{0,62}\Z"


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place that events come from. Every scheduler that has it in its settings may read it, and
    one of them does.
    """

    kind: Annotated[
        str,
        text(
            "a kind of source: postgres_table, folder, kafka, redis_streams, nats, or what a "
            "plug-in brings",
            "What is read.",
            pattern=KIND,
        ),
    ]
    tenant: Annotated[
        str,
        text("the name of a tenant", "Whose events they are; it must exist.", min_length=1),
    ] = "default"
    type: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        text(
            "a type of event such as order.paid",
            "Type of the events whose message says none; by default the name of the source.",
        ),
    ] = None
    format: Annotated[
        Literal["plain", "cloudevents"],
        choice(
            "Whether a message is the data of an event, or an event in the form of CloudEvents."
        ),
    ] = "plain"
    on_bad: Annotated[
        Literal["stop", "skip"],
        choice(
            "What becomes of a message that cannot be an event: the source stops at it and says "
            "so, or passes it over and counts it."
        ),
    ] = "stop"
    batch: Annotated[int, number(1, 1000, "Most events taken in one transaction.")] = 500
    every: Annotated[
        timedelta,
        span(50 * MILLISECOND, HOUR, "How often a table or folder without news is looked at."),
    ] = SECOND
    options: Annotated[
        dict[str, Any],
        text(
            "a table of what this kind asks for",
            "Where it is and how it is read; see docs/howto/event-sources.md.",
            secret=True,
        ),
    ] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Source(kind={self.kind!r}, tenant={self.tenant!r}, …)"

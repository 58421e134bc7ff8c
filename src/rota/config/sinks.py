"""Declares the settings of a sink, which publishes Rota's events to a broker.

    [sinks.analytics]
    kind = "kafka"
    events = ["run.*", "job.*"]

    [sinks.analytics.options]
    servers = "kafka-1.example:9092"
    topic = "rota-events"

Each kind defines its own options (src/rota/sources). Their texts may refer to secrets that are
stored elsewhere (secret_references.py).
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from rota.config.declarations import choice, text

EventPattern = Annotated[str, Meta(pattern=r"^(\*|[a-z]+\.(\*|[a-z_]+))\Z")]


class SinkSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sink. Of all schedulers that have it in their settings, one publishes to it."""

    kind: Annotated[
        Literal["kafka", "redis_streams", "nats"],
        choice("Kind of the sink. Required."),
    ]
    tenants: Annotated[
        list[str],
        text(
            "a list of names of tenants",
            'Tenants whose events are published. They must exist. Default: ["default"].',
            min_length=1,
        ),
    ] = field(default_factory=lambda: ["default"])
    events: Annotated[
        list[EventPattern],
        text(
            'a list of event types or patterns such as "run.*"',
            'Types of events to publish; docs/reference/events.md lists them. Default: ["*"].',
            min_length=1,
        ),
    ] = field(default_factory=lambda: ["*"])
    options: Annotated[
        dict[str, Any],
        text(
            "a table of options of this kind",
            "Options of the kind; see docs/howto/sinks.md. Default: {}.",
            secret=True,
        ),
    ] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kind={self.kind!r}, tenants={self.tenants!r}, …)"

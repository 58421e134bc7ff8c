"""Builds the sinks of a process from its settings.

Secret references are resolved when the process starts, and every sink is created once to validate
its options; its connection is opened when there is something to publish.
"""

import os
import socket
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any, Final
from uuid import UUID

from rota.config.settings import Settings
from rota.config.sinks import SinkSettings
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.outgoing_events import EVENT_TYPES
from rota.core.sink import Sink
from rota.engine.relay.relay import ReleasingRelayDuty
from rota.engine.relay.sink_publisher import ConfiguredSink, SinkPublisher, matches_type
from rota.processes.event_sources import resolve_references
from rota.runtime.service import Duty, Pulse, Service, ServiceContext
from rota.store.driver import ConnectionSource

# The module of each kind; its `make` creates a sink from options.
SINK_MODULES: Final = {
    "kafka": "rota.sources.kafka.sink",
    "nats": "rota.sources.nats.sink",
    "redis_streams": "rota.sources.redis_streams.sink",
}
# A hanging broker is abandoned long before this.
PASS_TIME_MAX: Final = timedelta(minutes=5)

SinkFactory = Callable[[Mapping[str, Any]], Sink]


def build_sink_duties(
    settings: Settings, source: ConnectionSource, context: ServiceContext
) -> list[Service]:
    """Build the services that publish to the sinks of this process."""
    services: list[Service] = []
    for sink in read_sinks(settings, os.environ):
        publisher = SinkPublisher(
            configured=sink,
            source=source,
            clock=context.database_clock,
            rng=context.rng,
            emit=context.emit,
            owner=UUID(bytes=context.rng.randbytes(16), version=4),
            holder=f"{socket.gethostname()}:{os.getpid()}",
        )
        name = f"sink {sink.name}"
        duty = Duty(name, publisher.tick, Pulse(), context, limit=PASS_TIME_MAX)
        services.append(ReleasingRelayDuty(duty=duty, relay=publisher))
    return services


def check_sinks(settings: Settings) -> None:
    """Validate the sinks before anything else starts."""
    read_sinks(settings, os.environ)


def read_sinks(settings: Settings, environment: Mapping[str, str]) -> list[ConfiguredSink]:
    """Return all configured sinks, validated."""
    return [read_sink(name, sink, environment) for name, sink in settings.sinks.items()]


def read_sink(name: str, sink: SinkSettings, environment: Mapping[str, str]) -> ConfiguredSink:
    path = f"sinks.{name}"
    for pattern in sink.events:
        if not any(matches_type(type_, [pattern]) for type_ in EVENT_TYPES):
            known = ", ".join(EVENT_TYPES)
            raise InvalidSetting(f"{path}.events", pattern, f"matches no event; known: {known}")
    make: SinkFactory = import_module(SINK_MODULES[sink.kind]).make
    options = resolve_references(sink.options, f"{path}.options", environment)
    try:
        make(options)
    except InvalidInput as error:
        field = f"{path}.kind" if error.field == "kind" else f"{path}.options.{error.field}"
        raise InvalidSetting(field, error.value, error.wanted) from error
    return ConfiguredSink(
        name=name,
        kind=sink.kind,
        tenants=tuple(sink.tenants),
        events=tuple(sink.events),
        build_sink=partial(make, options),
    )

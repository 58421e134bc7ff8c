"""Builds the event sources of a process from its settings.

A plug-in is an entry point of the group `rota.sources`: its name is the kind, its target a callable
that creates a source from options (core/source.py). Secret references are resolved when the process
starts, and every source is created once to validate its options.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from rota.config.secret_references import resolve_references
from rota.config.settings import Settings
from rota.config.sources import SourceSettings as SourceSettings
from rota.contract.source_messages import MessageFormat
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.ids import build_id
from rota.core.source import Source
from rota.engine.events.source_reader import ConfiguredSource, ReleasingDuty, SourceReader
from rota.node.loading import said
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store.pool import DatabaseAccess, open_pool

GROUP: Final = "rota.sources"
BUILT_IN: Final = {
    "folder": "rota.sources.folder",
    "kafka": "rota.sources.kafka",
    "nats": "rota.sources.nats",
    "postgres_table": "rota.sources.outbox",
    "redis_streams": "rota.sources.redis_streams",
}
MOST_CONNECTIONS: Final = 4
# A hanging source is abandoned long before this.
LONGEST_PASS: Final = timedelta(minutes=5)
SOON: Final = timedelta(seconds=5)

Make = Callable[[Mapping[str, Any]], Source]


@asynccontextmanager
async def open_sources(
    settings: Settings, access: DatabaseAccess, ground: ServiceContext
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers that read the event sources of this process."""
    wanted = wanted_of(settings, os.environ)
    if not wanted:
        yield []
        return
    async with open_pool(access, size=min(MOST_CONNECTIONS, len(wanted))) as pool:
        services = []
        for each in wanted:
            listening = SourceReader(
                configured=each,
                connections=pool,
                clock=ground.database_clock,
                rng=ground.rng,
                display_name=f"{socket.gethostname()}:{os.getpid()}",
                new_id=lambda: build_id(ground.database_clock.now(), ground.rng.randbytes(10)),
                emit=ground.emit,
            )
            duty = Duty(f"source {each.name}", listening.tick, Pulse(), ground, limit=LONGEST_PASS)
            services.append(ReleasingDuty(duty=duty, reader=listening))
        yield [Tier(services, grace=SOON)]


def check_sources(settings: Settings) -> None:
    """Validate the event sources before anything else starts."""
    wanted_of(settings, os.environ)


def wanted_of(settings: Settings, environment: Mapping[str, str]) -> list[ConfiguredSource]:
    """Return all configured event sources, validated."""
    if not settings.sources:
        return []
    plugins = {entry.name: entry for entry in entry_points(group=GROUP)}
    return [
        one_wanted(name, source, plugins, environment) for name, source in settings.sources.items()
    ]


def one_wanted(
    name: str,
    source: SourceSettings,
    plugins: Mapping[str, EntryPoint],
    environment: Mapping[str, str],
) -> ConfiguredSource:
    path = f"sources.{name}"
    make = make_of(source.kind, plugins, path=path)
    options = looked_up(source.options, f"{path}.options", environment)
    try:
        make(options)
    except InvalidInput as error:
        field = f"{path}.kind" if error.field == "kind" else f"{path}.options.{error.field}"
        raise InvalidSetting(field, error.value, error.wanted) from error
    return ConfiguredSource(
        name=name,
        kind=source.kind,
        tenant=source.tenant,
        reading=MessageFormat(
            source=f"/sources/{name}",
            type=source.type or name,
            is_cloudevents=source.format == "cloudevents",
        ),
        build_source=partial(make, options),
        batch_max=source.batch,
        interval=source.every,
        skips_bad=source.on_bad == "skip",
    )


def make_of(kind: str, plugins: Mapping[str, EntryPoint], *, path: str) -> Make:
    if kind in BUILT_IN:
        built_in: Make = import_module(BUILT_IN[kind]).make
        return built_in
    if kind not in plugins:
        known = ", ".join(sorted({*BUILT_IN, *plugins}))
        raise InvalidSetting(f"{path}.kind", kind, f"unknown kind; known kinds: {known}")
    try:
        factory: Make = plugins[kind].load()
    except Exception as error:  # a plug-in may raise anything
        wanted = f"cannot load this entry point of {GROUP}: {said(error)}"
        raise InvalidSetting(f"{path}.kind", plugins[kind].value, wanted) from error
    return factory


def looked_up(value: Any, field: str, environment: Mapping[str, str]) -> Any:
    """Resolve the secret references in options, at any depth."""
    match value:
        case str():
            return resolve_references(value, field=field, environment=environment)
        case Mapping():
            return {
                key: looked_up(each, f"{field}.{key}", environment) for key, each in value.items()
            }
        case list():
            return [looked_up(each, field, environment) for each in value]
        case _:
            return value

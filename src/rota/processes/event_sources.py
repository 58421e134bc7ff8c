"""Builds the event sources of a process from its settings.

Each kind is an entry point of the group `rota.sources`, also a built-in one: its name is the kind,
its target a callable that creates a source from options (core/source.py). Secret references are
resolved when the process starts, and every source is created once to validate its options.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any, Final

from rota.config import secret_references
from rota.config.settings import Settings
from rota.config.sources import SourceSettings
from rota.contract.source_messages import MessageFormat
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.ids import build_id
from rota.core.source import Source
from rota.engine.events.source_reader import ConfiguredSource, ReleasingDuty, SourceReader
from rota.processes.plugins import find_entry_points, is_built_in, load_entry_point
from rota.runtime.service import Duty, Pulse, ServiceContext, Tier
from rota.store.pool import DatabaseAccess, open_pool

ENTRY_POINT_GROUP: Final = "rota.sources"
CONNECTIONS_MAX: Final = 4
# A hanging source is abandoned long before this.
PASS_TIME_MAX: Final = timedelta(minutes=5)
STOP_GRACE: Final = timedelta(seconds=5)

SourceFactory = Callable[[Mapping[str, Any]], Source]


@asynccontextmanager
async def open_sources(
    settings: Settings, access: DatabaseAccess, context: ServiceContext
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers that read the event sources of this process."""
    wanted = read_sources(settings, os.environ)
    if not wanted:
        yield []
        return
    async with open_pool(access, size=min(CONNECTIONS_MAX, len(wanted))) as pool:
        services = []
        for each in wanted:
            listening = SourceReader(
                configured=each,
                connections=pool,
                clock=context.database_clock,
                rng=context.rng,
                display_name=f"{socket.gethostname()}:{os.getpid()}",
                new_id=lambda: build_id(context.database_clock.now(), context.rng.randbytes(10)),
                emit=context.emit,
            )
            duty = Duty(
                f"source {each.name}", listening.tick, Pulse(), context, limit=PASS_TIME_MAX
            )
            services.append(ReleasingDuty(duty=duty, reader=listening))
        yield [Tier(services, grace=STOP_GRACE)]


def check_sources(settings: Settings) -> None:
    """Validate the event sources before anything else starts."""
    read_sources(settings, os.environ)


def read_sources(settings: Settings, environment: Mapping[str, str]) -> list[ConfiguredSource]:
    """Return all configured event sources, validated."""
    if not settings.sources:
        return []
    kinds = find_kinds()
    return [
        read_source(name, source, kinds, environment) for name, source in settings.sources.items()
    ]


def find_kinds() -> dict[str, EntryPoint]:
    """Return the entry points of all kinds of sources. A plug-in cannot replace a built-in kind."""
    kinds: dict[str, EntryPoint] = {}
    for entry in find_entry_points(ENTRY_POINT_GROUP):
        if entry.name not in kinds or not is_built_in(kinds[entry.name]):
            kinds[entry.name] = entry
    return kinds


def read_source(
    name: str,
    source: SourceSettings,
    kinds: Mapping[str, EntryPoint],
    environment: Mapping[str, str],
) -> ConfiguredSource:
    path = f"sources.{name}"
    make = find_factory(source.kind, kinds, path=path)
    options = resolve_references(source.options, f"{path}.options", environment)
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


def find_factory(kind: str, kinds: Mapping[str, EntryPoint], *, path: str) -> SourceFactory:
    if kind not in kinds:
        known = ", ".join(sorted(kinds))
        raise InvalidSetting(f"{path}.kind", kind, f"unknown kind; known kinds: {known}")
    try:
        factory: SourceFactory = load_entry_point(kinds[kind])
    except InvalidInput as error:
        raise InvalidSetting(f"{path}.kind", error.value, error.wanted) from error
    return factory


def resolve_references(value: Any, field: str, environment: Mapping[str, str]) -> Any:
    """Resolve the secret references in options, at any depth."""
    match value:
        case str():
            return secret_references.resolve_references(value, field=field, environment=environment)
        case Mapping():
            return {
                key: resolve_references(each, f"{field}.{key}", environment)
                for key, each in value.items()
            }
        case list():
            return [resolve_references(each, field, environment) for each in value]
        case _:
            return value

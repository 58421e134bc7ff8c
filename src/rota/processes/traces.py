"""Opens the trace writer of a process, if its settings enable traces.

OpenTelemetry is an optional extra and slow to load, so a process without traces does not import it.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from rota.config.secret_references import resolve_references
from rota.config.settings import Settings, TraceSettings
from rota.core.errors import InvalidSetting
from rota.engine.observability.tracing import TraceWriter
from rota.runtime.events import SpansLost
from rota.runtime.service import ServiceContext

OTEL_MODULE: Final = "rota.engine.observability.otel.span_writer"
PRINTABLE: Final = re.compile(r"[ -~]+")


@asynccontextmanager
async def open_traces(
    settings: Settings, context: ServiceContext
) -> AsyncIterator[TraceWriter | None]:
    """Yield the trace writer, or None. The remaining spans are sent at the end, when no service
    creates spans any more.
    """
    configured = settings.traces
    if configured.endpoint is None:
        yield None
        return
    headers = build_headers(configured, os.environ)
    try:
        otel = import_module(OTEL_MODULE)
    except ImportError as error:
        wanted = f"requires OpenTelemetry: run pip install 'rota[otel]', or remove it ({error})"
        raise InvalidSetting("traces.endpoint", configured.endpoint, wanted) from error
    traces: TraceWriter = otel.open_traces(
        configured.endpoint,
        headers,
        service=configured.service,
        one_in=configured.one_in,
        on_lost=lambda count, reason: context.emit(SpansLost(count=count, reason=reason)),
        rng=context.rng,
    )
    try:
        yield traces
    finally:
        await asyncio.to_thread(traces.close)


def build_headers(settings: TraceSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request, with secret references resolved."""
    found = {}
    for header in settings.headers:
        name, _, value = header.partition(":")
        text = resolve_references(value.strip(), field="traces.headers", environment=environment)
        if PRINTABLE.fullmatch(text) is None:
            wanted = "the value must be printable ASCII"
            raise InvalidSetting("traces.headers", f"{name}: ***", wanted)
        found[name] = text
    return found

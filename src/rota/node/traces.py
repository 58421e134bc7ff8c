"""Whether and where to a process writes traces, from its settings. Room: node.

OpenTelemetry is an extra and takes a while to load, so nothing of it is imported in a process that
traces nothing.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from rota.config.references import resolve
from rota.config.settings import Settings
from rota.config.settings import Traces as TraceSettings
from rota.core.errors import InvalidSetting
from rota.flow.observe.tracing import Traces
from rota.runtime.events import SpansLost
from rota.runtime.service import Ground

OTEL: Final = "rota.flow.observe.otel.writing"
PRINTABLE: Final = re.compile(r"[ -~]+")


@asynccontextmanager
async def open_traces(settings: Settings, ground: Ground) -> AsyncIterator[Traces | None]:
    """Whoever writes the traces of this process, if it writes any. What is left is sent at the
    end, when nothing makes spans any more.
    """
    wanted = settings.traces
    if wanted.endpoint is None:
        yield None
        return
    headers = headers_of(wanted, os.environ)
    try:
        otel = import_module(OTEL)
    except ImportError as error:
        need = f"left out, or pip install 'rota[otel]' done before ({error})"
        raise InvalidSetting("traces.endpoint", wanted.endpoint, need) from error
    traces: Traces = otel.open_traces(
        wanted.endpoint,
        headers,
        service=wanted.service,
        one_in=wanted.one_in,
        lost=lambda count, reason: ground.emit(SpansLost(count=count, reason=reason)),
        chance=ground.chance,
    )
    try:
        yield traces
    finally:
        await asyncio.to_thread(traces.close)


def headers_of(settings: TraceSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """What is sent with every request, with the secrets that it refers to."""
    found = {}
    for header in settings.headers:
        name, _, value = header.partition(":")
        said = resolve(value.strip(), field="traces.headers", environment=environment)
        if PRINTABLE.fullmatch(said) is None:
            raise InvalidSetting("traces.headers", f"{name}: ***", "printable ASCII in its value")
        found[name] = said
    return found

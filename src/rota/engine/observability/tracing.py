"""Defines the interface between services and the trace writer.

Nothing here imports OpenTelemetry: a process without tracing never loads it. The package otel
beside this file implements the interface.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, Protocol
from urllib.parse import urlsplit
from uuid import UUID

from rota.core.outcome import Outcome
from rota.store.live_runs import ClaimedRun

# Path and media type of traces in OTLP over HTTP.
OTLP_TRACES_PATH: Final = "/v1/traces"
OTLP_MEDIA_TYPE: Final = "application/x-protobuf"


def build_collector_url(endpoint: str) -> str:
    """Return the endpoint itself, or with the standard path if it has none."""
    return (
        endpoint
        if urlsplit(endpoint).path.strip("/")
        else f"{endpoint.rstrip('/')}{OTLP_TRACES_PATH}"
    )


class AttemptSpan(Protocol):
    """The span of one attempt in its run's trace."""

    @property
    def traceparent(self) -> str:
        """The header that a handler passes on, so that other systems join the trace."""
        ...

    def end(self, outcome: Outcome, /) -> None: ...


class RequestSpan(Protocol):
    """The span of one request, in its caller's trace or in its own."""

    def set_route(self, route: str, /) -> None:
        """Name the span by the path template, because the path of a hook holds a secret."""

    def set_tenant(self, tenant_id: int, /) -> None: ...

    def link_runs(self, run_ids: Iterable[UUID], /) -> None:
        """Link the span to the traces of these runs."""

    def end(self, status: int, /) -> None: ...


class TraceWriter(Protocol):
    """The traces of one process. Thread-safe."""

    def start_attempt(
        self, run: ClaimedRun, kind: str, *, ahead: float, queue: str | None = None
    ) -> AttemptSpan:
        """Start the span of an attempt that starts in `ahead` seconds. The handler's own spans in
        this task, and in threads that copy its context, become children. A run does not carry its
        queue, so the queue is given only if the worker serves no other.
        """
        ...

    def start_request(
        self, method: str, headers: Iterable[tuple[bytes, bytes]], *, request_id: str
    ) -> RequestSpan: ...

    def record_ticks(self, run_ids: Sequence[UUID], *, duration: float, late_by: timedelta) -> None:
        """Record a batch of ticks that was fired just now."""

    def close(self) -> None:
        """Send the remaining spans, within a few seconds. Blocks."""

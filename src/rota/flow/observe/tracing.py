"""What the services ask of whoever writes traces. Room: flow/observe.

Nothing here imports OpenTelemetry: a process that traces nothing never loads it. Who does is the
folder otel beside this file.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, Protocol
from urllib.parse import urlsplit
from uuid import UUID

from rota.core.outcome import Outcome
from rota.store.live_runs import Claimed

# Where a collector takes traces in OTLP over HTTP, and what they are.
PATH: Final = "/v1/traces"
MEDIA: Final = "application/x-protobuf"


def collector_url(endpoint: str) -> str:
    """The address itself, or that of the collector, which takes traces at the usual path."""
    return endpoint if urlsplit(endpoint).path.strip("/") else f"{endpoint.rstrip('/')}{PATH}"


class AttemptSpan(Protocol):
    """One attempt in its run's trace."""

    @property
    def traceparent(self) -> str:
        """What a handler hands on, so that others join the trace."""
        ...

    def end(self, outcome: Outcome, /) -> None: ...


class RequestSpan(Protocol):
    """One request, in the trace of its caller or in one of its own."""

    def routed(self, route: str, /) -> None:
        """Name it by the template of its path, never by the path: a hook's has a secret in it."""

    def entered(self, tenant_id: int, /) -> None: ...

    def made(self, run_ids: Iterable[UUID], /) -> None:
        """Link it to the traces of these runs."""

    def end(self, status: int, /) -> None: ...


class Traces(Protocol):
    """The traces of one process. Its methods may be called in any thread."""

    def attempt(
        self, run: Claimed, kind: str, *, ahead: float, queue: str | None = None
    ) -> AttemptSpan:
        """Begin an attempt that starts in `ahead` seconds. Spans of the handler's own in this
        task, and in threads that copy its context, become children. A run does not say of which
        queue it is, so it is told only if the worker serves no other.
        """
        ...

    def request(
        self, method: str, headers: Iterable[tuple[bytes, bytes]], *, request_id: str
    ) -> RequestSpan: ...

    def fired(self, run_ids: Sequence[UUID], *, lasted: float, late_by: timedelta) -> None:
        """A batch of ticks was decided just now."""

    def close(self) -> None:
        """Send what is left, within a few seconds. It blocks."""

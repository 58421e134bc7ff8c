"""A real collector for traces: OTLP over HTTP on a socket, decoded, kept in memory.

It also keeps whatever else it is asked, for jobs that call it. `answers` are given one by one; when
they are used up, all is taken.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATH = "/v1/traces"
ERROR = 2
PATIENCE = 30.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A span as it arrived; ids are in hexadecimal, and `parent` is empty for a root."""

    name: str
    trace: str
    id: str
    parent: str
    links: tuple[tuple[str, str], ...]
    said: dict[str, Any]
    is_error: bool
    message: str
    started: int
    ended: int
    service: str


@dataclass(kw_only=True)
class Collecting:
    url: str
    spans: list[Seen] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    # Headers of requests that bring no spans.
    others: list[dict[str, str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    _arrived: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, name: str, number: int = 1) -> None:
        """Until so many spans of this name have arrived."""
        with self._arrived:
            come = self._arrived.wait_for(lambda: len(self.named(name)) >= number, PATIENCE)
        assert come, [span.name for span in self.spans]

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    def of(self, run_id: UUID) -> list[Seen]:
        """The trace of a run, oldest first."""
        found = [span for span in self.spans if span.trace == run_id.hex]
        return sorted(found, key=lambda span: span.started)

    def take(self, body: bytes, headers: dict[str, str]) -> int:
        status = self.answers.pop(0) if self.answers else 200
        if status == 200:
            self.headers.append(headers)
            self.bodies.append(body)
            with self._arrived:
                self.spans += decoded(body)
                self._arrived.notify_all()
        return status


@contextmanager
def collecting() -> Iterator[Collecting]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.reply(made.take(body, self.told()) if self.path == PATH else self.other())

        def do_GET(self) -> None:
            self.reply(self.other())

        def other(self) -> int:
            made.others.append(self.told())
            return 200

        def told(self) -> dict[str, str]:
            return {name.lower(): value for name, value in self.headers.items()}

        def reply(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Collecting(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def decoded(body: bytes) -> Iterator[Seen]:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        about = attributes(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield Seen(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    links=tuple((each.trace_id.hex(), each.span_id.hex()) for each in span.links),
                    said=attributes(span.attributes),
                    is_error=span.status.code == ERROR,
                    message=span.status.message,
                    started=span.start_time_unix_nano,
                    ended=span.end_time_unix_nano,
                    service=about["service.name"],
                )


def attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}

"""Serves probes and metrics of a process on a separate listener and thread.

A probe must be answered while the process's event loop is blocked and while its API has reached its
connection limit. So the listener has its own socket, thread and event loop, and its endpoints only
read what other threads have recorded.
"""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Self, cast
from urllib.parse import parse_qs

from rota.runtime.process_health import NamedResult, ProcessHealth

PROBE_CONNECTIONS_MAX: Final = 64
PROBE_HEAD_BYTES_MAX: Final = 4_096
PROBE_TIMEOUT_S: Final = 2.0
# How long an endpoint may take, and how long the client may take to read the answer.
PROBE_ANSWER_TIMEOUT_S: Final = 10.0
PROBE_PORTS: Final = range(7071, 7100)
PROBE_BACKLOG: Final = 128
LOOPBACK: Final = "127.0.0.1"
JSON_TYPE: Final = "application/json"
REASONS: Final = {
    200: "OK",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class ProbeRequest(NamedTuple):
    """A request: its method, path, query and `Accept` header."""

    method: str
    path: str
    query: Mapping[str, Sequence[str]]
    accept: str | None


class ProbeResponse(NamedTuple):
    status: int
    body: bytes
    content_type: str = JSON_TYPE


ProbeEndpoint = Callable[[ProbeRequest], ProbeResponse | Awaitable[ProbeResponse]]


@contextlib.contextmanager
def bind_probe_socket(address: tuple[str, int] | None = None) -> Iterator[socket.socket]:
    """Listen at the address. Default: the first free port of `PROBE_PORTS` on loopback, else any
    free port. Raises `OSError` if the address is not available.
    """
    with listen_at(*address) if address is not None else listen_at_free_port() as listening:
        yield listening


def listen_at_free_port() -> socket.socket:
    for port in PROBE_PORTS:
        with contextlib.suppress(OSError):
            return listen_at(LOOPBACK, port)
    return listen_at(LOOPBACK, 0)


def listen_at(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(PROBE_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


class ObserveListener:
    """Answers requests while inside the context. Endpoints are called by path, in its thread; the
    process may add endpoints while it starts.
    """

    def __init__(self, listening: socket.socket, endpoints: Mapping[str, ProbeEndpoint]) -> None:
        self._socket = listening
        self._endpoints = endpoints
        self._open: dict[ProbeProtocol, None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rota-observe", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._ended is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await self._loop.create_server(self._make_protocol, sock=self._socket)
        finally:
            self._started.set()
        await self._ended.wait()
        server.close()
        for protocol in list(self._open):
            protocol.close()

    def _make_protocol(self) -> "ProbeProtocol":
        return ProbeProtocol(self._endpoints, self._open)


class ProbeProtocol(asyncio.Protocol):
    """Handles one request. `connections` holds the open connections, oldest first."""

    def __init__(
        self, endpoints: Mapping[str, ProbeEndpoint], connections: "dict[ProbeProtocol, None]"
    ) -> None:
        self._endpoints = endpoints
        self._connections = connections
        self._head = b""
        self._transport: asyncio.Transport | None = None
        self._timeout: asyncio.TimerHandle | None = None
        self._answering: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._limit_time(PROBE_TIMEOUT_S)
        if len(self._connections) >= PROBE_CONNECTIONS_MAX:
            next(iter(self._connections)).close()
        self._connections[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._connections.pop(self, None)
        if self._timeout is not None:
            self._timeout.cancel()
        if self._answering is not None:
            self._answering.cancel()

    def data_received(self, data: bytes) -> None:
        if self._answering is not None:
            return
        self._head += data
        if b"\r\n\r\n" in self._head:
            self._limit_time(PROBE_ANSWER_TIMEOUT_S)
            self._answering = asyncio.ensure_future(self._answer())
        elif len(self._head) > PROBE_HEAD_BYTES_MAX:
            self.close()

    def close(self) -> None:
        self._connections.pop(self, None)
        if self._transport is not None:
            self._transport.abort()

    def _limit_time(self, seconds: float) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
        self._timeout = asyncio.get_running_loop().call_later(seconds, self.close)

    async def _answer(self) -> None:
        request = parse_request(self._head)
        status, body, content_type = await answer_request(request, self._endpoints)
        if self._transport is None:
            return
        head = (
            f"HTTP/1.1 {status} {REASONS[status]}\r\ncontent-type: {content_type}\r\n"
            f"cache-control: no-store\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + (b"" if request.method == "HEAD" else body))
        self._transport.close()


def parse_request(head: bytes) -> ProbeRequest:
    lines = head.decode("latin-1").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    path, _, query = rest.partition(" ")[0].partition("?")
    accept = next(
        (line.partition(":")[2].strip() for line in lines[1:] if line[:7].lower() == "accept:"),
        None,
    )
    return ProbeRequest(method, path, parse_qs(query, keep_blank_values=True), accept)


async def answer_request(
    request: ProbeRequest, endpoints: Mapping[str, ProbeEndpoint]
) -> ProbeResponse:
    if request.method not in {"GET", "HEAD"}:
        return build_response(405, "error", "method not allowed; use GET or HEAD")
    endpoint = endpoints.get(request.path)
    if endpoint is None:
        known = ", ".join(sorted(endpoints))
        return build_response(404, "error", f"not found; use one of {known}")
    try:
        answer = endpoint(request)
        return answer if isinstance(answer, ProbeResponse) else await answer
    except Exception as error:  # noqa: BLE001 — a broken check must not end the listener
        return build_response(500, "error", f"{type(error).__name__}: {error}")


def build_response(
    status: int, state: str, detail: str | None = None, **more: object
) -> ProbeResponse:
    body: dict[str, object] = {"status": state}
    if detail is not None:
        body["detail"] = detail
    return ProbeResponse(status, json.dumps(body | more).encode())


def build_probes(health: ProcessHealth) -> dict[str, ProbeEndpoint]:
    """Build the endpoints of the probes. `/healthz` is another name of `/livez`."""
    probes = {
        "/livez": health.check_liveness,
        "/healthz": health.check_liveness,
        "/readyz": health.check_readiness,
        "/startupz": health.check_startup,
    }
    return {path: build_probe(check) for path, check in probes.items()}


def build_probe(check: Callable[[], list[NamedResult]]) -> ProbeEndpoint:
    """Build an endpoint that answers 200 if every check passes, else 503 with the problems. With
    `?verbose` it lists each check with the age of what it looked at.
    """

    def answer(request: ProbeRequest) -> ProbeResponse:
        results = check()
        problems = [result.problem for result in results if result.problem is not None]
        status, state = (503, "unavailable") if problems else (200, "ok")
        detail = "; ".join(problems) or None
        if "verbose" not in request.query:
            return build_response(status, state, detail)
        return build_response(status, state, detail, checks=list(map(describe_result, results)))

    return answer


def describe_result(result: NamedResult) -> dict[str, object]:
    described: dict[str, object] = {
        "name": result.name,
        "status": "ok" if result.problem is None else "failed",
    }
    if result.age_s is not None:
        described["age_s"] = round(result.age_s, 3)
    if result.problem is not None:
        described["detail"] = result.problem
    return described

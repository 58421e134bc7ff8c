"""Serves health probes on a separate listener and thread.

A probe must be answered while the process's event loop is busy and while its API has reached its
connection limit. So it has its own socket, thread and event loop, and its checks only read what
other threads have recorded: no check waits or queries the database.
"""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Self, cast

PROBE_CONNECTIONS_MAX: Final = 64
PROBE_HEAD_BYTES_MAX: Final = 4_096
PROBE_TIMEOUT_S: Final = 2.0
PROBE_PORTS: Final = range(7071, 7100)
PROBE_BACKLOG: Final = 128
LOOPBACK: Final = "127.0.0.1"
LOOP_BEAT_INTERVAL_S: Final = 0.5


class ProbeAnswer(NamedTuple):
    """The result of a check: a problem, or None."""

    problem: str | None = None


ProbeCheck = Callable[[], ProbeAnswer]


@dataclass(slots=True)
class LoopHeartbeat:
    """Measures how long the event loop has not turned. `tick` is a duty of that loop."""

    monotonic: Callable[[], float]
    beat_at: float | None = None

    async def tick(self) -> float:
        self.beat_at = self.monotonic()
        return LOOP_BEAT_INTERVAL_S

    @property
    def silent_s(self) -> float:
        """Seconds since the loop last turned; 0 before its first turn, while the process starts."""
        return 0.0 if self.beat_at is None else self.monotonic() - self.beat_at


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


class HealthListener:
    """Answers probes while inside the context. `checks` are called by path, in its thread."""

    def __init__(self, listening: socket.socket, checks: Mapping[str, ProbeCheck]) -> None:
        self._socket = listening
        self._checks = checks
        self._open: dict[ProbeProtocol, None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rota-health", daemon=True)

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
        return ProbeProtocol(self._checks, self._open)


class ProbeProtocol(asyncio.Protocol):
    """Handles one request. `connections` holds the open connections, oldest first."""

    def __init__(
        self, checks: Mapping[str, ProbeCheck], connections: "dict[ProbeProtocol, None]"
    ) -> None:
        self._checks = checks
        self._connections = connections
        self._head = b""
        self._transport: asyncio.Transport | None = None
        self._timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._timeout = asyncio.get_running_loop().call_later(PROBE_TIMEOUT_S, self.close)
        if len(self._connections) >= PROBE_CONNECTIONS_MAX:
            next(iter(self._connections)).close()
        self._connections[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._connections.pop(self, None)
        if self._timeout is not None:
            self._timeout.cancel()

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head:
            self._answer(*answer_request(self._head, self._checks))
        elif len(self._head) > PROBE_HEAD_BYTES_MAX:
            self.close()

    def close(self) -> None:
        self._connections.pop(self, None)
        if self._transport is not None:
            self._transport.abort()

    def _answer(self, status: str, body: dict[str, str]) -> None:
        if self._transport is None:
            return
        text = b"" if self._head.startswith(b"HEAD ") else json.dumps(body).encode()
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + text)
        self._transport.close()


def answer_request(head: bytes, checks: Mapping[str, ProbeCheck]) -> tuple[str, dict[str, str]]:
    """Return the status and the body for a request."""
    method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    if method not in {"GET", "HEAD"}:
        return "405 Method Not Allowed", {
            "status": "error",
            "detail": "method not allowed; use GET or HEAD",
        }
    check = checks.get(path)
    if check is None:
        known = ", ".join(sorted(checks))
        return "404 Not Found", {"status": "error", "detail": f"not found; use one of {known}"}
    problem = check().problem
    if problem is not None:
        return "503 Service Unavailable", {"status": "unavailable", "detail": problem}
    return "200 OK", {"status": "ok"}

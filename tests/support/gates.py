"""A real TCP gate in front of a server: open, frozen, or shut.

An open gate carries bytes both ways. A frozen one takes connections and carries nothing, as a host
does whose processes stand still: the kernel still answers. A shut one refuses connections.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit


@dataclass(kw_only=True)
class Gate:
    """`opened` counts the connections that it took, whatever state it was in."""

    host: str
    target: int
    port: int
    opened: int = 0
    _flow: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def open(self) -> None:
        self._flow.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)

    def freeze(self) -> None:
        self._flow.clear()

    def shut(self) -> None:
        """Refuse connections, and break those that there are."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await self._flow.wait()
                there, beyond = await asyncio.open_connection(self.host, self.target)
                self._writers.add(beyond)
                await asyncio.gather(self._carry(reader, beyond), self._carry(there, writer))
        finally:
            self._tasks.discard(task)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                await self._flow.wait()
                target.write(data)
                await target.drain()
        target.transport.abort()


@asynccontextmanager
async def gates_to(url: str, *, count: int) -> AsyncIterator[list[Gate]]:
    """So many gates to the server of this URL, all of them shut."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    gates = [Gate(host=parts.hostname, target=parts.port, port=free_port()) for _ in range(count)]
    try:
        yield gates
    finally:
        for gate in gates:
            gate.shut()


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def through(url: str, ports: Sequence[int]) -> str:
    """The same database, by these ports of this machine."""
    parts = urlsplit(url)
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@{hosts}"))

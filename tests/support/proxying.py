"""A real TCP proxy that a test can tell to break connections.

It carries bytes between a client and a server and knows nothing of HTTP. `cut_answers` lets so many
requests through and drops their answers, as a network does that fails at the worst moment; `cut`
breaks every connection that is open.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(kw_only=True)
class Proxy:
    host: str
    port: int
    url: str = ""
    cut_answers: int = 0
    # How many connections there have been.
    opened: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._writers.add(writer)
        there, beyond = await asyncio.open_connection(self.host, self.port)
        self._writers.add(beyond)
        forth = asyncio.create_task(self._carry(reader, beyond))
        try:
            await self._carry(there, writer, is_answer=True)
        finally:
            forth.cancel()
            with suppress(asyncio.CancelledError):
                await forth
            for each in (writer, beyond):
                self._writers.discard(each)
                each.transport.abort()

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_answer: bool = False
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                if is_answer and self.cut_answers > 0:
                    self.cut_answers -= 1
                    return
                target.write(data)
                await target.drain()


@asynccontextmanager
async def proxying(url: str) -> AsyncIterator[Proxy]:
    """A proxy in front of the server at this address."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    proxy = Proxy(host=parts.hostname, port=parts.port)
    server = await asyncio.start_server(proxy.handle, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await server.wait_closed()

"""A server that takes connections and never says a word."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Silence:
    port: int = 0
    called: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: list[asyncio.StreamWriter] = field(default_factory=list)

    def take(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.waiting.append(writer)
        self.called.set()


@asynccontextmanager
async def silence() -> AsyncIterator[Silence]:
    """In the end it hangs up on those that still wait: threads, which nobody could stop."""
    silent = Silence()
    server = await asyncio.start_server(silent.take, "127.0.0.1", 0)
    silent.port = int(server.sockets[0].getsockname()[1])
    try:
        yield silent
    finally:
        server.close()
        for writer in silent.waiting:
            writer.transport.abort()

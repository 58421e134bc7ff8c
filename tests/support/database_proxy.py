"""A real TCP proxy in front of a database, with which a test makes an outage.

`refuse` closes its port, as a server that is stopped: new connections are refused, open ones break.
`fall_silent` keeps all connections and takes new ones, and carries nothing any more, as a network
that drops packets or a server that is frozen. `restore` ends either.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit, urlunsplit


@dataclass(kw_only=True)
class DatabaseProxy:
    behind: str
    port: int = 0
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _serving: set["asyncio.Task[None]"] = field(default_factory=set)
    _flows: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The address of the same database, through here."""
        parts = urlsplit(self.behind)
        user = parts.netloc.rpartition("@")[0]
        netloc = f"{user}@127.0.0.1:{self.port}" if user else f"127.0.0.1:{self.port}"
        return urlunsplit((parts.scheme, netloc, parts.path, "", ""))

    async def restore(self) -> None:
        self._flows.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = int(self._server.sockets[0].getsockname()[1])

    async def refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._cut()

    def fall_silent(self) -> None:
        self._flows.clear()

    def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def close(self) -> None:
        self._flows.set()
        await self.refuse()
        if self._serving:
            await asyncio.wait(self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        if (task := asyncio.current_task()) is not None:
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        try:
            await self._flows.wait()
            there, beyond = await self._connect()
            self._writers.add(beyond)
            ways = (self._carry(reader, beyond), self._carry(there, writer))
            tasks = [asyncio.ensure_future(way) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            beyond.transport.abort()
            self._writers.discard(beyond)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = urlsplit(self.behind)
        query = parse_qs(parts.query)
        if "host" in query:
            socket = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
            return await asyncio.open_unix_connection(socket)
        return await asyncio.open_connection(parts.hostname, parts.port)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                await self._flows.wait()
                target.write(data)
                await target.drain()


@asynccontextmanager
async def database_proxy(url: str) -> AsyncIterator[DatabaseProxy]:
    proxy = DatabaseProxy(behind=url)
    await proxy.restore()
    try:
        yield proxy
    finally:
        await proxy.close()

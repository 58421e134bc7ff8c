"""Connections that speak HTTP badly: half requests, silence, requests byte by byte."""

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from rota.runtime.clock import SystemClock

CLOCK = SystemClock()
PATIENCE_S = 20.0
BUFFERED_MAX = 16_000_000
HALF_HEAD = b"GET /v1/whoami HTTP/1.1\r\nHost: localhost\r\nX-Half: "


@dataclass
class RawConnection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        with suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def read_to_end(self) -> bytes:
        """Everything until the server closes, however it does."""
        found = b""
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE_S):
                while part := await self.reader.read(65_536):
                    found += part
        return found

    async def read_response(self) -> bytes:
        """The head and body of one response that says its length."""
        async with asyncio.timeout(PATIENCE_S):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return head + await self.reader.readexactly(length)

    @property
    def is_closed(self) -> bool:
        return self.reader.at_eof() or self.reader.exception() is not None

    def close(self) -> None:
        self.writer.transport.abort()


class Dial:
    """Opens connections, and closes them when it is left."""

    def __init__(self) -> None:
        self._made: list[RawConnection] = []

    async def __call__(
        self, url: str, *, from_host: str | None = None, tls: ssl.SSLContext | None = None
    ) -> RawConnection:
        """A connection to the server, from another loopback address if one is given."""
        place = urlsplit(url)
        local = None if from_host is None else (from_host, 0)
        streams = await asyncio.open_connection(
            place.hostname, place.port, local_addr=local, ssl=tls, limit=BUFFERED_MAX
        )
        made = RawConnection(*streams)
        self._made.append(made)
        return made

    async def many(
        self, url: str, number: int, sent: bytes, *, from_host: str | None = None
    ) -> list[RawConnection]:
        """Connections that have each sent the same."""
        made = [await self(url, from_host=from_host) for _ in range(number)]
        for each in made:
            await each.send(sent)
        return made

    def close(self) -> None:
        for each in self._made:
            each.close()


def request(path: str = "/v1/whoami", *headers: str, method: str = "GET", body: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def status_of(response: bytes) -> int:
    """The status of a response, 0 if there was none."""
    return int(response.split(b" ", 2)[1]) if response else 0

"""A server for HTTP jobs to call: it echoes, fails, redirects, dawdles and never ends."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

# 100 MB of zeros in 100 KB.
BOMB = gzip.compress(bytes(100_000_000))


@dataclass(kw_only=True)
class TargetServer:
    """What was asked of the server; `url` is where it listens."""

    url: str = ""
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when the client has hung up on an answer that would not have ended.
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        seen = {
            "method": request.method,
            "path": request.path_qs,
            "headers": {name.lower(): value for name, value in request.headers.items()},
            "body": (await request.read()).decode(),
        }
        self.requests.append(seen)
        self.asked.set()
        match request.path.split("/")[1:]:
            case ["status", status, *_]:
                return web.Response(status=int(status), text="said so", headers=dict(request.query))
            case ["redirect", status, *_]:
                headers = {"Location": request.query["to"]} if "to" in request.query else {}
                return web.Response(status=int(status), headers=headers)
            case ["endless"]:
                return await self.never_end(request)
            case ["silent", *_]:
                return await self.say_nothing()
            case ["broken"]:
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case ["bomb"]:
                return web.Response(body=BOMB, headers={"Content-Encoding": "gzip"})
            case ["big", size]:
                return web.Response(text="x" * int(size))
            case _:
                return web.json_response(seen)

    async def never_end(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        try:
            while True:
                await answer.write(bytes(65536))
        finally:
            self.hung_up.set()

    async def say_nothing(self) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            self.hung_up.set()
        raise AssertionError


@asynccontextmanager
async def target_server() -> AsyncIterator[TargetServer]:
    server = TargetServer()
    # Hanging up cancels the handler, so that the tests can see it.
    runner = web.ServerRunner(web.Server(server.handle, handler_cancellation=True))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.port = int(runner.addresses[0][1])
    server.url = f"http://127.0.0.1:{server.port}"
    try:
        yield server
    finally:
        await runner.cleanup()

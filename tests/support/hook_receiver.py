"""A server that gets webhooks, keeps them, and answers as a test tells it to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aiohttp import web


class ReceivedHook(NamedTuple):
    path: str
    headers: dict[str, str]
    text: str


@dataclass(kw_only=True)
class HookReceiver:
    """`statuses` is the answer by path; any other path is answered with 200."""

    port: int = 0
    received: list[ReceivedHook] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def at(self, path: str) -> list[ReceivedHook]:
        return [hook for hook in self.received if hook.path == path]

    async def receive(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.received.append(ReceivedHook(request.path, headers, await request.text()))
        status = self.statuses.get(request.path, 200)
        return web.Response(status=status, text=f"answered {status}")


@asynccontextmanager
async def receiving() -> AsyncIterator[HookReceiver]:
    receiver = HookReceiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.receive)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        addresses: list[Any] = runner.addresses
        receiver.port = addresses[0][1]
        yield receiver
    finally:
        await runner.cleanup()

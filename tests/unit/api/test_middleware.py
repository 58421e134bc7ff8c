"""A process that answers as many requests as it can refuses the next one, and says until when."""

import asyncio
from typing import Any
from uuid import UUID

from starlette.types import Message, Receive, Scope, Send

from rota.api.app import REQUESTS_MAX, ApiMiddleware, respond_overloaded

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "scheme": "http",
    "path": "/v1/jobs",
    "query_string": b"",
    "headers": [],
}


async def test_a_request_too_many_gets_503_with_retry_after() -> None:
    begun, full, done = 0, asyncio.Event(), asyncio.Event()

    async def answer(_scope: Scope, _receive: Receive, _send: Send) -> None:
        nonlocal begun
        begun += 1
        if begun == REQUESTS_MAX:
            full.set()
        await done.wait()

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    app = ApiMiddleware(answer, overloaded=respond_overloaded, new_id=lambda: UUID(int=1))
    others = [
        asyncio.create_task(app(SCOPE | {"state": {}}, receive, send)) for _ in range(REQUESTS_MAX)
    ]
    await full.wait()
    await app(SCOPE | {"state": {}}, receive, send)
    done.set()
    await asyncio.gather(*others)

    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 503
    assert (headers[b"retry-after"], headers[b"connection"]) == (b"2", b"close")

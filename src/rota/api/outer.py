"""Around the whole API: request ids, headers of safety, bounds on headers and load. Room: api.

Plain ASGI, because it is the outermost: what it adds is on every response, the refusals included.
"""

import re
from collections.abc import Callable, MutableMapping
from typing import Any, Final
from uuid import UUID

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
STRICT_TRANSPORT: Final = "max-age=63072000; includeSubDomains"
# Requests that are answered at the same time, streams included.
REQUESTS_MAX: Final = 2_000
MOST_URL: Final = 8_000
MOST_HEADERS: Final = 100
MOST_HEADER_BYTES: Final = 16_000
# A caller's own id is kept if it can do no harm in a log.
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


class Outer:
    """`new_id` draws request ids; `overloaded` answers a request that is one too many."""

    def __init__(self, app: ASGIApp, *, overloaded: ASGIApp, new_id: Callable[[], UUID]) -> None:
        self._app = app
        self._overloaded = overloaded
        self._new_id = new_id
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["excess"] = excess_of(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
                headers["x-request-id"] = request_id
                if scope["scheme"] == "https":
                    headers["strict-transport-security"] = STRICT_TRANSPORT
            await send(message)

        # Counted here and not by the server, whose refusal could not say when to come back.
        app = self._app if self._open < REQUESTS_MAX else self._overloaded
        self._open += 1
        try:
            await app(scope, receive, send_with_headers)
        finally:
            self._open -= 1

    def _request_id(self, scope: Scope) -> str:
        for name, value in scope["headers"]:
            if name == b"x-request-id":
                given = value.decode("latin-1")
                if _REQUEST_ID.fullmatch(given):
                    return str(given)
        return f"req_{self._new_id().hex}"


def excess_of(scope: Scope) -> str | None:
    """What of the request's head is beyond its bound, if anything."""
    if len(scope.get("raw_path", b"")) + len(scope.get("query_string", b"")) > MOST_URL:
        return f"the URL may have at most {MOST_URL:,} bytes"
    headers = scope["headers"]
    if len(headers) > MOST_HEADERS:
        return f"there may be at most {MOST_HEADERS} headers"
    if sum(len(name) + len(value) for name, value in headers) > MOST_HEADER_BYTES:
        return f"the headers may have at most {MOST_HEADER_BYTES:,} bytes"
    return None

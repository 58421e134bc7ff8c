"""Middleware around the whole API: request ids, security headers, limits on headers and load.

Plain ASGI, because it is the outermost layer: its headers are on every response, including errors.
"""

import re
from collections.abc import Callable, MutableMapping
from typing import Any, Final
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rota.api.addresses import TrustedProxies
from rota.api.hosts import AllowedHosts
from rota.api.problems import ProblemError

SECURITY_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
# Default headers; a response may override them.
DEFAULT_HEADERS: Final = (
    *((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()),
    (b"cache-control", b"no-store"),
)
STRICT_TRANSPORT: Final = (b"strict-transport-security", b"max-age=63072000; includeSubDomains")
REQUEST_ID: Final = b"x-request-id"
PROBES: Final = frozenset({"/healthz", "/readyz"})
# Concurrent requests, including streams.
REQUESTS_MAX: Final = 2_000
URL_BYTES_MAX: Final = 8_000
HEADERS_MAX: Final = 100
HEADER_BYTES_MAX: Final = 16_000
# A caller's own request id is kept if it is safe to log.
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


class ApiMiddleware:
    """`new_id` creates request ids; `overloaded` responds beyond the limit of concurrent requests;
    `refuse` responds to a host that is not among `hosts`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        overloaded: ASGIApp,
        new_id: Callable[[], UUID],
        hosts: AllowedHosts | None = None,
        proxies: TrustedProxies | None = None,
        refuse: Callable[[ProblemError], ASGIApp] | None = None,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._proxies = proxies
        self._refuse = refuse
        self._overloaded = overloaded
        self._new_id = new_id
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        if self._proxies is not None and scope.get("client") is not None:
            host, port = scope["client"]
            scope["client"] = (self._proxies.find_client(host, scope["headers"]), port)
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["excess"] = find_excess(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [pair for pair in message.get("headers", ()) if pair[0] != REQUEST_ID]
                present = {name for name, _ in headers}
                headers += [pair for pair in DEFAULT_HEADERS if pair[0] not in present]
                headers.append((REQUEST_ID, request_id.encode()))
                if scope["scheme"] == "https":
                    headers.append(STRICT_TRANSPORT)
                message["headers"] = headers
            await send(message)

        app = self._choose_app(scope)
        self._open += 1
        try:
            await app(scope, receive, send_with_headers)
        finally:
            self._open -= 1

    def _choose_app(self, scope: Scope) -> ASGIApp:
        """Return the application for this request; probes ignore the host and the load."""
        if scope["path"] in PROBES:
            return self._app
        if self._hosts is not None and self._refuse is not None:
            hosts = [value for name, value in scope["headers"] if name == b"host"]
            refusal = self._hosts.check(hosts)
            if refusal is not None:
                return self._refuse(refusal)
        # Counted here, because the server could not send Retry-After.
        return self._app if self._open < REQUESTS_MAX else self._overloaded

    def _request_id(self, scope: Scope) -> str:
        for name, value in scope["headers"]:
            if name == b"x-request-id":
                request_id = value.decode("latin-1")
                if _REQUEST_ID.fullmatch(request_id):
                    return str(request_id)
        return f"req_{self._new_id().hex}"


def find_excess(scope: Scope) -> str | None:
    """Return which limit the request's head exceeds, or None."""
    if len(scope.get("raw_path", b"")) + len(scope.get("query_string", b"")) > URL_BYTES_MAX:
        return f"the URL may have at most {URL_BYTES_MAX:,} bytes"
    headers = scope["headers"]
    if len(headers) > HEADERS_MAX:
        return f"the request may have at most {HEADERS_MAX} headers"
    if sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES_MAX:
        return f"the headers may have at most {HEADER_BYTES_MAX:,} bytes"
    return None

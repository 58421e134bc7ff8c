"""A span around every request, in a process that writes traces. Room: api.

Plain ASGI, inside of what gives a request its id. It is not there at all where nothing is traced.
The doors name the span once they know the operation; a page of the dashboard and a path that leads
nowhere keep the bare method as their name.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rota.flow.observe.tracing import Traces

# Asked every few seconds by machines, and nobody looks for them.
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class Traced:
    def __init__(self, app: ASGIApp, *, traces: Traces) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["state"]
        state["span"] = None
        if scope["path"] in QUIET:
            await self._app(scope, receive, send)
            return
        span = self._traces.request(
            scope["method"], scope["headers"], request_id=state["request_id"]
        )
        state["span"] = span
        # An error that gets this far has no answer; the server's is this one.
        status = 500

        async def send_seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_seen)
        finally:
            span.end(status)

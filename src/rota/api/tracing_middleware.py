"""Opens a trace span around every request.

Plain ASGI, inside the middleware that assigns request ids. It is installed only if tracing is
enabled. The pipeline names the span after the operation; dashboard pages and unknown paths keep the
bare method as their name.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rota.engine.observability.tracing import TraceWriter

# Probes that machines send every few seconds are not traced.
UNTRACED_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class TracingMiddleware:
    def __init__(self, app: ASGIApp, *, traces: TraceWriter) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["state"]
        state["span"] = None
        if scope["path"] in UNTRACED_PATHS:
            await self._app(scope, receive, send)
            return
        span = self._traces.start_request(
            scope["method"], scope["headers"], request_id=state["request_id"]
        )
        state["span"] = span
        # The server responds with this status to an error that gets this far.
        status = 500

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_record)
        finally:
            span.end(status)

"""Provides `AsyncClient`, the API client for asyncio.

It has the same operations as the blocking client and uses aiohttp. A client belongs to the event
loop of its first call, and connects with that call.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar, cast

import aiohttp
from yarl import URL

from rota.runtime.clock import SystemClock
from rota.sdk.client import client_base
from rota.sdk.client.errors import ApiError, Unreachable
from rota.sdk.client.generated.operations import Operations
from rota.sdk.client.generated.schemas import EventReceipt, LogLine
from rota.sdk.client.methods import AsyncTransport
from rota.sdk.client.pages import Page
from rota.sdk.client.requests import ApiRequest
from rota.sdk.client.responses import (
    SUCCESS_STATUSES,
    build_api_error,
    build_headers,
    read_response,
)
from rota.sdk.client.retry_policy import DEFAULT_RETRIES
from rota.sdk.client.streams import FeedEvent, FollowedStream, LogStream

T = TypeVar("T")
P = ParamSpec("P")
# Errors that occur before anything was sent.
NOT_SENT_ERRORS: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
CONNECTION_ERRORS: Final = (aiohttp.ClientError, TimeoutError, OSError)


class AsyncClient(client_base.ClientBase, AsyncTransport, Operations):
    """Calls every operation of the API; each is a coroutine named like the operation.

    `timeout` is in seconds, for one try. `retries` is the number of further tries. `origin` is
    recorded in the audit log as the origin of changes: `cli` or `import`. Default: `api`.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = client_base.DEFAULT_TIMEOUT_S,
        retries: int = DEFAULT_RETRIES,
        origin: str | None = None,
    ) -> None:
        super().__init__(url, key, timeout=timeout, retries=retries)
        self._clock = SystemClock()
        self._identity = client_base.build_client_headers(origin)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        if self._session is not None:
            await self._session.close()

    async def pages(
        self, operation: Callable[P, Awaitable[Page[T]]], /, *args: P.args, **given: P.kwargs
    ) -> AsyncIterator[Page[T]]:
        """Iterate over the pages of a list: `client.pages(client.list_jobs, kind="x")`."""
        page = await operation(*args, **given)
        yield page
        while page.next is not None:
            page = await operation(*args, **cast("Any", {**given, "cursor": page.next}))
            yield page

    async def iterate(
        self, operation: Callable[P, Awaitable[Page[T]]], /, *args: P.args, **given: P.kwargs
    ) -> AsyncIterator[T]:
        """Iterate over the items of a list on all pages: `client.iterate(client.list_jobs)`."""
        async for page in self.pages(operation, *args, **given):
            for item in page.items:
                yield item

    async def send_event(self, type: str, data: Any = None, /, **more: Any) -> EventReceipt:  # noqa: A002
        """Send one event: `client.send_event("order.paid", {"order": 7}, id="7")`. `more` are the
        other fields of `send_events`.
        """
        return (await self.send_events(type=type, data=data, **more)).events[0]

    def follow_logs(self, run_id: str, *, after: str | None = None) -> AsyncGenerator[LogLine]:
        """Follow the log of a run until the run has ended and all lines were delivered.

        `after` is the `cursor` of `get_logs`. Reconnects when the connection breaks; every line is
        delivered exactly once.
        """
        return self._follow(client_base.build_logs_request(run_id), LogStream(after))

    def follow_feed(self, *, after: str | None = None) -> AsyncGenerator[FeedEvent]:
        """Follow the feed of all events without end. `after` is the id of the last event seen.

        Reconnects when the connection breaks; an event may then be delivered twice.
        """
        return self._follow(client_base.build_feed_request(), client_base.create_feed_stream(after))

    async def _send(self, request: ApiRequest[T]) -> T:
        request = client_base.add_idempotency_key(request)
        content, target = request.content(), self._place.prefix + request.target
        headers = build_headers(request, self._place, content)
        patience = self._patience()
        while True:
            try:
                body = await self._try(request.method, target, headers, content)
                return read_response(request, body, self._place)
            except (ApiError, Unreachable) as error:
                if isinstance(error, ApiError) and patience.is_already_deleted(request, error):
                    return cast("T", None)
                pause = patience.next_pause(request, error)
                if pause is None:
                    raise
                await self._clock.sleep(pause)

    async def _try(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes | None
    ) -> bytes:
        async with self._ask(
            method, target, headers=headers, read=self._timeout, data=content
        ) as answer:
            return await answer.read()

    async def _follow(
        self, request: ApiRequest[Any], stream: FollowedStream[T]
    ) -> AsyncGenerator[T]:
        target = self._place.prefix + request.target
        headers = build_headers(request, self._place, None) | {
            "Accept": client_base.EVENT_STREAM_MEDIA_TYPE
        }
        patience = self._patience()
        while True:
            try:
                async with aclosing(
                    self._chunks(target, headers | stream.start_connection())
                ) as chunks:
                    async for chunk in chunks:
                        patience.reset()
                        for value in stream.feed_bytes(chunk):
                            yield value
                        if stream.is_over:
                            return
            except (ApiError, Unreachable) as error:
                pause = patience.next_pause(request, error)
                if pause is None:
                    raise
                await self._clock.sleep(pause)
            for value in stream.on_disconnect():
                yield value

    async def _chunks(self, target: str, headers: Mapping[str, str]) -> AsyncGenerator[bytes]:
        """Yield the bytes of a stream. Always ends with an error: only an event ends a stream."""
        silence = max(self._timeout, client_base.STREAM_SILENCE_MAX_S)
        async with self._ask("GET", target, headers=headers, read=silence) as answer:
            async for chunk in answer.content.iter_any():
                yield chunk
        raise client_base.build_stream_ended(self._place)

    @asynccontextmanager
    async def _ask(
        self, method: str, target: str, *, headers: Mapping[str, str], read: float, **given: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Make one try."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout, sock_read=read)
        # Already quoted: a name may contain a %.
        url = URL(self._place.origin + target, encoded=True)
        try:
            async with self._open_session().request(
                method, url, headers=headers, timeout=timeout, allow_redirects=False, **given
            ) as answer:
                if answer.status not in SUCCESS_STATUSES:
                    body = await answer.read()
                    raise build_api_error(answer.status, answer.headers, body, self._place)
                yield answer
        except CONNECTION_ERRORS as error:
            was_sent = not isinstance(error, NOT_SENT_ERRORS)
            raise client_base.build_unreachable(self._place, error, was_sent=was_sent) from None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise RuntimeError("this client is closed")
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._identity)
            # aiohttp would silently repeat some requests, and a repeated deletion would answer
            # "not found". patience.py decides about retries.
            self._session._retry_connection = False  # noqa: SLF001 - there is no argument for it
        return self._session

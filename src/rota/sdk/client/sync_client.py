"""Provides `Client`, the blocking API client.

It keeps connections open and shares them between threads (urllib3). It connects with the first
call.
"""

from collections.abc import Callable, Generator, Iterator
from threading import Event as Flag
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar, cast

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.response import BaseHTTPResponse

from rota.sdk.client import client_base
from rota.sdk.client.errors import ApiError, Unreachable
from rota.sdk.client.generated.operations import Operations
from rota.sdk.client.generated.schemas import EventReceipt, LogLine
from rota.sdk.client.methods import BlockingTransport
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
STREAM_CHUNK_BYTES: Final = 65_536
# Errors that occur before anything was sent.
NOT_SENT_ERRORS: Final = (NewConnectionError, ConnectTimeoutError)


class Client(client_base.ClientBase, BlockingTransport, Operations):
    """Calls every operation of the API; each is a method named like the operation.

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
        # Never set: the client waits for it to sleep.
        self._never = Flag()
        self._identity = client_base.build_client_headers(origin)
        self._pool = urllib3.connection_from_url(
            self._place.origin, maxsize=client_base.POOLED_CONNECTIONS_MAX, retries=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        self._pool.close()

    def pages(
        self, operation: Callable[P, Page[T]], /, *args: P.args, **given: P.kwargs
    ) -> Iterator[Page[T]]:
        """Iterate over the pages of a list: `client.pages(client.list_jobs, kind="x")`."""
        page = operation(*args, **given)
        yield page
        while page.next is not None:
            page = operation(*args, **cast("Any", {**given, "cursor": page.next}))
            yield page

    def iterate(
        self, operation: Callable[P, Page[T]], /, *args: P.args, **given: P.kwargs
    ) -> Iterator[T]:
        """Iterate over the items of a list on all pages: `client.iterate(client.list_jobs)`."""
        for page in self.pages(operation, *args, **given):
            yield from page.items

    def send_event(self, type: str, data: Any = None, /, **more: Any) -> EventReceipt:  # noqa: A002
        """Send one event: `client.send_event("order.paid", {"order": 7}, id="7")`. `more` are the
        other fields of `send_events`.
        """
        return (self.send_events(type=type, data=data, **more)).events[0]

    def follow_logs(self, run_id: str, *, after: str | None = None) -> Generator[LogLine]:
        """Follow the log of a run until the run has ended and all lines were delivered.

        `after` is the `cursor` of `get_logs`. Reconnects when the connection breaks; every line is
        delivered exactly once.
        """
        return self._follow(client_base.build_logs_request(run_id), LogStream(after))

    def follow_feed(self, *, after: str | None = None) -> Generator[FeedEvent]:
        """Follow the feed of all events without end. `after` is the id of the last event seen.

        Reconnects when the connection breaks; an event may then be delivered twice.
        """
        return self._follow(client_base.build_feed_request(), client_base.create_feed_stream(after))

    def _send(self, request: ApiRequest[T]) -> T:
        request = client_base.add_idempotency_key(request)
        content = request.content()
        arguments: dict[str, Any] = {
            "method": request.method,
            "url": self._place.prefix + request.target,
            "body": content,
            "headers": build_headers(request, self._place, content),
        }
        patience = self._patience()
        while True:
            try:
                answer = self._ask(read=self._timeout, **arguments)
                return read_response(request, answer.data, self._place)
            except (ApiError, Unreachable) as error:
                if isinstance(error, ApiError) and patience.is_already_deleted(request, error):
                    return cast("T", None)
                pause = patience.next_pause(request, error)
                if pause is None:
                    raise
                self._never.wait(pause)

    def _follow(self, request: ApiRequest[Any], stream: FollowedStream[T]) -> Generator[T]:
        target = self._place.prefix + request.target
        headers = build_headers(request, self._place, None) | {
            "Accept": client_base.EVENT_STREAM_MEDIA_TYPE
        }
        patience = self._patience()
        while True:
            try:
                for chunk in self._chunks(target, headers | stream.start_connection()):
                    patience.reset()
                    yield from stream.feed_bytes(chunk)
                    if stream.is_over:
                        return
            except (ApiError, Unreachable) as error:
                pause = patience.next_pause(request, error)
                if pause is None:
                    raise
                self._never.wait(pause)
            yield from stream.on_disconnect()

    def _chunks(self, target: str, headers: dict[str, str]) -> Iterator[bytes]:
        """Yield the bytes of a stream. Always ends with an error: only an event ends a stream."""
        silence = max(self._timeout, client_base.STREAM_SILENCE_MAX_S)
        answer = self._ask(
            method="GET", url=target, headers=headers, read=silence, preload_content=False
        )
        try:
            yield from answer.stream(STREAM_CHUNK_BYTES)
        except HTTPError as error:
            raise client_base.build_unreachable(self._place, error, was_sent=True) from None
        finally:
            # Do not drain the stream: its connection is not reused.
            answer.close()
        raise client_base.build_stream_ended(self._place)

    def _ask(self, *, headers: dict[str, str], read: float, **given: Any) -> BaseHTTPResponse:
        """Make one try."""
        if self._is_closed:
            raise RuntimeError("this client is closed")
        timeout = urllib3.Timeout(connect=self._timeout, read=read)
        try:
            answer = self._pool.urlopen(
                headers=self._identity | headers, timeout=timeout, redirect=False, **given
            )
            if answer.status in SUCCESS_STATUSES:
                return answer
            body = answer.data
        except HTTPError as error:
            was_sent = not isinstance(error, NOT_SENT_ERRORS)
            raise client_base.build_unreachable(self._place, error, was_sent=was_sent) from None
        raise build_api_error(answer.status, answer.headers, body, self._place)

"""What the two clients have in common besides their sockets. Room: sdk/client."""

from dataclasses import replace
from importlib.metadata import version
from types import NoneType
from typing import Any, Final, TypeVar
from uuid import uuid4

from rota.core.errors import InvalidInput
from rota.sdk.client.errors import Unreachable
from rota.sdk.client.finding import Place
from rota.sdk.client.reasons import reason_of
from rota.sdk.client.requests import Request, checked_key
from rota.sdk.client.streams import FeedStream

T = TypeVar("T")
TIMEOUT: Final = 30.0
# A stream says something every 15 seconds.
SILENCE: Final = 60.0
CONNECTIONS: Final = 10
STREAM: Final = "text/event-stream"


def check(timeout: float, retries: int) -> None:
    # Not `timeout <= 0`: NaN is no time either.
    if not timeout > 0:
        raise InvalidInput("timeout", timeout, "more than 0 seconds are needed")
    if retries < 0:
        raise InvalidInput("retries", retries, "0 or more are needed")


def agent() -> str:
    """How the client is called in other people's logs."""
    return f"rota/{version('rota')}"


def with_key(request: Request[T]) -> Request[T]:
    """The same request, with a key by which the API knows it again."""
    if request.idempotency_key is not None:
        checked_key(request.idempotency_key)
        return replace(request, repeat="by_key")
    if request.repeat != "by_key":
        return request
    return replace(request, idempotency_key=uuid4().hex)


def stream_request(name: str, path: str, *places: object, **query: Any) -> Request[None]:
    return Request(name=name, method="GET", path=path, answer=NoneType, places=places, query=query)


def feed_stream(after: str | None) -> FeedStream:
    from rota.runtime.clock import SystemClock  # noqa: PLC0415 - it brings asyncio with it

    return FeedStream(after, SystemClock())


def unreachable(place: Place, error: BaseException, *, was_sent: bool) -> Unreachable:
    return Unreachable(url=place.url, reason=reason_of(error), may_have_happened=was_sent)


def ended(place: Place) -> Unreachable:
    """A stream that ended before it was over."""
    return Unreachable(url=place.url, reason="the stream ended", may_have_happened=True)

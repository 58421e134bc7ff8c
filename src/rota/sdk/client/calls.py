"""Holds the code that both API clients share: arguments, headers and special requests."""

import os
from dataclasses import replace
from importlib.metadata import version
from random import Random
from types import NoneType
from typing import Final, TypeVar
from uuid import uuid4

from rota.core.errors import InvalidInput
from rota.core.origins import ORIGIN_HEADER
from rota.sdk.client.errors import Unreachable
from rota.sdk.client.finding import Place, find
from rota.sdk.client.patience import RETRIES, Patience
from rota.sdk.client.reasons import reason_of
from rota.sdk.client.requests import Request, checked_key
from rota.sdk.client.streams import FeedStream

T = TypeVar("T")
TIMEOUT: Final = 30.0
# Seconds without data after which a stream counts as broken; the server sends every 15 seconds.
SILENCE: Final = 60.0
CONNECTIONS: Final = 10
STREAM: Final = "text/event-stream"


class ClientBase:
    """Checks and holds the arguments of a client.

    `timeout` is in seconds, for one try. `retries` is the number of further tries.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        # Not `timeout <= 0`, which NaN would pass.
        if not timeout > 0:
            raise InvalidInput("timeout", timeout, "must be more than 0 seconds")
        if retries < 0:
            raise InvalidInput("retries", retries, "must be 0 or more")
        self._place = find(url, key, environment=os.environ)
        self._retries = retries
        self._timeout = timeout
        self._chance = Random()
        self._is_closed = False

    @property
    def url(self) -> str:
        return self._place.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _patience(self) -> Patience:
        return Patience(retries=self._retries, chance=self._chance)


def identify(origin: str | None) -> dict[str, str]:
    """Build the headers that identify the client: its name, release and origin."""
    headers = {"User-Agent": f"rota/{version('rota')}"}
    return headers if origin is None else {**headers, ORIGIN_HEADER: origin}


def with_key(request: Request[T]) -> Request[T]:
    """Add an idempotency key, by which the API recognises a repeated request."""
    if request.idempotency_key is not None:
        checked_key(request.idempotency_key)
        return replace(request, repeat="by_key")
    if request.repeat != "by_key":
        return request
    return replace(request, idempotency_key=uuid4().hex)


def logs_request(run_id: str) -> Request[None]:
    return Request(
        method="GET",
        path="/v1/runs/{}/logs",
        answer=NoneType,
        places=(run_id,),
        query={"follow": True},
    )


def feed_request() -> Request[None]:
    return Request(method="GET", path="/v1/feed", answer=NoneType)


def feed_stream(after: str | None) -> FeedStream:
    from rota.runtime.clock import SystemClock  # noqa: PLC0415 - it imports asyncio

    return FeedStream(after, SystemClock())


def unreachable(place: Place, error: BaseException, *, was_sent: bool) -> Unreachable:
    return Unreachable(
        url=place.url,
        reason=reason_of(error),
        may_have_happened=was_sent,
        address=place.address,
    )


def ended(place: Place) -> Unreachable:
    """Build the error for a stream that the server closed too early."""
    return Unreachable(
        url=place.url,
        reason="the stream ended",
        may_have_happened=True,
        address=place.address,
    )

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
from rota.sdk.client.connection_errors import describe_cause
from rota.sdk.client.discovery import ApiEndpoint, find_endpoint
from rota.sdk.client.errors import Unreachable
from rota.sdk.client.requests import ApiRequest, check_idempotency_key
from rota.sdk.client.retry_policy import DEFAULT_RETRIES, CallRetries
from rota.sdk.client.streams import FeedStream

T = TypeVar("T")
DEFAULT_TIMEOUT_S: Final = 30.0
# Seconds without data after which a stream counts as broken; the server sends every 15 seconds.
STREAM_SILENCE_MAX_S: Final = 60.0
POOLED_CONNECTIONS_MAX: Final = 10
EVENT_STREAM_MEDIA_TYPE: Final = "text/event-stream"


class ClientBase:
    """Checks and holds the arguments of a client.

    `timeout` is in seconds, for one try. `retries` is the number of further tries.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        # Not `timeout <= 0`, which NaN would pass.
        if not timeout > 0:
            raise InvalidInput("timeout", timeout, "must be more than 0 seconds")
        if retries < 0:
            raise InvalidInput("retries", retries, "must be 0 or more")
        self._place = find_endpoint(url, key, environment=os.environ)
        self._retries = retries
        self._timeout = timeout
        self._chance = Random()
        self._is_closed = False

    @property
    def url(self) -> str:
        return self._place.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _patience(self) -> CallRetries:
        return CallRetries(retries=self._retries, rng=self._chance)


def build_client_headers(origin: str | None) -> dict[str, str]:
    """Build the headers that identify the client: its name, release and origin."""
    headers = {"User-Agent": f"rota/{version('rota')}"}
    return headers if origin is None else {**headers, ORIGIN_HEADER: origin}


def add_idempotency_key(request: ApiRequest[T]) -> ApiRequest[T]:
    """Add an idempotency key, by which the API recognises a repeated request."""
    if request.idempotency_key is not None:
        check_idempotency_key(request.idempotency_key)
        return replace(request, repeat="by_key")
    if request.repeat != "by_key":
        return request
    return replace(request, idempotency_key=uuid4().hex)


def build_logs_request(run_id: str) -> ApiRequest[None]:
    return ApiRequest(
        method="GET",
        path="/v1/runs/{}/logs",
        response_type=NoneType,
        path_arguments=(run_id,),
        query={"follow": True},
    )


def build_feed_request() -> ApiRequest[None]:
    return ApiRequest(method="GET", path="/v1/feed", response_type=NoneType)


def create_feed_stream(after: str | None) -> FeedStream:
    from rota.runtime.clock import SystemClock  # noqa: PLC0415 - it imports asyncio

    return FeedStream(after, SystemClock())


def build_unreachable(
    endpoint: ApiEndpoint, error: BaseException, *, was_sent: bool
) -> Unreachable:
    return Unreachable(
        url=endpoint.url,
        reason=describe_cause(error),
        may_have_happened=was_sent,
        address=endpoint.address,
    )


def build_stream_ended(endpoint: ApiEndpoint) -> Unreachable:
    """Build the error for a stream that the server closed too early."""
    return Unreachable(
        url=endpoint.url,
        reason="the stream ended",
        may_have_happened=True,
        address=endpoint.address,
    )

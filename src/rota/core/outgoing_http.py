"""Defines what sends one HTTP request on behalf of a tenant, such as the delivery of a webhook.

executors/http/poster.py implements it with the guard of HTTP jobs, which refuses private targets.
The engine depends only on this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol


class PostError(StrEnum):
    """Why a request got no response."""

    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    NETWORK = "network"
    REFUSED = "target refused"
    INVALID = "invalid url"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingPost:
    """A request. `tenant` is the name of the tenant: the operator's exceptions for private targets
    apply to some tenants only. Headers hold signatures, so they are not in the repr.
    """

    tenant: str
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    timeout: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResponse:
    """What came back. `text` is the beginning of the body; `error` is set if no response came."""

    status: int | None = None
    text: str = ""
    retry_after: timedelta | None = None
    error: PostError | None = None
    message: str = ""
    duration: timedelta = timedelta(0)

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class HttpPoster(Protocol):
    """Sends requests. Never follows redirects and never raises for a target that misbehaves."""

    async def post(self, request: OutgoingPost, /) -> PostResponse: ...


class TargetCheck(Protocol):
    """Checks a URL before it is stored."""

    async def __call__(self, url: str, /, *, tenant: str, allow_http: bool) -> str | None:
        """Raise `InvalidInput` for a URL that will never be allowed. Return a warning, or None."""

"""Sends requests on behalf of tenants with the guard of HTTP jobs, and checks URLs before that.

Used for webhooks (engine/webhooks). Unlike an HTTP job, a request follows no redirect, keeps only
the beginning of the response and is never retried here.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib import metadata
from ipaddress import ip_address
from typing import Final

from aiohttp import ClientError, ClientSession
from aiohttp import ClientTimeout as Limits
from yarl import URL

from rota.core.errors import InvalidInput
from rota.core.outgoing_http import OutgoingPost, PostError, PostResponse
from rota.core.tenancy import DEFAULT_TENANTS, is_open_to
from rota.executors.http.executor import (
    CONNECT_TIMEOUT_S,
    TCP_CONNECT_TIMEOUT_S,
    classify_error,
    read_response,
)
from rota.executors.http.guard import TargetGuard
from rota.executors.http.guarded_client import Lookup, SystemLookup, TargetRefused, open_session
from rota.executors.http.response import clip_text
from rota.executors.http.target import HttpTarget, read_target

# User name and password in a URL.
USER_INFO: Final = re.compile(r"(?<=://)[^/?#@]*@")
RESPONSE_BYTES_MAX: Final = 4096
MESSAGE_BYTES_MAX: Final = 500
# How long a lookup may take before a URL is stored.
LOOKUP_TIMEOUT_S: Final = 2.0
# Lookups at a time before URLs are stored: requests wait for them. Further URLs are stored without
# a lookup.
CHECKS_MAX: Final = 4
ERRORS: Final = {
    "timeout": PostError.TIMEOUT,
    "name not resolved": PostError.DNS,
    "tls": PostError.TLS,
}


class GuardedPoster:
    """Sends requests to the targets that `guard` allows.

    The operator's exceptions in `guard` apply to `guard_tenants` only. `lookup` resolves names.
    Default: the resolver of this machine.
    """

    def __init__(
        self,
        *,
        guard: TargetGuard,
        monotonic: Callable[[], float],
        guard_tenants: Sequence[str] = DEFAULT_TENANTS,
        lookup: Lookup | None = None,
    ) -> None:
        self._guard = guard
        self._closed_guard = guard.without_exceptions()
        self._guard_tenants = guard_tenants
        self._monotonic = monotonic
        self._system_lookup: SystemLookup | None = None
        if lookup is None:
            lookup = self._system_lookup = SystemLookup()
        self._lookup = lookup
        self._sessions: dict[bool, ClientSession] = {}
        self._checks = 0
        self._name = f"rota/{metadata.version('rota')}"

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        if self._system_lookup is not None:
            self._system_lookup.close()

    async def post(self, request: OutgoingPost, /) -> PostResponse:
        began = self._monotonic()
        try:
            async with asyncio.timeout(request.timeout.total_seconds()):
                response = await self._send(request)
        except TargetRefused as refused:
            response = build_error(PostError.REFUSED, str(refused))
        except InvalidInput as invalid:
            response = build_error(PostError.INVALID, str(invalid))
        except (ClientError, OSError) as error:
            kind = ERRORS.get(classify_error(error), PostError.NETWORK)
            reason = str(error) or ("no response in time" if kind is PostError.TIMEOUT else "")
            response = build_error(kind, reason or repr(error))
        duration = timedelta(seconds=self._monotonic() - began)
        return PostResponse(
            status=response.status,
            text=response.text,
            retry_after=response.retry_after,
            error=response.error,
            message=response.message,
            duration=duration,
        )

    async def _send(self, request: OutgoingPost) -> PostResponse:
        target = read_target(request.url)
        is_trusted = is_open_to(self._guard_tenants, request.tenant)
        guard = self._guard if is_trusted else self._closed_guard
        if refusal := guard.check_target(target):
            raise TargetRefused(refusal)
        async with self._get_session(guard, is_trusted=is_trusted).post(
            URL(target.url, encoded=True),
            data=request.body,
            headers={**request.headers, "User-Agent": self._name, "Accept-Encoding": "gzip"},
            allow_redirects=False,
            timeout=Limits(
                total=None, connect=CONNECT_TIMEOUT_S, sock_connect=TCP_CONNECT_TIMEOUT_S
            ),
        ) as response:
            answer = await read_response(response, RESPONSE_BYTES_MAX)
        return PostResponse(
            status=answer.status,
            text=clip_text(answer.decode_text(), RESPONSE_BYTES_MAX),
            retry_after=answer.parse_retry_after(),
        )

    def _get_session(self, guard: TargetGuard, *, is_trusted: bool) -> ClientSession:
        """Return the client of this event loop, opened when it is first needed."""
        if is_trusted not in self._sessions:
            self._sessions[is_trusted] = open_session(guard, self._lookup)
        return self._sessions[is_trusted]

    async def check_url(self, url: str, /, *, tenant: str, allow_http: bool) -> str | None:
        """Raise `InvalidInput` for a URL that requests may not reach; return a warning or None.

        Resolves the name once. Every request checks its addresses again.
        """
        # The text of an error must not repeat a password.
        target = read_target(USER_INFO.sub("***@", url))
        if target.scheme == "http" and not allow_http:
            wanted = "expected https://, or allow_http if the network to the receiver is private"
            raise InvalidInput("url", target.display_url, wanted)
        guard = self._guard if is_open_to(self._guard_tenants, tenant) else self._closed_guard
        if refusal := guard.check_target(target):
            raise InvalidInput("url", target.display_url, str(refusal))
        return None if target.address is not None else await self._check_name(target, guard)

    async def _check_name(self, target: HttpTarget, guard: TargetGuard) -> str | None:
        if self._checks >= CHECKS_MAX:
            return None
        self._checks += 1
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                addresses = await self._lookup(target.host)
        except OSError:
            return f"url: {target.host} cannot be resolved at present; deliveries are retried"
        finally:
            self._checks -= 1
        for address in addresses:
            if refusal := guard.check_address(ip_address(address), target.host):
                raise InvalidInput("url", target.display_url, str(refusal))
        return None


def build_error(error: PostError, message: str) -> PostResponse:
    return PostResponse(error=error, message=clip_text(message, MESSAGE_BYTES_MAX))

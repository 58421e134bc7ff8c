"""Runs one attempt of an HTTP job.

Sends headers that let a receiver apply an effect once: one idempotency key for all attempts of a
run, and an attempt number that only grows. Follows redirects only if the payload allows them, and
checks each redirect target like the first target. `answer.py` decides what a response means.
"""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import metadata
from typing import Any

from aiohttp import ClientConnectorDNSError, ClientError, ClientResponse, ClientSession
from aiohttp import ClientTimeout as Limits
from yarl import URL

from rota.contract.payloads.http import HttpPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Stream
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Failed, Failure, Outcome
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, is_open_to
from rota.core.time import moments
from rota.executors.http.guard import TargetGuard
from rota.executors.http.guarded_client import Lookup, SystemLookup, TargetRefused, open_session
from rota.executors.http.response import HttpResponse, ResponseBody, clip_text
from rota.executors.http.spec import HttpRequest, read_request
from rota.executors.http.target import HttpTarget, resolve_redirect

KIND = "http"
TCP_CONNECT_TIMEOUT_S = 5.0
# Includes the DNS lookup and the TLS handshake, unlike CONNECTING.
CONNECT_TIMEOUT_S = 15.0
FIRST_BYTE_TIMEOUT_S = 30.0
FIRST_BYTE_TIMEOUT_MAX_S = 300.0
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
# Payload headers that are sent to another origin after a redirect: none can hold a credential.
CROSS_ORIGIN_HEADERS = frozenset({"accept", "accept-language", "content-type"})
FAILURE_MESSAGE_MAX_BYTES = 2048
TRACE_HEADERS = frozenset({"traceparent", "tracestate"})


class RedirectRefused(Exception):
    """Raised for a redirect that is not followed; carries the failure to report."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.type = type_


class HttpExecutor:
    """Sends HTTP requests to the targets that `guard` allows.

    The operator's exceptions in `guard` apply to `guard_tenants` only; other tenants reach public
    targets only. `lookup` resolves names. Default: the resolver of this machine.
    """

    only_calls = True

    def __init__(
        self,
        *,
        guard: TargetGuard | None = None,
        guard_tenants: Sequence[str] = DEFAULT_TENANTS,
        lookup: Lookup | None = None,
    ) -> None:
        self._guard = guard or TargetGuard()
        self._guard_tenants = guard_tenants
        self._closed_guard = self._guard.without_exceptions()
        self._given_lookup = lookup
        self._system_lookup: SystemLookup | None = None
        self._session: ClientSession | None = None
        self._closed_session: ClientSession | None = None
        self._name = f"rota/{metadata.version('rota')}"

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,)

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(HttpPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Sends an HTTP request.")

    def trusts(self, tenant: str) -> bool:
        """Return whether the operator's exceptions apply to this tenant."""
        return is_open_to(self._guard_tenants, tenant)

    def read(self, kind: str, payload: Any) -> HttpRequest:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> HttpRequest:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        return replace(read_request(payload), is_trusted=self.trusts(tenant))

    def target_of(self, spec: HttpRequest) -> str:
        return spec.target.host_and_port

    async def open(self) -> None:
        lookup = self._given_lookup
        if lookup is None:
            lookup = self._system_lookup = SystemLookup()
        self._session = open_session(self._guard, lookup)
        self._closed_session = open_session(self._closed_guard, lookup)

    async def close(self) -> None:
        for session in (self._session, self._closed_session):
            if session is not None:
                await session.close()
        if self._system_lookup is not None:
            self._system_lookup.close()

    async def run(self, spec: HttpRequest, context: AttemptContext) -> Outcome:
        hops = [spec.target]
        try:
            async with asyncio.timeout(to_seconds(spec.timeout)):
                return await self._follow(spec, hops, context)
        except TargetRefused as refused:
            # The same text whether or not the operator allowed the target for other tenants.
            more = "" if spec.is_trusted else ", and for this tenant with http_allow_tenants"
            return build_failed("target refused", f"{refused}{more}", final=True)
        except RedirectRefused as abandoned:
            return build_failed(abandoned.type, str(abandoned), final=True)
        except InvalidInput as invalid:  # only the location of a redirect is parsed here
            return build_failed("bad redirect", str(invalid), final=True)
        except (ClientError, OSError) as error:
            # After a redirect, the first target has answered.
            reached = len(hops) > 1
            return build_failed(
                classify_error(error), describe_error(spec, error), final=False, reached=reached
            )

    async def _follow(
        self, spec: HttpRequest, hops: list[HttpTarget], context: AttemptContext
    ) -> Outcome:
        target, method, body = spec.target, spec.method, spec.body
        headers = dict(spec.headers)
        for hop in range(spec.redirects + 1):
            answer = await self._send(spec, target, method, body, self._add_own(headers, context))
            size = answer.body.size
            note = f"{method} {target.display_url} answered {answer.status}, {size} bytes\n"
            context.write(Stream.ROTA, note.encode())
            if (
                answer.status not in REDIRECT_STATUSES
                or answer.status in spec.ok
                or hop == spec.redirects
            ):
                break
            source, target = target, find_redirect_target(target, answer)
            hops.append(target)
            if target.origin != source.origin:
                headers = {n: v for n, v in headers.items() if n.lower() in CROSS_ORIGIN_HEADERS}
            if answer.status == 303 or (answer.status in {301, 302} and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
        outcome = answer.to_outcome(spec, target.display_url)
        if isinstance(outcome, Failed) and len(hops) > 1:
            return replace(outcome, reached=True)
        return outcome

    async def _send(
        self,
        spec: HttpRequest,
        target: HttpTarget,
        method: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> HttpResponse:
        guard = self._guard if spec.is_trusted else self._closed_guard
        session = self._session if spec.is_trusted else self._closed_session
        if refusal := guard.check_target(target):
            raise TargetRefused(refusal)
        if session is None:
            raise RuntimeError("call open() before the first run")
        async with session.request(
            method,
            URL(target.url, encoded=True),
            data=body,
            headers=headers,
            allow_redirects=False,
            timeout=build_client_timeout(spec),
        ) as response:
            return await read_response(response, spec.max_body)

    def _add_own(self, headers: Mapping[str, str], context: AttemptContext) -> dict[str, str]:
        """Add the headers that Rota sets to those of the payload."""
        if context.traceparent is not None:
            others = {n: v for n, v in headers.items() if n.lower() not in TRACE_HEADERS}
            headers = {**others, "Traceparent": context.traceparent}
        return {
            **headers,
            "Accept-Encoding": "gzip",
            "User-Agent": self._name,
            "Idempotency-Key": context.idempotency_key,
            "Rota-Run": str(context.run_id),
            "Rota-Attempt": str(context.attempt),
            "Rota-Fence": str(context.attempt),
            "Rota-Scheduled-At": moments.to_rfc3339(context.scheduled_at),
        }


def to_seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


def build_client_timeout(spec: HttpRequest) -> Limits:
    """Return the client's timeouts; a longer `timeout` also allows a later first byte."""
    first_byte = min(
        max(FIRST_BYTE_TIMEOUT_S, to_seconds(spec.timeout) or 0), FIRST_BYTE_TIMEOUT_MAX_S
    )
    return Limits(
        total=None,
        connect=CONNECT_TIMEOUT_S,
        sock_connect=TCP_CONNECT_TIMEOUT_S,
        sock_read=first_byte,
    )


async def read_response(response: ClientResponse, limit: int) -> HttpResponse:
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    body = ResponseBody(encoding=encoding)
    await body.read(response.content.iter_any(), limit)
    return HttpResponse(
        status=response.status,
        headers={name.lower(): value for name, value in response.headers.items()},
        charset=response.charset or "utf-8",
        body=body,
    )


def find_redirect_target(source: HttpTarget, answer: HttpResponse) -> HttpTarget:
    location = answer.headers.get("location")
    if location is None:
        raise RedirectRefused(
            f"http {answer.status}", f"{source.display_url} redirects without a Location"
        )
    target = resolve_redirect(source, location)
    if source.scheme == "https" and target.scheme == "http":
        raise RedirectRefused(
            "insecure redirect", f"{source.display_url} redirects from https to http"
        )
    return target


def classify_error(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ClientConnectorDNSError):
        return "name not resolved"
    if isinstance(error, ssl.SSLError) or "SSL" in type(error).__name__:
        return "tls"
    return "network"


def describe_error(spec: HttpRequest, error: BaseException) -> str:
    reason = str(error) or (
        "no response in time" if isinstance(error, TimeoutError) else repr(error)
    )
    return f"{spec.method} {spec.target.display_url}: {reason}"


def build_failed(type_: str, message: str, *, final: bool, reached: bool | None = None) -> Failed:
    failure = Failure(type=type_, message=clip_text(message, FAILURE_MESSAGE_MAX_BYTES))
    return Failed(failure=failure, final=final, reached=reached)

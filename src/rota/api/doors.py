"""What every request passes through, in this order. Room: api.

Who calls, whether they may, whether too often, what they send; then the operation, in one
transaction behind the wall of its tenant together with its idempotency row; then the answer. An
error at any point leaves through the same door as a problem.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rota.api import identifiers, problems
from rota.api.addresses import group_address
from rota.api.admission import Admission, BeforeLookup, Rate, Rates, VerifiedSenders
from rota.api.call import Call, Reply, Service
from rota.api.gathering import GoAlone
from rota.api.operations import Operation
from rota.api.problems import Refusal
from rota.api.reading import decode_body, decode_query, read_body
from rota.core.access import Principal, demand
from rota.core.errors import RotaError, StoreUnavailable, TooMany
from rota.core.origins import ORIGIN_HEADER, ChangeOrigin, claimed_origin
from rota.store import idempotency
from rota.store.idempotency import Asked
from rota.store.transaction import transaction
from rota.store.walls import behind_wall

FAILURES: Final = "failed authentications of this address"
KEY_HEADER: Final = "idempotency-key"
KEY: Final = re.compile(r"[!-~]{1,255}")
STORED_STATUSES: Final = range(200, 300)
# 401 and 429: what cannot be known of a caller while the database is away.
NOT_IN_OUTAGE: Final = frozenset({401, 429})

Report = Callable[[str, BaseException], object]
Endpoint = Callable[[Request], Awaitable[Response]]
# Tells who sent a request; calls its second argument before it looks a credential up that was not
# verified lately.
Who = Callable[[Request, BeforeLookup], Awaitable[Principal]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How often a key, a tenant, an address without a key, and a hook may call (reliability 5.8).
    An address may fail to authenticate as often as it may call without a key.
    """

    key: Rate
    tenant: Rate
    address: Rate
    hook: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """`report` is told of errors that nobody foresaw, with the request id."""

    service: Service
    admission: Admission
    rates: Rates
    senders: VerifiedSenders
    limits: Limits
    report: Report

    def endpoint(self, operation: Operation, who: Who | None = None) -> Endpoint:
        """The way in to an operation; `who` tells who calls if it is not said by a key."""
        asked = self.by_key if who is None else who

        async def answer(request: Request) -> Response:
            if operation.is_hook:
                return await self._answer_hook(operation, request, asked)
            return await self._answer(operation, request, asked)

        return self.told(answer)

    def told(self, endpoint: Endpoint) -> Endpoint:
        """The same, with its errors told as problems."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Refusal as refusal:
                return refused(self._refusal_in_outage(refusal), request)
            except RotaError as error:
                told = self._refusal_in_outage(problems.refusal_of(error))
                if told.code == "internal":
                    self.report(request.state.request_id, error)
                return refused(told, request)
            except Exception as error:  # noqa: BLE001 — the last door: whatever it is, it is told
                self.report(request.state.request_id, error)
                detail = "an unexpected error; the log has it under the request id"
                return refused(Refusal("internal", detail), request)

        return answer

    def _refusal_in_outage(self, refusal: Refusal) -> Refusal:
        """Replace 401 and 429 by 503 while the database is away: the key could not be looked up,
        and the caller should hear what it waits for.
        """
        if self.service.pool.is_away and problems.KINDS[refusal.code].status in NOT_IN_OUTAGE:
            return problems.refusal_of(StoreUnavailable(reason=refusal.detail))
        return refusal

    async def _answer_hook(self, operation: Operation, request: Request, who: Who) -> Response:
        """Answer a signed request. What is not signed rightly counts as a failure of its address,
        taken before the hook is looked up; a sender that signed rightly lately has failures of its
        own, so that others at its address cannot lock it out.
        """
        address = client_group(request)
        sender = f"{request.path_params['hook_id']} {address}"
        bucket = f"failures {sender if self.senders.includes(sender) else address}"
        self.rates.take(bucket, self.limits.address, what=FAILURES)
        request.state.is_verified = False
        try:
            return await self._answer(operation, request, who)
        finally:
            if request.state.is_verified:
                self.senders.add(sender)
            if request.state.is_verified or self.service.pool.is_away:
                self.rates.give_back(bucket, self.limits.address)

    def _verify(self, request: Request, hook_id: UUID) -> None:
        request.state.is_verified = True
        self.rates.take(f"hook {hook_id}", self.limits.hook, what="requests of this hook")

    async def _answer(self, operation: Operation, request: Request, who: Who) -> Response:
        call = Call(
            operation=operation,
            service=self.service,
            request_id=request.state.request_id,
            address=request.client.host if request.client else "",
            url=request.scope["path"],
            headers=request.headers,
            origin=(
                claimed_origin(request.headers.get(ORIGIN_HEADER))
                if who == self.by_key
                else ChangeOrigin.DASHBOARD
            ),
            params=request.path_params,
        )
        if operation.is_hook:
            call.on_verified = partial(self._verify, request)
        if self.service.traces is not None:
            call.follow(request.state.span)
        call.enter(await self._admit(operation, request, who))
        identifiers.read_path(call.params)
        call.query = decode_query(request, operation.query)
        raw = b""
        if operation.has_body:
            raw = await read_body(request, largest=operation.largest_body)
            required = operation.body_required
            if operation.read is not None:
                call.body = operation.read(raw, request)
            else:
                call.body = decode_body(raw, request, operation.body, required=required)
        if operation.method == "POST" and operation.scope != "none":
            call.asked = asked_with(call, request, raw)
        response = await self._carried_out(call)
        for channel in call.hints:
            self.service.hint(channel)
        return response

    async def _carried_out(self, call: Call) -> Response:
        operation = call.operation
        if operation.gathered is not None:
            try:
                return response_of(await operation.gathered(call), operation)
            except GoAlone:
                pass
        async with self._inside(call):
            return await self._carry_out(call)

    async def _admit(self, operation: Operation, request: Request, who: Who) -> Principal | None:
        if operation.permission is None:
            if not operation.is_probe and not operation.is_hook:
                address = f"address {client_group(request)}"
                self.rates.take(address, self.limits.address, what="requests")
            return None
        principal = await self.known(request, who)
        demand(principal, operation.permission)
        if operation.scope != "none":
            self.service.pool.refuse_in_outage()
        self.rates.take(f"key {principal.key_id}", self.limits.key, what="requests of this key")
        tenant = f"tenant {principal.tenant_id}"
        self.rates.take(tenant, self.limits.tenant, what="requests of this tenant")
        return principal

    async def known(self, request: Request, who: Who) -> Principal:
        """Return who calls. Each failure counts against the caller's address, and is taken before
        the look-up, so that guessing costs the database no more than the rate; it is given back if
        the credential is right, or cannot be looked up because the database is away.
        """
        bucket = f"failures {client_group(request)}"
        is_taken = False

        def take() -> None:
            nonlocal is_taken
            self.rates.take(bucket, self.limits.address, what=FAILURES)
            is_taken = True

        try:
            principal = await who(request, take)
        except StoreUnavailable:
            if is_taken:
                self.rates.give_back(bucket, self.limits.address)
            raise
        except TooMany:
            raise
        except RotaError:
            if not is_taken and not self.service.pool.is_away:
                take()
            raise
        if is_taken:
            self.rates.give_back(bucket, self.limits.address)
        return principal

    async def by_key(self, request: Request, before_lookup: BeforeLookup) -> Principal:
        return await self.admission.principal(request.headers.get("authorization"), before_lookup)

    @asynccontextmanager
    async def _inside(self, call: Call) -> AsyncIterator[None]:
        match call.scope:
            case "tenant":
                async with (
                    self.service.pool.acquire() as conn,
                    behind_wall(conn, call.tenant_id) as now,
                ):
                    call.at(conn, now)
                    yield
            case "platform":
                async with self.service.pool.acquire() as conn, transaction(conn):
                    call.at(conn)
                    yield
            case "none":
                yield

    async def _carry_out(self, call: Call) -> Response:
        asked, operation = call.asked, call.operation
        if asked is None:
            return response_of(await operation.handle(call), operation)
        before = await idempotency.begin(call.conn, asked)
        if before is not None:
            if operation.reveals_secret:
                raise shown_before(before.body)
            again = {"Idempotency-Replayed": "true"}
            media = operation.media
            return Response(before.body, before.status, headers=again, media_type=media)
        reply = await operation.handle(call)
        response = response_of(reply, operation)
        body = bytes(response.body)
        if operation.reveals_secret:
            body = msgspec.json.encode(SecretReceipt(made_id=reply.made_id))
        await idempotency.finish(call.conn, asked, status=response.status_code, body=body)
        return response


def client_group(request: Request) -> str:
    """Return what the client's address is counted by."""
    return group_address(request.client.host) if request.client else ""


class SecretReceipt(msgspec.Struct, frozen=True):
    """What is stored in place of an answer that reveals a secret."""

    made_id: str | None = None


def shown_before(stored: bytes) -> Refusal:
    """Refuse to repeat a request whose answer revealed a secret: that answer was not stored."""
    made_id = None
    with suppress(msgspec.DecodeError):
        made_id = msgspec.json.decode(stored, type=SecretReceipt).made_id
    thing = "the first request with this idempotency key succeeded"
    if made_id is not None:
        thing = f"the first request with this idempotency key created or rotated {made_id}"
    todo = "rotate it, or revoke it and create another with a new idempotency key"
    return Refusal(
        "secret_shown_once", f"{thing}; its secret was shown once and is not stored: {todo}"
    )


def asked_with(call: Call, request: Request, raw: bytes) -> Asked | None:
    """The idempotency key that a request came with."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return None
    if not KEY.fullmatch(key):
        wanted = "an Idempotency-Key has 1 to 255 printable ASCII characters and no space"
        raise Refusal("malformed_request", wanted)
    # Whose it is, what is asked for, and on which thing: the path has the ids.
    scope = f"{call.principal.key_id} {call.operation.method} {call.url}"
    fingerprint = hashlib.sha256(b"%s\n%s" % (str(request.url.query).encode(), raw)).digest()
    return Asked(tenant_id=call.tenant_id, scope=scope, key=key, fingerprint=fingerprint)


def response_of(reply: Reply, operation: Operation) -> Response:
    if reply.response is not None:
        return reply.response
    status = operation.status if reply.status is None else reply.status
    headers = dict(reply.headers)
    if reply.body is None:
        return Response(status_code=status, headers=headers)
    return Response(reply.encoded(), status, headers=headers, media_type=operation.media)


def refused(refusal: Refusal, request: Request) -> Response:
    """The problem as a response."""
    told = problems.problem(
        refusal, request_id=request.state.request_id, instance=quote(request.url.path)
    )
    headers = problems.headers_of(refusal)
    return Response(
        msgspec.json.encode(told), told.status, headers=headers, media_type=problems.MEDIA
    )

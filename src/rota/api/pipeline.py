"""Handles every request: handle → authenticate → authorize → decode → execute → respond.

The operation runs in one transaction in its tenant's row-level security scope, together with its
idempotency row. An error in any step becomes a problem response.

Reads and validates the body and the query of a request.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Final, get_args, get_origin
from urllib.parse import quote
from uuid import UUID

import msgspec
from msgspec import Meta, Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rota.api import identifiers, problems
from rota.api.addresses import group_address
from rota.api.admission import (
    BeforeLookup,
    CredentialVerifier,
    RateLimiter,
    RequestRate,
    VerifiedSenders,
)
from rota.api.call import ApiService, Call, Reply
from rota.api.commit_batching import NotBatchable
from rota.api.operations import Operation
from rota.api.problems import ProblemError, ProblemField, translate_error
from rota.api.schemas.field_types import ANY_CASE
from rota.contract.documents import explain_error
from rota.core.access import Principal, require_permission
from rota.core.errors import RateLimitExceeded, RotaError, StoreUnavailable
from rota.core.origins import ORIGIN_HEADER, ChangeOrigin, parse_origin
from rota.store import idempotency
from rota.store.idempotency import IdempotentRequest
from rota.store.row_level_security import tenant_scope
from rota.store.transaction import transaction

FAILED_AUTHENTICATIONS: Final = "failed authentications of this address"
IDEMPOTENCY_KEY_HEADER: Final = "idempotency-key"
IDEMPOTENCY_KEY: Final = re.compile(r"[!-~]{1,255}")
# 401 and 429 cannot be decided while the database is unreachable.
UNDECIDABLE_IN_OUTAGE: Final = frozenset({401, 429})

Report = Callable[[str, BaseException], object]
Endpoint = Callable[[Request], Awaitable[Response]]
# Authenticates a request; calls its second argument before it looks up a credential that was not
# verified recently.
Authenticator = Callable[[Request, BeforeLookup], Awaitable[Principal]]


@dataclass(frozen=True, slots=True)
class RequestRates:
    """Rates of a key, a tenant, an address without a key, and a hook (reliability 5.8). The rate of
    an address also limits its failed authentications.
    """

    key: RequestRate
    tenant: RequestRate
    address: RequestRate
    hook: RequestRate


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPipeline:
    """Handles requests: handle, authenticate, authorize, decode, execute, respond.

    `report` receives unexpected errors, with the request id.
    """

    service: ApiService
    admission: CredentialVerifier
    rates: RateLimiter
    senders: VerifiedSenders
    limits: RequestRates
    report: Report

    def build_endpoint(
        self, operation: Operation, authenticator: Authenticator | None = None
    ) -> Endpoint:
        """Build the endpoint of an operation. `who` authenticates the caller. Default: by key."""
        verify = self.authenticate_key if authenticator is None else authenticator

        async def answer(request: Request) -> Response:
            if operation.is_hook:
                return await self._handle_hook(operation, request, verify)
            return await self._handle(operation, request, verify)

        return self.with_duration(operation.name, self.with_problems(answer))

    def with_duration(self, name: str, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint so that the process's meter learns how long each response took."""
        meter, monotonic = self.service.meter, self.service.clock.monotonic
        if meter is None:
            return endpoint

        async def answer(request: Request) -> Response:
            started = monotonic()
            response = await endpoint(request)
            meter.observe_request(name, response.status_code, monotonic() - started)
            return response

        return answer

    def with_problems(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint so that it responds to errors with problems."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except ProblemError as refusal:
                return respond_problem(self._refusal_in_outage(refusal), request)
            except RotaError as error:
                rendered = self._refusal_in_outage(problems.translate_error(error))
                if rendered.code == "internal":
                    self.report(request.state.request_id, error)
                return respond_problem(rendered, request)
            except Exception as error:  # noqa: BLE001 — the last handler: every error is a problem
                self.report(request.state.request_id, error)
                detail = "unexpected error; search the server's log for the request id"
                return respond_problem(ProblemError("internal", detail), request)

        return answer

    def _refusal_in_outage(self, refusal: ProblemError) -> ProblemError:
        """Replace 401 and 429 by 503 while the database is unreachable: the key could not be looked
        up, and the caller should learn what it waits for.
        """
        if (
            self.service.pool.is_unreachable
            and problems.PROBLEM_KINDS[refusal.code].status in UNDECIDABLE_IN_OUTAGE
        ):
            return problems.translate_error(StoreUnavailable(reason=refusal.detail))
        return refusal

    async def _handle_hook(
        self, operation: Operation, request: Request, authenticator: Authenticator
    ) -> Response:
        """Handle a signed request. An invalid signature counts as a failure of the address, taken
        before the hook is looked up. A sender with a recent valid signature has its own count of
        failures, so that others at its address cannot lock it out.
        """
        address = client_group(request)
        # The first parameter identifies the receiver: the id of a hook or the token of a ping.
        sender = f"{next(iter(request.path_params.values()))} {address}"
        bucket = f"failures {sender if self.senders.includes(sender) else address}"
        self.rates.take(bucket, self.limits.address, what=FAILED_AUTHENTICATIONS)
        request.state.is_verified = False
        try:
            return await self._handle(operation, request, authenticator)
        finally:
            if request.state.is_verified:
                self.senders.add(sender)
            if request.state.is_verified or self.service.pool.is_unreachable:
                self.rates.give_back(bucket, self.limits.address)

    def _verify(self, request: Request, hook_id: UUID) -> None:
        request.state.is_verified = True
        self.rates.take(f"hook {hook_id}", self.limits.hook, what="requests of this hook")

    async def _handle(
        self, operation: Operation, request: Request, authenticator: Authenticator
    ) -> Response:
        call = self._open_call(operation, request, authenticator)
        needs_key = operation.permission is not None
        principal = await self.authenticate(request, authenticator) if needs_key else None
        self._authorize(operation, request, principal)
        call.set_principal(principal)
        await self._decode(call, request)
        response = await self._execute(call)
        for channel in call.hints:
            self.service.hint(channel)
        return response

    def _open_call(
        self, operation: Operation, request: Request, authenticator: Authenticator
    ) -> Call:
        call = Call(
            operation=operation,
            service=self.service,
            request_id=request.state.request_id,
            address=request.client.host if request.client else "",
            url=request.scope["path"],
            headers=request.headers,
            origin=(
                parse_origin(request.headers.get(ORIGIN_HEADER))
                if authenticator == self.authenticate_key
                else ChangeOrigin.DASHBOARD
            ),
            params=request.path_params,
        )
        if operation.is_hook:
            call.on_verified = partial(self._verify, request)
        if self.service.traces is not None:
            call.name_span(request.state.span)
        return call

    async def authenticate(self, request: Request, authenticator: Authenticator) -> Principal:
        """Authenticate the caller. Each failure counts against the caller's address. It is taken
        before the lookup, so that guessing costs the database no more than the rate, and returned
        if the credential is valid or cannot be looked up because the database is unreachable.
        """
        bucket = f"failures {client_group(request)}"
        is_taken = False

        def take() -> None:
            nonlocal is_taken
            self.rates.take(bucket, self.limits.address, what=FAILED_AUTHENTICATIONS)
            is_taken = True

        try:
            principal = await authenticator(request, take)
        except StoreUnavailable:
            if is_taken:
                self.rates.give_back(bucket, self.limits.address)
            raise
        except RateLimitExceeded:
            raise
        except RotaError:
            if not is_taken and not self.service.pool.is_unreachable:
                take()
            raise
        if is_taken:
            self.rates.give_back(bucket, self.limits.address)
        return principal

    async def authenticate_key(self, request: Request, before_lookup: BeforeLookup) -> Principal:
        return await self.admission.authenticate(
            request.headers.get("authorization"), before_lookup
        )

    def _authorize(
        self, operation: Operation, request: Request, principal: Principal | None
    ) -> None:
        """Check the caller's permission and rates. An operation without a permission has no
        principal; its rate counts by address.
        """
        if operation.permission is None or principal is None:
            if not operation.is_probe and not operation.is_hook:
                address = f"address {client_group(request)}"
                self.rates.take(address, self.limits.address, what="requests")
            return
        require_permission(principal, operation.permission)
        if operation.scope != "none":
            self.service.pool.refuse_in_outage()
        self.rates.take(f"key {principal.key_id}", self.limits.key, what="requests of this key")
        tenant = f"tenant {principal.tenant_id}"
        self.rates.take(tenant, self.limits.tenant, what="requests of this tenant")

    async def _decode(self, call: Call, request: Request) -> None:
        """Read the path, the query, the body and the idempotency key into the call."""
        operation = call.operation
        identifiers.check_path(call.params)
        call.query = decode_query(request, operation.query)
        raw = b""
        if operation.has_body:
            raw = await read_body(request, limit=operation.body_bytes_max)
            required = operation.body_required
            if operation.read is not None:
                call.body = operation.read(raw, request)
            else:
                call.body = decode_body(raw, request, operation.body, required=required)
        if operation.method == "POST" and operation.scope != "none":
            call.idempotency_key = read_idempotency_key(call, request, raw)

    async def _execute(self, call: Call) -> Response:
        """Execute the operation in a shared commit if possible, else in a transaction of its own.
        The response is encoded before the commit.
        """
        operation = call.operation
        if operation.handle_batched is not None:
            try:
                return respond(await operation.handle_batched(call), operation)
            except NotBatchable:
                pass
        async with self._enter_scope(call):
            return await self._execute_once(call)

    @asynccontextmanager
    async def _enter_scope(self, call: Call) -> AsyncIterator[None]:
        match call.scope:
            case "tenant":
                async with (
                    self.service.pool.acquire() as conn,
                    tenant_scope(conn, call.tenant_id) as now,
                ):
                    call.set_connection(conn, now)
                    yield
            case "platform":
                async with self.service.pool.acquire() as conn, transaction(conn):
                    call.set_connection(conn)
                    yield
            case "none":
                yield

    async def _execute_once(self, call: Call) -> Response:
        """Execute the operation, or return the stored response of its idempotency key."""
        asked, operation = call.idempotency_key, call.operation
        if asked is None:
            return respond(await operation.handle(call), operation)
        stored = await idempotency.begin_request(call.conn, asked)
        if stored is not None:
            if operation.reveals_secret:
                raise build_secret_refusal(stored.body)
            headers = {"Idempotency-Replayed": "true"}
            media = operation.media
            return Response(stored.body, stored.status, headers=headers, media_type=media)
        reply = await operation.handle(call)
        response = respond(reply, operation)
        body = bytes(response.body)
        if operation.reveals_secret:
            body = msgspec.json.encode(SecretReceipt(made_id=reply.created_id))
        await idempotency.finish_request(call.conn, asked, status=response.status_code, body=body)
        return response


def respond(reply: Reply, operation: Operation) -> Response:
    """Build the response of an operation from its reply."""
    if reply.response is not None:
        return reply.response
    status = operation.status if reply.status is None else reply.status
    headers = dict(reply.headers)
    if reply.body is None:
        return Response(status_code=status, headers=headers)
    return Response(reply.encode(), status, headers=headers, media_type=operation.media)


def respond_problem(refusal: ProblemError, request: Request) -> Response:
    """Build the response of a problem."""
    problem = problems.build_problem(
        refusal, request_id=request.state.request_id, instance=quote(request.url.path)
    )
    headers = problems.build_headers(refusal)
    return Response(
        msgspec.json.encode(problem),
        problem.status,
        headers=headers,
        media_type=problems.PROBLEM_MEDIA_TYPE,
    )


def client_group(request: Request) -> str:
    """Return the key for counting the client's address."""
    return group_address(request.client.host) if request.client else ""


class SecretReceipt(msgspec.Struct, frozen=True):
    """Stored in place of a response that reveals a secret."""

    made_id: str | None = None


def build_secret_refusal(stored: bytes) -> ProblemError:
    """Build the refusal to repeat a response that revealed a secret: it was not stored."""
    made_id = None
    with suppress(msgspec.DecodeError):
        made_id = msgspec.json.decode(stored, type=SecretReceipt).made_id
    cause = "the first request with this idempotency key succeeded"
    if made_id is not None:
        cause = f"the first request with this idempotency key created or rotated {made_id}"
    remedy = "rotate it, or revoke it and create another with a new idempotency key"
    return ProblemError(
        "secret_shown_once", f"{cause}; its secret was shown once and is not stored: {remedy}"
    )


def read_idempotency_key(call: Call, request: Request, raw: bytes) -> IdempotentRequest | None:
    """Read the idempotency key of a request."""
    key = request.headers.get(IDEMPOTENCY_KEY_HEADER)
    if key is None:
        return None
    if not IDEMPOTENCY_KEY.fullmatch(key):
        wanted = "Idempotency-Key must have 1 to 255 printable ASCII characters and no space"
        raise ProblemError("malformed_request", wanted)
    # The caller, the operation and its target: the path contains the ids.
    scope = f"{call.principal.key_id} {call.operation.method} {call.url}"
    fingerprint = hashlib.sha256(b"%s\n%s" % (str(request.url.query).encode(), raw)).digest()
    return IdempotentRequest(
        tenant_id=call.tenant_id, scope=scope, key=key, fingerprint=fingerprint
    )


async def read_body(request: Request, *, limit: int) -> bytes:
    """Read the raw body; refuse it as soon as it exceeds the limit. The connection guard ends a
    body that arrives too slowly.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise build_too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise build_too_large(limit)
            parts.append(part)
    except ClientDisconnect:
        raise ProblemError("malformed_request", "the body is incomplete") from None
    return b"".join(parts)


def decode_body(raw: bytes, request: Request, schema: Any, *, required: bool = True) -> Any:
    """Decode the body to the given schema."""
    if not raw:
        if required:
            raise ProblemError("malformed_request", "a JSON body is required")
        return None
    media = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise ProblemError(
            "unsupported_media_type", "send JSON, with content-type: application/json"
        )
    try:
        return _decode(build_decoder(schema), raw)
    except msgspec.ValidationError as error:
        raise explain_invalid(error, schema, _decode(build_decoder(Any), raw)) from None


def _decode(reader: "msgspec.json.Decoder[Any]", raw: bytes) -> Any:
    try:
        return reader.decode(raw)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError("malformed_request", f"the body is not JSON: {error}") from None
    except RecursionError:
        raise ProblemError("invalid_input", "the body is nested too deeply") from None


def decode_query(request: Request, schema: type[Struct] | None) -> Any:
    """Decode the query parameters to the given schema; a list parameter may be repeated."""
    if schema is None and not request.scope["query_string"]:
        return None
    params = request.query_params
    fields = {} if schema is None else {info.encode_name: info for info in list_fields(schema)}
    values: dict[str, Any] = {}
    for name in dict.fromkeys(params.keys()):
        texts = params.getlist(name)
        if name not in fields:
            raise build_unknown_parameter(name, list(fields))
        if any("\0" in text for text in texts):
            raise build_parameter_refusal(name, "contains a NUL character; remove it")
        if is_list(fields[name].type):
            values[name] = lower_values(name, fields[name].type, texts)
        elif len(texts) > 1:
            raise build_parameter_refusal(name, "was given more than once; send it once")
        else:
            values[name] = texts[0]
    return None if schema is None else convert_query(values, schema)


def convert_query(values: dict[str, Any], schema: type[Struct]) -> Struct:
    try:
        query = msgspec.convert(values, schema, strict=False)
    except msgspec.ValidationError as error:
        raise explain_invalid(error, schema, values) from None
    for info in list_fields(schema):
        # msgspec reads the text "null" as None where the type is an enum, a number or a boolean.
        if info.encode_name in values and getattr(query, info.name) is None:
            raise build_parameter_refusal(info.encode_name, "is null; omit it or give a value")
    return query


@cache
def build_decoder(schema: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(schema)


@cache
def list_fields(schema: type[Struct]) -> Sequence[msgspec.structs.FieldInfo]:
    return msgspec.structs.fields(schema)


def is_list(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return is_list(annotation.__origin__)
    return get_origin(annotation) in {list, tuple}


def lower_values(name: str, annotation: Any, values: list[str]) -> list[str]:
    """Lower the values of a list that ignores case; return others unchanged."""
    inner = get_args(annotation)[0] if get_args(annotation) else None
    metadata = getattr(inner, "__metadata__", ())
    if not any(isinstance(meta, Meta) and meta.extra == ANY_CASE for meta in metadata):
        return values
    words = list(dict.fromkeys(word.lower() for word in get_args(inner.__origin__)))  # type: ignore[union-attr] # Annotated has one
    for index, text in enumerate(values):
        if text.lower() not in words:
            detail = f"{text[:100]!r} is invalid: expected one of {', '.join(words)}"
            field_error = ProblemField(
                pointer=f"/{name}/{index}", code="invalid_input", detail=detail
            )
            raise ProblemError("invalid_input", f"{name}: {detail}", errors=[field_error])
    return [text.lower() for text in values]


def explain_invalid(error: msgspec.ValidationError, schema: Any, value: object) -> ProblemError:
    """Explain why a value does not match the schema: where, the value, what is allowed."""
    return translate_error(explain_error(error, schema, value))


def build_unknown_parameter(name: str, known: Sequence[str]) -> ProblemError:
    shown = ", ".join(known) or "none"
    return build_parameter_refusal(name[:100], f"is unknown; known parameters: {shown}")


def build_parameter_refusal(name: str, detail: str) -> ProblemError:
    field_error = ProblemField(pointer=f"/{name}", code="invalid_input", detail=detail)
    return ProblemError("invalid_input", f"the parameter {name} {detail}", errors=[field_error])


def build_too_large(limit: int) -> ProblemError:
    return ProblemError("too_large", f"the body may have at most {limit:,} bytes")

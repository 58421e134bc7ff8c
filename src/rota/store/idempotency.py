"""Stores idempotency keys and the responses to repeat.

The row of a key is written in the same transaction as the effect of its request, so that a response
is stored exactly if there was an effect. A failed request leaves no row and may be retried.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from rota.core.errors import Conflict, InvalidInput, KeyReused, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import statement

KEY_LIFETIME: Final = timedelta(hours=24)
KEY_MAX_CHARACTERS: Final = 255
BLANK_BATCH_MAX: Final = 500
# How long to wait for the same request on another connection, and when the client should retry.
IN_PROGRESS_WAIT: Final = "1s"
RETRY_AFTER_S: Final = 1.0
KEY_FIELD: Final = "idempotency key"
_NO_LOCK: Final = "55P03"


class PrunedIdempotencyKey(NamedTuple):
    tenant_id: int


class BegunKey(NamedTuple):
    patience: str


class EarlierRequest(NamedTuple):
    fingerprint: bytes
    status: int | None
    body: bytes | None


class FinishedKey(NamedTuple):
    status: int | None


class BegunRequest(NamedTuple):
    tenant_id: int
    scope: str
    key: str


class StoredResponse(NamedTuple):
    """The first response."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentRequest:
    """A request with a key. `scope` is the key's owner and the operation; `fingerprint` is the
    SHA-256 of everything else that identifies the request.
    """

    tenant_id: int
    scope: str
    key: str
    fingerprint: bytes

    def __post_init__(self) -> None:
        is_valid = (
            1 <= len(self.key) <= KEY_MAX_CHARACTERS
            and self.key.isascii()
            and self.key.isprintable()
        )
        if not is_valid:
            wanted = f"must be 1 to {KEY_MAX_CHARACTERS} printable ASCII characters"
            raise InvalidInput("Idempotency-Key", self.key, wanted)


class IdempotentResponse(NamedTuple):
    """The response to a request with a key."""

    request: IdempotentRequest
    status: int
    body: bytes


BLANK_SECRETS = statement("idempotency/blank_secrets", PrunedIdempotencyKey)
PRUNE = statement("idempotency/prune", PrunedIdempotencyKey)
BEGIN = statement("idempotency/begin", BegunKey)
BEGIN_MANY = statement("idempotency/begin_many", BegunRequest)
FINISH_MANY = statement("idempotency/finish_many", FinishedKey)
READ = statement("idempotency/read", EarlierRequest)
FINISH = statement("idempotency/finish", FinishedKey)


async def begin_request(
    conn: Connection, request: IdempotentRequest, *, keep: timedelta = KEY_LIFETIME
) -> StoredResponse | None:
    """Return None if the request must be executed in this transaction, or its first response.

    Raises `KeyReused` if the key was used for another request, and `Conflict` if the same request
    is being executed and does not end soon. After either, the transaction cannot be used any more.
    """
    try:
        fresh = await BEGIN.one(
            conn,
            tenant_id=request.tenant_id,
            scope=request.scope,
            key=request.key,
            fingerprint=request.fingerprint,
            keep=keep,
            patience=IN_PROGRESS_WAIT,
        )
    except StoreUnavailable as error:
        if not error.reason.startswith(_NO_LOCK):
            raise
        raise _in_progress() from None
    return await _read_response(conn, request) if fresh is None else None


async def finish_request(
    conn: Connection, request: IdempotentRequest, *, status: int, body: bytes
) -> None:
    """Store the response, in the transaction that began the request."""
    row = await FINISH.one(
        conn,
        tenant_id=request.tenant_id,
        scope=request.scope,
        key=request.key,
        fingerprint=request.fingerprint,
        status=status,
        body=body,
    )
    if row is None:
        raise Conflict(KEY_FIELD, "the request was not begun in this transaction")


async def begin_requests(
    conn: Connection, requests: Sequence[IdempotentRequest]
) -> set[IdempotentRequest]:
    """Return the requests to execute in this transaction: those with unused keys. `begin` decides
    about the others.
    """
    fresh = await BEGIN_MANY.all(
        conn,
        tenant_ids=[asked.tenant_id for asked in requests],
        scopes=[asked.scope for asked in requests],
        keys=[asked.key for asked in requests],
        fingerprints=[asked.fingerprint for asked in requests],
    )
    begun = set(fresh)
    return {
        request
        for request in requests
        if BegunRequest(request.tenant_id, request.scope, request.key) in begun
    }


async def finish_requests(conn: Connection, responses: Sequence[IdempotentResponse]) -> None:
    """Store the responses, in the transaction that began the requests."""
    rows = await FINISH_MANY.all(
        conn,
        tenant_ids=[answer.request.tenant_id for answer in responses],
        scopes=[answer.request.scope for answer in responses],
        keys=[answer.request.key for answer in responses],
        statuses=[answer.status for answer in responses],
        bodies=[answer.body for answer in responses],
    )
    if len(rows) != len(responses):
        raise Conflict(KEY_FIELD, "the request was not begun in this transaction")


async def prune_keys(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `most` keys older than `keep`; return how many."""
    return len(await PRUNE.all(conn, keep=keep, most=limit))


async def blank_secrets(conn: Connection, *, limit: int = BLANK_BATCH_MAX) -> int:
    """Blank responses with secrets that an older release stored; return how many."""
    total = 0
    while True:
        blanked = len(await BLANK_SECRETS.all(conn, most=limit))
        total += blanked
        if blanked < limit:
            return total


async def _read_response(conn: Connection, asked: IdempotentRequest) -> StoredResponse:
    before = await READ.one(conn, tenant_id=asked.tenant_id, scope=asked.scope, key=asked.key)
    if before is None:
        # Pruned between the two statements: the retry will find the key unused.
        raise _in_progress()
    if before.fingerprint != asked.fingerprint:
        raise KeyReused(KEY_FIELD, asked.key, "already used for another request; use a new key")
    if before.status is None or before.body is None:
        raise Conflict(KEY_FIELD, "already used, and no response was stored; use a new key")
    return StoredResponse(before.status, before.body)


def _in_progress() -> Conflict:
    return Conflict(KEY_FIELD, "the same request is being processed", retry_after=RETRY_AFTER_S)

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

KEEP: Final = timedelta(hours=24)
MOST_KEY: Final = 255
BLANK_BATCH_MAX: Final = 500
# How long to wait for the same request on another connection, and when the client should retry.
PATIENCE: Final = "1s"
RETRY_AFTER: Final = 1.0
THING: Final = "idempotency key"
_NO_LOCK: Final = "55P03"


class Pruned(NamedTuple):
    tenant_id: int


class Taken(NamedTuple):
    patience: str


class Before(NamedTuple):
    fingerprint: bytes
    status: int | None
    body: bytes | None


class Finished(NamedTuple):
    status: int | None


class Begun(NamedTuple):
    tenant_id: int
    scope: str
    key: str


class Replay(NamedTuple):
    """The first response."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request with a key. `scope` is the key's owner and the operation; `fingerprint` is the
    SHA-256 of everything else that identifies the request.
    """

    tenant_id: int
    scope: str
    key: str
    fingerprint: bytes

    def __post_init__(self) -> None:
        is_valid = 1 <= len(self.key) <= MOST_KEY and self.key.isascii() and self.key.isprintable()
        if not is_valid:
            wanted = f"must be 1 to {MOST_KEY} printable ASCII characters"
            raise InvalidInput("Idempotency-Key", self.key, wanted)


class Answer(NamedTuple):
    """The response to a request with a key."""

    asked: Asked
    status: int
    body: bytes


BLANK_SECRETS = statement("idempotency/blank_secrets", Pruned)
PRUNE = statement("idempotency/prune", Pruned)
BEGIN = statement("idempotency/begin", Taken)
BEGIN_MANY = statement("idempotency/begin_many", Begun)
FINISH_MANY = statement("idempotency/finish_many", Finished)
READ = statement("idempotency/read", Before)
FINISH = statement("idempotency/finish", Finished)


async def begin(conn: Connection, asked: Asked, *, keep: timedelta = KEEP) -> Replay | None:
    """Return None if the request must be executed in this transaction, or its first response.

    Raises `KeyReused` if the key was used for another request, and `Conflict` if the same request
    is being executed and does not end soon. After either, the transaction cannot be used any more.
    """
    try:
        fresh = await BEGIN.one(
            conn,
            tenant_id=asked.tenant_id,
            scope=asked.scope,
            key=asked.key,
            fingerprint=asked.fingerprint,
            keep=keep,
            patience=PATIENCE,
        )
    except StoreUnavailable as error:
        if not error.reason.startswith(_NO_LOCK):
            raise
        raise _in_progress() from None
    return await _read_response(conn, asked) if fresh is None else None


async def finish(conn: Connection, asked: Asked, *, status: int, body: bytes) -> None:
    """Store the response, in the transaction that began the request."""
    row = await FINISH.one(
        conn,
        tenant_id=asked.tenant_id,
        scope=asked.scope,
        key=asked.key,
        fingerprint=asked.fingerprint,
        status=status,
        body=body,
    )
    if row is None:
        raise Conflict(THING, "the request was not begun in this transaction")


async def begin_many(conn: Connection, all_asked: Sequence[Asked]) -> set[Asked]:
    """Return the requests to execute in this transaction: those with unused keys. `begin` decides
    about the others.
    """
    fresh = await BEGIN_MANY.all(
        conn,
        tenant_ids=[asked.tenant_id for asked in all_asked],
        scopes=[asked.scope for asked in all_asked],
        keys=[asked.key for asked in all_asked],
        fingerprints=[asked.fingerprint for asked in all_asked],
    )
    begun = set(fresh)
    return {
        request
        for request in all_asked
        if Begun(request.tenant_id, request.scope, request.key) in begun
    }


async def finish_many(conn: Connection, answers: Sequence[Answer]) -> None:
    """Store the responses, in the transaction that began the requests."""
    rows = await FINISH_MANY.all(
        conn,
        tenant_ids=[answer.asked.tenant_id for answer in answers],
        scopes=[answer.asked.scope for answer in answers],
        keys=[answer.asked.key for answer in answers],
        statuses=[answer.status for answer in answers],
        bodies=[answer.body for answer in answers],
    )
    if len(rows) != len(answers):
        raise Conflict(THING, "the request was not begun in this transaction")


async def prune(conn: Connection, *, keep: timedelta, most: int) -> int:
    """Delete at most `most` keys older than `keep`; return how many."""
    return len(await PRUNE.all(conn, keep=keep, most=most))


async def blank_secrets(conn: Connection, *, limit: int = BLANK_BATCH_MAX) -> int:
    """Blank responses with secrets that an older release stored; return how many."""
    total = 0
    while True:
        blanked = len(await BLANK_SECRETS.all(conn, most=limit))
        total += blanked
        if blanked < limit:
            return total


async def _read_response(conn: Connection, asked: Asked) -> Replay:
    before = await READ.one(conn, tenant_id=asked.tenant_id, scope=asked.scope, key=asked.key)
    if before is None:
        # Pruned between the two statements: the retry will find the key unused.
        raise _in_progress()
    if before.fingerprint != asked.fingerprint:
        raise KeyReused(THING, asked.key, "already used for another request; use a new key")
    if before.status is None or before.body is None:
        raise Conflict(THING, "already used, and no response was stored; use a new key")
    return Replay(before.status, before.body)


def _in_progress() -> Conflict:
    return Conflict(THING, "the same request is being processed", retry_after=RETRY_AFTER)

"""Everything Rota asks of the interned things: queues, kinds, policies, schedules. Room: store.

A name or a body becomes a small integer once, when a job is written, and the hot tables carry the
integer. Two processes that intern the same name at once get the same id.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from rota.core.errors import StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import Statement, statement


class Interned(NamedTuple):
    id: int


class Body(NamedTuple):
    id: int
    body: str


INTERN_QUEUE = statement("names/intern_queue", Interned)
INTERN_KIND = statement("names/intern_kind", Interned)
INTERN_POLICY = statement("names/intern_policy", Interned)
INTERN_SCHEDULE = statement("names/intern_schedule", Interned)
POLICIES = statement("names/policies", Body)
SCHEDULES = statement("names/schedules", Body)


async def queue_id(conn: Connection, name: str) -> int:
    return await _intern(conn, INTERN_QUEUE, name=name)


async def kind_id(conn: Connection, name: str) -> int:
    return await _intern(conn, INTERN_KIND, name=name)


async def policy_id(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal policies must be equal texts."""
    return await _intern(conn, INTERN_POLICY, digest=_digest(body), body=body)


async def schedule_id(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal schedules must be equal texts."""
    return await _intern(conn, INTERN_SCHEDULE, digest=_digest(body), body=body)


async def policies(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await POLICIES.all(conn, ids=ids)}


async def schedules(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await SCHEDULES.all(conn, ids=ids)}


async def _intern(conn: Connection, which: Statement[Interned], **values: object) -> int:
    # No row means that another process made it after our snapshot: the second look sees it.
    for _ in range(3):
        row = await which.one(conn, **values)
        if row is not None:
            return row.id
    raise StoreUnavailable(reason=f"{which.name} found neither the old row nor room for a new one")


def _digest(body: str) -> bytes:
    return blake2b(body.encode(), digest_size=16, person=b"rota body").digest()

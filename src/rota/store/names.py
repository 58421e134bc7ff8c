"""Everything Rota asks of the interned things: queues, kinds, policies, schedules. Room: store.

A name or a body becomes a small integer once, when a job is written, and the hot tables carry the
integer. Two processes that intern the same name at once get the same id. Tenants are looked up and
never made here.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from rota.core.errors import NotFound, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import Statement, statement


class Named(NamedTuple):
    id: int
    name: str


class Tenant(NamedTuple):
    id: int
    name: str
    quotas: str


class Digested(NamedTuple):
    id: int
    digest: bytes


class Body(NamedTuple):
    id: int
    body: str


INTERN_QUEUES = statement("names/intern_queues", Named)
INTERN_KINDS = statement("names/intern_kinds", Named)
INTERN_POLICIES = statement("names/intern_policies", Digested)
INTERN_SCHEDULES = statement("names/intern_schedules", Digested)
FIND_QUEUE = statement("names/find_queue", Named)
TENANTS = statement("names/tenants", Tenant)
POLICIES = statement("names/policies", Body)
SCHEDULES = statement("names/schedules", Body)


async def queue_id(conn: Connection, name: str) -> int:
    return (await queue_ids(conn, [name]))[name]


async def queue_ids(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return await _intern_names(conn, INTERN_QUEUES, names)


async def find_queue(conn: Connection, name: str) -> int | None:
    """The id of a queue that is there."""
    row = await FIND_QUEUE.one(conn, name=name)
    return None if row is None else row.id


async def kind_id(conn: Connection, name: str) -> int:
    return (await kind_ids(conn, [name]))[name]


async def kind_ids(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return await _intern_names(conn, INTERN_KINDS, names)


async def policy_id(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal policies must be equal texts."""
    return (await policy_ids(conn, [body]))[body]


async def policy_ids(conn: Connection, bodies: Iterable[str]) -> dict[str, int]:
    return await _intern_bodies(conn, INTERN_POLICIES, bodies)


async def schedule_id(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal schedules must be equal texts."""
    return (await schedule_ids(conn, [body]))[body]


async def schedule_ids(conn: Connection, bodies: Iterable[str]) -> dict[str, int]:
    return await _intern_bodies(conn, INTERN_SCHEDULES, bodies)


async def tenant_ids(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {name: row.id for name, row in (await tenants(conn, names)).items()}


async def tenants(conn: Connection, names: Iterable[str]) -> dict[str, Tenant]:
    """Tenants with their quotas; `NotFound` names the first that does not exist."""
    wanted = sorted(set(names))
    found = {row.name: row for row in await TENANTS.all(conn, names=wanted)}
    for name in wanted:
        if name not in found:
            raise NotFound("tenant", name)
    return found


async def policies(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await POLICIES.all(conn, ids=ids)}


async def schedules(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await SCHEDULES.all(conn, ids=ids)}


async def _intern_names(
    conn: Connection, which: Statement[Named], names: Iterable[str]
) -> dict[str, int]:
    missing = set(names)
    ids: dict[str, int] = {}
    # What is missing was made by another process after our snapshot: the second look sees it.
    for _ in range(3):
        if not missing:
            return ids
        ids |= {row.name: row.id for row in await which.all(conn, names=sorted(missing))}
        missing -= ids.keys()
    _refuse(which.name, missing)
    return ids


async def _intern_bodies(
    conn: Connection, which: Statement[Digested], bodies: Iterable[str]
) -> dict[str, int]:
    wanted: Mapping[bytes, str] = {_digest(body): body for body in bodies}
    missing = set(wanted)
    ids: dict[bytes, int] = {}
    for _ in range(3):
        if not missing:
            break
        digests = sorted(missing)
        rows = await which.all(conn, digests=digests, bodies=[wanted[each] for each in digests])
        ids |= {row.digest: row.id for row in rows}
        missing -= ids.keys()
    _refuse(which.name, missing)
    return {wanted[digest]: id_ for digest, id_ in ids.items()}


def _refuse(name: str, missing: set[str] | set[bytes]) -> None:
    if missing:
        raise StoreUnavailable(reason=f"{name} found neither the old row nor room for a new one")


def _digest(body: str) -> bytes:
    return blake2b(body.encode(), digest_size=16, person=b"rota body").digest()

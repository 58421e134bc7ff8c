"""Interns queues, kinds, policies and schedules.

A name or a body becomes a small integer once, when a job is written, and the hot tables carry the
integer. Two processes that intern the same name at once get the same id. Tenants are looked up here
but never created.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from rota.core.errors import NotFound, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import Statement, statement


class InternedName(NamedTuple):
    id: int
    name: str


class NameCount(NamedTuple):
    number: int


class TenantQueue(NamedTuple):
    tenant_id: int
    id: int
    name: str


class TenantRow(NamedTuple):
    id: int
    name: str
    quotas: str


class InternedBody(NamedTuple):
    id: int
    digest: bytes


class StoredBody(NamedTuple):
    id: int
    body: str


INTERN_QUEUES = statement("interning/intern_queues", InternedName)
INTERN_TENANT_QUEUES = statement("interning/intern_tenant_queues", TenantQueue)
INTERN_KINDS = statement("interning/intern_kinds", InternedName)
INTERN_POLICIES = statement("interning/intern_policies", InternedBody)
INTERN_SCHEDULES = statement("interning/intern_schedules", InternedBody)
FIND_QUEUES = statement("interning/find_queues", InternedName)
FIND_KINDS = statement("interning/find_kinds", InternedName)
COUNT_QUEUES = statement("interning/count_queues", NameCount)
COUNT_KINDS = statement("interning/count_kinds", NameCount)
FIND_QUEUE = statement("interning/find_queue", InternedName)
TENANTS = statement("interning/tenants", TenantRow)
TENANT_NAMES = statement("interning/tenant_names", InternedName)
FIRST_TENANTS = statement("interning/first_tenants", InternedName)
POLICIES = statement("interning/policies", StoredBody)
SCHEDULES = statement("interning/schedules", StoredBody)


async def intern_queue(conn: Connection, name: str) -> int:
    return (await intern_queues(conn, [name]))[name]


async def intern_queues(
    conn: Connection, names: Iterable[str], *, created_by: int | None = None
) -> dict[str, int]:
    """Return the ids of queues; new ones count towards the tenant `made_by`."""
    return await _intern_names(conn, INTERN_QUEUES, names, created_by)


async def find_queues(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {row.name: row.id for row in await FIND_QUEUES.all(conn, names=sorted(set(names)))}


async def find_kinds(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {row.name: row.id for row in await FIND_KINDS.all(conn, names=sorted(set(names)))}


async def count_queues(conn: Connection, *, tenant_id: int) -> int:
    """Count the queue names that a tenant's submissions have created."""
    row = await COUNT_QUEUES.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def count_kinds(conn: Connection, *, tenant_id: int) -> int:
    """Count the kind names that a tenant's submissions have created."""
    row = await COUNT_KINDS.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def intern_tenant_queues(
    conn: Connection, pairs: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    """Return the ids of the tenants' queues, by (tenant, name); claims the queues for them."""
    missing = set(pairs)
    ids: dict[tuple[int, str], int] = {}
    for _ in range(3):
        if not missing:
            break
        wanted = sorted(missing)
        rows = await INTERN_TENANT_QUEUES.all(
            conn,
            tenant_ids=[tenant_id for tenant_id, _ in wanted],
            names=[name for _, name in wanted],
        )
        ids |= {(row.tenant_id, row.name): row.id for row in rows}
        missing -= ids.keys()
    _refuse_missing(INTERN_TENANT_QUEUES.name, {name for _, name in missing})
    return ids


async def find_queue(conn: Connection, name: str) -> int | None:
    """Return the id of a queue, or None if it does not exist."""
    row = await FIND_QUEUE.one(conn, name=name)
    return None if row is None else row.id


async def intern_kind(conn: Connection, name: str) -> int:
    return (await intern_kinds(conn, [name]))[name]


async def intern_kinds(
    conn: Connection, names: Iterable[str], *, created_by: int | None = None
) -> dict[str, int]:
    return await _intern_names(conn, INTERN_KINDS, names, created_by)


async def intern_policy(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal policies must be equal texts."""
    return (await intern_policies(conn, [body]))[body]


async def intern_policies(conn: Connection, bodies: Iterable[str]) -> dict[str, int]:
    return await _intern_bodies(conn, INTERN_POLICIES, bodies)


async def intern_schedule(conn: Connection, body: str) -> int:
    """`body` is canonical JSON: equal schedules must be equal texts."""
    return (await intern_schedules(conn, [body]))[body]


async def intern_schedules(conn: Connection, bodies: Iterable[str]) -> dict[str, int]:
    return await _intern_bodies(conn, INTERN_SCHEDULES, bodies)


async def find_tenant_ids(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {name: row.id for name, row in (await find_tenants(conn, names)).items()}


async def find_known_tenant_ids(conn: Connection, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of the tenants that exist, by name."""
    return {row.name: row.id for row in await TENANTS.all(conn, names=names)}


async def find_tenants(conn: Connection, names: Iterable[str]) -> dict[str, TenantRow]:
    """Return tenants with their quotas; raise `NotFound` for the first that does not exist."""
    wanted = sorted(set(names))
    found = {row.name: row for row in await TENANTS.all(conn, names=wanted)}
    for name in wanted:
        if name not in found:
            raise NotFound("tenant", name)
    return found


async def read_tenant_names(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the names of the tenants that exist, by id."""
    return {row.id: row.name for row in await TENANT_NAMES.all(conn, ids=ids)}


async def has_many_tenants(conn: Connection) -> bool:
    """Return whether there is more than one tenant."""
    return len(await FIRST_TENANTS.all(conn)) > 1


async def read_policies(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await POLICIES.all(conn, ids=ids)}


async def read_schedules(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await SCHEDULES.all(conn, ids=ids)}


async def _intern_names(
    conn: Connection, intern: Statement[InternedName], names: Iterable[str], made_by: int | None
) -> dict[str, int]:
    missing = set(names)
    ids: dict[str, int] = {}
    # A missing name was created by another process after this snapshot: the second pass finds it.
    for _ in range(3):
        if not missing:
            return ids
        rows = await intern.all(conn, names=sorted(missing), made_by=made_by)
        ids |= {row.name: row.id for row in rows}
        missing -= ids.keys()
    _refuse_missing(intern.name, missing)
    return ids


async def _intern_bodies(
    conn: Connection, intern: Statement[InternedBody], bodies: Iterable[str]
) -> dict[str, int]:
    wanted: Mapping[bytes, str] = {_digest(body): body for body in bodies}
    missing = set(wanted)
    ids: dict[bytes, int] = {}
    for _ in range(3):
        if not missing:
            break
        digests = sorted(missing)
        rows = await intern.all(conn, digests=digests, bodies=[wanted[key] for key in digests])
        ids |= {row.digest: row.id for row in rows}
        missing -= ids.keys()
    _refuse_missing(intern.name, missing)
    return {wanted[digest]: id_ for digest, id_ in ids.items()}


def _refuse_missing(name: str, missing: set[str] | set[bytes]) -> None:
    if missing:
        raise StoreUnavailable(reason=f"{name} could neither find nor insert a row")


def _digest(body: str) -> bytes:
    return blake2b(body.encode(), digest_size=16, person=b"rota body").digest()

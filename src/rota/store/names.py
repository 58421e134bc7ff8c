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


class Named(NamedTuple):
    id: int
    name: str


class NameCount(NamedTuple):
    number: int


class TenantQueue(NamedTuple):
    tenant_id: int
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
INTERN_TENANT_QUEUES = statement("names/intern_tenant_queues", TenantQueue)
INTERN_KINDS = statement("names/intern_kinds", Named)
INTERN_POLICIES = statement("names/intern_policies", Digested)
INTERN_SCHEDULES = statement("names/intern_schedules", Digested)
FIND_QUEUES = statement("names/find_queues", Named)
FIND_KINDS = statement("names/find_kinds", Named)
COUNT_QUEUES = statement("names/count_queues", NameCount)
COUNT_KINDS = statement("names/count_kinds", NameCount)
FIND_QUEUE = statement("names/find_queue", Named)
TENANTS = statement("names/tenants", Tenant)
TENANT_NAMES = statement("names/tenant_names", Named)
FIRST_TENANTS = statement("names/first_tenants", Named)
POLICIES = statement("names/policies", Body)
SCHEDULES = statement("names/schedules", Body)


async def queue_id(conn: Connection, name: str) -> int:
    return (await queue_ids(conn, [name]))[name]


async def queue_ids(
    conn: Connection, names: Iterable[str], *, made_by: int | None = None
) -> dict[str, int]:
    """Return the ids of queues; new ones count towards the tenant `made_by`."""
    return await _intern_names(conn, INTERN_QUEUES, names, made_by)


async def known_queues(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {row.name: row.id for row in await FIND_QUEUES.all(conn, names=sorted(set(names)))}


async def known_kinds(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    return {row.name: row.id for row in await FIND_KINDS.all(conn, names=sorted(set(names)))}


async def count_queues(conn: Connection, *, tenant_id: int) -> int:
    """Count the queue names that a tenant's submissions have created."""
    row = await COUNT_QUEUES.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def count_kinds(conn: Connection, *, tenant_id: int) -> int:
    """Count the kind names that a tenant's submissions have created."""
    row = await COUNT_KINDS.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def tenant_queue_ids(
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


async def kind_id(conn: Connection, name: str) -> int:
    return (await kind_ids(conn, [name]))[name]


async def kind_ids(
    conn: Connection, names: Iterable[str], *, made_by: int | None = None
) -> dict[str, int]:
    return await _intern_names(conn, INTERN_KINDS, names, made_by)


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


async def known_tenant_ids(conn: Connection, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of the tenants that exist, by name."""
    return {row.name: row.id for row in await TENANTS.all(conn, names=names)}


async def tenants(conn: Connection, names: Iterable[str]) -> dict[str, Tenant]:
    """Return tenants with their quotas; raise `NotFound` for the first that does not exist."""
    wanted = sorted(set(names))
    found = {row.name: row for row in await TENANTS.all(conn, names=wanted)}
    for name in wanted:
        if name not in found:
            raise NotFound("tenant", name)
    return found


async def tenant_names(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the names of the tenants that exist, by id."""
    return {row.id: row.name for row in await TENANT_NAMES.all(conn, ids=ids)}


async def has_many_tenants(conn: Connection) -> bool:
    """Return whether there is more than one tenant."""
    return len(await FIRST_TENANTS.all(conn)) > 1


async def policies(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await POLICIES.all(conn, ids=ids)}


async def schedules(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.body for row in await SCHEDULES.all(conn, ids=ids)}


async def _intern_names(
    conn: Connection, intern: Statement[Named], names: Iterable[str], made_by: int | None
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
    conn: Connection, intern: Statement[Digested], bodies: Iterable[str]
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

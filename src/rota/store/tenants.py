"""Creates, changes, pauses and deletes tenants.

For connections of the owner: a tenant cannot see other tenants or change its own quotas. Quotas on
running runs become the gate of the tenant (gates.py), which claimers check. names.py looks up
tenants by name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rota.contract.quotas import read_stored_quotas, write_quotas
from rota.core.errors import Conflict, InvalidInput, NameTaken, NotFound, QuotaExceeded
from rota.core.quotas import Quotas
from rota.core.submissions import check_visible_name
from rota.store import gates
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement
from rota.store.transaction import transaction

TENANT_NAME_TAKEN: Final = "already in use; choose a name that no other tenant has"
NO_QUOTAS: Final = Quotas()
TENANT_WEIGHT_MAX: Final = 1000


class StoredTenant(NamedTuple):
    id: int
    name: str
    weight: int
    quotas: str
    paused_at: datetime | None
    gate_id: int | None
    created_at: datetime


class TenantId(NamedTuple):
    id: int


class MeasurableTenant(NamedTuple):
    id: int
    quotas: str
    default_quotas: str


class TenantCount(NamedTuple):
    number: int


class DeletionObstacles(NamedTuple):
    has_jobs: bool
    has_runs: bool
    has_platform_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    id: int
    name: str
    weight: int
    quotas: Quotas
    paused_at: datetime | None
    created_at: datetime


CREATE = statement("tenants/create", StoredTenant)
GET = statement("tenants/get", StoredTenant)
PAGE = statement("tenants/page", StoredTenant)
UPDATE = statement("tenants/update", StoredTenant)
LOCK = statement("tenants/lock", TenantId)
OBSTACLES = statement("tenants/obstacles", DeletionObstacles)
DELETE = statement("tenants/delete", TenantId)
COUNT_JOBS = statement("tenants/count_jobs", TenantCount)
TAKE_MEASURABLE = statement("tenants/take_measurable", MeasurableTenant)
HOLD_BACK = statement("tenants/apply_default_quotas", TenantId)
COUNT_QUEUED = statement("tenants/count_queued", TenantCount)


async def create_tenant(
    conn: Connection, *, name: str, weight: int = 1, quotas: Quotas = NO_QUOTAS
) -> Tenant:
    """Create a tenant."""
    name = check_visible_name(name, "name")
    _demand_weight(weight)
    async with transaction(conn):
        row = await CREATE.one(conn, name=name, weight=weight, quotas=_text(quotas))
        if row is None:
            raise NameTaken("name", name, TENANT_NAME_TAKEN)
        if quotas.gate_limits is not None:
            await gates.limit_tenant(conn, row.id, quotas.gate_limits)
    return _tenant(row)


async def get_tenant(conn: Connection, tenant_id: int) -> Tenant:
    return _require_tenant(await GET.one(conn, tenant_id=tenant_id), tenant_id)


async def list_tenants(conn: Connection, *, after: int = 0, limit: int = 50) -> list[Tenant]:
    """Return tenants in the order of their creation, starting after `after`."""
    return [_tenant(row) for row in await PAGE.all(conn, after=after, most=limit)]


async def update_tenant(
    conn: Connection, tenant_id: int, *, weight: int | None = None, quotas: Quotas | None = None
) -> Tenant:
    """Change the given fields. Claimers notice within about a second."""
    if weight is not None:
        _demand_weight(weight)
    async with transaction(conn):
        row = await UPDATE.one(
            conn,
            tenant_id=tenant_id,
            weight=weight,
            quotas=None if quotas is None else _text(quotas),
        )
        changed = _require_tenant(row, tenant_id)
        if quotas is not None:
            await gates.limit_tenant(conn, tenant_id, quotas.gate_limits)
    return changed


async def pause_tenant(conn: Connection, tenant_id: int) -> Tenant:
    """Start no more runs of this tenant. Pausing it again keeps the time of the first pause."""
    await gates.pause_tenant(conn, tenant_id)
    return await get_tenant(conn, tenant_id)


async def resume_tenant(conn: Connection, tenant_id: int) -> Tenant:
    await gates.pause_tenant(conn, tenant_id, paused=False)
    return await get_tenant(conn, tenant_id)


async def delete_tenant(conn: Connection, tenant_id: int) -> None:
    """Delete a tenant without jobs, with its keys, secrets and calendars.

    Its finished runs stay until their retention ends, and its audit log stays.
    """
    async with transaction(conn):
        if await LOCK.one(conn, tenant_id=tenant_id) is None:
            raise NotFound("tenant", tenant_id)
        _refuse_obstacles(await OBSTACLES.one(conn, tenant_id=tenant_id))
        await DELETE.one(conn, tenant_id=tenant_id)


async def count_jobs(conn: Connection, *, tenant_id: int, limit: int) -> int:
    """Count the unfinished jobs of a tenant, up to `most`."""
    async with ordered_scan(conn):
        row = await COUNT_JOBS.one(conn, tenant_id=tenant_id, most=limit)
    return 0 if row is None else row.number


async def count_queued(conn: Connection, *, tenant_id: int, limit: int) -> int:
    """Count the waiting runs of a tenant, up to `most`."""
    async with ordered_scan(conn):
        row = await COUNT_QUEUED.one(conn, tenant_id=tenant_id, most=limit)
    return 0 if row is None else row.number


async def check_quota(conn: Connection, *, tenant_id: int, quota: str, existing: int) -> None:
    """Refuse to add one more resource than the quota allows. For resources of which there are few:
    the caller counts them under the tenant's lock.
    """
    limit = (await get_tenant(conn, tenant_id)).quotas.find_limit(quota)
    if limit is not None and existing >= limit:
        reason = f"it has {existing}; delete one before adding another"
        raise QuotaExceeded(quota, limit, reason)


async def take_measurable(
    conn: Connection, *, age: timedelta, limit: int
) -> list[MeasurableTenant]:
    """Take at most `limit` tenants whose use was not measured for `age`."""
    return await TAKE_MEASURABLE.all(conn, age=age, most=limit)


async def apply_default_quotas(conn: Connection, tenant_id: int, quotas: Mapping[str, int]) -> bool:
    """Apply these default quotas to a tenant; return whether they changed."""
    text = json.dumps(dict(quotas))
    return await HOLD_BACK.one(conn, tenant_id=tenant_id, quotas=text) is not None


def _refuse_obstacles(obstacles: DeletionObstacles | None) -> None:
    if obstacles is None:
        return
    reasons = {
        "it has jobs; delete them first": obstacles.has_jobs,
        "it has unfinished runs; cancel them first": obstacles.has_runs,
        "it owns a valid platform key; revoke the key first": obstacles.has_platform_key,
    }
    for reason, applies in reasons.items():
        if applies:
            raise Conflict("tenant", reason)


def _tenant(row: StoredTenant) -> Tenant:
    return Tenant(
        id=row.id,
        name=row.name,
        weight=row.weight,
        quotas=read_stored_quotas(json.loads(row.quotas)),
        paused_at=row.paused_at,
        created_at=row.created_at,
    )


def _require_tenant(row: StoredTenant | None, tenant_id: int) -> Tenant:
    if row is None:
        raise NotFound("tenant", tenant_id)
    return _tenant(row)


def _text(quotas: Quotas) -> str:
    return json.dumps(write_quotas(quotas))


def _demand_weight(weight: int) -> None:
    if not 1 <= weight <= TENANT_WEIGHT_MAX:
        raise InvalidInput("weight", weight, f"must be from 1 to {TENANT_WEIGHT_MAX}")

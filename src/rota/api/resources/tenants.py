"""Operations for tenants, for platform admins."""

from typing import Final

from msgspec import UNSET, to_builtins

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, read_number, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.resources.keys import create_key_of_tenant
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.tenancy import (
    CreatedKey,
    KeyDraft,
    TenantDraft,
    TenantEdit,
    TenantView,
)
from rota.contract.quotas import QuotasDraft, to_quotas, write_quotas
from rota.core.access import Permission
from rota.core.errors import NotFound
from rota.core.quotas import Quotas
from rota.store import tenants
from rota.store.tenants import Tenant

TENANT_ID_DIGITS_MAX: Final = 9


def read_tenant_id(call: Call) -> int:
    """Read the tenant id in the path."""
    text = call.params["tenant_id"]
    if not (text.isascii() and text.isdigit()) or len(text) > TENANT_ID_DIGITS_MAX:
        raise NotFound("tenant", text)
    return int(text)


def build_quotas(draft: QuotasDraft | None) -> Quotas:
    return Quotas() if draft is None else to_quotas(draft)


def build_tenant_view(tenant: Tenant) -> TenantView:
    return TenantView(
        tenant_id=tenant.id,
        name=tenant.name,
        weight=tenant.weight,
        quotas=write_quotas(tenant.quotas),
        is_paused=tenant.paused_at is not None,
        paused_at=format_optional_time(tenant.paused_at),
        created_at=format_time(tenant.created_at),
    )


@operation(
    "POST",
    "/v1/tenants",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    body=TenantDraft,
    answer=TenantView,
    status=201,
    example={"name": "acme", "weight": 2, "quotas": {"max_running": 100}},
)
async def create_tenant(call: Call) -> Reply:
    """Create a tenant."""
    draft: TenantDraft = call.body
    tenant = await tenants.create_tenant(
        call.conn, name=draft.name, weight=draft.weight, quotas=build_quotas(draft.quotas)
    )
    await write_audit_entry(call, "tenant.create", "tenant", str(tenant.id), {"name": tenant.name})
    return Reply(build_tenant_view(tenant), headers={"Location": f"/v1/tenants/{tenant.id}"})


@operation(
    "GET",
    "/v1/tenants",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    query=PageQuery,
    answer=ListPage[TenantView],
    problems=("malformed_request",),
)
async def list_tenants(call: Call) -> Reply:
    """List tenants, oldest first."""
    query: PageQuery = call.query
    after = read_number(read_cursor(query.cursor, ["tenants"]))
    found = await tenants.list_tenants(call.conn, after=after, limit=query.limit + 1)
    shown = found[: query.limit]
    more = write_cursor(["tenants"], [str(shown[-1].id)]) if len(found) > query.limit else None
    return Reply(
        ListPage[TenantView](data=[build_tenant_view(tenant) for tenant in shown], next_cursor=more)
    )


@operation(
    "GET",
    "/v1/tenants/{tenant_id}",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=TenantView,
)
async def get_tenant(call: Call) -> Reply:
    """Get a tenant."""
    return Reply(build_tenant_view(await tenants.get_tenant(call.conn, read_tenant_id(call))))


@operation(
    "PATCH",
    "/v1/tenants/{tenant_id}",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    body=TenantEdit,
    answer=TenantView,
    example={"weight": 3},
)
async def update_tenant(call: Call) -> Reply:
    """Update the weight or the quotas of a tenant."""
    draft: TenantEdit = call.body
    changed = await tenants.update_tenant(
        call.conn,
        read_tenant_id(call),
        weight=None if draft.weight is UNSET else draft.weight,
        quotas=None if draft.quotas is UNSET else build_quotas(draft.quotas),
    )
    await write_audit_entry(call, "tenant.update", "tenant", str(changed.id), to_builtins(draft))
    return Reply(build_tenant_view(changed))


@operation(
    "DELETE",
    "/v1/tenants/{tenant_id}",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    status=204,
    problems=("conflict",),
)
async def delete_tenant(call: Call) -> Reply:
    """Delete a tenant that has no jobs."""
    tenant_id = read_tenant_id(call)
    await tenants.delete_tenant(call.conn, tenant_id)
    await write_audit_entry(call, "tenant.delete", "tenant", str(tenant_id))
    return Reply()


@operation(
    "POST",
    "/v1/tenants/{tenant_id}/pause",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=TenantView,
)
async def pause_tenant(call: Call) -> Reply:
    """Pause a tenant.

    No more of its runs start; running ones continue.
    """
    paused = await tenants.pause_tenant(call.conn, read_tenant_id(call))
    await write_audit_entry(call, "tenant.pause", "tenant", str(paused.id))
    return Reply(build_tenant_view(paused))


@operation(
    "POST",
    "/v1/tenants/{tenant_id}/resume",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=TenantView,
)
async def resume_tenant(call: Call) -> Reply:
    """Resume a tenant."""
    resumed = await tenants.resume_tenant(call.conn, read_tenant_id(call))
    await write_audit_entry(call, "tenant.resume", "tenant", str(resumed.id))
    return Reply(build_tenant_view(resumed))


@operation(
    "POST",
    "/v1/tenants/{tenant_id}/keys",
    tag="tenants",
    permission=Permission.PLATFORM,
    scope="platform",
    body=KeyDraft,
    answer=CreatedKey,
    reveals_secret=True,
    status=201,
    example={"name": "deployment", "role": "operator"},
)
async def create_tenant_key(call: Call) -> Reply:
    """Create an API key for a tenant.

    The response contains the key, which is shown only once.
    """
    tenant = await tenants.get_tenant(call.conn, read_tenant_id(call))
    created = await create_key_of_tenant(call, tenant.id)
    return Reply(created, created_id=created.key_id)

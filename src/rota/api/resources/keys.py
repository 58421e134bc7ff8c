"""Operations for the API keys of the caller's tenant."""

from typing import Any

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.tenancy import CreatedKey, KeyDraft, KeyView
from rota.core import api_keys
from rota.core.access import Permission, Role, require_grant
from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.store import keys
from rota.store.keys import KEY_LIFETIME, KeyRow, NewKey


def build_key_view(key: KeyRow) -> KeyView:
    return KeyView(**_fields(key))


def _fields(key: KeyRow) -> dict[str, Any]:
    return {
        "key_id": identifiers.format_id("key", key.id),
        "name": key.name,
        "handle": key.handle,
        "role": key.role.value,
        "user_id": key.user_id,
        "created_at": format_time(key.created_at),
        "expires_at": format_optional_time(key.expires_at),
        "revoked_at": format_optional_time(key.revoked_at),
        "used_at": format_optional_time(key.used_at),
    }


async def create_key_of_tenant(call: Call, tenant_id: int) -> CreatedKey:
    """Create a key with a role that the caller may grant."""
    draft: KeyDraft = call.body
    role = Role(draft.role)
    require_grant(call.principal, role)
    lifetime = KEY_LIFETIME
    if draft.lifetime is not None:
        lifetime = durations.parse(draft.lifetime, field="lifetime")
    secret = api_keys.create_key(call.service.random_bytes(32))
    stored = await keys.create_key(
        call.conn,
        NewKey(
            id=call.service.new_id(),
            tenant_id=tenant_id,
            name=draft.name,
            role=role,
            key=secret,
            user_id=draft.user_id,
            lifetime=lifetime,
        ),
    )
    key_id = identifiers.format_id("key", stored.id)
    await write_audit_entry(
        call, "key.create", "key", key_id, {"name": stored.name, "role": role.value}
    )
    return CreatedKey(**_fields(stored), key=secret.text)


@operation(
    "POST",
    "/v1/keys",
    tag="keys",
    permission=Permission.MANAGE,
    body=KeyDraft,
    answer=CreatedKey,
    reveals_secret=True,
    status=201,
    example={"name": "deployment", "role": "operator"},
)
async def create_key(call: Call) -> Reply:
    """Create an API key.

    The response contains the key, which is shown only once.
    """
    if call.body.role == Role.PLATFORM.value:
        require_grant(call.principal, Role.PLATFORM)
        raise InvalidInput(
            "role", "platform", "use POST /v1/tenants/{tenant_id}/keys to create a platform key"
        )
    created = await create_key_of_tenant(call, call.tenant_id)
    return Reply(created, created_id=created.key_id)


@operation(
    "GET",
    "/v1/keys",
    tag="keys",
    permission=Permission.MANAGE,
    query=PageQuery,
    answer=ListPage[KeyView],
    problems=("malformed_request", "not_found"),
)
async def list_keys(call: Call) -> Reply:
    """List the API keys of the tenant, oldest first, without their secrets."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["keys"])
    after = None if place is None else identifiers.parse_id("key_id", place[0])
    found = await keys.list_keys(
        call.conn, tenant_id=call.tenant_id, after=after, limit=query.limit + 1
    )
    shown = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_cursor(["keys"], [identifiers.format_id("key", shown[-1].id)])
    return Reply(ListPage[KeyView](data=[build_key_view(key) for key in shown], next_cursor=more))


@operation(
    "DELETE",
    "/v1/keys/{key_id}",
    tag="keys",
    permission=Permission.MANAGE,
    answer=KeyView,
)
async def revoke_key(call: Call) -> Reply:
    """Revoke an API key.

    The key stops working within five seconds.
    """
    key_id = identifiers.parse_id("key_id", call.params["key_id"])
    revoked = await keys.revoke_key(call.conn, tenant_id=call.tenant_id, key_id=key_id)
    await write_audit_entry(call, "key.revoke", "key", identifiers.format_id("key", key_id))
    return Reply(build_key_view(revoked))

"""Operations for secrets, which are write-only."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.field_types import format_time
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.tenancy import SecretDraft, SecretView
from rota.core.access import Permission
from rota.core.errors import SecretsUnavailable
from rota.core.secret_encryption import NONCE_BYTES
from rota.store import encrypted_secrets
from rota.store.encrypted_secrets import SecretRow


def build_secret_view(secret: SecretRow) -> SecretView:
    return SecretView(
        name=secret.name, version=secret.version, updated_at=format_time(secret.updated_at)
    )


@operation(
    "PUT",
    "/v1/secrets/{name}",
    tag="secrets",
    permission=Permission.MANAGE,
    body=SecretDraft,
    answer=SecretView,
    problems=("conflict",),
    example={"value": "s3cret"},
)
async def put_secret(call: Call) -> Reply:
    """Create a secret, or a new version of it.

    The API never returns its value.
    """
    master = call.service.master_key
    if master is None:
        raise SecretsUnavailable(reason="no master key is configured", remedy="set api.master_key")
    stored = await encrypted_secrets.put_secret(
        call.conn,
        tenant_id=call.tenant_id,
        name=call.params["name"],
        value=call.body.value.encode(),
        master=master,
        nonce=call.service.random_bytes(NONCE_BYTES),
    )
    await write_audit_entry(call, "secret.put", "secret", stored.name, {"version": stored.version})
    return Reply(build_secret_view(stored))


@operation(
    "GET",
    "/v1/secrets",
    tag="secrets",
    permission=Permission.MANAGE,
    query=PageQuery,
    answer=ListPage[SecretView],
    problems=("malformed_request",),
)
async def list_secrets(call: Call) -> Reply:
    """List the names of secrets."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["secrets"])
    found = await encrypted_secrets.list_secrets(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["secrets"], [shown[-1].name]) if len(found) > query.limit else None
    return Reply(
        ListPage[SecretView](data=[build_secret_view(secret) for secret in shown], next_cursor=more)
    )


@operation("DELETE", "/v1/secrets/{name}", tag="secrets", permission=Permission.MANAGE, status=204)
async def delete_secret(call: Call) -> Reply:
    """Delete a secret with all its versions."""
    await encrypted_secrets.delete_secret(
        call.conn, tenant_id=call.tenant_id, name=call.params["name"]
    )
    await write_audit_entry(call, "secret.delete", "secret", call.params["name"])
    return Reply()

"""Operations for hooks: webhook endpoints whose senders sign their events."""

from typing import Any, Final

import msgspec
from starlette.requests import Request

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.problems import ProblemError
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.resources.events import build_received_view
from rota.api.schemas.events import (
    CreatedHook,
    EventReceipt,
    HookDraft,
    HookView,
    RotateDraft,
)
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.runs import PageQuery
from rota.core import signatures
from rota.core.access import Permission
from rota.core.errors import InvalidInput, SecretsUnavailable
from rota.core.event_rules.event import EVENT_BYTES_MAX, EVENT_TYPE_LENGTH_MAX
from rota.core.event_rules.hooks import SignatureStyle, check_secret
from rota.core.secret_encryption import NONCE_BYTES
from rota.core.submissions import check_name, check_visible_name
from rota.core.time import durations
from rota.engine.events.webhooks import HookRequest, ingest_webhook
from rota.store import hints, hooks
from rota.store.hooks import Hook, HookSeal, NewHook

SECRET_BYTES: Final = 32
FORMER_SECRET_LIFETIME_MAX: Final = durations.parse("30d")


def build_encryption(call: Call) -> HookSeal:
    return HookSeal(master=require_master_key(call), nonce=call.service.random_bytes(NONCE_BYTES))


def require_master_key(call: Call) -> bytes:
    if call.service.master_key is None:
        raise SecretsUnavailable(reason="no master key is configured", remedy="set api.master_key")
    return call.service.master_key


def choose_secret(call: Call, secret: str | None, style: SignatureStyle) -> str:
    if secret is not None:
        return check_secret(secret, style)
    return signatures.format_secret(call.service.random_bytes(SECRET_BYTES))


def build_hook_fields(hook: Hook) -> dict[str, Any]:
    hook_id = identifiers.format_id("hook", hook.id)
    return {
        "hook_id": hook_id,
        "name": hook.name,
        "type": hook.type,
        "style": hook.style,
        "url": f"/v1/hooks/{hook_id}",
        "version": hook.version,
        "created_at": format_time(hook.created_at),
        "used_at": format_optional_time(hook.used_at),
    }


@operation(
    "POST",
    "/v1/hooks",
    tag="hooks",
    permission=Permission.MANAGE,
    body=HookDraft,
    answer=CreatedHook,
    reveals_secret=True,
    status=201,
    problems=("conflict",),
    example={
        "name": "payments",
        "type": "payment.received",
        "secret": "whsec_dGhlIGV4YW1wbGUgb2YgdGhlIHJlZmVyZW5jZQ==",
    },
)
async def create_hook(call: Call) -> Reply:
    """Create a hook.

    The response contains its secret, which is shown only once.
    """
    draft: HookDraft = call.body
    kind = check_name(draft.type, "type", max_length=EVENT_TYPE_LENGTH_MAX)
    if "*" in kind:
        raise InvalidInput("type", draft.type, "expected a single type, without *")
    secret = choose_secret(call, draft.secret, SignatureStyle(draft.style))
    new = NewHook(
        id=call.service.new_id(),
        tenant_id=call.tenant_id,
        name=check_visible_name(draft.name, "name"),
        type=kind,
        style=draft.style,
    )
    hook = await hooks.create_hook(call.conn, new, secret, sealing=build_encryption(call))
    details = {"name": hook.name, "type": hook.type, "style": hook.style}
    hook_id = identifiers.format_id("hook", hook.id)
    await write_audit_entry(call, "hook.create", "hook", hook_id, details)
    return Reply(CreatedHook(**build_hook_fields(hook), secret=secret), created_id=hook_id)


@operation(
    "GET",
    "/v1/hooks",
    tag="hooks",
    permission=Permission.MANAGE,
    query=PageQuery,
    answer=ListPage[HookView],
    problems=("malformed_request",),
)
async def list_hooks(call: Call) -> Reply:
    """List hooks by name, without their secrets."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["hooks"])
    found = await hooks.list_hooks(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["hooks"], [shown[-1].name]) if len(found) > query.limit else None
    data = [HookView(**build_hook_fields(hook)) for hook in shown]
    return Reply(ListPage[HookView](data=data, next_cursor=more))


@operation(
    "POST",
    "/v1/hooks/{hook_id}/rotate",
    tag="hooks",
    permission=Permission.MANAGE,
    body=RotateDraft,
    body_required=False,
    answer=CreatedHook,
    reveals_secret=True,
    problems=("conflict",),
    example={"former_for": "1h"},
)
async def rotate_hook(call: Call) -> Reply:
    """Rotate the secret of a hook.

    The previous secret stays valid for `former_for`.
    """
    draft: RotateDraft = call.body or RotateDraft()
    hook_id = identifiers.parse_id("hook_id", call.params["hook_id"])
    former_for = durations.parse(
        draft.former_for, field="former_for", maximum=FORMER_SECRET_LIFETIME_MAX
    )
    style = SignatureStyle(
        (await hooks.lock_hook(call.conn, hook_id, tenant_id=call.tenant_id)).style
    )
    secret = choose_secret(call, draft.secret, style)
    hook = await hooks.rotate_secret(
        call.conn,
        hook_id,
        secret,
        tenant_id=call.tenant_id,
        former_for=former_for,
        sealing=build_encryption(call),
    )
    shown = identifiers.format_id("hook", hook_id)
    await write_audit_entry(call, "hook.rotate", "hook", shown, {"version": hook.version})
    return Reply(CreatedHook(**build_hook_fields(hook), secret=secret), created_id=shown)


def read_raw(raw: bytes, request: Request) -> bytes:
    """Return the body unchanged: the signature covers its bytes."""
    del request
    return raw


def read_data(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError("malformed_request", f"the body is not JSON: {error}") from None
    except RecursionError:
        raise ProblemError("invalid_input", "the body is nested too deeply") from None


@operation(
    "POST",
    "/v1/hooks/{hook_id}",
    tag="hooks",
    permission=None,
    scope="none",
    read=read_raw,
    answer=EventReceipt,
    status=202,
    body_bytes_max=EVENT_BYTES_MAX,
    is_hook=True,
    problems=("unauthenticated", "malformed_request", "too_large", "quota_exceeded"),
    example={"amount": 150},
)
async def call_hook(call: Call) -> Reply:
    """Send an event to a hook as a signed request.

    The JSON body becomes the data of the event. The signature follows the style of the hook: the
    headers of Standard Webhooks, at most five minutes old, or X-Hub-Signature-256. A repeated
    request is a duplicate and starts no runs.
    """
    signed = HookRequest(
        hook_id=identifiers.parse_id("hook_id", call.params["hook_id"]),
        headers=call.headers,
        body=call.body,
        parse_body=read_data,
        on_verified=call.on_verified,
    )
    async with call.acquire_connection() as conn:
        taken = await ingest_webhook(
            conn, signed, master=require_master_key(call), now=call.now, new_id=call.service.new_id
        )
    if taken.new_run_ids:
        call.hints.add(hints.RUNS_CHANNEL)
        call.link_runs(taken.new_run_ids)
    return Reply(build_received_view(taken.events).events[0])


@operation("DELETE", "/v1/hooks/{hook_id}", tag="hooks", permission=Permission.MANAGE, status=204)
async def delete_hook(call: Call) -> Reply:
    """Delete a hook.

    Its URL accepts no more events.
    """
    hook_id = identifiers.parse_id("hook_id", call.params["hook_id"])
    await hooks.delete_hook(call.conn, hook_id, tenant_id=call.tenant_id)
    await write_audit_entry(call, "hook.delete", "hook", identifiers.format_id("hook", hook_id))
    return Reply()

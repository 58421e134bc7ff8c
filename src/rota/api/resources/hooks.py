"""Operations for hooks: webhook endpoints whose senders sign their events."""

from typing import Any, Final

import msgspec
from starlette.requests import Request

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page, cursor, place_of
from rota.api.problems import Refusal
from rota.api.resources.events import taken_view
from rota.api.resources.shared import audited
from rota.api.shapes.events import (
    EventTaken,
    HookDraft,
    HookMade,
    HookView,
    RotateDraft,
)
from rota.api.shapes.pieces import moment, moment_or_none
from rota.api.shapes.runs import PageQuery
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

SECRET: Final = 32
LONGEST_FORMER: Final = durations.parse("30d")


def sealing(call: Call) -> HookSeal:
    return HookSeal(master=master(call), nonce=call.service.random_bytes(NONCE_BYTES))


def master(call: Call) -> bytes:
    if call.service.master is None:
        raise SecretsUnavailable(reason="no master key is configured", remedy="set api.master_key")
    return call.service.master


def secret_of(call: Call, given: str | None, style: SignatureStyle) -> str:
    if given is not None:
        return check_secret(given, style)
    return signatures.format_secret(call.service.random_bytes(SECRET))


def fields(hook: Hook) -> dict[str, Any]:
    hook_id = identifiers.shown("hook", hook.id)
    return {
        "hook_id": hook_id,
        "name": hook.name,
        "type": hook.type,
        "style": hook.style,
        "url": f"/v1/hooks/{hook_id}",
        "version": hook.version,
        "created_at": moment(hook.created_at),
        "used_at": moment_or_none(hook.used_at),
    }


@operation(
    "POST",
    "/v1/hooks",
    tag="hooks",
    permission=Permission.MANAGE,
    body=HookDraft,
    answer=HookMade,
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
    secret = secret_of(call, draft.secret, SignatureStyle(draft.style))
    new = NewHook(
        id=call.service.new_id(),
        tenant_id=call.tenant_id,
        name=check_visible_name(draft.name, "name"),
        type=kind,
        style=draft.style,
    )
    hook = await hooks.create_hook(call.conn, new, secret, sealing=sealing(call))
    details = {"name": hook.name, "type": hook.type, "style": hook.style}
    hook_id = identifiers.shown("hook", hook.id)
    await audited(call, "hook.create", "hook", hook_id, details)
    return Reply(HookMade(**fields(hook), secret=secret), made_id=hook_id)


@operation(
    "GET",
    "/v1/hooks",
    tag="hooks",
    permission=Permission.MANAGE,
    query=PageQuery,
    answer=Page[HookView],
    problems=("malformed_request",),
)
async def list_hooks(call: Call) -> Reply:
    """List hooks by name, without their secrets."""
    query: PageQuery = call.query
    place = place_of(query.cursor, ["hooks"])
    found = await hooks.list_hooks(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = cursor(["hooks"], [shown[-1].name]) if len(found) > query.limit else None
    data = [HookView(**fields(hook)) for hook in shown]
    return Reply(Page[HookView](data=data, next_cursor=more))


@operation(
    "POST",
    "/v1/hooks/{hook_id}/rotate",
    tag="hooks",
    permission=Permission.MANAGE,
    body=RotateDraft,
    body_required=False,
    answer=HookMade,
    reveals_secret=True,
    problems=("conflict",),
    example={"former_for": "1h"},
)
async def rotate_hook(call: Call) -> Reply:
    """Rotate the secret of a hook.

    The previous secret stays valid for `former_for`.
    """
    draft: RotateDraft = call.body or RotateDraft()
    hook_id = identifiers.read("hook_id", call.params["hook_id"])
    former_for = durations.parse(draft.former_for, field="former_for", maximum=LONGEST_FORMER)
    style = SignatureStyle(
        (await hooks.lock_hook(call.conn, hook_id, tenant_id=call.tenant_id)).style
    )
    secret = secret_of(call, draft.secret, style)
    hook = await hooks.rotate_secret(
        call.conn,
        hook_id,
        secret,
        tenant_id=call.tenant_id,
        former_for=former_for,
        sealing=sealing(call),
    )
    shown = identifiers.shown("hook", hook_id)
    await audited(call, "hook.rotate", "hook", shown, {"version": hook.version})
    return Reply(HookMade(**fields(hook), secret=secret), made_id=shown)


def read_raw(raw: bytes, request: Request) -> bytes:
    """Return the body unchanged: the signature covers its bytes."""
    del request
    return raw


def read_data(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal("malformed_request", f"the body is not JSON: {error}") from None
    except RecursionError:
        raise Refusal("invalid_input", "the body is nested too deeply") from None


@operation(
    "POST",
    "/v1/hooks/{hook_id}",
    tag="hooks",
    permission=None,
    scope="none",
    read=read_raw,
    answer=EventTaken,
    status=202,
    largest_body=EVENT_BYTES_MAX,
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
        hook_id=identifiers.read("hook_id", call.params["hook_id"]),
        headers=call.headers,
        body=call.body,
        parse_body=read_data,
        on_verified=call.on_verified,
    )
    async with call.connection() as conn:
        taken = await ingest_webhook(
            conn, signed, master=master(call), now=call.now, new_id=call.service.new_id
        )
    if taken.new_run_ids:
        call.hints.add(hints.RUNS_CHANNEL)
        call.made(taken.new_run_ids)
    return Reply(taken_view(taken.events).events[0])


@operation("DELETE", "/v1/hooks/{hook_id}", tag="hooks", permission=Permission.MANAGE, status=204)
async def delete_hook(call: Call) -> Reply:
    """Delete a hook.

    Its URL accepts no more events.
    """
    hook_id = identifiers.read("hook_id", call.params["hook_id"])
    await hooks.delete_hook(call.conn, hook_id, tenant_id=call.tenant_id)
    await audited(call, "hook.delete", "hook", identifiers.shown("hook", hook_id))
    return Reply()

"""Hooks: where somebody without a key of ours hands in events, by signing them.

Room: api/resources.
"""

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
from rota.core.arrivals.event import MOST_EVENT, MOST_TYPE
from rota.core.arrivals.hooks import Style, check_secret
from rota.core.errors import InvalidInput, SealingFailed
from rota.core.sealing import NONCE
from rota.core.submission import check_name, check_visible_name
from rota.core.time import durations
from rota.flow.events.hooking import Handed, hear
from rota.store import hints, hooks
from rota.store.hooks import Hook, NewHook, Seal

SECRET: Final = 32
LONGEST_FORMER: Final = durations.parse("30d")


def sealing(call: Call) -> Seal:
    return Seal(master=master(call), nonce=call.service.random_bytes(NONCE))


def master(call: Call) -> bytes:
    if call.service.master is None:
        raise SealingFailed(
            reason="there is no master key", remedy="let the API make one, or give it one"
        )
    return call.service.master


def secret_of(call: Call, given: str | None, style: Style) -> str:
    if given is not None:
        return check_secret(given, style)
    return signatures.secret_of(call.service.random_bytes(SECRET))


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
    """Make a hook; this is the only time that its secret is shown."""
    draft: HookDraft = call.body
    kind = check_name(draft.type, "type", most=MOST_TYPE)
    if "*" in kind:
        raise InvalidInput("type", draft.type, "a type without *, which stands for many types")
    secret = secret_of(call, draft.secret, Style(draft.style))
    new = NewHook(
        id=call.service.new_id(),
        tenant_id=call.tenant_id,
        name=check_visible_name(draft.name, "name"),
        type=kind,
        style=draft.style,
    )
    made = await hooks.create(call.conn, new, secret, with_=sealing(call))
    told = {"name": made.name, "type": made.type, "style": made.style}
    hook_id = identifiers.shown("hook", made.id)
    await audited(call, "hook.create", "hook", hook_id, told)
    return Reply(HookMade(**fields(made), secret=secret), made_id=hook_id)


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
    """The hooks by name, without their secrets."""
    query: PageQuery = call.query
    place = place_of(query.cursor, ["hooks"])
    found = await hooks.page(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = cursor(["hooks"], [shown[-1].name]) if len(found) > query.limit else None
    data = [HookView(**fields(each)) for each in shown]
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
    """Give a hook another secret; the one before is good for a day, or as long as is said."""
    draft: RotateDraft = call.body or RotateDraft()
    hook_id = identifiers.read("hook_id", call.params["hook_id"])
    former_for = durations.parse(draft.former_for, field="former_for", longest=LONGEST_FORMER)
    style = Style((await hooks.get(call.conn, hook_id, tenant_id=call.tenant_id)).style)
    secret = secret_of(call, draft.secret, style)
    made = await hooks.rotate(
        call.conn,
        hook_id,
        secret,
        tenant_id=call.tenant_id,
        former_for=former_for,
        with_=sealing(call),
    )
    shown = identifiers.shown("hook", hook_id)
    await audited(call, "hook.rotate", "hook", shown, {"version": made.version})
    return Reply(HookMade(**fields(made), secret=secret), made_id=shown)


def read_raw(raw: bytes, request: Request) -> bytes:
    """The bytes as they came: they are what is signed."""
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
    largest_body=MOST_EVENT,
    is_hook=True,
    problems=("unauthenticated", "malformed_request", "too_large", "quota_exceeded"),
    example={"amount": 150},
)
async def call_hook(call: Call) -> Reply:
    """Hand in the event that a signed request is.

    The body is JSON, becomes the data of the event, and is signed as the style of the hook says: by
    the headers of Standard Webhooks, not more than five minutes ago, or by X-Hub-Signature-256.
    The same request again is the same event and makes nothing.
    """
    handed = Handed(
        hook_id=identifiers.read("hook_id", call.params["hook_id"]),
        headers=call.headers,
        body=call.body,
        read=read_data,
        on_verified=call.on_verified,
    )
    async with call.connection() as conn:
        taken = await hear(
            conn, handed, master=master(call), now=call.now, new_id=call.service.new_id
        )
    if taken.made:
        call.hints.add(hints.RUNS)
        call.made(taken.made)
    return Reply(taken_view(taken.events).events[0])


@operation("DELETE", "/v1/hooks/{hook_id}", tag="hooks", permission=Permission.MANAGE, status=204)
async def delete_hook(call: Call) -> Reply:
    """Delete a hook: from now on nothing is taken there."""
    hook_id = identifiers.read("hook_id", call.params["hook_id"])
    await hooks.delete(call.conn, hook_id, tenant_id=call.tenant_id)
    await audited(call, "hook.delete", "hook", identifiers.shown("hook", hook_id))
    return Reply()

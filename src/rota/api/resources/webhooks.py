"""Operations for webhook subscriptions: endpoints that get events as signed requests."""

import json
from typing import Any, Final, cast
from urllib.parse import urlsplit

from msgspec import UNSET

from rota.api import identifiers
from rota.api.bulk_requests import require_token
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import (
    read_expected_version,
    write_audit_entry,
)
from rota.api.resources.hooks import require_master_key
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.webhooks import (
    CreatedWebhook,
    EnabledWebhook,
    WebhookDraft,
    WebhookEdit,
    WebhookEnableDraft,
    WebhookFilter,
    WebhookRotateDraft,
    WebhookView,
)
from rota.core import bulk_operations, signatures
from rota.core.access import Permission, is_allowed, require_permission
from rota.core.bulk_operations import BulkConfirmation
from rota.core.errors import InvalidInput, NameTaken, VersionChanged
from rota.core.secret_encryption import NONCE_BYTES
from rota.core.submissions import check_labels, check_name, check_visible_name
from rota.core.time import durations
from rota.core.webhook_subscriptions import (
    ENDPOINTS_PER_TENANT_MAX,
    WebhookEventFilter,
    check_patterns,
    describe_load,
    expand_patterns,
)
from rota.store import webhook_deliveries, webhooks
from rota.store.webhook_deliveries import (
    ReplayedDeliveryFilter,
)
from rota.store.webhooks import EndpointFields, EndpointSeal, NewEndpoint, WebhookEndpoint

SECRET_BYTES: Final = 32
FORMER_SECRET_LIFETIME_MAX: Final = durations.parse("30d")
ENABLE_ACTION: Final = "webhook.enable"


@operation(
    "POST",
    "/v1/webhooks",
    tag="webhooks",
    permission=Permission.DEFINE,
    body=WebhookDraft,
    answer=CreatedWebhook,
    reveals_secret=True,
    status=201,
    problems=("conflict",),
    example={
        "url": "https://hooks.example.com/rota",
        "events": ["run.failed", "incident.*"],
        "filter": {"labels": {"team": "billing"}},
    },
)
async def create_webhook(call: Call) -> Reply:
    """Subscribe a URL to events.

    Rota sends each event as a request that is signed as Standard Webhooks specifies, and retries
    for three days. The response contains the secret, which is shown only once.
    """
    draft: WebhookDraft = call.body
    check_include(call, draft.include)
    fields = EndpointFields(
        name=check_visible_name(draft.name or read_host(draft.url), "name"),
        url=draft.url,
        events=check_patterns(draft.events),
        event_filter=build_filter(draft.filter),
        include=list(dict.fromkeys(draft.include)),
        format=draft.format,
        allow_http=draft.allow_http,
    )
    warnings = await check_fields(call, fields)
    secret = choose_secret(call, draft.secret)
    endpoint = await store_endpoint(call, fields, secret, is_named=draft.name is not None)
    webhook_id = identifiers.format_id("whe", endpoint.id)
    await write_audit_entry(
        call, "webhook.create", "webhook", webhook_id, build_audit_values(endpoint)
    )
    view = build_webhook_fields(call, endpoint) | {"warnings": warnings}
    return Reply(CreatedWebhook(**view, secret=secret), created_id=webhook_id)


async def store_endpoint(
    call: Call, fields: EndpointFields, secret: str, *, is_named: bool
) -> WebhookEndpoint:
    """Create the endpoint; a name that Rota chose gets a number if it is in use."""
    sealing = build_encryption(call)
    for number in range(1, ENDPOINTS_PER_TENANT_MAX + 2):
        name = fields.name if number == 1 else f"{fields.name} {number}"
        new = NewEndpoint(
            id=call.service.new_id(),
            tenant_id=call.tenant_id,
            fields=EndpointFields(
                name=name,
                url=fields.url,
                events=fields.events,
                event_filter=fields.event_filter,
                include=fields.include,
                format=fields.format,
                allow_http=fields.allow_http,
            ),
            created_by=call.actor,
        )
        try:
            return await webhooks.create_endpoint(call.conn, new, secret, sealing=sealing)
        except NameTaken:
            if is_named:
                raise
    raise NameTaken("name", fields.name, webhooks.NAME_TAKEN)


@operation(
    "GET",
    "/v1/webhooks",
    tag="webhooks",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[WebhookView],
    problems=("malformed_request",),
)
async def list_webhooks(call: Call) -> Reply:
    """List webhook endpoints by name, without their secrets."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["webhooks"])
    found = await webhooks.list_endpoints(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["webhooks"], [shown[-1].name]) if len(found) > query.limit else None
    data = [WebhookView(**build_webhook_fields(call, endpoint)) for endpoint in shown]
    return Reply(ListPage[WebhookView](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/webhooks/{webhook_id}",
    tag="webhooks",
    permission=Permission.READ,
    answer=WebhookView,
    problems=("not_found",),
)
async def get_webhook(call: Call) -> Reply:
    """Get a webhook endpoint: subscription, health, and how many deliveries wait."""
    return reply_endpoint(call, await read_endpoint(call))


@operation(
    "PATCH",
    "/v1/webhooks/{webhook_id}",
    tag="webhooks",
    permission=Permission.DEFINE,
    body=WebhookEdit,
    answer=WebhookView,
    problems=("not_found", "conflict", "version_changed"),
    example={"events": ["run.*"]},
)
async def change_webhook(call: Call) -> Reply:
    """Change a subscription. Deliveries that wait are sent to the new URL."""
    endpoint, edit = await read_endpoint(call), call.body
    check_version(call, endpoint)
    before = build_audit_values(endpoint)
    fields = merge_edit(call, endpoint, edit)
    warnings = await check_fields(call, fields)
    changed = await webhooks.change_endpoint(
        call.conn, endpoint.id, fields, tenant_id=call.tenant_id, version=endpoint.version
    )
    webhook_id = identifiers.format_id("whe", endpoint.id)
    after = build_audit_values(changed)
    await write_audit_entry(call, "webhook.update", "webhook", webhook_id, after, before)
    return reply_endpoint(call, changed, warnings)


def merge_edit(call: Call, endpoint: WebhookEndpoint, edit: WebhookEdit) -> EndpointFields:
    include = endpoint.include if edit.include is UNSET else list(dict.fromkeys(edit.include))
    check_include(call, include)
    stored = webhooks.read_filter(endpoint.filter)
    events = endpoint.events if edit.events is UNSET else edit.events
    return EndpointFields(
        name=endpoint.name if edit.name is UNSET else check_visible_name(edit.name, "name"),
        url=endpoint.url if edit.url is UNSET else edit.url,
        events=check_patterns(events),
        event_filter=stored if edit.filter is UNSET else build_filter(edit.filter),
        include=include,
        format=endpoint.format if edit.format is UNSET else edit.format,
        allow_http=endpoint.allow_http if edit.allow_http is UNSET else edit.allow_http,
    )


@operation(
    "DELETE",
    "/v1/webhooks/{webhook_id}",
    tag="webhooks",
    permission=Permission.DEFINE,
    status=204,
    problems=("not_found",),
)
async def delete_webhook(call: Call) -> Reply:
    """Delete a webhook endpoint. Deliveries that wait are not sent."""
    endpoint_id = identifiers.parse_id("webhook_id", call.params["webhook_id"])
    await webhooks.delete_endpoint(call.conn, endpoint_id, tenant_id=call.tenant_id)
    webhook_id = identifiers.format_id("whe", endpoint_id)
    await write_audit_entry(call, "webhook.delete", "webhook", webhook_id)
    return Reply()


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/rotate",
    tag="webhooks",
    permission=Permission.DEFINE,
    body=WebhookRotateDraft,
    body_required=False,
    answer=CreatedWebhook,
    reveals_secret=True,
    problems=("not_found", "conflict"),
    example={"former_for": "24h"},
)
async def rotate_webhook(call: Call) -> Reply:
    """Replace the secret of a webhook endpoint.

    Both secrets sign for `former_for`. The response contains the new one, shown only once.
    """
    draft: WebhookRotateDraft = call.body or WebhookRotateDraft()
    endpoint_id = identifiers.parse_id("webhook_id", call.params["webhook_id"])
    former_for = durations.parse(
        draft.former_for, field="former_for", maximum=FORMER_SECRET_LIFETIME_MAX
    )
    secret = choose_secret(call, draft.secret)
    endpoint = await webhooks.rotate_secret(
        call.conn,
        endpoint_id,
        secret,
        tenant_id=call.tenant_id,
        former_for=former_for,
        sealing=build_encryption(call),
    )
    webhook_id = identifiers.format_id("whe", endpoint_id)
    details = {"secret_version": endpoint.secret_version}
    await write_audit_entry(call, "webhook.rotate", "webhook", webhook_id, details)
    view = CreatedWebhook(**build_webhook_fields(call, endpoint), secret=secret)
    return Reply(view, created_id=webhook_id)


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/disable",
    tag="webhooks",
    permission=Permission.OPERATE,
    answer=WebhookView,
    problems=("not_found",),
)
async def disable_webhook(call: Call) -> Reply:
    """Disable a webhook endpoint. Its deliveries are held for 14 days."""
    endpoint = await read_endpoint(call)
    if await webhooks.disable_endpoint(call.conn, endpoint.id, tenant_id=call.tenant_id):
        webhook_id = identifiers.format_id("whe", endpoint.id)
        await write_audit_entry(call, "webhook.disable", "webhook", webhook_id)
    return reply_endpoint(call, await read_endpoint(call))


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/enable",
    tag="webhooks",
    permission=Permission.OPERATE,
    body=WebhookEnableDraft,
    body_required=False,
    answer=EnabledWebhook,
    problems=("not_found", "conflict"),
    example={"held": "replay", "per_minute": 60},
)
async def enable_webhook(call: Call) -> Reply:
    """Enable a webhook endpoint, and decide about its held deliveries.

    A dry run returns how many are held, and a confirmation token.
    """
    draft: WebhookEnableDraft = call.body or WebhookEnableDraft()
    endpoint_id = identifiers.parse_id("webhook_id", call.params["webhook_id"])
    locked = await webhooks.lock_endpoint(call.conn, endpoint_id, tenant_id=call.tenant_id)
    endpoint = await read_endpoint(call)
    held = endpoint.pending if locked.state == "disabled" else 0
    choice = ReplayedDeliveryFilter(endpoint_id=endpoint_id, states=(draft.held or "none",))
    if draft.dry_run:
        token = issue_token(call, ENABLE_ACTION, choice, held)
        return reply_enabled(call, endpoint, matched=held, token=token)
    done = 0
    if held:
        done = await settle_held(call, draft, choice)
    if await webhooks.enable_endpoint(call.conn, endpoint_id, tenant_id=call.tenant_id):
        webhook_id = identifiers.format_id("whe", endpoint_id)
        details = {"held": draft.held, "matched": held, "changed": done}
        await write_audit_entry(call, "webhook.enable", "webhook", webhook_id, details)
    return reply_enabled(call, await read_endpoint(call), matched=held, done=done)


async def settle_held(call: Call, draft: WebhookEnableDraft, choice: ReplayedDeliveryFilter) -> int:
    """Schedule or drop the held deliveries of a locked endpoint; return how many."""
    if draft.held is None:
        wanted = (
            "required, because deliveries are held: replay, newest or drop; send dry_run first, "
            "which returns how many, and the token"
        )
        raise InvalidInput("held", None, wanted)
    token = require_token(draft.token)
    confirmed = bulk_operations.read_token(ENABLE_ACTION, call.tenant_id, choice, token)
    found = await webhook_deliveries.count_replayable(
        call.conn,
        ReplayedDeliveryFilter(endpoint_id=choice.endpoint_id, states=("pending",)),
        tenant_id=call.tenant_id,
        counted_at=confirmed.until,
        limit=bulk_operations.COUNTED_RUNS_MAX + 1,
    )
    bulk_operations.check_confirmation(found, confirmed)
    if draft.held == "replay":
        return await webhook_deliveries.pace_held(
            call.conn,
            choice.endpoint_id,
            tenant_id=call.tenant_id,
            spacing=durations.parse("1m") / draft.per_minute,
        )
    return await webhook_deliveries.drop_held(
        call.conn,
        choice.endpoint_id,
        tenant_id=call.tenant_id,
        counted_at=confirmed.until,
        keep=1 if draft.held == "newest" else 0,
    )


async def read_endpoint(call: Call) -> WebhookEndpoint:
    """Read the endpoint in the path."""
    endpoint_id = identifiers.parse_id("webhook_id", call.params["webhook_id"])
    return await webhooks.get_endpoint(call.conn, endpoint_id, tenant_id=call.tenant_id)


async def check_fields(call: Call, fields: EndpointFields) -> list[str]:
    """Check the URL of a subscription; return warnings."""
    warning = None
    if call.service.check_target is not None:
        warning = await call.service.check_target(
            fields.url, tenant=call.principal.tenant, allow_http=fields.allow_http
        )
    load = describe_load(expand_patterns(fields.events), fields.event_filter)
    broad = None
    if "payload" in fields.include and "*" in fields.events:
        broad = "include: the payload of every run is sent; narrow events or filter"
    return [text for text in (warning, load, broad) if text is not None]


def check_include(call: Call, include: list[Any]) -> None:
    if include:
        require_permission(call.principal, Permission.MANAGE)


def check_version(call: Call, endpoint: WebhookEndpoint) -> None:
    expected = read_expected_version(call)
    if expected is not None and expected != endpoint.version:
        raise VersionChanged("webhook", expected, endpoint.version)


def build_filter(given: WebhookFilter | None) -> WebhookEventFilter:
    if given is None:
        return WebhookEventFilter()
    check_labels(given.labels)
    for name in ("job", "task", "queue"):
        value = getattr(given, name)
        if value is not None:
            check_name(value, f"filter.{name}")
    return WebhookEventFilter(
        job=given.job,
        task=given.task,
        queue=given.queue,
        labels=given.labels,
        severity=given.severity,
    )


def choose_secret(call: Call, secret: str | None) -> str:
    if secret is not None:
        return signatures.format_secret(signatures.parse_secret(secret))
    return signatures.format_secret(call.service.random_bytes(SECRET_BYTES))


def build_encryption(call: Call) -> EndpointSeal:
    return EndpointSeal(
        master=require_master_key(call), nonce=call.service.random_bytes(NONCE_BYTES)
    )


def issue_token(call: Call, action: str, which: ReplayedDeliveryFilter, count: int) -> str:
    confirmation = BulkConfirmation(count=count, until=call.now)
    return bulk_operations.issue_token(action, call.tenant_id, which, confirmation)


def read_host(url: str) -> str:
    """Return the host of a URL, for a name; the URL itself is checked later."""
    try:
        return urlsplit(url).hostname or "webhook"
    except ValueError:
        return "webhook"


def show_url(call: Call, url: str) -> str:
    """Return the URL for the caller. Paths may hold a key, so viewers see the origin only."""
    if is_allowed(call.principal, Permission.DEFINE):
        return url
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}/…"


def reply_endpoint(
    call: Call, endpoint: WebhookEndpoint, warnings: list[str] | None = None
) -> Reply:
    view = WebhookView(**build_webhook_fields(call, endpoint) | {"warnings": warnings or []})
    return Reply(view, headers={"ETag": f'"{endpoint.version}"'})


def reply_enabled(
    call: Call,
    endpoint: WebhookEndpoint,
    *,
    matched: int,
    done: int = 0,
    token: str | None = None,
) -> Reply:
    view = WebhookView(**build_webhook_fields(call, endpoint))
    return Reply(EnabledWebhook(webhook=view, matched=matched, done=done, token=token))


def build_webhook_fields(call: Call, endpoint: WebhookEndpoint) -> dict[str, Any]:
    is_disabled = endpoint.state == "disabled"
    found = webhooks.read_filter(endpoint.filter)
    return {
        "webhook_id": identifiers.format_id("whe", endpoint.id),
        "name": endpoint.name,
        "url": show_url(call, endpoint.url),
        "events": list(endpoint.events),
        "filter": WebhookFilter(
            job=found.job,
            task=found.task,
            queue=found.queue,
            labels=dict(found.labels),
            severity=cast("Any", found.severity),
        ),
        "include": list(endpoint.include),
        "format": endpoint.format,
        "allow_http": endpoint.allow_http,
        "state": endpoint.state,
        "disabled_reason": endpoint.disabled_reason,
        "disabled_at": format_optional_time(endpoint.disabled_at),
        "failures": endpoint.failures,
        "failing_since": format_optional_time(endpoint.failing_since),
        "last_success_at": format_optional_time(endpoint.last_success_at),
        "last_failure_at": format_optional_time(endpoint.last_failure_at),
        "last_error": endpoint.last_error,
        "pending": 0 if is_disabled else endpoint.pending,
        "held": endpoint.pending if is_disabled else 0,
        "version": endpoint.version,
        "former_secret_until": format_optional_time(endpoint.former_until),
        "created_at": format_time(endpoint.created_at),
        "created_by": endpoint.created_by,
        "updated_at": format_time(endpoint.updated_at),
    }


def build_audit_values(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """Return what the audit log keeps; the path of a URL may hold a key."""
    return {
        "name": endpoint.name,
        "host": read_host(endpoint.url),
        "events": list(endpoint.events),
        "filter": json.loads(endpoint.filter),
        "include": list(endpoint.include),
        "format": endpoint.format,
    }

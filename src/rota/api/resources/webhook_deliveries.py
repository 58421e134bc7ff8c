"""Operations for the deliveries of webhook subscriptions: log, test, replay."""

import json
from typing import Any, Final, cast
from uuid import UUID

from rota.api import identifiers
from rota.api.bulk_requests import require_token
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import (
    parse_instant,
    write_audit_entry,
)
from rota.api.resources.webhooks import issue_token, read_endpoint
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.webhooks import (
    DeliveriesQuery,
    DeliveryAttempt,
    DeliveryDetails,
    DeliveryState,
    DeliveryView,
    ReplayedDeliveries,
    WebhookReplayDraft,
)
from rota.core import bulk_operations
from rota.core.access import Permission, is_allowed
from rota.core.bulk_operations import BulkConfirmation
from rota.core.errors import Conflict, InvalidInput
from rota.core.ids import derive_outgoing_event_id
from rota.core.time import durations, moments
from rota.core.webhook_bodies import StoredEvent, format_event_id, render_body
from rota.core.webhook_deliveries import derive_delivery_id
from rota.core.webhook_subscriptions import (
    TEST_EVENT_TYPE,
    check_patterns,
    expand_patterns,
)
from rota.store import webhook_deliveries
from rota.store.webhook_deliveries import (
    DeliveryDetail,
    DeliveryFilter,
    DeliveryRow,
    NewDelivery,
    ReplayedDeliveryFilter,
)

REPLAY_ACTION: Final = "webhook.replay"


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/test",
    tag="webhooks",
    permission=Permission.OPERATE,
    answer=DeliveryView,
    status=202,
    problems=("not_found", "conflict"),
)
async def test_webhook(call: Call) -> Reply:
    """Send a test event to a webhook endpoint.

    Get the delivery to see the result.
    """
    endpoint = await read_endpoint(call)
    if endpoint.state != "enabled":
        raise Conflict("webhook", "it is disabled; enable it first")
    nonce = call.service.new_id()
    event = StoredEvent(
        id=derive_outgoing_event_id(TEST_EVENT_TYPE, nonce, at=call.now),
        type=TEST_EVENT_TYPE,
        at=call.now,
        subject=None,
        data={"at": moments.to_rfc3339(call.now), "webhook": endpoint.name, "by": call.actor},
    )
    delivery = NewDelivery(tenant_id=call.tenant_id, endpoint_id=endpoint.id, event_id=event.id)
    await webhook_deliveries.insert_events(call.conn, [(call.tenant_id, event)], [delivery])
    stored = await webhook_deliveries.get_delivery(
        call.conn,
        derive_delivery_id(endpoint.id, event.id),
        endpoint_id=endpoint.id,
        tenant_id=call.tenant_id,
    )
    return Reply(DeliveryView(**build_delivery_fields(stored)))


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/replay",
    tag="webhooks",
    permission=Permission.OPERATE,
    body=WebhookReplayDraft,
    answer=ReplayedDeliveries,
    problems=("not_found", "conflict"),
    example={"since": "2026-07-01T00:00:00Z", "dry_run": True},
)
async def replay_webhook(call: Call) -> Reply:
    """Send deliveries of a webhook endpoint again, at a pace.

    A dry run returns the count and a confirmation token. Each request keeps its `webhook-id`.
    """
    draft: WebhookReplayDraft = call.body
    endpoint = await read_endpoint(call)
    which = build_replay_filter(draft, endpoint.id)
    if draft.dry_run:
        found = await count_replayable(call, which, BulkConfirmation(count=0, until=call.now))
        token = issue_token(call, REPLAY_ACTION, which, found)
        return Reply(ReplayedDeliveries(matched=found, done=0, token=token))
    confirmed = bulk_operations.read_token(
        REPLAY_ACTION, call.tenant_id, which, require_token(draft.token)
    )
    found = await count_replayable(call, which, confirmed)
    bulk_operations.check_confirmation(found, confirmed)
    done = await webhook_deliveries.replay_deliveries(
        call.conn,
        which,
        tenant_id=call.tenant_id,
        counted_at=confirmed.until,
        spacing=durations.parse("1m") / draft.per_minute,
        limit=bulk_operations.COUNTED_RUNS_MAX,
    )
    webhook_id = identifiers.format_id("whe", endpoint.id)
    await write_audit_entry(call, REPLAY_ACTION, "webhook", webhook_id, {"number": done})
    return Reply(ReplayedDeliveries(matched=found, done=done, token=None))


def build_replay_filter(draft: WebhookReplayDraft, endpoint_id: UUID) -> ReplayedDeliveryFilter:
    since, until = parse_instant(draft.since, "since"), parse_instant(draft.until, "until")
    if since is not None and until is not None and since >= until:
        raise InvalidInput("until", draft.until, "must be after since")
    types = None
    if draft.events is not None:
        types = tuple(sorted(expand_patterns(check_patterns(draft.events))))
    return ReplayedDeliveryFilter(
        endpoint_id=endpoint_id,
        states=tuple(sorted(set(draft.states or ("failed",)))),
        types=types,
        since=since,
        until=until,
    )


async def count_replayable(
    call: Call, which: ReplayedDeliveryFilter, confirmed: BulkConfirmation
) -> int:
    found = await webhook_deliveries.count_replayable(
        call.conn,
        which,
        tenant_id=call.tenant_id,
        counted_at=confirmed.until,
        limit=bulk_operations.COUNTED_RUNS_MAX + 1,
    )
    return bulk_operations.check_count(found)


@operation(
    "GET",
    "/v1/webhooks/{webhook_id}/deliveries",
    tag="webhooks",
    permission=Permission.READ,
    query=DeliveriesQuery,
    answer=ListPage[DeliveryView],
    problems=("not_found", "malformed_request"),
)
async def list_webhook_deliveries(call: Call) -> Reply:
    """List the deliveries of a webhook endpoint, newest event first. They are kept for 14 days."""
    query: DeliveriesQuery = call.query
    endpoint = await read_endpoint(call)
    filters = ["deliveries", endpoint.id.hex, query.state, query.type]
    place = read_cursor(query.cursor, filters)
    found = await webhook_deliveries.list_deliveries(
        call.conn,
        DeliveryFilter(
            endpoint_id=endpoint.id,
            state=None if query.state == "all" else query.state,
            type=query.type,
        ),
        tenant_id=call.tenant_id,
        before=webhook_deliveries.LAST_EVENT_ID
        if place is None
        else identifiers.parse_id("event_id", place[0]),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_cursor(filters, [identifiers.format_id("evt", shown[-1].event_id)])
    data = [DeliveryView(**build_delivery_fields(row)) for row in shown]
    return Reply(ListPage[DeliveryView](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
    tag="webhooks",
    permission=Permission.READ,
    answer=DeliveryDetails,
    problems=("not_found",),
)
async def get_webhook_delivery(call: Call) -> Reply:
    """Get a delivery: its request, the last response and its attempts.

    Payload and result are in the body only for the role admin.
    """
    return Reply(build_delivery_details(call, await read_delivery(call)))


@operation(
    "POST",
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    tag="webhooks",
    permission=Permission.OPERATE,
    answer=DeliveryView,
    status=202,
    problems=("not_found", "conflict"),
)
async def redeliver_webhook(call: Call) -> Reply:
    """Send a delivery again, with the same `webhook-id`."""
    delivery = await read_delivery(call)
    await webhook_deliveries.redeliver(call.conn, delivery.id, tenant_id=call.tenant_id)
    delivery_id = identifiers.format_id("dlv", delivery.id)
    await write_audit_entry(call, "webhook.redeliver", "delivery", delivery_id)
    return Reply(DeliveryView(**build_delivery_fields(await read_delivery(call))))


async def read_delivery(call: Call) -> DeliveryDetail:
    """Read the delivery in the path."""
    return await webhook_deliveries.get_delivery(
        call.conn,
        identifiers.parse_id("delivery_id", call.params["delivery_id"]),
        endpoint_id=identifiers.parse_id("webhook_id", call.params["webhook_id"]),
        tenant_id=call.tenant_id,
    )


def find_delivery_state(row: DeliveryRow | DeliveryDetail) -> DeliveryState:
    if row.state != "pending":
        return cast("DeliveryState", row.state)
    if row.is_in_flight:
        return "sending"
    return "held" if row.endpoint_state == "disabled" else "pending"


def build_delivery_fields(row: DeliveryRow | DeliveryDetail) -> dict[str, Any]:
    state = find_delivery_state(row)
    return {
        "delivery_id": identifiers.format_id("dlv", row.id),
        "event_id": format_event_id(row.event_id),
        "type": row.type,
        "state": state,
        "attempts": row.attempts,
        "next_attempt_at": format_time(row.next_attempt_at) if state == "pending" else None,
        "created_at": format_time(row.created_at),
        "finished_at": format_optional_time(row.finished_at),
        "status": row.status,
        "error": row.error,
    }


def build_delivery_details(call: Call, row: DeliveryDetail) -> DeliveryDetails:
    may_see = is_allowed(call.principal, Permission.MANAGE)
    body = render_body(
        row.event,
        style=row.format,
        include=row.include if may_see else (),
        tenant=call.principal.tenant,
    )
    return DeliveryDetails(
        **build_delivery_fields(row),
        content_type=body.media_type,
        body=json.loads(body.content),
        response=row.response,
        history=[
            DeliveryAttempt(
                at=format_time(moments.parse(entry["at"], field="at")),
                status=entry.get("status"),
                error=entry.get("error"),
                duration_ms=entry["duration_ms"],
            )
            for entry in json.loads(row.history)
        ],
    )

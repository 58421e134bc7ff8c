"""Operations for incidents and the messages about them."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.incidents import (
    IncidentAction,
    IncidentExpectation,
    IncidentNote,
    IncidentNotification,
    IncidentQuery,
    IncidentSubject,
    IncidentView,
    NotificationQuery,
    NotificationView,
    ThreadEntryView,
)
from rota.core.access import Permission
from rota.core.alerts.finding import PLATFORM_TENANT_ID
from rota.core.errors import Conflict, NotFound
from rota.engine.alerting.incident_keeper import end_incidents
from rota.store import alert_groups, incidents, notifications
from rota.store.incidents import IncidentFilter, IncidentRow, NewIncidentEvent
from rota.store.notifications import NotificationFilter, NotificationRow


def is_platform(call: Call) -> bool:
    """Return whether the caller sees incidents of the installation too."""
    return call.scope == "platform"


def build_incident_view(row: IncidentRow, **more: Any) -> IncidentView:
    return IncidentView(
        incident_id=identifiers.format_id("inc", row.id),
        title=row.title,
        condition=row.condition,
        severity=row.severity,
        state=row.state,
        subject=IncidentSubject(kind=row.subject_kind, id=row.subject_id, name=row.subject_name),
        job_id=None if row.job_id is None else identifiers.format_job_id(row.job_id),
        run_id=None if row.run_id is None else identifiers.format_run_id(row.run_id),
        opened_at=format_time(row.opened_at),
        last_seen_at=format_time(row.last_seen_at),
        acknowledged_at=format_optional_time(row.acknowledged_at),
        acknowledged_by=row.acknowledged_by,
        resolved_at=format_optional_time(row.resolved_at),
        resolved_by=row.resolved_by,
        resolution=row.resolution,
        count=row.bad_runs,
        silenced_until=format_optional_time(row.silenced_until),
        is_flapping=row.is_flapping,
        inhibited_by=row.inhibited_by,
        is_platform=row.tenant_id == PLATFORM_TENANT_ID,
        expectation=IncidentExpectation(
            id=identifiers.format_id("exp", row.expectation_id), name=row.expectation_name
        ),
        facts=json.loads(row.facts),
        **more,
    )


def build_notification_view(row: NotificationRow) -> NotificationView:
    return NotificationView(
        notification_id=identifiers.format_id("ntf", row.id),
        channel=row.channel,
        kind=row.kind,
        severity=row.severity,
        state=row.state,
        title=row.title,
        incident_ids=[identifiers.format_id("inc", id_) for id_ in row.incident_ids],
        incident_count=row.incident_count,
        created_at=format_time(row.created_at),
        next_at=format_optional_time(row.next_at),
        sent_at=format_optional_time(row.sent_at),
        attempts=row.attempts,
        error=row.error,
        digest_id=None if row.digest_id is None else identifiers.format_id("ntf", row.digest_id),
    )


def read_place(cursor: str | None, filters: list[str]) -> tuple[datetime, UUID] | None:
    """Return the position in a cursor of a list by time and id."""
    place = read_cursor(cursor, filters, parts=2)
    if place is None:
        return None
    at = parse_instant(place[0], "cursor")
    return None if at is None else (at, identifiers.parse_id("incident_id", place[1]))


def write_place(filters: list[str], at: datetime, id_: UUID) -> str:
    return write_cursor(filters, [at.isoformat(), id_.hex])


async def read_incident(call: Call) -> IncidentRow:
    """Read the incident in the path."""
    incident_id = identifiers.parse_id("incident_id", call.params["incident_id"])
    row = await incidents.get_incident(
        call.conn,
        incident_id,
        tenant_id=call.tenant_id,
        now=call.now,
        is_platform=is_platform(call),
    )
    if row is None:
        raise NotFound("incident", call.params["incident_id"])
    return row


async def reply_incident(call: Call) -> Reply:
    """Return the incident in the path with its thread and messages."""
    row = await read_incident(call)
    thread = await incidents.read_thread(call.conn, row.id, tenant_id=row.tenant_id)
    sent = await notifications.list_of_incident(call.conn, row.id, tenant_id=row.tenant_id)
    view = build_incident_view(
        row,
        thread=[
            ThreadEntryView(at=format_time(entry.at), type=entry.type, by=entry.by, text=entry.text)
            for entry in thread
        ],
        notifications=[
            IncidentNotification(
                notification_id=identifiers.format_id("ntf", each.id),
                channel=each.channel,
                kind=each.kind,
                state=each.state,
                created_at=format_time(each.created_at),
                sent_at=format_optional_time(each.sent_at),
                attempts=each.attempts,
                error=each.error,
            )
            for each in sent
        ],
    )
    return Reply(view)


async def add_event(call: Call, row: IncidentRow, type_: str, text: str | None) -> None:
    """Add an entry of the caller to the thread of an incident."""
    event = NewIncidentEvent(
        tenant_id=row.tenant_id,
        incident_id=row.id,
        type=type_,
        text=text,
        by=call.actor,
        details={
            "title": row.title,
            "condition": row.condition,
            "severity": row.severity,
            "subject": {"kind": row.subject_kind, "id": row.subject_id, "name": row.subject_name},
            "job_id": row.job_id,
            "run_id": row.run_id,
            "count": row.bad_runs,
            "expectation": {"id": row.expectation_id, "name": row.expectation_name},
        },
    )
    await incidents.add_events(call.conn, [event], now=call.now)


@operation(
    "GET",
    "/v1/incidents",
    tag="incidents",
    permission=Permission.READ,
    scope="either",
    query=IncidentQuery,
    answer=ListPage[IncidentView],
    problems=("malformed_request", "not_found"),
)
async def list_incidents(call: Call) -> Reply:
    """List incidents, latest first.

    A platform key also sees incidents of the installation itself.
    """
    query: IncidentQuery = call.query
    filters = ["incidents", query.state or "", query.severity or "", query.job or ""]
    is_silenced = None
    states: tuple[str, ...] | None = None
    if query.state == "silenced":
        states, is_silenced = ("open", "acknowledged"), True
    elif query.state is not None:
        states = (query.state,)
        is_silenced = False if query.state == "open" else None
    found = await incidents.list_incidents(
        call.conn,
        IncidentFilter(
            tenant_id=call.tenant_id,
            is_platform=is_platform(call),
            states=states,
            is_silenced=is_silenced,
            severity=query.severity,
            job_id=None if query.job is None else identifiers.parse_id("job_id", query.job),
        ),
        now=call.now,
        before=read_place(query.cursor, filters),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_place(filters, shown[-1].opened_at, shown[-1].id)
    data = [build_incident_view(row) for row in shown]
    return Reply(ListPage[IncidentView](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/incidents/{incident_id}",
    tag="incidents",
    permission=Permission.READ,
    scope="either",
    answer=IncidentView,
)
async def get_incident(call: Call) -> Reply:
    """Get an incident with its thread and messages."""
    return await reply_incident(call)


@operation(
    "POST",
    "/v1/incidents/{incident_id}/acknowledge",
    tag="incidents",
    permission=Permission.OPERATE,
    scope="either",
    body=IncidentAction,
    body_required=False,
    answer=IncidentView,
    problems=("conflict",),
    example={"note": "I am on it"},
)
async def acknowledge_incident(call: Call) -> Reply:
    """Acknowledge an incident.

    Repeated messages and escalations that ask for it stop until the incident ends, its severity
    rises or another incident joins its group.
    """
    action: IncidentAction = call.body or IncidentAction()
    row = await read_incident(call)
    if row.state == "resolved":
        raise Conflict("incident", "it has ended; only open incidents can be acknowledged")
    if row.state == "open":
        await alert_groups.wake_incident_groups(call.conn, [row.id], at=call.now)
        await incidents.acknowledge_incident(
            call.conn, row.id, tenant_id=row.tenant_id, by=call.actor, now=call.now
        )
        await add_event(call, row, "acknowledged", action.note)
        await write_audit_entry(
            call,
            "incident.acknowledge",
            "incident",
            identifiers.format_id("inc", row.id),
            {"title": row.title, "note": action.note},
        )
    return await reply_incident(call)


@operation(
    "POST",
    "/v1/incidents/{incident_id}/resolve",
    tag="incidents",
    permission=Permission.OPERATE,
    scope="either",
    body=IncidentAction,
    body_required=False,
    answer=IncidentView,
    problems=("conflict",),
    example={"note": "fixed by hand"},
)
async def resolve_incident(call: Call) -> Reply:
    """Resolve an incident by hand.

    The next violation opens a new incident.
    """
    action: IncidentAction = call.body or IncidentAction()
    row = await read_incident(call)
    if row.state == "resolved":
        raise Conflict("incident", "it has ended already")
    if action.note is not None:
        await add_event(call, row, "note", action.note)
    await end_incidents(
        call.conn,
        [row.id],
        now=call.now,
        resolution=f"resolved by {call.actor}",
        by=call.actor,
    )
    await write_audit_entry(
        call,
        "incident.resolve",
        "incident",
        identifiers.format_id("inc", row.id),
        {"title": row.title, "note": action.note},
    )
    return await reply_incident(call)


@operation(
    "POST",
    "/v1/incidents/{incident_id}/notes",
    tag="incidents",
    permission=Permission.OPERATE,
    scope="either",
    body=IncidentNote,
    answer=IncidentView,
    status=201,
    example={"text": "the supplier is late"},
)
async def add_incident_note(call: Call) -> Reply:
    """Add a note to the thread of an incident."""
    note: IncidentNote = call.body
    row = await read_incident(call)
    await add_event(call, row, "note", note.text)
    incident_id = identifiers.format_id("inc", row.id)
    await write_audit_entry(call, "incident.note", "incident", incident_id, {"text": note.text})
    return await reply_incident(call)


@operation(
    "GET",
    "/v1/notifications",
    tag="incidents",
    permission=Permission.READ,
    scope="either",
    query=NotificationQuery,
    answer=ListPage[NotificationView],
    problems=("malformed_request",),
)
async def list_notifications(call: Call) -> Reply:
    """List messages about incidents, latest first."""
    query: NotificationQuery = call.query
    filters = ["notifications", query.channel or "", query.state or ""]
    found = await notifications.list_notifications(
        call.conn,
        NotificationFilter(
            tenant_id=call.tenant_id,
            is_platform=is_platform(call),
            channel=query.channel,
            state=query.state,
        ),
        before=read_place(query.cursor, filters),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_place(filters, shown[-1].created_at, shown[-1].id)
    data = [build_notification_view(row) for row in shown]
    return Reply(ListPage[NotificationView](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/notifications/{notification_id}",
    tag="incidents",
    permission=Permission.READ,
    scope="either",
    answer=NotificationView,
)
async def get_notification(call: Call) -> Reply:
    """Get a message about incidents."""
    notification_id = identifiers.parse_id("notification_id", call.params["notification_id"])
    row = await notifications.get_notification(
        call.conn, notification_id, tenant_id=call.tenant_id, is_platform=is_platform(call)
    )
    if row is None:
        raise NotFound("notification", call.params["notification_id"])
    return Reply(build_notification_view(row))

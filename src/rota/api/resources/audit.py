"""Operations for the audit log."""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, read_number, write_cursor
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.schemas.field_types import format_time
from rota.api.schemas.tenancy import AuditQuery, AuditView
from rota.api.views import load_json
from rota.core.access import Permission
from rota.store import audit
from rota.store.audit import AuditEntry, AuditFilter


def build_audit_view(entry: AuditEntry) -> AuditView:
    return AuditView(
        id=entry.id,
        at=format_time(entry.at),
        actor=entry.actor,
        key_id=None if entry.key_id is None else identifiers.format_id("key", entry.key_id),
        source=entry.source,
        origin=entry.origin,
        action=entry.action,
        thing=entry.thing,
        thing_id=entry.thing_id,
        before=load_json(entry.before),
        after=load_json(entry.after),
        request_id=entry.request_id,
    )


@operation(
    "GET",
    "/v1/audit",
    tag="audit",
    permission=Permission.MANAGE,
    query=AuditQuery,
    answer=ListPage[AuditView],
    problems=("malformed_request",),
)
async def list_audit(call: Call) -> Reply:
    """List the audit log, newest first.

    Reads are logged too.
    """
    query: AuditQuery = call.query
    filters = [query.thing, query.thing_id, query.actor, query.action, query.since, query.until]
    place = read_cursor(query.cursor, filters)
    found = await audit.list_entries(
        call.conn,
        tenant_id=call.tenant_id,
        filter=AuditFilter(
            thing=query.thing,
            thing_id=query.thing_id,
            actor=query.actor,
            actions=None if query.action is None else (query.action,),
            since=parse_instant(query.since, "since"),
            until=parse_instant(query.until, "until"),
        ),
        after=None if place is None else read_number(place),
        limit=query.limit + 1,
    )
    data = found[: query.limit]
    more = write_cursor(filters, [str(data[-1].id)]) if len(found) > query.limit else None
    await write_audit_entry(call, "audit.read", "audit", "log", {"number": len(data)})
    return Reply(
        ListPage[AuditView](data=[build_audit_view(entry) for entry in data], next_cursor=more)
    )

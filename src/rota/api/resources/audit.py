"""Operations for the audit log."""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page, cursor, number_of, place_of
from rota.api.resources.shared import audited, instant
from rota.api.shapes.pieces import moment
from rota.api.shapes.tenancy import AuditQuery, AuditView
from rota.api.views import loaded
from rota.core.access import Permission
from rota.store import audit
from rota.store.audit import AuditEntry, AuditFilter


def view(entry: AuditEntry) -> AuditView:
    return AuditView(
        id=entry.id,
        at=moment(entry.at),
        actor=entry.actor,
        key_id=None if entry.key_id is None else identifiers.shown("key", entry.key_id),
        source=entry.source,
        origin=entry.origin,
        action=entry.action,
        thing=entry.thing,
        thing_id=entry.thing_id,
        before=loaded(entry.before),
        after=loaded(entry.after),
        request_id=entry.request_id,
    )


@operation(
    "GET",
    "/v1/audit",
    tag="audit",
    permission=Permission.MANAGE,
    query=AuditQuery,
    answer=Page[AuditView],
    problems=("malformed_request",),
)
async def list_audit(call: Call) -> Reply:
    """List the audit log, newest first.

    Reads are logged too.
    """
    query: AuditQuery = call.query
    filters = [query.thing, query.thing_id, query.actor, query.action, query.since, query.until]
    place = place_of(query.cursor, filters)
    found = await audit.list_entries(
        call.conn,
        tenant_id=call.tenant_id,
        filter=AuditFilter(
            thing=query.thing,
            thing_id=query.thing_id,
            actor=query.actor,
            actions=None if query.action is None else (query.action,),
            since=instant(query.since, "since"),
            until=instant(query.until, "until"),
        ),
        after=None if place is None else number_of(place),
        limit=query.limit + 1,
    )
    data = found[: query.limit]
    more = cursor(filters, [str(data[-1].id)]) if len(found) > query.limit else None
    await audited(call, "audit.read", "audit", "log", {"number": len(data)})
    return Reply(Page[AuditView](data=[view(entry) for entry in data], next_cursor=more))

"""Operations for routes: which channels get the messages of an incident, and when."""

import json

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import read_expected_version, write_audit_entry
from rota.api.schemas.expectations import RouteDraft, RouteView
from rota.api.schemas.field_types import format_time
from rota.api.schemas.runs import PageQuery
from rota.contract.expectation_values import to_route_steps
from rota.core.access import Permission
from rota.core.alerts.routes import AlertRoute
from rota.core.errors import NameTaken, VersionChanged
from rota.core.submissions import check_visible_name
from rota.store import alert_routes
from rota.store.alert_routes import RouteRow


def build_route_view(row: RouteRow) -> RouteView:
    return RouteView(
        name=row.name,
        steps=json.loads(row.steps),
        project=row.project,
        version=row.version,
        created_at=format_time(row.created_at),
        updated_at=format_time(row.updated_at),
    )


def reply_route(row: RouteRow, status: int | None = None) -> Reply:
    return Reply(build_route_view(row), status, headers={"ETag": f'"{row.version}"'})


@operation(
    "PUT",
    "/v1/routes/{name}",
    tag="routes",
    permission=Permission.DEFINE,
    body=RouteDraft,
    answer=RouteView,
    other_statuses=(201,),
    problems=("conflict", "quota_exceeded", "version_changed"),
    example={
        "steps": [
            {"to": ["chat"], "repeat": "4h"},
            {"to": ["oncall"], "after": "30m", "unless": "acknowledged", "severity": "page"},
        ]
    },
)
async def put_route(call: Call) -> Reply:
    """Create a route (201) or replace it (200).

    A job or a rule reports to a route by its name. A route cannot have the name of a channel.
    """
    name = check_visible_name(call.params["name"], "name")
    draft: RouteDraft = call.body
    route = AlertRoute(tenant_id=call.tenant_id, name=name, steps=to_route_steps(draft.steps))
    targets = await alert_routes.read_targets(call.conn, tenant_id=call.tenant_id)
    targets.check_channels(route.steps)
    if name in targets.channels:
        raise NameTaken("name", name, "a channel has this name; choose another name")
    wanted = read_expected_version(call)
    before = await alert_routes.find_route(call.conn, name, tenant_id=call.tenant_id)
    if before is None:
        if wanted is not None:
            raise VersionChanged("route", wanted, 0)
        created = await alert_routes.create_route(call.conn, route)
        await write_audit_entry(call, "route.create", "route", name, {"steps": _steps(created)})
        return reply_route(created, 201)
    replaced = await alert_routes.replace_route(
        call.conn,
        route,
        version=before.version if wanted is None else wanted,
        project=before.project,
    )
    await write_audit_entry(
        call,
        "route.update",
        "route",
        name,
        {"steps": _steps(replaced)},
        {"steps": _steps(before)},
    )
    return reply_route(replaced)


def _steps(row: RouteRow) -> object:
    return json.loads(row.steps)


@operation(
    "GET",
    "/v1/routes",
    tag="routes",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[RouteView],
    problems=("malformed_request",),
)
async def list_routes(call: Call) -> Reply:
    """List routes by name."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["routes"])
    found = await alert_routes.list_routes(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["routes"], [shown[-1].name]) if len(found) > query.limit else None
    data = [build_route_view(row) for row in shown]
    return Reply(ListPage[RouteView](data=data, next_cursor=more))


@operation("GET", "/v1/routes/{name}", tag="routes", permission=Permission.READ, answer=RouteView)
async def get_route(call: Call) -> Reply:
    """Get a route."""
    name = call.params["name"]
    return reply_route(await alert_routes.get_route(call.conn, name, tenant_id=call.tenant_id))


@operation(
    "DELETE",
    "/v1/routes/{name}",
    tag="routes",
    permission=Permission.DEFINE,
    status=204,
    problems=("conflict",),
)
async def delete_route(call: Call) -> Reply:
    """Delete a route that no job and no rule reports to."""
    name = call.params["name"]
    before = await alert_routes.delete_route(call.conn, name, tenant_id=call.tenant_id)
    await write_audit_entry(call, "route.delete", "route", name, None, {"steps": _steps(before)})
    return Reply()

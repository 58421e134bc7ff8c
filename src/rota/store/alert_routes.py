"""Stores routes: which channels get the messages of an incident, and when."""

import json
from datetime import datetime
from typing import Final, NamedTuple

from rota.contract.expectation_values import read_stored_steps, write_route_steps
from rota.contract.expectations import ROUTES_PER_TENANT_MAX
from rota.core.alerts.routes import AlertRoute, AlertTargets
from rota.core.errors import Conflict, InvalidInput, NotFound, QuotaExceeded, VersionChanged
from rota.core.submissions import encode_canonical
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

_USERS_SHOWN_MAX: Final = 3


class RouteRow(NamedTuple):
    """A stored route. `steps` is a JSON text."""

    tenant_id: int
    name: str
    steps: str
    version: int
    project: str | None
    created_at: datetime
    updated_at: datetime


class RouteUser(NamedTuple):
    name: str


class AlertTargetRow(NamedTuple):
    name: str
    is_route: bool


READ_ALL = statement("alert_routes/read_all", RouteRow)
PAGE = statement("alert_routes/page", RouteRow)
GET = statement("alert_routes/get", RouteRow)
OF_PROJECT = statement("alert_routes/of_project", RouteRow)
CREATE = statement("alert_routes/create", RouteRow)
REPLACE = statement("alert_routes/replace", RouteRow)
DELETE = statement("alert_routes/delete", RouteRow)
USERS = statement("alert_routes/users", RouteUser)
READ_TARGETS = statement("alert_routes/read_targets", AlertTargetRow)


async def read_routes(
    conn: Connection, *, tenant_id: int | None = None
) -> dict[tuple[int, str], AlertRoute]:
    """Return the routes of a tenant by tenant and name; None: of all tenants."""
    rows = await READ_ALL.all(conn, tenant_id=tenant_id)
    routes = (to_route(row) for row in rows)
    return {(route.tenant_id, route.name): route for route in routes if route is not None}


async def read_targets(conn: Connection, *, tenant_id: int) -> AlertTargets:
    """Return the names that alerts of a tenant may report to."""
    rows = await READ_TARGETS.all(conn, tenant_id=tenant_id)
    return AlertTargets(
        routes=frozenset(row.name for row in rows if row.is_route),
        channels=frozenset(row.name for row in rows if not row.is_route),
    )


def to_route(row: RouteRow) -> AlertRoute | None:
    """Return a stored route as core's value; None if only newer code reads it."""
    try:
        steps = read_stored_steps(json.loads(row.steps))
    except InvalidInput:
        return None
    return AlertRoute(tenant_id=row.tenant_id, name=row.name, steps=steps)


async def list_routes(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[RouteRow]:
    """Return routes by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def find_route(conn: Connection, name: str, *, tenant_id: int) -> RouteRow | None:
    return await GET.one(conn, tenant_id=tenant_id, name=name)


async def get_route(conn: Connection, name: str, *, tenant_id: int) -> RouteRow:
    row = await find_route(conn, name, tenant_id=tenant_id)
    if row is None:
        raise NotFound("route", name)
    return row


async def read_project_routes(
    conn: Connection, *, tenant_id: int, project: str
) -> dict[str, RouteRow]:
    """Return the routes that the file of a project declares, by name."""
    rows = await OF_PROJECT.all(conn, tenant_id=tenant_id, project=project)
    return {row.name: row for row in rows}


async def create_route(
    conn: Connection, route: AlertRoute, *, project: str | None = None
) -> RouteRow:
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=route.tenant_id, resource="routes")
        existing = await PAGE.all(
            conn, tenant_id=route.tenant_id, after="", most=ROUTES_PER_TENANT_MAX
        )
        if len(existing) >= ROUTES_PER_TENANT_MAX:
            reason = f"it has {len(existing)} routes; delete one before adding another"
            raise QuotaExceeded("routes", ROUTES_PER_TENANT_MAX, reason)
        row = await CREATE.one(
            conn,
            tenant_id=route.tenant_id,
            name=route.name,
            steps=encode_canonical(write_route_steps(route.steps)),
            project=project,
        )
    if row is None:
        raise Conflict("route", "another request created it; retry", retry_after=1.0)
    return row


async def replace_route(
    conn: Connection, route: AlertRoute, *, version: int, project: str | None = None
) -> RouteRow:
    """Replace a route. Raises `VersionChanged` if it no longer has this version."""
    row = await REPLACE.one(
        conn,
        tenant_id=route.tenant_id,
        name=route.name,
        version=version,
        steps=encode_canonical(write_route_steps(route.steps)),
        project=project,
    )
    if row is None:
        current = await get_route(conn, route.name, tenant_id=route.tenant_id)
        raise VersionChanged("route", wanted=version, found=current.version)
    return row


async def delete_route(conn: Connection, name: str, *, tenant_id: int) -> RouteRow:
    """Delete a route. Raises `Conflict` while a job or a rule reports to it."""
    users = await USERS.all(conn, tenant_id=tenant_id, name=name, most=_USERS_SHOWN_MAX)
    if users:
        names = ", ".join(repr(user.name) for user in users)
        raise Conflict("route", f"used by {names}; change their alerts first")
    row = await DELETE.one(conn, tenant_id=tenant_id, name=name)
    if row is None:
        raise NotFound("route", name)
    return row

"""Compares and writes the rules and routes that a manifest file declares.

They belong to the project of the file. Those that the file no longer declares are deleted with
`prune`, as jobs are. Routes are written before the jobs that report to them and deleted after.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rota.contract.expectation_values import (
    read_stored_policy,
    write_conditions,
    write_policy,
    write_route_steps,
    write_selector,
)
from rota.core.alerts.routes import AlertRoute, AlertTargets
from rota.core.alerts.rules import NewRule
from rota.core.errors import Conflict, InvalidInput
from rota.core.manifest.declaration import JobManifest
from rota.core.manifest.differences import Difference, find_differences
from rota.core.submissions import prefix_errors
from rota.engine.submission.alert_rules import RuleContext, check_definition
from rota.store import alert_routes, expectations
from rota.store.alert_routes import RouteRow
from rota.store.driver import Connection
from rota.store.expectations import RuleRow

ROUTE: Final = "route"
RULE: Final = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestAlertChange:
    """A rule or a route that differs from its declaration. `declared` is None if the file no longer
    declares it, `stored` is None if it does not exist.
    """

    thing: Literal["rule", "route"]
    name: str
    stored: RuleRow | RouteRow | None
    declared: NewRule | AlertRoute | None
    differences: tuple[Difference, ...] = ()

    @property
    def action(self) -> Literal["create", "update", "prune"]:
        if self.declared is None:
            return "prune"
        return "create" if self.stored is None else "update"

    @property
    def version(self) -> int:
        return 0 if self.stored is None else self.stored.version

    @property
    def key(self) -> str:
        return f"{self.thing}:{self.name}"


async def compare_alerts(
    conn: Connection, manifest: JobManifest, context: RuleContext, *, tenant_id: int
) -> tuple[ManifestAlertChange, ...]:
    """Return the rules and routes that differ. Refuse what cannot be stored, and jobs that report
    to an unknown route or channel.
    """
    routes = {route.name for route in manifest.routes}
    known = AlertTargets(routes=context.targets.routes | routes, channels=context.targets.channels)
    checked = RuleContext(principal=context.principal, targets=known, now=context.now)
    for place, route in enumerate(manifest.routes):
        known.check_channels(route.steps, f"routes[{place}].steps")
    for place, rule in enumerate(manifest.rules):
        with prefix_errors(f"alerts[{place}]"):
            check_definition(rule, checked)
    for place, job in enumerate(manifest.jobs):
        target = None if job.spec.alert is None else job.spec.alert.get("to")
        if target is not None:
            known.check_target(str(target), f"jobs[{place}].alert.to")
    return (
        *await _compare_routes(conn, manifest, tenant_id),
        *await _compare_rules(conn, manifest, tenant_id),
    )


async def _compare_routes(
    conn: Connection, manifest: JobManifest, tenant_id: int
) -> Sequence[ManifestAlertChange]:
    owned = await alert_routes.read_project_routes(
        conn, tenant_id=tenant_id, project=manifest.project
    )
    found: list[ManifestAlertChange] = []
    for place, route in enumerate(manifest.routes):
        stored = owned.pop(route.name, None)
        if stored is None:
            stored = await alert_routes.find_route(conn, route.name, tenant_id=tenant_id)
        _refuse_other_owner(stored, manifest.project, f"routes[{place}].name", ROUTE)
        after = {"steps": write_route_steps(route.steps)}
        before = {} if stored is None else {"steps": json.loads(stored.steps)}
        found += _build_change(ROUTE, stored, route, before, after, manifest.project)
    found += [_build_prune(ROUTE, stored) for stored in owned.values()]
    return found


async def _compare_rules(
    conn: Connection, manifest: JobManifest, tenant_id: int
) -> Sequence[ManifestAlertChange]:
    owned = await expectations.read_project_rules(
        conn, tenant_id=tenant_id, project=manifest.project
    )
    named = await expectations.find_rules(
        conn, tenant_id=tenant_id, names=[rule.name for rule in manifest.rules]
    )
    found: list[ManifestAlertChange] = []
    for place, rule in enumerate(manifest.rules):
        owned.pop(rule.name, None)
        stored = named.get(rule.name)
        _refuse_other_owner(stored, manifest.project, f"alerts[{place}].name", RULE)
        before = {} if stored is None else _render_stored_rule(stored)
        found += _build_change(RULE, stored, rule, before, _render_rule(rule), manifest.project)
    found += [_build_prune(RULE, stored) for stored in owned.values()]
    return found


def _refuse_other_owner(
    stored: RuleRow | RouteRow | None, project: str, field: str, thing: str
) -> None:
    if stored is not None and stored.project not in {None, project}:
        wanted = f"project {stored.project!r} has a {thing} with this name; choose another name"
        raise InvalidInput(field, stored.name, wanted)


def _build_change(
    thing: Literal["rule", "route"],
    stored: RuleRow | RouteRow | None,
    declared: NewRule | AlertRoute,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    project: str,
) -> Iterator[ManifestAlertChange]:
    """Yield the change, if there is one. What the API created becomes part of the project."""
    differences = tuple(find_differences(dict(before), dict(after)))
    if stored is not None and stored.project != project:
        differences += (Difference("project", stored.project, project),)
    if stored is None or differences:
        yield ManifestAlertChange(
            thing=thing,
            name=declared.name,
            stored=stored,
            declared=declared,
            differences=differences,
        )


def _build_prune(
    thing: Literal["rule", "route"], stored: RuleRow | RouteRow
) -> ManifestAlertChange:
    return ManifestAlertChange(thing=thing, name=stored.name, stored=stored, declared=None)


def _render_rule(rule: NewRule) -> dict[str, Any]:
    return {
        "match": write_selector(rule.selector),
        "when": write_conditions([rule.condition]),
        "enabled": rule.is_enabled,
        **write_policy(rule.policy),
    }


def _render_stored_rule(row: RuleRow) -> dict[str, Any]:
    return {
        "match": json.loads(row.selector),
        "when": json.loads(row.condition),
        "enabled": row.is_enabled,
        **write_policy(read_stored_policy(json.loads(row.policy))),
    }


def refuse_outdated_alerts(changes: Sequence[ManifestAlertChange], seen: Mapping[str, int]) -> None:
    for change in changes:
        saw = seen.get(change.key, 0)
        if saw != change.version:
            detail = f"{change.thing} {change.name!r} has version {change.version} now, not {saw}"
            raise Conflict("the manifest", f"the plan is outdated; nothing was changed: {detail}")


async def write_routes(
    conn: Connection, changes: Sequence[ManifestAlertChange], *, project: str
) -> None:
    """Write the routes, before the jobs that report to them."""
    for change in changes:
        if isinstance(change.declared, AlertRoute):
            if change.stored is None:
                await alert_routes.create_route(conn, change.declared, project=project)
            else:
                await alert_routes.replace_route(
                    conn, change.declared, version=change.version, project=project
                )


async def write_rules(
    conn: Connection, changes: Sequence[ManifestAlertChange], *, new_id: Any
) -> None:
    """Write the rules, then delete what the file no longer declares; routes last."""
    for change in changes:
        if change.declared is None and isinstance(change.stored, RuleRow):
            stored = change.stored
            await expectations.delete_rule(conn, stored.id, tenant_id=stored.tenant_id)
    for change in changes:
        if isinstance(change.declared, NewRule):
            if isinstance(change.stored, RuleRow):
                await expectations.replace_rule(
                    conn, change.stored.id, change.declared, version=change.version
                )
            else:
                await expectations.create_rule(conn, new_id(), change.declared)
    for change in changes:
        if change.declared is None and isinstance(change.stored, RouteRow):
            stored_route = change.stored
            await alert_routes.delete_route(
                conn, stored_route.name, tenant_id=stored_route.tenant_id
            )

"""Operations for jobs as code: plan and apply a manifest."""

from dataclasses import replace
from typing import Final

from msgspec import UNSET, structs

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.job_differences import build_changes, group_differences
from rota.api.operations import operation
from rota.api.schemas.field_types import format_time
from rota.api.schemas.manifests import (
    AlertChangeView,
    ApplyDraft,
    CalendarChangeView,
    ChangeView,
    DeclaredJob,
    FieldChange,
    ManifestDraft,
    ManualChangeView,
    PlanView,
)
from rota.contract.calendar import read_calendar
from rota.contract.expectation_values import to_route_steps
from rota.contract.job import JobDraft, JobFields
from rota.contract.job_drafts import build_spec
from rota.core.access import Permission, require_permission
from rota.core.alerts.routes import AlertRoute
from rota.core.alerts.rules import NewRule
from rota.core.errors import InvalidInput
from rota.core.kind_remedies import warn_unknown_fields, warn_unserved
from rota.core.manifest.declaration import JobManifest, ManifestJob, build_manifest
from rota.core.origins import ChangeOrigin
from rota.core.submissions import check_visible_name, prefix_errors
from rota.core.time.budget import Check
from rota.engine.submission import manifests
from rota.engine.submission.alert_rules import RuleContext, build_new_rule
from rota.engine.submission.manifest_alerts import ManifestAlertChange
from rota.engine.submission.manifests import (
    ApplyOptions,
    CalendarChange,
    JobPlan,
    ManifestAction,
    ManifestContext,
    ManifestPlan,
)
from rota.store import alert_routes, audit, calendars, hints, projects
from rota.store.audit import NewAuditEntry
from rota.store.expectations import RuleRow
from rota.store.projects import ManualChange

MANIFEST_BODY_BYTES_MAX: Final = 5_000_000
MANIFEST_PROBLEMS: Final = ("invalid_schedule", "conflict", "quota_exceeded")
SPREAD_NOTE: Final = "its ticks are spread by its id, which is assigned on creation"
# The origin of an applied manifest: a file, unless it was imported from another system.
APPLIED_ORIGINS: Final = {ChangeOrigin.IMPORT: ChangeOrigin.IMPORT}
AUDIT_ACTIONS: Final = {
    ManifestAction.CREATE: "job.create",
    ManifestAction.UPDATE: "job.update",
    ManifestAction.PRUNE: "job.delete",
}
ALERT_THINGS: Final = {"rule": "expectation", "route": "route"}
ALERT_ACTIONS: Final = {"create": "create", "update": "update", "prune": "delete"}
MANIFEST_EXAMPLE: Final = {
    "project": "billing",
    "jobs": [
        {
            "name": "send invoices",
            "kind": "invoice",
            "schedule": {"cron": "0 6 1 * *", "timezone": "Europe/Berlin"},
            "retries": 5,
        }
    ],
}


@operation(
    "POST",
    "/v1/manifests/plan",
    tag="jobs as code",
    permission=Permission.READ,
    # It computes outside its transaction.
    scope="none",
    body=ManifestDraft,
    answer=PlanView,
    problems=MANIFEST_PROBLEMS,
    body_bytes_max=MANIFEST_BODY_BYTES_MAX,
    example=MANIFEST_EXAMPLE,
)
async def plan_manifest(call: Call) -> Reply:
    """Plan a manifest: show what applying it would change, and which next runs move.

    Changes nothing. Jobs of the project that are not declared appear as `prune`.
    """
    wanted = await call.compute(lambda check: read_manifest(call, call.body, check))
    async with call.open_tenant_transaction():
        at = await build_apply_context(call)
        seen = await manifests.read_stored_project(at, wanted)
    notices = await list_warnings(call, wanted)

    def compute(check: Check) -> PlanView:
        plan = manifests.plan_manifest(replace(at, check=check), wanted, seen)
        return build_plan_view(wanted.project, plan, notices, done=False)

    return Reply(await call.compute(compute))


@operation(
    "POST",
    "/v1/manifests/apply",
    tag="jobs as code",
    permission=Permission.DEFINE,
    body=ApplyDraft,
    answer=PlanView,
    problems=(*MANIFEST_PROBLEMS, "illegal_move"),
    body_bytes_max=MANIFEST_BODY_BYTES_MAX,
    example=MANIFEST_EXAMPLE,
)
async def apply_manifest(call: Call) -> Reply:
    """Apply a manifest: make the jobs of a project match it, all or none.

    With `seen` of a plan, the call is refused if anything has changed since. Returns the changes
    made.
    """
    draft: ApplyDraft = call.body
    wanted = await call.compute(lambda check: read_manifest(call, draft, check))
    wish = ApplyOptions(
        by=call.actor,
        prune=draft.prune,
        seen=draft.seen,
        seen_calendars=draft.seen_calendars,
        seen_alerts=draft.seen_alerts,
    )
    done = await manifests.apply_manifest(await build_apply_context(call), wanted, wish)
    if done.calendars:
        # Other jobs of the tenant may use them. A refusal rolls the transaction back.
        require_permission(call.principal, Permission.MANAGE)
    if done.changes or done.touched or done.calendars or done.alerts:
        await audit_manifest(call, wanted.project, done)
    call.hints |= {hints.JOBS_CHANNEL, hints.RUNS_CHANNEL, hints.CANCELS_CHANNEL}
    return Reply(
        build_plan_view(wanted.project, done, await list_warnings(call, wanted), done=True)
    )


async def list_warnings(call: Call, wanted: JobManifest) -> list[str]:
    """Return warnings about active jobs: no worker, or a field that workers refuse."""
    active = [job.spec for job in wanted.jobs if not job.paused]
    served = await call.service.served_kinds.read_kinds(call.service.pool, call.principal.tenant)
    notices = warn_unserved(((spec.kind, spec.payload) for spec in active), served)
    for spec in active:
        unknown = warn_unknown_fields(spec.kind, spec.payload, served)
        notices += [f"{spec.name}: {sentence}" for sentence in unknown]
    return notices


def read_manifest(call: Call, draft: ManifestDraft, check: Check) -> JobManifest:
    jobs = []
    for index, job in enumerate(draft.jobs):
        check()
        with prefix_errors(f"jobs[{index}]"):
            jobs.append(build_declared_job(call, job))
    dates = []
    for index, item in enumerate(draft.calendars):
        if item.calendar.get("name", item.name) != item.name:
            wanted = "must equal the `name` next to `calendar`, or be omitted"
            raise InvalidInput(f"calendars[{index}].calendar.name", item.calendar["name"], wanted)
        with prefix_errors(f"calendars[{index}].calendar"):
            dates.append(read_calendar({**item.calendar, "name": item.name}))
    rules, routes = read_declared_alerts(call, draft)
    return build_manifest(draft.project, jobs, dates, rules=rules, routes=routes)


def read_declared_alerts(
    call: Call, draft: ManifestDraft
) -> tuple[list[NewRule], list[AlertRoute]]:
    rules, routes = [], []
    for index, rule in enumerate(draft.alerts):
        with prefix_errors(f"alerts[{index}]"):
            rules.append(build_new_rule(rule, tenant_id=call.tenant_id, project=draft.project))
    for index, route in enumerate(draft.routes):
        with prefix_errors(f"routes[{index}]"):
            name, steps = check_visible_name(route.name, "name"), to_route_steps(route.steps)
        routes.append(AlertRoute(tenant_id=call.tenant_id, name=name, steps=steps))
    return rules, routes


def build_declared_job(call: Call, job: DeclaredJob) -> ManifestJob:
    values = {info.name: getattr(job, info.name) for info in structs.fields(JobFields)}
    spec = build_spec(JobDraft(**values), tenant=call.principal.tenant)
    when = (job.schedule, job.schedule_type, job.schedule_time, job.cron_expression, job.timezone)
    if all(value is UNSET for value in when):
        # A new job without a schedule runs at once; one in a file would run with each new project.
        spec = replace(spec, schedule={"on_demand": True})
    return ManifestJob(spec=spec, paused=None if job.paused is UNSET else job.paused)


async def build_apply_context(call: Call) -> ManifestContext:
    return ManifestContext(
        conn=call.conn,
        tenant_id=call.tenant_id,
        now=call.now,
        new_id=call.service.new_id,
        calendars=await calendars.read_calendars(call.conn, tenant_id=call.tenant_id),
        rules=RuleContext(
            principal=call.principal,
            targets=await alert_routes.read_targets(call.conn, tenant_id=call.tenant_id),
            now=call.now,
        ),
    )


async def audit_manifest(call: Call, project: str, done: ManifestPlan) -> None:
    """Audit what was applied: an entry for each job, then one for the manifest, from which the next
    plan counts.
    """
    updated = [
        change.row.id
        for change in done.changes
        if change.row and change.action is ManifestAction.UPDATE
    ]
    now = await projects.read_jobs(call.conn, tenant_id=call.tenant_id, ids=updated)
    entries = []
    for change in done.changes:
        if change.action is ManifestAction.UPDATE and not change.differences:
            continue  # only its calendar changed
        version = now[change.name].version if change.name in now else max(1, change.version)
        before, after = build_changes(group_differences(change.differences), version)
        job_entry = build_audit_entry(
            call, AUDIT_ACTIONS[change.action], "job", find_job_id(change) or ""
        )
        after = {"name": change.name, "project": project, **after}
        entries.append(replace(job_entry, before=before or None, after=after))
    for date in done.calendars:
        action = "calendar.create" if date.stored is None else "calendar.update"
        entries.append(
            replace(
                build_audit_entry(call, action, "calendar", date.name), after={"project": project}
            )
        )
    for alert in done.alerts:
        action = f"{ALERT_THINGS[alert.thing]}.{ALERT_ACTIONS[alert.action]}"
        entry = build_audit_entry(call, action, ALERT_THINGS[alert.thing], find_alert_id(alert))
        entries.append(replace(entry, after={"name": alert.name, "project": project}))
    count = {action.value: 0 for action in ManifestAction}
    for change in done.changes:
        count[change.action.value] += 1
    whole = replace(
        build_audit_entry(call, "manifest.apply", projects.MANIFEST_THING, project), after=count
    )
    await audit.record_changes(call.conn, entries)
    await audit.record_change(call.conn, whole)


def find_alert_id(change: ManifestAlertChange) -> str:
    """Return the id that audit entries of the rule or route have; a new rule is found by name."""
    if isinstance(change.stored, RuleRow):
        return identifiers.format_id("exp", change.stored.id)
    return change.name


def build_audit_entry(call: Call, action: str, thing: str, thing_id: str) -> NewAuditEntry:
    return NewAuditEntry(
        tenant_id=call.tenant_id,
        actor=call.actor,
        key_id=call.principal.key_id,
        source=call.address,
        action=action,
        thing=thing,
        thing_id=thing_id,
        request_id=call.request_id,
        origin=APPLIED_ORIGINS.get(call.origin, ChangeOrigin.FILE),
    )


def build_plan_view(
    project: str, plan: ManifestPlan, warnings: list[str], *, done: bool
) -> PlanView:
    return PlanView(
        project=project,
        changes=[build_change_view(change, done=done) for change in plan.changes],
        calendars=[build_calendar_change_view(change) for change in plan.calendars],
        alerts=[build_alert_change_view(change) for change in plan.alerts],
        unchanged=plan.unchanged,
        touched={name: build_touched_view(touched) for name, touched in plan.touched.items()},
        seen=dict(plan.seen),
        seen_calendars={change.name: change.version for change in plan.calendars},
        seen_alerts={change.key: change.version for change in plan.alerts},
        warnings=warnings,
    )


def build_calendar_change_view(change: CalendarChange) -> CalendarChangeView:
    return CalendarChangeView(
        action="create" if change.stored is None else "update",
        name=change.name,
        version=change.version,
        fields=[
            FieldChange(field=item.field, before=item.before, after=item.after)
            for item in change.differences
        ],
    )


def build_alert_change_view(change: ManifestAlertChange) -> AlertChangeView:
    return AlertChangeView(
        thing=change.thing,
        action=change.action,
        name=change.name,
        version=change.version,
        fields=[
            FieldChange(field=item.field, before=item.before, after=item.after)
            for item in change.differences
        ],
    )


def build_change_view(change: JobPlan, *, done: bool) -> ChangeView:
    return ChangeView(
        action=change.action.value,
        name=change.name,
        job_id=find_job_id(change) if done or change.row is not None else None,
        version=change.version,
        fields=[
            FieldChange(field=item.field, before=item.before, after=item.after)
            for item in change.differences
        ],
        sentence=change.sentence,
        next_before=[format_time(at) for at in change.before],
        next_after=[format_time(at) for at in change.after],
        moves=change.before != change.after,
        note=SPREAD_NOTE if change.is_spread else None,
        touched=None if change.touched is None else build_touched_view(change.touched),
    )


def find_job_id(change: JobPlan) -> str | None:
    if change.row is not None:
        return identifiers.format_job_id(change.row.id)
    return None if change.draft is None else identifiers.format_job_id(change.draft.id)


def build_touched_view(touched: ManualChange) -> ManualChangeView:
    return ManualChangeView(by=touched.actor, at=format_time(touched.at), action=touched.action)

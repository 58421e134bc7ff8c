"""Registers the schedules that an app declares as jobs, when its worker starts.

It writes all of them in one transaction, ordered by name, because several workers of the app may
start at the same time. An invalid schedule is reported with its name and prevents the start.
"""

import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rota.api import identifiers, views
from rota.api.job_differences import compare_jobs
from rota.contract.documents import read_input
from rota.contract.job import JobDraft
from rota.contract.job_drafts import build_spec
from rota.contract.schedule import read_saved_schedule
from rota.core.ids import build_id
from rota.core.log_events import JobsDeclared, JobUndeclared
from rota.core.origins import ChangeOrigin
from rota.core.submissions import JobSpec, prefix_errors
from rota.core.time.schedule import Once
from rota.engine.submission.declared_jobs import (
    DeclarationAction,
    DeclarationContext,
    DeclarationResult,
    declare,
    find_undeclared_jobs,
)
from rota.runtime.service import ServiceContext
from rota.sdk.app import App
from rota.store import audit, calendars, hints, interning, job_views
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_connection, read_database_time
from rota.store.transaction import transaction


def read_declared_specs(app: App) -> list[JobSpec]:
    """Return the declared schedules, validated like an API request."""
    specs = []
    for declaration in sorted(app.declarations(), key=lambda job: str(job["name"])):
        with prefix_errors(f"job {declaration['name']!r}"):
            draft = read_input(JobDraft, declaration)
            specs.append(build_spec(draft, tenant=app.tenant))
    return specs


def has_passed(spec: JobSpec, now: datetime) -> bool:
    """Return whether all times of a one-time schedule have passed: nothing is left to register."""
    schedule = spec.schedule or {}
    if not {*schedule} <= {"at", "timezone"}:
        return False
    rules = read_saved_schedule(schedule).rules
    return all(isinstance(rule, Once) and rule.at <= now for rule in rules)


def find_unserved_queues(app: App | None, queues: Sequence[str]) -> list[str]:
    """Return the queues of the app that are not among these queues of a worker."""
    return [] if app is None else [each for each in app.queues if each not in queues]


async def write_audit_entry(
    conn: Connection, app: App, tenant_id: int, name: str, result: DeclarationResult
) -> None:
    """Write an audit entry for a job that the app created or updated, in the same transaction."""
    job = await job_views.get_job_by_name(conn, tenant_id=tenant_id, name=name)
    if job is None:
        raise RuntimeError("a job declared in this transaction is missing")
    entry = NewAuditEntry(
        tenant_id=tenant_id,
        actor=f"app {app.name} on {socket.gethostname()}",
        action="job.create",
        thing="job",
        thing_id=identifiers.format_job_id(job.id),
        after={"name": name, "app": app.name, "version": job.version},
        origin=ChangeOrigin.CODE,
    )
    if result.before is not None:
        different = compare_jobs(views.build_job_view(result.before), views.build_job_view(job))
        entry = replace(entry, action="job.update", before=different.before, after=different.after)
    # The bulk statement: the single one uses `returning`, and a worker may not read the audit log.
    await audit.record_changes(conn, [entry])


async def register_schedules(app: App, access: DatabaseAccess, context: ServiceContext) -> None:
    """Write the schedules of the app, and report jobs that it no longer declares."""
    specs = read_declared_specs(app)
    async with open_connection(access) as conn:
        tenant_id = (await interning.find_tenant_ids(conn, [app.tenant]))[app.tenant]
        async with transaction(conn):
            now = await read_database_time(conn)
            moment = DeclarationContext(
                now=now,
                new_id=lambda: build_id(now, context.rng.randbytes(10)),
                calendars=await calendars.read_calendars(conn, tenant_id=tenant_id),
            )
            deeds: Counter[DeclarationAction] = Counter()
            for spec in (spec for spec in specs if not has_passed(spec, now)):
                with prefix_errors(f"job {spec.name!r}"):
                    declared = await declare(conn, spec, app=app.name, context=moment)
                deeds[declared.action] += 1
                if declared.action is not DeclarationAction.UNCHANGED:
                    await write_audit_entry(conn, app, tenant_id, spec.display_name, declared)
        if deeds[DeclarationAction.CREATED] or deeds[DeclarationAction.CHANGED]:
            await hints.send_hint(conn, hints.JOBS_CHANNEL)
        if specs:
            context.emit(
                JobsDeclared(
                    app=app.name,
                    made=deeds[DeclarationAction.CREATED],
                    changed=deeds[DeclarationAction.CHANGED],
                    unchanged=deeds[DeclarationAction.UNCHANGED],
                )
            )
        declared_names = frozenset(spec.display_name for spec in specs)
        removed = await find_undeclared_jobs(
            conn, tenant_id=tenant_id, app=app.name, names=declared_names
        )
        for name in removed:
            context.emit(
                JobUndeclared(app=app.name, name=name, remedy=f"rota jobs delete {name!r}")
            )

"""The schedules that an app declares become jobs, when a worker of it starts. Room: node.

All of them or none, in one transaction, in the order of their names: several workers of the app may
start at the same moment. What is wrong with one is told with its name, and the worker does not
start: it would serve a schedule that nobody has.
"""

import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rota.api import identifiers, views
from rota.api.changes import changes
from rota.contract.documents import read_input
from rota.contract.drafts import spec_of
from rota.contract.job import JobDraft
from rota.contract.schedule import read_saved_schedule
from rota.core.events import JobForgotten, JobsDeclared
from rota.core.ids import stamped
from rota.core.origins import ChangeOrigin
from rota.core.submission import JobSpec, within
from rota.core.time.schedule import Once
from rota.flow.submit.declaring import DeclarationResult, Deed, Moment, declare, forgotten
from rota.runtime.service import Ground
from rota.sdk.app import App
from rota.store import audit, calendars, hints, job_views, names
from rota.store.audit import NewEntry
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.pool import Access, open_connection
from rota.store.transaction import transaction


def specs_of(app: App) -> list[JobSpec]:
    """The declared schedules, checked as a request would be."""
    specs = []
    for said in sorted(app.declarations(), key=lambda each: str(each["name"])):
        with within(f"job {said['name']!r}"):
            draft = read_input(JobDraft, said)
            specs.append(spec_of(draft, tenant=app.tenant))
    return specs


def is_over(spec: JobSpec, now: datetime) -> bool:
    """Whether it was to run at times that have all passed: there is nothing left to register."""
    said = spec.schedule or {}
    if not {*said} <= {"at", "timezone"}:
        return False
    rules = read_saved_schedule(said).rules
    return all(isinstance(rule, Once) and rule.at <= now for rule in rules)


def unserved(app: App | None, queues: Sequence[str]) -> list[str]:
    """Queues of the app that a worker of these queues does not look at."""
    return [] if app is None else [each for each in app.queues if each not in queues]


async def note(
    conn: Connection, app: App, tenant_id: int, name: str, declared: DeclarationResult
) -> None:
    """Write down that the app made or changed a job, in the transaction that did."""
    job = await job_views.by_name(conn, tenant_id=tenant_id, name=name)
    if job is None:
        raise RuntimeError("a job that was declared in this transaction is gone")
    entry = NewEntry(
        tenant_id=tenant_id,
        actor=f"app {app.name} on {socket.gethostname()}",
        action="job.create",
        thing="job",
        thing_id=identifiers.job(job.id),
        after={"name": name, "app": app.name, "version": job.version},
        origin=ChangeOrigin.CODE,
    )
    if declared.before is not None:
        different = changes(views.job_view(declared.before), views.job_view(job))
        entry = replace(entry, action="job.update", before=different.before, after=different.after)
    # The statement for many: a worker may not read the audit log, which `returning` asks for.
    await audit.note_many(conn, [entry])


async def register_schedules(app: App, access: Access, ground: Ground) -> None:
    """Write what the app declares, and say what it declared once and does not any more."""
    specs = specs_of(app)
    async with open_connection(access) as conn:
        tenant_id = (await names.tenant_ids(conn, [app.tenant]))[app.tenant]
        async with transaction(conn):
            now = await database_time(conn)
            moment = Moment(
                now=now,
                new_id=lambda: stamped(now, ground.chance.randbytes(10)),
                calendars=await calendars.read_all(conn, tenant_id=tenant_id),
            )
            deeds: Counter[Deed] = Counter()
            for spec in (each for each in specs if not is_over(each, now)):
                with within(f"job {spec.name!r}"):
                    declared = await declare(conn, spec, app=app.name, moment=moment)
                deeds[declared.deed] += 1
                if declared.deed is not Deed.UNCHANGED:
                    await note(conn, app, tenant_id, spec.display_name, declared)
        if deeds[Deed.MADE] or deeds[Deed.CHANGED]:
            await hints.give(conn, hints.JOBS)
        if specs:
            ground.emit(
                JobsDeclared(
                    app=app.name,
                    made=deeds[Deed.MADE],
                    changed=deeds[Deed.CHANGED],
                    unchanged=deeds[Deed.UNCHANGED],
                )
            )
        mine = frozenset(spec.display_name for spec in specs)
        for name in await forgotten(conn, tenant_id=tenant_id, app=app.name, names=mine):
            ground.emit(JobForgotten(app=app.name, name=name, remedy=f"rota jobs delete {name!r}"))

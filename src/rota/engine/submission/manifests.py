"""Plans and applies the jobs of a project as a manifest file declares them (I6).

`read_stored_project` and `plan_manifest` compare and change nothing. `apply_manifest` does the same
with all jobs locked, refuses if a job differs from the plan that the user approved, and writes the
whole file or nothing in one transaction. sdk/jobs_as_code reads files; the caller writes the audit
log.

A stored job and a declared job are rendered with the field names of a manifest file, and
core/manifest/differences.py compares the two. A calendar belongs to the tenant and not to a
project: jobs of other projects may use it, so a manifest never deletes one. Jobs are rescheduled in
the transaction that writes their calendar.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.contract.calendar import write_calendar
from rota.contract.declared_schedule import resolve_declared_schedule
from rota.contract.graph import read_graph
from rota.contract.job import POLICY_FIELDS
from rota.contract.job_values import OWN_FIELDS, read_row_values, read_spec_values
from rota.contract.policy import read_stored_policy, write_policy
from rota.contract.schedule import read_stored_schedule, write_schedule
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.graphs import to_plain_graph
from rota.core.guarantees import ExactlyOnceRequest
from rota.core.manifest.declaration import APP_LABEL, PROJECT_LABEL, JobManifest, ManifestJob
from rota.core.manifest.differences import Difference, find_differences
from rota.core.manifest.timetable import find_existing_starts, find_next_starts
from rota.core.states import HELD_JOB_STATES, JobState
from rota.core.submissions import JobSpec, prefix_errors
from rota.core.time import moments
from rota.core.time.budget import Check, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.description import describe_schedule
from rota.core.time.schedule import Schedule
from rota.engine.submission import job_changes
from rota.engine.submission.alert_rules import RuleContext
from rota.engine.submission.definition_references import exactly_once_kinds, refuse_incapable_kinds
from rota.engine.submission.drafts import DRAFT_STEPS_MAX, CheckedJob, Drafter
from rota.engine.submission.job_changes import JobChanges
from rota.engine.submission.job_submission import submit_drafts
from rota.engine.submission.manifest_alerts import (
    ManifestAlertChange,
    compare_alerts,
    refuse_outdated_alerts,
    write_routes,
    write_rules,
)
from rota.engine.submission.rescheduling import reschedule_followers
from rota.store import calendars, jobs, projects
from rota.store.calendars import StoredCalendar
from rota.store.driver import Connection
from rota.store.job_views import JobRow
from rota.store.projects import ManualChange
from rota.store.transaction import join_transaction

MANIFEST_THING: Final = "the manifest"
PAUSE_REASON: Final = "paused by its manifest file"
# Jobs that one statement reads.
READ_BATCH_MAX: Final = 50
_POSITION: Final = re.compile(r"jobs\[(\d+)\]")


class ManifestAction(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    # The job belongs to the project, and the file does not declare it.
    PRUNE = "prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarChange:
    """A calendar that differs from its declaration. `stored` is None if it does not exist."""

    calendar: Calendar
    stored: StoredCalendar | None
    differences: tuple[Difference, ...]

    @property
    def name(self) -> str:
        return self.calendar.name

    @property
    def version(self) -> int:
        return 0 if self.stored is None else self.stored.version


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """One job that differs from its declaration. `before` and `after` are the start times of its
    next runs. A new job whose times depend on its id (`is_spread`) has none yet.
    """

    action: ManifestAction
    name: str
    place: int = 0
    row: JobRow | None = None
    declared: ManifestJob | None = None
    draft: CheckedJob | None = None
    differences: tuple[Difference, ...] = ()
    sentence: str | None = None
    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()
    is_spread: bool = False
    touched: ManualChange | None = None

    @property
    def version(self) -> int:
        return 0 if self.row is None else self.row.version

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(change.field.partition(".")[0] for change in self.differences)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestPlan:
    """The changes that a file would make. `seen` has the version of every compared job, 0 if it
    does not exist. `touched` has jobs that match the file although they were changed by hand.
    """

    changes: tuple[JobPlan, ...]
    seen: Mapping[str, int]
    calendars: tuple[CalendarChange, ...] = ()
    alerts: tuple[ManifestAlertChange, ...] = ()
    touched: Mapping[str, ManualChange] = field(default_factory=dict)

    @property
    def unchanged(self) -> int:
        return len(self.seen) - len(self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestContext:
    """The inputs of a comparison. `new_id` generates the ids of new jobs. `check` is called between
    jobs and ends a comparison whose caller has gone.
    """

    conn: Connection
    tenant_id: int
    now: datetime
    new_id: Callable[[], UUID]
    calendars: Mapping[str, Calendar]
    # The calendars before the change, and the names of those that change.
    previous_calendars: Mapping[str, Calendar] = field(default_factory=dict)
    changed_calendars: frozenset[str] = frozenset()
    # Who declares the rules, and which routes and channels exist.
    rules: RuleContext | None = None
    check: Check | None = None

    def budget(self) -> SearchBudget:
        """Return the step budget of the search for the ticks of one job."""
        return SearchBudget(check=self.check)

    def with_declared_calendars(self, changes: Sequence[CalendarChange]) -> "ManifestContext":
        """Return the same inputs with the declared calendars."""
        new = {change.name: change.calendar for change in changes}
        known = {**self.calendars, **new}
        return replace(
            self,
            calendars=known,
            previous_calendars=self.calendars,
            changed_calendars=frozenset(new),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """How a file is applied: the versions that the approved plan saw, and whether to delete jobs
    that the file does not declare.
    """

    by: str
    prune: bool = False
    seen: Mapping[str, int] | None = None
    seen_calendars: Mapping[str, int] | None = None
    seen_alerts: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProject:
    """The stored state that a file is compared with."""

    calendars: tuple[CalendarChange, ...]
    alerts: tuple[ManifestAlertChange, ...]
    rows: Mapping[str, JobRow]
    # The names of the project's jobs that the file does not declare.
    others: frozenset[str]
    touched: Mapping[UUID, ManualChange]


async def read_stored_project(
    context: ManifestContext, manifest: JobManifest, *, lock: bool = False
) -> StoredProject:
    """Read the stored state that a file is compared with. Refuse kinds that cannot provide the
    guarantee that the file requests.
    """
    dates = await compare_calendars(context.conn, manifest.calendars, tenant_id=context.tenant_id)
    alerts: tuple[ManifestAlertChange, ...] = ()
    if context.rules is not None:
        alerts = await compare_alerts(
            context.conn, manifest, context.rules, tenant_id=context.tenant_id
        )
    names = [job.name for job in manifest.jobs]
    owned = await projects.find_members(
        context.conn, tenant_id=context.tenant_id, project=manifest.project
    )
    named = await jobs.find_job_ids(context.conn, tenant_id=context.tenant_id, names=names)
    ids = list(dict.fromkeys([*owned, *named.values()]))
    if lock and ids:
        await jobs.lock_jobs(context.conn, ids)
    rows: dict[str, JobRow] = {}
    wanted: list[ExactlyOnceRequest] = []
    for start in range(0, len(manifest.jobs), READ_BATCH_MAX):
        part = manifest.jobs[start : start + READ_BATCH_MAX]
        rows |= await _read_rows(context, [named[job.name] for job in part if job.name in named])
        for place, job in enumerate(part, start):
            with prefix_errors(f"jobs[{place}]"):
                wanted += _exactly_once(place, job.spec)
    others = await _read_rows(context, [*dict.fromkeys(owned).keys() - set(named.values())])
    touched = await projects.read_manual_changes(
        context.conn, tenant_id=context.tenant_id, project=manifest.project, ids=ids
    )
    await refuse_incapable_kinds(context.conn, wanted)
    return StoredProject(
        calendars=dates,
        alerts=alerts,
        rows=rows | others,
        others=frozenset(others),
        touched=touched,
    )


def plan_manifest(
    context: ManifestContext, manifest: JobManifest, stored: StoredProject
) -> ManifestPlan:
    """Compare a file with the stored jobs. Pure and slow: a file may have 1,000 jobs."""
    context, rows, touched = (
        context.with_declared_calendars(stored.calendars),
        stored.rows,
        stored.touched,
    )
    found: list[JobPlan] = []
    budget = SearchBudget(DRAFT_STEPS_MAX, check=context.check)
    drafting = Drafter(context.now, context.calendars, budget, only_definitions=True)
    for place, job in enumerate(manifest.jobs):
        if context.check is not None:
            context.check()
        with prefix_errors(f"jobs[{place}]"):
            found += _compare_job(
                context, drafting, DeclaredJobPosition(manifest.project, place, job), rows
            )
    found += [_plan_prune(context, rows[name]) for name in sorted(stored.others)]
    changes = [
        replace(change, touched=touched.get(change.row.id) if change.row else None)
        for change in found
    ]
    differing = {change.name for change in changes}
    names = [*rows, *(job.name for job in manifest.jobs)]
    return ManifestPlan(
        changes=tuple(changes),
        calendars=stored.calendars,
        alerts=stored.alerts,
        seen={name: rows[name].version if name in rows else 0 for name in names},
        touched={
            name: touched[row.id]
            for name, row in rows.items()
            if row.id in touched and name not in differing
        },
    )


async def _read_rows(at: ManifestContext, ids: Sequence[UUID]) -> dict[str, JobRow]:
    rows = await projects.read_jobs(at.conn, tenant_id=at.tenant_id, ids=ids)
    return {name: row for name, row in rows.items() if row.state is not JobState.DELETED}


async def apply_manifest(
    context: ManifestContext, manifest: JobManifest, options: ApplyOptions
) -> ManifestPlan:
    """Apply a file, all or nothing. Return the changes that were made."""
    async with join_transaction(context.conn):
        seen = await read_stored_project(context, manifest, lock=True)
        plan = await asyncio.to_thread(plan_manifest, context, manifest, seen)
        selected = tuple(
            change
            for change in plan.changes
            if options.prune or change.action is not ManifestAction.PRUNE
        )
        if options.seen is not None:
            _refuse_unseen(selected, options.seen)
        if options.seen_calendars is not None:
            refuse_outdated_calendars(plan.calendars, options.seen_calendars)
        alerts = tuple(
            change for change in plan.alerts if options.prune or change.action != "prune"
        )
        if options.seen_alerts is not None:
            refuse_outdated_alerts(alerts, options.seen_alerts)
        await write_calendars(context.conn, plan.calendars, tenant_id=context.tenant_id)
        await write_routes(context.conn, alerts, project=manifest.project)
        context = context.with_declared_calendars(plan.calendars)
        for change in selected:
            if change.action is ManifestAction.PRUNE and change.row is not None:
                await job_changes.delete_job(context.conn, change.row.id, by=options.by)
        for change in selected:
            if change.action is ManifestAction.UPDATE:
                with prefix_errors(f"jobs[{change.place}]"):
                    await _update(context, change, options)
        await _create(
            context,
            [change for change in selected if change.action is ManifestAction.CREATE],
            options,
        )
        await write_rules(context.conn, alerts, new_id=context.new_id)
    return replace(plan, changes=selected, alerts=alerts)


def _exactly_once(place: int, spec: JobSpec) -> Iterator[ExactlyOnceRequest]:
    """Return the kinds of a declared job that must be exactly once."""
    for wanted in exactly_once_kinds(spec.kind, spec.policy, spec.graph):
        yield wanted._replace(field=f"jobs[{place}].{wanted.field}")


def _refuse_unseen(doing: tuple[JobPlan, ...], seen: Mapping[str, int]) -> None:
    stale = [change for change in doing if seen.get(change.name, 0) != change.version]
    if not stale:
        return
    details = "; ".join(_describe_stale(change, seen.get(change.name, 0)) for change in stale[:5])
    more = f" and {len(stale) - 5} more" if len(stale) > 5 else ""
    raise Conflict(MANIFEST_THING, f"the plan is outdated; nothing was changed: {details}{more}")


def _describe_stale(change: JobPlan, saw: int) -> str:
    if change.version == 0:
        return f"job {change.name!r} no longer exists"
    who = ""
    if change.touched is not None:
        who = f", by {change.touched.actor} at {moments.to_rfc3339(change.touched.at)}"
    if saw == 0:
        return f"job {change.name!r} was created meanwhile{who}"
    return f"job {change.name!r} has version {change.version} now, not {saw}{who}"


class DeclaredJobPosition(NamedTuple):
    """A declared job, its project, and its position in the file."""

    project: str
    place: int
    job: ManifestJob


def _compare_job(
    at: ManifestContext, drafting: Drafter, sought: DeclaredJobPosition, rows: Mapping[str, JobRow]
) -> Iterator[JobPlan]:
    """Yield the change of one job, if it differs from its declaration."""
    job = sought.job
    row = rows.get(job.name)
    if row is None:
        yield _plan_create(at, drafting, job, sought.place)
        return
    _refuse_other_owners(row, sought.project)
    # Check everything except the schedule, which may have ended; then what is expected of it.
    drafting.draft(replace(job.spec, schedule=None, expect=None), row.id)
    change = _plan_update(at, job, row)
    if change.fields & {"expect", "schedule"}:
        declared = resolve_declared_schedule(
            job.spec.schedule, read_row_schedule(row), seed=str(row.id), now=at.now
        )
        drafting.check_expect(job.spec, declared)
    # A changed calendar moves the runs of jobs that do not change themselves.
    if change.differences or change.before != change.after:
        yield replace(change, place=sought.place)


def _plan_prune(at: ManifestContext, row: JobRow) -> JobPlan:
    before = _upcoming_before(at, row, read_row_schedule(row))
    return JobPlan(action=ManifestAction.PRUNE, name=row.name, row=row, before=before)


def _refuse_other_owners(row: JobRow, project: str) -> None:
    """Refuse a job that another project or app declares: two would change it back and forth."""
    labels = json.loads(row.labels)
    if labels.get(PROJECT_LABEL, project) != project:
        wanted = f"project {labels[PROJECT_LABEL]!r} has a job with this name; choose another name"
        raise InvalidInput("name", row.name, wanted)
    if APP_LABEL in labels:
        wanted = f"app {labels[APP_LABEL]!r} declares a job with this name; choose another name"
        raise InvalidInput("name", row.name, wanted)


def _plan_create(at: ManifestContext, drafting: Drafter, job: ManifestJob, place: int) -> JobPlan:
    draft = drafting.draft(job.spec, at.new_id())
    schedule = draft.schedule
    # The id of the job, on which its ticks depend, is not known yet.
    spread = schedule is not None and schedule.depends_on_seed
    after: tuple[datetime, ...] = ()
    if schedule is not None and not spread and not job.paused:
        after = find_next_starts(
            schedule, at.now, calendars=at.calendars, is_new=True, budget=at.budget()
        )
    return JobPlan(
        action=ManifestAction.CREATE,
        name=job.name,
        place=place,
        declared=job,
        draft=draft,
        sentence=None if schedule is None else describe_schedule(schedule),
        after=after,
        is_spread=spread,
    )


def _plan_update(at: ManifestContext, job: ManifestJob, row: JobRow) -> JobPlan:
    has = read_row_schedule(row)
    wanted = resolve_declared_schedule(job.spec.schedule, has, seed=str(row.id), now=at.now)
    held = row.state is JobState.PAUSED if job.paused is None else job.paused
    before = _upcoming_before(at, row, has)
    found = tuple(
        find_differences(render_row(row, has), render_spec(job.spec, wanted, paused=held))
    )
    moved = any(change.field.partition(".")[0] in {"schedule", "paused"} for change in found)
    moved = moved or not at.changed_calendars.isdisjoint(wanted.calendars)
    after = before
    if moved:
        # A quarantined job stays quarantined until a user resumes it.
        stays = held or row.state is JobState.QUARANTINED
        after = ()
        if not stays:
            after = find_next_starts(
                wanted, at.now, calendars=at.calendars, is_new=False, budget=at.budget()
            )
    return JobPlan(
        action=ManifestAction.UPDATE,
        name=row.name,
        row=row,
        declared=job,
        differences=found,
        sentence=describe_schedule(wanted),
        before=before,
        after=after,
    )


def _upcoming_before(
    at: ManifestContext, row: JobRow, has: Schedule | None
) -> tuple[datetime, ...]:
    if row.state in HELD_JOB_STATES:
        return ()
    return find_existing_starts(
        has, row.next_tick_at, calendars=at.previous_calendars, budget=at.budget()
    )


async def _update(at: ManifestContext, change: JobPlan, wish: ApplyOptions) -> None:
    row, job = change.row, change.declared
    if row is None or job is None:
        raise RuntimeError("an update needs a stored and a declared job")
    edit = build_edit(job.spec, change.fields)
    if edit != JobChanges():
        await job_changes.edit_job(at.conn, row.id, edit, now=at.now, calendars=at.calendars)
    if "paused" not in change.fields:
        return
    if job.paused:
        await job_changes.pause_job(at.conn, row.id, by=wish.by, reason=PAUSE_REASON, now=at.now)
    else:
        await job_changes.resume_job(at.conn, row.id, now=at.now, calendars=at.calendars)


async def _create(at: ManifestContext, changes: list[JobPlan], wish: ApplyOptions) -> None:
    drafts = [change.draft for change in changes if change.draft is not None]
    if not drafts:
        return
    try:
        await submit_drafts(at.conn, drafts, now=at.now, calendars=at.calendars)
    except InvalidInput as error:
        # The error has the position among the new jobs; replace it by the position in the file.
        error.field = _POSITION.sub(lambda at: f"jobs[{changes[int(at[1])].place}]", error.field, 1)
        raise
    paused = {
        change.name for change in changes if change.declared is not None and change.declared.paused
    }
    for draft in drafts:
        if draft.spec.name in paused:
            await job_changes.pause_job(
                at.conn, draft.id, by=wish.by, reason=PAUSE_REASON, now=at.now
            )


def read_row_schedule(row: JobRow) -> Schedule | None:
    if row.schedule is None:
        return None
    return read_stored_schedule(json.loads(row.schedule), seed=str(row.id))


def render_row(row: JobRow, schedule: Schedule | None) -> dict[str, Any]:
    """Return every field of a stored job by its name in the file."""
    policy = read_stored_policy(json.loads(row.policy or "{}"))
    return {
        **_without_name(read_row_values(row)),
        **write_policy(policy),
        "schedule": write_schedule(
            schedule or resolve_declared_schedule(None, None, seed="", now=row.created_at)
        ),
        "paused": row.state is JobState.PAUSED,
    }


def render_spec(spec: JobSpec, schedule: Schedule, *, paused: bool) -> dict[str, Any]:
    """Return every field of a declared job by its name in the file."""
    return {
        **_without_name(read_spec_values(spec)),
        "graph": None if spec.graph is None else to_plain_graph(read_graph(spec.graph)),
        "schedule": write_schedule(schedule),
        "paused": paused,
    }


def _without_name(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the name, which is the key in the file and does not change."""
    return {name: value for name, value in values.items() if name != "name"}


def build_edit(spec: JobSpec, fields: frozenset[str]) -> JobChanges:
    """Return an edit of the fields that differ, so that an equal schedule is not restarted."""
    changed = {name: getattr(spec, name) for name in OWN_FIELDS if name in fields}
    if fields & set(POLICY_FIELDS):
        changed["policy"] = spec.policy
    if fields & {"overlap", "keep_first"}:
        # A new overlap policy resets `keep_first`, so the edit sets both.
        changed["keep_first"] = spec.keep_first
    return JobChanges(**changed)


async def compare_calendars(
    conn: Connection, declared: Sequence[Calendar], *, tenant_id: int
) -> tuple[CalendarChange, ...]:
    """Return the declared calendars that have to be written."""
    changes = []
    for calendar in declared:
        stored = await _read_stored(conn, calendar.name, tenant_id)
        before = {} if stored is None else stored.plain
        changed = tuple(find_differences(before, write_calendar(calendar)))
        if stored is None or changed:
            changes.append(CalendarChange(calendar=calendar, stored=stored, differences=changed))
    return tuple(changes)


async def _read_stored(conn: Connection, name: str, tenant_id: int) -> StoredCalendar | None:
    try:
        return await calendars.get_calendar(conn, tenant_id=tenant_id, name=name)
    except NotFound:
        return None


def refuse_outdated_calendars(changes: Sequence[CalendarChange], seen: Mapping[str, int]) -> None:
    for change in changes:
        saw = seen.get(change.name, 0)
        if saw != change.version:
            detail = f"calendar {change.name!r} has version {change.version} now, not {saw}"
            raise Conflict("the manifest", f"the plan is outdated; nothing was changed: {detail}")


async def write_calendars(
    conn: Connection, changes: Sequence[CalendarChange], *, tenant_id: int
) -> None:
    """Write calendars, and reschedule all jobs that use them."""
    for change in changes:
        plain = write_calendar(change.calendar)
        if change.stored is None:
            await calendars.create_calendar(conn, tenant_id=tenant_id, plain=plain)
        else:
            await calendars.replace_calendar(
                conn, tenant_id=tenant_id, plain=plain, version=change.version
            )
    for change in changes:
        await reschedule_followers(conn, tenant_id=tenant_id, name=change.name)

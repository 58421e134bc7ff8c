"""Plans and applies the jobs of a project as a manifest file declares them (I6).

`read_stored_project` and `plan_manifest` compare and change nothing. `apply_manifest` does the same
with all jobs locked, refuses if a job differs from the plan that the user approved, and writes the
whole file or nothing in one transaction. sdk/jobs_as_code reads files; the caller writes the audit
log.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.declared_schedule import resolve_declared_schedule
from rota.core.errors import Conflict, InvalidInput
from rota.core.guarantees import ExactlyOnceRequest
from rota.core.manifest.declaration import PROJECT_LABEL, JobManifest, ManifestJob
from rota.core.manifest.differences import Difference, find_differences
from rota.core.manifest.timetable import depends_on_id, find_existing_starts, find_next_starts
from rota.core.states import JobState
from rota.core.submissions import JobSpec, prefix_errors
from rota.core.time import moments
from rota.core.time.budget import Check, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.description import describe_schedule
from rota.core.time.schedule import Schedule
from rota.flow.submit import changing
from rota.flow.submit.changing import Edit
from rota.flow.submit.comparing import edit_of, plain_row, plain_spec, schedule_of
from rota.flow.submit.declared_calendars import CalendarChange, compare, refuse_unseen, write
from rota.flow.submit.declaring import APP
from rota.flow.submit.drafting import DRAFT_STEPS_MAX, Draft, Drafting
from rota.flow.submit.guarantees import exactly_once_kinds, refuse_incapable_kinds
from rota.flow.submit.submitting import submit_drafts
from rota.store import job_lookup, jobs, projects
from rota.store.driver import Connection
from rota.store.job_views import JobRow
from rota.store.projects import ManualChange
from rota.store.transaction import join_transaction

THING: Final = "the manifest"
DECLARED: Final = "paused by its manifest file"
HELD: Final = frozenset({JobState.PAUSED, JobState.QUARANTINED})
# Jobs that one statement reads.
BATCH: Final = 50
_POSITION: Final = re.compile(r"jobs\[(\d+)\]")


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    # The job belongs to the project, and the file does not declare it.
    PRUNE = "prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One job that differs from its declaration. `before` and `after` are the start times of its
    next runs. A new job whose times depend on its id (`is_spread`) has none yet.
    """

    action: Action
    name: str
    place: int = 0
    row: JobRow | None = None
    declared: ManifestJob | None = None
    draft: Draft | None = None
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
class Plan:
    """The changes that a file would make. `seen` has the version of every compared job, 0 if it
    does not exist. `touched` has jobs that match the file although they were changed by hand.
    """

    changes: tuple[Change, ...]
    seen: Mapping[str, int]
    calendars: tuple[CalendarChange, ...] = ()
    touched: Mapping[str, ManualChange] = field(default_factory=dict)

    @property
    def unchanged(self) -> int:
        return len(self.seen) - len(self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """The inputs of a comparison. `new_id` generates the ids of new jobs. `check` is called between
    jobs and ends a comparison whose caller has gone.
    """

    conn: Connection
    tenant_id: int
    now: datetime
    new_id: Callable[[], UUID]
    calendars: Mapping[str, Calendar]
    # The calendars before the change, and the names of those that change.
    had: Mapping[str, Calendar] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    check: Check | None = None

    def budget(self) -> SearchBudget:
        """Return the step budget of the search for the ticks of one job."""
        return SearchBudget(check=self.check)

    def at_last(self, changes: Sequence[CalendarChange]) -> "Looking":
        """Return the same inputs with the declared calendars."""
        new = {change.name: change.calendar for change in changes}
        known = {**self.calendars, **new}
        return replace(self, calendars=known, had=self.calendars, changed=frozenset(new))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a file is applied: the versions that the approved plan saw, and whether to delete jobs
    that the file does not declare.
    """

    by: str
    prune: bool = False
    seen: Mapping[str, int] | None = None
    seen_calendars: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The stored state that a file is compared with."""

    calendars: tuple[CalendarChange, ...]
    rows: Mapping[str, JobRow]
    # The names of the project's jobs that the file does not declare.
    others: frozenset[str]
    touched: Mapping[UUID, ManualChange]


async def read_seen(at: Looking, manifest: JobManifest, *, lock: bool = False) -> Seen:
    """Read the stored state that a file is compared with. Refuse kinds that cannot provide the
    guarantee that the file requests.
    """
    dates = await compare(at.conn, manifest.calendars, tenant_id=at.tenant_id)
    names = [job.name for job in manifest.jobs]
    owned = await projects.find_members(at.conn, tenant_id=at.tenant_id, project=manifest.project)
    named = await job_lookup.find_job_ids(at.conn, tenant_id=at.tenant_id, names=names)
    ids = list(dict.fromkeys([*owned, *named.values()]))
    if lock and ids:
        await jobs.lock_jobs(at.conn, ids)
    rows: dict[str, JobRow] = {}
    wanted: list[ExactlyOnceRequest] = []
    for start in range(0, len(manifest.jobs), BATCH):
        part = manifest.jobs[start : start + BATCH]
        rows |= await _read_rows(at, [named[job.name] for job in part if job.name in named])
        for place, job in enumerate(part, start):
            with prefix_errors(f"jobs[{place}]"):
                wanted += _exactly_once(place, job.spec)
    others = await _read_rows(at, [*dict.fromkeys(owned).keys() - set(named.values())])
    touched = await projects.read_manual_changes(
        at.conn, tenant_id=at.tenant_id, project=manifest.project, ids=ids
    )
    await refuse_incapable_kinds(at.conn, wanted)
    return Seen(calendars=dates, rows=rows | others, others=frozenset(others), touched=touched)


def decide(at: Looking, manifest: JobManifest, seen: Seen) -> Plan:
    """Compare a file with the stored jobs. Pure and slow: a file may have 1,000 jobs."""
    at, rows, touched = at.at_last(seen.calendars), seen.rows, seen.touched
    found: list[Change] = []
    budget = SearchBudget(DRAFT_STEPS_MAX, check=at.check)
    drafting = Drafting(at.now, at.calendars, budget, only_definitions=True)
    for place, job in enumerate(manifest.jobs):
        if at.check is not None:
            at.check()
        with prefix_errors(f"jobs[{place}]"):
            found += _compare_job(at, drafting, Sought(manifest.project, place, job), rows)
    found += [_plan_prune(at, rows[name]) for name in sorted(seen.others)]
    changes = [
        replace(change, touched=touched.get(change.row.id) if change.row else None)
        for change in found
    ]
    differing = {change.name for change in changes}
    names = [*rows, *(job.name for job in manifest.jobs)]
    return Plan(
        changes=tuple(changes),
        calendars=seen.calendars,
        seen={name: rows[name].version if name in rows else 0 for name in names},
        touched={
            name: touched[row.id]
            for name, row in rows.items()
            if row.id in touched and name not in differing
        },
    )


async def _read_rows(at: Looking, ids: Sequence[UUID]) -> dict[str, JobRow]:
    rows = await projects.read_jobs(at.conn, tenant_id=at.tenant_id, ids=ids)
    return {name: row for name, row in rows.items() if row.state is not JobState.DELETED}


async def apply(at: Looking, manifest: JobManifest, wish: Wish) -> Plan:
    """Apply a file, all or nothing. Return the changes that were made."""
    async with join_transaction(at.conn):
        seen = await read_seen(at, manifest, lock=True)
        plan = await asyncio.to_thread(decide, at, manifest, seen)
        selected = tuple(
            change for change in plan.changes if wish.prune or change.action is not Action.PRUNE
        )
        if wish.seen is not None:
            _refuse_unseen(selected, wish.seen)
        if wish.seen_calendars is not None:
            refuse_unseen(plan.calendars, wish.seen_calendars)
        await write(at.conn, plan.calendars, tenant_id=at.tenant_id)
        at = at.at_last(plan.calendars)
        for change in selected:
            if change.action is Action.PRUNE and change.row is not None:
                await changing.delete(at.conn, change.row.id, by=wish.by)
        for change in selected:
            if change.action is Action.UPDATE:
                with prefix_errors(f"jobs[{change.place}]"):
                    await _update(at, change, wish)
        await _create(at, [change for change in selected if change.action is Action.CREATE], wish)
    return replace(plan, changes=selected)


def _exactly_once(place: int, spec: JobSpec) -> Iterator[ExactlyOnceRequest]:
    """Return the kinds of a declared job that must be exactly once."""
    for wanted in exactly_once_kinds(spec.kind, spec.policy, spec.graph):
        yield wanted._replace(field=f"jobs[{place}].{wanted.field}")


def _refuse_unseen(doing: tuple[Change, ...], seen: Mapping[str, int]) -> None:
    stale = [change for change in doing if seen.get(change.name, 0) != change.version]
    if not stale:
        return
    details = "; ".join(_describe_stale(change, seen.get(change.name, 0)) for change in stale[:5])
    more = f" and {len(stale) - 5} more" if len(stale) > 5 else ""
    raise Conflict(THING, f"the plan is outdated; nothing was changed: {details}{more}")


def _describe_stale(change: Change, saw: int) -> str:
    if change.version == 0:
        return f"job {change.name!r} no longer exists"
    who = ""
    if change.touched is not None:
        who = f", by {change.touched.actor} at {moments.to_rfc3339(change.touched.at)}"
    if saw == 0:
        return f"job {change.name!r} was created meanwhile{who}"
    return f"job {change.name!r} has version {change.version} now, not {saw}{who}"


class Sought(NamedTuple):
    """A declared job, its project, and its position in the file."""

    project: str
    place: int
    job: ManifestJob


def _compare_job(
    at: Looking, drafting: Drafting, sought: Sought, rows: Mapping[str, JobRow]
) -> Iterator[Change]:
    """Yield the change of one job, if it differs from its declaration."""
    job = sought.job
    row = rows.get(job.name)
    if row is None:
        yield _plan_create(at, drafting, job, sought.place)
        return
    _refuse_other_owners(row, sought.project)
    # Check everything except the schedule, which may have ended.
    drafting.draft(replace(job.spec, schedule=None), row.id)
    change = _plan_update(at, job, row)
    # A changed calendar moves the runs of jobs that do not change themselves.
    if change.differences or change.before != change.after:
        yield replace(change, place=sought.place)


def _plan_prune(at: Looking, row: JobRow) -> Change:
    before = _upcoming_before(at, row, schedule_of(row))
    return Change(action=Action.PRUNE, name=row.name, row=row, before=before)


def _refuse_other_owners(row: JobRow, project: str) -> None:
    """Refuse a job that another project or app declares: two would change it back and forth."""
    labels = json.loads(row.labels)
    if labels.get(PROJECT_LABEL, project) != project:
        wanted = f"project {labels[PROJECT_LABEL]!r} has a job with this name; choose another name"
        raise InvalidInput("name", row.name, wanted)
    if APP in labels:
        wanted = f"app {labels[APP]!r} declares a job with this name; choose another name"
        raise InvalidInput("name", row.name, wanted)


def _plan_create(at: Looking, drafting: Drafting, job: ManifestJob, place: int) -> Change:
    draft = drafting.draft(job.spec, at.new_id())
    schedule = draft.schedule
    spread = schedule is not None and depends_on_id(schedule)
    after: tuple[datetime, ...] = ()
    if schedule is not None and not spread and not job.paused:
        after = find_next_starts(
            schedule, at.now, calendars=at.calendars, is_new=True, budget=at.budget()
        )
    return Change(
        action=Action.CREATE,
        name=job.name,
        place=place,
        declared=job,
        draft=draft,
        sentence=None if schedule is None else describe_schedule(schedule),
        after=after,
        is_spread=spread,
    )


def _plan_update(at: Looking, job: ManifestJob, row: JobRow) -> Change:
    has = schedule_of(row)
    wanted = resolve_declared_schedule(job.spec.schedule, has, seed=str(row.id), now=at.now)
    held = row.state is JobState.PAUSED if job.paused is None else job.paused
    before = _upcoming_before(at, row, has)
    found = tuple(find_differences(plain_row(row, has), plain_spec(job.spec, wanted, paused=held)))
    moved = any(change.field.partition(".")[0] in {"schedule", "paused"} for change in found)
    moved = moved or not at.changed.isdisjoint(wanted.calendars)
    after = before
    if moved:
        # A quarantined job stays quarantined until a user resumes it.
        stays = held or row.state is JobState.QUARANTINED
        after = ()
        if not stays:
            after = find_next_starts(
                wanted, at.now, calendars=at.calendars, is_new=False, budget=at.budget()
            )
    return Change(
        action=Action.UPDATE,
        name=row.name,
        row=row,
        declared=job,
        differences=found,
        sentence=describe_schedule(wanted),
        before=before,
        after=after,
    )


def _upcoming_before(at: Looking, row: JobRow, has: Schedule | None) -> tuple[datetime, ...]:
    if row.state in HELD:
        return ()
    return find_existing_starts(has, row.next_tick_at, calendars=at.had, budget=at.budget())


async def _update(at: Looking, change: Change, wish: Wish) -> None:
    row, job = change.row, change.declared
    if row is None or job is None:
        raise RuntimeError("an update needs a stored and a declared job")
    edit = edit_of(job.spec, change.fields)
    if edit != Edit():
        await changing.edit(at.conn, row.id, edit, now=at.now, calendars=at.calendars)
    if "paused" not in change.fields:
        return
    if job.paused:
        await changing.pause(at.conn, row.id, by=wish.by, reason=DECLARED, now=at.now)
    else:
        await changing.resume(at.conn, row.id, now=at.now, calendars=at.calendars)


async def _create(at: Looking, changes: list[Change], wish: Wish) -> None:
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
            await changing.pause(at.conn, draft.id, by=wish.by, reason=DECLARED, now=at.now)

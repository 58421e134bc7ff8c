"""Pauses, resumes, edits and deletes a job without losing or duplicating a tick (S11, S14, F13).

Each change locks the job and its cursor, decides the ticks that came due meanwhile
(core/time/misfire.py), and writes job, cursor, runs and records in one transaction. A scheduler
that decides a tick at the same time either commits first or finds another version.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from rota.contract.expectation_values import read_stored_conditions
from rota.contract.job import DETAIL_COLUMNS
from rota.contract.schedule import read_schedule, write_schedule
from rota.core.alerts.validation import ConditionChecker
from rota.core.errors import IllegalMove, InvalidInput, InvalidSchedule, VersionChanged
from rota.core.lanes import parse_priority
from rota.core.limits import JobLimit
from rota.core.manifest.declaration import APP_LABEL
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.secret_references import encode_payload
from rota.core.states import HELD_JOB_STATES, JobEvent, JobState, advance_job
from rota.core.submissions import (
    check_labels,
    check_limits,
    check_name,
    check_visible_name,
    encode_canonical,
    prefix_errors,
)
from rota.core.time import moments, planning
from rota.core.time.calendars import Calendar
from rota.core.time.pause_segments import Resumption
from rota.core.time.planning import NO_CALENDARS
from rota.core.time.policies import CatchUp
from rota.core.time.schedule import Immediate, Schedule
from rota.engine.submission.definition_references import (
    KIND_NAMES,
    NameOwner,
    edit_graph,
    intern_graph_names,
    intern_name,
    intern_queues,
    lock_calendars,
    refuse_incapable_edit,
    render_shared_schedule,
)
from rota.engine.submission.drafts import fires_once, is_costly_schedule, limits_text, policy_text
from rota.engine.submission.job_change_writer import (
    ChangedJob,
    has_changed,
    keep_definition,
    write_change,
)
from rota.engine.submission.quotas import check_schedule_quotas, read_quotas
from rota.engine.submission.tick_settlement import (
    SCHEDULE_ERRORS,
    SettledTicks,
    compute_next_cursor,
    compute_ticks,
    has_same_ticks,
    keep_stretches,
    read_job_schedule,
    read_stretches,
    render_stretches,
    settle_edit,
    settle_pause,
    settle_resume,
)
from rota.store import calendars as stored_calendars
from rota.store import interning, jobs, live_runs
from rota.store.alert_routes import read_targets
from rota.store.driver import Connection
from rota.store.expectations import read_job_expectations
from rota.store.jobs import JobCursor, JobDescription, StoredJob
from rota.store.transaction import transaction


class Keep(Enum):
    KEEP = "keep"


KEEP: Final = Keep.KEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChanges:
    """The fields to change; the others are kept. A schedule of None means on demand."""

    schedule: Mapping[str, object] | Literal[Keep.KEEP] | None = KEEP
    payload: object = KEEP
    policy: Policy | Literal[Keep.KEEP] = KEEP
    name: str | Literal[Keep.KEEP] = KEEP
    kind: str | Literal[Keep.KEEP] = KEEP
    queue: str | Literal[Keep.KEEP] = KEEP
    priority: int | Literal[Keep.KEEP] = KEEP
    overlap: Overlap | Literal[Keep.KEEP] = KEEP
    keep_first: bool | Literal[Keep.KEEP] = KEEP
    when_queue_paused: WhenQueuePaused | Literal[Keep.KEEP] = KEEP
    limits: tuple[JobLimit, ...] | Literal[Keep.KEEP] = KEEP
    labels: Mapping[str, str] | Literal[Keep.KEEP] = KEEP
    user_id: str | Literal[Keep.KEEP] | None = KEEP
    graph: object = KEEP
    description: str | Literal[Keep.KEEP] | None = KEEP
    expect: Mapping[str, object] | Literal[Keep.KEEP] | None = KEEP
    alert: Mapping[str, object] | Literal[Keep.KEEP] | None = KEEP


async def pause_job(
    conn: Connection, job_id: UUID, *, by: str, reason: str | None = None, now: datetime
) -> tuple[UUID, ...]:
    """Stop the schedule of a job. Existing runs continue; pausing a paused job changes nothing.

    Ticks that are overdue because of an outage are decided now by `on_outage`. Return the runs that
    they created.
    """
    check_name(by, "by")
    held = encode_canonical({"by": by, "at": moments.to_rfc3339(now), "reason": reason})
    async with transaction(conn):
        job = await jobs.lock_job(conn, job_id)
        cursor = await jobs.lock_cursor(conn, job_id)
        job = _as_finished(job, cursor)
        if job.state is JobState.PAUSED:
            return ()
        advance_job(job.state, JobEvent.PAUSE)
        made = await _settle_before_pause(conn, job, cursor, now)
        await jobs.pause_jobs(conn, ids=[job_id], held=held)
        return made


async def _settle_before_pause(
    conn: Connection, job: StoredJob, cursor: JobCursor | None, now: datetime
) -> tuple[UUID, ...]:
    """Decide the ticks that were due before a pause. A schedule that cannot be evaluated decides
    nothing, so that its job can still be paused.
    """
    is_due = cursor is not None and cursor.fire_at is not None and cursor.fire_at <= now
    if cursor is None or not is_due or job.state is not JobState.ACTIVE:
        return ()
    try:
        schedule = read_job_schedule(job)
        if schedule is None:
            return ()
        known: Mapping[str, Calendar] = NO_CALENDARS
        if schedule.calendars:
            known = await stored_calendars.read_calendars(conn, tenant_id=job.tenant_id)
        settle = partial(settle_pause, schedule, cursor, now, known)
        decision = await compute_ticks([schedule], settle)
        follow = partial(compute_next_cursor, schedule, cursor, decision, now, known)
        following = await compute_ticks([schedule], follow)
    except SCHEDULE_ERRORS:
        return ()
    if not decision.runs and not decision.records:
        return ()
    change = keep_definition(job, following, state=job.state)
    written = await write_change(conn, job, change, SettledTicks(decision))
    return written.runs


async def resume_job(
    conn: Connection,
    job_id: UUID,
    *,
    now: datetime,
    missed: CatchUp | None = None,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> ChangedJob:
    """Resume a paused or quarantined job. `missed` overrides what the schedule does with ticks that
    came due meanwhile: run them or record them.
    """
    async with transaction(conn):
        job = await jobs.lock_job(conn, job_id)
        if job.state not in HELD_JOB_STATES:
            raise IllegalMove("job", job.state.value, "resume", sorted(HELD_JOB_STATES))
        cursor, schedule = await jobs.lock_cursor(conn, job_id), read_job_schedule(job)
        text = await jobs.read_stretches(conn, job_id)
        stretches = read_stretches(text, job, cursor)
        has_ticks = schedule is not None and schedule.has_ticks
        if cursor is None and not stretches:
            state = JobState.FINISHED if has_ticks else JobState.ACTIVE
            return await write_change(conn, job, keep_definition(job, None, state=state))
        held = [stretch.schedule for stretch in stretches]
        await lock_calendars(conn, job.tenant_id, [schedule, *held], calendars)
        # The current misfire policy of the job decides the ticks of the pause.
        policy = (schedule if schedule is not None and has_ticks else held[-1]).misfire
        at = Resumption(now=now, misfire=policy, calendars=calendars, choice=missed)
        settle = partial(settle_resume, schedule, cursor, stretches, at)
        decision = await compute_ticks([schedule, *held], settle)
        following = None
        if cursor is not None and schedule is not None:
            # Recomputed for jobs of releases whose interned schedules had unqualified calendars.
            cursor = cursor._replace(schedule_id=await _intern_schedule(conn, job, schedule))
            follow = partial(compute_next_cursor, schedule, cursor, decision, now, calendars)
            following = await compute_ticks([schedule], follow)
        if text is not None:
            await jobs.store_stretches(conn, job_id, None)
        state = JobState.FINISHED if following is None and has_ticks else JobState.ACTIVE
        return await write_change(
            conn, job, keep_definition(job, following, state=state), SettledTicks(decision)
        )


async def edit_job(
    conn: Connection,
    job_id: UUID,
    changes: JobChanges,
    *,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    version: int | None = None,
) -> ChangedJob:
    """Change a job. Overdue runs of the old schedule are created first; the new one starts now.

    With `version`, change the job only if it still has that version.
    """
    payload = None if changes.payload is KEEP else encode_payload(changes.payload)
    async with transaction(conn):
        job = await jobs.lock_job(conn, job_id)
        cursor = await jobs.lock_cursor(conn, job_id)
        job = _as_finished(job, cursor)
        if version is not None and version != job.definition_version:
            raise VersionChanged("job", wanted=version, found=job.definition_version)
        new = (
            None if changes.schedule is KEEP else await _parse_schedule(changes.schedule, job, now)
        )
        if changes.schedule is not KEEP:
            await check_schedule_quotas(conn, job, new, now)
            await lock_calendars(conn, job.tenant_id, [new], calendars)
        await _check_expectations(conn, job, changes, new, _Start(cursor, now, calendars))
        after, described = await _adjust_job(conn, job, changes), _describe_edit(changes)
        change, settled = keep_definition(job, cursor, state=job.state), SettledTicks()
        if changes.payload is not KEEP:
            await jobs.pin_payload(conn, job)
            change = replace(change, payload=payload)
        if changes.policy is not KEEP:
            change = replace(
                change,
                policy_id=await interning.intern_policy(conn, policy_text(changes.policy)),
                guarantee=changes.policy.guarantee,
                deadline=changes.policy.deadline,
            )
        if changes.schedule is not KEEP:
            start = _Start(cursor, now, calendars)
            settled, first = await _begin_schedule(conn, job, new, start)
            change = replace(
                change,
                state=job.state if job.state is JobState.PAUSED else JobState.ACTIVE,
                schedule=None if new is None else encode_canonical(write_schedule(new)),
                cursor=first,
            )
        is_edit = has_changed(job, after, change) or await jobs.is_described_differently(
            conn, job_id, described
        )
        change = replace(change, is_edit=is_edit)
        changed = await write_change(conn, job, change, settled, after=after)
        # Last, so that rota.keep_definition stores the old definition with its name and labels.
        if described != JobDescription():
            await jobs.describe_job(conn, job_id, described)
        return changed


class _Start(NamedTuple):
    """The cursor, the time and the calendars from which a new schedule starts."""

    cursor: JobCursor | None
    now: datetime
    calendars: Mapping[str, Calendar]


async def _check_expectations(
    conn: Connection, job: StoredJob, changes: JobChanges, new: Schedule | None, start: _Start
) -> None:
    """Refuse expectations that do not fit the schedule after the edit, and unknown routes."""
    # An app is exempt: its worker may start before the scheduler that reports the channel.
    is_declared = changes.labels is not KEEP and APP_LABEL in changes.labels
    alert = None if changes.alert is KEEP else changes.alert
    if alert is not None and "to" in alert and not is_declared:
        targets = await read_targets(conn, tenant_id=job.tenant_id)
        targets.check_target(str(alert["to"]), "alert.to")
    if changes.expect is not KEEP:
        expected = () if changes.expect is None else read_stored_conditions(changes.expect)
    elif changes.schedule is not KEEP:
        stored = (await read_job_expectations(conn, [job.id])).get(job.id, ())
        expected = tuple(expectation.condition for expectation in stored)
    else:
        return
    if expected:
        schedule = read_job_schedule(job) if changes.schedule is KEEP else new
        known = start.calendars
        if schedule is not None and schedule.calendars and not known:
            known = await stored_calendars.read_calendars(conn, tenant_id=job.tenant_id)
        checker = ConditionChecker(schedule, start.now, calendars=known)
        with prefix_errors("expect"):
            await compute_ticks([schedule], partial(checker.check, expected))


async def _begin_schedule(
    conn: Connection, job: StoredJob, new: Schedule | None, start: _Start
) -> tuple[SettledTicks, JobCursor | None]:
    """Decide overdue ticks, and return them with the first cursor of the new schedule.

    A paused job decides nothing: it keeps its undecided ticks until it is resumed.
    """
    cursor, now, calendars = start
    if job.state is not JobState.PAUSED:
        settled = await settle_edit(conn, job, cursor, new, now, calendars)
        made = len(settled.owed.runs) + len(settled.past.runs)
        return settled, await _first_cursor(conn, job, new, start, made)
    if cursor is not None and new is not None and has_same_ticks(job, new):
        return SettledTicks(), cursor._replace(schedule_id=await _intern_schedule(conn, job, new))
    text = await jobs.read_stretches(conn, job.id)
    before = read_stretches(text, job, cursor)
    keep = partial(keep_stretches, job, cursor, before, now, calendars)
    kept = await compute_ticks([stretch.schedule for stretch in before], keep)
    await jobs.store_stretches(conn, job.id, render_stretches(kept.stretches))
    return SettledTicks(kept.decision), await _first_cursor(conn, job, new, start, 0)


async def _adjust_job(conn: Connection, job: StoredJob, wanted: JobChanges) -> StoredJob:
    """Return the job with its new kind, graph, queue, priority, overlap policy and limits."""
    graph_id = await edit_graph(conn, job, wanted.kind, wanted.graph, keep=KEEP)
    changed = {"kind": wanted.kind, "policy": wanted.policy, "graph": wanted.graph}
    changed = {name: value for name, value in changed.items() if value is not KEEP}
    await refuse_incapable_edit(conn, job, changed)
    new: dict[str, Any] = {"graph_id": graph_id}
    maker = NameOwner(job.tenant_id, read_quotas(job.quotas))
    if wanted.graph is not KEEP and wanted.graph is not None:
        await intern_graph_names(conn, wanted.graph, maker)
    if wanted.kind is not KEEP:
        kind = check_visible_name(wanted.kind, "kind")
        new["kind_id"] = await intern_name(conn, KIND_NAMES, kind, maker)
    if wanted.queue is not KEEP:
        pair = (job.tenant_id, check_visible_name(wanted.queue, "queue"))
        new["queue_id"] = (await intern_queues(conn, {pair: maker}))[pair]
    if wanted.priority is not KEEP:
        new["priority"] = parse_priority(wanted.priority)
    if wanted.overlap is not KEEP:
        new |= {"overlap": wanted.overlap, "keep_first": False}
    plain = {"keep_first": wanted.keep_first, "when_queue_paused": wanted.when_queue_paused}
    new |= {name: value for name, value in plain.items() if value is not KEEP}
    if wanted.limits is not KEEP:
        new["limits"] = limits_text(check_limits(wanted.limits))
    if wanted.policy is not KEEP:
        new["policy"] = policy_text(wanted.policy)
    adjusted = job._replace(**new)
    if adjusted.keep_first and adjusted.overlap is not Overlap.QUEUE_ONE:
        raise InvalidInput("keep_first", True, "requires the overlap policy queue_one")
    return adjusted


def _describe_edit(wanted: JobChanges) -> JobDescription:
    return JobDescription(
        name=None if wanted.name is KEEP else check_visible_name(wanted.name, "name"),
        labels=None if wanted.labels is KEEP else check_labels(wanted.labels),
        user_id=None if wanted.user_id is KEEP else _user_text(wanted.user_id),
        details={
            name: value for name in DETAIL_COLUMNS if (value := getattr(wanted, name)) is not KEEP
        },
    )


def _user_text(user_id: str | None) -> str:
    return "" if user_id is None else check_visible_name(user_id, "user_id")


async def delete_job(
    conn: Connection, job_id: UUID, *, by: str, cancel_running: bool = False
) -> list[UUID]:
    """Delete a job: stop its schedule and cancel its waiting runs. With `cancel_running`, cancel
    its running runs too.
    """
    check_name(by, "by")
    async with transaction(conn):
        job = await jobs.lock_job(conn, job_id)
        state = advance_job(job.state, JobEvent.DELETE)
        await jobs.replace_job(conn, job, keep_definition(job, None, state=state))
        alive = await jobs.read_unfinished_runs(conn, job_id)
        ids = [run.id for run in alive if cancel_running or run.is_waiting]
        reason = encode_canonical({"code": "job_deleted", "by": by})
        return [run.id for run in await live_runs.cancel_runs(conn, ids=ids, reason=reason)]


def _as_finished(job: StoredJob, cursor: JobCursor | None) -> StoredJob:
    """Return a job without future ticks as finished, even if it is not marked yet. Jobs that wait
    for events or run on demand stay active.
    """
    if job.state is not JobState.ACTIVE or job.schedule is None or cursor is not None:
        return job
    waits = {"event", "on_demand"} & json.loads(job.schedule).keys()
    return job if waits else job._replace(state=JobState.FINISHED)


async def _parse_schedule(
    schedule: Mapping[str, object] | None, job: StoredJob, now: datetime
) -> Schedule | None:
    if schedule is None:
        return None
    parse = partial(read_schedule, schedule, now=now, seed=str(job.id))
    with prefix_errors("schedule"):
        new = await asyncio.to_thread(parse) if is_costly_schedule(schedule) else parse()
        if isinstance(new.rules[0], Immediate):
            wanted = "expected a rule with times; to run the job at once, use `run now`"
            raise InvalidSchedule("immediate", True, wanted)
    return new


async def _first_cursor(
    conn: Connection, job: StoredJob, new: Schedule | None, start: _Start, made: int
) -> JobCursor | None:
    """Return the cursor of a schedule that starts now. Earlier runs count towards `max_runs`."""
    fired = made + (0 if start.cursor is None else start.cursor.fired or 0)
    if new is None:
        return None
    search = partial(
        planning.plan_next_tick, new, start.now, calendars=start.calendars, fired=fired
    )
    planned = await compute_ticks([new], search)
    if planned is None:
        return None
    return JobCursor(
        tick_at=planned.tick.at,
        fire_at=None if job.state is JobState.PAUSED else planned.due_at,
        fired=None if new.window.max_runs is None else fired,
        schedule_id=await _intern_schedule(conn, job, new),
    )


async def _intern_schedule(conn: Connection, job: StoredJob, schedule: Schedule) -> int | None:
    """Return the id of a job's interned schedule; None if the schedule has a single tick."""
    if fires_once(schedule):
        return None
    return await interning.intern_schedule(conn, render_shared_schedule(schedule, job.tenant_id))

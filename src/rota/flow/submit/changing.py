"""Pause, resume, edit and delete a job, without losing or doubling a tick (S11, S14, F13).

Room: flow/submit. Each change locks the job and its cursor, decides about the ticks that came due
meanwhile (core/time/misfire.py), and writes job, cursor, runs and records in one transaction. A
scheduler that decides a tick at the same moment comes first, or finds another version.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from rota.core.binding import payload_text
from rota.core.errors import IllegalMove, InvalidInput, InvalidSchedule, VersionChanged
from rota.core.ids import EPOCH
from rota.core.limits import Limit
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.priority import parse_priority
from rota.core.states import JobEvent, JobState, advance_job
from rota.core.submission import (
    canonical,
    check_labels,
    check_limits,
    check_name,
    within,
)
from rota.core.time import misfire, moments, plain, planning
from rota.core.time.backlog import Progress
from rota.core.time.calendars import Calendar
from rota.core.time.interval import EveryAfterEnd
from rota.core.time.misfire import Decision
from rota.core.time.planning import NO_CALENDARS
from rota.core.time.policies import CatchUp, Cause
from rota.core.time.schedule import STEP, Immediate, Schedule
from rota.flow.submit.allowing import allow_schedule
from rota.flow.submit.drafting import fires_once, limits_text, policy_text
from rota.flow.submit.going_by import hold_calendars, shared_text
from rota.flow.submit.graph_jobs import graph_after
from rota.flow.submit.placing import passing_ticks, place, policy_of, recorded, ticked
from rota.store import jobs, live_runs, names
from rota.store.driver import Connection
from rota.store.jobs import Change, Cursor, Description, Job
from rota.store.transaction import transaction


class Keep(Enum):
    KEEP = "keep"


KEEP: Final = Keep.KEEP
HELD: Final = frozenset({JobState.PAUSED, JobState.QUARANTINED})
# No tick came due.
NOTHING: Final = Decision(run=(), recorded=(), cursor=EPOCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is to be different; the rest is kept. A schedule of None means on demand."""

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
    limits: tuple[Limit, ...] | Literal[Keep.KEEP] = KEEP
    labels: Mapping[str, str] | Literal[Keep.KEEP] = KEEP
    user_id: str | Literal[Keep.KEEP] | None = KEEP
    graph: object = KEEP


class Changed(NamedTuple):
    """A job after a change: its version, its state, its next tick, and the runs that were made."""

    version: int
    state: JobState
    next_tick: datetime | None
    runs: tuple[UUID, ...] = ()


async def pause(
    conn: Connection, job_id: UUID, *, by: str, reason: str | None = None, now: datetime
) -> None:
    """Decide no more ticks. Runs that exist go on; pausing what is paused changes nothing."""
    check_name(by, "by")
    held = canonical({"by": by, "at": moments.rfc3339(now), "reason": reason})
    async with transaction(conn):
        job = await jobs.lock(conn, job_id)
        job = _shown(job, await jobs.lock_cursor(conn, job_id))
        if job.state is not JobState.PAUSED:
            advance_job(job.state, JobEvent.PAUSE)
            await jobs.pause(conn, ids=[job_id], held=held)


async def resume(
    conn: Connection,
    job_id: UUID,
    *,
    now: datetime,
    missed: CatchUp | None = None,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> Changed:
    """Go on. What came due meanwhile runs or is recorded as the schedule says, or as `missed`."""
    async with transaction(conn):
        job = await jobs.lock(conn, job_id)
        if job.state not in HELD:
            raise IllegalMove(thing="job", state=job.state.value, event="resume")
        cursor, schedule = await jobs.lock_cursor(conn, job_id), schedule_of(job)
        if cursor is None or schedule is None:
            return await _write(conn, job, _unchanged(job, None, state=JobState.ACTIVE))
        await hold_calendars(conn, job.tenant_id, [schedule], calendars)
        # Anew, for a job that was written when stored schedules named calendars as people do.
        cursor = cursor._replace(schedule_id=await _shared_id(conn, job, schedule))
        progress = progress_of(schedule, cursor, now)
        decision = misfire.catch_up(
            schedule, progress, now, cause=Cause.RESUME, calendars=calendars, choice=missed
        )
        following = _following(schedule, cursor, decision, now, calendars)
        state = JobState.FINISHED if following is None else JobState.ACTIVE
        return await _write(conn, job, _unchanged(job, following, state=state), decision)


async def edit(
    conn: Connection,
    job_id: UUID,
    wanted: Edit,
    *,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    version: int | None = None,
) -> Changed:
    """Change a job. What the schedule before still owes is made first; the new one begins now.

    With a `version` only if it still has that one.
    """
    payload = None if wanted.payload is KEEP else payload_text(wanted.payload)
    async with transaction(conn):
        job = await jobs.lock(conn, job_id)
        cursor = await jobs.lock_cursor(conn, job_id)
        job = _shown(job, cursor)
        if version is not None and version != job.version:
            raise VersionChanged("job", wanted=version, found=job.version)
        new = None if wanted.schedule is KEEP else _parsed(wanted.schedule, job, now)
        if wanted.schedule is not KEEP:
            await allow_schedule(conn, job, new, now)
            await hold_calendars(conn, job.tenant_id, [new], calendars)
        after = await _adjusted(conn, job, wanted)
        await _describe(conn, job_id, wanted)
        change, decision = _unchanged(job, cursor, state=job.state), NOTHING
        if wanted.payload is not KEEP:
            await jobs.pin_payload(conn, job)
            change = replace(change, payload=payload)
        if wanted.policy is not KEEP:
            change = replace(
                change,
                policy_id=await names.policy_id(conn, policy_text(wanted.policy)),
                guarantee=wanted.policy.guarantee,
                deadline=wanted.policy.deadline,
            )
        if wanted.schedule is not KEEP:
            decision = _owed(job, cursor, new, now, calendars)
            change = replace(
                change,
                state=job.state if job.state is JobState.PAUSED else JobState.ACTIVE,
                schedule=None if new is None else canonical(plain.to_plain(new)),
                cursor=await _first_cursor(
                    conn, job, new, _Start(cursor, decision, now, calendars)
                ),
            )
        return await _write(conn, job, change, decision, after=after)


async def _adjusted(conn: Connection, job: Job, wanted: Edit) -> Job:
    """The job with the kind, graph, queue, priority, overlap and limits that it is to have."""
    graph_id = await graph_after(conn, job, wanted.kind, wanted.graph, keep=KEEP)
    new: dict[str, Any] = {"graph_id": graph_id}
    if wanted.kind is not KEEP:
        new["kind_id"] = await names.kind_id(conn, check_name(wanted.kind, "kind"))
    if wanted.queue is not KEEP:
        new["queue_id"] = await names.queue_id(conn, check_name(wanted.queue, "queue"))
    if wanted.priority is not KEEP:
        new["priority"] = parse_priority(wanted.priority)
    if wanted.overlap is not KEEP:
        new |= {"overlap": wanted.overlap, "keep_first": False}
    said = {"keep_first": wanted.keep_first, "when_queue_paused": wanted.when_queue_paused}
    new |= {name: value for name, value in said.items() if value is not KEEP}
    if wanted.limits is not KEEP:
        new["limits"] = limits_text(check_limits(wanted.limits))
    adjusted = job._replace(**new)
    if adjusted.keep_first and adjusted.overlap is not Overlap.QUEUE_ONE:
        raise InvalidInput("keep_first", True, "the overlap policy queue_one to apply it to")
    return adjusted


async def _describe(conn: Connection, job_id: UUID, wanted: Edit) -> None:
    described = Description(
        name=None if wanted.name is KEEP else check_name(wanted.name, "name"),
        labels=None if wanted.labels is KEEP else check_labels(wanted.labels),
        user_id=None if wanted.user_id is KEEP else _user(wanted.user_id),
    )
    if described != Description():
        await jobs.describe(conn, job_id, described)


def _user(user_id: str | None) -> str:
    return "" if user_id is None else check_name(user_id, "user_id")


async def delete(
    conn: Connection, job_id: UUID, *, by: str, cancel_running: bool = False
) -> list[UUID]:
    """Delete a job: no more ticks, and what waits is cancelled; what runs, only if asked to."""
    check_name(by, "by")
    async with transaction(conn):
        job = await jobs.lock(conn, job_id)
        state = advance_job(job.state, JobEvent.DELETE)
        await jobs.replace(conn, job, _unchanged(job, None, state=state))
        alive = await jobs.alive(conn, job_id)
        ids = [run.id for run in alive if cancel_running or run.waits]
        reason = canonical({"code": "job_deleted", "by": by})
        return [run.id for run in await live_runs.cancel(conn, ids=ids, reason=reason)]


async def _write(
    conn: Connection,
    job: Job,
    change: Change,
    decision: Decision = NOTHING,
    *,
    after: Job | None = None,
) -> Changed:
    """Write job and cursor, then the runs and records of the ticks that were decided.

    `after` is the job with what else is changed about it; those runs are still as it was before.
    """
    same_payload = change.payload == job.payload
    through = await passing_ticks(conn, job, job.schedule, job.payload)
    hence, after = through, after or job
    if not same_payload or after != job or change.schedule != job.schedule:
        hence = await passing_ticks(conn, after, change.schedule, change.payload)
    if change.state is JobState.FINISHED and job.state is JobState.QUARANTINED:
        # There is no such move: it is let go on first, and ends then.
        version = await jobs.replace(conn, after, replace(change, state=JobState.ACTIVE))
        after = after._replace(version=version, state=JobState.ACTIVE)
    version = await jobs.replace(conn, after, replace(change, gates=hence))
    job = job._replace(version=version)
    payload = None if same_payload else job.payload or "null"
    runs = [ticked(job, planned, through, payload) for planned in decision.run]
    refused = await place(conn, job, runs) if runs else {}
    if decision.recorded:
        await jobs.record(conn, job, recorded(job, decision.recorded))
    made = tuple(run.id for run in runs if run.id not in refused)
    next_tick = None if change.cursor is None else change.cursor.tick_at
    return Changed(version, change.state, next_tick, made)


def schedule_of(job: Job) -> Schedule | None:
    """The schedule that a job has."""
    if job.schedule is None:
        return None
    return plain.from_plain(json.loads(job.schedule), seed=str(job.id))


def progress_of(schedule: Schedule, cursor: Cursor, now: datetime) -> Progress:
    """Where a schedule stands whose next tick to decide is the cursor's: everything before it was
    dealt with, and what lies between it and now was not.
    """
    rule = schedule.rules[0]
    return Progress(
        cursor=min(cursor.tick_at - STEP, now),
        fired=cursor.fired or 0,
        # The end that made the fixed delay lead to this tick.
        last_end=cursor.tick_at - rule.delay if isinstance(rule, EveryAfterEnd) else None,
    )


def _shown(job: Job, cursor: Cursor | None) -> Job:
    """A job without a tick to come is finished, marked or not yet, unless it waits to be told."""
    if job.state is not JobState.ACTIVE or job.schedule is None or cursor is not None:
        return job
    waits = {"event", "on_demand"} & json.loads(job.schedule).keys()
    return job if waits else job._replace(state=JobState.FINISHED)


def _unchanged(job: Job, cursor: Cursor | None, *, state: JobState) -> Change:
    return Change(
        state=state,
        policy_id=job.policy_id,
        guarantee=job.guarantee,
        schedule=job.schedule,
        payload=job.payload,
        deadline=policy_of(job).deadline,
        cursor=cursor,
    )


def _following(
    schedule: Schedule,
    cursor: Cursor,
    decision: Decision,
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> Cursor | None:
    """The cursor of a job that goes on with the schedule it has."""
    progress = progress_of(schedule, cursor, now)
    was_due = decision.cursor > progress.cursor
    fired = progress.fired + len(decision.run)
    planned = planning.next_tick(
        schedule,
        decision.cursor,
        calendars=calendars,
        # A tick of a fixed delay that was decided now counts as ended now.
        last_end=now if was_due and schedule.follows_end else progress.last_end,
        fired=fired,
    )
    if planned is None:
        return None
    counted = None if cursor.fired is None else fired
    return Cursor(planned.tick.at, planned.due_at, counted, cursor.schedule_id)


def _parsed(schedule: Mapping[str, object] | None, job: Job, now: datetime) -> Schedule | None:
    if schedule is None:
        return None
    with within("schedule"):
        new = plain.parse(schedule, now=now, seed=str(job.id))
        if isinstance(new.rules[0], Immediate):
            raise InvalidSchedule("immediate", True, "a rule with times, or `run now` instead")
    return new


def _owed(
    job: Job,
    cursor: Cursor | None,
    new: Schedule | None,
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> Decision:
    """What the schedule before the edit still owes, and what the new one says about the past."""
    old = schedule_of(job)
    if cursor is None or old is None:
        return NOTHING
    progress = progress_of(old, cursor, now)
    if job.state in HELD:
        return misfire.catch_up(
            old, progress, now, cause=Cause.RESUME, calendars=calendars, choice=CatchUp.SKIP
        )
    owed = misfire.settle(old, progress, now, calendars=calendars)
    if new is None or not new.has_ticks or new.misfire.on_edit is CatchUp.SKIP:
        return owed
    since = Progress(cursor=progress.cursor, fired=progress.fired)
    past = misfire.catch_up(new, since, now, cause=Cause.EDIT, calendars=calendars)
    times = {planned.tick.at for planned in owed.run}
    more = tuple(planned for planned in past.run if planned.tick.at not in times)
    return replace(owed, run=(*owed.run, *more), recorded=(*owed.recorded, *past.recorded))


class _Start(NamedTuple):
    """What a new schedule begins from."""

    cursor: Cursor | None
    decision: Decision
    now: datetime
    calendars: Mapping[str, Calendar]


async def _first_cursor(
    conn: Connection, job: Job, new: Schedule | None, start: _Start
) -> Cursor | None:
    """The cursor of a schedule that begins now; the runs so far count towards its cap."""
    before = 0 if start.cursor is None else start.cursor.fired or 0
    fired = before + len(start.decision.run)
    if new is None:
        return None
    planned = planning.next_tick(new, start.now, calendars=start.calendars, fired=fired)
    if planned is None:
        return None
    return Cursor(
        tick_at=planned.tick.at,
        fire_at=None if job.state is JobState.PAUSED else planned.due_at,
        fired=None if new.window.max_runs is None else fired,
        schedule_id=await _shared_id(conn, job, new),
    )


async def _shared_id(conn: Connection, job: Job, schedule: Schedule) -> int | None:
    """The number by which schedulers know a job's schedule; none where its tick says everything."""
    if fires_once(schedule):
        return None
    return await names.schedule_id(conn, shared_text(schedule, job.tenant_id))

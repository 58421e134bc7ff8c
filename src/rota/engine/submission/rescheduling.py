"""Moves the cursors of the jobs that use a calendar when it changes (S15).

This happens in the transaction of the change, so that no reader sees the new calendar with an old
tick. A due tick is decided as it was planned; a future tick may now be blacked out, and a
blacked-out one may be free again. Every job gets a new version, which invalidates what schedulers
have computed with the old calendar. A paused job is not changed: its ticks are planned when it is
resumed. A job that a scheduler quarantined because of its calendars is resumed.

The database's clock determines which ticks have been decided: a tick that fires again would run
again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import Conflict, InvalidSchedule, SearchTooLong
from rota.core.states import JobState
from rota.core.time import planning
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.policies import OnBlackout
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.engine.submission.definition_references import render_shared_schedule
from rota.engine.submission.drafts import fires_once
from rota.engine.submission.job_changes import resume_job
from rota.engine.submission.tick_settlement import compute_progress, read_job_schedule
from rota.store import calendars, cursors, interning, jobs
from rota.store.cursors import CursorPosition, NewCursorPosition
from rota.store.driver import Connection
from rota.store.jobs import JobCursor, StoredJob
from rota.store.pool import read_database_time
from rota.store.transaction import transaction

FOLLOWERS_MAX: Final = 1_000
# Steps of search (core/time/budget.py) for all jobs that use a calendar: about 2 s.
FOLLOW_STEPS_MAX: Final = 200_000
# Schedulers decide ticks some milliseconds ahead (engine/scheduling). Ticks that are due within
# this time stay as planned.
DECIDED_AHEAD: Final = timedelta(seconds=1)


class RescheduledJobs(NamedTuple):
    """The jobs whose cursors were recomputed, and the quarantined jobs that were resumed."""

    moved: tuple[UUID, ...]
    resumed: tuple[UUID, ...]


async def reschedule_followers(conn: Connection, *, tenant_id: int, name: str) -> RescheduledJobs:
    """Reschedule the jobs of a tenant that use a calendar, after it was written."""
    async with transaction(conn):
        found = await calendars.read_calendar_jobs(
            conn, tenant_id=tenant_id, name=name, limit=FOLLOWERS_MAX + 1
        )
        if len(found) > FOLLOWERS_MAX:
            reason = f"more than {FOLLOWERS_MAX} jobs use it; move some of them to another calendar"
            raise Conflict("calendar", reason)
        if not found:
            return RescheduledJobs((), ())
        known = await calendars.read_calendars(conn, tenant_id=tenant_id)
        locked = await jobs.lock_jobs(conn, [job.id for job in found])
        active = [job for job in locked if job.state is JobState.ACTIVE]
        moved = await _move_cursors(conn, active, known) if active else set()
        now = await read_database_time(conn)
        resumed = [
            job.id
            for job in locked
            if job.state is JobState.QUARANTINED and await _try_resume(conn, job, known, now)
        ]
    return RescheduledJobs(tuple(sorted(moved)), tuple(resumed))


async def _move_cursors(
    conn: Connection, active: Sequence[StoredJob], known: Mapping[str, Calendar]
) -> set[UUID]:
    """Move the cursors of these jobs to their next ticks; remove those without a next tick.

    Uses few statements for all jobs, because locked cursors block the batch that decides them. A
    thread computes the ticks within a step budget, so that the process can answer other requests
    and fire other ticks meanwhile.
    """
    schedules = {
        job.id: schedule for job in active if (schedule := read_job_schedule(job)) is not None
    }
    shared = {
        job.id: render_shared_schedule(schedules[job.id], job.tenant_id)
        for job in active
        if job.id in schedules and not fires_once(schedules[job.id])
    }
    ids = await interning.intern_schedules(conn, shared.values())
    standing = await cursors.lock_cursors(conn, list(schedules))
    now = await read_database_time(conn)

    def compute() -> list[NewCursorPosition]:
        left, places = FOLLOW_STEPS_MAX, []
        for cursor in standing:
            job_id, budget = cursor.job_id, SearchBudget(min(left, NEXT_TICK_STEPS_MAX))
            try:
                place = _next_place(cursor, schedules[job_id], RescheduleInputs(known, now, budget))
            except SearchTooLong as error:
                raise _describe_excess(error, len(standing), left) from error
            left -= budget.spent
            schedule_id = ids[shared[job_id]] if job_id in shared else None
            places.append(place._replace(schedule_id=schedule_id))
        return places

    return await cursors.reschedule_jobs(conn, await asyncio.to_thread(compute))


def _describe_excess(error: SearchTooLong, jobs: int, left: int) -> SearchTooLong:
    """Return an error that names what exceeded the budget: one job, or all jobs together."""
    if left >= NEXT_TICK_STEPS_MAX:
        return error
    wanted = (
        f"the search for the next ticks of its {jobs} jobs takes more than {FOLLOW_STEPS_MAX:,} "
        "steps: use fewer or longer windows, or move some of the jobs to another calendar"
    )
    return SearchTooLong(
        field=error.field, value=error.value, wanted=wanted, limit=FOLLOW_STEPS_MAX
    )


class RescheduleInputs(NamedTuple):
    """The current calendars, the time, and the step budget for one job."""

    known: Mapping[str, Calendar]
    now: datetime
    budget: SearchBudget


def _next_place(
    standing: CursorPosition, schedule: Schedule, at: RescheduleInputs
) -> NewCursorPosition:
    """Return where the cursor moves. A tick that is being decided stays. So does a tick whose
    schedule names a missing calendar: the scheduler that decides it reads the calendars again.
    """
    known, now, budget = at
    job_id, tick_at, fire_at, fired, _ = standing
    is_whole = known.keys() >= set(schedule.calendars)
    if fire_at is None or fire_at <= now + DECIDED_AHEAD or not is_whole:
        return NewCursorPosition(job_id, tick_at, fire_at)
    since = now + DECIDED_AHEAD
    if tick_at <= since or schedule.on_blackout is OnBlackout.ADVANCE:
        # A postponed tick must not be lost. An advanced tick has already run and lies before this
        # one.
        since = tick_at - MICROSECOND
    progress = compute_progress(schedule, JobCursor(tick_at, fire_at, fired), now)
    planned = planning.plan_next_tick(
        schedule,
        since,
        calendars=known,
        last_end=progress.last_end,
        fired=progress.fired,
        budget=budget,
    )
    if planned is None:
        return NewCursorPosition(job_id, None)
    # A postponed tick that is free again is due now, and does not count as late.
    return NewCursorPosition(job_id, planned.tick.at, max(planned.due_at, now))


async def _try_resume(
    conn: Connection, job: StoredJob, known: Mapping[str, Calendar], now: datetime
) -> bool:
    """Resume a quarantined job; return False if its schedule is still invalid."""
    try:
        await resume_job(conn, job.id, now=now, calendars=known)
    except InvalidSchedule:
        return False
    return True

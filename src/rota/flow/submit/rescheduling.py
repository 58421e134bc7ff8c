"""Moves the cursors of the jobs that go by a calendar when it is changed (S15). Room: flow/submit.

In the transaction of the change, so that nobody sees the new calendar beside an old tick. A tick
that is due is decided as it was planned; one that has yet to come may now be blacked out, and one
that was blacked out may be free again. Every job gets a new version, and with it whatever a
scheduler has computed by the old calendar is void. A paused job is not touched: its ticks are
planned when it is resumed. One that a scheduler set aside because of its calendars goes on.

The database's clock says what has been decided: a tick that is fired again would run again.
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
from rota.core.time.schedule import STEP, Schedule
from rota.flow.submit.changing import resume
from rota.flow.submit.drafting import fires_once
from rota.flow.submit.going_by import shared_text
from rota.flow.submit.settling import progress_of, schedule_of
from rota.store import calendars, cursors, jobs, names
from rota.store.cursors import Place, Standing
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.jobs import Cursor, Job
from rota.store.transaction import transaction

MOST: Final = 1_000
# Steps of search (core/time/budget.py) for all jobs that go by a calendar: some 2 s.
FOLLOW_STEPS_MAX: Final = 200_000
# Ticks are decided some milliseconds ahead (flow/schedule/firing.py). What is due within this is
# left as it was planned.
DECIDED: Final = timedelta(seconds=1)


class Rescheduled(NamedTuple):
    """The jobs whose cursors were computed anew, and those that were set aside and go on."""

    moved: tuple[UUID, ...]
    resumed: tuple[UUID, ...]


async def follow_calendar(conn: Connection, *, tenant_id: int, name: str) -> Rescheduled:
    """Have the jobs of a tenant go by a calendar as it is now, after it was written."""
    async with transaction(conn):
        found = await calendars.followers(conn, tenant_id=tenant_id, name=name, most=MOST + 1)
        if len(found) > MOST:
            reason = f"more than {MOST} jobs go by it; give some of them a calendar of their own"
            raise Conflict("calendar", reason)
        if not found:
            return Rescheduled((), ())
        known = await calendars.read_all(conn, tenant_id=tenant_id)
        locked = await jobs.lock_many(conn, [job.id for job in found])
        active = [job for job in locked if job.state is JobState.ACTIVE]
        moved = await _move(conn, active, known) if active else set()
        now = await database_time(conn)
        resumed = [
            job.id
            for job in locked
            if job.state is JobState.QUARANTINED and await _resume(conn, job, known, now)
        ]
    return Rescheduled(tuple(sorted(moved)), tuple(resumed))


async def _move(
    conn: Connection, active: Sequence[Job], known: Mapping[str, Calendar]
) -> set[UUID]:
    """Put the cursors of these jobs to the right ticks; those without ticks to come have none.

    Few statements for all of them: as long as cursors are locked, no tick is decided together with
    theirs. The ticks are computed in a thread, within a number of steps: others are answered and
    other ticks fired meanwhile.
    """
    schedules = {job.id: schedule for job in active if (schedule := schedule_of(job)) is not None}
    shared = {
        job.id: shared_text(schedules[job.id], job.tenant_id)
        for job in active
        if job.id in schedules and not fires_once(schedules[job.id])
    }
    ids = await names.schedule_ids(conn, shared.values())
    standing = await cursors.lock(conn, list(schedules))
    now = await database_time(conn)

    def compute() -> list[Place]:
        left, places = FOLLOW_STEPS_MAX, []
        for each in standing:
            budget = SearchBudget(min(left, NEXT_TICK_STEPS_MAX))
            try:
                place = _place(each, schedules[each.job_id], RescheduleInputs(known, now, budget))
            except SearchTooLong as error:
                raise _too_many(error, len(standing), left) from error
            left -= budget.spent
            schedule_id = ids[shared[each.job_id]] if each.job_id in shared else None
            places.append(place._replace(schedule_id=schedule_id))
        return places

    return await cursors.reschedule(conn, await asyncio.to_thread(compute))


def _too_many(error: SearchTooLong, jobs: int, left: int) -> SearchTooLong:
    """Say whose search it was that took too long: that of one job, or of all of them together."""
    if left >= NEXT_TICK_STEPS_MAX:
        return error
    wanted = (
        f"the search for the next ticks of its {jobs} jobs may take {FOLLOW_STEPS_MAX:,} steps and "
        "takes more: use fewer or longer windows, or give some of the jobs another calendar"
    )
    return SearchTooLong(
        field=error.field, value=error.value, wanted=wanted, limit=FOLLOW_STEPS_MAX
    )


class RescheduleInputs(NamedTuple):
    """The calendars as they are now, the time, and the steps that the search of a job may take."""

    known: Mapping[str, Calendar]
    now: datetime
    budget: SearchBudget


def _place(standing: Standing, schedule: Schedule, at: RescheduleInputs) -> Place:
    """Where the cursor goes. A tick that is being decided stays where it is, and so does one that
    cannot be planned without another calendar: whoever decides it reads the calendars anew.
    """
    known, now, budget = at
    job_id, tick_at, fire_at, fired, _ = standing
    is_whole = known.keys() >= set(schedule.calendars)
    if fire_at is None or fire_at <= now + DECIDED or not is_whole:
        return Place(job_id, tick_at, fire_at)
    since = now + DECIDED
    if tick_at <= since or schedule.on_blackout is OnBlackout.ADVANCE:
        # A tick that was put off is not lost; one that was brought forward has run already, and
        # lies before this one.
        since = tick_at - STEP
    progress = progress_of(schedule, Cursor(tick_at, fire_at, fired), now)
    planned = planning.next_tick(
        schedule,
        since,
        calendars=known,
        last_end=progress.last_end,
        fired=progress.fired,
        budget=budget,
    )
    if planned is None:
        return Place(job_id, None)
    # One that was put off and is free now is due now, and nobody was late for it.
    return Place(job_id, planned.tick.at, max(planned.due_at, now))


async def _resume(conn: Connection, job: Job, known: Mapping[str, Calendar], now: datetime) -> bool:
    """Let a job go on, unless it cannot even now."""
    try:
        await resume(conn, job.id, now=now, calendars=known)
    except InvalidSchedule:
        return False
    return True

"""Decides which ticks of a job run when it is paused, resumed or edited (S11, S14).

Reads the inputs of a decision and decides with core/time; writes nothing. job_changes.py locks the
job and its cursor first, and writes the decision afterwards, in the same transaction.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeVar

from rota.contract.schedule import read_stored_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.ids import EPOCH
from rota.core.states import JobState
from rota.core.submissions import encode_canonical
from rota.core.time import misfire, moments, planning
from rota.core.time.budget import CATCH_UP_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.interval import EveryAfterEnd
from rota.core.time.misfire import CatchUpDecision, ScheduleProgress
from rota.core.time.past_ticks import PastTicks
from rota.core.time.pause_segments import PauseSegment, Resumption, decide_pause_segments
from rota.core.time.policies import CatchUp, MisfireCause
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.store.driver import Connection
from rota.store.jobs import JobCursor, StoredJob, read_decided_until

T = TypeVar("T")

# The errors of a schedule that cannot be read or evaluated.
SCHEDULE_ERRORS: Final = (InvalidInput, ArithmeticError, LookupError, TypeError, ValueError)
# No tick came due.
NO_DECISION: Final = CatchUpDecision(runs=(), records=(), cursor=EPOCH)
# Schedules that a paused job keeps for its resumption, if it is edited several times during the
# pause. Beyond this number the ticks of the oldest are recorded as paused.
STRETCHES_MAX: Final = 20


class SettledTicks(NamedTuple):
    """The decided ticks of the schedule before an edit, and of the past of the new schedule."""

    owed: CatchUpDecision = NO_DECISION
    past: CatchUpDecision = NO_DECISION


class KeptStretches(NamedTuple):
    """The stretches that a paused job keeps for its resumption, and the ticks that are recorded
    because the job keeps too many.
    """

    stretches: tuple[PauseSegment, ...]
    decision: CatchUpDecision = NO_DECISION


async def compute_ticks(schedules: Iterable[Schedule | None], compute: Callable[[], T]) -> T:
    """Compute ticks of these schedules; in a thread if one of them is slow to evaluate."""
    if all(schedule is None or schedule.is_quick for schedule in schedules):
        return compute()
    return await asyncio.to_thread(compute)


def read_job_schedule(job: StoredJob) -> Schedule | None:
    """Return the schedule of a job."""
    if job.schedule is None:
        return None
    return read_stored_schedule(json.loads(job.schedule), seed=str(job.id))


def compute_progress(schedule: Schedule, cursor: JobCursor, now: datetime) -> ScheduleProgress:
    """Return the progress of a schedule whose next undecided tick is the cursor's. Ticks before the
    cursor are decided; ticks from the cursor to now are not.
    """
    rule = schedule.rules[0]
    return ScheduleProgress(
        cursor=min(cursor.tick_at - MICROSECOND, now),
        fired=cursor.fired or 0,
        # The end of the run from which the fixed delay counted to this tick.
        last_end=cursor.tick_at - rule.delay if isinstance(rule, EveryAfterEnd) else None,
    )


def compute_next_cursor(
    schedule: Schedule,
    cursor: JobCursor,
    decision: CatchUpDecision,
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> JobCursor | None:
    """Return the cursor of a job that continues with its current schedule."""
    progress = compute_progress(schedule, cursor, now)
    was_due = decision.cursor > progress.cursor
    fired = progress.fired + len(decision.runs)
    planned = planning.plan_next_tick(
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
    return JobCursor(planned.tick.at, planned.due_at, counted, cursor.schedule_id)


async def settle_edit(
    conn: Connection,
    job: StoredJob,
    cursor: JobCursor | None,
    new: Schedule | None,
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> SettledTicks:
    """Decide the overdue ticks of the old schedule, and the past of the new one by `on_edit`.

    The past of the new schedule begins after the last decided tick, or when the job was created. A
    job without a schedule and a fixed delay have no past.
    """
    old = _readable_schedule(job)
    if old is None or not old.has_ticks:
        return SettledTicks()
    owed = NO_DECISION
    if cursor is not None:
        settle = partial(_settle_old, job, old, cursor, now, calendars)
        owed = await compute_ticks([old], settle)
    if job.state is JobState.QUARANTINED:
        return SettledTicks(owed)
    if new is None or not new.has_ticks or new.follows_end or new.misfire.on_edit is CatchUp.SKIP:
        return SettledTicks(owed)
    settled = [planned.tick.at for planned in owed.runs] + [row.last for row in owed.records]
    since = max(await read_decided_until(conn, job.id, now), *settled, EPOCH)
    if cursor is not None:
        # Ticks that the old schedule passed without a record, or whose record was pruned.
        bare, until = replace(old, calendars=()), min(cursor.tick_at, now + MICROSECOND)
        budget = SearchBudget(CATCH_UP_STEPS_MAX)
        past = PastTicks(schedule=bare, since=since, until=until, budget=budget)
        part = await compute_ticks([bare], partial(past.read_newest, 1))
        since = max(since, *part.ticks, EPOCH)
    fired = 0 if cursor is None else cursor.fired or 0
    begun = ScheduleProgress(cursor=min(since, now), fired=fired + len(owed.runs))
    edited = partial(
        misfire.decide_catch_up, new, begun, now, cause=MisfireCause.EDIT, calendars=calendars
    )
    return SettledTicks(owed, await compute_ticks([new], edited))


def _readable_schedule(job: StoredJob) -> Schedule | None:
    """Return the schedule of a job; None if it cannot be read, which the edit repairs."""
    try:
        return read_job_schedule(job)
    except SCHEDULE_ERRORS:
        return None


def _settle_old(
    job: StoredJob,
    old: Schedule,
    cursor: JobCursor,
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> CatchUpDecision:
    """Decide the overdue ticks of the schedule before an edit. An edit also resumes a quarantined
    job: its ticks since the quarantine are decided as for a resumption.
    """
    progress = compute_progress(old, cursor, now)
    try:
        if job.state is JobState.QUARANTINED:
            return misfire.decide_catch_up(
                old, progress, now, cause=MisfireCause.RESUME, calendars=calendars
            )
        return misfire.settle_replaced_schedule(old, progress, now, calendars=calendars)
    except SCHEDULE_ERRORS:
        return NO_DECISION


def settle_pause(
    schedule: Schedule, cursor: JobCursor, now: datetime, calendars: Mapping[str, Calendar]
) -> CatchUpDecision:
    """Decide the ticks that were due before a pause. A jittered tick that is not due yet belongs to
    the pause. So does the tick of a fixed delay, which counts from the resumption.
    """
    if schedule.follows_end:
        return NO_DECISION
    return misfire.decide_catch_up(
        schedule, compute_progress(schedule, cursor, now), now, calendars=calendars
    )


def settle_resume(
    schedule: Schedule | None,
    cursor: JobCursor | None,
    stretches_kept: Sequence[PauseSegment],
    at: Resumption,
) -> CatchUpDecision:
    """Decide the ticks of a pause, including those of schedules that were replaced during it. Ticks
    of a replaced schedule whose calendar was deleted are recorded as paused, because that schedule
    can no longer be corrected.
    """
    known = at.calendars.keys()
    stretches = tuple(
        stretch for stretch in stretches_kept if known >= set(stretch.schedule.calendars)
    )
    orphaned = [
        replace(stretch, schedule=replace(stretch.schedule, calendars=()))
        for stretch in stretches_kept
        if stretch not in stretches
    ]
    if schedule is not None and cursor is not None:
        progress = compute_progress(schedule, cursor, at.now)
        stretches = (*stretches, PauseSegment(schedule=schedule, progress=progress))
    decision = decide_pause_segments(stretches, at) if stretches else NO_DECISION
    passed = (
        decide_pause_segments(orphaned, replace(at, choice=CatchUp.SKIP))
        if orphaned
        else NO_DECISION
    )
    return replace(decision, records=(*passed.records, *decision.records))


def keep_stretches(
    job: StoredJob,
    cursor: JobCursor | None,
    stretches_kept: Sequence[PauseSegment],
    now: datetime,
    calendars: Mapping[str, Calendar],
) -> KeptStretches:
    """Keep the undecided ticks of a paused job's schedule, which an edit replaces now."""
    old, stretches, decision = _readable_schedule(job), tuple(stretches_kept), NO_DECISION
    if old is not None and cursor is not None and cursor.tick_at <= now:
        progress = replace(compute_progress(old, cursor, now), until=now)
        stretches = (*stretches, PauseSegment(schedule=old, progress=progress))
    if len(stretches) > STRETCHES_MAX:
        oldest, *newer = stretches
        at = Resumption(
            now=now, misfire=oldest.schedule.misfire, calendars=calendars, choice=CatchUp.SKIP
        )
        decision, stretches = decide_pause_segments([oldest], at), tuple(newer)
    return KeptStretches(stretches, decision)


def has_same_ticks(job: StoredJob, new: Schedule) -> bool:
    """Return whether a new schedule differs from the old one at most in its misfire policy."""
    old = _readable_schedule(job)
    return old is not None and replace(new, misfire=old.misfire) == old


def render_stretches(stretches: Sequence[PauseSegment]) -> str | None:
    """Return the stored form of the stretches of a paused job; None if it has none."""
    if not stretches:
        return None
    return encode_canonical([_stretch_to_plain(stretch) for stretch in stretches])


def _stretch_to_plain(stretch: PauseSegment) -> dict[str, object]:
    until, end = stretch.progress.until, stretch.progress.last_end
    return {
        "schedule": write_schedule(stretch.schedule),
        "decided": moments.to_rfc3339(stretch.progress.cursor),
        "last_end": None if end is None else moments.to_rfc3339(end),
        "until": None if until is None else moments.to_rfc3339(until),
    }


def read_stretches(
    text: str | None, job: StoredJob, cursor: JobCursor | None
) -> tuple[PauseSegment, ...]:
    """Return the stretches that a paused job kept. The count of its runs is still valid, because
    a paused job creates none.
    """
    fired = 0 if cursor is None else cursor.fired or 0
    return tuple(
        PauseSegment(
            schedule=read_stored_schedule(item["schedule"], seed=str(job.id)),
            progress=ScheduleProgress(
                cursor=moments.parse(item["decided"]),
                fired=fired,
                last_end=None if item["last_end"] is None else moments.parse(item["last_end"]),
                until=None if item["until"] is None else moments.parse(item["until"]),
            ),
        )
        for item in json.loads(text or "[]")
    )

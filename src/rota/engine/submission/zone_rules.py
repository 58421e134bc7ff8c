"""Moves future ticks when the rules of time zones have changed (S9).

The cluster stores the tzdata version that its cursors were computed with, and the rules themselves.
A scheduler that starts with a newer version scans all cursors in small transactions, one process at
a time, and moves those whose zone has changed (core/time/zone_change.py computes the new tick).
Each part stores its progress, so another process can continue. A scheduler with an older version
changes nothing: it logs a warning and registers its presence, because it still computes ticks with
its older rules. Once it has stopped, the cursors are scanned again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.log_events import Emit, ZoneRulesChanged, ZoneRulesOlder
from rota.core.states import JobState
from rota.core.time import zones
from rota.core.time.budget import CATCH_UP_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.zone_change import ZoneChange
from rota.engine.submission.tick_settlement import SCHEDULE_ERRORS, read_job_schedule
from rota.store import calendars, cursors, hints, jobs, tzdata
from rota.store.cursors import CursorPosition
from rota.store.driver import Connection, ConnectionSource
from rota.store.jobs import StoredJob
from rota.store.pool import read_database_time
from rota.store.transaction import transaction
from rota.store.tzdata import CursorMove, TzdataState

# Cursors that one transaction reads. It locks the jobs of those in a changed zone.
SCAN_BATCH_MAX: Final = 500
# Steps of search (core/time/budget.py) after which a part ends early: about 0.5 s.
SCAN_STEPS_MAX: Final = 50_000
CHECK_INTERVAL_S: Final = 30.0
BUSY_INTERVAL_S: Final = 1.0
FIRST_JOB_ID: Final = UUID(int=0)
STATES_WITH_TICKS: Final = frozenset({JobState.ACTIVE, JobState.PAUSED})


class ZoneRulesScan(NamedTuple):
    """The rules of this process, and for each changed zone the rules that its ticks were computed
    with. In a second scan most ticks were already computed with the new rules.
    """

    rules: Mapping[str, bytes]
    before: Mapping[str, bytes]
    is_second: bool


class AppliedZonePart(NamedTuple):
    """The result of one transaction: the jobs that moved, and the summary if it was the last."""

    moved: int = 0
    done: ZoneRulesChanged | None = None


@dataclass(slots=True, kw_only=True)
class ZoneRulesUpdater:
    """Moves the cursors of the cluster to the time zone rules of this process. A scheduler duty."""

    source: ConnectionSource
    emit: Emit
    _walk: ZoneRulesScan | None = None
    _warned: set[str] = field(default_factory=set)

    async def tick(self) -> float:
        ours = zones.tzdata_version()
        async with self.source.acquire() as conn:
            state = await tzdata.read_state(conn)
            applied = None if state is None else state.target or state.version
            if state is None or applied is None:
                await self._adopt(conn, ours)
            elif applied > ours:
                await self._warn(conn, ours, applied)
            elif applied < ours or (state.older_gone and state.target is None):
                self._walk = None
                await tzdata.begin_rules(conn, target=ours, applied=applied)
                return 0.0
            elif state.target is not None:
                return await self._apply(conn, ours)
        return CHECK_INTERVAL_S

    async def _adopt(self, conn: Connection, ours: str) -> None:
        rules = await asyncio.to_thread(zones.read_all_rules)
        async with transaction(conn):
            await tzdata.adopt_rules(conn, ours, rules)

    async def _warn(self, conn: Connection, ours: str, applied: str) -> None:
        await tzdata.report_older_rules(conn, ours)
        if applied not in self._warned:
            self._warned.add(applied)
            self.emit(ZoneRulesOlder(ours=ours, cluster=applied))

    async def _apply(self, conn: Connection, ours: str) -> float:
        """Check the next cursors. Rest when all are checked, or while another process does it."""
        if self._walk is None:
            rules = await asyncio.to_thread(zones.read_all_rules)
            self._walk = await _begin_walk(conn, ours, rules)
        async with transaction(conn):
            state = await tzdata.lock_state(conn)
            if state is None:
                return BUSY_INTERVAL_S
            if state.target != ours:
                self._walk = None
                return 0.0
            part = await _apply_part(conn, state, self._walk)
        if part.moved:
            await hints.send_hint(conn, hints.JOBS_CHANNEL)
        if part.done is None:
            return 0.0
        self._walk = None
        self.emit(part.done)
        return CHECK_INTERVAL_S


async def _begin_walk(conn: Connection, ours: str, rules: Mapping[str, bytes]) -> ZoneRulesScan:
    state = await tzdata.read_state(conn)
    is_second = state is not None and state.version == ours
    stored = await tzdata.read_rules(conn)
    applied = {row.zone: row.previous if is_second else row.rules for row in stored}
    before = {
        zone: before
        for zone, before in applied.items()
        if before is not None and zone in rules and rules[zone] != before
    }
    return ZoneRulesScan(rules, before, is_second)


async def _apply_part(conn: Connection, state: TzdataState, walk: ZoneRulesScan) -> AppliedZonePart:
    """Check the next cursors, and store the progress of the scan."""
    target, found = state.target or "", []
    if walk.before:
        after, changed = state.position or FIRST_JOB_ID, list(walk.before)
        found = await tzdata.scan_cursors(conn, after=after, zones=changed, limit=SCAN_BATCH_MAX)
    if found:
        ids = [row.job_id for row in found if row.may_move]
        part = await _move_cursors(conn, ids, walk) if ids else MovedZonePart()
        position = found[-1].job_id if part.reached is None else part.reached
        moved, looked_at = len(part.moved), sum(id_ <= position for id_ in ids)
        await tzdata.advance_rules(conn, state, position=position, looked_at=looked_at, moved=moved)
        return AppliedZonePart(moved=moved)
    if not walk.is_second:
        await tzdata.put_rules(conn, walk.rules)
    await tzdata.finish_rules(conn, target=target)
    done = ZoneRulesChanged(
        before=state.version or "unknown",
        after=target,
        zones=tuple(sorted(walk.before)),
        jobs=state.looked_at,
        moved=state.moved,
    )
    return AppliedZonePart(done=done)


class MovedZonePart(NamedTuple):
    """The jobs whose cursors were moved. `reached` is the last job that was checked, if jobs remain
    for the next part.
    """

    moved: frozenset[UUID] = frozenset()
    reached: UUID | None = None


async def _move_cursors(
    conn: Connection, ids: Sequence[UUID], walk: ZoneRulesScan
) -> MovedZonePart:
    """Move the cursors of these jobs to their ticks under the rules of this process.

    A thread computes the ticks, so that the process can fire other ticks meanwhile. The locks are
    held meanwhile, so a part that takes too many steps ends early.
    """
    locked = {
        job.id: job for job in await jobs.lock_jobs(conn, ids) if job.state in STATES_WITH_TICKS
    }
    standing = await cursors.lock_cursors(conn, list(locked))
    now = await read_database_time(conn)
    known = {
        tenant_id: await calendars.read_calendars(conn, tenant_id=tenant_id)
        for tenant_id in {job.tenant_id for job in locked.values()}
    }

    def compute() -> tuple[list[CursorMove], UUID | None]:
        moves: list[CursorMove] = []
        steps, ordered = 0, sorted(standing, key=lambda cursor: cursor.job_id)
        for place, cursor in enumerate(ordered):
            if steps > SCAN_STEPS_MAX:
                return moves, ordered[place - 1].job_id
            job, budget = locked[cursor.job_id], SearchBudget(CATCH_UP_STEPS_MAX)
            inputs = ZoneMoveInputs(known[job.tenant_id], now, budget)
            move = _move_cursor(job, cursor, walk, inputs)
            moves += [] if move is None else [move]
            steps += budget.spent
        return moves, None

    moves, reached = await asyncio.to_thread(compute)
    moved = await tzdata.move_cursors(conn, moves) if moves else set()
    return MovedZonePart(frozenset(moved), reached)


class ZoneMoveInputs(NamedTuple):
    """The calendars of a tenant, the time, and the step budget for one cursor."""

    known: Mapping[str, Calendar]
    now: datetime
    budget: SearchBudget


def _move_cursor(
    job: StoredJob, standing: CursorPosition, walk: ZoneRulesScan, at: ZoneMoveInputs
) -> CursorMove | None:
    """Return where a cursor moves; None if it stays.

    A tick that is in the past only because clocks were moved forward becomes due now, so it does
    not count as late.
    """
    known, now, budget = at
    try:
        schedule = read_job_schedule(job)
        if schedule is None or schedule.follows_end:
            return None
        rules = walk.before.get(schedule.timezone)
        if rules is None and not _are_changed(schedule.calendars, known, walk):
            return None
        zone = schedule.zone if rules is None else zones.create_zone(schedule.timezone, rules)
        change = ZoneChange(
            schedule=schedule,
            before=zone,
            calendars=known,
            may_be_new=walk.is_second,
            budget=budget,
        )
        planned = change.next_tick(standing.tick_at, fired=standing.fired or 0)
    except SCHEDULE_ERRORS:
        return None  # the scheduler quarantines the job when it is due
    if planned is None:
        return None
    due_at = planned.due_at
    if standing.fire_at is not None and standing.fire_at > now:
        due_at = max(due_at, now)
    if (planned.tick.at, due_at) == (standing.tick_at, standing.fire_at or due_at):
        return None
    return CursorMove(job.id, standing.tick_at, planned.tick.at, due_at)


def _are_changed(names: Sequence[str], known: Mapping[str, Calendar], walk: ZoneRulesScan) -> bool:
    """Return whether a calendar of a schedule is in a zone whose rules have changed."""
    return any(name in known and known[name].timezone in walk.before for name in names)

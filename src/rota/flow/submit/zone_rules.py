"""Moves ticks to come when the rules of time zones have changed (S9). Room: flow/submit.

The cluster keeps the tzdata version that its cursors were computed with, and the rules themselves.
A scheduler that starts with a newer version walks all cursors in small transactions, one process at
a time, and moves those whose zone has changed (core/time/zone_change.py says where to). Progress is
kept with each part, so another process goes on where one has stopped. A scheduler with an older
version changes nothing: it warns, and says that it is there, because it still computes ticks by
its older rules; once it is gone, the cursors are walked again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.events import Emit, ZoneRulesChanged, ZoneRulesOlder
from rota.core.states import JobState
from rota.core.time import zones
from rota.core.time.budget import CATCH_UP_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.zone_change import ZoneChange
from rota.flow.submit.settling import UNREADABLE, schedule_of
from rota.store import calendars, cursors, hints, jobs, tzdata
from rota.store.cursors import Standing
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time
from rota.store.jobs import Job
from rota.store.transaction import transaction
from rota.store.tzdata import CursorMove, TzdataState

# Cursors that one transaction looks at; of those in a changed zone the jobs are locked meanwhile.
WALK_BATCH_MAX: Final = 500
# Steps of search (core/time/budget.py) after which a part ends early: some 0.5 s.
WALK_STEPS_MAX: Final = 50_000
CHECK_INTERVAL_S: Final = 30.0
BUSY_INTERVAL_S: Final = 1.0
FIRST: Final = UUID(int=0)
WITH_TICKS: Final = frozenset({JobState.ACTIVE, JobState.PAUSED})


class ZoneWalk(NamedTuple):
    """The rules of this process, and those that ticks were computed with where they are others. In
    a second walk most ticks were computed with the new ones already.
    """

    rules: Mapping[str, bytes]
    before: Mapping[str, bytes]
    is_second: bool


class AppliedPart(NamedTuple):
    """What one transaction has done: jobs that moved, and the whole walk if it was the last."""

    moved: int = 0
    done: ZoneRulesChanged | None = None


@dataclass(slots=True, kw_only=True)
class ZoneRulesUpdater:
    """A duty of schedulers: brings the cursors of the cluster to the rules of this process."""

    source: Source
    emit: Emit
    _walk: ZoneWalk | None = None
    _told: set[str] = field(default_factory=set)

    async def tick(self) -> float:
        ours = zones.tzdata_version()
        async with self.source.acquire() as conn:
            state = await tzdata.read(conn)
            applied = None if state is None else state.target or state.version
            if state is None or applied is None:
                await self._adopt(conn, ours)
            elif applied > ours:
                await self._warn(conn, ours, applied)
            elif applied < ours or (state.older_gone and state.target is None):
                self._walk = None
                await tzdata.begin(conn, target=ours, applied=applied)
                return 0.0
            elif state.target is not None:
                return await self._apply(conn, ours)
        return CHECK_INTERVAL_S

    async def _adopt(self, conn: Connection, ours: str) -> None:
        rules = await asyncio.to_thread(zones.read_all_rules)
        async with transaction(conn):
            await tzdata.adopt(conn, ours, rules)

    async def _warn(self, conn: Connection, ours: str, applied: str) -> None:
        await tzdata.note_older(conn, ours)
        if applied not in self._told:
            self._told.add(applied)
            self.emit(ZoneRulesOlder(ours=ours, cluster=applied))

    async def _apply(self, conn: Connection, ours: str) -> float:
        """Look at the next cursors; rest when all were looked at, or while another process does."""
        if self._walk is None:
            rules = await asyncio.to_thread(zones.read_all_rules)
            self._walk = await _begin_walk(conn, ours, rules)
        async with transaction(conn):
            state = await tzdata.lock(conn)
            if state is None:
                return BUSY_INTERVAL_S
            if state.target != ours:
                self._walk = None
                return 0.0
            part = await _apply_part(conn, state, self._walk)
        if part.moved:
            await hints.give(conn, hints.JOBS)
        if part.done is None:
            return 0.0
        self._walk = None
        self.emit(part.done)
        return CHECK_INTERVAL_S


async def _begin_walk(conn: Connection, ours: str, rules: Mapping[str, bytes]) -> ZoneWalk:
    state = await tzdata.read(conn)
    is_second = state is not None and state.version == ours
    noted = await tzdata.read_rules(conn)
    had = {row.zone: row.previous if is_second else row.rules for row in noted}
    before = {
        zone: before
        for zone, before in had.items()
        if before is not None and zone in rules and rules[zone] != before
    }
    return ZoneWalk(rules, before, is_second)


async def _apply_part(conn: Connection, state: TzdataState, walk: ZoneWalk) -> AppliedPart:
    """Look at the next cursors, and note how far the walk has come."""
    target, found = state.target or "", []
    if walk.before:
        after, changed = state.position or FIRST, list(walk.before)
        found = await tzdata.walk(conn, after=after, zones=changed, most=WALK_BATCH_MAX)
    if found:
        ids = [each.job_id for each in found if each.may_move]
        part = await _move(conn, ids, walk) if ids else MovedPart()
        position = found[-1].job_id if part.reached is None else part.reached
        moved, looked_at = len(part.moved), sum(each <= position for each in ids)
        await tzdata.advance(conn, state, position=position, looked_at=looked_at, moved=moved)
        return AppliedPart(moved=moved)
    if not walk.is_second:
        await tzdata.put_rules(conn, walk.rules)
    await tzdata.finish(conn, target=target)
    done = ZoneRulesChanged(
        before=state.version or "unknown",
        after=target,
        zones=tuple(sorted(walk.before)),
        jobs=state.looked_at,
        moved=state.moved,
    )
    return AppliedPart(done=done)


class MovedPart(NamedTuple):
    """The jobs whose cursors were moved. `reached` is the last job that was looked at, if others
    are left for the next part.
    """

    moved: frozenset[UUID] = frozenset()
    reached: UUID | None = None


async def _move(conn: Connection, ids: Sequence[UUID], walk: ZoneWalk) -> MovedPart:
    """Put the cursors of these jobs to the ticks that they have under the rules of this process.

    The ticks are computed in a thread: a process that fires meanwhile is not kept from it. The
    locks are held meanwhile, so a part that takes too many steps ends early.
    """
    locked = {job.id: job for job in await jobs.lock_many(conn, ids) if job.state in WITH_TICKS}
    standing = await cursors.lock(conn, list(locked))
    now = await database_time(conn)
    known = {
        tenant_id: await calendars.read_all(conn, tenant_id=tenant_id)
        for tenant_id in {job.tenant_id for job in locked.values()}
    }

    def compute() -> tuple[list[CursorMove], UUID | None]:
        moves: list[CursorMove] = []
        steps, ordered = 0, sorted(standing, key=lambda each: each.job_id)
        for place, each in enumerate(ordered):
            if steps > WALK_STEPS_MAX:
                return moves, ordered[place - 1].job_id
            job, budget = locked[each.job_id], SearchBudget(CATCH_UP_STEPS_MAX)
            move = _place(job, each, walk, ZoneMoveInputs(known[job.tenant_id], now, budget))
            moves += [] if move is None else [move]
            steps += budget.spent
        return moves, None

    moves, reached = await asyncio.to_thread(compute)
    moved = await tzdata.move(conn, moves) if moves else set()
    return MovedPart(frozenset(moved), reached)


class ZoneMoveInputs(NamedTuple):
    """What the cursors of a tenant are computed with: its calendars, the time, and the steps that
    one of them may take.
    """

    known: Mapping[str, Calendar]
    now: datetime
    budget: SearchBudget


def _place(job: Job, standing: Standing, walk: ZoneWalk, at: ZoneMoveInputs) -> CursorMove | None:
    """Where a cursor goes; None if it stays.

    A tick that lies behind only because clocks were moved forward is due now: nobody was late.
    """
    known, now, budget = at
    try:
        schedule = schedule_of(job)
        if schedule is None or schedule.follows_end:
            return None
        rules = walk.before.get(schedule.timezone)
        if rules is None and not _are_changed(schedule.calendars, known, walk):
            return None
        zone = schedule.zone if rules is None else zones.zone_from(schedule.timezone, rules)
        change = ZoneChange(
            schedule=schedule,
            before=zone,
            calendars=known,
            may_be_new=walk.is_second,
            budget=budget,
        )
        planned = change.next_tick(standing.tick_at, fired=standing.fired or 0)
    except UNREADABLE:
        return None  # it is quarantined when it is due
    if planned is None:
        return None
    due_at = planned.due_at
    if standing.fire_at is not None and standing.fire_at > now:
        due_at = max(due_at, now)
    if (planned.tick.at, due_at) == (standing.tick_at, standing.fire_at or due_at):
        return None
    return CursorMove(job.id, standing.tick_at, planned.tick.at, due_at)


def _are_changed(names: Sequence[str], known: Mapping[str, Calendar], walk: ZoneWalk) -> bool:
    """Whether a calendar that a schedule goes by is in a zone whose rules have changed."""
    return any(name in known and known[name].timezone in walk.before for name in names)

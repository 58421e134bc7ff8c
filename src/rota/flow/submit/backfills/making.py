"""Goes on with backfills: sees which runs have ended, makes the next ones (S13). Room: flow/submit.

A duty of any node. One look at a backfill is one transaction that holds its row: it strikes off
the runs that have ended, makes runs for the next ticks as long as fewer are alive than its window
allows, and writes down how far it came. So a node that dies in the middle has done nothing, and
whoever looks next goes on from the same tick; the ids of the runs are derived, so that none is made
twice even by somebody who did not see the others. A tick that has nothing to its name gets the run
that the scheduler would have made; any other gets one under an id of this backfill's own.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core import backfills as rules
from rota.core.backfills import BackfillState, Order
from rota.core.errors import InvalidInput, NewerDocument, NotFound, StoreFailed
from rota.core.ids import keyed_run_id, tick_run_id
from rota.core.overlap import Overlap
from rota.core.submission import canonical
from rota.core.time import moments
from rota.core.time.past import Part, Past
from rota.core.time.planning import Planned
from rota.core.time.schedule import STEP
from rota.core.time.tick import Tick
from rota.flow.submit.allowing import quotas_of
from rota.flow.submit.backfills.asking import standings
from rota.flow.submit.drafting import gates_of
from rota.flow.submit.placing import limits_of, ticked
from rota.flow.submit.settling import compute_ticks
from rota.store import backfills, calendars, gates, jobs, live_runs, tenants
from rota.store.backfills import Backfill, Settled, Step
from rota.store.driver import Connection, Source
from rota.store.jobs import Job
from rota.store.live_runs import NewRun
from rota.store.transaction import transaction

# Ticks that one look decides at most: some 20 ms of walking.
BATCH: Final = 1_000
FEWEST: Final = 200
EVERY: Final = 0.5
# Until the next look: at one that moves, one that waits for its runs, one that is paused, and one
# that the database refused.
SOON: Final = timedelta(milliseconds=200)
LATER: Final = timedelta(seconds=1)
ASLEEP: Final = timedelta(seconds=30)
AFTER_FAILURE: Final = timedelta(minutes=1)


class Looked(NamedTuple):
    """A look at a backfill: which one, and how many runs it made."""

    id: UUID
    made: int


class Made(NamedTuple):
    """How far a look came: so many ticks decided, so many runs made for them."""

    reached: datetime
    ticks: int = 0
    made: int = 0
    has_room: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfilling:
    """`made` is called when there are new runs: the hint for claimers."""

    source: Source
    made: Callable[[], object]

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            looked = await look(conn)
        if looked is None:
            return EVERY
        if looked.made:
            self.made()
        return 0.0


async def look(conn: Connection) -> Looked | None:
    """Go on with the backfill that was not looked at for longest; None if all can wait."""
    async with transaction(conn):
        found = await backfills.take(conn)
        if found is None:
            return None
        try:
            async with transaction(conn):
                step = await _step(conn, found)
                await backfills.move(conn, found, step)
        except StoreFailed as error:
            # What the database refuses must not end every node that looks at it.
            reason = canonical({"code": "refused", "message": str(error)})
            step = Step(state=found.state, reached=found.reached, rest=AFTER_FAILURE, reason=reason)
            await backfills.move(conn, found, step)
    return Looked(found.id, step.made)


async def _step(conn: Connection, found: Backfill) -> Step:
    settled = await backfills.settle(conn, found.id)
    if found.state is BackfillState.CANCELLING:
        settled = _sum(settled, await _cancel_waiting(conn, found))
    alive = await backfills.count_alive(conn, found.id)
    done = Made(found.reached)
    if found.state is BackfillState.RUNNING and not found.is_through:
        try:
            done = await _make(conn, found, alive)
        except NewerDocument as error:
            why = canonical({"code": "newer_version", "message": str(error)})
            return Step(
                state=found.state,
                reached=found.reached,
                settled=settled,
                rest=AFTER_FAILURE,
                reason=why,
            )
        except (InvalidInput, NotFound) as error:
            # Its job was deleted, or a calendar of its schedule: it never goes on.
            why = canonical({"code": "cannot_go_on", "message": str(error)})
            return Step(
                state=BackfillState.CANCELLING, reached=found.reached, settled=settled, reason=why
            )
    after = found._replace(reached=done.reached)
    state = _ended(after) if alive + done.made == 0 else found.state
    return Step(
        state=state,
        reached=done.reached,
        ticks=done.ticks,
        made=done.made,
        settled=settled,
        rest=_rest(after, done, settled, alive),
    )


def _ended(found: Backfill) -> BackfillState:
    """What a backfill is of which no run is alive."""
    if found.state is BackfillState.CANCELLING:
        return BackfillState.CANCELLED
    return BackfillState.FINISHED if found.is_through else found.state


def _rest(after: Backfill, done: Made, settled: Settled, alive: int) -> timedelta:
    if after.state is BackfillState.PAUSED and not alive:
        return ASLEEP
    if done.ticks and done.has_room and not after.is_through:
        return timedelta(0)
    return SOON if done.ticks or any(settled) else LATER


async def _cancel_waiting(conn: Connection, found: Backfill) -> Settled:
    """What waits again since it was cancelled, a retry perhaps, does not start any more."""
    waiting = await backfills.waiting(conn, found.id)
    if not waiting:
        return Settled()
    await live_runs.cancel(conn, ids=waiting)
    return await backfills.settle(conn, found.id)


async def _make(conn: Connection, found: Backfill, alive: int) -> Made:
    """Make runs for the next ticks, while the window has room for a good part of itself."""
    window = rules.window(found.at_once)
    room = window - alive
    if 2 * room < window:
        return Made(found.reached)
    job = await jobs.lock(conn, found.job_id)
    room = min(room, await _quota_left(conn, job, room))
    if room <= 0:
        return Made(found.reached)
    part = await _next_part(conn, found, min(BATCH, max(FEWEST, 2 * room)))
    stand = await standings(conn, part.ticks, tenant_id=job.tenant_id, job_id=job.id)
    chosen: list[tuple[datetime, bool]] = []
    looked_at, reached = len(part.ticks), part.reached
    for place, at in enumerate(part.ticks, start=1):
        if rules.wants(found.picks, rules.standing(stand.get(at, ()))):
            chosen.append((at, at in stand))
        if len(chosen) == room:
            looked_at = place
            if place < len(part.ticks):
                reached = at if found.newest_first else at + STEP
            break
    made = await _insert(conn, found, job, chosen) if chosen else []
    return Made(reached, looked_at, len(made), has_room=len(chosen) < room)


async def _quota_left(conn: Connection, job: Job, room: int) -> int:
    """How many more runs of the tenant may wait."""
    most = quotas_of(job.quotas).max_queued
    if most is None:
        return room
    return most - await tenants.count_queued(conn, tenant_id=job.tenant_id, most=most)


async def _next_part(conn: Connection, found: Backfill, most: int) -> Part:
    schedule = read_stored_schedule(json.loads(found.schedule), seed=str(found.job_id))
    known = {}
    if schedule.calendars:
        known = await calendars.read_all(conn, tenant_id=found.tenant_id)
    if found.newest_first:
        past = Past(schedule=schedule, since=found.since, until=found.reached, calendars=known)
        return await compute_ticks([schedule], partial(past.newest, most))
    past = Past(schedule=schedule, since=found.reached, until=found.until, calendars=known)
    return await compute_ticks([schedule], partial(past.oldest, most))


async def _insert(
    conn: Connection, found: Backfill, job: Job, chosen: Sequence[tuple[datetime, bool]]
) -> list[UUID]:
    """Make the runs of these ticks; of each, whether it has runs already."""
    text = job.payload if found.payload is None else found.payload
    payload = json.loads(text or "null")
    # Overlap.ALLOW: without the gate that keeps the job's own runs in order.
    others = gates_of(job.id, job.tenant_id, Overlap.ALLOW, limits_of(job), payload)
    made = await gates.put_many(conn, others)
    # Its own gate first, however wide: while it is shut, a claim passes over all of them at once.
    through = (found.gate_id, *(made[gate.tenant_id, gate.key] for gate in others))
    runs = _runs(found, job, chosen, through)
    ids = await live_runs.insert_many(conn, runs)
    await backfills.note_runs(conn, found.id, tenant_id=found.tenant_id, run_ids=ids)
    return ids


def _runs(
    found: Backfill, job: Job, chosen: Sequence[tuple[datetime, bool]], through: tuple[int, ...]
) -> list[NewRun]:
    """They differ in their ids and times only; a mould for the rest is read once."""
    order = Order.NEWEST if found.newest_first else Order.OLDEST
    tick = Tick(at=found.reached, local=found.reached.replace(tzinfo=None))
    mould = ticked(job, Planned(tick=tick, due_at=found.now), through, found.payload)
    mould = replace(mould, trigger="backfill", priority=found.priority)
    runs = []
    for place, (at, has_runs) in enumerate(chosen):
        due_at = rules.due_at(found.now, place, order)
        runs.append(
            replace(
                mould,
                id=own_run_id(found.id, at) if has_runs else tick_run_id(job.id, at),
                scheduled_at=at,
                due_at=due_at,
                deadline_at=mould.deadline_at and mould.deadline_at + (due_at - found.now),
            )
        )
    return runs


def own_run_id(backfill_id: UUID, at: datetime) -> UUID:
    """The id of the run that a backfill makes for a tick that has runs already."""
    return keyed_run_id(f"backfill {backfill_id}", moments.rfc3339(at), at=at)


def _sum(one: Settled, other: Settled) -> Settled:
    return Settled(*(a + b for a, b in zip(one, other, strict=True)))

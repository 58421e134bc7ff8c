"""Advances backfills: counts the runs that have ended and creates the next ones (S13).

A duty of every node. One pass over a backfill is one transaction that locks its row: it counts the
runs that have ended, creates runs for the next ticks while its window has room, and stores how far
it came. A node that dies during a pass has changed nothing, and the next node continues from the
same tick. Run ids are derived from ticks, so no run is created twice. A tick without any run gets
the run that the scheduler would have created; every other tick gets a run under an id of this
backfill.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core import backfills as rules
from rota.core.backfills import BackfillOrder, BackfillState
from rota.core.errors import InvalidInput, NewerDocument, NotFound, StoreFailed
from rota.core.ids import derive_keyed_run_id, derive_tick_run_id
from rota.core.overlap import Overlap
from rota.core.submissions import encode_canonical
from rota.core.time import moments
from rota.core.time.past_ticks import PastTicks, TickPage
from rota.core.time.schedule import MICROSECOND
from rota.engine.submission.backfills.requests import read_tick_states
from rota.engine.submission.drafts import build_gates
from rota.engine.submission.quotas import read_quotas
from rota.engine.submission.tick_settlement import compute_ticks
from rota.store import backfills, calendars, gates, jobs, live_runs, tenants
from rota.store.backfills import Backfill, BackfillStep, SettledRuns
from rota.store.driver import Connection, ConnectionSource
from rota.store.jobs import StoredJob
from rota.store.live_runs import NewRun
from rota.store.run_templates import RunTemplate, read_job_limits
from rota.store.transaction import transaction

# Ticks that one pass decides at most: about 20 ms of computation.
PASS_TICKS_MAX: Final = 1_000
PASS_TICKS_MIN: Final = 200
IDLE_INTERVAL_S: Final = 0.5
# Time until the next pass over a backfill: one that advances, one that waits for its runs, one that
# is paused, and one that the database refused.
ADVANCING_REST: Final = timedelta(milliseconds=200)
WAITING_REST: Final = timedelta(seconds=1)
PAUSED_REST: Final = timedelta(seconds=30)
FAILED_REST: Final = timedelta(minutes=1)


class BackfillPass(NamedTuple):
    """A pass over one backfill, and the number of runs that it created."""

    id: UUID
    new_runs: int


class BackfillPassProgress(NamedTuple):
    """How far a pass came: the ticks it decided and the runs it created."""

    reached: datetime
    ticks: int = 0
    new_runs: int = 0
    has_room: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillAdvancer:
    """Advances backfills as a background duty. It calls
    `on_runs_created` as the hint for claimers.
    """

    source: ConnectionSource
    on_runs_created: Callable[[], object]

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            looked = await advance_oldest(conn)
        if looked is None:
            return IDLE_INTERVAL_S
        if looked.new_runs:
            self.on_runs_created()
        return 0.0


async def advance_oldest(conn: Connection) -> BackfillPass | None:
    """Advance the backfill whose last pass is oldest; return None if all can wait."""
    async with transaction(conn):
        found = await backfills.take_backfill(conn)
        if found is None:
            return None
        try:
            async with transaction(conn):
                step = await _advance_step(conn, found)
                await backfills.store_step(conn, found, step)
        except StoreFailed as error:
            # A statement that the database refuses must not stop every node that tries it.
            reason = encode_canonical({"code": "refused", "message": str(error)})
            step = BackfillStep(
                state=found.state, reached=found.reached, rest=FAILED_REST, reason=reason
            )
            await backfills.store_step(conn, found, step)
    return BackfillPass(found.id, step.made)


async def _advance_step(conn: Connection, found: Backfill) -> BackfillStep:
    settled = await backfills.settle_runs(conn, found.id)
    if found.state is BackfillState.CANCELLING:
        settled = _add_settled(settled, await _cancel_waiting(conn, found))
    alive = await backfills.count_unfinished(conn, found.id)
    done = BackfillPassProgress(found.reached)
    if found.state is BackfillState.RUNNING and not found.is_complete:
        try:
            done = await _create_runs(conn, found, alive)
        except NewerDocument as error:
            why = encode_canonical({"code": "newer_version", "message": str(error)})
            return BackfillStep(
                state=found.state,
                reached=found.reached,
                settled=settled,
                rest=FAILED_REST,
                reason=why,
            )
        except (InvalidInput, NotFound) as error:
            # Its job or a calendar of its schedule was deleted: it cannot continue.
            why = encode_canonical({"code": "cannot_go_on", "message": str(error)})
            return BackfillStep(
                state=BackfillState.CANCELLING, reached=found.reached, settled=settled, reason=why
            )
    after = found._replace(reached=done.reached)
    state = _state_without_runs(after) if alive + done.new_runs == 0 else found.state
    return BackfillStep(
        state=state,
        reached=done.reached,
        ticks=done.ticks,
        made=done.new_runs,
        settled=settled,
        rest=_rest_after(after, done, settled, alive),
    )


def _state_without_runs(found: Backfill) -> BackfillState:
    """Return the state of a backfill without active runs."""
    if found.state is BackfillState.CANCELLING:
        return BackfillState.CANCELLED
    return BackfillState.FINISHED if found.is_complete else found.state


def _rest_after(
    after: Backfill, done: BackfillPassProgress, settled: SettledRuns, alive: int
) -> timedelta:
    if after.state is BackfillState.PAUSED and not alive:
        return PAUSED_REST
    if done.ticks and done.has_room and not after.is_complete:
        return timedelta(0)
    return ADVANCING_REST if done.ticks or any(settled) else WAITING_REST


async def _cancel_waiting(conn: Connection, found: Backfill) -> SettledRuns:
    """Cancel runs that wait again since the cancellation, such as retries."""
    waiting = await backfills.lock_waiting_runs(conn, found.id)
    if not waiting:
        return SettledRuns()
    await live_runs.cancel_runs(conn, ids=waiting)
    return await backfills.settle_runs(conn, found.id)


async def _create_runs(conn: Connection, found: Backfill, alive: int) -> BackfillPassProgress:
    """Create runs for the next ticks if at least half of the window is free."""
    window = rules.compute_live_limit(found.at_once)
    room = window - alive
    if 2 * room < window:
        return BackfillPassProgress(found.reached)
    job = await jobs.lock_job(conn, found.job_id)
    room = min(room, await _quota_left(conn, job, room))
    if room <= 0:
        return BackfillPassProgress(found.reached)
    part = await _next_part(conn, found, min(PASS_TICKS_MAX, max(PASS_TICKS_MIN, 2 * room)))
    stand = await read_tick_states(conn, part.ticks, tenant_id=job.tenant_id, job_id=job.id)
    chosen: list[tuple[datetime, bool]] = []
    looked_at, reached = len(part.ticks), part.reached
    for place, at in enumerate(part.ticks, start=1):
        if rules.needs_run(found.picks, rules.rate_tick(stand.get(at, ()))):
            chosen.append((at, at in stand))
        if len(chosen) == room:
            looked_at = place
            if place < len(part.ticks):
                reached = at if found.newest_first else at + MICROSECOND
            break
    made = await _insert_runs(conn, found, job, chosen) if chosen else []
    return BackfillPassProgress(reached, looked_at, len(made), has_room=len(chosen) < room)


async def _quota_left(conn: Connection, job: StoredJob, room: int) -> int:
    """Return how many more waiting runs the tenant may have."""
    quota = read_quotas(job.quotas).max_queued
    if quota is None:
        return room
    return quota - await tenants.count_queued(conn, tenant_id=job.tenant_id, limit=quota)


async def _next_part(conn: Connection, found: Backfill, most: int) -> TickPage:
    schedule = read_stored_schedule(json.loads(found.schedule), seed=str(found.job_id))
    known = {}
    if schedule.calendars:
        known = await calendars.read_calendars(conn, tenant_id=found.tenant_id)
    if found.newest_first:
        past = PastTicks(schedule=schedule, since=found.since, until=found.reached, calendars=known)
        return await compute_ticks([schedule], partial(past.read_newest, most))
    past = PastTicks(schedule=schedule, since=found.reached, until=found.until, calendars=known)
    return await compute_ticks([schedule], partial(past.read_oldest, most))


async def _insert_runs(
    conn: Connection, found: Backfill, job: StoredJob, chosen: Sequence[tuple[datetime, bool]]
) -> list[UUID]:
    """Create the runs of these ticks. The flag of a tick says whether it has runs already."""
    text = job.payload if found.payload is None else found.payload
    payload = json.loads(text or "null")
    # Overlap.ALLOW omits the gate that keeps the job's own runs in order.
    others = build_gates(job.id, job.tenant_id, Overlap.ALLOW, read_job_limits(job.limits), payload)
    made = await gates.put_gates(conn, others)
    # The backfill's own gate comes first: while it is shut, a claim skips all of its runs at once.
    through = (found.gate_id, *(made[gate.tenant_id, gate.key] for gate in others))
    runs = _build_runs(found, job, chosen, through)
    ids = await live_runs.insert_runs(conn, runs)
    await backfills.record_runs(conn, found.id, tenant_id=found.tenant_id, run_ids=ids)
    return ids


def _build_runs(
    found: Backfill,
    job: StoredJob,
    chosen: Sequence[tuple[datetime, bool]],
    through: tuple[int, ...],
) -> list[NewRun]:
    """Return the new runs, which differ in ids and times only."""
    order = BackfillOrder.NEWEST if found.newest_first else BackfillOrder.OLDEST
    template = RunTemplate.from_job(job, trigger="backfill")
    return [
        template.build_run(
            backfill_run_id(found.id, at) if has_runs else derive_tick_run_id(job.id, at),
            scheduled_at=at,
            due_at=rules.compute_due_at(found.now, place, order),
            priority=found.priority,
            payload=found.payload,
            gates=through,
        )
        for place, (at, has_runs) in enumerate(chosen)
    ]


def backfill_run_id(backfill_id: UUID, at: datetime) -> UUID:
    """Return the id of the run that a backfill creates for a tick that already has runs."""
    return derive_keyed_run_id(f"backfill {backfill_id}", moments.to_rfc3339(at), at=at)


def _add_settled(one: SettledRuns, other: SettledRuns) -> SettledRuns:
    return SettledRuns(*(a + b for a, b in zip(one, other, strict=True)))

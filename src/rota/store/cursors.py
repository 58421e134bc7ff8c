"""Reads and moves cursors: the position of each job in its schedule.

A scheduler reads ahead with `due` and decides with `fire`, `fire_overlapping` or `move`. The caller
computes the next tick; a statement only moves a cursor that is still where the caller saw it, in a
shard that the caller still holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import Statement, statement

BEFORE_ALL_TICKS: Final = datetime(1, 1, 2, tzinfo=UTC)
# How many runs may wait in a row with the overlap policy queue_all.
QUEUED_OVERLAPS_MAX: Final = 100


class DueTick(NamedTuple):
    """A cursor as it was read: its next tick, and the data needed to fire it."""

    job_id: UUID
    version: int
    tick_at: datetime
    fire_at: datetime
    fired: int | None
    schedule_id: int | None
    shard: int
    queue_id: int
    overlap: str

    def at_tick(self, tick_at: datetime, fire_at: datetime, fired: int | None) -> "DueTick":
        """Return the same cursor at another tick. Faster than `_replace`, on the hot path."""
        return DueTick(
            self.job_id,
            self.version,
            tick_at,
            fire_at,
            fired,
            self.schedule_id,
            self.shard,
            self.queue_id,
            self.overlap,
        )


class DecidedTick(NamedTuple):
    """A decided tick; `is_skipped` if its overlap policy prevented the run."""

    run_id: UUID
    is_skipped: bool


class TickFiring(NamedTuple):
    """One tick to decide, and the cursor's next position; None after the last tick."""

    due: DueTick
    run_id: UUID
    next_tick_at: datetime | None
    next_fire_at: datetime | None


class CursorStep(NamedTuple):
    """A cursor to move without a run; None if its job has no further tick."""

    due: DueTick
    next_tick_at: datetime | None
    next_fire_at: datetime | None


class TickRecord(NamedTuple):
    """A history entry for ticks that do not run; `tick_at` is the last of them."""

    job_id: UUID
    id: UUID
    tick_at: datetime
    state: RunState
    reason: str


class MovedCursor(NamedTuple):
    job_id: UUID


class CursorPosition(NamedTuple):
    """The position of a job in its schedule."""

    job_id: UUID
    tick_at: datetime
    fire_at: datetime | None
    fired: int | None
    schedule_id: int | None


class NewCursorPosition(NamedTuple):
    """The new position of a job; None if it has no further tick."""

    job_id: UUID
    tick_at: datetime | None
    fire_at: datetime | None = None
    schedule_id: int | None = None


class LastEnd(NamedTuple):
    """Whether a job has unfinished runs, and when the last one ended, if known."""

    job_id: UUID
    is_alive: bool
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOwnership:
    """The shards that a scheduler believes it holds, with their epochs."""

    owner: UUID
    epochs: Mapping[int, int]


READ_DUE = statement("cursors/read_due", DueTick)
FIRE = statement("cursors/fire", DecidedTick)
FIRE_OVER = statement("cursors/fire_overlapping", DecidedTick)
MOVE = statement("cursors/move", MovedCursor)
READ_LAST_ENDS = statement("cursors/read_last_ends", LastEnd)
LOCK = statement("cursors/lock", CursorPosition)
RESCHEDULE = statement("cursors/reschedule", MovedCursor)


async def read_due(
    conn: Connection,
    *,
    shards: Sequence[int],
    before: datetime,
    limit: int,
    afters: Sequence[datetime] | None = None,
) -> list[DueTick]:
    """Return at most `most` ticks that these shards must decide before `before`, soonest first.

    `afters` gives a start time per shard; ticks at exactly that time are excluded.
    """
    return await READ_DUE.all(
        conn,
        shards=shards,
        afters=[BEFORE_ALL_TICKS] * len(shards) if afters is None else afters,
        before=before,
        most=limit,
        per_shard=rows_per_shard(limit, len(shards)),
    )


def rows_per_shard(limit: int, shards: int) -> int:
    """Return how many rows `due` reads of one shard at most.

    Slightly more than an even part, because a hash distributes jobs to shards. The next call
    continues with a shard that holds more.
    """
    return max(8, 5 * limit // (4 * max(1, shards)))


async def fire_ticks(
    conn: Connection,
    ownership: ShardOwnership,
    firings: Sequence[TickFiring],
    *,
    ahead: timedelta = timedelta(0),
) -> list[DecidedTick]:
    """Decide a batch of ticks, at most one per job; return those that this call decided.

    For jobs with the overlap policies skip and allow.
    """
    return await _fire(FIRE, conn, ownership, firings, ahead=ahead)


async def fire_overlapping(
    conn: Connection,
    ownership: ShardOwnership,
    firings: Sequence[TickFiring],
    *,
    ahead: timedelta = timedelta(0),
) -> list[DecidedTick]:
    """Decide ticks of any overlap policy, at a higher cost."""
    return await _fire(
        FIRE_OVER, conn, ownership, firings, ahead=ahead, most_waiting=QUEUED_OVERLAPS_MAX
    )


async def move_cursors(
    conn: Connection,
    ownership: ShardOwnership,
    steps: Sequence[CursorStep],
    records: Sequence[TickRecord],
) -> set[UUID]:
    """Move cursors and record the ticks that were passed over; return the jobs that moved."""
    rows = await MOVE.all(
        conn,
        **_build_shard_arguments(ownership, steps),
        job_ids=[step.due.job_id for step in steps],
        versions=[step.due.version for step in steps],
        tick_ats=[step.due.tick_at for step in steps],
        next_tick_ats=[step.next_tick_at for step in steps],
        next_fire_ats=[step.next_fire_at for step in steps],
        record_jobs=[record.job_id for record in records],
        record_ids=[record.id for record in records],
        record_ticks=[record.tick_at for record in records],
        record_states=[record.state for record in records],
        record_reasons=[record.reason for record in records],
    )
    return {row.job_id for row in rows}


async def read_last_ends(conn: Connection, job_ids: Sequence[UUID]) -> dict[UUID, LastEnd]:
    return {row.job_id: row for row in await READ_LAST_ENDS.all(conn, job_ids=job_ids)}


async def lock_cursors(conn: Connection, job_ids: Sequence[UUID]) -> list[CursorPosition]:
    """Return the positions of jobs that the caller has locked; a job without ticks has none."""
    return await LOCK.all(conn, job_ids=job_ids)


async def reschedule_jobs(conn: Connection, positions: Sequence[NewCursorPosition]) -> set[UUID]:
    """Move the cursors of active jobs, each with a new version of its job. The caller has locked
    both.
    """
    rows = await RESCHEDULE.all(
        conn,
        job_ids=[place.job_id for place in positions],
        tick_ats=[place.tick_at for place in positions],
        fire_ats=[place.fire_at for place in positions],
        schedule_ids=[place.schedule_id for place in positions],
    )
    return {row.job_id for row in rows}


async def _fire(
    fire_statement: Statement[DecidedTick],
    conn: Connection,
    ownership: ShardOwnership,
    firings: Sequence[TickFiring],
    **values: object,
) -> list[DecidedTick]:
    tick_ats = [firing.due.tick_at for firing in firings]
    due_ats = [firing.due.fire_at for firing in firings]
    next_tick_ats = [firing.next_tick_at for firing in firings]
    next_fire_ats = [firing.next_fire_at for firing in firings]
    return await fire_statement.all(
        conn,
        **_build_shard_arguments(ownership, firings),
        job_ids=[firing.due.job_id for firing in firings],
        versions=[firing.due.version for firing in firings],
        tick_ats=tick_ats,
        run_ids=[firing.run_id for firing in firings],
        next_tick_ats=next_tick_ats,
        # Encoding a time costs more than comparing two; an empty list reads as nulls.
        due_ats=[] if due_ats == tick_ats else due_ats,
        next_fire_ats=[] if next_fire_ats == next_tick_ats else next_fire_ats,
        **values,
    )


def _build_shard_arguments(
    ownership: ShardOwnership, ticks: Sequence[TickFiring | CursorStep]
) -> dict[str, object]:
    """Return only the shards of this batch: each is locked, and a lock is a write."""
    epochs = ownership.epochs
    shards = [shard for shard in {tick.due.shard for tick in ticks} if shard in epochs]
    return {
        "owner": ownership.owner,
        "shards": shards,
        "epochs": [epochs[shard] for shard in shards],
    }

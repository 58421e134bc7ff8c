"""Everything Rota asks of cursors: where each job stands in its schedule. Room: store.

A scheduler reads ahead with `due` and decides with `fire`, `fire_over` or `move`. Which tick
follows is computed by the caller; a statement only moves a cursor that still stands where the
caller saw it, in a shard that the caller still holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import Statement, statement

PAST: Final = datetime(1, 1, 2, tzinfo=UTC)
# How many runs may wait behind one another with the overlap policy queue_all.
MOST_WAITING: Final = 100


class Due(NamedTuple):
    """A cursor as it was read: its next tick, and what firing that needs to know."""

    job_id: UUID
    version: int
    tick_at: datetime
    fire_at: datetime
    fired: int | None
    schedule_id: int | None
    shard: int
    queue_id: int
    overlap: str

    def at(self, tick_at: datetime, fire_at: datetime, fired: int | None) -> "Due":
        """The same cursor at another tick. Faster than `_replace`, on the hot path."""
        return Due(
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


class Decided(NamedTuple):
    """A tick that was decided: `is_skipped` when its overlap policy kept it from becoming a run."""

    run_id: UUID
    is_skipped: bool


class Firing(NamedTuple):
    """One tick to decide, and where the cursor goes then; None when it was the last."""

    due: Due
    run_id: UUID
    next_tick_at: datetime | None
    next_fire_at: datetime | None


class Step(NamedTuple):
    """A cursor to move without a run; None when its job has no further tick."""

    due: Due
    next_tick_at: datetime | None
    next_fire_at: datetime | None


class Record(NamedTuple):
    """What is written down for ticks that do not run; `tick_at` is the last of them."""

    job_id: UUID
    id: UUID
    tick_at: datetime
    state: RunState
    reason: str


class Moved(NamedTuple):
    job_id: UUID


class Standing(NamedTuple):
    """Where a job stands in its schedule."""

    job_id: UUID
    tick_at: datetime
    fire_at: datetime | None
    fired: int | None
    schedule_id: int | None


class Place(NamedTuple):
    """Where a job is to stand; None when it has no further tick."""

    job_id: UUID
    tick_at: datetime | None
    fire_at: datetime | None = None
    schedule_id: int | None = None


class LastEnd(NamedTuple):
    """How the runs of a job stand; `ended_at` is None if none is known to have ended."""

    job_id: UUID
    is_alive: bool
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The shards that a scheduler believes to hold, with the epochs it got them at."""

    owner: UUID
    epochs: Mapping[int, int]


DUE = statement("cursors/due", Due)
FIRE = statement("cursors/fire", Decided)
FIRE_OVER = statement("cursors/fire_over", Decided)
MOVE = statement("cursors/move", Moved)
ENDS = statement("cursors/ends", LastEnd)
LOCK = statement("cursors/lock", Standing)
RESCHEDULE = statement("cursors/reschedule", Moved)


async def due(
    conn: Connection,
    *,
    shards: Sequence[int],
    before: datetime,
    most: int,
    afters: Sequence[datetime] | None = None,
) -> list[Due]:
    """What these shards must decide until `before`, soonest first, at most `most`.

    `afters` says for each shard from when on; what is due at that very time is left out.
    """
    return await DUE.all(
        conn,
        shards=shards,
        afters=[PAST] * len(shards) if afters is None else afters,
        before=before,
        most=most,
        per_shard=share_of_read(most, len(shards)),
    )


def share_of_read(most: int, shards: int) -> int:
    """How many rows `due` returns of one shard at most.

    A little more than an even part of each: jobs are dealt to shards by a hash. A shard that
    holds more is read on by the next call.
    """
    return max(8, 5 * most // (4 * max(1, shards)))


async def fire(
    conn: Connection,
    ownership: Ownership,
    firings: Sequence[Firing],
    *,
    ahead: timedelta = timedelta(0),
) -> list[Decided]:
    """Decide a batch of ticks, at most one of each job; return those that were ours to decide.

    For jobs with the overlap policies skip and allow.
    """
    return await _fire(FIRE, conn, ownership, firings, ahead=ahead)


async def fire_over(
    conn: Connection,
    ownership: Ownership,
    firings: Sequence[Firing],
    *,
    ahead: timedelta = timedelta(0),
) -> list[Decided]:
    """The same for any overlap policy, at a higher price."""
    return await _fire(FIRE_OVER, conn, ownership, firings, ahead=ahead, most_waiting=MOST_WAITING)


async def move(
    conn: Connection, ownership: Ownership, steps: Sequence[Step], records: Sequence[Record]
) -> set[UUID]:
    """Move cursors on and keep the records of what was passed over; return the jobs that moved."""
    rows = await MOVE.all(
        conn,
        **_held(ownership, steps),
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


async def last_ends(conn: Connection, job_ids: Sequence[UUID]) -> dict[UUID, LastEnd]:
    return {row.job_id: row for row in await ENDS.all(conn, job_ids=job_ids)}


async def lock(conn: Connection, job_ids: Sequence[UUID]) -> list[Standing]:
    """Where jobs stand that the caller has locked; nothing of those without ticks to come."""
    return await LOCK.all(conn, job_ids=job_ids)


async def reschedule(conn: Connection, places: Sequence[Place]) -> set[UUID]:
    """Put the cursors of active jobs elsewhere, each with a new version of its job. The caller has
    locked both.
    """
    rows = await RESCHEDULE.all(
        conn,
        job_ids=[place.job_id for place in places],
        tick_ats=[place.tick_at for place in places],
        fire_ats=[place.fire_at for place in places],
        schedule_ids=[place.schedule_id for place in places],
    )
    return {row.job_id for row in rows}


async def _fire(
    which: Statement[Decided],
    conn: Connection,
    ownership: Ownership,
    firings: Sequence[Firing],
    **values: object,
) -> list[Decided]:
    tick_ats = [firing.due.tick_at for firing in firings]
    due_ats = [firing.due.fire_at for firing in firings]
    next_tick_ats = [firing.next_tick_at for firing in firings]
    next_fire_ats = [firing.next_fire_at for firing in firings]
    return await which.all(
        conn,
        **_held(ownership, firings),
        job_ids=[firing.due.job_id for firing in firings],
        versions=[firing.due.version for firing in firings],
        tick_ats=tick_ats,
        run_ids=[firing.run_id for firing in firings],
        next_tick_ats=next_tick_ats,
        # Encoding a time costs more than comparing two; an empty list is read as nulls.
        due_ats=[] if due_ats == tick_ats else due_ats,
        next_fire_ats=[] if next_fire_ats == next_tick_ats else next_fire_ats,
        **values,
    )


def _held(ownership: Ownership, ticks: Sequence[Firing | Step]) -> dict[str, object]:
    """Only the shards of this batch: every one of them is locked, and locking is a write."""
    epochs = ownership.epochs
    shards = [shard for shard in {tick.due.shard for tick in ticks} if shard in epochs]
    return {
        "owner": ownership.owner,
        "shards": shards,
        "epochs": [epochs[shard] for shard in shards],
    }

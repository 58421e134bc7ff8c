"""Everything Rota asks of cursors: where each job stands in its schedule. Room: store.

A scheduler reads ahead with `due` and decides with `fire`. Which tick follows is computed by the
caller; the statement only moves a cursor that still stands where the caller saw it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class Due(NamedTuple):
    job_id: UUID
    version: int
    tick_at: datetime
    fire_at: datetime
    fired: int | None
    schedule_id: int | None
    shard: int


class Decided(NamedTuple):
    """A tick that was decided: `is_skipped` when the one before still runs."""

    run_id: UUID
    is_skipped: bool


class Firing(NamedTuple):
    """One tick to decide, and where the cursor goes then; None when it was the last."""

    due: Due
    run_id: UUID
    next_tick_at: datetime | None
    next_fire_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The shards that a scheduler believes to hold, with the epochs it got them at."""

    owner: UUID
    epochs: dict[int, int]


DUE = statement("cursors/due", Due)
FIRE = statement("cursors/fire", Decided)


async def due(conn: Connection, *, shards: Sequence[int], before: datetime, most: int) -> list[Due]:
    """What these shards must decide before a time, soonest first, at most `most`."""
    # A little more than an even part of each: jobs are dealt to shards by a hash. A shard that
    # holds more is read on by the next call.
    per_shard = max(8, 5 * most // (4 * max(1, len(shards))))
    return await DUE.all(conn, shards=shards, before=before, most=most, per_shard=per_shard)


async def fire(
    conn: Connection,
    ownership: Ownership,
    firings: Sequence[Firing],
    *,
    ahead: timedelta = timedelta(0),
) -> list[Decided]:
    """Decide a batch of ticks, at most one of each job; return those that were ours to decide."""
    return await FIRE.all(
        conn,
        owner=ownership.owner,
        shards=list(ownership.epochs),
        epochs=list(ownership.epochs.values()),
        ahead=ahead,
        job_ids=[firing.due.job_id for firing in firings],
        versions=[firing.due.version for firing in firings],
        tick_ats=[firing.due.tick_at for firing in firings],
        due_ats=[firing.due.fire_at for firing in firings],
        run_ids=[firing.run_id for firing in firings],
        next_tick_ats=[firing.next_tick_at for firing in firings],
        next_fire_ats=[firing.next_fire_at for firing in firings],
    )

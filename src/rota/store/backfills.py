"""Stores backfills: the progress of each, and which of its runs are unfinished.

Every change of a backfill is a compare-and-set on its state and progress. The submission step
decides what a backfill does next; core decides which ticks it selects (core/backfills.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.backfills import BackfillSelection, BackfillState
from rota.core.errors import Conflict, LeaseLost, NotFound
from rota.core.ids import build_id
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

# Limit of history rows read to count a long range: about a second of work.
STANDING_ROWS_MAX: Final = 1_000_000
LAST_ID: Final = UUID(int=(1 << 128) - 1)
_LOWEST: Final = bytes(10)
_HIGHEST: Final = b"\xff" * 10


class Backfill(NamedTuple):
    """A backfill with the fields needed to continue it; JSON as text."""

    id: UUID
    tenant_id: int
    job_id: UUID
    state: BackfillState
    since: datetime
    until: datetime
    schedule: str
    picks: BackfillSelection
    newest_first: bool
    at_once: int
    priority: int
    payload: str | None
    gate_id: int
    reached: datetime
    now: datetime

    @property
    def is_complete(self) -> bool:
        """Whether every tick of its range is decided."""
        return self.reached == (self.since if self.newest_first else self.until)


class BackfillRow(NamedTuple):
    """A backfill as the API shows it."""

    id: UUID
    job_id: UUID
    job: str | None
    state: BackfillState
    since: datetime
    until: datetime
    picks: BackfillSelection
    newest_first: bool
    at_once: int
    priority: int
    payload: str | None
    reached: datetime
    ticks: int
    made: int
    succeeded: int
    failed: int
    cancelled: int
    expected: int
    is_guess: bool
    paused_at: datetime | None
    paused_for: timedelta
    created_at: datetime
    created_by: str
    ended_at: datetime | None
    reason: str | None
    now: datetime


class SettledRuns(NamedTuple):
    """How many runs ended since the last pass, by outcome."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0


NO_SETTLED_RUNS: Final = SettledRuns()


class TickCounts(NamedTuple):
    """How many ticks have an unfinished run; of the others, how many succeeded and failed."""

    alive: int
    ran: int
    failed: int


class TickState(NamedTuple):
    at: datetime
    state: RunState


class MeanDuration(NamedTuple):
    took: timedelta | None


class NextTick(NamedTuple):
    tick_at: datetime


class UnfinishedCount(NamedTuple):
    number: int


class BackfillRunId(NamedTuple):
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBackfill:
    id: UUID
    tenant_id: int
    job_id: UUID
    since: datetime
    until: datetime
    schedule: str
    only: BackfillSelection
    newest_first: bool
    at_once: int
    priority: int
    payload: str | None
    gate_id: int
    expected: int
    is_guess: bool
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillStep:
    """The result of one pass over a backfill."""

    state: BackfillState
    reached: datetime
    ticks: int = 0
    made: int = 0
    settled: SettledRuns = NO_SETTLED_RUNS
    rest: timedelta = timedelta(0)
    reason: str | None = None


INSERT = statement("backfills/insert", BackfillRunId)
FIND_UNFINISHED = statement("backfills/find_unfinished", BackfillRunId)
READ_NEXT_UNDECIDED = statement("backfills/next_undecided", NextTick)
TAKE = statement("backfills/take", Backfill)
LOCK = statement("backfills/lock", Backfill)
SETTLE = statement("backfills/settle", SettledRuns)
COUNT_ALIVE = statement("backfills/count_unfinished", UnfinishedCount)
NOTE_RUNS = statement("backfills/record_runs", BackfillRunId)
MOVE = statement("backfills/store_step", BackfillRunId)
CHANGE = statement("backfills/change", BackfillRunId)
WAITING = statement("backfills/lock_waiting_runs", BackfillRunId)
ALIVE = statement("backfills/unfinished_runs", BackfillRunId)
STANDING = statement("backfills/tick_states", TickState)
COUNT_STANDING = statement("backfills/count_tick_states", TickCounts)
MEASURE = statement("backfills/measure", MeanDuration)
GET = statement("backfills/get", BackfillRow)
PAGE = statement("backfills/page", BackfillRow)
OF_RUN = statement("backfills/find_by_run", BackfillRunId)
FORGET = statement("backfills/delete_ended", BackfillRunId)


async def insert_backfill(conn: Connection, new: NewBackfill) -> None:
    """Insert a backfill; raise `Conflict` if the job has another unfinished one."""
    inserted = await INSERT.one(
        conn,
        id=new.id,
        tenant_id=new.tenant_id,
        job_id=new.job_id,
        since=new.since,
        until=new.until,
        schedule=new.schedule,
        picks=new.only,
        newest_first=new.newest_first,
        at_once=new.at_once,
        priority=new.priority,
        payload=new.payload,
        gate_id=new.gate_id,
        expected=new.expected,
        is_guess=new.is_guess,
        created_by=new.created_by,
    )
    if inserted is None:
        raise Conflict("backfill", "the job already has an unfinished backfill")


async def find_unfinished(conn: Connection, *, tenant_id: int, job_id: UUID) -> UUID | None:
    """Return the unfinished backfill of a job."""
    row = await FIND_UNFINISHED.one(conn, tenant_id=tenant_id, job_id=job_id)
    return None if row is None else row.id


async def read_next_undecided(conn: Connection, job_id: UUID) -> datetime | None:
    """Return the tick of a job before which all ticks are decided; None if all are."""
    row = await READ_NEXT_UNDECIDED.one(conn, job_id=job_id)
    return None if row is None else row.tick_at


async def take_backfill(conn: Connection) -> Backfill | None:
    """Lock and return the backfill that is next in line; None if none is due."""
    return await TAKE.one(conn)


async def lock_backfill(conn: Connection, id_: UUID, *, tenant_id: int) -> Backfill:
    """Return one backfill, locked until the end of the transaction."""
    row = await LOCK.one(conn, id=id_, tenant_id=tenant_id)
    if row is None:
        raise NotFound("backfill", str(id_))
    return row


async def settle_runs(conn: Connection, id_: UUID) -> SettledRuns:
    """Remove the runs that have ended from the list and return their outcomes."""
    return await SETTLE.one(conn, id=id_) or SettledRuns()


async def count_unfinished(conn: Connection, id_: UUID) -> int:
    row = await COUNT_ALIVE.one(conn, id=id_)
    return 0 if row is None else row.number


async def record_runs(
    conn: Connection, id_: UUID, *, tenant_id: int, run_ids: Sequence[UUID]
) -> None:
    """Record created runs, in the transaction that creates them."""
    await NOTE_RUNS.all(conn, id=id_, tenant_id=tenant_id, run_ids=run_ids)


async def store_step(conn: Connection, before: Backfill, step: BackfillStep) -> None:
    """Store the result of a pass; raise `LeaseLost` if another process changed it meanwhile."""
    moved = await MOVE.one(
        conn,
        id=before.id,
        was=before.state,
        was_at=before.reached,
        state=step.state,
        reached=step.reached,
        ticks=step.ticks,
        made=step.made,
        rest=step.rest,
        reason=step.reason,
        **step.settled._asdict(),
    )
    if moved is None:
        raise LeaseLost(thing="backfill", id=before.id)


async def change_state(
    conn: Connection, before: Backfill, state: BackfillState, *, reason: str | None = None
) -> None:
    """Change the state of a backfill that the caller has locked."""
    changed = await CHANGE.one(conn, id=before.id, was=before.state, state=state, reason=reason)
    if changed is None:
        raise LeaseLost(thing="backfill", id=before.id)


async def lock_waiting_runs(conn: Connection, id_: UUID) -> list[UUID]:
    """Return its waiting runs; none of them starts before the transaction ends."""
    return [row.id for row in await WAITING.all(conn, id=id_)]


async def read_unfinished_runs(conn: Connection, id_: UUID) -> list[UUID]:
    """Return its runs that have not ended, as far as known."""
    return [row.id for row in await ALIVE.all(conn, id=id_)]


async def read_tick_states(
    conn: Connection, ats: Sequence[datetime], *, tenant_id: int, job_id: UUID
) -> list[TickState]:
    """Return the states of the runs of these ticks of a job."""
    return await STANDING.all(
        conn,
        tenant_id=tenant_id,
        job_id=job_id,
        ats=ats,
        lows=[build_id(at, _LOWEST) for at in ats],
        highs=[build_id(at, _HIGHEST) for at in ats],
    )


async def count_tick_states(
    conn: Connection, *, tenant_id: int, job_id: UUID, since: datetime, until: datetime
) -> TickCounts:
    """Count the ticks of a long range by state, without reading each."""
    row = await COUNT_STANDING.one(
        conn,
        tenant_id=tenant_id,
        job_id=job_id,
        low=build_id(since, _LOWEST),
        high=build_id(until, _LOWEST),
        most=STANDING_ROWS_MAX,
    )
    return row or TickCounts(0, 0, 0)


async def measure_duration(conn: Connection, *, tenant_id: int, job_id: UUID) -> timedelta | None:
    """Return the mean duration of the newest runs of a job; None if none has run."""
    async with ordered_scan(conn):
        row = await MEASURE.one(conn, tenant_id=tenant_id, job_id=job_id)
    return None if row is None else row.took


async def get_backfill(conn: Connection, id_: UUID, *, tenant_id: int) -> BackfillRow:
    row = await GET.one(conn, id=id_, tenant_id=tenant_id)
    if row is None:
        raise NotFound("backfill", str(id_))
    return row


async def list_backfills(
    conn: Connection,
    *,
    tenant_id: int,
    job_id: UUID | None = None,
    states: Sequence[str] = (),
    before: UUID | None = None,
    limit: int = 50,
) -> list[BackfillRow]:
    """Return backfills, newest first; `before` is the id of the previous page's last one."""
    return await PAGE.all(
        conn,
        tenant_id=tenant_id,
        before_id=before or LAST_ID,
        job_id=job_id,
        states=list(states) or None,
        most=limit,
    )


async def find_by_run(conn: Connection, run_id: UUID, *, tenant_id: int) -> UUID | None:
    """Return the backfill that created a run."""
    row = await OF_RUN.one(conn, run_id=run_id, tenant_id=tenant_id)
    return None if row is None else row.id


async def delete_ended(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete backfills that ended longer ago than `keep`; return how many."""
    return len(await FORGET.all(conn, keep=keep, most=limit))

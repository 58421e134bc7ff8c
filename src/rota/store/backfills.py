"""Everything Rota asks of backfills: how far each has come, and which of its runs are alive.

Room: store. Every change of a backfill is a compare-and-set on its state and how far it has come.
What a backfill does next is flow/submit's; which ticks it wants is core's (core/backfills.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.backfills import BackfillState, Only
from rota.core.errors import Conflict, LeaseLost, NotFound
from rota.core.ids import stamped
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.walking import walking

# History that is read for the count of a long range: about a second's work.
MOST_READ: Final = 1_000_000
LAST_ID: Final = UUID(int=(1 << 128) - 1)
_LOWEST: Final = bytes(10)
_HIGHEST: Final = b"\xff" * 10


class Backfill(NamedTuple):
    """A backfill as whoever goes on with it needs to know it; JSON as text."""

    id: UUID
    tenant_id: int
    job_id: UUID
    state: BackfillState
    since: datetime
    until: datetime
    schedule: str
    picks: Only
    newest_first: bool
    at_once: int
    priority: int
    payload: str | None
    gate_id: int
    reached: datetime
    now: datetime

    @property
    def is_through(self) -> bool:
        """Whether every tick of its range is decided."""
        return self.reached == (self.since if self.newest_first else self.until)


class BackfillRow(NamedTuple):
    """A backfill as it is shown."""

    id: UUID
    job_id: UUID
    job: str | None
    state: BackfillState
    since: datetime
    until: datetime
    picks: Only
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


class Settled(NamedTuple):
    """How many runs ended since the last look, and how."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0


NONE: Final = Settled()


class Ticks(NamedTuple):
    """How many ticks have a run that is alive, else went well, else failed."""

    alive: int
    ran: int
    failed: int


class Tick(NamedTuple):
    at: datetime
    state: RunState


class Took(NamedTuple):
    took: timedelta | None


class Next(NamedTuple):
    tick_at: datetime


class Number(NamedTuple):
    number: int


class Touched(NamedTuple):
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBackfill:
    id: UUID
    tenant_id: int
    job_id: UUID
    since: datetime
    until: datetime
    schedule: str
    only: Only
    newest_first: bool
    at_once: int
    priority: int
    payload: str | None
    gate_id: int
    expected: int
    is_guess: bool
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one look at a backfill came to."""

    state: BackfillState
    reached: datetime
    ticks: int = 0
    made: int = 0
    settled: Settled = NONE
    rest: timedelta = timedelta(0)
    reason: str | None = None


INSERT = statement("backfills/insert", Touched)
UNFINISHED = statement("backfills/unfinished", Touched)
DECIDED = statement("backfills/decided", Next)
TAKE = statement("backfills/take", Backfill)
LOCK = statement("backfills/lock", Backfill)
SETTLE = statement("backfills/settle", Settled)
COUNT_ALIVE = statement("backfills/count_alive", Number)
NOTE_RUNS = statement("backfills/note_runs", Touched)
MOVE = statement("backfills/move", Touched)
CHANGE = statement("backfills/change", Touched)
WAITING = statement("backfills/waiting", Touched)
ALIVE = statement("backfills/alive", Touched)
STANDING = statement("backfills/standing", Tick)
COUNT_STANDING = statement("backfills/count_standing", Ticks)
MEASURE = statement("backfills/measure", Took)
GET = statement("backfills/get", BackfillRow)
PAGE = statement("backfills/page", BackfillRow)
OF_RUN = statement("backfills/of_run", Touched)
FORGET = statement("backfills/forget", Touched)


async def insert(conn: Connection, new: NewBackfill) -> None:
    """Write a backfill; `Conflict` if another one of its job has not ended."""
    made = await INSERT.one(
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
    if made is None:
        raise Conflict("backfill", "another one of this job has not ended")


async def unfinished(conn: Connection, *, tenant_id: int, job_id: UUID) -> UUID | None:
    """The backfill of a job that has not ended."""
    row = await UNFINISHED.one(conn, tenant_id=tenant_id, job_id=job_id)
    return None if row is None else row.id


async def decided(conn: Connection, job_id: UUID) -> datetime | None:
    """The tick of a job before which all are decided; None if all of them are."""
    row = await DECIDED.one(conn, job_id=job_id)
    return None if row is None else row.tick_at


async def take(conn: Connection) -> Backfill | None:
    """The backfill that is to be looked at next, locked; None if none is."""
    return await TAKE.one(conn)


async def lock(conn: Connection, id_: UUID, *, tenant_id: int) -> Backfill:
    """One backfill, locked until the end of the transaction."""
    row = await LOCK.one(conn, id=id_, tenant_id=tenant_id)
    if row is None:
        raise NotFound("backfill", str(id_))
    return row


async def settle(conn: Connection, id_: UUID) -> Settled:
    """Strike off the runs that have ended, and say how."""
    return await SETTLE.one(conn, id=id_) or Settled()


async def count_alive(conn: Connection, id_: UUID) -> int:
    row = await COUNT_ALIVE.one(conn, id=id_)
    return 0 if row is None else row.number


async def note_runs(
    conn: Connection, id_: UUID, *, tenant_id: int, run_ids: Sequence[UUID]
) -> None:
    """Remember runs that were made, in the transaction that makes them."""
    await NOTE_RUNS.all(conn, id=id_, tenant_id=tenant_id, run_ids=run_ids)


async def move(conn: Connection, before: Backfill, step: Step) -> None:
    """Write down what a look came to; `LeaseLost` if somebody else was there meanwhile."""
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


async def change(
    conn: Connection, before: Backfill, state: BackfillState, *, reason: str | None = None
) -> None:
    """Give a backfill that the caller has locked another state."""
    changed = await CHANGE.one(conn, id=before.id, was=before.state, state=state, reason=reason)
    if changed is None:
        raise LeaseLost(thing="backfill", id=before.id)


async def waiting(conn: Connection, id_: UUID) -> list[UUID]:
    """Its runs that nobody executes; none of them starts before the transaction ends."""
    return [row.id for row in await WAITING.all(conn, id=id_)]


async def alive(conn: Connection, id_: UUID) -> list[UUID]:
    """Its runs that have not been seen to end."""
    return [row.id for row in await ALIVE.all(conn, id=id_)]


async def standing(
    conn: Connection, ats: Sequence[datetime], *, tenant_id: int, job_id: UUID
) -> list[Tick]:
    """The states of the runs that these ticks of a job have."""
    return await STANDING.all(
        conn,
        tenant_id=tenant_id,
        job_id=job_id,
        ats=ats,
        lows=[stamped(at, _LOWEST) for at in ats],
        highs=[stamped(at, _HIGHEST) for at in ats],
    )


async def count_standing(
    conn: Connection, *, tenant_id: int, job_id: UUID, since: datetime, until: datetime
) -> Ticks:
    """How the ticks of a long range stand, without looking at each."""
    row = await COUNT_STANDING.one(
        conn,
        tenant_id=tenant_id,
        job_id=job_id,
        low=stamped(since, _LOWEST),
        high=stamped(until, _LOWEST),
        most=MOST_READ,
    )
    return row or Ticks(0, 0, 0)


async def took(conn: Connection, *, tenant_id: int, job_id: UUID) -> timedelta | None:
    """How long the newest runs of a job took in the mean; None if none has run."""
    async with walking(conn):
        row = await MEASURE.one(conn, tenant_id=tenant_id, job_id=job_id)
    return None if row is None else row.took


async def get(conn: Connection, id_: UUID, *, tenant_id: int) -> BackfillRow:
    row = await GET.one(conn, id=id_, tenant_id=tenant_id)
    if row is None:
        raise NotFound("backfill", str(id_))
    return row


async def page(
    conn: Connection,
    *,
    tenant_id: int,
    job_id: UUID | None = None,
    states: Sequence[str] = (),
    before: UUID | None = None,
    limit: int = 50,
) -> list[BackfillRow]:
    """The newest first; `before` is the id of the last one that was seen."""
    return await PAGE.all(
        conn,
        tenant_id=tenant_id,
        before_id=before or LAST_ID,
        job_id=job_id,
        states=list(states) or None,
        most=limit,
    )


async def of_run(conn: Connection, run_id: UUID, *, tenant_id: int) -> UUID | None:
    """The backfill that made a run."""
    row = await OF_RUN.one(conn, run_id=run_id, tenant_id=tenant_id)
    return None if row is None else row.id


async def forget(conn: Connection, *, keep: timedelta, most: int) -> int:
    """Forget backfills that ended longer ago than `keep`; return how many they were."""
    return len(await FORGET.all(conn, keep=keep, most=most))

"""Stores events, their deduplication keys, and event batches with their members.

A transaction that adds to a batch, or creates its run, locks the batch's row until it ends, so that
an event is in one run and a run is created once. core/arrivals holds the rules.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import NotFound
from rota.core.event_rules.grouping import BatchMember, EventBatch
from rota.store.driver import Connection
from rota.store.jobs import Job
from rota.store.statement import statement
from rota.store.walking import walking

LAST_ID: Final = UUID(int=(1 << 128) - 1)
FIRST_ID: Final = UUID(int=0)


class Entered(NamedTuple):
    digest: bytes


class Known(NamedTuple):
    """An event that was received before; `matches` is JSON."""

    digest: bytes
    event_id: UUID
    matches: str


class JobId(NamedTuple):
    job_id: UUID


class Id(NamedTuple):
    id: UUID


class Number(NamedTuple):
    number: int


class Locked(NamedTuple):
    """A batch that is locked until the end of the transaction; a `number` of 0 means new."""

    job_id: UUID
    key: str
    run_id: UUID
    opened_at: datetime
    due_at: datetime
    number: int
    size: int
    filled: int


class Ripe(NamedTuple):
    job_id: UUID
    key: str
    tenant_id: int
    run_id: UUID
    opened_at: datetime
    due_at: datetime
    number: int
    size: int
    filled: int


class TakenMember(NamedTuple):
    run_id: UUID
    part: int
    event_id: UUID
    body: str


class Row(NamedTuple):
    """An event as it is stored; JSON as text."""

    id: UUID
    type: str
    source: str
    received_at: datetime
    body: str
    matches: str


class NewRow(NamedTuple):
    id: UUID
    type: str
    source: str
    body: str
    matches: str


class Named(NamedTuple):
    id: UUID
    name: str


class RunId(NamedTuple):
    run_id: UUID


class EventId(NamedTuple):
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Selects events from one id on and before another."""

    from_id: UUID = FIRST_ID
    before: UUID = LAST_ID
    type: str | None = None
    source: str | None = None


Place = tuple[UUID, str]

CLAIM_KEYS = statement("arrivals/claim_keys", Entered)
FIND_KNOWN = statement("arrivals/find_known", Known)
WAITING_JOBS = statement("arrivals/waiting_jobs", Job)
INSERT_EVENTS = statement("arrivals/insert_events", Id)
OPEN_PILES = statement("arrivals/open_piles", Locked)
WRITE_PILES = statement("arrivals/write_piles", JobId)
DROP_PILES = statement("arrivals/drop_piles", JobId)
ADD_MEMBERS = statement("arrivals/add_members", RunId)
TAKE_MEMBERS = statement("arrivals/take_members", TakenMember)
RIPE_PILES = statement("arrivals/ripe_piles", Ripe)
READ_EVENT = statement("arrivals/read_event", Row)
WALK = statement("arrivals/walk", Row)
WALK_TYPE = statement("arrivals/walk_type", Row)
WALK_SOURCE = statement("arrivals/walk_source", Row)
COUNT = statement("arrivals/count", Number)
CHOOSE = statement("arrivals/choose", Row)
JOB_NAMES = statement("arrivals/job_names", Named)
ADD_MATCHES = statement("arrivals/add_matches", Id)
PRUNE_KEYS = statement("arrivals/prune_keys", EventId)


async def claim_keys(
    conn: Connection, keys: Mapping[bytes, UUID], *, tenant_id: int, received_at: datetime
) -> set[bytes]:
    """Insert the keys of events; return those that were not known before."""
    rows = await CLAIM_KEYS.all(
        conn,
        tenant_id=tenant_id,
        digests=list(keys),
        event_ids=list(keys.values()),
        received_at=received_at,
    )
    return {row.digest for row in rows}


async def find_known(
    conn: Connection, digests: Sequence[bytes], *, tenant_id: int
) -> dict[bytes, Known]:
    rows = await FIND_KNOWN.all(conn, tenant_id=tenant_id, digests=digests)
    return {row.digest: row for row in rows}


async def waiting_jobs(conn: Connection, types: Iterable[str], *, tenant_id: int) -> list[Job]:
    """Return the jobs that wait for one of these types or patterns, in the order of their ids."""
    return await WAITING_JOBS.all(conn, tenant_id=tenant_id, types=sorted(set(types)))


async def insert_events(
    conn: Connection, rows: Sequence[NewRow], *, tenant_id: int, received_at: datetime
) -> None:
    await INSERT_EVENTS.all(
        conn,
        tenant_id=tenant_id,
        received_at=received_at,
        ids=[row.id for row in rows],
        types=[row.type for row in rows],
        sources=[row.source for row in rows],
        bodies=[row.body for row in rows],
        matches=[row.matches for row in rows],
    )


async def open_piles(
    conn: Connection, places: Iterable[Place], *, tenant_id: int
) -> dict[Place, EventBatch | None]:
    """Lock the batches of jobs and keys until the end of the transaction; None means empty."""
    wanted = sorted(set(places))
    rows = await OPEN_PILES.all(
        conn,
        tenant_id=tenant_id,
        job_ids=[job_id for job_id, _ in wanted],
        keys=[key for _, key in wanted],
    )
    return {(row.job_id, row.key): pile_of(row) if row.number else None for row in rows}


def pile_of(row: Locked | Ripe) -> EventBatch:
    return EventBatch(
        run_id=row.run_id,
        opened_at=row.opened_at,
        due_at=row.due_at,
        count=row.number,
        size=row.size,
        filled=row.filled,
    )


async def keep_piles(conn: Connection, piles: Mapping[Place, EventBatch | None]) -> None:
    """Write the changes of batches that the caller has locked; None deletes one."""
    changed = [(place, pile) for place, pile in piles.items() if pile is not None]
    deleted = [place for place, pile in piles.items() if pile is None]
    if changed:
        await WRITE_PILES.all(
            conn,
            job_ids=[job_id for (job_id, _), _ in changed],
            keys=[key for (_, key), _ in changed],
            run_ids=[pile.run_id for _, pile in changed],
            opened_ats=[pile.opened_at for _, pile in changed],
            due_ats=[pile.due_at for _, pile in changed],
            counts=[pile.count for _, pile in changed],
            sizes=[pile.size for _, pile in changed],
            filled=[pile.filled for _, pile in changed],
        )
    if deleted:
        await DROP_PILES.all(
            conn, job_ids=[job_id for job_id, _ in deleted], keys=[key for _, key in deleted]
        )


async def add_members(conn: Connection, members: Sequence[BatchMember], *, tenant_id: int) -> None:
    if members:
        await ADD_MEMBERS.all(
            conn,
            tenant_id=tenant_id,
            run_ids=[member.run_id for member in members],
            parts=[member.part for member in members],
            event_ids=[member.event_id for member in members],
        )


async def take_members(conn: Connection, run_ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """Remove the members of batches and return the bodies of their events, each in order."""
    found: dict[UUID, list[str]] = {run_id: [] for run_id in run_ids}
    for row in await TAKE_MEMBERS.all(conn, run_ids=run_ids):
        found[row.run_id].append(row.body)
    return found


async def ripe_piles(conn: Connection, *, most: int) -> list[Ripe]:
    """Lock due batches of all tenants, skipping those that another process has locked."""
    return await RIPE_PILES.all(conn, most=most)


async def read_event(conn: Connection, event_id: UUID, *, tenant_id: int) -> Row:
    row = await READ_EVENT.one(conn, id=event_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("event", str(event_id))
    return row


async def page(conn: Connection, which: Range, *, tenant_id: int, most: int) -> list[Row]:
    """Return events, newest first."""
    bounds = {
        "tenant_id": tenant_id,
        "before": which.before,
        "from_id": which.from_id,
        "most": most,
    }
    async with walking(conn):
        if which.source is not None:
            return await WALK_SOURCE.all(conn, source=which.source, type=which.type, **bounds)
        if which.type is not None:
            return await WALK_TYPE.all(conn, type=which.type, **bounds)
        return await WALK.all(conn, **bounds)


async def count(conn: Connection, which: Range, *, tenant_id: int, most: int) -> int:
    """Count matching events, up to `most`."""
    row = await COUNT.one(
        conn,
        tenant_id=tenant_id,
        before=which.before,
        from_id=which.from_id,
        type=which.type,
        source=which.source,
        most=most,
    )
    return 0 if row is None else row.number


async def choose(
    conn: Connection, which: Range, *, tenant_id: int, after: UUID, most: int
) -> list[Row]:
    """Return matching events, oldest first."""
    return await CHOOSE.all(
        conn,
        tenant_id=tenant_id,
        before=which.before,
        from_id=which.from_id,
        after=after,
        type=which.type,
        source=which.source,
        most=most,
    )


async def add_matches(conn: Connection, matches: Mapping[UUID, str], *, tenant_id: int) -> None:
    await ADD_MATCHES.all(
        conn, tenant_id=tenant_id, ids=list(matches), matches=list(matches.values())
    )


async def job_names(conn: Connection, ids: Sequence[UUID], *, tenant_id: int) -> dict[UUID, str]:
    rows = await JOB_NAMES.all(conn, tenant_id=tenant_id, ids=ids) if ids else []
    return {row.id: row.name for row in rows}


async def prune_keys(conn: Connection, *, before: datetime, most: int) -> int:
    """Delete keys of events that arrived before a time; return how many."""
    return len(await PRUNE_KEYS.all(conn, before=before, most=most))

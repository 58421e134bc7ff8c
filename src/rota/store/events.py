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
from rota.store.jobs import StoredJob
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

LAST_ID: Final = UUID(int=(1 << 128) - 1)
FIRST_ID: Final = UUID(int=0)


class ClaimedEventKey(NamedTuple):
    digest: bytes


class KnownEvent(NamedTuple):
    """An event that was received before; `matches` is JSON."""

    digest: bytes
    event_id: UUID
    matches: str


class BatchJobId(NamedTuple):
    job_id: UUID


class StoredEventId(NamedTuple):
    id: UUID


class EventCount(NamedTuple):
    number: int


class LockedBatch(NamedTuple):
    """A batch that is locked until the end of the transaction; a `number` of 0 means new."""

    job_id: UUID
    key: str
    run_id: UUID
    opened_at: datetime
    due_at: datetime
    number: int
    size: int
    filled: int


class DueBatch(NamedTuple):
    job_id: UUID
    key: str
    tenant_id: int
    run_id: UUID
    opened_at: datetime
    due_at: datetime
    number: int
    size: int
    filled: int


class TakenBatchMember(NamedTuple):
    run_id: UUID
    part: int
    event_id: UUID
    body: str


class EventRow(NamedTuple):
    """An event as it is stored; JSON as text."""

    id: UUID
    type: str
    source: str
    received_at: datetime
    body: str
    matches: str


class NewEventRow(NamedTuple):
    id: UUID
    type: str
    source: str
    body: str
    matches: str


class EventJobName(NamedTuple):
    id: UUID
    name: str


class BatchRunId(NamedTuple):
    run_id: UUID


class PrunedEventId(NamedTuple):
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRange:
    """Selects events from one id on and before another."""

    from_id: UUID = FIRST_ID
    before: UUID = LAST_ID
    type: str | None = None
    source: str | None = None


BatchKey = tuple[UUID, str]

CLAIM_KEYS = statement("events/claim_keys", ClaimedEventKey)
FIND_KNOWN = statement("events/find_known", KnownEvent)
WAITING_JOBS = statement("events/waiting_jobs", StoredJob)
INSERT_EVENTS = statement("events/insert_events", StoredEventId)
LOCK_BATCHES = statement("events/lock_batches", LockedBatch)
WRITE_BATCHES = statement("events/write_batches", BatchJobId)
DELETE_BATCHES = statement("events/delete_batches", BatchJobId)
ADD_MEMBERS = statement("events/add_members", BatchRunId)
TAKE_MEMBERS = statement("events/take_members", TakenBatchMember)
LOCK_DUE_BATCHES = statement("events/lock_due_batches", DueBatch)
READ_EVENT = statement("events/read_event", EventRow)
SCAN = statement("events/scan", EventRow)
SCAN_TYPE = statement("events/scan_type", EventRow)
SCAN_SOURCE = statement("events/scan_source", EventRow)
COUNT = statement("events/count", EventCount)
SELECT_EVENTS = statement("events/select_events", EventRow)
JOB_NAMES = statement("events/job_names", EventJobName)
ADD_MATCHES = statement("events/add_matches", StoredEventId)
PRUNE_KEYS = statement("events/prune_keys", PrunedEventId)


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
) -> dict[bytes, KnownEvent]:
    rows = await FIND_KNOWN.all(conn, tenant_id=tenant_id, digests=digests)
    return {row.digest: row for row in rows}


async def find_waiting_jobs(
    conn: Connection, types: Iterable[str], *, tenant_id: int
) -> list[StoredJob]:
    """Return the jobs that wait for one of these types or patterns, in the order of their ids."""
    return await WAITING_JOBS.all(conn, tenant_id=tenant_id, types=sorted(set(types)))


async def insert_events(
    conn: Connection, rows: Sequence[NewEventRow], *, tenant_id: int, received_at: datetime
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


async def lock_batches(
    conn: Connection, keys: Iterable[BatchKey], *, tenant_id: int
) -> dict[BatchKey, EventBatch | None]:
    """Lock the batches of jobs and keys until the end of the transaction; None means empty."""
    wanted = sorted(set(keys))
    rows = await LOCK_BATCHES.all(
        conn,
        tenant_id=tenant_id,
        job_ids=[job_id for job_id, _ in wanted],
        keys=[key for _, key in wanted],
    )
    return {(row.job_id, row.key): to_batch(row) if row.number else None for row in rows}


def to_batch(row: LockedBatch | DueBatch) -> EventBatch:
    return EventBatch(
        run_id=row.run_id,
        opened_at=row.opened_at,
        due_at=row.due_at,
        count=row.number,
        size=row.size,
        filled=row.filled,
    )


async def write_batches(conn: Connection, batches: Mapping[BatchKey, EventBatch | None]) -> None:
    """Write the changes of batches that the caller has locked; None deletes one."""
    changed = [(place, pile) for place, pile in batches.items() if pile is not None]
    deleted = [place for place, pile in batches.items() if pile is None]
    if changed:
        await WRITE_BATCHES.all(
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
        await DELETE_BATCHES.all(
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


async def lock_due_batches(conn: Connection, *, limit: int) -> list[DueBatch]:
    """Lock due batches of all tenants, skipping those that another process has locked."""
    return await LOCK_DUE_BATCHES.all(conn, most=limit)


async def read_event(conn: Connection, event_id: UUID, *, tenant_id: int) -> EventRow:
    row = await READ_EVENT.one(conn, id=event_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("event", str(event_id))
    return row


async def list_events(
    conn: Connection, event_range: EventRange, *, tenant_id: int, limit: int
) -> list[EventRow]:
    """Return events, newest first."""
    bounds = {
        "tenant_id": tenant_id,
        "before": event_range.before,
        "from_id": event_range.from_id,
        "most": limit,
    }
    async with ordered_scan(conn):
        if event_range.source is not None:
            return await SCAN_SOURCE.all(
                conn, source=event_range.source, type=event_range.type, **bounds
            )
        if event_range.type is not None:
            return await SCAN_TYPE.all(conn, type=event_range.type, **bounds)
        return await SCAN.all(conn, **bounds)


async def count_events(
    conn: Connection, event_range: EventRange, *, tenant_id: int, limit: int
) -> int:
    """Count matching events, up to `most`."""
    row = await COUNT.one(
        conn,
        tenant_id=tenant_id,
        before=event_range.before,
        from_id=event_range.from_id,
        type=event_range.type,
        source=event_range.source,
        most=limit,
    )
    return 0 if row is None else row.number


async def select_events(
    conn: Connection, event_range: EventRange, *, tenant_id: int, after: UUID, limit: int
) -> list[EventRow]:
    """Return matching events, oldest first."""
    return await SELECT_EVENTS.all(
        conn,
        tenant_id=tenant_id,
        before=event_range.before,
        from_id=event_range.from_id,
        after=after,
        type=event_range.type,
        source=event_range.source,
        most=limit,
    )


async def add_matches(conn: Connection, matches: Mapping[UUID, str], *, tenant_id: int) -> None:
    await ADD_MATCHES.all(
        conn, tenant_id=tenant_id, ids=list(matches), matches=list(matches.values())
    )


async def read_job_names(
    conn: Connection, ids: Sequence[UUID], *, tenant_id: int
) -> dict[UUID, str]:
    rows = await JOB_NAMES.all(conn, tenant_id=tenant_id, ids=ids) if ids else []
    return {row.id: row.name for row in rows}


async def prune_keys(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete keys of events that arrived before a time; return how many."""
    return len(await PRUNE_KEYS.all(conn, before=before, most=limit))

"""Reads the rows that become events, and stores how far the relay and the sinks have read.

Nothing is written for the relay where a run ends. Every read covers rows with times from `since` on
(core/commit_window.py), and leaves out rows of transactions that an earlier read returned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.errors import StoreRefused
from rota.store.driver import Connection
from rota.store.statement import statement

RELAY_NAME: Final = "relay"


class RelayPosition(NamedTuple):
    """How far a relay or sink has read; the schema describes the columns."""

    name: str
    server: str
    since: datetime
    complete_until: datetime
    moves: int
    events: int


class RelayHorizon(NamedTuple):
    """The time, the server, and the transactions that hold a write lock on each table."""

    now: datetime
    server: str
    run_writers: list[str]
    attempt_writers: list[str]
    audit_writers: list[str]
    incident_writers: list[str]
    backfill_writers: list[str]
    steered: str


class UnusedPosition(NamedTuple):
    name: str


class PositionLag(NamedTuple):
    name: str
    lag: timedelta


class FinishedRun(NamedTuple):
    """A run that ended; JSON as text."""

    xid: int
    at: datetime
    tenant_id: int
    run_id: UUID
    job_id: UUID
    job_name: str | None
    labels: str | None
    user_id: str | None
    task: str | None
    queue: str | None
    state: str
    trigger: str
    attempt: int
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None
    reason: str | None
    graph_run_id: UUID | None
    step: int | None
    is_graph: bool


class RetriedAttempt(NamedTuple):
    """An attempt that failed while its run continued; JSON as text."""

    xid: int
    at: datetime
    tenant_id: int
    run_id: UUID
    job_id: UUID
    job_name: str | None
    labels: str | None
    user_id: str | None
    task: str | None
    queue: str | None
    outcome: str
    state: str
    trigger: str
    attempt: int
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None
    reason: str | None
    graph_run_id: UUID | None
    step: int | None


class AuditedChange(NamedTuple):
    """An audit entry, and its job if it is about one; JSON as text."""

    xid: int
    at: datetime
    tenant_id: int
    id: int
    actor: str
    origin: str | None
    action: str
    thing: str
    thing_id: str
    before: str | None
    after: str | None
    job_id: UUID | None
    job_name: str | None
    labels: str | None
    user_id: str | None
    task: str | None
    queue: str | None
    state: str | None


class IncidentChange(NamedTuple):
    """An event of an incident, and the incident as it is now; JSON as text."""

    xid: int
    at: datetime
    tenant_id: int
    id: int
    incident_id: UUID
    type: str
    by: str | None
    text: str | None
    details: str
    title: str
    condition: str
    severity: str
    state: str
    subject_kind: str
    subject_id: str
    subject_name: str
    expectation_name: str
    opened_at: datetime
    resolved_at: datetime | None
    run_count: int
    facts: str
    job_id: UUID | None
    job_name: str | None
    run_id: UUID | None
    queue: str | None
    task: str | None
    labels: str


class EndedBackfill(NamedTuple):
    """A backfill that ended, and what its runs came to; labels as text."""

    xid: int
    at: datetime
    tenant_id: int
    id: UUID
    job_id: UUID
    job_name: str | None
    labels: str | None
    user_id: str | None
    state: str
    since: datetime
    until: datetime
    ticks: int
    made: int
    succeeded: int
    failed: int
    cancelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TailRange:
    """Which rows to read: those with times from `since` on and before `until`, or to the end.

    Left out are rows of a transaction of `read_xids`, which is sorted, whose time lies between the
    entries of `read_since` and `read_until` at the same place.
    """

    since: datetime
    until: datetime | None = None
    read_xids: Sequence[int] = ()
    read_since: Sequence[datetime] = ()
    read_until: Sequence[datetime] = ()

    def list_parameters(self) -> dict[str, Any]:
        return {
            "since": self.since,
            "until": self.until,
            "read_xids": self.read_xids,
            "read_since": self.read_since,
            "read_until": self.read_until,
        }


HORIZON = statement("relays/horizon", RelayHorizon)
READ = statement("relays/read", RelayPosition)
BEGIN = statement("relays/begin", RelayPosition)
MOVE = statement("relays/move", RelayPosition)
LAGS = statement("relays/lags", PositionLag)
DELETE_UNUSED = statement("relays/delete_unused", UnusedPosition)
FINISHED_RUNS = statement("relays/finished_runs", FinishedRun)
ENDED_ATTEMPTS = statement("relays/ended_attempts", RetriedAttempt)
AUDIT_ENTRIES = statement("relays/audit_entries", AuditedChange)
INCIDENT_EVENTS = statement("relays/incident_events", IncidentChange)
ENDED_BACKFILLS = statement("relays/ended_backfills", EndedBackfill)


async def read_relay_horizon(conn: Connection) -> RelayHorizon:
    """Return the time and the writers. Call it in the same transaction, before the reads."""
    row = await HORIZON.one(conn)
    if row is None:
        raise StoreRefused(
            reason="the server did not report its transactions", remedy="run `rota migrate`"
        )
    return row


async def read_relay_position(conn: Connection, name: str) -> RelayPosition | None:
    return await READ.one(conn, name=name)


async def begin_relay(
    conn: Connection, name: str, *, server: str, since: datetime
) -> RelayPosition | None:
    """Store the first position. Return None if there is one already."""
    return await BEGIN.one(conn, name=name, server=server, since=since)


async def move_relay(
    conn: Connection,
    position: RelayPosition,
    *,
    server: str,
    since: datetime,
    complete_until: datetime,
    events: int,
) -> RelayPosition | None:
    """Move a position, and return the new one. Return None if another process has moved it."""
    return await MOVE.one(
        conn,
        name=position.name,
        moves=position.moves,
        server=server,
        since=since,
        complete_until=complete_until,
        events=events,
    )


async def read_relay_lags(conn: Connection) -> dict[str, timedelta]:
    """Return by name how long ago everything had been handed over: of the relay and of sinks."""
    return {row.name: row.lag for row in await LAGS.all(conn)}


async def read_relay_lag(conn: Connection) -> timedelta | None:
    """Return how far the relay is behind; None if it has never run.

    Every row that was committed before `rota.now()` minus this was handed to all consumers.
    """
    return (await read_relay_lags(conn)).get(RELAY_NAME)


async def delete_unused_positions(conn: Connection, *, keep: timedelta) -> list[str]:
    """Delete positions of sinks that no process has tried for so long; return their names."""
    return [row.name for row in await DELETE_UNUSED.all(conn, keep=keep)]


async def list_finished_runs(
    conn: Connection,
    range_: TailRange,
    *,
    succeeded_tenants: Sequence[int],
    succeeded_jobs: Sequence[UUID],
) -> list[FinishedRun]:
    """Return runs that ended. Of the successful ones, only those of these tenants and jobs; the
    jobs must be sorted.
    """
    return await FINISHED_RUNS.all(
        conn,
        succeeded_tenants=succeeded_tenants,
        succeeded_jobs=succeeded_jobs,
        **range_.list_parameters(),
    )


async def list_ended_attempts(
    conn: Connection, range_: TailRange, *, tenant_ids: Sequence[int]
) -> list[RetriedAttempt]:
    """Return attempts that failed while their run continued."""
    return await ENDED_ATTEMPTS.all(conn, tenant_ids=tenant_ids, **range_.list_parameters())


async def list_audited_changes(
    conn: Connection, range_: TailRange, *, tenant_ids: Sequence[int], actions: Sequence[str]
) -> list[AuditedChange]:
    """Return audit entries with these actions."""
    return await AUDIT_ENTRIES.all(
        conn, tenant_ids=tenant_ids, actions=actions, **range_.list_parameters()
    )


async def list_incident_changes(
    conn: Connection, range_: TailRange, *, tenant_ids: Sequence[int], types: Sequence[str]
) -> list[IncidentChange]:
    """Return events of incidents with these types."""
    return await INCIDENT_EVENTS.all(
        conn, tenant_ids=tenant_ids, types=types, **range_.list_parameters()
    )


async def list_ended_backfills(
    conn: Connection, range_: TailRange, *, tenant_ids: Sequence[int]
) -> list[EndedBackfill]:
    """Return backfills that ended."""
    return await ENDED_BACKFILLS.all(conn, tenant_ids=tenant_ids, **range_.list_parameters())

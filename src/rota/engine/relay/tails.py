"""Reads the new rows of each table that the relay tails, as events.

A tail knows which rows of its table it has read (core/commit_window.py). A read is bounded by time:
after an outage, a tail catches up in slices. `TailReader` reads all tails up to about the same
time, and adapts the length of a slice to what it finds.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from rota.core.commit_window import WRITE_MARGIN, CommitWindow, ReadTransactions
from rota.core.outgoing_events import (
    AUDIT_EVENT_TYPES,
    INCIDENT_EVENT_TYPES,
    OutgoingEvent,
    RelayInterests,
)
from rota.engine.relay import event_building
from rota.store import relays
from rota.store.driver import Connection
from rota.store.relays import RelayHorizon, TailRange

# Transactions that a tail remembers at most; beyond, it may hand over rows a second time.
REMEMBERED_TRANSACTIONS_MAX: Final = 200_000
# How many events one pass should return at most. A pass is bounded by time, so that many rows with
# one time are still one pass.
PASS_EVENTS_MAX: Final = 5_000
SLICE_FIRST: Final = timedelta(seconds=2)
SLICE_MIN: Final = timedelta(milliseconds=50)
SLICE_MAX: Final = timedelta(minutes=10)
# A pass that takes longer makes the next slice shorter; one that takes less than a quarter and
# returns few events makes it longer.
PASS_WANTED_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class SortedInterests:
    """Interests as the statements need them."""

    succeeded_tenants: list[int]
    succeeded_jobs: list[UUID]
    attempt_tenants: list[int]
    audit_tenants: list[int]
    incident_tenants: list[int]


def sort_interests(interests: RelayInterests) -> SortedInterests:
    return SortedInterests(
        sorted(interests.succeeded_tenants),
        sorted(interests.succeeded_jobs),
        sorted(interests.attempt_tenants),
        sorted(interests.audit_tenants),
        sorted(interests.incident_tenants),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TailSpec:
    """One table: who writes to it, how to read it, and which events a row becomes."""

    name: str
    list_writers: Callable[[RelayHorizon], Sequence[str]]
    list_rows: Callable[[Connection, TailRange, SortedInterests], Awaitable[Sequence[Any]]]
    build_events: Callable[[Any], list[OutgoingEvent]]


async def list_runs(
    conn: Connection, range_: TailRange, interests: SortedInterests
) -> Sequence[Any]:
    return await relays.list_finished_runs(
        conn,
        range_,
        succeeded_tenants=interests.succeeded_tenants,
        succeeded_jobs=interests.succeeded_jobs,
    )


async def list_attempts(
    conn: Connection, range_: TailRange, interests: SortedInterests
) -> Sequence[Any]:
    if not interests.attempt_tenants:
        return ()
    return await relays.list_ended_attempts(conn, range_, tenant_ids=interests.attempt_tenants)


async def list_audit_entries(
    conn: Connection, range_: TailRange, interests: SortedInterests
) -> Sequence[Any]:
    if not interests.audit_tenants:
        return ()
    return await relays.list_audited_changes(
        conn, range_, tenant_ids=interests.audit_tenants, actions=list(AUDIT_EVENT_TYPES)
    )


async def list_incident_entries(
    conn: Connection, range_: TailRange, interests: SortedInterests
) -> Sequence[Any]:
    if not interests.incident_tenants:
        return ()
    return await relays.list_incident_changes(
        conn, range_, tenant_ids=interests.incident_tenants, types=list(INCIDENT_EVENT_TYPES)
    )


async def list_backfills(
    conn: Connection, range_: TailRange, interests: SortedInterests
) -> Sequence[Any]:
    # Consumers that receive changes of jobs receive backfills too.
    if not interests.audit_tenants:
        return ()
    return await relays.list_ended_backfills(conn, range_, tenant_ids=interests.audit_tenants)


TAILS: Final = (
    TailSpec(
        name="runs",
        list_writers=lambda horizon: horizon.run_writers,
        list_rows=list_runs,
        build_events=event_building.build_run_events,
    ),
    TailSpec(
        name="attempts",
        list_writers=lambda horizon: horizon.attempt_writers,
        list_rows=list_attempts,
        build_events=event_building.build_attempt_events,
    ),
    TailSpec(
        name="audit",
        list_writers=lambda horizon: horizon.audit_writers,
        list_rows=list_audit_entries,
        build_events=event_building.build_audit_events,
    ),
    TailSpec(
        name="incident_events",
        list_writers=lambda horizon: horizon.incident_writers,
        list_rows=list_incident_entries,
        build_events=event_building.build_incident_events,
    ),
    TailSpec(
        name="backfills",
        list_writers=lambda horizon: horizon.backfill_writers,
        list_rows=list_backfills,
        build_events=event_building.build_backfill_events,
    ),
)


@dataclass(slots=True, kw_only=True)
class TableTail:
    """What was read of one table."""

    spec: TailSpec
    window: CommitWindow
    read: ReadTransactions = field(
        default_factory=lambda: ReadTransactions(REMEMBERED_TRANSACTIONS_MAX)
    )

    async def read_new(
        self, conn: Connection, interests: SortedInterests, *, until: datetime | None
    ) -> list[OutgoingEvent]:
        """Return the events from the front on."""
        window = self.window
        since = window.front
        rows = await self._list_rows(conn, interests, since=since, until=until)
        self.read.add(((row.xid, row.at) for row in rows), since=since, until=until)
        window.advance(until)
        return [event for row in rows for event in self.spec.build_events(row)]

    async def read_late(
        self, conn: Connection, interests: SortedInterests, *, length: timedelta
    ) -> list[OutgoingEvent]:
        """Return events of times that were read before a transaction committed rows in them."""
        late = self.window.late
        if late is None:
            return []
        until = min(late[0] + length, late[1])
        # These rows are not noted as read: later slices have more rows of the same transactions.
        rows = await self._list_rows(conn, interests, since=late[0], until=until)
        self.window.advance_late(until)
        return [event for row in rows for event in self.spec.build_events(row)]

    async def _list_rows(
        self,
        conn: Connection,
        interests: SortedInterests,
        *,
        since: datetime,
        until: datetime | None,
    ) -> Sequence[Any]:
        xids, starts, ends = self.read.list_sorted()
        range_ = TailRange(
            since=since, until=until, read_xids=xids, read_since=starts, read_until=ends
        )
        return await self.spec.list_rows(conn, range_, interests)


@dataclass(frozen=True, slots=True, kw_only=True)
class TailPass:
    """What one pass read, ordered by time. `since` and `complete_until` are the new position."""

    events: list[OutgoingEvent]
    since: datetime
    complete_until: datetime
    has_more: bool


class TailReader:
    """Reads all tails from a position on. After an error, begin again from a stored position."""

    def __init__(self, since: datetime, *, tails: Sequence[TailSpec] = TAILS) -> None:
        self._tails = [TableTail(spec=spec, window=CommitWindow(since)) for spec in tails]

    async def read(
        self,
        conn: Connection,
        horizon: RelayHorizon,
        interests: SortedInterests,
        *,
        length: timedelta,
    ) -> TailPass:
        """Read the next slice of every table, or all that is left."""
        events: list[OutgoingEvent] = []
        complete = [horizon.now]
        has_more = False
        for tail in self._tails:
            window = tail.window
            window.observe(horizon.now, tail.spec.list_writers(horizon))
            until: datetime | None = window.front + length
            if until is not None and until >= horizon.now - WRITE_MARGIN:
                until = None
            events += await tail.read_late(conn, interests, length=length)
            events += await tail.read_new(conn, interests, until=until)
            tail.read.forget(window.floor)
            behind = [at for at in (until, window.late and window.late[0]) if at is not None]
            complete += behind
            has_more = has_more or bool(behind)
        # Their ids begin with their times.
        events.sort(key=lambda event: event.id.int)
        return TailPass(
            events=events,
            since=min(tail.window.floor for tail in self._tails),
            complete_until=min(complete),
            has_more=has_more,
        )


def adapt_slice(length: timedelta, *, events: int, took_s: float) -> timedelta:
    """Return the length of the next slice, from what the last one returned and took."""
    if events > PASS_EVENTS_MAX or took_s > PASS_WANTED_S:
        return max(SLICE_MIN, length / 2)
    if events < PASS_EVENTS_MAX / 2 and took_s < PASS_WANTED_S / 4:
        return min(SLICE_MAX, length * 2)
    return length

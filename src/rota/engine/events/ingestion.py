"""Ingests events: stores each event once and creates a run of every job that waits for it.

One transaction writes the event, its deduplication key, its runs and its event batches. A repeated
event creates nothing, and its result has the runs of the first one. So a source can deliver an
event again whenever it is not sure. This module does not know where events come from.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, StoreUnavailable
from rota.core.event_rules.event import EVENTS_PER_REQUEST_MAX, NewEvent, ReceivedEvent, check_event
from rota.core.event_rules.matching import EventMatch
from rota.core.submissions import encode_canonical, prefix_errors
from rota.engine.events.event_decisions import (
    EventDecisions,
    MatchContext,
    apply_decisions,
    decide_events,
)
from rota.store import events as event_store
from rota.store.driver import Connection
from rota.store.events import KnownEvent, NewEventRow
from rota.store.transaction import join_transaction

__all__ = ["IngestedEvent", "IngestedEvents", "NewEvent", "ingest_checked_events", "ingest_events"]


class IngestedEvent(NamedTuple):
    """An ingested event. `run_ids` are the runs that it is, or will be, part of."""

    event_id: UUID
    source: str
    id: str
    is_duplicate: bool
    run_ids: tuple[UUID, ...]


class IngestedEvents(NamedTuple):
    """The ingested events in the order of the request, and the new runs."""

    events: tuple[IngestedEvent, ...]
    new_run_ids: tuple[UUID, ...]

    @property
    def duplicates(self) -> int:
        return sum(event.is_duplicate for event in self.events)


async def ingest_events(
    conn: Connection,
    tenant_id: int,
    events: Sequence[NewEvent],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
) -> IngestedEvents:
    """Ingest events, all or none. After the commit they cannot be lost."""
    if len(events) > EVENTS_PER_REQUEST_MAX:
        wanted = f"a request can have at most {EVENTS_PER_REQUEST_MAX} events"
        raise InvalidInput("events", f"{len(events)} events", wanted)
    return await ingest_checked_events(
        conn, tenant_id, _check_events(events, now=now, new_id=new_id), now=now
    )


async def ingest_checked_events(
    conn: Connection, tenant_id: int, events: Sequence[ReceivedEvent], *, now: datetime
) -> IngestedEvents:
    """Ingest events that passed all checks."""
    if not events:
        return IngestedEvents((), ())
    # If a request has the same event twice, the first is used.
    first = {event.digest: event for event in reversed(events)}
    why = MatchContext(tenant_id=tenant_id, at=now)
    async with join_transaction(conn):
        fresh = await event_store.claim_keys(
            conn,
            {digest: event.event_id for digest, event in first.items()},
            tenant_id=tenant_id,
            received_at=now,
        )
        new = [event for event in events if first[event.digest] is event]
        new = [event for event in new if event.digest in fresh]
        decided = await decide_events(conn, new, why)
        await _store_events(conn, new, decided, why)
        made = await apply_decisions(conn, decided, why)
        seen = [digest for digest in first if digest not in fresh]
        known = await event_store.find_known(conn, seen, tenant_id=tenant_id) if seen else {}
        taken = [_result_of(event, first[event.digest], decided, known) for event in events]
    return IngestedEvents(tuple(taken), tuple(made))


def collect_run_ids(matches: Sequence[EventMatch]) -> tuple[UUID, ...]:
    return tuple(match.run_id for match in matches if match.run_id is not None)


def _check_events(
    events: Sequence[NewEvent], *, now: datetime, new_id: Callable[[], UUID]
) -> list[ReceivedEvent]:
    """Check all events before anything is written."""
    found = []
    for place, event in enumerate(events):
        with prefix_errors(f"events[{place}]"):
            found.append(check_event(event, event_id=new_id(), now=now))
    return found


async def _store_events(
    conn: Connection, events: Sequence[ReceivedEvent], decided: EventDecisions, why: MatchContext
) -> None:
    rows = [
        NewEventRow(
            id=event.event_id,
            type=event.type,
            source=event.source,
            body=event.json_text,
            matches=encode_canonical(
                [match.to_plain() for match in decided.matches[event.event_id]]
            ),
        )
        for event in events
    ]
    if rows:
        await event_store.insert_events(conn, rows, tenant_id=why.tenant_id, received_at=why.at)


def _result_of(
    event: ReceivedEvent,
    first: ReceivedEvent,
    decided: EventDecisions,
    known: dict[bytes, KnownEvent],
) -> IngestedEvent:
    """Return the result of an event. `first` is the event that it repeats, or itself."""
    matches = decided.matches.get(first.event_id)
    if matches is not None:
        run_ids = collect_run_ids(matches)
        return IngestedEvent(first.event_id, event.source, event.id, event is not first, run_ids)
    before = known.get(event.digest)
    if before is None:
        # Neither new nor known: the key of the event expired and was deleted at this moment.
        raise StoreUnavailable(reason="the key of an event expired during the request; try again")
    matched = json.loads(before.matches)
    run_ids = tuple(UUID(match["run_id"]) for match in matched if "run_id" in match)
    return IngestedEvent(before.event_id, event.source, event.id, True, run_ids)

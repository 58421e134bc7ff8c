"""Takes events in: each is kept once, and becomes a run of every job that waits for it.

Room: flow/events. One transaction: the event, the key by which it is known again, its runs and what
is gathered. Whoever hands in an event that came before makes nothing, and is told what it came to;
so a source may hand in again whatever it is not sure of. Where events come from is not known here.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.arrivals.event import MOST_EVENTS, Event, NewEvent, checked
from rota.core.arrivals.matching import Match
from rota.core.errors import InvalidInput, StoreUnavailable
from rota.core.submission import canonical, within
from rota.flow.events.deciding import Decided, Occasion, carry_out, decide
from rota.store import arrivals
from rota.store.arrivals import Known, NewRow
from rota.store.driver import Connection
from rota.store.transaction import joined

__all__ = ["NewEvent", "Taken", "TakenEvent", "take", "take_checked"]


class TakenEvent(NamedTuple):
    """An event that was handed in; `run_ids` are the runs that it is, or will be, part of."""

    event_id: UUID
    source: str
    id: str
    duplicate: bool
    run_ids: tuple[UUID, ...]


class Taken(NamedTuple):
    """Every event in the order in which it was handed in, and the runs that were made now."""

    events: tuple[TakenEvent, ...]
    made: tuple[UUID, ...]

    @property
    def duplicates(self) -> int:
        return sum(each.duplicate for each in self.events)


async def take(
    conn: Connection,
    tenant_id: int,
    events: Sequence[NewEvent],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
) -> Taken:
    """Take events in, all or none. Once this has returned and is committed, they are not lost."""
    if len(events) > MOST_EVENTS:
        raise InvalidInput("events", f"{len(events)} events", f"at most {MOST_EVENTS} at once")
    return await take_checked(conn, tenant_id, _checked(events, now=now, new_id=new_id), now=now)


async def take_checked(
    conn: Connection, tenant_id: int, handed_in: Sequence[Event], *, now: datetime
) -> Taken:
    """The same for events that were found good."""
    if not handed_in:
        return Taken((), ())
    # Of the same event twice in one batch the first is taken.
    first = {event.digest: event for event in reversed(handed_in)}
    why = Occasion(tenant_id=tenant_id, at=now)
    async with joined(conn):
        fresh = await arrivals.claim_keys(
            conn,
            {digest: event.event_id for digest, event in first.items()},
            tenant_id=tenant_id,
            received_at=now,
        )
        new = [event for event in handed_in if first[event.digest] is event]
        new = [event for event in new if event.digest in fresh]
        decided = await decide(conn, new, why)
        await _keep(conn, new, decided, why)
        made = await carry_out(conn, decided, why)
        seen = [digest for digest in first if digest not in fresh]
        known = await arrivals.find_known(conn, seen, tenant_id=tenant_id) if seen else {}
        taken = [_taken(event, first[event.digest], decided, known) for event in handed_in]
    return Taken(tuple(taken), tuple(made))


def runs_of(matches: Sequence[Match]) -> tuple[UUID, ...]:
    return tuple(each.run_id for each in matches if each.run_id is not None)


def _checked(
    events: Sequence[NewEvent], *, now: datetime, new_id: Callable[[], UUID]
) -> list[Event]:
    """All of them, before anything is written."""
    found = []
    for place, event in enumerate(events):
        with within(f"events[{place}]"):
            found.append(checked(event, event_id=new_id(), now=now))
    return found


async def _keep(conn: Connection, events: Sequence[Event], decided: Decided, why: Occasion) -> None:
    rows = [
        NewRow(
            id=event.event_id,
            type=event.type,
            source=event.source,
            body=event.text,
            matches=canonical([each.plain() for each in decided.matches[event.event_id]]),
        )
        for event in events
    ]
    if rows:
        await arrivals.insert_events(conn, rows, tenant_id=why.tenant_id, received_at=why.at)


def _taken(event: Event, first: Event, decided: Decided, known: dict[bytes, Known]) -> TakenEvent:
    """What is told of an event; `first` is the one that it repeats, or itself."""
    matches = decided.matches.get(first.event_id)
    if matches is not None:
        run_ids = runs_of(matches)
        return TakenEvent(first.event_id, event.source, event.id, event is not first, run_ids)
    before = known.get(event.digest)
    if before is None:
        # Neither new nor known: its key was as old as keys get, and was pruned at this moment.
        raise StoreUnavailable(reason="the key of an event was forgotten just now; try again")
    told = json.loads(before.matches)
    run_ids = tuple(UUID(each["run_id"]) for each in told if "run_id" in each)
    return TakenEvent(before.event_id, event.source, event.id, True, run_ids)

"""Matches events again that are kept (S7, S13). Room: flow/events.

They are matched with the jobs as they are now, and become new runs; what they came to is added to
what is kept with them. The token of the dry run is the name of the replay: an event that has it is
done, so that a call that is repeated makes nothing twice.
"""

import json
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.arrivals import replaying
from rota.core.arrivals.event import Event
from rota.core.arrivals.replaying import EventFilter
from rota.core.bulk import Promise
from rota.core.errors import NotFound
from rota.core.ids import stamped
from rota.core.submission import canonical
from rota.core.time import moments
from rota.flow.events.deciding import Occasion, carry_out, decide
from rota.store import arrivals, jobs
from rota.store.arrivals import FIRST_ID, LAST_ID, Range, Row
from rota.store.driver import Connection
from rota.store.transaction import joined

# What is matched in one go.
BATCH: Final = 500
_STEP: Final = timedelta(milliseconds=1)


class Counted(NamedTuple):
    found: int
    token: str


class Replayed(NamedTuple):
    """How many events were matched again, and the runs that were made of them."""

    events: int
    made: tuple[UUID, ...]


def range_of(which: EventFilter) -> Range:
    """The same as ids, which begin with the time of arrival."""
    return Range(
        from_id=FIRST_ID if which.since is None else stamped(which.since, bytes(10)),
        before=LAST_ID if which.until is None else stamped(which.until, bytes(10)),
        type=which.type,
        source=which.source,
    )


async def count(conn: Connection, which: EventFilter, *, tenant_id: int, now: datetime) -> Counted:
    """How many events a replay would match again, and the token for it."""
    which = replaying.checked(which)
    await _refuse_foreign(conn, which, tenant_id)
    until = now + _STEP
    wanted = range_of(replaying.bounded(which, until))
    found = await arrivals.count(conn, wanted, tenant_id=tenant_id, most=replaying.MOST + 1)
    said = Promise(count=replaying.check_count(found), until=until)
    return Counted(found, replaying.token_of(which, said, tenant_id=tenant_id))


async def replay(
    conn: Connection, which: EventFilter, *, tenant_id: int, token: str, now: datetime
) -> Replayed:
    """Match again what a dry run counted, all of it or nothing."""
    which = replaying.checked(which)
    said = replaying.promised(which, token, tenant_id=tenant_id)
    wanted = range_of(replaying.bounded(which, said.until))
    why = Occasion(tenant_id=tenant_id, at=now, replay=said.until, only=which.job_id)
    done, made, after = 0, [], FIRST_ID
    async with joined(conn):
        await _refuse_foreign(conn, which, tenant_id)
        found = await arrivals.count(conn, wanted, tenant_id=tenant_id, most=replaying.MOST + 1)
        replaying.refuse_more(found, said)
        while rows := await arrivals.choose(
            conn, wanted, tenant_id=tenant_id, after=after, most=BATCH
        ):
            after = rows[-1].id
            made += await _match_again(conn, rows, why)
            done += len(rows)
    return Replayed(done, tuple(made))


async def _match_again(conn: Connection, rows: list[Row], why: Occasion) -> list[UUID]:
    name = moments.rfc3339(why.named)
    new = [row for row in rows if not _has(row, name)]
    decided = await decide(conn, [_event(row) for row in new], why)
    told = {
        event_id: canonical([{**each.plain(), "replay": name} for each in matches])
        for event_id, matches in decided.matches.items()
        if matches
    }
    if told:
        await arrivals.add_matches(conn, told, tenant_id=why.tenant_id)
    return await carry_out(conn, decided, why)


def _has(row: Row, name: str) -> bool:
    return any(each.get("replay") == name for each in json.loads(row.matches))


def _event(row: Row) -> Event:
    shown = json.loads(row.body)
    return Event(
        event_id=row.id,
        received_at=row.received_at,
        type=row.type,
        source=row.source,
        id=shown["id"],
        shown=shown,
        text=row.body,
    )


async def _refuse_foreign(conn: Connection, which: EventFilter, tenant_id: int) -> None:
    if which.job_id is None:
        return
    job = (await jobs.read(conn, [which.job_id])).get(which.job_id)
    if job is None or job.tenant_id != tenant_id:
        raise NotFound("job", str(which.job_id))

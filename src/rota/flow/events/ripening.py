"""Makes runs of what was gathered and whose time has come. Room: flow/events.

A duty of any node: a bounded batch, without the piles that another node is at. A pile and its run
change in one transaction, and the id of the run is known from the first event on: whoever dies
halfway leaves the pile as it was, and the next one makes the same run.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rota.core.errors import NewerDocument
from rota.core.time.trigger import AllOf
from rota.flow.events.casting import Mould, make_runs
from rota.flow.events.deciding import Closing, Occasion
from rota.store import arrivals, jobs
from rota.store.arrivals import Ripe, pile_of
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time
from rota.store.jobs import Job
from rota.store.transaction import transaction

MOST: Final = 100
EVERY: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ripening:
    """`made` is called when there are new runs."""

    source: Source
    made: Callable[[], object]

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            taken = await ripen(conn, most=MOST)
        if taken:
            self.made()
        return 0.0 if taken >= MOST else EVERY


async def ripen(conn: Connection, *, most: int = MOST) -> int:
    """Make runs of at most so many piles that are due; return how many there were."""
    async with transaction(conn):
        now = await database_time(conn)
        due = await arrivals.ripe_piles(conn, most=most)
        if not due:
            return 0
        found = await jobs.read(conn, [pile.job_id for pile in due])
        moulds = _readable(found)
        # What only newer code can read stays as it is, for a node that can.
        due = [pile for pile in due if pile.job_id in moulds or pile.job_id not in found]
        for tenant_id in sorted({pile.tenant_id for pile in due}):
            mine = [pile for pile in due if pile.tenant_id == tenant_id]
            await _close(conn, mine, moulds, Occasion(tenant_id=tenant_id, at=now))
        await arrivals.keep_piles(conn, {(pile.job_id, pile.key): None for pile in due})
    return len(due)


def _readable(found: Mapping[UUID, Job]) -> dict[UUID, Mould | None]:
    moulds: dict[UUID, Mould | None] = {}
    for job_id, job in found.items():
        with suppress(NewerDocument):
            moulds[job_id] = Mould.of(job)
    return moulds


async def _close(
    conn: Connection, due: list[Ripe], moulds: dict[UUID, Mould | None], why: Occasion
) -> None:
    closing = Closing(conn, why)
    forgotten = []
    for row in due:
        mould = moulds.get(row.job_id)
        if mould is None:
            # The job is gone, or waits for something else now: nobody wants these any more.
            forgotten.append(row.run_id)
        elif isinstance(mould.waiting.trigger.gathering, AllOf):
            closing.given_up(mould, pile_of(row), row.key)
        else:
            closing.ripe(mould, pile_of(row), row.key)
    casts = await closing.casts()
    if casts:
        await make_runs(conn, casts, now=why.at, trigger=why.trigger)
    if forgotten:
        await arrivals.take_members(conn, forgotten)

"""Stores maps: their counters, waiting items and members.

A caller that changes a map has locked its graph run, except for a source that provides items: it
locks the map. core/maps.py defines the counters.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.core.maps import MEMBERS_MAX, MapCounters, MapIdentity
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.graphs import NewStep
from rota.store.statement import statement
from rota.store.transaction import transaction


class ChangedMap(NamedTuple):
    run_id: UUID


class MapRow(NamedTuple):
    run_id: UUID
    step: int
    base: int
    tenant_id: int
    round: int
    total: int | None
    handed: int
    made: int
    again: int
    again_after: int
    succeeded: int
    failed: int
    cancelled: int
    is_counted: bool
    is_sourcing: bool
    stopped: str | None
    reason: str | None
    started_at: datetime
    ended_at: datetime | None

    @property
    def map_id(self) -> MapIdentity:
        return MapIdentity(self.run_id, self.step, self.base)

    @property
    def tally(self) -> MapCounters:
        return MapCounters(
            total=self.total,
            handed=self.handed,
            made=self.made,
            again=self.again,
            succeeded=self.succeeded,
            failed=self.failed,
            cancelled=self.cancelled,
        )


class MapItems(NamedTuple):
    """A row of items (a JSON list), and the index of the first."""

    first: int
    items: str


class MemberId(NamedTuple):
    id: UUID


class MemberCount(NamedTuple):
    number: int


class FailedMember(NamedTuple):
    member: int
    id: UUID
    state: RunState
    reason: str | None


class EndedMember(NamedTuple):
    member: int
    state: RunState
    result: str | None


class MapSourceRow(NamedTuple):
    """The map that a run is the source of, and how many items it has provided."""

    run_id: UUID
    step: int
    handed: int


class AttemptFence(NamedTuple):
    """The attempt that calls; it must still hold its run."""

    id: UUID
    attempt: int
    session_id: UUID


class MemberBatch(NamedTuple):
    """The next members: how many, and one payload (JSON) for all, or one per member."""

    number: int
    payload: str | None = None
    payloads: Sequence[str] = ()


BEGIN = statement("graph_maps/begin", ChangedMap)
RETRY_MAP = statement("graph_maps/retry", ChangedMap)
ADD = statement("graph_maps/add_ended", ChangedMap)
LOCK = statement("graph_maps/lock", MapRow)
SOURCED = statement("graph_maps/record_source_end", ChangedMap)
STOP = statement("graph_maps/stop", ChangedMap)
CLOSE = statement("graph_maps/close", ChangedMap)
PUT_ITEMS = statement("graph_maps/put_items", ChangedMap)
TAKE_ITEMS = statement("graph_maps/take_items", MapItems)
DROP_ITEMS = statement("graph_maps/drop_items", ChangedMap)
MAKE = statement("graph_maps/insert_members", MemberCount)
ALIVE = statement("graph_maps/unfinished_members", MemberId)
BAD = statement("graph_maps/failed_members", FailedMember)
REVIVE = statement("graph_maps/retry_members", MemberId)
REVIVED = statement("graph_maps/count_retried", ChangedMap)
GIVE_UP = statement("graph_maps/fail_missing_members", ChangedMap)
SOURCE = statement("graph_maps/find_source", MapSourceRow)
HAND_OUT = statement("graph_maps/store_items", ChangedMap)
RESULTS = statement("graph_maps/results", EndedMember)


async def begin_map(
    conn: Connection,
    which: MapIdentity,
    *,
    tenant_id: int,
    round_: int,
    total: int | None,
    is_counted: bool,
) -> None:
    """Begin a map with this many items, or with a number that only its source will know."""
    begun = await BEGIN.one(
        conn,
        run_id=which.run_id,
        step=which.step,
        tenant_id=tenant_id,
        round=round_,
        total=total,
        is_counted=is_counted,
    )
    if begun is not None and round_ > 0:
        await drop_items(conn, which, made=MEMBERS_MAX)


async def retry_map(conn: Connection, which: MapIdentity, *, round_: int) -> None:
    """Retry the members that did not succeed, in this round."""
    await RETRY_MAP.one(conn, run_id=which.run_id, step=which.step, round=round_)


async def add_ended(
    conn: Connection, which: MapIdentity, *, succeeded: int, failed: int, cancelled: int
) -> None:
    """Count members that ended."""
    await ADD.one(
        conn,
        run_id=which.run_id,
        step=which.step,
        succeeded=succeeded,
        failed=failed,
        cancelled=cancelled,
    )


async def lock_map(conn: Connection, *, run_id: UUID, step: int) -> MapRow | None:
    return await LOCK.one(conn, run_id=run_id, step=step)


async def record_source_end(conn: Connection, which: MapIdentity, *, is_complete: bool) -> None:
    """Record that its source has ended; if it succeeded, the provided items are complete."""
    await SOURCED.one(conn, run_id=which.run_id, step=which.step, is_complete=is_complete)


async def stop_map(conn: Connection, which: MapIdentity, *, stopped: str, reason: str) -> None:
    """Create no more members; the map ends as `stopped`, with a reason (JSON)."""
    await STOP.one(conn, run_id=which.run_id, step=which.step, stopped=stopped, reason=reason)


async def close_map(conn: Connection, which: MapIdentity) -> None:
    """Record that the map is decided."""
    await CLOSE.one(conn, run_id=which.run_id, step=which.step)


async def put_items(
    conn: Connection, which: MapIdentity, *, tenant_id: int, rows: Sequence[MapItems]
) -> None:
    """Store items until they become members."""
    await PUT_ITEMS.all(
        conn,
        run_id=which.run_id,
        step=which.step,
        tenant_id=tenant_id,
        firsts=[row.first for row in rows],
        items=[row.items for row in rows],
    )


async def take_items(conn: Connection, which: MapIdentity, *, made: int, number: int) -> list[Any]:
    """Return up to `number` items from the index `made` on."""
    rows = await TAKE_ITEMS.all(
        conn, run_id=which.run_id, step=which.step, made=made, until=made + number
    )
    found: list[Any] = []
    for row in rows:
        found += json.loads(row.items)[max(0, made - row.first) :]
    return found[:number]


async def drop_items(conn: Connection, which: MapIdentity, *, made: int) -> None:
    """Delete items before the index `made`."""
    await DROP_ITEMS.all(conn, run_id=which.run_id, step=which.step, made=made)


async def insert_members(
    conn: Connection, which: MapIdentity, template: NewStep, *, made: int, batch: MemberBatch
) -> int:
    """Insert members from the index `made` on, using the run template; return 0 if the map has
    changed since it was read, or its graph run has ended.
    """
    rows = await MAKE.all(
        conn,
        graph_run_id=which.run_id,
        step=which.step,
        prefix=which.prefix,
        made=made,
        members=range(made, made + batch.number),
        payload=batch.payload,
        payloads=batch.payloads,
        queue_id=template.queue_id,
        kind_id=template.kind_id,
        policy_id=template.policy_id,
        priority=template.priority,
        guarantee=template.guarantee,
    )
    return 0 if not rows else rows[0].number


async def read_unfinished_members(
    conn: Connection, which: MapIdentity, *, limit: int
) -> list[UUID]:
    """Return unfinished members that were not asked to stop."""
    rows = await ALIVE.all(
        conn,
        run_id=which.run_id,
        first_id=which.derive_member_id(0),
        last_id=which.last_id,
        most=limit,
    )
    return [row.id for row in rows]


async def read_failed_members(
    conn: Connection, which: MapIdentity, *, after: int, limit: int
) -> list[FailedMember]:
    """Return members after an index that did not succeed."""
    return await BAD.all(
        conn,
        run_id=which.run_id,
        after_id=which.derive_id_before(after + 1),
        last_id=which.last_id,
        most=limit,
    )


async def retry_members(conn: Connection, which: MapIdentity, *, after: int, limit: int) -> int:
    """Retry members after an index that did not succeed; return how many."""
    found = await read_failed_members(conn, which, after=after, limit=limit)
    if not found:
        return 0
    await REVIVE.all(conn, run_id=which.run_id, ids=[member.id for member in found])
    last = found[-1].member
    await REVIVED.one(conn, run_id=which.run_id, step=which.step, number=len(found), after=last)
    return len(found)


async def retry_source(conn: Connection, which: MapIdentity, source_id: UUID) -> bool:
    """Retry the source under its own run id: it continues after the items that it has provided.
    Return False if it has succeeded.
    """
    return bool(await REVIVE.all(conn, run_id=which.run_id, ids=[source_id]))


async def fail_missing_members(conn: Connection, which: MapIdentity) -> None:
    """Count members that should be retried but are no longer in history as failed."""
    await GIVE_UP.one(conn, run_id=which.run_id, step=which.step)


async def read_results(
    conn: Connection, which: MapIdentity, *, after: int, limit: int
) -> list[EndedMember]:
    """Return members after an index that have ended."""
    return await RESULTS.all(
        conn,
        run_id=which.run_id,
        after_id=which.derive_id_before(after + 1),
        last_id=which.last_id,
        most=limit,
    )


async def find_source(conn: Connection, fence: AttemptFence) -> MapSourceRow | None:
    """Return the map of which a run is the source; None if none, or if the attempt lost it."""
    return await SOURCE.one(conn, **fence._asdict())


async def store_items(
    conn: Connection,
    source: MapSourceRow,
    fence: AttemptFence,
    *,
    items: str,
    number: int,
    room: int,
) -> bool:
    """Store items (a JSON list) that a source provides. Return False if more than `room` are
    unfinished: try again later. Raises `LeaseLost` if the attempt no longer holds the run, or the
    map was stopped.
    """
    async with transaction(conn):
        found = await lock_map(conn, run_id=source.run_id, step=source.step)
        if found is not None and found.handed - found.tally.ended >= room and not found.stopped:
            return False
        stored = await HAND_OUT.one(
            conn,
            **fence._asdict(),
            run_id=source.run_id,
            step=source.step,
            first=source.handed,
            number=number,
            items=items,
        )
    if stored is None:
        raise LeaseLost(thing="run", id=fence.id)
    return True


def parse_reason(reason: str | None) -> dict[str, Any] | None:
    """Parse the reason of an ending."""
    parsed = None if reason is None else json.loads(reason)
    return parsed if isinstance(parsed, dict) else None

"""Stores the time zone rules that ticks were computed with.

One row holds their version and how far a newer one was applied. The rules themselves are stored
too, because a wall-clock tick can only be identified by the rules that produced it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import NoRow, statement

# A process with older rules reports itself every half minute; after this it counts as gone.
GONE_AFTER: Final = timedelta(seconds=90)


class TzdataState(NamedTuple):
    """The version that future ticks were computed with; None before the first. `target` is the
    version that is being applied, `position` the last job that was processed.
    """

    version: str | None
    target: str | None
    position: UUID | None
    looked_at: int
    moved: int
    older_seen_at: datetime | None
    older_gone: bool


class ZoneRules(NamedTuple):
    zone: str
    rules: bytes
    previous: bytes | None


class ZonedCursor(NamedTuple):
    job_id: UUID
    may_move: bool


class CursorMove(NamedTuple):
    """The position of a cursor, and its new position."""

    job_id: UUID
    tick_at: datetime
    next_tick_at: datetime
    next_fire_at: datetime


class TzdataVersion(NamedTuple):
    version: str | None


class MovedCursorJob(NamedTuple):
    job_id: UUID


READ = statement("tzdata/read", TzdataState)
LOCK = statement("tzdata/lock", TzdataState)
ADOPT = statement("tzdata/adopt", TzdataVersion)
BEGIN = statement("tzdata/begin", TzdataVersion)
ADVANCE = statement("tzdata/advance", TzdataVersion)
FINISH = statement("tzdata/finish", TzdataVersion)
NOTE_OLDER = statement("tzdata/report_older", TzdataVersion)
READ_RULES = statement("tzdata/read_rules", ZoneRules)
PUT_RULES = statement("tzdata/put_rules", NoRow)
WALK = statement("tzdata/scan", ZonedCursor)
MOVE = statement("tzdata/move", MovedCursorJob)


async def read_state(conn: Connection) -> TzdataState | None:
    return await READ.one(conn, gone_after=GONE_AFTER)


async def lock_state(conn: Connection) -> TzdataState | None:
    """Lock the row until the end of the transaction; None while another process holds it."""
    return await LOCK.one(conn, gone_after=GONE_AFTER)


async def adopt_rules(conn: Connection, version: str, rules: Mapping[str, bytes]) -> bool:
    """Store the rules in use if none are stored; return whether that was the case."""
    if await ADOPT.one(conn, version=version) is None:
        return False
    await put_rules(conn, rules)
    return True


async def begin_rules(conn: Connection, *, target: str, applied: str) -> bool:
    """Start to apply rules to cursors that are, or are being, computed with `applied`."""
    return await BEGIN.one(conn, target=target, applied=applied) is not None


async def advance_rules(
    conn: Connection, state: TzdataState, *, position: UUID, looked_at: int, moved: int
) -> bool:
    """Store how far rules were applied since the row was locked."""
    row = await ADVANCE.one(
        conn,
        target=state.target,
        before=state.position,
        position=position,
        looked_at=looked_at,
        moved=moved,
    )
    return row is not None


async def finish_rules(conn: Connection, *, target: str) -> bool:
    """Record that everything was computed with these rules."""
    return await FINISH.one(conn, target=target) is not None


async def report_older_rules(conn: Connection, version: str) -> bool:
    """Report that a process with older rules is running; return whether these are older."""
    return await NOTE_OLDER.one(conn, version=version) is not None


async def read_rules(conn: Connection) -> list[ZoneRules]:
    return await READ_RULES.all(conn)


async def put_rules(conn: Connection, rules: Mapping[str, bytes]) -> None:
    await PUT_RULES.all(conn, zones=list(rules), rules=list(rules.values()))


async def scan_cursors(
    conn: Connection, *, after: UUID, zones: Sequence[str], limit: int
) -> list[ZonedCursor]:
    """Return the next `most` cursors by job, and whether the rules of these zones affect them."""
    return await WALK.all(conn, after=after, zones=zones, most=limit)


async def move_cursors(conn: Connection, moves: Sequence[CursorMove]) -> set[UUID]:
    """Move cursors, each with a new version of its job; return the jobs that moved. The caller has
    locked both.
    """
    rows = await MOVE.all(
        conn,
        job_ids=[cursor.job_id for cursor in moves],
        tick_ats=[cursor.tick_at for cursor in moves],
        next_tick_ats=[cursor.next_tick_at for cursor in moves],
        next_fire_ats=[cursor.next_fire_at for cursor in moves],
    )
    return {row.job_id for row in rows}

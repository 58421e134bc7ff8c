"""Creates partitions of history ahead of time and drops them by age, by day or by month.

A day is a range of ids, because an id begins with its time. Functions of the schema create and drop
a day with the owner's rights, so that a login that owns nothing can call them. If a day was not
created ahead of time, its rows are in the `_rest` partition; creating it later moves them out of
there. Rows that stay in it, such as backfills of days long ago, are deleted by age, in batches.

The audit log is partitioned by month. Its months are children of `rota.audit`, which still holds
the entries from before there were months.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import find_first_id
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.translate import translated

PARENTS: Final = (
    *("runs", "attempts", "run_logs", "run_notes"),
    *("graph_runs", "graph_maps", "graph_items", "events"),
)
# Tables with their own retention period instead of that of runs.
EVENTS: Final = frozenset({"events"})
AUDIT: Final = "audit"
_PARTITIONS: Final = """
select c.relname from pg_inherits as i
inner join pg_class as c on i.inhrelid = c.oid
where i.inhparent = ('rota.' || $1)::regclass
"""


class Pruned(NamedTuple):
    id: UUID


class MadeDay(NamedTuple):
    is_new: bool


class DroppedDay(NamedTuple):
    dropped: str


class OldEntries(NamedTuple):
    is_left: bool


MAKE = statement("partitions/make", MadeDay)
DROP = statement("partitions/drop", DroppedDay)
PRUNE_RUNS = statement("history/prune_runs", Pruned)
PRUNE_EVENTS = statement("history/prune_events", Pruned)
HAS_OLD_AUDIT = statement("history/has_old_audit", OldEntries)


def partition_name(parent: str, day: date) -> str:
    return f"{parent}_{day:%Y%m%d}"


def day_of(partition: str) -> date | None:
    """Return the day that a partition holds; None for the rest partition."""
    digits = partition.rpartition("_")[2]
    if len(digits) != 8 or not digits.isdigit():
        return None
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))


async def days(conn: Connection, parent: str) -> list[date]:
    """Return the days that have a partition, oldest first."""
    with translated(conn):
        rows = await conn.fetch(_PARTITIONS, parent)
    return sorted(day for row in rows if (day := day_of(row[0])) is not None)


async def make_ahead(conn: Connection, *, today: date, ahead: int) -> list[str]:
    """Create the partitions from yesterday to `ahead` days from today; return the new ones.

    Includes yesterday: a run that was due before midnight may end after it.
    """
    wanted = [today + timedelta(days=n) for n in range(-1, ahead + 1)]
    created: list[str] = []
    for parent in PARENTS:
        present = set(await days(conn, parent))
        missing = [day for day in wanted if day not in present]
        created += [
            partition_name(parent, day) for day in missing if await _make(conn, parent, day)
        ]
    return created


async def drop_older(
    conn: Connection, *, keep_from: date, most: int = 10, parents: Iterable[str] = PARENTS
) -> list[str]:
    """Drop whole days before `keep_from`, oldest first, at most `most` days per table."""
    dropped: list[str] = []
    for parent in parents:
        old = [day for day in await days(conn, parent) if day < keep_from][:most]
        dropped += [await _drop(conn, parent, day) for day in old]
    return dropped


async def prune_runs(conn: Connection, *, keep_from: date, most: int) -> int:
    """Delete at most `most` runs that ended before `keep_from` and are in no day partition, and
    their related rows; return how many runs.
    """
    before = datetime.combine(keep_from, time(), UTC)
    return len(await PRUNE_RUNS.all(conn, before=before, most=most))


async def prune_events(conn: Connection, *, keep_from: date, most: int) -> int:
    """Delete events in the same way, by the time of their arrival."""
    return len(await PRUNE_EVENTS.all(conn, before=find_first_id(keep_from), most=most))


def month_of(partition: str) -> date | None:
    """Return the first day of the month that a child table of the audit log holds."""
    digits = partition.rpartition("_")[2]
    if len(digits) != 6 or not digits.isdigit():
        return None
    return date(int(digits[:4]), int(digits[4:]), 1)


async def find_audit_months(conn: Connection) -> list[date]:
    """Return the months of the audit log that have a table, oldest first."""
    with translated(conn):
        rows = await conn.fetch(_PARTITIONS, AUDIT)
    return sorted(month for row in rows if (month := month_of(row[0])) is not None)


async def make_audit_months(conn: Connection, *, today: date) -> None:
    """Create the tables of this month and the next one."""
    this = today.replace(day=1)
    present = await find_audit_months(conn)
    for month in (this, (this + timedelta(days=31)).replace(day=1)):
        if month not in present:
            await _make(conn, AUDIT, month)


async def drop_audit_months(conn: Connection, *, keep_from: date) -> list[date]:
    """Drop the months that ended before `keep_from` and return them."""
    months = await find_audit_months(conn)
    old = [month for month in months if (month + timedelta(days=31)).replace(day=1) <= keep_from]
    for month in old:
        await _drop(conn, AUDIT, month)
    return old


async def prune_audit(conn: Connection, *, keep_from: date) -> bool:
    """Delete a batch of entries that are in no month table and are from months that ended before
    `keep_from`; return whether more are left.
    """
    first = keep_from.replace(day=1)
    await _drop(conn, AUDIT, first - timedelta(days=1))
    row = await HAS_OLD_AUDIT.one(conn, before=datetime.combine(first, time(), UTC))
    return row is not None and row.is_left


async def _make(conn: Connection, parent: str, day: date) -> bool:
    row = await MAKE.one(conn, parent=parent, day=day)
    return row is not None and row.is_new


async def _drop(conn: Connection, parent: str, day: date) -> str:
    # A drop holds its locks only for a moment: nothing writes to an old day. The connection's lock
    # timeout prevents it from queueing behind a long reader.
    await DROP.one(conn, parent=parent, day=day)
    return partition_name(parent, day)

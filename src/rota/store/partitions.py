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
from rota.store.error_translation import translate_errors
from rota.store.statement import statement

DAILY_TABLES: Final = (
    *("runs", "attempts", "run_logs", "run_notes"),
    *("graph_runs", "graph_maps", "graph_items", "events"),
)
# Tables with their own retention period instead of that of runs.
EVENT_TABLES: Final = frozenset({"events"})
AUDIT_TABLE: Final = "audit"
_PARTITIONS: Final = """
select c.relname from pg_inherits as i
inner join pg_class as c on i.inhrelid = c.oid
where i.inhparent = ('rota.' || $1)::regclass
"""


class PrunedRow(NamedTuple):
    id: UUID


class CreatedPartition(NamedTuple):
    is_new: bool


class DroppedPartition(NamedTuple):
    dropped: str


class OldAuditEntries(NamedTuple):
    is_left: bool


CREATE_PARTITION = statement("partitions/create", CreatedPartition)
DROP_PARTITION = statement("partitions/drop", DroppedPartition)
PRUNE_RUNS = statement("history/prune_runs", PrunedRow)
PRUNE_EVENTS = statement("history/prune_events", PrunedRow)
HAS_OLD_AUDIT = statement("history/has_old_audit", OldAuditEntries)


def partition_name(parent: str, day: date) -> str:
    return f"{parent}_{day:%Y%m%d}"


def parse_day(partition: str) -> date | None:
    """Return the day that a partition holds; None for the rest partition."""
    digits = partition.rpartition("_")[2]
    if len(digits) != 8 or not digits.isdigit():
        return None
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))


async def read_days(conn: Connection, parent: str) -> list[date]:
    """Return the days that have a partition, oldest first."""
    with translate_errors(conn):
        rows = await conn.fetch(_PARTITIONS, parent)
    return sorted(day for row in rows if (day := parse_day(row[0])) is not None)


async def create_ahead(conn: Connection, *, today: date, ahead: int) -> list[str]:
    """Create the partitions from yesterday to `ahead` days from today; return the new ones.

    Includes yesterday: a run that was due before midnight may end after it.
    """
    wanted = [today + timedelta(days=n) for n in range(-1, ahead + 1)]
    created: list[str] = []
    for parent in DAILY_TABLES:
        present = set(await read_days(conn, parent))
        missing = [day for day in wanted if day not in present]
        created += [
            partition_name(parent, day) for day in missing if await _make(conn, parent, day)
        ]
    return created


async def drop_older(
    conn: Connection, *, keep_from: date, limit: int = 10, parents: Iterable[str] = DAILY_TABLES
) -> list[str]:
    """Drop whole days before `keep_from`, oldest first, at most `most` days per table."""
    dropped: list[str] = []
    for parent in parents:
        old = [day for day in await read_days(conn, parent) if day < keep_from][:limit]
        dropped += [await _drop(conn, parent, day) for day in old]
    return dropped


async def prune_runs(conn: Connection, *, keep_from: date, limit: int) -> int:
    """Delete at most `most` runs that ended before `keep_from` and are in no day partition, and
    their related rows; return how many runs.
    """
    before = datetime.combine(keep_from, time(), UTC)
    return len(await PRUNE_RUNS.all(conn, before=before, most=limit))


async def prune_events(conn: Connection, *, keep_from: date, limit: int) -> int:
    """Delete events in the same way, by the time of their arrival."""
    return len(await PRUNE_EVENTS.all(conn, before=find_first_id(keep_from), most=limit))


def parse_month(partition: str) -> date | None:
    """Return the first day of the month that a child table of the audit log holds."""
    digits = partition.rpartition("_")[2]
    if len(digits) != 6 or not digits.isdigit():
        return None
    return date(int(digits[:4]), int(digits[4:]), 1)


async def find_audit_months(conn: Connection) -> list[date]:
    """Return the months of the audit log that have a table, oldest first."""
    with translate_errors(conn):
        rows = await conn.fetch(_PARTITIONS, AUDIT_TABLE)
    return sorted(month for row in rows if (month := parse_month(row[0])) is not None)


async def create_audit_months(conn: Connection, *, today: date) -> None:
    """Create the tables of this month and the next one."""
    this = today.replace(day=1)
    present = await find_audit_months(conn)
    for month in (this, (this + timedelta(days=31)).replace(day=1)):
        if month not in present:
            await _make(conn, AUDIT_TABLE, month)


async def drop_audit_months(conn: Connection, *, keep_from: date) -> list[date]:
    """Drop the months that ended before `keep_from` and return them."""
    months = await find_audit_months(conn)
    old = [month for month in months if (month + timedelta(days=31)).replace(day=1) <= keep_from]
    for month in old:
        await _drop(conn, AUDIT_TABLE, month)
    return old


async def prune_audit(conn: Connection, *, keep_from: date) -> bool:
    """Delete a batch of entries that are in no month table and are from months that ended before
    `keep_from`; return whether more are left.
    """
    first = keep_from.replace(day=1)
    await _drop(conn, AUDIT_TABLE, first - timedelta(days=1))
    row = await HAS_OLD_AUDIT.one(conn, before=datetime.combine(first, time(), UTC))
    return row is not None and row.is_left


async def _make(conn: Connection, parent: str, day: date) -> bool:
    row = await CREATE_PARTITION.one(conn, parent=parent, day=day)
    return row is not None and row.is_new


async def _drop(conn: Connection, parent: str, day: date) -> str:
    # A drop holds its locks only for a moment: nothing writes to an old day. The connection's lock
    # timeout prevents it from queueing behind a long reader.
    await DROP_PARTITION.one(conn, parent=parent, day=day)
    return partition_name(parent, day)

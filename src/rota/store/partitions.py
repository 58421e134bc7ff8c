"""Daily partitions of history: made ahead, dropped by age, a day at a time (O7, F57). Room: store.

A day is a range of ids, because an id begins with its time. The statements here are composed, since
DDL takes no parameters; their only variable parts are dates and ids that Python made. A day that
nobody made ahead fell into the `_rest` partition; making it later takes its rows out of there. What
stays in it, such as backfills of days long gone, is deleted by age, a batch at a time.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import first_id_of
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.translate import translated

PARENTS: Final = {
    "runs": "id",
    "attempts": "run_id",
    "run_logs": "run_id",
    "run_notes": "run_id",
    "graph_runs": "run_id",
    "graph_maps": "run_id",
    "graph_items": "run_id",
    "events": "id",
}
# What is kept for a time of its own, and not as long as runs.
EVENTS: Final = frozenset({"events"})
# Their rows change several times: with room beside them the new version needs no entry in an index.
CHANGING: Final = {"graph_runs": 60, "graph_maps": 50}
_PARTITIONS: Final = """
select c.relname from pg_inherits as i
inner join pg_class as c on i.inhrelid = c.oid
where i.inhparent = ('rota.' || $1)::regclass
"""


class Pruned(NamedTuple):
    id: UUID


PRUNE_RUNS = statement("history/prune_runs", Pruned)
PRUNE_EVENTS = statement("history/prune_events", Pruned)


def partition_name(parent: str, day: date) -> str:
    return f"{parent}_{day:%Y%m%d}"


def day_of(partition: str) -> date | None:
    """The day a partition holds; None for the rest."""
    digits = partition.rpartition("_")[2]
    if len(digits) != 8 or not digits.isdigit():
        return None
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))


async def days(conn: Connection, parent: str) -> list[date]:
    """The days that have a partition, oldest first."""
    with translated(conn):
        rows = await conn.fetch(_PARTITIONS, parent)
    return sorted(day for row in rows if (day := day_of(row[0])) is not None)


async def make_ahead(conn: Connection, *, today: date, ahead: int) -> list[str]:
    """Make the partitions from yesterday to `ahead` days from today; return the new ones.

    Yesterday too: a run that was due before midnight may end after it.
    """
    wanted = [today + timedelta(days=n) for n in range(-1, ahead + 1)]
    made: list[str] = []
    for parent in PARENTS:
        present = set(await days(conn, parent))
        missing = [day for day in wanted if day not in present]
        made += [partition_name(parent, day) for day in missing if await _make(conn, parent, day)]
    return made


async def drop_older(
    conn: Connection, *, keep_from: date, most: int = 10, parents: Iterable[str] = PARENTS
) -> list[str]:
    """Drop whole days before `keep_from`, oldest first, at most `most` of them per table."""
    dropped: list[str] = []
    for parent in parents:
        old = [day for day in await days(conn, parent) if day < keep_from][:most]
        dropped += [await _drop(conn, parent, day) for day in old]
    return dropped


async def prune_runs(conn: Connection, *, keep_from: date, most: int) -> int:
    """Delete runs that ended before `keep_from` and have no day to be dropped with, at most so
    many, and what belongs to them; return how many they were.
    """
    before = datetime.combine(keep_from, time(), UTC)
    return len(await PRUNE_RUNS.all(conn, before=before, most=most))


async def prune_events(conn: Connection, *, keep_from: date, most: int) -> int:
    """The same for events, by the time of their arrival."""
    return len(await PRUNE_EVENTS.all(conn, before=first_id_of(keep_from), most=most))


async def _make(conn: Connection, parent: str, day: date) -> bool:
    name, key = partition_name(parent, day), PARENTS[parent]
    low, high = first_id_of(day), first_id_of(day + timedelta(days=1))
    with translated(conn):
        async with conn.transaction():
            # One maker at a time; the others find it done.
            await conn.execute("select pg_advisory_xact_lock(hashtext($1))", f"rota {name}")
            if await conn.fetchval("select to_regclass($1) is not null", f"rota.{name}"):
                return False
            await conn.execute(
                _lines(
                    f"create table rota.{name} (like rota.{parent} including all)",
                    f"with (fillfactor = {CHANGING.get(parent, 100)});",
                    f"with strayed as (delete from rota.{parent}_rest",
                    f"where {key} >= '{low}' and {key} < '{high}' returning *)",
                    f"insert into rota.{name} select * from strayed;",
                    f"alter table rota.{parent} attach partition rota.{name}",
                    f"for values from ('{low}') to ('{high}');",
                )
            )
    return True


async def _drop(conn: Connection, parent: str, day: date) -> str:
    name = partition_name(parent, day)
    with translated(conn):
        # Plain drop takes its locks for a moment only: nobody writes to an old day. The lock
        # time-out of the connection keeps it from queueing behind a long reader.
        await conn.execute(f"drop table if exists rota.{name}")
    return name


def _lines(*lines: str) -> str:
    return "\n".join(lines)

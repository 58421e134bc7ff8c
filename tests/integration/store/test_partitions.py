"""History by the day: made ahead, dropped by age, nothing lost in between (O7, P6, F57)."""

import asyncio
from datetime import date, timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import NOON, World

from rota.core.errors import StoreFailed
from rota.core.ids import build_id, find_first_id, read_id_time
from rota.core.states import RunState
from rota.store import live_runs
from rota.store.partitions import (
    DAILY_TABLES,
    create_ahead,
    drop_older,
    parse_day,
    prune_events,
    prune_runs,
    read_days,
)

TODAY = NOON.date()
PLACE = "select c.relname from rota.runs as r inner join pg_class as c on r.tableoid = c.oid"


async def test_the_days_ahead_and_yesterday_are_made_once(world: World) -> None:
    made = await create_ahead(world.conn, today=TODAY, ahead=3)
    again = await create_ahead(world.conn, today=TODAY, ahead=3)

    assert len(made) == 5 * len(DAILY_TABLES)
    assert again == []
    wanted = [TODAY + timedelta(days=n) for n in range(-1, 4)]
    for parent in DAILY_TABLES:
        assert await read_days(world.conn, parent) == wanted


async def test_many_processes_may_make_the_same_days(world: World, database: str) -> None:
    conns = [await asyncpg.connect(database) for _ in range(6)]

    made = await asyncio.gather(*(create_ahead(conn, today=TODAY, ahead=1) for conn in conns))

    names = [name for part in made for name in part]
    assert len(names) == len(set(names)) == 3 * len(DAILY_TABLES)
    for conn in conns:
        await conn.close()


async def test_a_finished_run_lies_in_the_partition_of_its_id(world: World) -> None:
    await create_ahead(world.conn, today=TODAY, ahead=1)
    run = await world.run()

    await live_runs.cancel_runs(world.conn, ids=[run])

    table = await world.conn.fetchval(PLACE)
    assert table == f"runs_{TODAY:%Y%m%d}"
    assert read_id_time(run) == NOON


async def test_a_look_up_by_id_goes_to_one_partition(world: World) -> None:
    await create_ahead(world.conn, today=TODAY, ahead=5)

    plan = await world.conn.fetch(
        f"explain select * from rota.runs where id = '{find_first_id(TODAY)}'"
    )

    touched = [row[0] for row in plan if " on runs_" in row[0] or " on rota.runs_" in row[0]]
    assert len(touched) == 1


async def test_a_day_that_nobody_made_ahead_keeps_its_rows_when_it_is_made(world: World) -> None:
    run = await world.run()
    await live_runs.cancel_runs(world.conn, ids=[run])
    before = await world.conn.fetchval(PLACE)

    await create_ahead(world.conn, today=TODAY, ahead=0)

    after = await world.conn.fetchval(PLACE)
    assert (before, after) == ("runs_rest", f"runs_{TODAY:%Y%m%d}")


async def test_old_days_are_dropped_and_younger_ones_stay(world: World) -> None:
    await create_ahead(world.conn, today=TODAY, ahead=3)
    await world.advance(days=1)

    dropped = await drop_older(world.conn, keep_from=TODAY + timedelta(days=1))

    assert len(dropped) == 2 * len(DAILY_TABLES)
    assert await read_days(world.conn, "runs") == [TODAY + timedelta(days=n) for n in (1, 2, 3)]


async def test_a_day_that_is_not_over_is_not_dropped(world: World) -> None:
    await create_ahead(world.conn, today=TODAY, ahead=0)

    with pytest.raises(StoreFailed, match="is not over"):
        await drop_older(world.conn, keep_from=TODAY + timedelta(days=1))


async def test_only_history_has_days(world: World) -> None:
    for function in ("make_partition", "drop_partition"):
        with pytest.raises(asyncpg.PostgresError, match="has no partitions by day"):
            await world.conn.execute(f"select rota.{function}('jobs; drop table x', '2020-01-01')")


BELONGING = {
    "attempts": "(run_id, attempt, outcome, finished_at) values ($1, 1, 'failed', rota.now())",
    "run_logs": "(run_id, attempt, seq, stream, logged_at, chunk)"
    " values ($1, 1, 1, 1, rota.now(), 'a')",
    "run_notes": "(run_id, attempt, noted_at) values ($1, 1, rota.now())",
    "graph_runs": "(run_id, tenant_id, job_id, started_at) values ($1, 1, $1, rota.now())",
    "graph_maps": "(run_id, step, tenant_id) values ($1, 0, 1)",
    "graph_items": "(run_id, step, first, tenant_id, number, items) values ($1, 0, 0, 1, 1, '[1]')",
}


async def stray(world: World, *, is_over: bool = True) -> UUID:
    """A run of last year's tick, which no day takes, with a row of everything that a run has."""
    run = build_id(NOON - timedelta(days=365), world.new_id().bytes[6:])
    await world.run(id=run)
    for table, rest in BELONGING.items():
        await world.conn.execute(f"insert into rota.{table} {rest}", run)
    if is_over:
        await live_runs.cancel_runs(world.conn, ids=[run])
    return run


def key_of(table: str) -> str:
    return "id" if table in {"runs", "events"} else "run_id"


async def left_of(world: World, run: UUID) -> set[str]:
    """The tables that still know a run."""
    return {
        table
        for table in DAILY_TABLES
        if await world.conn.fetchval(f"select 1 from rota.{table} where {key_of(table)} = $1", run)
    }


async def test_what_lies_in_no_day_goes_with_all_of_it_when_it_ended_too_long_ago(
    world: World,
) -> None:
    """A run of an old tick is as old as its end, and what belongs to it lives as long."""
    run, alive = await stray(world), await stray(world, is_over=False)

    early = await prune_runs(world.conn, keep_from=TODAY, limit=10)
    kept = await left_of(world, run)
    late = await prune_runs(world.conn, keep_from=TODAY + timedelta(days=1), limit=10)

    assert (early, late) == (0, 1)
    assert kept == {"runs", *BELONGING}
    assert await left_of(world, run) == set()
    assert await left_of(world, alive) == BELONGING.keys()
    assert (await world.get(alive)).state is RunState.QUEUED


async def test_no_more_goes_at_once_than_is_asked_for_and_nothing_is_counted_twice(
    world: World, database: str
) -> None:
    for _ in range(5):
        await stray(world)
    other = await asyncpg.connect(database)
    tomorrow = TODAY + timedelta(days=1)

    async with world.conn.transaction():
        mine = await prune_runs(world.conn, keep_from=tomorrow, limit=2)
        theirs = await prune_runs(other, keep_from=tomorrow, limit=10)

    await other.close()
    assert (mine, theirs, await world.count("runs")) == (2, 3, 0)


async def test_events_that_lie_in_no_day_go_by_their_arrival(world: World) -> None:
    ids = [build_id(NOON - timedelta(days=age), bytes(10)) for age in (3, 2, 1)]
    for id_ in ids:
        await world.conn.execute(
            "insert into rota.events (id, tenant_id, type, source, received_at, body)"
            " values ($1, 1, 'a', 's', rota.now(), '{}')",
            id_,
        )

    gone = await prune_events(world.conn, keep_from=TODAY - timedelta(days=2), limit=10)

    assert gone == 1
    left = await world.conn.fetch("select id from rota.events order by id")
    assert [row[0] for row in left] == ids[1:]


async def test_the_guard_holds_in_partitions_too(world: World) -> None:
    await create_ahead(world.conn, today=TODAY, ahead=0)
    run = await world.run()
    await live_runs.cancel_runs(world.conn, ids=[run])

    with pytest.raises(asyncpg.PostgresError) as refused:
        await world.conn.execute("update rota.runs set state = 'succeeded'")

    assert refused.value.sqlstate == "RT001"


def test_the_name_of_a_partition_tells_its_day() -> None:
    assert parse_day("run_logs_20260701") == date(2026, 7, 1)
    assert parse_day("runs_rest") is None

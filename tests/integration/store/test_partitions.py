"""History by the day: made ahead, dropped by age, nothing lost in between (O7, P6, F57)."""

import asyncio
from datetime import date, timedelta

import asyncpg
import pytest
from tests.support.world import NOON, World

from rota.core.ids import first_id_of, time_of
from rota.store import live_runs
from rota.store.partitions import PARENTS, day_of, days, drop_older, make_ahead

TODAY = NOON.date()
PLACE = "select c.relname from rota.runs as r inner join pg_class as c on r.tableoid = c.oid"


async def test_the_days_ahead_and_yesterday_are_made_once(world: World) -> None:
    made = await make_ahead(world.conn, today=TODAY, ahead=3)
    again = await make_ahead(world.conn, today=TODAY, ahead=3)

    assert len(made) == 5 * len(PARENTS)
    assert again == []
    wanted = [TODAY + timedelta(days=n) for n in range(-1, 4)]
    for parent in PARENTS:
        assert await days(world.conn, parent) == wanted


async def test_many_processes_may_make_the_same_days(world: World, database: str) -> None:
    conns = [await asyncpg.connect(database) for _ in range(6)]

    made = await asyncio.gather(*(make_ahead(conn, today=TODAY, ahead=1) for conn in conns))

    names = [name for part in made for name in part]
    assert len(names) == len(set(names)) == 3 * len(PARENTS)
    for conn in conns:
        await conn.close()


async def test_a_finished_run_lies_in_the_partition_of_its_id(world: World) -> None:
    await make_ahead(world.conn, today=TODAY, ahead=1)
    run = await world.run()

    await live_runs.cancel(world.conn, ids=[run])

    table = await world.conn.fetchval(PLACE)
    assert table == f"runs_{TODAY:%Y%m%d}"
    assert time_of(run) == NOON


async def test_a_look_up_by_id_goes_to_one_partition(world: World) -> None:
    await make_ahead(world.conn, today=TODAY, ahead=5)

    plan = await world.conn.fetch(
        f"explain select * from rota.runs where id = '{first_id_of(TODAY)}'"
    )

    touched = [row[0] for row in plan if " on runs_" in row[0] or " on rota.runs_" in row[0]]
    assert len(touched) == 1


async def test_a_day_that_nobody_made_ahead_keeps_its_rows_when_it_is_made(world: World) -> None:
    run = await world.run()
    await live_runs.cancel(world.conn, ids=[run])
    before = await world.conn.fetchval(PLACE)

    await make_ahead(world.conn, today=TODAY, ahead=0)

    after = await world.conn.fetchval(PLACE)
    assert (before, after) == ("runs_rest", f"runs_{TODAY:%Y%m%d}")


async def test_old_days_are_dropped_and_younger_ones_stay(world: World) -> None:
    await make_ahead(world.conn, today=TODAY, ahead=3)

    dropped = await drop_older(world.conn, keep_from=TODAY + timedelta(days=1))

    assert len(dropped) == 2 * len(PARENTS)
    assert await days(world.conn, "runs") == [TODAY + timedelta(days=n) for n in (1, 2, 3)]


async def test_the_guard_holds_in_partitions_too(world: World) -> None:
    await make_ahead(world.conn, today=TODAY, ahead=0)
    run = await world.run()
    await live_runs.cancel(world.conn, ids=[run])

    with pytest.raises(asyncpg.PostgresError) as refused:
        await world.conn.execute("update rota.runs set state = 'succeeded'")

    assert refused.value.sqlstate == "RT001"


def test_the_name_of_a_partition_tells_its_day() -> None:
    assert day_of("run_logs_20260701") == date(2026, 7, 1)
    assert day_of("runs_rest") is None

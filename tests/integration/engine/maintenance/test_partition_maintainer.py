"""The duty that keeps history by the day (O7)."""

from datetime import date, timedelta

from rota.core.ids import build_id
from rota.engine.maintenance.partition_maintainer import (
    PARTITION_CHECK_INTERVAL,
    PRUNE_BATCH_MAX,
    PRUNE_INTERVAL,
    PartitionMaintainer,
)
from rota.store import partitions
from rota.store.driver import Pool
from rota.store.pool import DatabaseAccess, open_pool, read_database_time


async def today_of(pool: Pool) -> date:
    async with pool.acquire() as conn:
        return (await read_database_time(conn)).date()


async def days_of(pool: Pool) -> list[date]:
    async with pool.acquire() as conn:
        return await partitions.read_days(conn, "runs")


async def test_it_makes_the_coming_days_by_the_clock_of_the_database(database: str) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as pool:
        today = await today_of(pool)
        duty = PartitionMaintainer(pool=pool, ahead=timedelta(days=3), keep=timedelta(days=30))

        rest = await duty.tick()

        made = await days_of(pool)
    assert rest == PARTITION_CHECK_INTERVAL.total_seconds()
    assert set(made) >= {today + timedelta(days=n) for n in range(4)}


async def test_it_drops_what_is_too_old_and_keeps_what_is_just_old_enough(database: str) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as pool:
        today = await today_of(pool)
        async with pool.acquire() as conn:
            await partitions.create_ahead(conn, today=today - timedelta(days=20), ahead=19)
        duty = PartitionMaintainer(pool=pool, ahead=timedelta(days=2), keep=timedelta(days=4))

        for _ in range(3):
            await duty.tick()

        kept = await days_of(pool)
    # The test may cross midnight.
    assert kept[0] in {today - timedelta(days=5), today - timedelta(days=4)}
    assert today in kept


async def test_what_lies_in_no_day_goes_a_batch_at_a_time_until_none_is_left(
    database: str,
) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as pool:
        async with pool.acquire() as conn:
            old = await read_database_time(conn) - timedelta(days=40)
            await conn.execute(
                """
                insert into rota.runs (
                    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id,
                    queue_id, kind_id, policy_id, job_version, state, trigger, priority
                )
                select id, id, $2, $2, $2, $2, 1, 1, 1, 1, 1, 'skipped', 'tick', 5
                from unnest($1::uuid[]) as id
                """,
                [build_id(old, n.to_bytes(10, "big")) for n in range(PRUNE_BATCH_MAX + 1)],
                old,
            )
        duty = PartitionMaintainer(pool=pool, ahead=timedelta(days=2), keep=timedelta(days=30))

        rests = [await duty.tick(), await duty.tick()]

        async with pool.acquire() as conn:
            left = await conn.fetchval("select count(*) from rota.runs")
    assert rests == [PRUNE_INTERVAL.total_seconds(), PARTITION_CHECK_INTERVAL.total_seconds()]
    assert left == 0

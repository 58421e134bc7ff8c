"""Events are kept for their time, and no longer known afterwards (S7, O7)."""

from datetime import timedelta
from functools import partial

from rota.core.event_rules.event import NewEvent
from rota.core.ids import build_id
from rota.engine.events.ingestion import ingest_events
from rota.engine.events.retention import EventKeyPruner
from rota.engine.maintenance.partition_maintainer import PartitionMaintainer
from rota.store import partitions
from rota.store.pool import DatabaseAccess, open_pool, read_database_time


async def test_days_of_events_are_dropped_by_a_time_of_their_own(database: str) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as pool:
        async with pool.acquire() as conn:
            today = (await read_database_time(conn)).date()
            await partitions.create_ahead(conn, today=today - timedelta(days=12), ahead=0)
        days = timedelta(days=1)
        duty = PartitionMaintainer(pool=pool, ahead=2 * days, keep=30 * days, keep_events=9 * days)

        await duty.tick()

        async with pool.acquire() as conn:
            events = await partitions.read_days(conn, "events")
            runs = await partitions.read_days(conn, "runs")
    assert (min(runs) < today - 10 * days, min(events) >= today - 10 * days) == (True, True)
    assert today in events


async def test_an_old_key_is_forgotten_and_a_young_one_is_not(database: str) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as pool:
        async with pool.acquire() as conn:
            now = await read_database_time(conn)
            for age in (31, 29):
                then = now - timedelta(days=age)
                event = NewEvent(type="a", source="s", id=str(age))
                number = age.to_bytes(10, "big")
                await ingest_events(
                    conn, 1, [event], now=then, new_id=partial(build_id, then, number)
                )

        await EventKeyPruner(source=pool, keep=timedelta(days=30)).tick()

        async with pool.acquire() as conn:
            events = [NewEvent(type="a", source="s", id=str(age)) for age in (31, 29)]
            numbers = iter((b"\x01" * 10, b"\x02" * 10))
            again = await ingest_events(
                conn, 1, events, now=now, new_id=lambda: build_id(now, next(numbers))
            )
    assert [each.is_duplicate for each in again.events] == [False, True]

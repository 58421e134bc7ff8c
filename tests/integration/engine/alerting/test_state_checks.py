"""State conditions: workers, waits, lags, sources and Rota itself, while they last."""

from datetime import timedelta

import pytest
from tests.support.watching import Incident, WatchDesk
from tests.support.world import NOON, TTL, World

from rota.store import event_sources, sessions
from rota.store.event_sources import SourceReaderId
from rota.store.sessions import NewSession, SessionRole

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    desk = await WatchDesk(world).begin()
    await own_shards(desk)
    return desk


async def own_shards(desk: WatchDesk) -> None:
    owner = await desk.world.session(role=SessionRole.SCHEDULER, ttl=timedelta(days=1))
    await sessions.hold_shards(
        desk.world.conn, owner=owner, shards=range(128), ttl=timedelta(days=1)
    )


async def start_worker(desk: WatchDesk) -> None:
    session = NewSession(
        id=desk.world.new_id(),
        role=SessionRole.WORKER,
        name="worker",
        slots=1,
        queues=(desk.world.queue_id,),
        kinds=(desk.world.kind_id,),
    )
    await sessions.open_session(desk.world.conn, session, ttl=TTL)


async def pass_minutes(desk: WatchDesk, minutes: float) -> None:
    await desk.world.move_to(desk.world.now + minutes * MINUTE)
    await desk.read_events()
    await desk.check_states()


async def test_a_healthy_cluster_has_no_incidents(desk: WatchDesk) -> None:
    await desk.add_job("report", {"cron": "0 * * * *"})

    await pass_minutes(desk, 5)

    assert await desk.incidents() == []
    assert await desk.watches() == []


async def test_a_queue_without_a_worker_is_an_incident_until_a_worker_serves_it(
    desk: WatchDesk,
) -> None:
    await desk.world.runs(3)
    await pass_minutes(desk, 1.9)
    assert await desk.incidents() == []

    await pass_minutes(desk, 0.2)
    await pass_minutes(desk, 0.2)
    assert await desk.incidents() == [Incident("no_worker", "default", "open", 1)]
    assert await desk.titles() == ["3 runs wait in queue default and no worker serves noop"]

    await start_worker(desk)
    await pass_minutes(desk, 0.1)
    assert await desk.incidents() == [Incident("no_worker", "default", "resolved", 1)]
    assert await desk.watches() == []


@pytest.mark.parametrize("what", ["queue", "tenant", "tenant's queue"])
async def test_a_paused_queue_needs_no_worker(desk: WatchDesk, what: str) -> None:
    await desk.world.runs(3)
    statements = {
        "queue": "update rota.queues set paused_at = rota.now()",
        "tenant": "update rota.tenants set paused_at = rota.now()",
        "tenant's queue": "insert into rota.tenant_queues (tenant_id, queue_id, paused_at)"
        f" values (1, {desk.world.queue_id}, rota.now())"
        " on conflict (tenant_id, queue_id) do update set paused_at = excluded.paused_at",
    }
    await desk.world.conn.execute(statements[what])

    await pass_minutes(desk, 5)

    assert await desk.incidents() == []


async def test_a_rule_about_workers_replaces_the_default(desk: WatchDesk) -> None:
    await desk.add_rule("workers", {"no_worker": "PT10M"}, {"queue": "default"}, severity="page")
    await desk.world.run()

    await pass_minutes(desk, 9)
    assert await desk.incidents() == []
    await pass_minutes(desk, 2)
    assert await desk.open_conditions() == ["no_worker"]


async def test_a_run_that_waits_too_long(desk: WatchDesk) -> None:
    desk.book.has_defaults = False
    await desk.add_rule("waits", {"oldest_wait": "PT5M"}, {"queue": "default"})
    run_id = await desk.world.run()

    await pass_minutes(desk, 4)
    assert await desk.incidents() == []
    await pass_minutes(desk, 2)
    assert await desk.incidents() == [Incident("oldest_wait", "default", "open", 1)]
    await desk.start_run(run_id)
    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_ticks_that_are_fired_late(desk: WatchDesk) -> None:
    await desk.add_rule("late", {"lag": "PT30S"})
    await desk.add_job("report", {"cron": "30 * * * *"})

    await desk.world.move_to(NOON + 30.4 * MINUTE)
    await pass_minutes(desk, 0)
    assert await desk.incidents() == []
    await pass_minutes(desk, 0.2)
    # The default is held for a minute, the rule of the tenant is not.
    assert await desk.incidents() == [Incident("lag", "all jobs", "open", 1)]
    await pass_minutes(desk, 1.1)
    assert sorted(each.subject for each in await desk.incidents()) == ["Rota", "all jobs"]

    await desk.fire()
    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_shards_without_a_scheduler(desk: WatchDesk) -> None:
    await desk.world.conn.execute("update rota.shards set expires_at = rota.now() where id < 3")
    await pass_minutes(desk, 0.1)
    assert await desk.incidents() == []

    await pass_minutes(desk, 1)
    assert await desk.titles() == ["3 of 128 shards have no scheduler"]
    await own_shards(desk)
    await desk.world.conn.execute(
        "update rota.shards set expires_at = rota.now() + interval '1 day'"
    )
    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_a_relay_that_is_behind(desk: WatchDesk) -> None:
    await desk.world.move_to(NOON + 10 * MINUTE)
    await desk.check_states()
    assert await desk.incidents() == [Incident("relay_behind", "Rota", "open", 1)]

    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_a_clock_that_is_off(desk: WatchDesk) -> None:
    offset = timedelta(seconds=-3)
    desk.states.read_clock_offset = lambda: offset
    await pass_minutes(desk, 0.1)
    assert await desk.titles() == ["the clock of test is 3 seconds off the database's"]

    offset = timedelta(seconds=1)
    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_a_source_that_has_stopped(desk: WatchDesk) -> None:
    reader = SourceReaderId(tenant_id=1, name="orders", owner=desk.world.new_id())
    await event_sources.lease_source(
        desk.world.conn, reader, kind="kafka", reader_name="test", ttl=MINUTE
    )
    await pass_minutes(desk, 0.5)
    assert await desk.incidents() == []

    await pass_minutes(desk, 2)
    await pass_minutes(desk, 1)
    assert await desk.incidents() == [Incident("source_stopped", "orders", "open", 1)]
    await event_sources.lease_source(
        desk.world.conn, reader, kind="kafka", reader_name="test", ttl=MINUTE
    )
    await pass_minutes(desk, 0.1)
    assert await desk.open_conditions() == []


async def test_one_process_checks_at_a_time(desk: WatchDesk) -> None:
    other = WatchDesk(desk.world)
    await desk.world.run()
    await pass_minutes(desk, 3)
    await other.states.tick()
    await other.scheduler.tick()

    assert await desk.incidents() == [Incident("no_worker", "default", "open", 1)]
    rows = await desk.world.conn.fetch("select name from rota.named_leases order by name")
    assert [row[0] for row in rows] == ["alert state checks", "alert watches", "relay"]

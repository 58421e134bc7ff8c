"""The cluster as the API shows it: processes, shards, queues, and what is counted how far (I1)."""

from datetime import timedelta
from uuid import UUID

from tests.support.world import NOON, TTL, World

from rota.core.limits import GateLimits, RateLimit
from rota.store import cluster_views, gates, interning, live_runs, sessions
from rota.store.cluster_views import QueueRow
from rota.store.gates import NO_TENANT_ID, NewGate
from rota.store.sessions import NewSession, SessionRole

OURS, THEIRS = 1, 2


async def test_a_worker_is_told_with_what_it_serves_and_holds(world: World) -> None:
    slow = await interning.intern_queue(world.conn, "slow")
    session = await worker(world, "w001", queues=(slow, world.queue_id))
    await world.runs(3)
    await world.claim(session, room=2)

    (row,) = await cluster_views.list_workers(world.conn)

    assert (row.id, row.name, row.slots, row.running) == (session, "w001", 10, 2)
    assert (row.queues, row.kinds) == (["default", "slow"], ["noop"])
    assert (row.is_alive, row.draining) == (True, False)
    assert (row.started_at, row.beat_at) == (NOON, NOON)


async def test_dead_workers_are_shown_only_to_who_asks(world: World) -> None:
    dead = await worker(world, "dead")
    await world.session(role=SessionRole.SCHEDULER)
    await world.advance(seconds=11)
    alive = await worker(world, "alive")

    assert [row.id for row in await cluster_views.list_workers(world.conn)] == [alive]
    everyone = await cluster_views.list_workers(world.conn, with_dead=True)
    assert [(row.id, row.is_alive) for row in everyone] == [(alive, True), (dead, False)]
    assert len(await cluster_views.list_workers(world.conn, with_dead=True, limit=1)) == 1


async def test_a_kind_is_served_as_long_as_a_living_worker_serves_it(world: World) -> None:
    await interning.intern_kind(world.conn, "nobody's")
    await worker(world, "w001", queues=(world.queue_id,))

    while_alive = await cluster_views.read_served_kinds(world.conn)
    await world.advance(seconds=11)

    assert while_alive == {"noop": None}
    assert await cluster_views.read_served_kinds(world.conn) == {}


async def test_schedulers_are_told_with_the_shards_they_hold(world: World) -> None:
    one = await world.own(3, 1)
    other = await world.own(2)
    await world.session()

    rows = await cluster_views.list_schedulers(world.conn)
    shards = await cluster_views.list_shards(world.conn)

    assert {row.id: row.shards for row in rows} == {one.owner: [1, 3], other.owner: [2]}
    assert len(shards) == 128
    assert {row.id: row.session_id for row in shards if row.session_id} == {
        1: one.owner,
        2: other.owner,
        3: one.owner,
    }
    assert (shards[1].scheduler, shards[1].expires_at) == ("test", NOON + timedelta(seconds=6))
    assert (shards[0].scheduler, shards[0].expires_at) == (None, None)


async def test_a_shard_whose_lease_ran_out_is_held_by_nobody(world: World) -> None:
    await world.own(3)
    await world.advance(seconds=7)

    assert {row.session_id for row in await cluster_views.list_shards(world.conn)} == {None}
    assert [row.shards for row in await cluster_views.list_schedulers(world.conn)] == [[]]


async def test_a_queue_counts_what_of_the_tenant_waits_and_runs(world: World) -> None:
    session = await world.session()
    gate = (await gates.put_gates(world.conn, [NewGate(OURS, "g", GateLimits(max_running=1))]))[
        OURS, "g"
    ]
    await world.runs(2)
    await world.claim(session, room=1)
    await world.advance(minutes=1)
    await world.runs(3, priority=9)
    await world.runs(2, gates=(gate,))
    await world.runs(4, scheduled_at=world.now, due_at=world.now + timedelta(hours=1))
    await world.runs(5, tenant_id=THEIRS)

    (ours,) = await cluster_views.list_queues(world.conn, tenant_id=OURS)
    (theirs,) = await cluster_views.list_queues(world.conn, tenant_id=THEIRS)
    nobodys = await cluster_views.list_queues(world.conn, tenant_id=3)
    (of_all,) = await cluster_views.list_queues(world.conn, tenant_id=3, all_tenants=True)

    assert (ours.waiting, ours.later, ours.running, ours.oldest_at) == (6, 4, 1, NOON)
    assert (theirs.waiting, theirs.later, theirs.running) == (5, 0, 0)
    assert theirs.oldest_at == world.now
    assert nobodys == []
    assert (of_all.waiting, of_all.running, of_all.oldest_at) == (0, 0, None)


async def test_a_queue_tells_what_holds_it_back(world: World) -> None:
    limits = GateLimits(max_running=5, rate=RateLimit(count=10, per=timedelta(minutes=1), burst=2))
    gate = (await gates.put_gates(world.conn, [NewGate(NO_TENANT_ID, "q", limits)]))[
        NO_TENANT_ID, "q"
    ]
    await world.conn.execute("update rota.queues set gate_id = $1, paused_at = $2", gate, NOON)
    await interning.intern_queue(world.conn, "free")

    limited, free = await cluster_views.list_queues(world.conn, tenant_id=OURS, all_tenants=True)

    assert limited == QueueRow(
        name="default",
        is_paused_for_all=True,
        paused_at=NOON,
        most=5,
        rate_count=10,
        rate_per=timedelta(minutes=1),
        rate_burst=2,
        in_order=False,
        waiting=0,
        later=0,
        running=0,
        oldest_at=None,
    )
    assert (free.name, free.paused_at, free.most, free.in_order) == ("free", None, None, False)


async def test_counting_ends_at_ten_thousand_and_one(world: World) -> None:
    for _ in range(5):
        runs = [world.new_run(priority=n % 3) for n in range(2100)]
        await live_runs.insert_new_runs(world.conn, runs)

    (row,) = await cluster_views.list_queues(world.conn, tenant_id=OURS)

    assert row.waiting == 10_001


async def worker(world: World, name: str, *, queues: tuple[int, ...] = ()) -> UUID:
    session = NewSession(
        id=world.new_id(),
        role=SessionRole.WORKER,
        name=name,
        slots=10,
        queues=queues,
        kinds=(world.kind_id,),
    )
    await sessions.open_session(world.conn, session, ttl=TTL)
    return session.id

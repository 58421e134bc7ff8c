"""What is said of a waiting run is what the claims then do, in worlds made by chance (E18, E7)."""

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest
from tests.integration.engine.observability.test_run_explanations import claim_gated, gate, worker
from tests.support.world import World

from rota.core.lanes import Lane
from rota.core.limits import GateLimits, RateLimit
from rota.core.states import RunState
from rota.engine.dispatch.guarded_claims import claim_within_limits, read_limits_in_force
from rota.engine.observability.explanations import explain_run
from rota.store import gates, interning, live_runs
from rota.store.live_runs import LaneScan, RunEnding

TENANTS = (1, 2)
MAY_START = {"about_to_start", "behind_others"}
WAITING = (
    "select r.id, r.tenant_id, array_remove(r.gates || q.gate_id || t.gate_id, null)"
    " from rota.live_runs as r join rota.queues as q on q.id = r.queue_id"
    " join rota.tenants as t on t.id = r.tenant_id where r.state in ('queued', 'retrying')"
)
LOWEST = datetime(1, 1, 2, tzinfo=UTC)


async def claim_all(world: World, session_id: UUID) -> set[UUID]:
    """Everything that a worker with room for all would take now."""
    lanes = [Lane(tenant, priority) for tenant in TENANTS for priority in range(10)]
    plain = await claim_within_limits(
        world.conn,
        session_id=session_id,
        queue_id=world.queue_id,
        kind_ids=[world.kind_id],
        walks=[LaneScan(lane, LOWEST, UUID(int=0), 1000) for lane in lanes],
        room=1000,
        limits=await read_limits_in_force(world.conn, [world.queue_id]),
    )
    gated = await claim_gated(world, session_id)
    return {run.id for run in (*plain, *gated)}


async def furnish(world: World, chance: Random) -> None:
    """Limits of queue and tenants, gates of all sorts, and runs before them."""
    if chance.random() < 0.3:
        limits = GateLimits(max_running=chance.randint(1, 12))
        await gates.limit_queue(world.conn, world.queue_id, limits)
    if chance.random() < 0.4:
        await gates.limit_tenant(world.conn, 1, GateLimits(max_running=chance.randint(1, 6)))
    if chance.random() < 0.2:
        await gates.pause_tenant(world.conn, 2)
    rate = RateLimit(count=10, per=timedelta(minutes=1), burst=2)
    keys = [
        await gate(world, "key:a", max_running=chance.randint(1, 3)),
        await gate(world, "key:b", max_running=chance.randint(1, 3)),
        await gate(world, "key:c", rate=rate),
    ]
    ordered = await gate(world, "job:1", in_order=True)
    unserved = await interning.intern_kind(world.conn, "unserved")
    for _ in range(30):
        through = chance.choice(
            [(), (), (chance.choice(keys),), (keys[0], keys[2]), (ordered,), (ordered, keys[1])]
        )
        await world.run(
            gates=through,
            tenant_id=1 if through else chance.choice(TENANTS),
            priority=chance.choice([1, 5, 9]),
            kind_id=chance.choice([world.kind_id] * 9 + [unserved]),
            due_at=world.now + timedelta(seconds=chance.choice([0] * 9 + [60])),
            scheduled_at=world.now + timedelta(seconds=chance.randint(0, 20)),
        )


async def end_some(world: World, session_id: UUID, chance: Random) -> None:
    rows = await world.conn.fetch(
        "select id, attempt from rota.live_runs where state = 'running' order by id"
    )
    endings = [
        RunEnding(row[0], row[1], RunState.SUCCEEDED) for row in rows if chance.random() < 0.6
    ]
    await live_runs.finish_runs(world.conn, session_id=session_id, endings=endings)


@pytest.mark.parametrize("seed", range(8))
async def test_only_a_run_that_was_said_to_be_free_starts(world: World, seed: int) -> None:
    chance = Random(seed)
    await world.conn.execute("insert into rota.tenants (name) values ('second')")
    await furnish(world, chance)
    session = await worker(world, slots=1000)

    for _ in range(6):
        await world.advance(seconds=1)
        await end_some(world, session, chance)
        rows = await world.conn.fetch(WAITING)
        said = {
            id_: (await explain_run(world.conn, tenant_id=tenant_id, run_id=id_)).code
            for id_, tenant_id, _ in rows
        }
        started = await claim_all(world, session)

        free = {id_ for id_, code in said.items() if code in MAY_START}
        assert started <= free, {said[id_] for id_ in started - free}
        # There was room for all: who was free and did not start lost a place to one who did.
        through = {id_: set(gates_) for id_, _, gates_ in rows}
        taken = {gate_ for id_ in started for gate_ in through[id_]}
        assert all(through[id_] & taken for id_ in free - started)

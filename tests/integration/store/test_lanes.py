"""Surveys and bounds: every waiting run is found, dead entries are not walked again (T1, F41)."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
from tests.support.world import World

from rota.core.lanes import Lane
from rota.core.states import RunState
from rota.engine.dispatch.run_claimer import LaneMemory
from rota.store import live_runs
from rota.store.live_runs import ClaimedRun, RunEnding


async def test_a_survey_finds_every_lane_that_is_not_known(world: World) -> None:
    lanes = [Lane(tenant, priority) for tenant in (1, 2, 7) for priority in (0, 5, 9)]
    for lane in lanes:
        await world.runs(2, tenant_id=lane.tenant, priority=lane.priority)

    found = await survey(world, known=[])
    rest = await survey(world, known=[Lane(1, 5), Lane(2, 0), Lane(2, 5), Lane(9, 9)])

    assert found == lanes
    assert rest == [Lane(1, 0), Lane(1, 9), Lane(2, 9), Lane(7, 0), Lane(7, 5), Lane(7, 9)]


async def test_a_survey_sees_other_queues_as_empty(world: World) -> None:
    await world.runs(3, queue_id=world.queue_id + 77)

    assert await survey(world, known=[]) == []


async def test_every_waiting_run_is_claimed_once_over_many_tenants(world: World) -> None:
    made: set[UUID] = set()
    for tenant in range(1, 60):
        made |= set(await world.runs(tenant % 7 + 1, tenant_id=tenant, priority=tenant % 3))
    claimer = Claimer(world, await world.session())

    taken = await claimer.drain(room=20)

    assert sorted(taken) == sorted(made)


async def test_a_run_that_was_committed_late_is_found_by_the_next_full_walk(world: World) -> None:
    claimer = Claimer(world, await world.session())
    await world.runs(5)
    await claimer.drain(room=20)
    late = await world.run()
    await world.conn.execute(
        "update rota.live_runs set ready_at = ready_at - interval '1 hour' where id = $1", late
    )

    await world.advance(seconds=1.9)
    before = await claimer.once(room=20)
    await world.advance(seconds=0.2)
    after = await claimer.once(room=20)

    assert [run.id for run in before] == []
    assert [run.id for run in after] == [late]


async def test_a_run_that_was_committed_a_little_late_is_found_at_once(world: World) -> None:
    claimer = Claimer(world, await world.session())
    await world.advance(seconds=1)
    await world.runs(5)
    await claimer.drain(room=20)
    late = await world.run()
    await world.conn.execute(
        "update rota.live_runs set ready_at = ready_at - interval '900 ms' where id = $1", late
    )

    taken = await claimer.once(room=20)

    assert [run.id for run in taken] == [late]


async def test_a_small_tenant_is_served_in_the_first_claim_beside_a_backlog(world: World) -> None:
    await world.runs(500, tenant_id=1)
    small = await world.run(tenant_id=2)
    claimer = Claimer(world, await world.session())

    first = await claimer.once(room=50)
    second = await claimer.once(room=50)

    assert small in {run.id for run in first}
    assert len(first) == 26
    assert len(second) >= 45, "what the small one does not need goes to the large one"


async def test_a_lone_tenant_gets_all_of_the_room(world: World) -> None:
    await world.runs(100)
    claimer = Claimer(world, await world.session())

    assert len(await claimer.once(room=64)) == 64


async def test_a_claim_under_a_held_snapshot_does_not_walk_what_was_claimed(
    world: World, database: str
) -> None:
    await world.runs(3000)
    foreign = await asyncpg.connect(database)
    await foreign.execute("begin isolation level repeatable read")
    await foreign.fetchval("select count(*) from rota.live_runs")
    claimer = Claimer(world, await world.session())
    await claimer.once(room=2900)
    # Younger than this, a bound keeps a distance from the last run claimed.
    await world.advance(seconds=1.5)

    from_bound = await claimer.buffers(room=50)
    await world.advance(seconds=5)
    from_head = await claimer.buffers(room=50)

    assert from_bound * 4 < from_head
    await foreign.close()


async def survey(world: World, *, known: list[Lane]) -> list[Lane]:
    found = await live_runs.survey_lanes(world.conn, queue_id=world.queue_id, known=known)
    return sorted(Lane(lane.tenant_id, lane.priority) for lane in found)


class Claimer:
    """A memory of lanes with a session that claims and finishes by it."""

    def __init__(self, world: World, session: UUID) -> None:
        self.world = world
        self.session = session
        self.memory = LaneMemory()

    async def once(self, *, room: int) -> list[ClaimedRun]:
        world = self.world
        found = await live_runs.survey_lanes(
            world.conn, queue_id=world.queue_id, known=self.memory.list_lanes()
        )
        self.memory.add_lanes(found, now=world.now)
        walks = self.memory.plan_walks(room=room, weights={}, now=world.now)
        runs = await live_runs.claim_runs(
            world.conn,
            session_id=self.session,
            queue_id=world.queue_id,
            kind_ids=[world.kind_id],
            scans=walks,
            room=room,
        )
        self.memory.record_claim(walks, runs, now=world.now, duration=timedelta(milliseconds=1))
        endings = [RunEnding(run.id, run.attempt, RunState.SUCCEEDED, 0) for run in runs]
        await live_runs.finish_runs(world.conn, session_id=self.session, endings=endings)
        return runs

    async def drain(self, *, room: int) -> list[UUID]:
        taken = [run.id for run in await self.once(room=room)]
        while not self.memory.is_quiet():
            taken += [run.id for run in await self.once(room=room)]
        return taken

    async def buffers(self, *, room: int) -> int:
        """How many pages the walk of a claim reads, without claiming."""
        world = self.world
        walks = self.memory.plan_walks(room=room, weights={}, now=world.now)
        values = {
            "session_id": self.session,
            "queue_id": world.queue_id,
            "kind_ids": [world.kind_id],
            "tenant_ids": [walk.lane.tenant for walk in walks],
            "priorities": [walk.lane.priority for walk in walks],
            "lows": [walk.low for walk in walks],
            "low_ids": [walk.low_id for walk in walks],
            "shares": [walk.share for walk in walks],
            "room": room,
            "ahead": timedelta(0),
        }
        text = f"explain (analyze, buffers, format json) {live_runs.CLAIM.text}"
        transaction = world.conn.transaction()
        async with transaction:
            await world.conn.execute("set local enable_seqscan = off")
            rows = await world.conn.fetch(text, *live_runs.CLAIM._bind(values))
        return walk_hits(json.loads(rows[0][0])[0]["Plan"])


def walk_hits(plan: dict[str, Any]) -> int:
    if plan.get("Index Name") == "live_runs_waiting":
        return int(plan["Shared Hit Blocks"])
    return sum(walk_hits(child) for child in plan.get("Plans", ()))

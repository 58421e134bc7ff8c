"""A submission whose shard is held by a scheduler that does not know it still runs, once."""

from datetime import datetime, timedelta
from uuid import UUID

from tests.support.standing import Standing
from tests.support.world import World

from rota.core.ids import build_id
from rota.core.outcome import Guarantee
from rota.engine.maintenance.cleanup import OVERDUE_AFTER, OverdueSubmissionMover
from rota.store import submissions
from rota.store.submissions import NewSubmissions, SubmissionModel

SECOND = timedelta(seconds=1)


async def submit_for(world: World, due_at: datetime, number: int) -> UUID:
    model = SubmissionModel(
        world.queue_id,
        world.kind_id,
        world.policy_id,
        5,
        Guarantee.AT_LEAST_ONCE,
        None,
        "ann",
        None,
    )
    id_ = build_id(due_at, number.to_bytes(10, "big"))
    new = NewSubmissions([id_.hex], [due_at], [model], names=["pay"], payloads=['{"n": 1}'])
    await submissions.insert_later(world.conn, 1, new)
    return id_


async def find_waiting(world: World) -> list[UUID]:
    return [row[0] for row in await world.conn.fetch("select id from rota.live_runs order by id")]


async def test_only_what_is_overdue_by_seconds_is_moved_from_any_shard(world: World) -> None:
    told: list[None] = []
    duty = OverdueSubmissionMover(
        source=Standing(world.conn), on_runs_created=lambda: told.append(None)
    )
    ids = [await submit_for(world, world.now + n * SECOND, n) for n in range(3)]

    await world.move_to(world.now + OVERDUE_AFTER + SECOND)
    await duty.tick()
    assert await find_waiting(world) == ids[:2]
    assert len(told) == 1

    await world.advance(seconds=1)
    await duty.tick()
    await duty.tick()
    assert await find_waiting(world) == ids
    assert await world.count("scheduled_runs") == 0
    assert len(told) == 2

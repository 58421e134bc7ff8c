"""Claim, finish, put back, cancel: one owner, one ending, whoever is late (E2, E3, E8, E11)."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import IllegalMove
from rota.core.lanes import Lane
from rota.core.states import RunState
from rota.store import live_runs
from rota.store.error_translation import translate_errors
from rota.store.live_runs import ReturnedAttempt, RunEnding

S = RunState


async def test_a_claim_takes_only_what_is_ready(world: World) -> None:
    ready = await world.run()
    await world.run(due_at=world.now + timedelta(seconds=1))
    session = await world.session()

    claimed = await world.claim(session)

    assert [run.id for run in claimed] == [ready]
    assert claimed[0].attempt == 1
    assert claimed[0].started_at == world.now


async def test_a_claim_goes_by_ready_time_and_stops_when_the_room_is_full(world: World) -> None:
    later = await world.run(due_at=world.now + timedelta(seconds=2))
    earlier = await world.run(due_at=world.now + timedelta(seconds=1))
    await world.advance(seconds=5)
    last = await world.run()
    session = await world.session()

    first = await world.claim(session, room=2)
    rest = await world.claim(session, room=2)

    assert {run.id for run in first} == {earlier, later}
    assert [run.id for run in rest] == [last]


async def test_a_claim_walks_the_lanes_in_the_order_given(world: World) -> None:
    low = await world.runs(3, tenant_id=1, priority=9)
    high = await world.runs(3, tenant_id=2, priority=1)
    session = await world.session()

    claimed = await world.claim(session, room=4, lanes=[Lane(2, 1), Lane(1, 9)])

    ids = {run.id for run in claimed}
    assert set(high) <= ids
    assert len(ids & set(low)) == 1


async def test_a_kind_that_the_worker_does_not_know_is_never_claimed(world: World) -> None:
    await world.run(kind_id=world.kind_id + 1000)
    known = await world.run()
    session = await world.session()

    claimed = await world.claim(session)

    assert [run.id for run in claimed] == [known]


async def test_two_claimers_never_get_the_same_run(world: World, database: str) -> None:
    await world.runs(400)
    one, two = await world.session(), await world.session()
    others = [await asyncpg.connect(database) for _ in range(4)]
    worlds = [await World(conn).begin() for conn in others]

    async def take(place: int) -> list[object]:
        taken: list[object] = []
        while batch := await worlds[place].claim(one if place % 2 else two, room=7):
            taken += [run.id for run in batch]
        return taken

    taken = await asyncio.gather(*(take(place) for place in range(4)))

    flat = [run for part in taken for run in part]
    assert len(flat) == len(set(flat)) == 400
    for conn in others:
        await conn.close()


async def test_a_finished_run_leaves_the_hot_table_for_history(world: World) -> None:
    session, run = await world.running(payload='{"n": 1}')
    await world.advance(seconds=3)

    moved = await live_runs.finish_runs(
        world.conn,
        session_id=session,
        endings=[RunEnding(run.id, run.attempt, S.SUCCEEDED, 0, result='{"ok": true}')],
    )

    assert moved == {run.id: S.SUCCEEDED}
    assert await world.count("live_runs") == 0
    told = await world.get(run.id)
    assert told.state is S.SUCCEEDED
    assert told.finished_at == world.now
    assert told.result == '{"ok": true}'


async def test_a_worker_whose_attempt_is_over_cannot_finish_the_run(world: World) -> None:
    session, run = await world.running()
    await put_back(world, session, run.id, run.attempt)
    await world.advance(seconds=30)
    other = await world.session()
    (second,) = await world.claim(other)

    late = [RunEnding(run.id, run.attempt, S.SUCCEEDED, 0)]
    refused = await live_runs.finish_runs(world.conn, session_id=session, endings=late)
    forged = await live_runs.finish_runs(
        world.conn, session_id=other, endings=[RunEnding(run.id, run.attempt, S.SUCCEEDED, 0)]
    )

    assert refused == forged == {}
    assert second.attempt == 2
    assert (await world.get(run.id)).state is S.RUNNING


async def test_a_batch_with_stale_members_finishes_the_others(world: World) -> None:
    session = await world.session()
    await world.runs(3)
    claimed = await world.claim(session)
    endings = [RunEnding(run.id, run.attempt, S.SUCCEEDED, 0) for run in claimed]
    endings[1] = endings[1]._replace(attempt=7)
    endings.append(RunEnding(uuid4(), 1, S.SUCCEEDED, 0))

    moved = await live_runs.finish_runs(world.conn, session_id=session, endings=endings)

    assert set(moved) == {claimed[0].id, claimed[2].id}


async def test_a_retry_waits_out_its_back_off_and_keeps_the_failed_attempt(world: World) -> None:
    session, run = await world.running()

    moved = await put_back(world, session, run.id, run.attempt, wait=timedelta(seconds=4))

    assert moved == [(run.id, S.RETRYING)]
    assert await world.claim(session) == []
    await world.advance(seconds=4)
    (again,) = await world.claim(session)
    assert (again.attempt, again.failures) == (2, 1)
    row = await world.conn.fetchrow("select attempt, outcome, reason from rota.attempts")
    assert row is not None
    assert tuple(row) == (1, "failed", '{"type": "Boom"}')


async def test_a_waiting_run_is_cancelled_at_once(world: World) -> None:
    run = await world.run()

    moved = await live_runs.cancel_runs(world.conn, ids=[run, uuid4()])

    assert moved == [(run, S.CANCELLED)]
    assert (await world.get(run)).state is S.CANCELLED
    assert await world.claim(await world.session()) == []


async def test_a_running_run_is_asked_to_stop_and_ends_as_cancelled(world: World) -> None:
    session, run = await world.running()

    asked = await live_runs.cancel_runs(world.conn, ids=[run.id])
    again = await live_runs.cancel_runs(world.conn, ids=[run.id])
    moved = await live_runs.finish_runs(
        world.conn,
        session_id=session,
        endings=[RunEnding(run.id, run.attempt, S.SUCCEEDED, 0, result='"kept"')],
    )

    assert asked == again == [(run.id, S.CANCELLING)]
    assert moved == {run.id: S.CANCELLED}
    assert (await world.get(run.id)).result == '"kept"'


async def test_a_failure_after_a_cancel_is_not_retried(world: World) -> None:
    session, run = await world.running()
    await live_runs.cancel_runs(world.conn, ids=[run.id])

    moved = await put_back(world, session, run.id, run.attempt)

    assert moved == [(run.id, S.CANCELLED)]
    assert await world.count("live_runs") == 0


async def test_a_cancel_after_the_end_changes_nothing(world: World) -> None:
    session, run = await world.running()
    ending = RunEnding(run.id, run.attempt, S.SUCCEEDED, 0)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    moved = await live_runs.cancel_runs(world.conn, ids=[run.id])

    assert moved == []
    assert (await world.get(run.id)).state is S.SUCCEEDED


async def test_the_same_id_makes_one_run_even_after_it_has_finished(world: World) -> None:
    new = world.new_run()
    first = await live_runs.insert_runs(world.conn, [new, new])
    await live_runs.cancel_runs(world.conn, ids=[new.id])

    again = await live_runs.insert_runs(world.conn, [new])

    assert first == [new.id]
    assert again == []


async def test_a_move_typed_by_hand_is_refused_with_both_states(world: World) -> None:
    run = await world.run()

    with pytest.raises(IllegalMove) as refused, translate_errors():
        await world.conn.execute("update rota.live_runs set state = 'retrying' where id = $1", run)

    assert (refused.value.state, refused.value.event) == ("queued", "become retrying")


async def put_back(
    world: World, session: object, run: object, attempt: int, *, wait: timedelta = timedelta(0)
) -> list[live_runs.RunMove]:
    back = ReturnedAttempt(
        run,  # type: ignore[arg-type]
        attempt,
        S.RETRYING,
        "failed",
        1,
        wait,
        '{"type": "Boom"}',
    )
    return await live_runs.put_back_runs(world.conn, session_id=session, attempts=[back])  # type: ignore[arg-type]

"""PostgreSQL accepts exactly the changes of state that core knows, for all pairs."""

from itertools import product
from uuid import uuid4

import asyncpg
import pytest
from tests.support.world import World

from rota.core.states import (
    FINAL_STATES,
    INITIAL_STATES,
    LIVE_STATES,
    JobState,
    RunState,
    list_job_changes,
    list_run_changes,
)

ILLEGAL = "RT001"


@pytest.mark.parametrize("old", list(JobState))
async def test_a_job_moves_as_core_says(old: JobState, world: World) -> None:
    accepted = set()

    for new in JobState:
        if old is not new and await is_accepted(world, move_job, old, new):
            accepted.add((old, new))

    assert accepted == {pair for pair in list_job_changes() if pair[0] is old}


@pytest.mark.parametrize("old", sorted(LIVE_STATES))
async def test_a_live_run_moves_as_core_says(old: RunState, world: World) -> None:
    accepted = set()

    for new in RunState:
        move = move_live_run if new in LIVE_STATES else end_run
        if old is not new and await is_accepted(world, move, old, new):
            accepted.add((old, new))

    assert accepted == {pair for pair in list_run_changes() if pair[0] is old}


async def test_a_final_run_never_moves(world: World) -> None:
    for old, new in product(sorted(FINAL_STATES), sorted(RunState)):
        if old is not new:
            assert not await is_accepted(world, move_final_run, old, new), (old, new)


async def test_a_run_is_born_as_core_says(world: World) -> None:
    live = {state for state in LIVE_STATES if await is_accepted(world, bear_live_run, None, state)}
    final = {state for state in RunState if await is_accepted(world, end_run, None, state)}

    assert live == INITIAL_STATES & LIVE_STATES
    assert final == INITIAL_STATES & FINAL_STATES


async def test_the_hot_table_never_holds_a_final_state(world: World) -> None:
    run = await world.run()
    await world.conn.execute("alter table rota.live_runs disable trigger all")

    for state in sorted(FINAL_STATES):
        with pytest.raises(asyncpg.CheckViolationError):
            await world.conn.execute(
                "update rota.live_runs set state = $2 where id = $1", run, state.value
            )


async def is_accepted(world: World, move, old, new) -> bool:
    """Whether the guard lets a move pass. Each try is undone."""
    await world.conn.execute("begin")
    try:
        await move(world, old, new)
    except asyncpg.PostgresError as error:
        assert error.sqlstate == ILLEGAL, error
        return False
    else:
        return True
    finally:
        await world.conn.execute("rollback")


async def move_job(world: World, old: JobState, new: JobState) -> None:
    job = await world.job()
    await without_guard(world, "jobs", "update rota.jobs set state = $2 where id = $1", job, old)
    await world.conn.execute("update rota.jobs set state = $2 where id = $1", job, new.value)


async def move_live_run(world: World, old: RunState, new: RunState) -> None:
    run = await world.run()
    text = (
        "update rota.live_runs set state = $2::rota.run_state, session_id ="
        " case when $2::rota.run_state in ('running', 'cancelling') then gen_random_uuid() end"
        " where id = $1"
    )
    await without_guard(world, "live_runs", text, run, old)
    await world.conn.execute(text, run, new.value)


async def bear_live_run(world: World, _: None, new: RunState) -> None:
    run = world.new_run()
    await world.conn.execute(
        "insert into rota.live_runs (id, job_id, session_id, scheduled_at, due_at, ready_at,"
        " created_at, tenant_id, queue_id, kind_id, policy_id, job_version, state, trigger,"
        " priority, guarantee) values ($1, $2,"
        " case when $3::rota.run_state in ('running', 'cancelling') then gen_random_uuid() end,"
        " now(), now(), now(), now(), 1, 1, 1, 1, 1, $3::rota.run_state, 'api', 5,"
        " 'at_least_once')",
        run.id,
        run.job_id,
        new.value,
    )


async def end_run(world: World, old: RunState | None, new: RunState) -> None:
    await world.conn.execute(
        "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
        " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,"
        " priority) values ($1, $1, now(), now(), now(), now(), 1, 1, 1, 1, 1, $2, $3, 'api', 5)",
        uuid4(),
        new.value,
        old.value if old else None,
    )


async def move_final_run(world: World, old: RunState, new: RunState) -> None:
    await world.conn.execute("alter table rota.runs disable trigger user")
    await end_run(world, None, old)
    await world.conn.execute("alter table rota.runs enable trigger user")
    await world.conn.execute("update rota.runs set state = $1", new.value)


async def without_guard(world: World, table: str, text: str, row, state) -> None:
    await world.conn.execute(f"alter table rota.{table} disable trigger user")
    await world.conn.execute(text, row, state.value)
    await world.conn.execute(f"alter table rota.{table} enable trigger user")

"""Changing a one-time submission while others take it: whoever comes first, it runs once."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.submissions import OURS, held, scheduled, waiting
from tests.support.world import World

from rota.core.errors import IllegalMove, QuotaExceeded
from rota.core.states import RunState
from rota.engine.submission.job_changes import JobChanges
from rota.engine.submission.submission_changes import RunNowRequest, edit_submission, run_submission
from rota.store import submission_views, submissions, uniqueness_keys
from rota.store.driver import Connection
from rota.store.job_views import JobRow
from rota.store.uniqueness_keys import UniqueKeyHolder, UniqueKeyRequest


@pytest.fixture
async def other(database: str, world: World) -> AsyncIterator[Connection]:
    """A second connection, at the time of the world."""
    conn = await asyncpg.connect(database)
    await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    try:
        yield conn
    finally:
        await conn.close()


async def test_a_worker_that_claims_first_keeps_what_it_was_given(
    world: World, other: Connection
) -> None:
    id_ = await waiting(world, payload='{"n": 1}')
    row = await shown(world, id_)
    session_id = await world.session()
    async with world.conn.transaction():
        (claimed,) = await world.claim(session_id)
        editing = asyncio.create_task(edit(other, row, payload={"n": 2}))
        await blocked(world, other)

    with pytest.raises(IllegalMove, match="is running; it cannot be changed"):
        await editing
    assert json.loads(claimed.payload or "") == {"n": 1}
    assert (await world.get(id_)).state is RunState.RUNNING


async def test_a_worker_that_claims_later_gets_what_it_was_changed_to(
    world: World, other: Connection
) -> None:
    id_ = await waiting(world, payload='{"n": 1}')
    row = await shown(world, id_)
    session_id = await world.session()
    async with other.transaction():
        await edit(other, row, payload={"n": 2})
        # It is locked, so a claim passes it over.
        assert await world.claim(session_id) == []

    (claimed,) = await world.claim(session_id)

    assert (claimed.id, json.loads(claimed.payload or "")) == (id_, {"n": 2})


async def test_a_submission_that_becomes_a_run_meanwhile_is_changed_as_a_run(
    world: World, other: Connection
) -> None:
    due_at = world.now + timedelta(seconds=1)
    id_ = await scheduled(world, due_at=due_at, payload='{"n": 1}')
    row = await shown(world, id_)
    ownership = await world.own()
    async with world.conn.transaction():
        ahead = timedelta(seconds=1)
        moved = await submissions.move_due(
            world.conn, ownership, range(128), per_shard=10, ahead=ahead
        )
        editing = asyncio.create_task(edit(other, row, payload={"n": 2}))
        await blocked(world, other)

    await editing

    assert moved.ids == [id_]
    assert await world.count("live_runs") == 1
    assert await world.count("scheduled_runs") == 0
    assert json.loads((await shown(world, id_)).payload or "") == {"n": 2}


async def test_two_that_run_an_ended_one_again_at_once_make_one_run(
    world: World, other: Connection
) -> None:
    id_, _ = await held(world)
    await world.conn.execute("delete from rota.live_runs")
    ended = await world.conn.fetchval(
        "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
        " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,"
        " priority, submitter) values ($1, $1, $2, $2, $2, $2, 1, $3, $4, $5, 1, 'succeeded',"
        " 'running', 'api', 5, 'ada') returning id",
        id_,
        world.now,
        world.queue_id,
        world.kind_id,
        world.policy_id,
    )
    row = await shown(world, ended)

    async def again(conn: Connection) -> str | None:
        made = await run_submission(
            conn, row, RunNowRequest(by="ada"), tenant_id=OURS, now=world.now, new_id=world.new_id
        )
        return made.refused

    answers = await asyncio.gather(again(world.conn), again(other))

    assert sorted(answers, key=str) == [None, "overlap"]
    assert await world.count("live_runs") == 1


async def test_quotas_hold_for_what_is_made_due(world: World) -> None:
    id_ = await scheduled(world)
    row = await shown(world, id_)
    await world.run()
    await world.conn.execute("update rota.tenants set quotas = '{\"max_queued\": 1}'")

    with pytest.raises(QuotaExceeded, match="max_queued"):
        await run_submission(
            world.conn,
            row,
            RunNowRequest(by="ada"),
            tenant_id=OURS,
            now=world.now,
            new_id=world.new_id,
        )
    assert await shown(world, id_) == row


async def test_a_submission_that_is_put_off_keeps_its_unique_key(world: World) -> None:
    id_ = await waiting(world)
    await uniqueness_keys.take_key(
        world.conn, UniqueKeyRequest(OURS, b"x" * 16, id_, id_, timedelta(0))
    )
    later = (world.now + timedelta(days=1)).isoformat()
    await edit(world.conn, await shown(world, id_), schedule={"at": later})

    await world.advance(hours=1)

    assert await uniqueness_keys.prune_keys(world.conn, limit=10) == 0
    holder = UniqueKeyHolder(id_, id_, is_held=False)
    assert (await uniqueness_keys.read_standing(world.conn, holder, tenant_id=OURS)).waits


async def shown(world: World, id_: UUID) -> JobRow:
    row = await submission_views.get_submission(world.conn, tenant_id=OURS, job_id=id_)
    assert row is not None
    return row


async def edit(conn: Connection, row: JobRow, **changes: Any) -> None:
    await edit_submission(
        conn, row, JobChanges(**changes), tenant_id=OURS, now=row.created_at + timedelta(seconds=1)
    )


async def blocked(world: World, other: Any) -> None:
    """Wait until the other connection waits for a lock of ours."""

    async def is_waiting() -> bool:
        pids = await world.conn.fetchval("select pg_blocking_pids($1)", other.get_server_pid())
        return bool(pids)

    await until(is_waiting)

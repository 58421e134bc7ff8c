"""Runs in any state, and what ends them, for tests of lists."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from rota.core.ids import build_id
from rota.core.states import RunState
from rota.store import live_runs, sessions
from rota.store.live_runs import ClaimedRun, ReturnedAttempt, RunEnding
from rota.store.sessions import NewSession, SessionRole
from tests.support.world import TTL, World


async def make(world: World, state: str | None, **given: Any) -> UUID:
    """A run that waits, is executed by somebody, or ended in a state at this moment."""
    reason = given.pop("reason", None)
    run_id = await world.run(**given)
    if state == "running":
        await world.conn.execute(
            "update rota.live_runs set state = 'running', attempt = 1, started_at = $2,"
            " session_id = $3 where id = $1",
            run_id,
            world.now,
            world.new_id(),
        )
    elif state is not None:
        await world.conn.execute(
            """
            with gone as (delete from rota.live_runs where id = $1 returning *)
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
                kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt,
                payload, reason
            )
            select id, job_id, scheduled_at, due_at, created_at, $2, tenant_id, queue_id, kind_id,
                policy_id, job_version, $3::rota.run_state, 'running', trigger, priority, 1,
                payload, $4::jsonb
            from gone
            """,
            run_id,
            world.now,
            state,
            reason,
        )
    return run_id


async def fill_history(world: World, number: int, *, job_id: UUID | None = None) -> None:
    """Runs that succeeded, one a millisecond up to now."""
    ids = [
        build_id(world.now - timedelta(milliseconds=number - n), bytes(10)) for n in range(number)
    ]
    await world.conn.execute(
        """
        insert into rota.runs (
            id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, left_state, trigger, priority, attempt
        )
        select id, $2, $3, $3, $3, $3, 1, 1, 1, 1, 1, 'succeeded', 'running', 'api', 5, 1
        from unnest($1::uuid[]) as id
        """,
        ids,
        job_id or world.new_id(),
        world.now,
    )


async def worker(world: World, name: str) -> UUID:
    session = NewSession(id=world.new_id(), role=SessionRole.WORKER, name=name, slots=10)
    await sessions.open_session(world.conn, session, ttl=TTL)
    return session.id


async def finish(
    world: World,
    session: UUID,
    run_id: UUID,
    *,
    attempt: int = 1,
    state: RunState = RunState.SUCCEEDED,
) -> None:
    ended = await live_runs.finish_runs(
        world.conn, session_id=session, endings=[RunEnding(run_id, attempt, state)]
    )
    assert ended == {run_id: state}


async def put_back(world: World, session: UUID, run_id: UUID, *, attempt: int) -> None:
    back = ReturnedAttempt(run_id, attempt, RunState.RETRYING, "failed", 1, timedelta(0))
    assert await live_runs.put_back_runs(world.conn, session_id=session, attempts=[back])


async def end_next(world: World, state: RunState, *, reason: str | None = None) -> ClaimedRun:
    """Claim the run that waits and end it; return it as the worker got it."""
    session = await world.session()
    (run,) = await world.claim(session)
    ending = RunEnding(run.id, run.attempt, state, reason=reason)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    return run

"""One-time submissions as rows: waiting for their time, for a worker, in a worker's hand, ended."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rota.core.ids import build_id
from rota.core.outcome import Guarantee
from rota.core.states import RunState
from rota.store import live_runs, submission_changes
from rota.store.live_runs import RunEnding
from rota.store.submission_changes import StoredSubmission
from tests.support.world import World

OURS = 1


def new_submission(
    world: World, *, due_at: datetime | None = None, **given: Any
) -> StoredSubmission:
    """A submission of the moment, or of the time that it is due."""
    due = due_at or world.now
    id_ = build_id(due, world.new_id().bytes[6:])
    row = StoredSubmission(
        id=id_,
        job_id=id_,
        due_at=due,
        created_at=world.now,
        queue_id=world.queue_id,
        kind_id=world.kind_id,
        policy_id=world.policy_id,
        priority=5,
        guarantee=Guarantee.AT_LEAST_ONCE,
        deadline=None,
        gates=None,
        payload=None,
        name=None,
        labels=None,
        user_id=None,
        submitter="ada",
        address="192.0.2.1",
        is_live=False,
        policy="{}",
        kind="noop",
        queue="default",
        tenant="default",
        quotas=None,
    )
    return row._replace(**given)


async def scheduled(world: World, *, tenant_id: int = OURS, **given: Any) -> UUID:
    """A submission that waits for its time, by default in an hour."""
    given.setdefault("due_at", world.now + timedelta(hours=1))
    row = new_submission(world, **given)
    await submission_changes.put_scheduled(world.conn, row, tenant_id=tenant_id)
    return row.job_id


async def waiting(world: World, *, tenant_id: int = OURS, **given: Any) -> UUID:
    """A submission that waits for a worker."""
    row = new_submission(world, **given)
    await submission_changes.put_live(world.conn, row, tenant_id=tenant_id)
    return row.job_id


async def held(world: World, **given: Any) -> tuple[UUID, UUID]:
    """A submission that a worker executes; its id and the session."""
    id_ = await waiting(world, **given)
    session_id = await world.session()
    await world.claim(session_id)
    return id_, session_id


async def ended(world: World, *, state: RunState = RunState.SUCCEEDED, **given: Any) -> UUID:
    """A submission in history."""
    id_, session_id = await held(world, **given)
    await live_runs.finish_runs(
        world.conn, session_id=session_id, endings=[RunEnding(id=id_, attempt=1, state=state)]
    )
    return id_

"""Everything Rota asks of one-time submissions that somebody changes. Room: store.

A change takes the submission out of where it waits and writes it anew, in one transaction of the
caller's: a worker that claims it, or the scheduler that makes its run, comes first or waits. Making
submissions is the write path's; showing them is submission_views.py.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.core.shard import shard_of
from rota.store import turns
from rota.store.driver import Connection
from rota.store.statement import statement


class StoredSubmission(NamedTuple):
    """A submission with all that its run needs; JSON as text. `is_live`: its run was made."""

    id: UUID
    job_id: UUID
    due_at: datetime
    created_at: datetime
    queue_id: int
    kind_id: int
    policy_id: int
    priority: int
    guarantee: Guarantee
    deadline: timedelta | None
    gates: list[int] | None
    payload: str | None
    name: str | None
    labels: str | None
    user_id: str | None
    submitter: str | None
    address: str | None
    is_live: bool
    policy: str
    kind: str
    queue: str
    tenant: str | None
    quotas: str | None


class WrittenRun(NamedTuple):
    id: UUID


# What is not a column of the run itself.
_AROUND = ("is_live", "policy", "kind", "queue", "tenant", "quotas")

TAKE = statement("submission_changes/take", StoredSubmission)
READ = statement("submission_changes/read", StoredSubmission)
PUT_SCHEDULED = statement("submission_changes/put_scheduled", WrittenRun)
PUT_LIVE = statement("submission_changes/put_live", WrittenRun)
CANCEL_SCHEDULED = statement("submission_changes/cancel_scheduled", WrittenRun)


async def take(conn: Connection, run_id: UUID, *, tenant_id: int) -> StoredSubmission | None:
    """Take out a submission that has not started; None if it has, or if there is none.

    A submission that becomes a run at this moment is met at the second look.
    """
    for _ in range(2):
        taken = await TAKE.one(conn, id=run_id, tenant_id=tenant_id)
        if taken is not None:
            return taken
    return None


async def lock(conn: Connection, run_id: UUID, *, tenant_id: int) -> StoredSubmission | None:
    """A submission whose run was made, alive or ended. Two that run it again take turns."""
    await turns.take_turn(conn, tenant_id=tenant_id, things=f"submission {run_id}")
    return await READ.one(conn, id=run_id, tenant_id=tenant_id)


async def put_scheduled(conn: Connection, row: StoredSubmission, *, tenant_id: int) -> None:
    """Write a submission that waits for its time."""
    await PUT_SCHEDULED.one(conn, tenant_id=tenant_id, shard=shard_of(row.job_id), **_columns(row))


async def put_live(
    conn: Connection, row: StoredSubmission, *, tenant_id: int, trigger: str = "api"
) -> None:
    """Write a submission whose time has come."""
    await PUT_LIVE.one(conn, tenant_id=tenant_id, trigger=trigger, **_columns(row))


async def cancel_scheduled(conn: Connection, run_id: UUID, *, tenant_id: int, reason: str) -> bool:
    """Cancel a submission that waits for its time; False if its run was made, or there is none."""
    row = await CANCEL_SCHEDULED.one(conn, id=run_id, tenant_id=tenant_id, reason=reason)
    return row is not None


def _columns(row: StoredSubmission) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in _AROUND}

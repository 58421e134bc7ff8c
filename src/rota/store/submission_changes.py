"""Changes one-time submissions.

A change removes the submission from where it waits and writes it again, in one transaction of the
caller: a worker that claims it, or the scheduler that creates its run, comes first or waits.
submissions.py inserts submissions; submission_views.py reads them.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.lease import compute_shard
from rota.core.outcome import Guarantee
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.statement import statement


class StoredSubmission(NamedTuple):
    """A submission with everything its run needs; JSON as text. `is_live`: it has become a run."""

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


# Fields that are not columns of the run itself.
_FIELDS_OF_OTHER_TABLES = ("is_live", "policy", "kind", "queue", "tenant", "quotas")

TAKE = statement("submission_changes/take", StoredSubmission)
READ = statement("submission_changes/read", StoredSubmission)
PUT_SCHEDULED = statement("submission_changes/put_scheduled", WrittenRun)
PUT_LIVE = statement("submission_changes/put_live", WrittenRun)
CANCEL_SCHEDULED = statement("submission_changes/cancel_scheduled", WrittenRun)


async def take_submission(
    conn: Connection, run_id: UUID, *, tenant_id: int
) -> StoredSubmission | None:
    """Remove a submission that has not started; None if it has started or does not exist.

    The second pass finds a submission that becomes a run at this moment.
    """
    for _ in range(2):
        taken = await TAKE.one(conn, id=run_id, tenant_id=tenant_id)
        if taken is not None:
            return taken
    return None


async def lock_submission(
    conn: Connection, run_id: UUID, *, tenant_id: int
) -> StoredSubmission | None:
    """Lock a submission that has become a run, unfinished or ended, so that one rerun starts."""
    await tenant_locks.lock_resource(conn, tenant_id=tenant_id, resource=f"submission {run_id}")
    return await READ.one(conn, id=run_id, tenant_id=tenant_id)


async def put_scheduled(conn: Connection, row: StoredSubmission, *, tenant_id: int) -> None:
    """Insert a submission that waits for its due time."""
    await PUT_SCHEDULED.one(
        conn, tenant_id=tenant_id, shard=compute_shard(row.job_id), **_columns(row)
    )


async def put_live(
    conn: Connection, row: StoredSubmission, *, tenant_id: int, trigger: str = "api"
) -> None:
    """Insert a submission that is due."""
    await PUT_LIVE.one(conn, tenant_id=tenant_id, trigger=trigger, **_columns(row))


async def cancel_scheduled(conn: Connection, run_id: UUID, *, tenant_id: int, reason: str) -> bool:
    """Cancel a submission that is not due yet; False if it has become a run or does not exist."""
    row = await CANCEL_SCHEDULED.one(conn, id=run_id, tenant_id=tenant_id, reason=reason)
    return row is not None


def _columns(row: StoredSubmission) -> dict[str, Any]:
    return {
        name: value for name, value in row._asdict().items() if name not in _FIELDS_OF_OTHER_TABLES
    }

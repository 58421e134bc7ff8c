"""Explains why a one-time submission has not started yet.

Before its time it waits for a scheduler to create its run. From then on it is a run like any other,
and explanations.py explains it.
"""

from uuid import UUID

from rota.core.errors import NotFound
from rota.engine.observability.explanations import Explanation, explain_run
from rota.engine.observability.run_endings import format_time
from rota.store import wait_explanations
from rota.store.driver import Connection
from rota.store.wait_explanations import ScheduledSubject


async def explain_submission(conn: Connection, *, tenant_id: int, run_id: UUID) -> Explanation:
    """Explain the state of a submission. Raises `NotFound` if the tenant has none with this run."""
    found = await wait_explanations.read_scheduled(conn, tenant_id=tenant_id, run_id=run_id)
    if found is not None:
        return _explain_scheduled(found)
    try:
        return await explain_run(conn, tenant_id=tenant_id, run_id=run_id)
    except NotFound:
        raise NotFound("job", run_id) from None


def _explain_scheduled(found: ScheduledSubject) -> Explanation:
    due = (
        f"The run {'was' if found.due_at <= found.now else 'is'} due at {format_time(found.due_at)}"
    )
    details = {"at": found.due_at, "scheduler": found.scheduler, "shard": found.shard}
    if not found.schedulers:
        sentence = f"{due}, but no scheduler is running."
        return Explanation(code="no_scheduler", sentence=sentence, details=details)
    if found.scheduler is None:
        sentence = f"{due}, but no scheduler holds shard {found.shard} at the moment."
        return Explanation(code="shard_without_owner", sentence=sentence, details=details)
    return Explanation(code="not_due", sentence=f"{due}.", details=details)

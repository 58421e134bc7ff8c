"""Creates the runs of event batches whose window has closed.

A duty of every node. One pass handles a bounded number of batches and skips those that another node
has locked. A batch is deleted and its run created in one transaction, and the id of the run is
fixed by the first event: if a node dies halfway, the next one creates the same run.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rota.core.errors import NewerDocument
from rota.core.time.trigger import AllOf
from rota.engine.events.event_decisions import BatchCloser, MatchContext
from rota.engine.events.run_factory import EventRunTemplate, insert_event_runs
from rota.store import events, jobs
from rota.store.driver import Connection, ConnectionSource
from rota.store.events import DueBatch, to_batch
from rota.store.jobs import StoredJob
from rota.store.pool import read_database_time
from rota.store.transaction import transaction

CLOSE_BATCH_MAX: Final = 100
CLOSE_INTERVAL_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCloser:
    """Closes event windows as a background duty. Calls `on_runs_created` for new runs."""

    source: ConnectionSource
    on_runs_created: Callable[[], object]

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            closed = await close_due_windows(conn, limit=CLOSE_BATCH_MAX)
        if closed:
            self.on_runs_created()
        return 0.0 if closed >= CLOSE_BATCH_MAX else CLOSE_INTERVAL_S


async def close_due_windows(conn: Connection, *, limit: int = CLOSE_BATCH_MAX) -> int:
    """Close at most `limit` due event batches and create their runs; return how many were due."""
    async with transaction(conn):
        now = await read_database_time(conn)
        due = await events.lock_due_batches(conn, limit=limit)
        if not due:
            return 0
        found = await jobs.read_jobs(conn, [batch.job_id for batch in due])
        templates = _read_templates(found)
        # Batches of jobs that only newer code can read are left to a node that can.
        due = [batch for batch in due if batch.job_id in templates or batch.job_id not in found]
        for tenant_id in sorted({batch.tenant_id for batch in due}):
            mine = [batch for batch in due if batch.tenant_id == tenant_id]
            await _close_batches(conn, mine, templates, MatchContext(tenant_id=tenant_id, at=now))
        await events.write_batches(conn, {(batch.job_id, batch.key): None for batch in due})
    return len(due)


def _read_templates(found: Mapping[UUID, StoredJob]) -> dict[UUID, EventRunTemplate | None]:
    templates: dict[UUID, EventRunTemplate | None] = {}
    for job_id, job in found.items():
        with suppress(NewerDocument):
            templates[job_id] = EventRunTemplate.from_job(job)
    return templates


async def _close_batches(
    conn: Connection,
    due: list[DueBatch],
    templates: dict[UUID, EventRunTemplate | None],
    why: MatchContext,
) -> None:
    closing = BatchCloser(conn, why)
    discarded = []
    for row in due:
        template = templates.get(row.job_id)
        if template is None:
            # The job was deleted, or its trigger has changed: the events are discarded.
            discarded.append(row.run_id)
        elif isinstance(template.waiting.trigger.grouping, AllOf):
            closing.give_up_batch(template, to_batch(row), row.key)
        else:
            closing.close_batch(template, to_batch(row), row.key)
    casts = await closing.collect_runs()
    if casts:
        await insert_event_runs(conn, casts, now=why.at, trigger=why.trigger)
    if discarded:
        await events.take_members(conn, discarded)

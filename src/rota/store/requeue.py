"""Finds, counts, drops and copies runs of a tenant, one by one or by filter, for requeueing.

Also stores the links between a run and its copies. live_runs.py makes the changes of state (cancel,
requeue). Every statement names the tenant, so that runs of other tenants are simply not found.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import NotFound
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement


class OwnedRun(NamedTuple):
    """A run of the calling tenant, with the settings it ran with; JSON as text.

    Without a payload, its definition is no longer known. A run without a job, deleted or not, is a
    submission.
    """

    id: UUID
    job_id: UUID
    job_version: int
    state: RunState
    scheduled_at: datetime
    priority: int
    queue_id: int
    kind_id: int
    policy_id: int
    policy: str | None
    gates: list[int] | None
    has_job: bool
    payload: str | None


class MatchingRuns(NamedTuple):
    """The number of matching runs, counted up to a bound, and the ids of the oldest."""

    found: int
    ids: list[UUID]


class ChangedRun(NamedTuple):
    id: UUID


class RunCopy(NamedTuple):
    """A finished run and the new run to copy from it; `gates=None` keeps the old run's gates."""

    run_id: UUID
    new_id: UUID
    payload: str
    gates: tuple[int, ...] | None


class RunOrigin(NamedTuple):
    id: UUID
    reason: str


FIND = statement("requeue/find", OwnedRun)
FIND_DEAD = statement("requeue/find_dead", MatchingRuns)
FIND_ALIVE = statement("requeue/find_alive", MatchingRuns)
DROP = statement("requeue/drop", ChangedRun)
RECORD_ACTOR = statement("requeue/record_actor", ChangedRun)
SPREAD = statement("requeue/spread", ChangedRun)
DESCRIBE = statement("requeue/copy_description", ChangedRun)
COPY = statement("requeue/copy", ChangedRun)
LINK = statement("requeue/link", ChangedRun)
ORIGIN = statement("requeue/read_origin", RunOrigin)
FORGET = statement("requeue/delete_links", ChangedRun)


async def find_run(conn: Connection, id_: UUID, *, tenant_id: int) -> OwnedRun:
    """Return one run of the tenant, unfinished or in history."""
    found = await FIND.one(conn, id=id_, tenant_id=tenant_id)
    if found is None:
        raise NotFound("run", str(id_))
    return found


async def find_dead(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int, limit: int, batch: int
) -> MatchingRuns:
    """Count matching dead letters, up to `most`, and return the ids of the `batch` oldest."""
    failed = {"error": run_filter.error, "fingerprint": run_filter.fingerprint}
    async with ordered_scan(conn):
        found = await FIND_DEAD.one(
            conn, **_where(run_filter), **failed, tenant_id=tenant_id, most=limit, batch=batch
        )
    return found or MatchingRuns(0, [])


async def find_alive(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int, limit: int, batch: int
) -> MatchingRuns:
    """Count unfinished runs that were not asked to cancel, in the same way."""
    found = await FIND_ALIVE.one(
        conn, **_where(run_filter), tenant_id=tenant_id, most=limit, batch=batch
    )
    return found or MatchingRuns(0, [])


async def drop_dead_letters(
    conn: Connection, ids: Sequence[UUID], *, tenant_id: int, by: str
) -> list[UUID]:
    """Remove dead letters from the list; history keeps them."""
    return [row.id for row in await DROP.all(conn, ids=ids, tenant_id=tenant_id, by=by)]


async def record_actor(conn: Connection, ids: Sequence[UUID], *, by: str) -> None:
    """Record who requeued these runs, next to their last error."""
    await RECORD_ACTOR.all(conn, ids=ids, by=by)


async def spread_starts(
    conn: Connection, ids: Sequence[UUID], *, spacing: timedelta, before: int = 0
) -> None:
    """Space out the starts of requeued runs, counting `before` runs ahead of them."""
    await SPREAD.all(conn, ids=ids, spacing=spacing, before=before)


async def copy_description(
    conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str
) -> None:
    """Give a run that was copied from a submission its name, labels and user."""
    await DESCRIBE.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def copy_runs(
    conn: Connection, copies: Sequence[RunCopy], *, tenant_id: int, by: str
) -> list[UUID]:
    """Insert copies of finished runs with other payloads; return their ids in order."""
    rows = await COPY.all(
        conn,
        ids=[run.run_id for run in copies],
        new_ids=[run.new_id for run in copies],
        payloads=[run.payload for run in copies],
        gates=[_array_text(run.gates) for run in copies],
        tenant_id=tenant_id,
        by=by,
    )
    inserted = {row.id for row in rows}
    return [run.new_id for run in copies if run.new_id in inserted]


async def link_runs(
    conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str
) -> None:
    await LINK.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def read_origin(conn: Connection, run_id: UUID, *, tenant_id: int) -> str | None:
    """Return {"replay_of": id, "by": …} of a run that was copied from another, as JSON."""
    found = await ORIGIN.one(conn, run_id=run_id, tenant_id=tenant_id)
    return None if found is None else found.reason


async def delete_links(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `most` links older than `keep`; return how many."""
    return len(await FORGET.all(conn, keep=keep, most=limit))


def _where(which: BulkRunFilter) -> dict[str, object]:
    return {
        "job_id": which.job_id,
        "kind": which.kind,
        "queue": which.queue,
        "since": which.since,
        "until": which.until,
    }


def _array_text(gates: Sequence[int] | None) -> str | None:
    """Encode as text: a PostgreSQL array of arrays must be rectangular."""
    return None if gates is None else f"{{{','.join(map(str, gates))}}}"

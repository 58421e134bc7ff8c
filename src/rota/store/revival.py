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
from rota.store.statement import statement
from rota.store.walking import walking


class Owned(NamedTuple):
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


class Known(NamedTuple):
    id: UUID
    state: RunState


class Matching(NamedTuple):
    """The number of matching runs, counted up to a bound, and the ids of the oldest."""

    found: int
    ids: list[UUID]


class Touched(NamedTuple):
    id: UUID


class RunCopy(NamedTuple):
    """A finished run and the new run to copy from it; `gates=None` keeps the old run's gates."""

    run_id: UUID
    new_id: UUID
    payload: str
    gates: tuple[int, ...] | None


class Origin(NamedTuple):
    id: UUID
    reason: str


FIND = statement("revival/find", Owned)
TICKS = statement("revival/ticks", Known)
DEAD = statement("revival/dead", Matching)
ALIVE = statement("revival/alive", Matching)
DROP = statement("revival/drop", Touched)
SIGN = statement("revival/sign", Touched)
SPREAD = statement("revival/spread", Touched)
DESCRIBE = statement("revival/describe", Touched)
COPY = statement("revival/copy", Touched)
LINK = statement("revival/link", Touched)
ORIGIN = statement("revival/origin", Origin)
FORGET = statement("revival/forget", Touched)


async def find(conn: Connection, id_: UUID, *, tenant_id: int) -> Owned:
    """Return one run of the tenant, unfinished or in history."""
    found = await FIND.one(conn, id=id_, tenant_id=tenant_id)
    if found is None:
        raise NotFound("run", str(id_))
    return found


async def states(conn: Connection, ids: Sequence[UUID], *, tenant_id: int) -> dict[UUID, RunState]:
    """Return the states of these runs, as far as they exist."""
    return dict(await TICKS.all(conn, ids=ids, tenant_id=tenant_id))


async def find_dead(
    conn: Connection, which: BulkRunFilter, *, tenant_id: int, most: int, batch: int
) -> Matching:
    """Count matching dead letters, up to `most`, and return the ids of the `batch` oldest."""
    failed = {"error": which.error, "fingerprint": which.fingerprint}
    async with walking(conn):
        found = await DEAD.one(
            conn, **_where(which), **failed, tenant_id=tenant_id, most=most, batch=batch
        )
    return found or Matching(0, [])


async def find_alive(
    conn: Connection, which: BulkRunFilter, *, tenant_id: int, most: int, batch: int
) -> Matching:
    """Count unfinished runs that were not asked to cancel, in the same way."""
    found = await ALIVE.one(conn, **_where(which), tenant_id=tenant_id, most=most, batch=batch)
    return found or Matching(0, [])


async def drop(conn: Connection, ids: Sequence[UUID], *, tenant_id: int, by: str) -> list[UUID]:
    """Remove dead letters from the list; history keeps them."""
    return [row.id for row in await DROP.all(conn, ids=ids, tenant_id=tenant_id, by=by)]


async def sign(conn: Connection, ids: Sequence[UUID], *, by: str) -> None:
    """Record who requeued these runs, next to their last error."""
    await SIGN.all(conn, ids=ids, by=by)


async def spread(
    conn: Connection, ids: Sequence[UUID], *, spacing: timedelta, before: int = 0
) -> None:
    """Space out the starts of requeued runs, counting `before` runs ahead of them."""
    await SPREAD.all(conn, ids=ids, spacing=spacing, before=before)


async def describe(
    conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str
) -> None:
    """Give a run that was copied from a submission its name, labels and user."""
    await DESCRIBE.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def copy(
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


async def link(conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str) -> None:
    await LINK.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def origin(conn: Connection, run_id: UUID, *, tenant_id: int) -> str | None:
    """Return {"replay_of": id, "by": …} of a run that was copied from another, as JSON."""
    found = await ORIGIN.one(conn, run_id=run_id, tenant_id=tenant_id)
    return None if found is None else found.reason


async def forget(conn: Connection, *, keep: timedelta, most: int) -> int:
    """Delete at most `most` links older than `keep`; return how many."""
    return len(await FORGET.all(conn, keep=keep, most=most))


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

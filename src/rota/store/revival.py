"""What people ask of runs beyond their life: by tenant, one or many of a filter. Room: store.

Finding, counting, dropping, and the links between a run and the one it was made from. The moves
themselves (cancel, replay) are live_runs.py; every question here names the tenant, so that what
belongs to another is simply not found.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.bulk import RunFilter
from rota.core.errors import NotFound
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.walking import walking


class Owned(NamedTuple):
    """A run of the tenant that asks, with what it ran with; JSON as text.

    Without a payload it used a definition that is not known any more. One that has no job, deleted
    or not, is a submission.
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
    """How many runs match, counted up to a bound, and the ids of the oldest of them."""

    found: int
    ids: list[UUID]


class Touched(NamedTuple):
    id: UUID


class RunCopy(NamedTuple):
    """A finished run and the new one to make from it; without gates it has those of the old one."""

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
    """One run of the tenant, wherever it is."""
    found = await FIND.one(conn, id=id_, tenant_id=tenant_id)
    if found is None:
        raise NotFound("run", str(id_))
    return found


async def states(conn: Connection, ids: Sequence[UUID], *, tenant_id: int) -> dict[UUID, RunState]:
    """The states of those of these runs that exist."""
    return dict(await TICKS.all(conn, ids=ids, tenant_id=tenant_id))


async def find_dead(
    conn: Connection, which: RunFilter, *, tenant_id: int, most: int, batch: int
) -> Matching:
    """Count dead letters that match, up to `most`, and return the ids of the `batch` oldest."""
    failed = {"error": which.error, "fingerprint": which.fingerprint}
    async with walking(conn):
        found = await DEAD.one(
            conn, **_where(which), **failed, tenant_id=tenant_id, most=most, batch=batch
        )
    return found or Matching(0, [])


async def find_alive(
    conn: Connection, which: RunFilter, *, tenant_id: int, most: int, batch: int
) -> Matching:
    """The same for unfinished runs that were not asked to cancel."""
    found = await ALIVE.one(conn, **_where(which), tenant_id=tenant_id, most=most, batch=batch)
    return found or Matching(0, [])


async def drop(conn: Connection, ids: Sequence[UUID], *, tenant_id: int, by: str) -> list[UUID]:
    """Take dead letters off the list; history keeps them."""
    return [row.id for row in await DROP.all(conn, ids=ids, tenant_id=tenant_id, by=by)]


async def sign(conn: Connection, ids: Sequence[UUID], *, by: str) -> None:
    """Say who brought these runs back, beside what they had come to."""
    await SIGN.all(conn, ids=ids, by=by)


async def spread(
    conn: Connection, ids: Sequence[UUID], *, spacing: timedelta, before: int = 0
) -> None:
    """Let runs that were just brought back begin one after the other, after `before` others."""
    await SPREAD.all(conn, ids=ids, spacing=spacing, before=before)


async def describe(
    conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str
) -> None:
    """Give a run that was made from a submission its name, labels and user."""
    await DESCRIBE.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def copy(
    conn: Connection, copies: Sequence[RunCopy], *, tenant_id: int, by: str
) -> list[UUID]:
    """Make new runs from finished ones, with other payloads; return their ids in order."""
    rows = await COPY.all(
        conn,
        ids=[each.run_id for each in copies],
        new_ids=[each.new_id for each in copies],
        payloads=[each.payload for each in copies],
        gates=[_array_text(each.gates) for each in copies],
        tenant_id=tenant_id,
        by=by,
    )
    made = {row.id for row in rows}
    return [each.new_id for each in copies if each.new_id in made]


async def link(conn: Connection, run_id: UUID, *, replay_of: UUID, tenant_id: int, by: str) -> None:
    await LINK.one(conn, run_id=run_id, replay_of=replay_of, tenant_id=tenant_id, by=by)


async def origin(conn: Connection, run_id: UUID, *, tenant_id: int) -> str | None:
    """{"replay_of": id, "by": …} of a run that was made from another, as JSON."""
    found = await ORIGIN.one(conn, run_id=run_id, tenant_id=tenant_id)
    return None if found is None else found.reason


async def forget(conn: Connection, *, keep: timedelta, most: int) -> int:
    """Forget links older than `keep`, at most so many; return how many they were."""
    return len(await FORGET.all(conn, keep=keep, most=most))


def _where(which: RunFilter) -> dict[str, object]:
    return {
        "job_id": which.job_id,
        "kind": which.kind,
        "queue": which.queue,
        "since": which.since,
        "until": which.until,
    }


def _array_text(gates: Sequence[int] | None) -> str | None:
    """As text: an array of arrays would have to be a rectangle."""
    return None if gates is None else f"{{{','.join(map(str, gates))}}}"

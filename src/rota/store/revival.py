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


class Owned(NamedTuple):
    """A run of the tenant that asks. Without a payload of its own it has its job's."""

    id: UUID
    job_id: UUID
    state: RunState
    scheduled_at: datetime
    priority: int
    payload: str | None


class Known(NamedTuple):
    id: UUID
    state: RunState


class Count(NamedTuple):
    found: int


class Touched(NamedTuple):
    id: UUID


class Origin(NamedTuple):
    id: UUID
    reason: str


FIND = statement("revival/find", Owned)
TICKS = statement("revival/ticks", Known)
COUNT_DEAD = statement("revival/count_dead", Count)
DEAD = statement("revival/dead", Touched)
COUNT_ALIVE = statement("revival/count_alive", Count)
ALIVE = statement("revival/alive", Touched)
DROP = statement("revival/drop", Touched)
SIGN = statement("revival/sign", Touched)
SPREAD = statement("revival/spread", Touched)
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


async def count_dead(
    conn: Connection, which: RunFilter, *, tenant_id: int, most: int, of_deleted: bool = True
) -> int:
    """How many dead letters match, counted up to `most`; perhaps without those of deleted jobs."""
    more = {"error": which.error, "of_deleted": of_deleted}
    row = await COUNT_DEAD.one(conn, **_where(which), **_of(tenant_id, most), **more)
    return 0 if row is None else row.found


async def dead(
    conn: Connection, which: RunFilter, *, tenant_id: int, most: int, of_deleted: bool = True
) -> list[UUID]:
    """The oldest dead letters that match; perhaps without those of deleted jobs."""
    more = {"error": which.error, "of_deleted": of_deleted}
    rows = await DEAD.all(conn, **_where(which), **_of(tenant_id, most), **more)
    return [row.id for row in rows]


async def count_alive(conn: Connection, which: RunFilter, *, tenant_id: int, most: int) -> int:
    """How many unfinished runs match that were not asked to cancel, counted up to `most`."""
    row = await COUNT_ALIVE.one(conn, **_where(which), **_of(tenant_id, most))
    return 0 if row is None else row.found


async def alive(conn: Connection, which: RunFilter, *, tenant_id: int, most: int) -> list[UUID]:
    """The oldest unfinished runs that match and were not asked to cancel."""
    return [row.id for row in await ALIVE.all(conn, **_where(which), **_of(tenant_id, most))]


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


def _of(tenant_id: int, most: int) -> dict[str, object]:
    return {"tenant_id": tenant_id, "most": most}

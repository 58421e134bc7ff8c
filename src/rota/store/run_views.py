"""The runs of a tenant as the API shows them: one, a page, their attempts and logs. Room: store.

Reads only. A page is made in two steps: a walk finds the ids, newest first, along an index that is
in their order; then the rows are read by id. A walk looks at a bounded
number of runs of history, so a page may be short, or even empty, and still have a place to go on
from: only `after is None` means that this was all (P6). What a run does next is not decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput
from rota.core.ids import EPOCH, stamped
from rota.core.states import BAD, FINAL, HELD, LIVE, RunState
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.logs import BEGINNING, Line
from rota.store.statement import Statement, statement
from rota.store.walking import LOOK, walking

FIRST_ID: Final = UUID(int=0)
LAST_ID: Final = UUID(int=(1 << 128) - 1)
# Most of what is asked for is younger; what is not is looked for again in all of history.
RECENT: Final = timedelta(days=2)
# Nodes read their own clocks; a session's runs have ids that are at most so much younger than it.
CLOCKS_APART: Final = timedelta(hours=1)
LONGEST_TEXT: Final = 200
LARGEST_PAGE: Final = 1000
TRIGGERS: Final = ("tick", "manual", "api", "event", "graph", "backfill", "replay")


class RunRow(NamedTuple):
    """A run, alive or finished; JSON as text. What is gone meanwhile has no name.

    `ready_at` and `deadline_at` are known of the living only, `progress` is 0 to 1. `step` is the
    place in the graph. `modified_at` is the last change: its end, its start, its last progress or
    checkpoint, or when it was put back, taken back or asked to cancel. `submitter` and `address`
    are known of one-time submissions: who asked for it, and from where. `job_version` is the
    version of the definition that it uses, as people count; None if that is not known any more.
    """

    id: UUID
    job_id: UUID
    job: str | None
    state: RunState
    scheduled_at: datetime
    due_at: datetime
    ready_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    attempt: int
    failures: int
    losses: int
    trigger: str
    priority: int
    kind: str | None
    queue: str | None
    session_id: UUID | None
    worker: str | None
    reason: str | None
    payload: str | None
    result: str | None
    deadline_at: datetime | None
    progress: float | None
    message: str | None
    graph_run_id: UUID | None
    step: int | None
    member: int | None
    modified_at: datetime
    labels: str
    user_id: str | None
    submitter: str | None
    address: str | None
    job_version: int | None


class Page(NamedTuple):
    """Runs, newest first, and the id to go on after; None if that was all."""

    rows: list[RunRow]
    after: UUID | None


class AttemptRow(NamedTuple):
    """`outcome` is what attempts say (failed, lost, snoozed …), or the state of the run for the
    attempt that is under way or ended it.
    """

    attempt: int
    session_id: UUID | None
    worker: str | None
    outcome: str
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


class Found(NamedTuple):
    """A run that fits, or how far the walk looked."""

    id: UUID
    fits: bool


class LatestRun(NamedTuple):
    job_id: UUID
    id: UUID


class Ids(NamedTuple):
    queue_id: int | None
    kind_id: int | None


class WorkerSession(NamedTuple):
    id: UUID
    beat_at: datetime
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs to list; what is not said does not matter. No states means all of them.

    `created_after` (from it on) and `created_before` (up to it) are about the time in a run's id,
    by which the list is ordered: when it was asked for or, of a tick, the time of the tick.
    `worker` is a worker's name or the id of one of its sessions.
    """

    states: frozenset[RunState] = frozenset()
    job_id: UUID | None = None
    queue: str | None = None
    kind: str | None = None
    trigger: str | None = None
    worker: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    # Those that are steps of this graph run.
    graph_run_id: UUID | None = None
    # Of dead letters, those that nobody has dropped.
    is_open: bool = False
    # Of dead letters, those that failed like this, from one time on and before another.
    fingerprint: str | None = None
    ended_after: datetime | None = None
    ended_before: datetime | None = None

    def __post_init__(self) -> None:
        for field in ("queue", "kind", "worker"):
            refuse_odd_text(field, getattr(self, field))
        if self.trigger is not None and self.trigger not in TRIGGERS:
            raise InvalidInput("trigger", self.trigger, f"one of {', '.join(TRIGGERS)}")


WALK = statement("run_views/walk", Found)
WALK_JOB = statement("run_views/walk_job", Found)
WALK_BAD = statement("run_views/walk_bad", Found)
READ = statement("run_views/read", RunRow)
LATEST = statement("run_views/latest", LatestRun)
NAMES = statement("run_views/names", Ids)
WORKER_SESSIONS = statement("run_views/worker_sessions", WorkerSession)
ATTEMPTS = statement("run_views/attempts", AttemptRow)
LOG_LINES = statement("run_views/log_lines", Line)


async def get(conn: Connection, *, tenant_id: int, run_id: UUID) -> RunRow | None:
    return await READ.one(conn, tenant_id=tenant_id, ids=[run_id])


async def read(conn: Connection, ids: Sequence[UUID], *, tenant_id: int) -> list[RunRow]:
    """Runs by id, newest first."""
    return await READ.all(conn, tenant_id=tenant_id, ids=ids)


async def page(
    conn: Connection,
    *,
    tenant_id: int,
    filter: RunFilter,  # noqa: A002 — the word of the API
    after: UUID | None = None,
    limit: int = 50,
) -> Page:
    """Runs that fit, newest first, after the one with the id `after`."""
    refuse_odd_limit(limit)
    conditions = await _conditions(conn, filter, after)
    if conditions is None:
        return Page([], None)
    walk, more = _way(filter)
    async with walking(conn):
        found = await walk.all(
            conn, tenant_id=tenant_id, most=limit + 1, look=LOOK, **conditions, **more
        )
    ids, following = cut_page(found, limit=limit)
    if following is not None and following <= conditions["from_id"]:
        following = None
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids)
    # A run may have moved on since the walk; then it is not what was asked for any more.
    states = filter.states or frozenset(RunState)
    fitting = [row for row in rows if row.state in states]
    if filter.job_id is not None:
        fitting = [row for row in fitting if row.job_id == filter.job_id]
    return Page(fitting, following)


async def executions(
    conn: Connection, *, tenant_id: int, worker: str, after: UUID | None = None, limit: int = 50
) -> Page:
    """The runs that a worker executes or was the last to execute."""
    by_worker = RunFilter(worker=worker)
    return await page(conn, tenant_id=tenant_id, filter=by_worker, after=after, limit=limit)


async def dead_page(
    conn: Connection,
    *,
    tenant_id: int,
    filter: RunFilter | None = None,  # noqa: A002 — the word of the API
    after: UUID | None = None,
    limit: int = 50,
) -> Page:
    """Dead letters one by one; of the states that the filter names, those that are bad."""
    chosen = filter or RunFilter()
    bad = (chosen.states & BAD) if chosen.states else BAD
    if not bad:
        return Page([], None)
    chosen = replace(chosen, states=bad, is_open=True)
    return await page(conn, tenant_id=tenant_id, filter=chosen, after=after, limit=limit)


async def latest_runs(
    conn: Connection, *, tenant_id: int, job_ids: Sequence[UUID]
) -> dict[UUID, RunRow]:
    """The newest run of each job that has one."""
    if not job_ids:
        return {}
    recent = first_id_from(await database_time(conn) - RECENT)
    async with walking(conn):
        found = await LATEST.all(conn, tenant_id=tenant_id, job_ids=job_ids, from_id=recent)
        # Whatever is found is newer than what was not looked at, except for a living run that
        # waits since long: its job may have finished younger ones before that, too.
        known = [row for row in found if row.id >= recent]
        if older := set(job_ids) - {row.job_id for row in known}:
            known += await LATEST.all(
                conn, tenant_id=tenant_id, job_ids=sorted(older), from_id=FIRST_ID
            )
    rows = await READ.all(conn, tenant_id=tenant_id, ids=[row.id for row in known])
    return {row.job_id: row for row in rows}


async def attempts(conn: Connection, *, tenant_id: int, run_id: UUID) -> list[AttemptRow]:
    """Every attempt of a run, the first one first."""
    return await ATTEMPTS.all(conn, tenant_id=tenant_id, run_id=run_id)


async def log_lines(
    conn: Connection,
    *,
    tenant_id: int,
    run_id: UUID,
    after: tuple[int, int] | None = None,
    limit: int = 1000,
) -> list[Line]:
    """What a run's attempts wrote after (attempt, seq); ask again from the last to follow."""
    attempt, seq = after or BEGINNING
    return await LOG_LINES.all(
        conn,
        tenant_id=tenant_id,
        run_id=run_id,
        after_attempt=attempt,
        after_seq=seq,
        most=limit,
    )


def cut_page(found: Sequence[Found], *, limit: int) -> tuple[list[UUID], UUID | None]:
    """The ids of a page, and where to go on: after its last run, or where the look ended.

    Beyond that place there may be living runs already; they wait for their turn, or they would be
    shown twice.
    """
    horizon = next((each.id for each in found if not each.fits), None)
    ids = sorted((each.id for each in found if each.fits), reverse=True)
    if horizon is not None:
        ids = [id_ for id_ in ids if id_ >= horizon]
    if len(ids) > limit:
        return ids[:limit], ids[limit - 1]
    return ids, horizon


def refuse_odd_text(field: str, text: str | None) -> None:
    """PostgreSQL has no NUL and no half of a character, and no name is longer than this."""
    if text is None:
        return
    is_odd = "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
    if is_odd or len(text) > LONGEST_TEXT:
        wanted = f"at most {LONGEST_TEXT} characters, none of them NUL or half of one"
        raise InvalidInput(field, text, wanted)


def refuse_odd_limit(limit: int) -> None:
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidInput("limit", limit, f"1 to {LARGEST_PAGE}")


def _way(chosen: RunFilter) -> tuple[Statement[Found], dict[str, Any]]:
    """The walk whose index is in the order of what is asked for, and what only it takes."""
    states = chosen.states or frozenset(RunState)
    if chosen.graph_run_id is None and states <= BAD and (chosen.job_id is None or chosen.is_open):
        bad = {"states": sorted(states), "with_dropped": not chosen.is_open}
        ended = {"ended_after": chosen.ended_after, "ended_before": chosen.ended_before}
        failed = {"fingerprint": chosen.fingerprint, "job_id": chosen.job_id}
        return WALK_BAD, bad | ended | failed
    more: dict[str, Any] = {
        "states": sorted(chosen.states) or None,
        "ended": bool(states & FINAL),
        # Whatever a worker has held and let go of waits without one.
        "waiting": bool(states & (LIVE - HELD)) and chosen.worker is None,
        "held": bool(states & HELD),
    }
    if chosen.job_id is None or chosen.graph_run_id is not None:
        return WALK, more | {"graph_run_id": chosen.graph_run_id}
    return WALK_JOB, more | {"job_id": chosen.job_id}


async def _conditions(
    conn: Connection, chosen: RunFilter, after: UUID | None
) -> dict[str, Any] | None:
    """The filter as the walks take it; None if nothing can fit it."""
    names = Ids(None, None)
    if chosen.queue is not None or chosen.kind is not None:
        names = await NAMES.one(conn, queue=chosen.queue, kind=chosen.kind) or names
        if (chosen.queue is not None and names.queue_id is None) or (
            chosen.kind is not None and names.kind_id is None
        ):
            return None
    session_ids, before = None, after or LAST_ID
    if chosen.worker is not None:
        session_ids, youngest = await _sessions(conn, chosen.worker)
        if not session_ids:
            return None
        before = min(before, youngest)
    if chosen.created_before is not None:
        before = min(before, first_id_from(chosen.created_before))
    since = first_id_from(chosen.created_after) if chosen.created_after else FIRST_ID
    if chosen.graph_run_id is not None:
        # Steps have the time of their graph run in their ids, to the millisecond.
        since = max(since, UUID(int=chosen.graph_run_id.int >> 80 << 80))
        before = min(before, UUID(int=((chosen.graph_run_id.int >> 80) + 1) << 80))
    return {
        "queue_id": names.queue_id,
        "kind_id": names.kind_id,
        "trigger": chosen.trigger,
        "session_ids": session_ids,
        "before_id": before,
        "from_id": since,
    }


async def _sessions(conn: Connection, worker: str) -> tuple[list[UUID], UUID]:
    """The sessions of a worker, and an id that none of their runs reaches.

    A session that was forgotten is still told by the runs it executed, if it is asked for by id.
    """
    asked = _as_uuid(worker)
    rows = await WORKER_SESSIONS.all(conn, name=worker, session_id=asked)
    ids = {row.id for row in rows} | ({asked} if asked is not None else set())
    if any(row.is_alive for row in rows) or ids > {row.id for row in rows}:
        return sorted(ids), LAST_ID
    last_beat = max((row.beat_at for row in rows), default=EPOCH)
    return sorted(ids), first_id_from(last_beat + CLOCKS_APART)


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def first_id_from(at: datetime) -> UUID:
    """The smallest id of a moment; a time before all ids is taken for the first one."""
    frame = stamped(max(at, EPOCH), bytes(10))
    return UUID(int=frame.int >> 80 << 80)

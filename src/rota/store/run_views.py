"""Reads the runs of a tenant as the API shows them: one, a page, their attempts and logs.

Reads only. A page takes two steps: a scan finds the ids, newest first, along an index in the same
order; then the rows are read by id. A scan reads a bounded number of runs of history, so a page may
be short or even empty and still have a next page: only `after is None` marks the last page (P6).

Groups dead letters of one kind by error.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.bulk_operations import COUNTED_RUNS_MAX, BulkRunFilter
from rota.core.errors import InvalidInput
from rota.core.ids import EPOCH, build_id
from rota.core.states import CLAIMED_STATES, DEAD_LETTER_STATES, FINAL_STATES, LIVE_STATES, RunState
from rota.store import interning
from rota.store.driver import Connection
from rota.store.logs import LOG_START, StoredLogLine
from rota.store.metrics_queries import first_id_of_endings
from rota.store.ordered_scan import SCAN_ROWS_MAX, ordered_scan
from rota.store.pool import read_database_time
from rota.store.statement import Statement, statement

FIRST_ID: Final = UUID(int=0)
LAST_ID: Final = UUID(int=(1 << 128) - 1)
# Most requests are for younger runs; for older ones all of history is searched again.
RECENT_PERIOD: Final = timedelta(days=2)
# Clocks of nodes differ: the ids of a session's runs are at most this much younger than it.
CLOCK_SKEW_MAX: Final = timedelta(hours=1)
FILTER_TEXT_MAX: Final = 200
PAGE_SIZE_MAX: Final = 1000
TRIGGERS: Final = ("tick", "manual", "api", "event", "graph", "backfill", "replay")


class RunRow(NamedTuple):
    """A run, unfinished or finished; JSON as text. Names of deleted objects are None.

    `ready_at` and `deadline_at` are set for unfinished runs only, `progress` is 0 to 1. `step` is
    the position in the graph. `modified_at` is the last change: its end, its start, its last
    progress or checkpoint, or when it was put back, taken back or asked to cancel. `submitter` and
    `address` are set for one-time submissions: who submitted it, and from where. `job_version` is
    the version of its definition that users see; None if it is no longer known.
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


class RunPage(NamedTuple):
    """Runs, newest first, and the id of the next page; None on the last page."""

    rows: list[RunRow]
    after: UUID | None


class AttemptRow(NamedTuple):
    """`outcome` is the attempt's outcome (failed, lost, snoozed …), or the state of the run for the
    attempt that is running or ended it.
    """

    attempt: int
    session_id: UUID | None
    worker: str | None
    outcome: str
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


class ScannedRun(NamedTuple):
    """A matching run, or how far the scan read."""

    id: UUID
    fits: bool


class LatestRunId(NamedTuple):
    job_id: UUID
    id: UUID


class QueueAndKindIds(NamedTuple):
    queue_id: int | None
    kind_id: int | None


class WorkerSession(NamedTuple):
    id: UUID
    beat_at: datetime
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListFilter:
    """Selects runs to list; fields that are not set do not restrict the list. No states: all.

    `created_after` (inclusive) and `created_before` (exclusive) refer to the time in a run's id,
    which orders the list: when it was requested or, for a tick, the time of the tick. `worker` is a
    worker's name or the id of one of its sessions.
    """

    states: frozenset[RunState] = frozenset()
    job_id: UUID | None = None
    queue: str | None = None
    kind: str | None = None
    trigger: str | None = None
    worker: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    # Steps of this graph run.
    graph_run_id: UUID | None = None
    # Only dead letters that have not been dropped.
    is_open: bool = False
    # Only dead letters with this error that ended in this period (inclusive, exclusive).
    fingerprint: str | None = None
    ended_after: datetime | None = None
    ended_before: datetime | None = None

    def __post_init__(self) -> None:
        for field in ("queue", "kind", "worker"):
            check_filter_text(field, getattr(self, field))
        if self.trigger is not None and self.trigger not in TRIGGERS:
            raise InvalidInput("trigger", self.trigger, f"must be one of {', '.join(TRIGGERS)}")


class EndedRunSummary(NamedTuple):
    """A run that ended; `name` is None if its job was removed."""

    name: str | None
    state: RunState
    attempt: int
    started_at: datetime | None
    finished_at: datetime
    reason: str | None


class RunOutcome(NamedTuple):
    """A running or finished run; `reason` is JSON as text."""

    job_id: UUID
    id: UUID
    state: RunState
    scheduled_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


SCAN = statement("run_views/scan", ScannedRun)
SCAN_JOB = statement("run_views/scan_job", ScannedRun)
SCAN_BAD = statement("run_views/scan_dead_letters", ScannedRun)
READ = statement("run_views/read", RunRow)
LATEST = statement("run_views/latest", LatestRunId)
FIND_NAME_IDS = statement("run_views/find_name_ids", QueueAndKindIds)
WORKER_SESSIONS = statement("run_views/worker_sessions", WorkerSession)
ATTEMPTS = statement("run_views/attempts", AttemptRow)
LOG_LINES = statement("run_views/log_lines", StoredLogLine)
LATEST_ENDINGS = statement("run_views/latest_endings", EndedRunSummary)
OUTCOMES = statement("run_views/outcomes", RunOutcome)


async def get_run(conn: Connection, *, tenant_id: int, run_id: UUID) -> RunRow | None:
    return await READ.one(conn, tenant_id=tenant_id, ids=[run_id])


async def read_runs(conn: Connection, ids: Sequence[UUID], *, tenant_id: int) -> list[RunRow]:
    """Return runs by id, newest first."""
    return await READ.all(conn, tenant_id=tenant_id, ids=ids)


async def list_runs(
    conn: Connection,
    *,
    tenant_id: int,
    filter: RunListFilter,  # noqa: A002 — the word of the API
    after: UUID | None = None,
    limit: int = 50,
) -> RunPage:
    """Return matching runs, newest first, after the one with the id `after`."""
    check_page_limit(limit)
    conditions = await _conditions(conn, filter, after)
    if conditions is None:
        return RunPage([], None)
    walk, more = _choose_scan(filter)
    async with ordered_scan(conn):
        found = await walk.all(
            conn, tenant_id=tenant_id, most=limit + 1, look=SCAN_ROWS_MAX, **conditions, **more
        )
    ids, following = split_page(found, limit=limit)
    if following is not None and following <= conditions["from_id"]:
        following = None
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids)
    # A run may have changed since the scan and no longer match.
    states = filter.states or frozenset(RunState)
    fitting = [row for row in rows if row.state in states]
    if filter.job_id is not None:
        fitting = [row for row in fitting if row.job_id == filter.job_id]
    return RunPage(fitting, following)


async def list_executions(
    conn: Connection, *, tenant_id: int, worker: str, after: UUID | None = None, limit: int = 50
) -> RunPage:
    """Return the runs that a worker executes or was the last to execute."""
    by_worker = RunListFilter(worker=worker)
    return await list_runs(conn, tenant_id=tenant_id, filter=by_worker, after=after, limit=limit)


async def list_dead_letters(
    conn: Connection,
    *,
    tenant_id: int,
    filter: RunListFilter | None = None,  # noqa: A002 — the word of the API
    after: UUID | None = None,
    limit: int = 50,
) -> RunPage:
    """Return dead letters one by one, restricted to the filter's states that are dead letters."""
    chosen = filter or RunListFilter()
    bad = (chosen.states & DEAD_LETTER_STATES) if chosen.states else DEAD_LETTER_STATES
    if not bad:
        return RunPage([], None)
    chosen = replace(chosen, states=bad, is_open=True)
    return await list_runs(conn, tenant_id=tenant_id, filter=chosen, after=after, limit=limit)


async def read_latest_runs(
    conn: Connection, *, tenant_id: int, job_ids: Sequence[UUID]
) -> dict[UUID, RunRow]:
    """Return the newest run of each job that has one."""
    if not job_ids:
        return {}
    recent = first_id_from(await read_database_time(conn) - RECENT_PERIOD)
    async with ordered_scan(conn):
        found = await LATEST.all(conn, tenant_id=tenant_id, job_ids=job_ids, from_id=recent)
        # Every result is newer than what was not read, except for an unfinished run that has waited
        # for long: its job may have finished younger runs before the recent period.
        known = [row for row in found if row.id >= recent]
        if older := set(job_ids) - {row.job_id for row in known}:
            known += await LATEST.all(
                conn, tenant_id=tenant_id, job_ids=sorted(older), from_id=FIRST_ID
            )
    rows = await READ.all(conn, tenant_id=tenant_id, ids=[row.id for row in known])
    return {row.job_id: row for row in rows}


async def read_attempts(conn: Connection, *, tenant_id: int, run_id: UUID) -> list[AttemptRow]:
    """Return all attempts of a run, the first one first."""
    return await ATTEMPTS.all(conn, tenant_id=tenant_id, run_id=run_id)


async def read_log_lines(
    conn: Connection,
    *,
    tenant_id: int,
    run_id: UUID,
    after: tuple[int, int] | None = None,
    limit: int = 1000,
) -> list[StoredLogLine]:
    """Return log lines after (attempt, seq); call again from the last one to follow the log."""
    attempt, seq = after or LOG_START
    return await LOG_LINES.all(
        conn,
        tenant_id=tenant_id,
        run_id=run_id,
        after_attempt=attempt,
        after_seq=seq,
        most=limit,
    )


def split_page(found: Sequence[ScannedRun], *, limit: int) -> tuple[list[UUID], UUID | None]:
    """Return the ids of a page and where the next one starts: after its last run, or where the scan
    ended.

    Unfinished runs beyond that point belong to a later page; otherwise they would be listed twice.
    """
    horizon = next((row.id for row in found if not row.fits), None)
    ids = sorted((row.id for row in found if row.fits), reverse=True)
    if horizon is not None:
        ids = [id_ for id_ in ids if id_ >= horizon]
    if len(ids) > limit:
        return ids[:limit], ids[limit - 1]
    return ids, horizon


def check_filter_text(field: str, text: str | None) -> None:
    """Refuse text that is too long or that PostgreSQL cannot store."""
    if text is None:
        return
    is_odd = "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
    if is_odd or len(text) > FILTER_TEXT_MAX:
        wanted = f"must have at most {FILTER_TEXT_MAX} characters, without NUL or lone surrogates"
        raise InvalidInput(field, text, wanted)


def check_page_limit(limit: int) -> None:
    if not 1 <= limit <= PAGE_SIZE_MAX:
        raise InvalidInput("limit", limit, f"must be from 1 to {PAGE_SIZE_MAX}")


def _choose_scan(chosen: RunListFilter) -> tuple[Statement[ScannedRun], dict[str, Any]]:
    """Return the scan whose index has the order of the filter, and parameters only it takes."""
    states = chosen.states or frozenset(RunState)
    if (
        chosen.graph_run_id is None
        and states <= DEAD_LETTER_STATES
        and (chosen.job_id is None or chosen.is_open)
    ):
        bad = {"states": sorted(states), "with_dropped": not chosen.is_open}
        ended = {"ended_after": chosen.ended_after, "ended_before": chosen.ended_before}
        failed = {"fingerprint": chosen.fingerprint, "job_id": chosen.job_id}
        return SCAN_BAD, bad | ended | failed
    more: dict[str, Any] = {
        "states": sorted(chosen.states) or None,
        "ended": bool(states & FINAL_STATES),
        # A run that a worker released waits without a worker.
        "waiting": bool(states & (LIVE_STATES - CLAIMED_STATES)) and chosen.worker is None,
        "held": bool(states & CLAIMED_STATES),
    }
    if chosen.job_id is None or chosen.graph_run_id is not None:
        return SCAN, more | {"graph_run_id": chosen.graph_run_id}
    return SCAN_JOB, more | {"job_id": chosen.job_id}


async def _conditions(
    conn: Connection, chosen: RunListFilter, after: UUID | None
) -> dict[str, Any] | None:
    """Return the filter as parameters of the scans; None if nothing can match."""
    names = QueueAndKindIds(None, None)
    if chosen.queue is not None or chosen.kind is not None:
        names = await FIND_NAME_IDS.one(conn, queue=chosen.queue, kind=chosen.kind) or names
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
        # The ids of steps contain the time of their graph run, to the millisecond.
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
    """Return the sessions of a worker, and an id greater than those of all their runs.

    A deleted session, given by id, can still be found by the runs that it executed.
    """
    session_id = _as_uuid(worker)
    rows = await WORKER_SESSIONS.all(conn, name=worker, session_id=session_id)
    ids = {row.id for row in rows} | ({session_id} if session_id is not None else set())
    if any(row.is_alive for row in rows) or ids > {row.id for row in rows}:
        return sorted(ids), LAST_ID
    last_beat = max((row.beat_at for row in rows), default=EPOCH)
    return sorted(ids), first_id_from(last_beat + CLOCK_SKEW_MAX)


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def first_id_from(at: datetime) -> UUID:
    """Return the smallest id of a moment; a time before all ids becomes the first one."""
    frame = build_id(max(at, EPOCH), bytes(10))
    return UUID(int=frame.int >> 80 << 80)


async def read_latest_endings(
    conn: Connection, *, since: datetime, limit: int = 100
) -> list[EndedRunSummary]:
    """Return the runs that ended after a time, oldest first."""
    return await LATEST_ENDINGS.all(
        conn, from_id=first_id_of_endings(since), since=since, most=limit
    )


async def read_recent_outcomes(
    conn: Connection, *, tenant_id: int, job_ids: Sequence[UUID], limit: int
) -> dict[UUID, list[RunOutcome]]:
    """Return the newest outcomes of each job first, at most `limit` and never more than 20
    (outcomes.sql).

    A job of another tenant, or one that does not exist, has no runs.
    """
    found: dict[UUID, list[RunOutcome]] = {job_id: [] for job_id in job_ids}
    if not found:
        return found
    frame = build_id(max(await read_database_time(conn) - RECENT_PERIOD, EPOCH), bytes(10))
    recent_id = UUID(int=frame.int >> 80 << 80)
    async with ordered_scan(conn):
        for from_id in (recent_id, FIRST_ID):
            # Most jobs have enough recent runs; only the others need all of history.
            few = sorted(job_id for job_id, runs in found.items() if len(runs) < limit)
            if not few:
                break
            for job_id in few:
                found[job_id] = []
            for row in await OUTCOMES.all(conn, tenant_id=tenant_id, job_ids=few, from_id=from_id):
                found[row.job_id].append(row)
    return {
        job_id: sorted(runs, key=lambda run: run.id, reverse=True)[:limit]
        for job_id, runs in found.items()
    }


# The newest dead letters that are grouped for one list of groups.
GROUPED_MAX: Final = 5000
# The newest dead letters that are examined for one group: as many as one action may change.
GROUP_LOOK_MAX: Final = COUNTED_RUNS_MAX
HOURS_SHOWN: Final = 24


class DeadGroup(NamedTuple):
    """Dead letters of one kind with the same error; `message` and `sample_id` are of the newest.

    `hours` is JSON: how many ended how many hours ago. `versions` are versions of the definitions.
    `jobs` is JSON: the five jobs with the most failures; submissions are one entry without an id.
    `is_partial`: there were more dead letters than were examined.
    """

    kind: str
    type: str
    message: str
    frame: str | None
    fingerprint: str
    number: int
    first_at: datetime
    last_at: datetime
    hours: str | None
    versions: list[int]
    jobs: str
    job_count: int
    sample_id: UUID
    is_partial: bool

    def counts_per_hour(self) -> list[int]:
        """Return how many ended in each of the last 24 hours, the oldest hour first."""
        ended: dict[str, int] = json.loads(self.hours or "{}")
        return [ended.get(str(ago), 0) for ago in range(HOURS_SHOWN - 1, -1, -1)]


DEAD_GROUPS = statement("run_views/dead_groups", DeadGroup)


async def list_groups(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int, limit: int = 50
) -> list[DeadGroup]:
    """Group the newest dead letters that ended in the filter's period, the latest group first."""
    return await _read_groups(conn, run_filter, tenant_id=tenant_id, most=limit, look=GROUPED_MAX)


async def get_group(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int
) -> DeadGroup | None:
    """Return the group of this kind and fingerprint; None if it is empty."""
    found = await _read_groups(conn, run_filter, tenant_id=tenant_id, most=1, look=GROUP_LOOK_MAX)
    return found[0] if found else None


async def _read_groups(
    conn: Connection, which: BulkRunFilter, *, tenant_id: int, most: int, look: int
) -> list[DeadGroup]:
    kind_id = None
    if which.kind is not None:
        kind_id = (await interning.find_kinds(conn, [which.kind])).get(which.kind)
        if kind_id is None:
            return []
    async with ordered_scan(conn):
        return await DEAD_GROUPS.all(
            conn,
            tenant_id=tenant_id,
            since=which.since,
            until=which.until,
            job_id=which.job_id,
            kind_id=kind_id,
            fingerprint=which.fingerprint,
            most=most,
            look=look,
        )

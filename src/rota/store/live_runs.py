"""Reads and changes unfinished runs, from survey and claim to finish.

Every change is a compare-and-set on (attempt, session, state) and returns what it changed; a run
that is missing from the result no longer belongs to the caller. Core decides how to divide a claim
among lanes (lanes.py) and what an ending means (settle.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.core.lanes import Lane
from rota.core.lease import ObservedSpan
from rota.core.outcome import Guarantee
from rota.core.overlap import SEQUENTIAL_OVERLAPS
from rota.core.settlement import WORKER_LOSSES_MAX
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction


class UnknownLane(NamedTuple):
    """A lane with waiting runs that the caller did not know."""

    tenant_id: int
    priority: int
    head_at: datetime


class ClaimedRun(NamedTuple):
    """A run claimed by this session. Without its own payload, it uses the job's.

    Holds only what execution needs: every column costs a third of a microsecond to decode.
    """

    id: UUID
    job_id: UUID
    job_version: int
    attempt: int
    failures: int
    tenant_id: int
    kind_id: int
    policy_id: int
    priority: int
    scheduled_at: datetime
    due_at: datetime
    ready_at: datetime
    started_at: datetime
    deadline_at: datetime | None
    payload: str | None


class RunMove(NamedTuple):
    """A run that changed, and its new state."""

    id: UUID
    state: RunState


class FinishedBatch(NamedTuple):
    """The runs of a batch that ended, as two lists, because decoding a row per run would cost more
    than the rest of the round trip; and the graph runs of which some of them are steps.
    """

    ids: list[UUID] | None
    states: list[str] | None
    graph_run_ids: list[UUID] | None


class FinishedRuns(NamedTuple):
    """The final states of runs moved to history, and the graph runs with new step completions."""

    states: dict[UUID, RunState]
    graph_run_ids: list[UUID]


class RunId(NamedTuple):
    id: UUID


class StoredRun(NamedTuple):
    """A run, unfinished or finished."""

    id: UUID
    job_id: UUID
    state: RunState
    attempt: int
    failures: int
    losses: int
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    session_id: UUID | None
    result: str | None
    reason: str | None


class LaneScan(NamedTuple):
    """How many runs a claim may take from one lane, and where the lane's live entries begin."""

    lane: Lane
    low: datetime
    low_id: UUID
    share: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    id: UUID
    job_id: UUID
    scheduled_at: datetime
    due_at: datetime
    tenant_id: int
    queue_id: int
    kind_id: int
    policy_id: int
    job_version: int = 1
    trigger: str = "api"
    priority: int = 5
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    deadline_at: datetime | None = None
    payload: str | None = None
    gates: tuple[int, ...] = ()


class RunEnding(NamedTuple):
    """The last attempt of a run, as its worker reports it. `failures` is None if unchanged."""

    id: UUID
    attempt: int
    state: RunState
    failures: int | None = None
    result: str | None = None
    reason: str | None = None


class ReturnedAttempt(NamedTuple):
    """An attempt after which the run waits again; `outcome` is recorded in the attempts."""

    id: UUID
    attempt: int
    state: RunState
    outcome: str
    failures: int
    delay: timedelta
    reason: str | None = None


class TakenRun(NamedTuple):
    """A run that an external system executes."""

    attempt: int
    started_at: datetime


class HeldAttempt(NamedTuple):
    attempt: int


STATES = {state.value: state for state in RunState}

SURVEY = statement("live_runs/survey", UnknownLane)
SURVEY_TENANTS = statement("live_runs/survey_tenants", UnknownLane)
CLAIM = statement("live_runs/claim", ClaimedRun)
FINISH = statement("live_runs/finish", FinishedBatch)
PUT_BACK = statement("live_runs/put_back", RunMove)
RELEASE_UNKNOWN = statement("live_runs/release_unknown", RunId)
RECLAIM = statement("live_runs/reclaim", RunMove)
CANCEL = statement("live_runs/cancel", RunMove)
CANCEL_NOW = statement("live_runs/cancel_now", RunId)
EXPIRE = statement("live_runs/expire", RunId)
REPLAY = statement("live_runs/requeue", RunId)
INSERT_MANY = statement("live_runs/insert_many", RunId)
INSERT_ONE = statement("live_runs/insert_one", RunId)
DROP_REPEATED = statement("live_runs/drop_repeated", RunId)
GET = statement("live_runs/get", StoredRun)
HOLD_EXTERNAL = statement("live_runs/hold_external", HeldAttempt)
TAKE_EXTERNAL = statement("live_runs/take_external", TakenRun)


async def survey_lanes(
    conn: Connection,
    *,
    queue_id: int,
    known: Sequence[Lane],
    tenant_ids: Sequence[int] | None = None,
    limit: int = 1000,
) -> list[UnknownLane]:
    """Return unknown lanes of a queue with waiting runs, of these tenants or of all."""
    conditions = {
        "queue_id": queue_id,
        "tenant_ids": [lane.tenant for lane in known],
        "priorities": [lane.priority for lane in known],
        "most": limit,
    }
    if tenant_ids is None:
        return await SURVEY.all(conn, **conditions)
    return await SURVEY_TENANTS.all(conn, served_ids=tenant_ids, **conditions)


async def claim_runs(  # noqa: PLR0913 — the parameters of the statement
    conn: Connection,
    *,
    session_id: UUID,
    queue_id: int,
    kind_ids: Sequence[int],
    scans: Sequence[LaneScan],
    room: int,
    ahead: timedelta = timedelta(0),
) -> list[ClaimedRun]:
    """Claim at most `room` runs that are ready, or will be within `ahead`, lane by lane in the
    given order. The caller must not start a run before it is ready.
    """
    return await CLAIM.all(
        conn,
        session_id=session_id,
        queue_id=queue_id,
        kind_ids=kind_ids,
        tenant_ids=[walk.lane.tenant for walk in scans],
        priorities=[walk.lane.priority for walk in scans],
        lows=[walk.low for walk in scans],
        low_ids=[walk.low_id for walk in scans],
        shares=[walk.share for walk in scans],
        room=room,
        ahead=ahead,
    )


async def finish_runs(
    conn: Connection, *, session_id: UUID, endings: Sequence[RunEnding]
) -> dict[UUID, RunState]:
    """Move ended runs to history. A run missing from the result belongs to another session now."""
    return (await finish_runs_and_graphs(conn, session_id=session_id, endings=endings)).states


async def finish_runs_and_graphs(
    conn: Connection, *, session_id: UUID, endings: Sequence[RunEnding]
) -> FinishedRuns:
    """Like `finish`, but also return the graph runs whose steps ended."""
    ids, attempts, states, failures, results, reasons = _columns(endings, 6)
    row = await FINISH.one(
        conn,
        session_id=session_id,
        ids=ids,
        attempts=attempts,
        states=states,
        failures=failures,
        results=results,
        reasons=reasons,
    )
    if row is None or row.ids is None or row.states is None:
        return FinishedRuns({}, [])
    ended = dict(zip(row.ids, map(STATES.__getitem__, row.states), strict=True))
    return FinishedRuns(ended, row.graph_run_ids or [])


async def put_back_runs(
    conn: Connection, *, session_id: UUID, attempts: Sequence[ReturnedAttempt]
) -> list[RunMove]:
    """Make runs wait again: retries, snoozes, hand-backs."""
    ids, numbers, states, outcomes, failures, delays, reasons = _columns(attempts, 7)
    return await PUT_BACK.all(
        conn,
        session_id=session_id,
        ids=ids,
        attempts=numbers,
        states=states,
        outcomes=outcomes,
        failures=failures,
        delays=delays,
        reasons=reasons,
    )


async def release_unknown(
    conn: Connection, *, session_id: UUID, known: Sequence[UUID]
) -> list[UUID]:
    """Make runs wait again that the session holds but does not know."""
    rows = await RELEASE_UNKNOWN.all(conn, session_id=session_id, known=known)
    return [row.id for row in rows]


async def reclaim_runs(
    conn: Connection,
    *,
    sight: ObservedSpan,
    unknown_for: timedelta = timedelta(seconds=5),
    limit: int = 500,
) -> list[RunMove]:
    """Take back runs that no living session executes.

    `sight` is how long the caller has seen the database without a gap. A run that its living
    session has not known for `unknown_for` is taken back only if that sight lasted at least as
    long.
    """
    return await RECLAIM.all(
        conn,
        seen_for=sight.lasted,
        asked_at=sight.asked_at,
        unknown_for=unknown_for,
        most=limit,
        most_losses=WORKER_LOSSES_MAX,
    )


async def cancel_runs(
    conn: Connection, *, ids: Sequence[UUID], reason: str = '{"code": "cancelled"}'
) -> list[RunMove]:
    """Cancel waiting runs; ask running ones to stop. A missing run had finished."""
    return await CANCEL.all(conn, ids=ids, reason=reason)


async def cancel_runs_now(
    conn: Connection, *, ids: Sequence[UUID], reason: str = '{"code": "cancelled", "forced": true}'
) -> list[UUID]:
    """Cancel without waiting for the worker; the worker's result will be refused."""
    return [row.id for row in await CANCEL_NOW.all(conn, ids=ids, reason=reason)]


async def expire_runs(conn: Connection, *, limit: int = 500) -> list[UUID]:
    """End waiting runs whose deadline has passed."""
    return [row.id for row in await EXPIRE.all(conn, most=limit)]


async def requeue_runs(
    conn: Connection, *, ids: Sequence[UUID], payload: str | None = None
) -> list[UUID]:
    """Requeue dead letters for a new series of attempts, optionally with another payload."""
    return [row.id for row in await REPLAY.all(conn, ids=ids, payload=payload)]


async def insert_runs(conn: Connection, runs: Sequence[NewRun]) -> list[UUID]:
    """Insert runs; an id that existed before is skipped and not returned."""
    async with join_transaction(conn):
        inserted = await insert_new_runs(conn, runs)
        rows = await DROP_REPEATED.all(conn, ids=inserted) if inserted else []
        repeated = {row.id for row in rows}
    return [run_id for run_id in inserted if run_id not in repeated]


async def insert_run(  # noqa: PLR0913 — the parameters of the statement
    conn: Connection,
    *,
    id_: UUID,
    job_id: UUID,
    due_at: datetime,
    trigger: str,
    priority: int | None,
    payload: str | None,
) -> bool:
    """Insert a run of a simple job; False if the job needs more, or does not exist."""
    row = await INSERT_ONE.one(
        conn,
        id=id_,
        job_id=job_id,
        due_at=due_at,
        trigger=trigger,
        priority=priority,
        payload=payload,
        one_by_one=SEQUENTIAL_OVERLAPS,
    )
    return row is not None


async def insert_new_runs(conn: Connection, runs: Sequence[NewRun]) -> list[UUID]:
    """Insert runs whose ids were just generated, so no other process can have inserted them."""
    rows = await INSERT_MANY.all(
        conn,
        ids=[run.id for run in runs],
        job_ids=[run.job_id for run in runs],
        scheduled_ats=[run.scheduled_at for run in runs],
        due_ats=[run.due_at for run in runs],
        deadline_ats=[run.deadline_at for run in runs],
        tenant_ids=[run.tenant_id for run in runs],
        queue_ids=[run.queue_id for run in runs],
        kind_ids=[run.kind_id for run in runs],
        policy_ids=[run.policy_id for run in runs],
        job_versions=[run.job_version for run in runs],
        triggers=[run.trigger for run in runs],
        priorities=[run.priority for run in runs],
        guarantees=[run.guarantee for run in runs],
        payloads=[run.payload for run in runs],
        gates=[encode_gates(run.gates) for run in runs],
    )
    return [row.id for row in rows]


async def take_external_run(conn: Connection, *, run_id: UUID, session_id: UUID) -> TakenRun:
    """Assign a run that was created in this transaction to the session of an external system."""
    row = await TAKE_EXTERNAL.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row


async def lock_external_run(conn: Connection, *, run_id: UUID, session_id: UUID) -> int:
    """Lock a run that an external system executes, until the transaction ends, and return its
    attempt; raise `LeaseLost` if the session no longer holds it.
    """
    row = await HOLD_EXTERNAL.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row.attempt


async def get_runs(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, StoredRun]:
    """Return runs by id, unfinished or in history."""
    return {row.id: row for row in await GET.all(conn, ids=ids)}


def encode_gates(gates: Sequence[int]) -> str | None:
    """Encode gate ids as a PostgreSQL array; an empty sequence becomes null."""
    return f"{{{','.join(map(str, gates))}}}" if gates else None


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> list[list[object]]:
    """Transpose rows into one list per column, as unnest expects them.

    A column without any value is sent empty: unnest fills it with nulls, while encoding a thousand
    nulls would cost a thousand checks.
    """
    if not rows:
        return [[]] * width
    columns = (list(column) for column in zip(*rows, strict=True))
    return [[] if all(value is None for value in column) else column for column in columns]

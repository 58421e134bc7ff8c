"""Counts the runs of a backfill, stores it for any node to carry out, and shows its progress (S13).

Nothing is locked while ticks are counted: the scheduler's next undecided tick bounds the range, and
that tick only moves forward. An index ensures that a job has one backfill at a time.

The counts of the progress come from the stored row of the backfill. The remaining time follows from
its own pace once it has one, and before that from the duration of the newest runs of its job.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.schedule import write_schedule
from rota.core import backfills as rules
from rota.core.backfills import (
    BACKFILL_CONCURRENCY_MAX,
    UNFINISHED_STATES,
    BackfillOrder,
    BackfillSelection,
    BackfillState,
    TickResult,
)
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.lanes import PRIORITY_NAMES, parse_priority
from rota.core.limits import GateLimits
from rota.core.secret_references import encode_payload
from rota.core.states import RunState
from rota.core.submissions import check_name, encode_canonical
from rota.core.time import moments
from rota.core.time.calendars import Calendar
from rota.core.time.past_ticks import PastTicks
from rota.core.time.planning import NO_CALENDARS
from rota.core.time.schedule import Schedule
from rota.engine.submission.tick_settlement import read_job_schedule
from rota.store import backfills, gates, jobs
from rota.store.backfills import BackfillRow, NewBackfill
from rota.store.driver import Connection
from rota.store.jobs import StoredJob
from rota.store.transaction import transaction

DEFAULT_PRIORITY: Final = PRIORITY_NAMES["low"]
# Up to this many ticks a range is counted tick by tick, which takes 0.1 s. Beyond, the number of
# ticks is an estimate and the database counts the runs.
EXACT_TICKS_MAX: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRequest:
    """A request for runs of the ticks with since <= tick < until that `only` selects. `at_once` is
    how many may run at a time. Default payload: the job's.
    """

    since: datetime
    until: datetime
    only: BackfillSelection = BackfillSelection.MISSING
    order: BackfillOrder = BackfillOrder.OLDEST
    at_once: int = 4
    priority: int = DEFAULT_PRIORITY
    payload: object = None


class BackfillCounts(NamedTuple):
    """The number of ticks, by the state of their runs (succeeded, active, failed, missing), the
    number of new runs, and how long these would take. `undecided` ticks are left to the scheduler.
    """

    ticks: int
    ran: int
    alive: int
    failed: int
    missing: int
    new: int
    undecided: int
    is_guess: bool
    takes: timedelta | None


class BackfillAnswer(NamedTuple):
    """The counts and the id of the backfill; the id is None after a dry run."""

    counts: BackfillCounts
    backfill_id: UUID | None = None


async def start_backfill(  # noqa: PLR0913 — which job of whom, what of it, who asks, when, and whether really
    conn: Connection,
    request: BackfillRequest,
    *,
    tenant_id: int,
    job_id: UUID,
    by: str,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    dry_run: bool = False,
) -> BackfillAnswer:
    """Count the runs of a backfill and start it. A dry run only counts and writes nothing."""
    request = _check_request(request, now)
    check_name(by, "by")
    encode_payload(request.payload)
    async with transaction(conn):
        job = (await jobs.read_jobs(conn, [job_id])).get(job_id)
        if job is None or job.tenant_id != tenant_id:
            raise NotFound("job", str(job_id))
        past = PastTicks(
            schedule=without_run_cap(read_job_schedule(job), job_id),
            since=request.since,
            until=request.until,
            calendars=calendars,
        )
        end = await _find_decided_end(conn, job_id, past)
        later = replace(past, since=end)
        undecided = await asyncio.to_thread(later.count, EXACT_TICKS_MAX)
        past = replace(past, until=end)
        counted = await _count_runs(conn, job, past, request)
        counted = counted._replace(undecided=undecided.ticks)
        if dry_run:
            return BackfillAnswer(counted)
        id_ = new_id()
        await _write(conn, job, past, request, BackfillStart(id_, by, counted))
    return BackfillAnswer(counted, id_)


class BackfillStart(NamedTuple):
    """The id of a new backfill, the user who asked for it, and the counts."""

    id: UUID
    by: str
    counts: BackfillCounts


async def _write(
    conn: Connection, job: StoredJob, past: PastTicks, wanted: BackfillRequest, begun: BackfillStart
) -> None:
    other = await backfills.find_unfinished(conn, tenant_id=job.tenant_id, job_id=job.id)
    if other is not None:
        reason = f"bf_{other.hex} of this job has not finished; wait for it, or cancel it"
        raise Conflict("backfill", reason)
    limits = GateLimits(max_running=wanted.at_once)
    gate_id = await gates.put_gate(conn, job.tenant_id, backfill_gate_key(begun.id), limits)
    await backfills.insert_backfill(
        conn,
        NewBackfill(
            id=begun.id,
            tenant_id=job.tenant_id,
            job_id=job.id,
            since=past.since,
            until=past.until,
            schedule=encode_canonical(write_schedule(past.schedule)),
            only=wanted.only,
            newest_first=wanted.order is BackfillOrder.NEWEST,
            at_once=wanted.at_once,
            priority=wanted.priority,
            payload=encode_payload(wanted.payload),
            gate_id=gate_id,
            expected=begun.counts.new,
            is_guess=begun.counts.is_guess,
            created_by=begun.by,
        ),
    )


def backfill_gate_key(backfill_id: UUID) -> str:
    return f"backfill:{backfill_id}"


def without_run_cap(schedule: Schedule | None, job_id: UUID) -> Schedule:
    """Return the schedule without `max_runs`, which limits the scheduler only."""
    if schedule is None or not schedule.has_ticks or schedule.follows_end:
        wanted = "expected a job whose schedule has ticks at known times"
        raise InvalidInput("job_id", str(job_id), wanted)
    return replace(schedule, window=replace(schedule.window, max_runs=None))


async def read_tick_states(
    conn: Connection, ats: tuple[datetime, ...], *, tenant_id: int, job_id: UUID
) -> dict[datetime, list[RunState]]:
    """Return the states of the runs of each tick that has runs."""
    found: dict[datetime, list[RunState]] = {}
    for tick in await backfills.read_tick_states(conn, ats, tenant_id=tenant_id, job_id=job_id):
        found.setdefault(tick.at, []).append(tick.state)
    return found


def _check_request(wanted: BackfillRequest, now: datetime) -> BackfillRequest:
    since = moments.parse(wanted.since, field="since")
    until = moments.parse(wanted.until, field="until")
    if since >= until:
        raise InvalidInput("until", moments.to_rfc3339(until), "must be after since")
    if until > now:
        raise InvalidInput("until", moments.to_rfc3339(until), "must be in the past")
    for name, kind in (("only", BackfillSelection), ("order", BackfillOrder)):
        if not isinstance(getattr(wanted, name), kind):
            raise InvalidInput(name, getattr(wanted, name), f"expected one of {', '.join(kind)}")
    if not 1 <= wanted.at_once <= BACKFILL_CONCURRENCY_MAX:
        raise InvalidInput("at_once", wanted.at_once, f"must be 1 to {BACKFILL_CONCURRENCY_MAX}")
    return replace(wanted, since=since, until=until, priority=parse_priority(wanted.priority))


async def _find_decided_end(conn: Connection, job_id: UUID, past: PastTicks) -> datetime:
    """Return the end of the part of the range that the scheduler has decided."""
    tick_at = await backfills.read_next_undecided(conn, job_id)
    return past.until if tick_at is None else max(past.since, min(past.until, tick_at))


async def _count_runs(
    conn: Connection, job: StoredJob, past: PastTicks, wanted: BackfillRequest
) -> BackfillCounts:
    number = await asyncio.to_thread(past.count, EXACT_TICKS_MAX)
    if number.is_estimate:
        there = await backfills.count_tick_states(
            conn, tenant_id=job.tenant_id, job_id=job.id, since=past.since, until=past.until
        )
        missing = max(0, number.ticks - sum(there))
        stand = {
            TickResult.ALIVE: there.alive,
            TickResult.RAN: there.ran,
            TickResult.FAILED: there.failed,
            TickResult.MISSING: missing,
        }
    else:
        ticks = (await asyncio.to_thread(past.read_oldest, EXACT_TICKS_MAX + 1)).ticks
        found = await read_tick_states(conn, ticks, tenant_id=job.tenant_id, job_id=job.id)
        stand = dict(Counter(rules.rate_tick(found.get(at, ())) for at in ticks))
    new = sum(count for state, count in stand.items() if rules.needs_run(wanted.only, state))
    duration = await backfills.measure_duration(conn, tenant_id=job.tenant_id, job_id=job.id)
    return BackfillCounts(
        ticks=sum(stand.values()),
        ran=stand.get(TickResult.RAN, 0),
        alive=stand.get(TickResult.ALIVE, 0),
        failed=stand.get(TickResult.FAILED, 0),
        missing=stand.get(TickResult.MISSING, 0),
        new=new,
        undecided=0,
        is_guess=number.is_estimate,
        takes=rules.estimate_duration(new, each=duration, at_once=wanted.at_once),
    )


class BackfillForecast(NamedTuple):
    """Active runs, runs that have not ended (including those not created yet), and the time when
    all will have ended. `eta` is None if it is unknown, or if the backfill does not advance.
    """

    alive: int
    left: int
    eta: datetime | None


def compute_progress(
    row: BackfillRow, *, run_duration: timedelta | None = None
) -> BackfillForecast:
    """Compute the progress of a backfill. `run_duration` is the measured duration of a run, if
    known.
    """
    ended = row.succeeded + row.failed + row.cancelled
    alive = row.made - ended
    if row.state not in UNFINISHED_STATES:
        return BackfillForecast(0, 0, None)
    is_through = row.reached == (row.since if row.newest_first else row.until)
    makes_more = row.state is not BackfillState.CANCELLING and not is_through
    left = alive + (max(0, row.expected - row.made) if makes_more else 0)
    if row.state is BackfillState.PAUSED:
        return BackfillForecast(alive, left, None)
    step = rules.measure_pace(ended=ended, busy=row.now - row.created_at - row.paused_for)
    takes = (
        rules.estimate_duration(left, each=run_duration, at_once=row.at_once)
        if step is None
        else step * left
    )
    return BackfillForecast(alive, left, None if takes is None else row.now + takes)


async def measure_progress(
    conn: Connection, row: BackfillRow, *, tenant_id: int
) -> BackfillForecast:
    """Compute the progress of a backfill, with the duration of its job's newest runs."""
    if row.state not in UNFINISHED_STATES:
        return compute_progress(row)
    duration = await backfills.measure_duration(conn, tenant_id=tenant_id, job_id=row.job_id)
    return compute_progress(row, run_duration=duration)

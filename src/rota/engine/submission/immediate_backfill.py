"""Creates a few runs for past ticks at once, on request (S13).

The ticks of a range are those of the job's current schedule, including daylight saving and
calendars. A tick without any run or record gets the run that the scheduler would have created,
under the same id. A tick that is only recorded (missed, skipped, coalesced) keeps its record and
gets a run under an id of the backfill. Both ids are derived, so a repeated request creates nothing
new.

A backfill does not apply the job's overlap policy; a gate of its own bounds how many of its runs
run at a time. Ticks from the cursor on are left to the scheduler. For ranges of any length, with
progress, see backfills/.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.backfills import BackfillSelection
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.ids import derive_keyed_run_id, derive_tick_run_id
from rota.core.limits import GateLimits
from rota.core.overlap import Overlap
from rota.core.priority import PRIORITY_NAMES, parse_priority
from rota.core.states import RunState
from rota.core.submissions import check_visible_name
from rota.core.time import moments, planning
from rota.core.time.budget import PAST_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.engine.submission.drafts import build_gates
from rota.engine.submission.overlap_decision import read_job_limits, read_job_policy
from rota.engine.submission.quotas import check_run_quota_of_jobs
from rota.engine.submission.tick_settlement import read_job_schedule
from rota.store import backfills, gates, jobs, live_runs, requeue
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import StoredJob
from rota.store.live_runs import NewRun
from rota.store.transaction import transaction

BACKFILL_RUNS_MAX: Final = 10_000
# Ticks that one range may have. To count a year of one tick per second would take minutes.
BACKFILL_TICKS_MAX: Final = 20_000
DEFAULT_PRIORITY: Final = PRIORITY_NAMES["low"]
# The recorded states of ticks that never ran.
NOT_RUN_STATES: Final = frozenset({RunState.MISSED, RunState.SKIPPED, RunState.COALESCED})


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRange:
    """A request for runs of the ticks with since <= tick < until. `name` distinguishes backfills of
    the same ticks: under another name, `all` runs them once more. `at_once` is how many runs of the
    backfill may run at a time.
    """

    since: datetime
    until: datetime
    only: BackfillSelection = BackfillSelection.MISSING
    priority: int = DEFAULT_PRIORITY
    at_once: int = 4
    most: int = 1_000
    name: str = "backfill"


class BackfillSummary(NamedTuple):
    """The number of ticks, of those that ran before, of new runs, and of ticks that are left to the
    scheduler (`undecided`).
    """

    ticks: int
    exist: int
    missing: int
    new: int
    undecided: int
    run_ids: tuple[UUID, ...] = ()


class _Tick(NamedTuple):
    """A tick of the range. `run_id` is the id of its new run; None if it gets none."""

    at: datetime
    ran: bool
    run_id: UUID | None


async def backfill_now(  # noqa: PLR0913 — which job of whom, which range, when, and whether really
    conn: Connection,
    range_: BackfillRange,
    *,
    tenant_id: int,
    job_id: UUID,
    now: datetime,
    dry_run: bool = False,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> BackfillSummary:
    """Create the runs of a range of past ticks, all or none. A dry run only counts them."""
    range_ = _check_range(range_, now)
    async with transaction(conn):
        job = await jobs.lock_job(conn, job_id)
        if job.tenant_id != tenant_id:
            raise NotFound("job", str(job_id))
        cursor = await jobs.lock_cursor(conn, job_id)
        walk = partial(_planned_ticks, _schedule_without_cap(job), range_, calendars)
        planned = await asyncio.to_thread(walk)
        decided = [at for at in planned if cursor is None or at < cursor.tick_at]
        ticks = await _look_up_ticks(conn, job, decided, range_)
        chosen = [tick for tick in ticks if tick.run_id is not None]
        if len(chosen) > range_.most:
            requested = f"{len(chosen)} runs"
            raise InvalidInput("until", requested, f"a range must have at most {range_.most} runs")
        made: list[UUID] = []
        if chosen and not dry_run:
            await _refuse_unfinished(conn, job)
            await check_run_quota_of_jobs(conn, [job] * len(chosen))
            made = await _create_runs(conn, job, chosen, range_, now)
    exist = sum(tick.ran for tick in ticks)
    return BackfillSummary(
        ticks=len(ticks),
        exist=exist,
        missing=len(ticks) - exist,
        new=len(chosen),
        undecided=len(planned) - len(decided),
        run_ids=tuple(made),
    )


async def _refuse_unfinished(conn: Connection, job: StoredJob) -> None:
    """Refuse if the job has an unfinished backfill, which might create the same runs."""
    other = await backfills.find_unfinished(conn, tenant_id=job.tenant_id, job_id=job.id)
    if other is not None:
        reason = f"bf_{other.hex} of this job has not finished; wait for it, or cancel it"
        raise Conflict("backfill", reason)


def _check_range(wanted: BackfillRange, now: datetime) -> BackfillRange:
    since = moments.parse(wanted.since, field="since")
    until = moments.parse(wanted.until, field="until")
    if since >= until:
        raise InvalidInput("until", moments.to_rfc3339(until), "must be after since")
    if until > now:
        raise InvalidInput("until", moments.to_rfc3339(until), "must be in the past")
    if not 1 <= wanted.most <= BACKFILL_RUNS_MAX:
        raise InvalidInput("most", wanted.most, f"must be 1 to {BACKFILL_RUNS_MAX}")
    if wanted.only not in {BackfillSelection.MISSING, BackfillSelection.ALL}:
        raise InvalidInput("only", wanted.only, "expected one of missing, all")
    parse_priority(wanted.priority)
    return replace(wanted, since=since, until=until, name=check_visible_name(wanted.name, "name"))


def _schedule_without_cap(job: StoredJob) -> Schedule:
    """Return the job's schedule without `max_runs`, which limits the scheduler only."""
    schedule = read_job_schedule(job)
    if schedule is None or not schedule.has_ticks or schedule.follows_end:
        wanted = "expected a job whose schedule has ticks at known times"
        raise InvalidInput("job_id", str(job.id), wanted)
    return replace(schedule, window=replace(schedule.window, max_runs=None))


def _planned_ticks(
    schedule: Schedule, wanted: BackfillRange, calendars: Mapping[str, Calendar]
) -> list[datetime]:
    ahead = planning.plan_ticks(
        schedule,
        wanted.since - MICROSECOND,
        wanted.until - MICROSECOND,
        calendars=calendars,
        budget=SearchBudget(PAST_STEPS_MAX),
    )
    ticks = [planned.tick.at for planned in islice(ahead, BACKFILL_TICKS_MAX + 1)]
    if len(ticks) > BACKFILL_TICKS_MAX:
        raise InvalidInput(
            "until",
            f"more than {BACKFILL_TICKS_MAX} ticks",
            f"a range must have at most {BACKFILL_TICKS_MAX} ticks",
        )
    return ticks


async def _look_up_ticks(
    conn: Connection, job: StoredJob, ats: Sequence[datetime], wanted: BackfillRange
) -> list[_Tick]:
    """Return the ticks with whether they ran, and the ids of the runs to create."""
    own = {at: derive_tick_run_id(job.id, at) for at in ats}
    again = {
        at: derive_keyed_run_id(f"{wanted.name} of {job.id}", moments.to_rfc3339(at), at=at)
        for at in ats
    }
    known = await requeue.read_states(
        conn, [*own.values(), *again.values()], tenant_id=job.tenant_id
    )
    ticks: list[_Tick] = []
    for at in ats:
        state, is_made = known.get(own[at]), again[at] in known
        ran = is_made or (state is not None and state not in NOT_RUN_STATES)
        run_id = own[at] if state is None else again[at]
        is_wanted = not is_made and (not ran or wanted.only is BackfillSelection.ALL)
        ticks.append(_Tick(at, ran, run_id if is_wanted else None))
    return ticks


async def _create_runs(
    conn: Connection, job: StoredJob, ticks: Sequence[_Tick], wanted: BackfillRange, now: datetime
) -> list[UUID]:
    payload = json.loads(job.payload or "null")
    # Overlap.ALLOW omits the gate that keeps the job's own runs in order.
    passed = build_gates(job.id, job.tenant_id, Overlap.ALLOW, read_job_limits(job), payload)
    own = NewGate(job.tenant_id, f"backfill:{job.id}", GateLimits(max_running=wanted.at_once))
    passed = sorted([own, *passed], key=_by_width)
    made = await gates.put_gates(conn, passed)
    through = tuple(made[gate.tenant_id, gate.key] for gate in passed)
    deadline = read_job_policy(job).deadline
    runs = [
        NewRun(
            id=tick.run_id,
            job_id=job.id,
            scheduled_at=tick.at,
            # Due at the time of the request, so that it does not count as late.
            due_at=now,
            deadline_at=None if deadline is None else now + deadline,
            tenant_id=job.tenant_id,
            queue_id=job.queue_id,
            kind_id=job.kind_id,
            policy_id=job.policy_id,
            job_version=job.version,
            trigger="backfill",
            priority=wanted.priority,
            guarantee=job.guarantee,
            gates=through,
        )
        for tick in ticks
        if tick.run_id is not None
    ]
    return await live_runs.insert_runs(conn, runs)


def _by_width(gate: NewGate) -> tuple[bool, int]:
    return gate.limits.max_running is None, gate.limits.max_running or 0

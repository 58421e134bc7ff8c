"""What must be true of the tables at any moment, by what the simulation knows (I2, I3, I8 … I17).

Each function yields what is wrong, beginning with the invariant's name.
"""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.core.overlap import SEQUENTIAL_OVERLAPS, Overlap
from rota.core.settlement import WORKER_LOSSES_MAX
from tests.simulation.ledger import Ledger
from tests.simulation.plans import AT_ONCE, BURST, SPACING
from tests.simulation.tables import Attempt, Run, Tables


def wrong_standing(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """Everything in the tables that must not be."""
    yield from ticks(tables, ledger)
    yield from asked(tables, ledger)
    yield from attempts(tables)
    yield from bounds(tables, ledger)
    yield from marks(tables)
    yield from overlaps(tables, ledger)
    yield from limits(tables, ledger)
    yield from rates(tables, ledger)


def ticks(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """Every tick before the cursor is a run or on record, once; no other tick is (I2, I3)."""
    for job_id, stretches in ledger.owed.items():
        job = tables.jobs[job_id]
        owed = [tick for stretch in stretches for tick in stretch.ticks(job.tick_at)]
        found = Counter[datetime]()
        for run in tables.of_job(job_id):
            if run.id not in ledger.asked:
                found.update(covered(run, owed))
        for tick, count in found.items():
            if count > 1:
                yield f"I2 tick {tick} of job {job_id} was decided {count} times"
        missing, more = set(owed) - found.keys(), found.keys() - set(owed)
        if missing or more:
            yield f"I3 job {job_id} at {job.tick_at}: lacks {sorted(missing)}, has {sorted(more)}"


def covered(run: Run, owed: list[datetime]) -> list[datetime]:
    """The ticks that a row stands for: one, or those that a record counts."""
    why = run.why
    if "count" not in why:
        return [run.scheduled_at]
    first, last = (datetime.fromisoformat(why[end]) for end in ("first", "last"))
    within = owed[bisect_left(owed, first) : bisect_right(owed, last)]
    if len(within) != why["count"] or first not in within or last not in within:
        return [*within, first, last]
    return within


def asked(tables: Tables, ledger: Ledger) -> Iterator[str]:
    for id_ in ledger.asked:
        is_run = id_ in tables.alive or id_ in tables.ended
        if not is_run and id_ not in tables.submissions:
            yield f"I1 run {id_} was acknowledged and is nowhere"
        if is_run and id_ in tables.submissions:
            yield f"I2 submission {id_} is a run and waits for its instant"


def attempts(tables: Tables) -> Iterator[str]:
    """Attempts are 1 … n, and all but the last are on record (I8)."""
    for run in (*tables.alive.values(), *tables.ended.values()):
        kept = [row.attempt for row in tables.attempts.get(run.id, ())]
        over = list(range(1, run.attempt))
        every = [*over, run.attempt] if run.attempt else []
        if run.is_held:
            right = kept == over
        elif run.id in tables.alive:
            right = kept == every
        else:
            right = kept in (over, every)
        if not right:
            yield f"I8 {run.state} run {run.id} at attempt {run.attempt} has {kept} on record"


def bounds(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """No more retries, losses or starts than promised (I15, I17)."""
    starts = Counter(start.run_id for start in ledger.starts)
    for run in (*tables.alive.values(), *tables.ended.values()):
        plan, again = ledger.plans[run.job_id], ledger.replays[run.id]
        outcomes = Counter(row.outcome for row in tables.attempts.get(run.id, ()))
        if outcomes["failed"] > plan.retries + again * (plan.retries + 1):
            yield f"I17 run {run.id} failed {outcomes['failed']} times and goes on"
        if outcomes["lost"] > WORKER_LOSSES_MAX - 1 + again * WORKER_LOSSES_MAX:
            yield f"I17 run {run.id} was lost {outcomes['lost']} times and goes on"
        most = 1 + again + ledger.harmless[run.id]
        if plan.guarantee is Guarantee.AT_MOST_ONCE and starts[run.id] > most:
            yield f"I15 run {run.id} started {starts[run.id]} times, {most} at most"


def marks(tables: Tables) -> Iterator[str]:
    """What an attempt said is told of that attempt and of nobody else (I9)."""
    for run in tables.ended.values():
        if run.state == "succeeded" and json.loads(run.result or "null") != mark(run):
            yield f"I9 run {run.id} succeeded by {mark(run)} with the result of {run.result}"
        if run.state == "dead" and run.why["message"] != mark(run):
            yield f"I9 run {run.id} died by {mark(run)} with the failure of {run.reason}"
    for rows in tables.attempts.values():
        for row in rows:
            if row.outcome == "failed" and json.loads(row.reason or "{}")["message"] != mark(row):
                yield f"I9 attempt {mark(row)} of {row.run_id} has the failure of {row.reason}"


def mark(of: Run | Attempt) -> str:
    return f"{of.session_id} {of.attempt}"


def overlaps(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """Jobs that allow no overlap have none (I11)."""
    alive, held, new = Counter[UUID](), Counter[UUID](), Counter[UUID]()
    for run in tables.alive.values():
        alive[run.job_id] += 1
        held[run.job_id] += run.is_held
        new[run.job_id] += run.waits and run.attempt == 0
    for job_id, plan in ledger.plans.items():
        if plan.overlap is Overlap.ALLOW:
            continue
        if plan.overlap in SEQUENTIAL_OVERLAPS and held[job_id] > 1:
            yield f"I11 {held[job_id]} runs of job {job_id} ({plan.overlap}) at a time"
        # A dead letter that somebody brings back, or runs handed in in bulk, come on top.
        extra = [run for run in alive_of(tables) if run.trigger in ("replay", "api")]
        if any(run.job_id == job_id for run in extra):
            continue
        if plan.overlap is Overlap.SKIP and alive[job_id] > 1:
            yield f"I11 {alive[job_id]} runs of job {job_id} are alive; one should be skipped"
        if plan.overlap is Overlap.TERMINATE_RUNNING and alive[job_id] > 1:
            yield f"I11 {alive[job_id]} runs of job {job_id} are alive, the older should be ended"
        if plan.overlap is Overlap.QUEUE_ONE and new[job_id] > 1:
            yield f"I11 {new[job_id]} new runs of job {job_id} wait, one at most"


def alive_of(tables: Tables) -> list[Run]:
    return list(tables.alive.values())


def limits(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """Behind no gate are more runs than it lets through at a time (E7)."""
    behind = Counter(gate for run in tables.held() for gate in run.gates)
    for id_, count in behind.items():
        gate = tables.gates[id_]
        most = 1 if gate.in_order else AT_ONCE.get(gate.key.removeprefix("key:"), count)
        if count > most:
            yield f"I11 {count} runs behind gate {gate.key}, {most} at most"
    if ledger.queue_limit is not None and len(tables.held()) > ledger.queue_limit:
        yield f"I11 {len(tables.held())} runs of the queue, {ledger.queue_limit} at most"


def rates(tables: Tables, ledger: Ledger) -> Iterator[str]:
    """In any span of time a gate with a rate is passed by no more than the rate allows (E7)."""
    for id_, gate in tables.gates.items():
        if gate.key != "key:slow":
            continue
        times = sorted(start.at for start in ledger.starts if id_ in start.gates)
        for count in range(BURST + 1, len(times) + 1):
            for first, last in zip(times, times[count - 1 :], strict=False):
                if last - first < SPACING * (count - BURST):
                    yield f"I11 {count} starts through {gate.key} in {last - first}"

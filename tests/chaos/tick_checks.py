"""Invariants about ticks: each fired once, none lost, in time, in order, none while paused.

Every check is a function from a history to its counter-examples. A run names its tick, so expected
and actual ticks are matched by sorting, never by search.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from tests.chaos.history import RECORDS, History, Operation, Plan, Row
from tests.chaos.ticks import ticks_of

# How soon a tick must start once nothing is disturbed any more.
CALM_LAG = timedelta(seconds=5)
INSTANT = timedelta(microseconds=1)
Window = tuple[datetime, datetime | None]


def tick_unique(history: History) -> Iterator[str]:
    """I2: at most one row for each (job, tick), alive or finished."""
    rows = Counter(
        (row.job_id, row.scheduled_at) for row in history.rows if is_one_tick(row, history)
    )
    for (job, tick), count in rows.items():
        if count > 1:
            yield f"job {job} has {count} rows for the tick {tick}"


def is_one_tick(row: Row, history: History) -> bool:
    return row.trigger == "tick" and row.job_id in history.plans


def tick_complete(history: History) -> Iterator[str]:
    """I3: every due tick is a run or is accounted for by a record; none was invented."""
    rows = defaultdict(list)
    for row in history.rows:
        if row.trigger == "tick":
            rows[row.job_id].append(row)
    for plan in history.plans.values():
        if plan.anchor is not None or plan.cron_step is not None:
            yield from holes_of(plan, rows[plan.job_id], history)


def holes_of(plan: Plan, rows: list[Row], history: History) -> Iterator[str]:
    if plan.must_from is None or plan.may_from is None or history.ended is None:
        return
    # A job whose creation was not acknowledged may not exist; if it was, that is I1.
    if plan.job_id not in history.job_states:
        return
    seen = {row.scheduled_at for row in rows if row.first is None}
    records = sorted((row.first, row.last) for row in rows if row.first and row.last)
    cursor = history.cursors.get(plan.job_id, history.ended)
    excused = pauses_of(plan.job_id, history)
    # As far as the cursor has come, and unless the job was held, up to the end.
    until = cursor - INSTANT
    if history.job_states.get(plan.job_id) != "paused":
        until = max(history.ended, until)
    expected = set(ticks_of(plan, after=plan.must_from, until=until))
    allowed = set(ticks_of(plan, after=plan.may_from, until=until))
    for tick in sorted(expected - seen):
        if not is_covered(tick, records) and not is_within(tick, excused):
            yield f"job {plan.job_id}: the tick {tick} is neither a run nor on record"
    for tick in sorted(seen - allowed):
        if tick <= until:
            yield f"job {plan.job_id}: {tick} is no tick of its schedule"


def is_covered(tick: datetime, records: list[tuple[datetime, datetime]]) -> bool:
    """Whether one of the records, sorted and apart from each other, spans the tick."""
    place = bisect_right(records, tick, key=lambda record: record[0])
    return any(first <= tick <= last for first, last in records[max(0, place - 2) : place])


def is_within(time: datetime, windows: list[Window]) -> bool:
    return any(since <= time and (until is None or time <= until) for since, until in windows)


def pauses_of(job: UUID, history: History) -> list[Window]:
    """From when a pause was asked for until its end was answered: what happens then is excused."""
    changes = [o for o in history.operations if o.thing == job and o.verb in {"pause", "resume"}]
    windows: list[Window] = []
    since: datetime | None = None
    for change in sorted(changes, key=lambda each: each.invoked):
        if change.verb == "pause" and change.outcome != "fail" and since is None:
            since = change.invoked_wall
        elif change.verb == "resume" and change.outcome == "ok" and since is not None:
            windows.append((since, change.returned_wall))
            since = None
    return [*windows, (since, None)] if since is not None else windows


def timely(history: History) -> Iterator[str]:
    """I5: once nothing is disturbed any more, ticks and submissions start soon after they are
    due.
    """
    if history.calm_from is None or history.ended is None:
        return
    for row in history.rows:
        is_scheduled = row.trigger == "tick" or row.id == row.job_id
        if not is_scheduled or not history.calm_from <= row.due_at <= history.ended:
            continue
        starts = history.starts_of.get(row.id)
        plan = history.plans.get(row.job_id)
        # Runs that must wait for each other say nothing about the engine's speed.
        if starts and plan and plan.overlap == "allow" and plan.most is None:
            lag = starts[0].wall - row.due_at
            if lag > CALM_LAG:
                yield f"run {row.id} started {lag} after it was due, in calm times"


def in_order(history: History) -> Iterator[str]:
    """I12: the ticks of a job that queues all of them start in the order of their times."""
    newest: dict[UUID, datetime] = {}
    for mark in history.starts:
        plan = history.plans.get(mark.job_id)
        row = history.final.get(mark.run_id)
        if plan is None or plan.overlap != "queue_all" or row is None or row.trigger != "tick":
            continue
        if mark.attempt == 1 and mark.scheduled_at < newest.get(mark.job_id, mark.scheduled_at):
            yield f"job {mark.job_id}: the tick {mark.scheduled_at} started after a later one"
        newest[mark.job_id] = max(mark.scheduled_at, newest.get(mark.job_id, mark.scheduled_at))


def quiet_while_paused(history: History) -> Iterator[str]:
    """I14: after a pause was acknowledged no tick is fired until somebody asks to resume."""
    windows = {job: list(acknowledged_pauses(job, history)) for job in history.plans}
    for row in history.rows:
        if row.trigger != "tick" or row.state in RECORDS or row.created_at is None:
            continue
        for since, until in windows.get(row.job_id, ()):
            if since < row.created_at and (until is None or row.created_at < until):
                yield f"job {row.job_id} was paused and fired {row.scheduled_at}"


def acknowledged_pauses(job: UUID, history: History) -> Iterator[Window]:
    """From the answer to a pause until the next wish, whatever became of it, to resume."""
    changes = [o for o in history.operations if o.thing == job and o.verb in {"pause", "resume"}]
    ordered: list[Operation] = sorted(changes, key=lambda each: each.invoked)
    for place, change in enumerate(ordered):
        if change.verb == "pause" and change.outcome == "ok":
            ends = (o.invoked_wall for o in ordered[place + 1 :] if o.verb == "resume")
            yield change.returned_wall, next(ends, None)

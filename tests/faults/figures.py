"""What a trial came to, in figures: the columns of the fault table."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from tests.chaos.checker import judge
from tests.chaos.history import History
from tests.chaos.ticks import ticks_of
from tests.faults.client import TICK_KIND, UNAVAILABLE, Acknowledged, Answer
from tests.faults.trial import Trial
from tests.support.sink import Mark

# A tick that starts later than this is late.
LATE: Final = timedelta(seconds=2)
NANO: Final = 1e9
# Shorter gaps between acknowledgements are no outage.
SHORT_GAP_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One attempt by the sink: from its start to the last that was heard of it."""

    run_id: UUID
    job_id: UUID
    attempt: int
    start: int
    last: int
    is_done: bool


@dataclass(frozen=True, kw_only=True)
class Figures:
    acknowledged: int
    # Acknowledged, and without a run.
    lost: int
    tick_holes: int
    tick_doubles: int
    at_most_once_twice: int
    # At-most-once runs that ended `lost`, and those of them whose handler had come to its end.
    at_most_once_lost: int
    at_most_once_discarded: int
    # Runs whose attempt had not come to its end when the next one began; without jobs that forbid
    # overlap, whose attempts a worker stops before its lease ends.
    restarted: int
    # Runs whose attempt had come to its end and was done again.
    repeated: int
    # Attempts of one run at the same time; runs at the same time of a job that forbids it.
    overlaps_at_most_once: int
    overlaps_exclusive: int
    overlaps_other: int
    # Seconds after the fault struck; 0 if there was no gap.
    submit_back_s: float
    submit_gap_s: float
    ticks_back_s: float
    exits: list[tuple[str, int, float]]
    answers: dict[str, int]
    without_retry_after: int
    # Invariants of the chaos checker that did not hold, each with its first counter-example.
    violated: dict[str, str]
    extra: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure_trial(trial: Trial, **extra: Any) -> Figures:
    history = trial.history
    lives = list_lives(history.marks)
    once = {job_id for job_id, plan in history.plans.items() if plan.guarantee == "at_most_once"}
    runs = Counter(row.job_id for row in history.rows)
    holes, doubles = count_tick_faults(history)
    back, gap = measure_gap(trial.client.acknowledged, trial.struck_at)
    answers = trial.client.answers
    return Figures(
        acknowledged=len(trial.client.acknowledged),
        lost=sum(runs[each.job_id] == 0 for each in trial.client.acknowledged),
        tick_holes=holes,
        tick_doubles=doubles,
        at_most_once_twice=sum(
            len(marks) > 1 for marks in history.starts_of.values() if marks[0].job_id in once
        ),
        **count_discarded(history, lives, once),
        **count_successors(lives, exclusive_jobs(history)),
        **count_overlaps(history, lives, once),
        submit_back_s=back,
        submit_gap_s=gap,
        ticks_back_s=measure_ticks_back(trial),
        exits=[
            (each.name, each.code, round(each.at - trial.struck_at, 1))
            for each in trial.fleet.exits
        ],
        answers=dict(Counter(each.said for each in answers)),
        without_retry_after=count_without_retry_after(answers),
        violated={
            each.invariant: str(each) for each in judge(history).findings if each.first is not None
        },
        extra=extra,
    )


def list_lives(marks: Sequence[Mark]) -> list[Life]:
    """Attempts in the order of their starts."""
    by_attempt: dict[tuple[UUID, int], list[Mark]] = defaultdict(list)
    for mark in marks:
        by_attempt[mark.run_id, mark.attempt].append(mark)
    lives = [
        Life(
            run_id=run_id,
            job_id=found[0].job_id,
            attempt=attempt,
            start=min(mark.at for mark in found),
            last=max(mark.at for mark in found),
            is_done=any(mark.event == "done" for mark in found),
        )
        for (run_id, attempt), found in by_attempt.items()
    ]
    return sorted(lives, key=lambda life: life.start)


def count_tick_faults(history: History) -> tuple[int, int]:
    """Ticks without a run of their own, and ticks with more than one."""
    holes = doubles = 0
    assert history.ended is not None
    for plan in history.plans.values():
        if plan.every is None or plan.must_from is None:
            continue
        fired = Counter(
            row.scheduled_at
            for row in history.rows
            if row.job_id == plan.job_id and row.trigger == "tick" and row.first is None
        )
        expected = ticks_of(plan, after=plan.must_from, until=history.ended)
        holes += sum(fired[tick] == 0 for tick in expected)
        doubles += sum(number - 1 for number in fired.values())
    return holes, doubles


def count_discarded(history: History, lives: list[Life], once: set[UUID]) -> dict[str, int]:
    done = {life.run_id for life in lives if life.is_done}
    lost = [row for row in history.rows if row.state == "lost" and row.job_id in once]
    return {
        "at_most_once_lost": len(lost),
        "at_most_once_discarded": sum(row.id in done for row in lost),
    }


def exclusive_jobs(history: History) -> set[UUID]:
    """The jobs that forbid overlap."""
    return {job_id for job_id, plan in history.plans.items() if plan.overlap == "skip"}


def count_successors(lives: list[Life], exclusive: set[UUID]) -> dict[str, int]:
    """Runs that began again although their attempt was under way, or had come to its end."""
    found = Counter(
        "repeated" if earlier.is_done else "restarted"
        for attempts in group_by_run(lives).values()
        for earlier, _ in pairwise(attempts)
        if earlier.is_done or earlier.job_id not in exclusive
    )
    return {"restarted": found["restarted"], "repeated": found["repeated"]}


def group_by_run(lives: list[Life]) -> dict[UUID, list[Life]]:
    groups: dict[UUID, list[Life]] = defaultdict(list)
    for life in lives:
        groups[life.run_id].append(life)
    return groups


def count_overlaps(history: History, lives: list[Life], once: set[UUID]) -> dict[str, int]:
    """Attempts that were still heard of after the next one had begun."""
    counts = {"overlaps_at_most_once": 0, "overlaps_exclusive": 0, "overlaps_other": 0}
    for attempts in group_by_run(lives).values():
        overlaps = sum(later.start < earlier.last for earlier, later in pairwise(attempts))
        name = "at_most_once" if attempts[0].job_id in once else "other"
        counts[f"overlaps_{name}"] += overlaps
    for job_id in exclusive_jobs(history):
        own = [life for life in lives if life.job_id == job_id]
        counts["overlaps_exclusive"] += sum(
            later.start < earlier.last for earlier, later in pairwise(own)
        )
    return counts


def measure_gap(acknowledged: list[Acknowledged], struck_at: float) -> tuple[float, float]:
    """The first acknowledgement after the longest gap since the fault struck, and the gap."""
    times = sorted(each.at for each in acknowledged)
    later = times[max(0, bisect_left(times, struck_at) - 1) :]
    gaps = [(after - before, after) for before, after in pairwise(later)]
    gap, after = max(gaps, default=(0.0, struck_at))
    return (
        (0.0, round(gap, 1)) if gap < SHORT_GAP_S else (round(after - struck_at, 1), round(gap, 1))
    )


def measure_ticks_back(trial: Trial) -> float:
    """When the last tick started that was late, in seconds after the fault struck."""
    latest = 0.0
    for mark in trial.history.starts:
        if mark.kind == TICK_KIND and mark.wall - mark.scheduled_at > LATE:
            latest = max(latest, mark.at / NANO - trial.struck_at)
    return round(latest, 1)


def count_without_retry_after(answers: list[Answer]) -> int:
    return sum(each.said == str(UNAVAILABLE) and not each.has_retry_after for each in answers)


def measure_resumption(trial: Trial, since: float) -> dict[str, float]:
    """Seconds from `since` until the first submission, tick and other execution."""
    starts: dict[str, list[float]] = {"ticks": [], "executions": []}
    for mark in trial.history.starts:
        name = "ticks" if mark.kind == TICK_KIND else "executions"
        starts[name].append(mark.at / NANO)
    found = {"submissions": [each.at for each in trial.client.acknowledged], **starts}
    return {
        name: round(min((at for at in times if at > since), default=float("inf")) - since, 2)
        for name, times in found.items()
    }

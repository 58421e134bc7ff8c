"""Invariants about answers and company: what was acknowledged stays, limits and overlap hold."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from uuid import UUID

from rota.core.time.tick import FIRE_AHEAD
from tests.chaos.history import History, Operation, Span
from tests.chaos.tick_checks import quiet_while_paused


def acknowledged_stays(history: History) -> Iterator[str]:
    """I1: what was answered with success is in the final state, or superseded by a later wish."""
    last_hold: dict[UUID, Operation] = {}
    for operation in sorted(history.operations, key=lambda each: each.invoked):
        if operation.verb in {"pause", "resume", "delete"} and operation.outcome != "fail":
            last_hold[operation.thing] = operation
        if operation.outcome != "ok":
            continue
        if operation.verb == "create" and operation.thing not in history.job_states:
            yield f"job {operation.thing} was acknowledged and does not exist"
        if operation.verb == "submit" and operation.thing not in history.final:
            yield f"run {operation.thing} was acknowledged and does not exist"
    for job, operation in last_hold.items():
        state = history.job_states.get(job)
        if operation.outcome == "ok" and operation.verb == "pause" and state == "active":
            yield f"job {job} was paused and is {state}"
        if operation.outcome == "ok" and operation.verb == "resume" and state == "paused":
            yield f"job {job} was resumed and is {state}"


def cancelled_stays(history: History) -> Iterator[str]:
    """I14: after an acknowledged cancel nothing starts, nothing is retried, and the run has ended
    as cancelled; after an acknowledged pause nothing fires.
    """
    for operation in history.operations:
        if operation.verb != "cancel" or operation.outcome != "ok":
            continue
        if operation.answer not in {"cancelled", "cancelling"}:
            continue
        for mark in history.starts_of.get(operation.thing, ()):
            if mark.at > operation.returned and not is_just_claimed(
                operation, mark.attempt, history
            ):
                yield f"run {mark.run_id} started after its cancel was acknowledged"
        row = history.final.get(operation.thing)
        if row is not None and not row.is_live and row.state != "cancelled":
            yield f"run {row.id} was cancelled and ended as {row.state}"
    yield from quiet_while_paused(history)


def is_just_claimed(operation: Operation, attempt: int, history: History) -> bool:
    """A run that was asked to stop while its worker was about to start it: the claim came first,
    so this attempt may still begin; a later one may not. A claim that came ahead of its time is
    noted with the time at which it starts.
    """
    row = history.final.get(operation.thing)
    return (
        operation.answer == "cancelling"
        and row is not None
        and row.attempt == attempt
        and row.started_at is not None
        and row.started_at <= operation.returned_wall + FIRE_AHEAD
    )


def no_overlap(history: History) -> Iterator[str]:
    """I11: runs of a job that forbids overlap, or of a limited key, are not executed together.

    Attempts that Rota has given up are zombies: they are counted elsewhere and left out here.
    """
    lanes: dict[str, list[Span]] = defaultdict(list)
    most: dict[str, int] = {}
    for span in history.spans:
        plan = history.plans.get(span.job_id)
        if plan is None or span.is_zombie:
            continue
        if plan.overlap not in {"allow", "terminate_running"}:
            lanes[f"job {plan.job_id}"].append(span)
            most[f"job {plan.job_id}"] = 1
        if plan.key is not None and plan.most is not None:
            lanes[f"key {plan.key}"].append(span)
            most[f"key {plan.key}"] = plan.most
    for lane, spans in lanes.items():
        crowd = most_together(spans)
        if crowd > most[lane]:
            yield f"{lane}: {crowd} at the same time, {most[lane]} allowed"


def most_together(spans: Iterable[Span]) -> int:
    """The largest number of spans that share an instant; one that ends as another begins does
    not count.
    """
    ends: list[int] = []
    crowd = 0
    for span in sorted(spans, key=lambda each: each.start):
        while ends and ends[0] <= span.start:
            heapq.heappop(ends)
        heapq.heappush(ends, span.end)
        crowd = max(crowd, len(ends))
    return crowd


def zombies(history: History) -> int:
    """Attempts that went on at the sink after another attempt of their run had begun."""
    count = 0
    newest: dict[UUID, int] = {}
    for span in sorted(history.spans, key=lambda each: -each.attempt):
        later = newest.get(span.run_id)
        count += later is not None and span.end > later
        newest[span.run_id] = span.start
    return count

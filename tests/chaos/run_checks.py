"""Invariants about runs and attempts: conserved, single ending, fences, bounds of retries."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from tests.chaos.history import RECORDS, WAITING, History, Row

# A statement's time is that of its arrival; between it and its view of the data it may lose the
# processor to another statement that comes later and is over sooner.
ARRIVAL = timedelta(milliseconds=50)
# The two clocks that are compared here are one clock, read by two programs: rounding to the
# microsecond is all that can differ.
ROUNDING = timedelta(microseconds=2)


def not_early(history: History) -> Iterator[str]:
    """I4: no attempt starts before its run is due, and no retry before its back-off is over."""
    for mark in history.starts:
        row = history.final.get(mark.run_id)
        if row is not None and mark.wall + ROUNDING < row.due_at:
            yield f"run {mark.run_id} was due at {row.due_at} and started at {mark.wall}"


def conserved(history: History) -> Iterator[str]:
    """I6: after the drain every run has ended, and no attempt is of a run that nobody knows."""
    for row in history.rows:
        if row.is_live:
            yield f"run {row.id} is still {row.state} after attempt {row.attempt}"
    for run_id in history.starts_of:
        if run_id not in history.final:
            yield f"run {run_id} was executed and is in no table"


def single_ending(history: History) -> Iterator[str]:
    """I7: a run ends once: one row, and no attempt after the one that ended it."""
    for run_id, count in Counter(row.id for row in history.rows).items():
        if count > 1:
            yield f"run {run_id} is in the tables {count} times"
    for mark in history.starts:
        row = history.final.get(mark.run_id)
        if row is None or row.is_live:
            continue
        if mark.attempt > row.attempt or row.state in RECORDS:
            ending = f"{row.state} at attempt {row.attempt}"
            yield f"run {row.id} ended as {ending}, yet attempt {mark.attempt} ran"


def attempt_unique(history: History) -> Iterator[str]:
    """I8: each attempt starts at most once, and the attempts on record are 1 … n without a gap."""
    started = Counter((mark.run_id, mark.attempt) for mark in history.starts)
    for (run_id, attempt), count in started.items():
        if count > 1:
            yield f"attempt {attempt} of run {run_id} started {count} times"
    for row in history.rows:
        yield from gaps_of(row, [each.attempt for each in history.tries_of.get(row.id, ())])


def gaps_of(row: Row, kept: list[int]) -> Iterator[str]:
    # The last attempt is told by the run itself, unless the run was waiting when it ended. A graph
    # run that waits for its steps has done its attempt by unfolding.
    unfolded = "blocked" in {row.left_state, row.state}
    waited = not unfolded and (row.left_state in WAITING or row.state in WAITING)
    if kept != list(range(1, row.attempt + 1 if waited else row.attempt)):
        yield f"run {row.id} ended at attempt {row.attempt}; on record are {kept}"


def fences_grow(history: History) -> Iterator[str]:
    """I9: tokens only grow: at the sink, and among the changes that were accepted."""
    for run_id, marks in history.starts_of.items():
        attempts = [mark.attempt for mark in marks]
        if any(later <= earlier for earlier, later in pairwise(attempts)):
            yield f"run {run_id} started its attempts in the order {attempts}"
    granted = granted_by(history)
    for use in history.uses:
        # A later grant was known before the request left: the request cannot have come first.
        known = granted.get(use.thing, [])
        place = bisect_left(known, (use.sent, 0))
        if place and known[place - 1][1] > use.token:
            newer = known[place - 1][1]
            yield f"{use.thing}: {use.token} was accepted after {newer} had been granted"


def granted_by(history: History) -> dict[str, list[tuple[int, int]]]:
    """For each thing: when, and the greatest token that had been granted by then."""
    granted: dict[str, list[tuple[int, int]]] = {}
    for grant in sorted(history.grants, key=lambda each: each.at):
        known = granted.setdefault(grant.thing, [])
        greatest = max(grant.token, known[-1][1] if known else 0)
        known.append((grant.at, greatest))
    return granted


def leases_exclusive(history: History) -> Iterator[str]:
    """I10: nothing is granted to somebody while another certainly holds it, nor twice alike."""
    held: dict[str, tuple[int, int]] = {}
    tokens = Counter((grant.thing, grant.token) for grant in history.grants)
    for (thing, token), count in tokens.items():
        if count > 1:
            yield f"{thing}: {token} was granted {count} times"
    for grant in sorted(history.grants, key=lambda each: (each.thing, each.token)):
        token, until = held.get(grant.thing, (0, 0))
        if token and grant.at < until:
            ahead = (until - grant.at) / 1e6
            yield f"{grant.thing}: {grant.token} was granted {ahead:.1f} ms before {token} ended"
        held[grant.thing] = (grant.token, grant.until)
    for run_id, tries in history.tries_of.items():
        for earlier, later in pairwise(tries):
            if later.started_at + ARRIVAL < earlier.finished_at:
                yield f"run {run_id}: attempt {later.attempt} began before {earlier.attempt} ended"


def at_most_once(history: History) -> Iterator[str]:
    """I15: a run of an at-most-once job starts at most once."""
    for run_id, marks in history.starts_of.items():
        plan = history.plans.get(marks[0].job_id)
        if plan is not None and plan.guarantee == "at_most_once" and len(marks) > 1:
            yield f"run {run_id} may start once and started {len(marks)} times"


def effects_once(history: History) -> Iterator[str]:
    """I16: an effect in the database is there once if the run succeeded, and else not at all."""
    effects = Counter(history.effects)
    for row in history.rows:
        plan = history.plans.get(row.job_id)
        if plan is not None and plan.has_effects and row.state not in RECORDS:
            wanted = int(row.state == "succeeded")
            if effects[row.id] != wanted:
                yield f"run {row.id} is {row.state} and has {effects[row.id]} effects"


def retries_bounded(history: History) -> Iterator[str]:
    """I17: no more failures than retries allow, no more losses than three, back-off kept."""
    for row in history.rows:
        plan = history.plans.get(row.job_id)
        if plan is not None and row.failures > plan.retries + 1:
            yield f"run {row.id} failed {row.failures} times with {plan.retries} retries"
        if row.losses > history.most_losses:
            yield f"run {row.id} was lost {row.losses} times"
        yield from impatience_of(row, history)


def impatience_of(row: Row, history: History) -> Iterator[str]:
    plan = history.plans.get(row.job_id)
    tries = history.tries_of.get(row.id, [])
    begins = [each.started_at for each in tries[1:]]
    if row.started_at is not None and len(tries) < row.attempt:
        begins.append(row.started_at)
    for each, begin in zip(tries, begins, strict=False):
        least = plan.least_delay if plan and each.outcome == "failed" else timedelta(0)
        wanted = max(each.delay, least)
        if begin + ROUNDING < each.finished_at + wanted:
            yield f"run {row.id}: attempt {each.attempt + 1} came before its back-off of {wanted}"

"""Decides which past ticks a backfill runs, how many at a time, and its state changes (S13).

A backfill walks the ticks of a past range and creates runs for some of them.
core/time/past_ticks.py finds the ticks; the store knows the states of their runs.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

from rota.core.errors import IllegalMove
from rota.core.states import DEAD_LETTER_STATES, LIVE_STATES, RunState

BACKFILL_CONCURRENCY_MAX: Final = 1_000
# Live runs of one backfill: enough to keep its slots filled from one pass to the next, and few
# enough that one statement can cancel them.
LIVE_RUNS_MIN: Final = 100
LIVE_RUNS_MAX: Final = 2_000
# After this many finished runs, the estimate uses the backfill's own pace instead of the job's
# durations.
PACE_SAMPLE_MIN: Final = 20


class BackfillSelection(StrEnum):
    """Which ticks get a run: ticks that never ran, ticks whose runs failed, or all."""

    MISSING = "missing"
    FAILED = "failed"
    ALL = "all"


class BackfillOrder(StrEnum):
    OLDEST = "oldest"
    NEWEST = "newest"


class BackfillState(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class BackfillEvent(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


class TickResult(IntEnum):
    """The result of a tick: the best result among its runs. Smaller is better."""

    ALIVE = 0
    RAN = 1
    FAILED = 2
    MISSING = 3


_B, _E = BackfillState, BackfillEvent

BACKFILL_MOVES: Final = {
    (_B.RUNNING, _E.PAUSE): _B.PAUSED,
    (_B.PAUSED, _E.RESUME): _B.RUNNING,
    (_B.RUNNING, _E.CANCEL): _B.CANCELLING,
    (_B.PAUSED, _E.CANCEL): _B.CANCELLING,
    # A caller that let running runs finish may cancel again, to stop them as well.
    (_B.CANCELLING, _E.CANCEL): _B.CANCELLING,
}
UNFINISHED_STATES: Final = frozenset({_B.RUNNING, _B.PAUSED, _B.CANCELLING})
# A cancelled run does not count: its tick is treated as missing.
FAILED_RUN_STATES: Final = DEAD_LETTER_STATES | {RunState.EXPIRED}


def advance_backfill(state: BackfillState, event: BackfillEvent) -> BackfillState:
    """Return the state that `event` leads to, or raise `IllegalMove`."""
    following = BACKFILL_MOVES.get((state, event))
    if following is None:
        allowed = [old.value for old, move in BACKFILL_MOVES if move is event]
        raise IllegalMove("backfill", state.value, event.value, allowed)
    return following


def rate_tick(states: Iterable[RunState]) -> TickResult:
    """Return the result of a tick whose runs are in these states."""
    return min(map(_rate_run, states), default=TickResult.MISSING)


def _rate_run(state: RunState) -> TickResult:
    if state in LIVE_STATES:
        return TickResult.ALIVE
    if state is RunState.SUCCEEDED:
        return TickResult.RAN
    return TickResult.FAILED if state in FAILED_RUN_STATES else TickResult.MISSING


def needs_run(only: BackfillSelection, found: TickResult) -> bool:
    """Return whether a tick with this result gets a run; never if it already has a live run."""
    match only:
        case BackfillSelection.MISSING:
            return found is TickResult.MISSING
        case BackfillSelection.FAILED:
            return found is TickResult.FAILED
        case BackfillSelection.ALL:
            return found is not TickResult.ALIVE


def compute_live_limit(at_once: int) -> int:
    """Return how many runs of a backfill may be live."""
    return min(max(LIVE_RUNS_MIN, 4 * at_once), LIVE_RUNS_MAX)


def estimate_duration(runs: int, *, each: timedelta | None, at_once: int) -> timedelta | None:
    """Return how long this many runs take if one takes `each`; None if `each` is unknown."""
    return None if each is None else each * (-(-runs // at_once))


def measure_pace(*, ended: int, busy: timedelta) -> timedelta | None:
    """Return the mean time between two finished runs; None before there are enough of them."""
    return busy / ended if ended >= PACE_SAMPLE_MIN and busy > timedelta(0) else None


def compute_due_at(now: datetime, place: int, order: BackfillOrder) -> datetime:
    """Return when the run at this place of a batch may start.

    Runs that are ready at the same instant start oldest first. For the newest-first order each run
    is ready a microsecond after the one before it, and all of them `LEAD` from now, so that the
    database's clock does not overtake them.
    """
    if order is BackfillOrder.OLDEST:
        return now
    return now + NEWEST_FIRST_LEAD + place * timedelta(microseconds=1)


NEWEST_FIRST_LEAD: Final = timedelta(milliseconds=200)

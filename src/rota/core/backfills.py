"""Decides which past ticks a backfill runs, how many at a time, and its state changes (S13).

A backfill walks the ticks of a past range and creates runs for some of them. core/time/past.py
finds the ticks; the store knows the states of their runs.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

from rota.core.errors import IllegalMove
from rota.core.states import BAD, LIVE, RunState

MOST_AT_ONCE: Final = 1_000
# Live runs of one backfill: enough to keep its slots filled from one pass to the next, and few
# enough that one statement can cancel them.
SMALLEST_WINDOW: Final = 100
LARGEST_WINDOW: Final = 2_000
# After this many finished runs, the estimate uses the backfill's own pace instead of the job's
# durations.
TELLING: Final = 20


class Only(StrEnum):
    """Which ticks get a run: ticks that never ran, ticks whose runs failed, or all."""

    MISSING = "missing"
    FAILED = "failed"
    ALL = "all"


class Order(StrEnum):
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


class Standing(IntEnum):
    """The result of a tick: the best result among its runs. Smaller is better."""

    ALIVE = 0
    RAN = 1
    FAILED = 2
    MISSING = 3


_B, _E = BackfillState, BackfillEvent

MOVES: Final = {
    (_B.RUNNING, _E.PAUSE): _B.PAUSED,
    (_B.PAUSED, _E.RESUME): _B.RUNNING,
    (_B.RUNNING, _E.CANCEL): _B.CANCELLING,
    (_B.PAUSED, _E.CANCEL): _B.CANCELLING,
    # A caller that let running runs finish may cancel again, to stop them as well.
    (_B.CANCELLING, _E.CANCEL): _B.CANCELLING,
}
UNFINISHED: Final = frozenset({_B.RUNNING, _B.PAUSED, _B.CANCELLING})
# A cancelled run does not count: its tick is treated as missing.
FAILURES: Final = BAD | {RunState.EXPIRED}


def advance(state: BackfillState, event: BackfillEvent) -> BackfillState:
    """Return the state that `event` leads to, or raise `IllegalMove`."""
    following = MOVES.get((state, event))
    if following is None:
        allowed = [old.value for old, move in MOVES if move is event]
        raise IllegalMove("backfill", state.value, event.value, allowed)
    return following


def standing(states: Iterable[RunState]) -> Standing:
    """Return the result of a tick whose runs are in these states."""
    return min(map(_rate_run, states), default=Standing.MISSING)


def _rate_run(state: RunState) -> Standing:
    if state in LIVE:
        return Standing.ALIVE
    if state is RunState.SUCCEEDED:
        return Standing.RAN
    return Standing.FAILED if state in FAILURES else Standing.MISSING


def wants(only: Only, found: Standing) -> bool:
    """Return whether a tick with this result gets a run; never if it already has a live run."""
    match only:
        case Only.MISSING:
            return found is Standing.MISSING
        case Only.FAILED:
            return found is Standing.FAILED
        case Only.ALL:
            return found is not Standing.ALIVE


def window(at_once: int) -> int:
    """Return how many runs of a backfill may be live."""
    return min(max(SMALLEST_WINDOW, 4 * at_once), LARGEST_WINDOW)


def takes(runs: int, *, each: timedelta | None, at_once: int) -> timedelta | None:
    """Return how long this many runs take if one takes `each`; None if `each` is unknown."""
    return None if each is None else each * (-(-runs // at_once))


def pace(*, ended: int, busy: timedelta) -> timedelta | None:
    """Return the mean time between two finished runs; None before there are enough of them."""
    return busy / ended if ended >= TELLING and busy > timedelta(0) else None


def due_at(now: datetime, place: int, order: Order) -> datetime:
    """Return when the run at this place of a batch may start.

    Runs that are ready at the same instant start oldest first. For the newest-first order each run
    is ready a microsecond after the one before it, and all of them `LEAD` from now, so that the
    database's clock does not overtake them.
    """
    if order is Order.OLDEST:
        return now
    return now + LEAD + place * timedelta(microseconds=1)


LEAD: Final = timedelta(milliseconds=200)

"""The rules of a backfill: which ticks get a run, how many at a time, what may follow what (S13).

Room: core. A backfill goes over the ticks of a past range and makes runs for some of them. Where
the ticks are is core/time/past.py; what became of them, the store knows.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

from rota.core.errors import IllegalMove
from rota.core.states import BAD, LIVE, RunState

MOST_AT_ONCE: Final = 1_000
# What is alive of one backfill: enough to keep its places filled from one look to the next, and
# little enough that cancelling it is one statement.
SMALLEST_WINDOW: Final = 100
LARGEST_WINDOW: Final = 2_000
# From so many endings on, the pace that a backfill has is a better guide than the times of its job.
TELLING: Final = 20


class Only(StrEnum):
    """Which ticks get a run: those that never ran, those whose runs failed, or all of them."""

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
    """What became of a tick: the best that can be said of its runs, the smaller the better."""

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
    # Whoever let the running ones end may think again.
    (_B.CANCELLING, _E.CANCEL): _B.CANCELLING,
}
UNFINISHED: Final = frozenset({_B.RUNNING, _B.PAUSED, _B.CANCELLING})
# A run that was cancelled did not come to an end of its own: its tick is as good as missing.
FAILURES: Final = BAD | {RunState.EXPIRED}


def advance(state: BackfillState, event: BackfillEvent) -> BackfillState:
    """The state that `event` leads to, or `IllegalMove`."""
    following = MOVES.get((state, event))
    if following is None:
        raise IllegalMove(thing="backfill", state=state.value, event=event.value)
    return following


def standing(states: Iterable[RunState]) -> Standing:
    """What became of a tick that has runs in these states, or none."""
    return min(map(_of_one, states), default=Standing.MISSING)


def _of_one(state: RunState) -> Standing:
    if state in LIVE:
        return Standing.ALIVE
    if state is RunState.SUCCEEDED:
        return Standing.RAN
    return Standing.FAILED if state in FAILURES else Standing.MISSING


def wants(only: Only, found: Standing) -> bool:
    """Whether such a tick gets a run. One whose run is alive never does: it is about to be done."""
    match only:
        case Only.MISSING:
            return found is Standing.MISSING
        case Only.FAILED:
            return found is Standing.FAILED
        case Only.ALL:
            return found is not Standing.ALIVE


def window(at_once: int) -> int:
    """How many runs of a backfill may be alive."""
    return min(max(SMALLEST_WINDOW, 4 * at_once), LARGEST_WINDOW)


def takes(runs: int, *, each: timedelta | None, at_once: int) -> timedelta | None:
    """How long so many runs take if one takes `each`; None if nobody knows."""
    return None if each is None else each * (-(-runs // at_once))


def pace(*, ended: int, busy: timedelta) -> timedelta | None:
    """The time from one ending to the next, once there are enough to tell."""
    return busy / ended if ended >= TELLING and busy > timedelta(0) else None


def due_at(now: datetime, place: int, order: Order) -> datetime:
    """When the run at this place of a batch may start. Runs that are ready at one instant start
    oldest first; for another order each is ready a little later than the one before, and all of
    them a moment from now, so that the database's clock does not overtake them.
    """
    if order is Order.OLDEST:
        return now
    return now + LEAD + place * timedelta(microseconds=1)


LEAD: Final = timedelta(milliseconds=200)

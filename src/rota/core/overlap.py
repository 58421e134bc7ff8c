"""Decides what to do with a new run while previous runs of its job are active (E4).

A run is active from its creation until it finishes, including the wait for a retry (F34): runs of a
job that cannot start must not pile up. The scheduler decides regular ticks by the same rules in SQL
(store/sql/cursors); this module decides runs that a caller requested and ticks that are caught up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import WAITING_STATES, RunState

# With queue_all: the maximum number of waiting runs; further runs are skipped.
OVERLAP_WAITING_MAX: Final = 100


class Overlap(StrEnum):
    SKIP = "skip"
    QUEUE_ONE = "queue_one"
    QUEUE_ALL = "queue_all"
    CANCEL_RUNNING = "cancel_running"
    TERMINATE_RUNNING = "terminate_running"
    ALLOW = "allow"


class WhenQueuePaused(StrEnum):
    """What to do with the ticks of a job while its queue is paused: skip them, or create runs that
    start when the queue is resumed.
    """

    SKIP = "skip"
    ACCUMULATE = "accumulate"


# Runs of these jobs pass a gate of the job, one at a time.
SEQUENTIAL_OVERLAPS: Final = frozenset(
    {Overlap.QUEUE_ONE, Overlap.QUEUE_ALL, Overlap.CANCEL_RUNNING}
)


class ActiveRun(NamedTuple):
    """An active run of the job. A run that was attempted before is never replaced."""

    id: UUID
    state: RunState
    attempt: int = 0

    @property
    def is_waiting(self) -> bool:
        return self.state in WAITING_STATES or self.state is RunState.BLOCKED

    @property
    def is_new(self) -> bool:
        return self.is_waiting and self.attempt == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapDecision:
    """The decision: `make` become runs; `refused` do not, each with a reason code. Of the active
    runs, `replaced` end as skipped, `cancelled` are asked to stop (or end, if they wait), and
    `ended` end immediately.
    """

    created: tuple[UUID, ...] = ()
    skipped: tuple[tuple[UUID, str], ...] = ()
    replaced: tuple[UUID, ...] = ()
    cancelled: tuple[UUID, ...] = ()
    ended: tuple[UUID, ...] = ()


def decide_overlap(
    overlap: Overlap, new: Sequence[UUID], active: Sequence[ActiveRun], *, keep_first: bool = False
) -> OverlapDecision:
    """Decide about new runs of one job, in the order of their ticks."""
    match overlap:
        case Overlap.ALLOW:
            return OverlapDecision(created=tuple(new))
        case Overlap.SKIP:
            return _take_first(new, room=0 if active else 1, code="overlap")
        case Overlap.QUEUE_ALL:
            waiting = sum(run.is_waiting for run in active)
            return _take_first(new, room=max(0, OVERLAP_WAITING_MAX - waiting), code="overlap_full")
        case Overlap.QUEUE_ONE if keep_first:
            room = 0 if any(run.is_new for run in active) else 1
            return _take_first(new, room=room, code="overlap")
        case Overlap.QUEUE_ONE:
            return _take_last(new, replaced=tuple(run.id for run in active if run.is_new))
        case Overlap.CANCEL_RUNNING:
            return _take_last(new, cancelled=tuple(run.id for run in active))
        case Overlap.TERMINATE_RUNNING:
            return _take_last(new, ended=tuple(run.id for run in active))


def _take_first(new: Sequence[UUID], *, room: int, code: str) -> OverlapDecision:
    return OverlapDecision(
        created=tuple(new[:room]), skipped=tuple((id_, code) for id_ in new[room:])
    )


def _take_last(
    new: Sequence[UUID],
    *,
    replaced: tuple[UUID, ...] = (),
    cancelled: tuple[UUID, ...] = (),
    ended: tuple[UUID, ...] = (),
) -> OverlapDecision:
    """Create only the newest run; change active runs only if there is a new one."""
    if not new:
        return OverlapDecision()
    return OverlapDecision(
        created=(new[-1],),
        skipped=tuple((id_, "overlap") for id_ in new[:-1]),
        replaced=replaced,
        cancelled=cancelled,
        ended=ended,
    )

"""What happens when a run of a job is due while others of it are alive (E4). Room: core.

A run counts as running from when it is written until it is finished, a wait for its retry included
(F34): a job that cannot start must not pile up. The scheduler decides ticks the same way in SQL
(store/sql/cursors); this is for runs that somebody asked for, and for ticks that are caught up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import WAITING, RunState

# With queue_all: so many may wait, then nothing more is taken.
MOST_WAITING: Final = 100


class Overlap(StrEnum):
    SKIP = "skip"
    QUEUE_ONE = "queue_one"
    QUEUE_ALL = "queue_all"
    CANCEL_RUNNING = "cancel_running"
    TERMINATE_RUNNING = "terminate_running"
    ALLOW = "allow"


class WhenQueuePaused(StrEnum):
    """What becomes of the ticks of a job while its queue is paused: they are passed over, or their
    runs gather and start when it goes on.
    """

    SKIP = "skip"
    ACCUMULATE = "accumulate"


# Runs of these jobs pass a gate of the job, one after the other.
ONE_BY_ONE: Final = frozenset({Overlap.QUEUE_ONE, Overlap.QUEUE_ALL, Overlap.CANCEL_RUNNING})


class Alive(NamedTuple):
    """A run of the job that is not finished. One that was tried before is never replaced."""

    id: UUID
    state: RunState
    attempt: int = 0

    @property
    def waits(self) -> bool:
        return self.state in WAITING or self.state is RunState.BLOCKED

    @property
    def is_new(self) -> bool:
        return self.waits and self.attempt == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """`make` become runs; `refused` do not, by the code of the reason. Of those alive, `replaced`
    end as skipped, `cancelled` are asked to stop (or end, if they wait), `ended` end at once.
    """

    make: tuple[UUID, ...] = ()
    refused: tuple[tuple[UUID, str], ...] = ()
    replaced: tuple[UUID, ...] = ()
    cancelled: tuple[UUID, ...] = ()
    ended: tuple[UUID, ...] = ()


def arrange(
    overlap: Overlap, new: Sequence[UUID], alive: Sequence[Alive], *, keep_first: bool = False
) -> Arrangement:
    """Decide about new runs of one job, in the order of their ticks."""
    match overlap:
        case Overlap.ALLOW:
            return Arrangement(make=tuple(new))
        case Overlap.SKIP:
            return _first(new, room=0 if alive else 1, code="overlap")
        case Overlap.QUEUE_ALL:
            waiting = sum(run.waits for run in alive)
            return _first(new, room=max(0, MOST_WAITING - waiting), code="overlap_full")
        case Overlap.QUEUE_ONE if keep_first:
            return _first(new, room=0 if any(run.is_new for run in alive) else 1, code="overlap")
        case Overlap.QUEUE_ONE:
            return _last(new, replaced=tuple(run.id for run in alive if run.is_new))
        case Overlap.CANCEL_RUNNING:
            return _last(new, cancelled=tuple(run.id for run in alive))
        case Overlap.TERMINATE_RUNNING:
            return _last(new, ended=tuple(run.id for run in alive))


def _first(new: Sequence[UUID], *, room: int, code: str) -> Arrangement:
    return Arrangement(make=tuple(new[:room]), refused=tuple((id_, code) for id_ in new[room:]))


def _last(
    new: Sequence[UUID],
    *,
    replaced: tuple[UUID, ...] = (),
    cancelled: tuple[UUID, ...] = (),
    ended: tuple[UUID, ...] = (),
) -> Arrangement:
    """The newest stands for all; what it makes way for only if there is one."""
    if not new:
        return Arrangement()
    return Arrangement(
        make=(new[-1],),
        refused=tuple((id_, "overlap") for id_ in new[:-1]),
        replaced=replaced,
        cancelled=cancelled,
        ended=ended,
    )

"""Defines the states of jobs and runs, and every transition between them.

The tables below are the single source of the transitions. The guard in the database
(store/generated/state_guard.sql) and the page docs/reference/states.md are rendered from them, and
a test tries all pairs against PostgreSQL. The store writes the rows.
"""

from enum import StrEnum
from typing import Final

from rota.core.errors import IllegalMove


class JobState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    QUARANTINED = "quarantined"
    FINISHED = "finished"
    DELETED = "deleted"


class JobEvent(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    QUARANTINE = "quarantine"
    FINISH = "finish"
    DELETE = "delete"


class RunState(StrEnum):
    """The first five are live and stored in the hot table; the others are final and in history.

    A queued run that is not due yet is shown as "scheduled"; it is the same state.
    """

    BLOCKED = "blocked"
    QUEUED = "queued"
    RETRYING = "retrying"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    MISSED = "missed"
    COALESCED = "coalesced"
    EXPIRED = "expired"
    LOST = "lost"
    QUARANTINED = "quarantined"


class RunEvent(StrEnum):
    EXPAND = "expand"
    UNBLOCK = "unblock"
    CLAIM = "claim"
    SUCCEED = "succeed"
    RETRY = "retry"
    SNOOZE = "snooze"
    GIVE_UP = "give up"
    HAND_BACK = "hand back"
    LOSE_WORKER = "lose its worker"
    ABANDON = "be abandoned"
    QUARANTINE = "be quarantined"
    CANCEL = "cancel"
    FORCE_CANCEL = "be cancelled by force"
    EXPIRE = "expire"
    SKIP = "be skipped"


_J, _JE = JobState, JobEvent
_R, _RE = RunState, RunEvent

JOB_MOVES: Final[dict[tuple[JobState, JobEvent], JobState]] = {
    (_J.ACTIVE, _JE.PAUSE): _J.PAUSED,
    (_J.ACTIVE, _JE.QUARANTINE): _J.QUARANTINED,
    (_J.ACTIVE, _JE.FINISH): _J.FINISHED,
    (_J.ACTIVE, _JE.DELETE): _J.DELETED,
    (_J.PAUSED, _JE.RESUME): _J.ACTIVE,
    (_J.PAUSED, _JE.FINISH): _J.FINISHED,
    (_J.PAUSED, _JE.DELETE): _J.DELETED,
    (_J.QUARANTINED, _JE.RESUME): _J.ACTIVE,
    (_J.QUARANTINED, _JE.PAUSE): _J.PAUSED,
    (_J.QUARANTINED, _JE.DELETE): _J.DELETED,
    # An edit that gives a finished job new ticks reactivates it.
    (_J.FINISHED, _JE.RESUME): _J.ACTIVE,
    (_J.FINISHED, _JE.DELETE): _J.DELETED,
}

RUN_MOVES: Final[dict[tuple[RunState, RunEvent], RunState]] = {
    # A graph run is blocked while its steps run; the steps decide its final state.
    (_R.BLOCKED, _RE.SUCCEED): _R.SUCCEEDED,
    (_R.BLOCKED, _RE.GIVE_UP): _R.DEAD,
    (_R.BLOCKED, _RE.UNBLOCK): _R.QUEUED,
    (_R.BLOCKED, _RE.CANCEL): _R.CANCELLED,
    (_R.BLOCKED, _RE.EXPIRE): _R.EXPIRED,
    (_R.BLOCKED, _RE.SKIP): _R.SKIPPED,
    (_R.QUEUED, _RE.CLAIM): _R.RUNNING,
    (_R.QUEUED, _RE.CANCEL): _R.CANCELLED,
    (_R.QUEUED, _RE.EXPIRE): _R.EXPIRED,
    (_R.QUEUED, _RE.SKIP): _R.SKIPPED,
    (_R.RETRYING, _RE.CLAIM): _R.RUNNING,
    (_R.RETRYING, _RE.CANCEL): _R.CANCELLED,
    (_R.RETRYING, _RE.EXPIRE): _R.EXPIRED,
    (_R.RUNNING, _RE.EXPAND): _R.BLOCKED,
    (_R.RUNNING, _RE.SUCCEED): _R.SUCCEEDED,
    (_R.RUNNING, _RE.RETRY): _R.RETRYING,
    (_R.RUNNING, _RE.SNOOZE): _R.QUEUED,
    (_R.RUNNING, _RE.GIVE_UP): _R.DEAD,
    (_R.RUNNING, _RE.HAND_BACK): _R.QUEUED,
    (_R.RUNNING, _RE.LOSE_WORKER): _R.QUEUED,
    (_R.RUNNING, _RE.ABANDON): _R.LOST,
    (_R.RUNNING, _RE.QUARANTINE): _R.QUARANTINED,
    (_R.RUNNING, _RE.EXPIRE): _R.EXPIRED,
    (_R.RUNNING, _RE.CANCEL): _R.CANCELLING,
    (_R.RUNNING, _RE.FORCE_CANCEL): _R.CANCELLED,
    # The caller knows that the run is cancelled, so every transition leads to cancelled.
    (_R.CANCELLING, _RE.CANCEL): _R.CANCELLING,
    (_R.CANCELLING, _RE.FORCE_CANCEL): _R.CANCELLED,
    (_R.CANCELLING, _RE.EXPAND): _R.CANCELLED,
    (_R.CANCELLING, _RE.SUCCEED): _R.CANCELLED,
    (_R.CANCELLING, _RE.RETRY): _R.CANCELLED,
    (_R.CANCELLING, _RE.SNOOZE): _R.CANCELLED,
    (_R.CANCELLING, _RE.GIVE_UP): _R.CANCELLED,
    (_R.CANCELLING, _RE.HAND_BACK): _R.CANCELLED,
    (_R.CANCELLING, _RE.LOSE_WORKER): _R.CANCELLED,
    (_R.CANCELLING, _RE.ABANDON): _R.CANCELLED,
    (_R.CANCELLING, _RE.QUARANTINE): _R.CANCELLED,
    (_R.CANCELLING, _RE.EXPIRE): _R.CANCELLED,
}

LIVE_STATES: Final = frozenset(
    {_R.BLOCKED, _R.QUEUED, _R.RETRYING, _R.RUNNING, _R.CANCELLING},
)
WAITING_STATES: Final = frozenset({_R.QUEUED, _R.RETRYING})
CLAIMED_STATES: Final = frozenset({_R.RUNNING, _R.CANCELLING})
FINAL_STATES: Final = frozenset(RunState) - LIVE_STATES
# The states in which a run is inserted: waiting, or the record of why a tick did not run.
INITIAL_STATES: Final = frozenset({_R.BLOCKED, _R.QUEUED, _R.SKIPPED, _R.MISSED, _R.COALESCED})
# Dead letters: a person must look at these runs.
DEAD_LETTER_STATES: Final = frozenset({_R.DEAD, _R.LOST, _R.QUARANTINED})
# A user may run these again under the same run id.
RETRYABLE_STATES: Final = DEAD_LETTER_STATES | {_R.CANCELLED, _R.EXPIRED}
# Jobs that fire nothing until a user resumes them.
HELD_JOB_STATES: Final = frozenset({JobState.PAUSED, JobState.QUARANTINED})


def advance_job(state: JobState, event: JobEvent) -> JobState:
    """Return the state that `event` leads a job to, or raise `IllegalMove`."""
    following = JOB_MOVES.get((state, event))
    if following is None:
        allowed = [old.value for old, move in JOB_MOVES if move is event]
        raise IllegalMove("job", state.value, event.value, allowed)
    return following


def advance_run(state: RunState, event: RunEvent) -> RunState:
    """Return the state that `event` leads a run to, or raise `IllegalMove`."""
    following = RUN_MOVES.get((state, event))
    if following is None:
        allowed = [old.value for old, move in RUN_MOVES if move is event]
        raise IllegalMove("run", state.value, event.value, allowed)
    return following


def list_job_changes() -> frozenset[tuple[JobState, JobState]]:
    """Return every change of a job's state that an event causes."""
    return frozenset((old, new) for (old, _), new in JOB_MOVES.items() if old != new)


def list_run_changes() -> frozenset[tuple[RunState, RunState]]:
    """Return every change of a run's state that an event causes."""
    return frozenset((old, new) for (old, _), new in RUN_MOVES.items() if old != new)

"""Decides when a violated expectation opens an incident, and when the incident ends.

One `AlertState` exists per expectation and subject. A violation that lasts for `hold_for` opens an
incident; `clear_successes` evaluations in a row that meet the expectation end it. A subject that
changes too often flaps: its incident stays open until the subject is steady for half an hour.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from rota.core.alerts.finding import AlertPolicy, Severity, SubjectKind

FLAP_CHANGES: Final = 4
FLAP_WINDOW: Final = timedelta(hours=1)
STEADY_AFTER: Final = timedelta(minutes=30)
SEVERITIES: Final = tuple(Severity)

# Conditions that say that something is late. A late installation, a paused queue and the like
# explain them.
LATENESS: Final = frozenset(
    {"start_within", "finish_by", "at_risk", "succeed_every", "missed_ticks", "oldest_wait"}
)
# Conditions that say that runs fail. A failed graph explains those of its steps.
FAILURES: Final = frozenset({"failure_streak", "failure_rate", "dead_letters"})
# Incidents of the installation that explain lateness of all tenants.
PLATFORM_CAUSES: Final = frozenset(
    {
        "lag",
        "relay_behind",
        "database_away",
        "no_scheduler",
        "shards_unowned",
        "shard_without_owner",
        "tick_overdue",
        "clock_offset",
    }
)
# Incidents about a queue that explain lateness in this queue.
QUEUE_CAUSES: Final = frozenset({"no_worker", "no_worker_for_queue", "queue_paused"})

# How bad a condition is among those of equal severity, least bad first. An incident with several
# causes has the title of the worst.
_BADNESS: Final = {
    condition: rank
    for rank, condition in enumerate(
        (
            "at_risk",
            "max_duration",
            "start_within",
            "missed_ticks",
            "dead_letters",
            "failure_rate",
            "failure_streak",
            "finish_by",
            "succeed_every",
        ),
        start=1,
    )
}


class AlertPhase(StrEnum):
    """`PENDING`: violated, but not for long enough yet. `FIRING`: part of an open incident."""

    IDLE = "idle"
    PENDING = "pending"
    FIRING = "firing"


class AlertTransition(StrEnum):
    """What an evaluation changes about an incident.

    `STATE`: only the state itself. `EVIDENCE`: one more bad run of an open incident. `FLAPPING`:
    the incident would end, but the subject changes too often. `STEADY`: it no longer flaps and is
    still violated.
    """

    NOTHING = "nothing"
    STATE = "state"
    OPENED = "opened"
    EVIDENCE = "evidence"
    FLAPPING = "flapping"
    STEADY = "steady"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """What is known about one subject of one expectation.

    `opened` counts the incidents it opened. `changes` are the times within the last hour at which
    an incident opened or ended. `next_at` is when `judge_time` decides without a new evaluation.
    """

    phase: AlertPhase = AlertPhase.IDLE
    since: datetime
    run_id: UUID | None = None
    incident_id: UUID | None = None
    opened: int = 0
    met_in_row: int = 0
    changes: tuple[datetime, ...] = ()
    is_flapping: bool = False
    is_met: bool = False
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AlertDecision:
    state: AlertState
    change: AlertTransition


def judge_violation(
    state: AlertState, policy: AlertPolicy, *, at: datetime, now: datetime
) -> AlertDecision:
    """Decide what a violation found at `at` changes."""
    if state.phase is AlertPhase.FIRING:
        if state.is_flapping and state.is_met:
            state = _add_change(replace(state, is_met=False, next_at=now + STEADY_AFTER), now)
        return AlertDecision(replace(state, met_in_row=0), AlertTransition.EVIDENCE)
    if state.phase is AlertPhase.IDLE:
        since = min(at, now)
        state = replace(
            state, phase=AlertPhase.PENDING, since=since, next_at=since + policy.hold_for
        )
    if state.next_at is None or state.next_at <= now:
        return AlertDecision(_open(state, now), AlertTransition.OPENED)
    return AlertDecision(state, AlertTransition.STATE)


def judge_met(
    state: AlertState, policy: AlertPolicy, *, now: datetime, times: int = 1
) -> AlertDecision:
    """Decide what `times` evaluations in a row that met the expectation change."""
    if state.phase is AlertPhase.IDLE:
        return AlertDecision(state, AlertTransition.NOTHING)
    if state.phase is AlertPhase.PENDING:
        return AlertDecision(_rest(state, now), AlertTransition.STATE)
    if state.is_flapping:
        if state.is_met:
            return AlertDecision(state, AlertTransition.NOTHING)
        met = replace(state, is_met=True, next_at=now + STEADY_AFTER)
        return AlertDecision(_add_change(met, now), AlertTransition.STATE)
    met_in_row = state.met_in_row + times
    if met_in_row < policy.clear_successes:
        return AlertDecision(replace(state, met_in_row=met_in_row), AlertTransition.STATE)
    ended = _add_change(state, now)
    if len(ended.changes) >= FLAP_CHANGES:
        flapping = replace(ended, is_flapping=True, is_met=True, next_at=now + STEADY_AFTER)
        return AlertDecision(flapping, AlertTransition.FLAPPING)
    return AlertDecision(_rest(ended, now), AlertTransition.RECOVERED)


def judge_time(state: AlertState, *, now: datetime) -> AlertDecision:
    """Decide what the passing of `next_at` changes."""
    if state.next_at is None or state.next_at > now:
        return AlertDecision(state, AlertTransition.NOTHING)
    if state.phase is AlertPhase.PENDING:
        return AlertDecision(_open(state, now), AlertTransition.OPENED)
    if state.phase is AlertPhase.FIRING and state.is_flapping:
        if state.is_met:
            return AlertDecision(end_state(state, now), AlertTransition.RECOVERED)
        steady = replace(state, is_flapping=False, changes=(), next_at=None)
        return AlertDecision(steady, AlertTransition.STEADY)
    return AlertDecision(replace(state, next_at=None), AlertTransition.STATE)


def end_state(state: AlertState, now: datetime) -> AlertState:
    """Return the state after a person, a pause or a steady half hour ended the incident."""
    return replace(_rest(state, now), changes=())


def rank_cause(severity: Severity, condition: str) -> tuple[int, int]:
    """Return how bad a cause is; the title of an incident names the worst."""
    return SEVERITIES.index(severity), _BADNESS.get(condition, 0)


def is_at_least(severity: Severity, minimum: Severity) -> bool:
    return SEVERITIES.index(severity) >= SEVERITIES.index(minimum)


def find_first_delay(kind: SubjectKind) -> timedelta:
    """Return how long the first message about a subject waits. The failure of a step waits for the
    end of its graph, which explains it.
    """
    return timedelta(seconds=2) if kind is SubjectKind.STEP else timedelta(0)


def _open(state: AlertState, now: datetime) -> AlertState:
    opened = _add_change(
        replace(
            state,
            phase=AlertPhase.FIRING,
            since=now,
            opened=state.opened + 1,
            met_in_row=0,
            next_at=None,
        ),
        now,
    )
    if len(opened.changes) < FLAP_CHANGES:
        return opened
    return replace(opened, is_flapping=True, is_met=False, next_at=now + STEADY_AFTER)


def _rest(state: AlertState, now: datetime) -> AlertState:
    return replace(
        state,
        phase=AlertPhase.IDLE,
        since=now,
        run_id=None,
        incident_id=None,
        met_in_row=0,
        is_flapping=False,
        is_met=False,
        next_at=None,
    )


def _add_change(state: AlertState, now: datetime) -> AlertState:
    recent = tuple(change for change in state.changes if now - change < FLAP_WINDOW)
    return replace(state, changes=(*recent, now))

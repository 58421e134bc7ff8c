"""Replays expectations over the history of runs: which incidents and messages they would cause.

The same functions as in operation judge the runs, open and end incidents, and group messages.
What history does not show is left out: acknowledgements, silences, storm limits and problems of
Rota itself. So the number of messages is an upper bound.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from rota.core.alerts.conditions import (
    AtRisk,
    Condition,
    DeadLetterCount,
    Expectation,
    FailureRate,
    FailureStreak,
    FinishBy,
    FiringLag,
    MaxDuration,
    MissedTickCount,
    NoWorker,
    OldestWait,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.deadlines import compute_finish_deadline
from rota.core.alerts.evaluation import (
    FAILED_STATES,
    NOTHING_TO_JUDGE,
    EndedRun,
    Judgement,
    TickRun,
    WatchedTick,
    compute_duration_limit,
    describe_error,
    judge_dead_letters,
    judge_duration,
    judge_finish,
    judge_missed_ticks,
    judge_rate,
    judge_start,
    judge_streak_length,
    judge_success_age,
)
from rota.core.alerts.finding import Severity, Verdict
from rota.core.alerts.grouping import GroupSnapshot, GroupState, plan_group
from rota.core.alerts.lifecycle import (
    AlertDecision,
    AlertPhase,
    AlertState,
    AlertTransition,
    judge_met,
    judge_time,
    judge_violation,
)
from rota.core.alerts.routes import RouteStep
from rota.core.states import DEAD_LETTER_STATES, RunState

# Durations of recent successes from which the 95th percentile is computed.
DURATIONS_MAX: Final = 50
# Passes over one group; more would mean a message every few minutes for weeks.
GROUP_PASSES_MAX: Final = 20_000
TICK_CONDITIONS: Final = (StartWithin, FinishBy, SucceedEvery, MissedTickCount)
# History has no figures for these.
UNSEEN_CONDITIONS: Final = (AtRisk, NoWorker, FiringLag, OldestWait)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """An ended run. `letter` identifies equal errors."""

    run_id: UUID
    state: RunState
    is_tick: bool
    scheduled_at: datetime
    due_at: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime
    reason: dict[str, Any] | None = None
    letter: str = ""

    @property
    def is_failed(self) -> bool:
        return self.state in FAILED_STATES

    def to_ended(self) -> EndedRun:
        return EndedRun(
            run_id=self.run_id,
            state=self.state,
            finished_at=self.finished_at,
            started_at=self.started_at,
            reason=self.reason,
        )


@dataclass(slots=True, kw_only=True)
class RehearsedIncident:
    """An incident that would have been opened; `ended_at` is None if it would still be open."""

    opened_at: datetime
    title: str
    ended_at: datetime | None = None


def explain_unseen(condition: Condition) -> str | None:
    """Return why a condition cannot be replayed; None if it can."""
    if isinstance(condition, UNSEEN_CONDITIONS):
        return f"{condition.code} depends on live figures, which the history does not have"
    return None


@dataclass(slots=True, kw_only=True)
class SubjectReplay:
    """Replays one expectation for one subject. Runs are added in the order of their ends."""

    expectation: Expectation
    name: str
    since: datetime
    zone: ZoneInfo
    incidents: list[RehearsedIncident] = field(default_factory=list)
    _state: AlertState = field(init=False)
    _title: str = ""
    _streak: int = 0
    _missed: list[EndedRun] = field(default_factory=list)
    _window: deque[tuple[datetime, bool]] = field(default_factory=deque)
    _durations: deque[float] = field(default_factory=lambda: deque(maxlen=DURATIONS_MAX))
    _letters: dict[str, list[datetime]] = field(default_factory=dict)
    _last_success: datetime | None = None
    _failed_at: datetime | None = None
    _newest_tick: datetime | None = None
    _met_at: datetime | None = None
    _reached: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._state = AlertState(since=self.since)
        self._reached = self.since

    def add(self, run: PastRun) -> None:
        """Judge a run."""
        condition = self.expectation.condition
        if isinstance(condition, TICK_CONDITIONS) and not run.is_tick:
            return
        if run.state is RunState.SUCCEEDED and self._is_healthy(condition, run):
            return
        match condition:
            case StartWithin() | FinishBy():
                self._add_tick(condition, run)
            case SucceedEvery():
                self._add_success(condition, run)
            case _:
                judgement = self._judge_ending(condition, run)
                self._follow(judgement, run.finished_at)
                if isinstance(condition, DeadLetterCount) and judgement.recheck_at is not None:
                    self._met_at = judgement.recheck_at

    def _is_healthy(self, condition: Condition, run: PastRun) -> bool:
        """Return whether a success changes nothing that needs a judgement, and count it.

        benefit: eight rules over 100,000 runs take 2.9 s of CPU; without, more than the limit of
        5 s, measured 2026-11
        """
        if self._state.phase is not AlertPhase.IDLE:
            return False
        match condition:
            case FailureStreak():
                self._streak = 0
            case MissedTickCount():
                self._missed.clear()
            case FailureRate():
                failed_at = self._failed_at
                if failed_at is not None and run.finished_at - failed_at < condition.over:
                    return False
                self._window.append((run.finished_at, False))
            case DeadLetterCount():
                pass
            case StartWithin():
                started_at = run.started_at
                return started_at is not None and started_at <= run.due_at + condition.within
            case FinishBy(after=timedelta() as after):
                return run.finished_at <= run.scheduled_at + after
            case MaxDuration():
                return self._is_short(condition, run)
            case _:
                return False
        return True

    def _is_short(self, condition: MaxDuration, run: PastRun) -> bool:
        """Return whether a run is short enough without a look at its history."""
        if run.started_at is None:
            return True
        duration = run.finished_at - run.started_at
        limit = condition.at_least if condition.limit is None else condition.limit
        if duration <= limit:
            self._durations.append(duration.total_seconds())
        return duration <= limit

    def finish(self, now: datetime) -> None:
        """Judge the time from the last run until now."""
        condition = self.expectation.condition
        if isinstance(condition, SucceedEvery):
            self._judge_age(condition, now)
        self._advance(now)

    def _judge_ending(self, condition: Condition, run: PastRun) -> Judgement:
        match condition:
            case FailureStreak():
                return self._judge_streak(condition, run)
            case FailureRate():
                return self._judge_rate(condition, run)
            case MaxDuration():
                return self._judge_duration(condition, run)
            case DeadLetterCount():
                return self._judge_letters(condition, run)
            case MissedTickCount():
                return self._judge_missed(condition, run)
            case _:
                return NOTHING_TO_JUDGE

    def _judge_streak(self, condition: FailureStreak, run: PastRun) -> Judgement:
        if run.is_failed:
            self._streak += 1
        elif run.state is RunState.SUCCEEDED:
            self._streak = 0
        else:
            return NOTHING_TO_JUDGE
        return judge_streak_length(
            condition,
            self._streak,
            newest=run.to_ended() if run.is_failed else None,
            name=self.name,
        )

    def _judge_rate(self, condition: FailureRate, run: PastRun) -> Judgement:
        if not run.is_failed and run.state is not RunState.SUCCEEDED:
            return NOTHING_TO_JUDGE
        self._window.append((run.finished_at, run.is_failed))
        if run.is_failed:
            self._failed_at = run.finished_at
        while self._window[0][0] <= run.finished_at - condition.over:
            self._window.popleft()
        failed = sum(is_failed for _, is_failed in self._window)
        return judge_rate(condition, name=self.name, ended=len(self._window), failed=failed)

    def _judge_duration(self, condition: MaxDuration, run: PastRun) -> Judgement:
        if run.started_at is None:
            return NOTHING_TO_JUDGE
        duration = run.finished_at - run.started_at
        samples = sorted(self._durations)
        place = max(0, math.ceil(0.95 * len(samples)) - 1)
        typical = None if not samples else timedelta(seconds=samples[place])
        limit = compute_duration_limit(condition, typical=typical, samples=len(samples))
        if run.state is RunState.SUCCEEDED:
            self._durations.append(duration.total_seconds())
        return judge_duration(
            limit, name=self.name, run_id=run.run_id, duration=duration, is_running=False
        )

    def _judge_letters(self, condition: DeadLetterCount, run: PastRun) -> Judgement:
        if run.state not in DEAD_LETTER_STATES:
            return NOTHING_TO_JUDGE
        times = self._letters.setdefault(run.letter, [])
        times.append(run.finished_at)
        times[:] = [at for at in times if at > run.finished_at - condition.over]
        return judge_dead_letters(
            condition,
            times,
            name=self.name,
            error=describe_error(run.reason),
            now=run.finished_at,
        )

    def _judge_missed(self, condition: MissedTickCount, run: PastRun) -> Judgement:
        if run.state is RunState.MISSED:
            self._missed.insert(0, run.to_ended())
            return judge_missed_ticks(condition, self._missed, name=self.name)
        self._missed.clear()
        return judge_missed_ticks(condition, [run.to_ended()], name=self.name)

    def _add_tick(self, condition: StartWithin | FinishBy, run: PastRun) -> None:
        """Judge the run of a tick: at its deadline, and when it was made good."""
        if isinstance(condition, StartWithin):
            deadline = run.due_at + condition.within
        else:
            deadline = compute_finish_deadline(run.scheduled_at, self.zone, condition)
        tick = WatchedTick(
            job=self.name,
            at=run.scheduled_at,
            due_at=run.due_at,
            deadline=deadline,
            zone=self.zone,
        )
        known = TickRun(
            run_id=run.run_id,
            state=run.state,
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
            reason=run.reason,
        )
        if isinstance(condition, StartWithin):
            judgement = judge_start(condition, tick, known, now=run.finished_at)
            made_good = run.started_at
        else:
            judgement = judge_finish(condition, tick, known)
            made_good = run.finished_at if run.state is RunState.SUCCEEDED else None
        is_late = judgement.verdict is Verdict.VIOLATED
        self._follow(judgement, deadline if is_late else run.finished_at)
        if is_late and made_good is not None:
            self._follow(Judgement(verdict=Verdict.MET), made_good)

    def _add_success(self, condition: SucceedEvery, run: PastRun) -> None:
        """Judge the time between two successes. Older ticks than the newest do not count."""
        is_old = self._newest_tick is not None and run.scheduled_at < self._newest_tick
        if run.state is not RunState.SUCCEEDED or is_old:
            return
        self._judge_age(condition, run.finished_at)
        self._newest_tick = run.scheduled_at
        self._last_success = run.finished_at
        self._follow(Judgement(verdict=Verdict.MET), run.finished_at)

    def _judge_age(self, condition: SucceedEvery, now: datetime) -> None:
        judgement = judge_success_age(
            condition,
            job=self.name,
            last_success_at=self._last_success,
            watched_since=self.since,
            now=now,
        )
        if judgement.verdict is Verdict.VIOLATED:
            start = self.since if self._last_success is None else self._last_success
            self._follow(judgement, start + condition.every)

    def _follow(self, judgement: Judgement, at: datetime) -> None:
        """Open or end an incident."""
        self._advance(at)
        at = max(at, self._reached)
        policy = self.expectation.policy
        if judgement.verdict is Verdict.VIOLATED:
            self._title = judgement.title
            self._apply(judge_violation(self._state, policy, at=at, now=at), at)
        elif judgement.verdict is Verdict.MET:
            self._apply(judge_met(self._state, policy, now=at), at)

    def _advance(self, now: datetime) -> None:
        """Let the time pass."""
        while True:
            times = [at for at in (self._state.next_at, self._met_at) if at is not None]
            if not times or (at := min(times)) > now:
                break
            if at == self._met_at:
                self._met_at = None
                met = self.expectation.policy.clear_successes
                self._apply(judge_met(self._state, self.expectation.policy, now=at, times=met), at)
            else:
                self._apply(judge_time(self._state, now=at), at)
        self._reached = max(self._reached, now)

    def _apply(self, decision: AlertDecision, at: datetime) -> None:
        self._state = decision.state
        if decision.change is AlertTransition.OPENED:
            self.incidents.append(RehearsedIncident(opened_at=at, title=self._title))
        elif decision.change is AlertTransition.RECOVERED and self.incidents:
            self.incidents[-1].ended_at = at


def count_messages(
    incidents: Iterable[RehearsedIncident],
    steps: Sequence[RouteStep],
    *,
    severity: Severity,
    until: datetime,
) -> int:
    """Return how many messages the incidents of one expectation send to all channels together."""
    changes = deque(sorted(_list_changes(incidents, until)))
    state, sent, next_at = GroupState(), 0, None
    firing = unannounced = ended = 0
    for _ in range(GROUP_PASSES_MAX):
        times = [at for at in (next_at, changes[0][0] if changes else None) if at is not None]
        if not times or (now := min(times)) > until:
            break
        while changes and changes[0][0] <= now:
            _, is_end = changes.popleft()
            firing += -1 if is_end else 1
            if not is_end:
                unannounced += 1
            elif unannounced > 0:
                # It ended before a message named it.
                unannounced -= 1
            else:
                ended += 1
        snapshot = GroupSnapshot(
            firing=firing,
            unannounced=unannounced,
            ended=ended,
            unacknowledged=firing,
            repeating=firing,
            severity=severity,
        )
        plan = plan_group(state, steps, snapshot, now=now)
        sent += sum(len(message.channels) for message in plan.messages)
        if plan.announces:
            unannounced = ended = 0
        state = plan.state
        next_at = plan.next_at if plan.next_at is not None and plan.next_at > now else None
    return sent


def _list_changes(
    incidents: Iterable[RehearsedIncident], until: datetime
) -> Iterable[tuple[datetime, bool]]:
    for incident in incidents:
        yield incident.opened_at, False
        if incident.ended_at is not None and incident.ended_at <= until:
            yield incident.ended_at, True

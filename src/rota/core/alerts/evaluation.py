"""Judges whether expectations are met, from facts about runs. No I/O: schedulers evaluate live
facts with these functions, and a rehearsal evaluates history with the same ones.

A judgement without a verdict says nothing: the tick was removed by an edit, skipped by policy or
cancelled by a person, so it counts neither for nor against. Runs of backfills, replays and people
never reach these functions (`COUNTED_TRIGGERS`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from uuid import UUID

from rota.core.alerts.conditions import (
    DeadLetterCount,
    FailureRate,
    FailureStreak,
    FinishBy,
    MaxDuration,
    MissedTickCount,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.finding import Verdict
from rota.core.states import RunState
from rota.core.time import durations

# Runs of these triggers count for and against ending conditions; clock conditions count `tick`.
COUNTED_TRIGGERS: Final = frozenset({"tick", "event", "api"})
TICK_TRIGGER: Final = "tick"
# A run in one of these states failed. `expired` did not finish before its deadline.
FAILED_STATES: Final = frozenset(
    {RunState.DEAD, RunState.LOST, RunState.QUARANTINED, RunState.EXPIRED}
)
# Policy or a person kept the run from running: nothing to judge.
NEUTRAL_STATES: Final = frozenset({RunState.SKIPPED, RunState.COALESCED, RunState.CANCELLED})
# A tick that was fired later than this after its due time is late because of Rota. That has its own
# incident, so `start_within` then counts from the firing.
FIRING_LAG_MAX: Final = timedelta(seconds=10)
# While the relay is further behind, lateness cannot be judged.
RELAY_LAG_MAX: Final = timedelta(minutes=1)
# Fewer successful runs than this have no typical duration.
DURATION_SAMPLES_MIN: Final = 10
ERROR_CHARS_MAX: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedTick:
    """A tick whose deadline has passed. `is_decided`: the scheduler has fired or dropped it."""

    job: str
    at: datetime
    due_at: datetime
    deadline: datetime
    is_decided: bool = True
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRun:
    """The run of a tick. `started_at` is the start of its first attempt."""

    run_id: UUID
    state: RunState
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reason: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run of a job that ended, or ticks that did not run; `ticks` is how many."""

    run_id: UUID
    state: RunState
    finished_at: datetime
    started_at: datetime | None = None
    ticks: int = 1
    reason: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The result of an evaluation. `recheck_at` is when the result may be another one without a
    new run. `streak` is how many bad results there were in a row.
    """

    verdict: Verdict | None
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    run_id: UUID | None = None
    recheck_at: datetime | None = None
    streak: int = 0


NOTHING_TO_JUDGE: Final = Judgement(verdict=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformLag:
    """How far the schedulers and the event relay are behind."""

    firing: timedelta = timedelta(0)
    relay: timedelta = timedelta(0)

    @property
    def is_behind(self) -> bool:
        return self.firing > FIRING_LAG_MAX or self.relay > RELAY_LAG_MAX


def withhold_lateness(judgement: Judgement, lag: PlatformLag) -> Judgement:
    """Return a judgement of lateness, or `UNKNOWN` while Rota itself is behind."""
    if judgement.verdict is not Verdict.VIOLATED or not lag.is_behind:
        return judgement
    return Judgement(verdict=Verdict.UNKNOWN, title=judgement.title, run_id=judgement.run_id)


def judge_start(
    condition: StartWithin, tick: WatchedTick, run: TickRun | None, *, now: datetime
) -> Judgement:
    """Judge whether the run of a tick started in time."""
    early = _judge_missing(tick, run, "did not start")
    if early is not None or run is None:
        return early or NOTHING_TO_JUDGE
    is_fired_late = run.created_at > tick.due_at + FIRING_LAG_MAX
    deadline = (run.created_at if is_fired_late else tick.due_at) + condition.within
    facts = _describe_tick(tick, run) | {"deadline": deadline.isoformat()}
    name = f"{tick.job}: the run of {format_time(tick.at, tick.zone)}"
    if run.started_at is not None:
        if run.started_at <= deadline:
            return Judgement(verdict=Verdict.MET, title=f"{name} started", facts=facts)
        late = durations.to_words(round_seconds(run.started_at - tick.due_at))
        return Judgement(
            verdict=Verdict.VIOLATED,
            title=f"{name} started {late} late",
            facts=facts,
            run_id=run.run_id,
        )
    if run.finished_at is None and now <= deadline:
        return Judgement(verdict=None, recheck_at=deadline)
    within = durations.to_words(condition.within)
    return Judgement(
        verdict=Verdict.VIOLATED,
        title=f"{name} did not start within {within}",
        facts=facts,
        run_id=run.run_id,
    )


def judge_finish(_condition: FinishBy, tick: WatchedTick, run: TickRun | None) -> Judgement:
    """Judge whether the run of a tick succeeded by its deadline."""
    early = _judge_missing(tick, run, "did not run")
    if early is not None or run is None:
        return early or NOTHING_TO_JUDGE
    facts = _describe_tick(tick, run) | {"deadline": tick.deadline.isoformat()}
    name = f"{tick.job}: the run of {format_time(tick.at, tick.zone)}"
    by = format_time(tick.deadline, tick.zone)
    if run.state is RunState.SUCCEEDED and run.finished_at is not None:
        if run.finished_at <= tick.deadline:
            return Judgement(verdict=Verdict.MET, title=f"{name} succeeded", facts=facts)
        late = durations.to_words(round_seconds(run.finished_at - tick.deadline))
        title = f"{name} succeeded {late} after {by}"
    elif run.state in FAILED_STATES:
        title = f"{name} failed and did not succeed by {by}"
    else:
        title = f"{name} did not succeed by {by}"
    return Judgement(verdict=Verdict.VIOLATED, title=title, facts=facts, run_id=run.run_id)


def is_made_good(condition: StartWithin | FinishBy, run: TickRun | None) -> bool:
    """Return whether a run that was late has started or succeeded since."""
    if run is None:
        return False
    if isinstance(condition, StartWithin):
        return run.started_at is not None
    return run.state is RunState.SUCCEEDED


def _judge_missing(tick: WatchedTick, run: TickRun | None, what: str) -> Judgement | None:
    """Judge a tick that has no run, or whose run was kept from running; None: judge the run."""
    if run is None:
        if tick.is_decided:
            return NOTHING_TO_JUDGE
        return Judgement(verdict=Verdict.UNKNOWN)
    if run.state is RunState.MISSED:
        title = f"{tick.job}: the tick of {format_time(tick.at, tick.zone)} was missed and {what}"
        return Judgement(
            verdict=Verdict.VIOLATED,
            title=title,
            facts=_describe_tick(tick, run),
            run_id=run.run_id,
        )
    if run.state in NEUTRAL_STATES and run.started_at is None:
        return NOTHING_TO_JUDGE
    if run.state is RunState.CANCELLED and what == "did not run":
        return NOTHING_TO_JUDGE
    return None


def judge_success_age(
    condition: SucceedEvery,
    *,
    job: str,
    last_success_at: datetime | None,
    watched_since: datetime,
    now: datetime,
) -> Judgement:
    """Judge how long ago a job succeeded; the time before `watched_since` does not count."""
    start = watched_since if last_success_at is None else max(last_success_at, watched_since)
    deadline = start + condition.every
    if now < deadline:
        return Judgement(
            verdict=Verdict.MET, title=f"{job}: succeeded in time", recheck_at=deadline
        )
    every = durations.to_words(condition.every)
    if last_success_at is None:
        title = f"{job}: no success yet, expected one every {every}"
    else:
        title = f"{job}: no success since {format_time(last_success_at)}, expected every {every}"
    facts = {
        "last_success_at": None if last_success_at is None else last_success_at.isoformat(),
        "deadline": deadline.isoformat(),
    }
    return Judgement(verdict=Verdict.VIOLATED, title=title, facts=facts)


def judge_streak(condition: FailureStreak, endings: Sequence[EndedRun], *, name: str) -> Judgement:
    """Judge the newest runs, newest first. Runs that did not run are neutral."""
    failed: list[EndedRun] = []
    success: EndedRun | None = None
    for run in endings:
        if run.state in FAILED_STATES:
            failed.append(run)
        elif run.state is RunState.SUCCEEDED:
            success = run
            break
    return judge_streak_length(
        condition,
        len(failed),
        newest=failed[0] if failed else success,
        name=name,
        at_least=success is None and bool(failed),
    )


def judge_streak_length(
    condition: FailureStreak,
    count: int,
    *,
    newest: EndedRun | None,
    name: str,
    at_least: bool = False,
) -> Judgement:
    """Judge a number of failures in a row, of which `newest` is the last; a streak of 0 has a
    success instead. A streak that is too short says nothing, a success meets the expectation.
    """
    if count < condition.streak:
        verdict = None if count else Verdict.MET
        run_id = None if newest is None else newest.run_id
        return Judgement(verdict=verdict, title=f"{name}: succeeded", run_id=run_id, streak=count)
    error = None if newest is None else describe_error(newest.reason)
    number = f"at least {count}" if at_least and count > condition.streak else f"{count}"
    title = f"{name}: the run failed" if count == 1 else f"{name}: {number} runs in a row failed"
    return Judgement(
        verdict=Verdict.VIOLATED,
        title=title,
        facts={"count": count, "error": error},
        run_id=None if newest is None else newest.run_id,
        streak=count,
    )


def judge_rate(
    condition: FailureRate, *, name: str, ended: int, failed: int, error: str | None = None
) -> Judgement:
    """Judge the share of failures among the runs that ended within `condition.over`."""
    share = failed / ended if ended else 0.0
    over = durations.to_words(condition.over)
    facts = {"ended": ended, "failed": failed, "rate": round(share, 4), "error": error}
    if ended >= condition.at_least and failed and share >= condition.rate:
        return Judgement(
            verdict=Verdict.VIOLATED,
            title=f"{name}: {failed} of {ended} runs failed within {over}",
            facts=facts,
            streak=failed,
        )
    return Judgement(verdict=Verdict.MET, title=f"{name}: {failed} of {ended} runs failed")


def compute_duration_limit(
    condition: MaxDuration, *, typical: timedelta | None, samples: int
) -> timedelta | None:
    """Return how long a run may last; None with too little history to tell. `typical` is the 95th
    percentile of the durations of successful runs.
    """
    if condition.limit is not None:
        return condition.limit
    if condition.times is None or typical is None or samples < DURATION_SAMPLES_MIN:
        return None
    return max(typical * condition.times, condition.at_least)


def judge_duration(
    limit: timedelta | None, *, name: str, run_id: UUID, duration: timedelta, is_running: bool
) -> Judgement:
    """Judge how long a run lasts or lasted."""
    if limit is None:
        return NOTHING_TO_JUDGE
    if duration <= limit:
        verdict = None if is_running else Verdict.MET
        return Judgement(verdict=verdict, title=f"{name}: ended in time", run_id=run_id)
    allowed, lasted = durations.to_words(round_seconds(limit)), round_seconds(duration)
    title = (
        f"{name}: a run lasts longer than {allowed}"
        if is_running
        else f"{name}: a run lasted {durations.to_words(lasted)}, more than {allowed}"
    )
    facts = {"limit_s": limit.total_seconds(), "duration_s": duration.total_seconds()}
    return Judgement(verdict=Verdict.VIOLATED, title=title, facts=facts, run_id=run_id)


def judge_dead_letters(
    condition: DeadLetterCount,
    times: Sequence[datetime],
    *,
    name: str,
    error: str | None,
    now: datetime,
) -> Judgement:
    """Judge the dead letters of one group of equal errors, by the times at which they ended."""
    recent = sorted(at for at in times if at > now - condition.over)
    if len(recent) < condition.count:
        recheck_at = recent[0] + condition.over if recent else None
        return Judgement(verdict=Verdict.MET, streak=len(recent), recheck_at=recheck_at)
    count = len(recent)
    letters = "a dead letter" if count == 1 else f"{count} dead letters"
    return Judgement(
        verdict=Verdict.VIOLATED,
        title=f"{name}: {letters}" + (f": {error}" if error else ""),
        facts={"count": count, "error": error},
        recheck_at=recent[-1] + condition.over,
        streak=count,
    )


def judge_missed_ticks(
    condition: MissedTickCount, endings: Sequence[EndedRun], *, name: str
) -> Judgement:
    """Judge the newest ticks, newest first: how many in a row were missed."""
    missed: list[EndedRun] = []
    ran: EndedRun | None = None
    for run in endings:
        if run.state is RunState.MISSED:
            missed.append(run)
        elif run.state not in NEUTRAL_STATES:
            ran = run
            break
    count = sum(run.ticks for run in missed)
    if count < condition.count:
        verdict = None if ran is None or missed else Verdict.MET
        return Judgement(
            verdict=verdict,
            title=f"{name}: ticks run again",
            run_id=None if ran is None else ran.run_id,
            streak=count,
        )
    what = "a tick was" if count == 1 else f"{count} ticks were"
    return Judgement(
        verdict=Verdict.VIOLATED,
        title=f"{name}: {what} missed",
        facts={"count": count, "reason": (missed[0].reason or {}).get("code")},
        run_id=missed[0].run_id,
        streak=count,
    )


def describe_error(reason: Mapping[str, Any] | None) -> str | None:
    """Return a short text of a stored failure: type and message, or the code."""
    if not reason:
        return None
    kind, message = reason.get("type"), reason.get("message")
    parts = [str(part) for part in (kind, message) if part]
    text = ": ".join(parts) or str(reason.get("code") or "")
    text = " ".join(text.split())
    return text[:ERROR_CHARS_MAX] or None


def _describe_tick(tick: WatchedTick, run: TickRun) -> dict[str, Any]:
    return {
        "tick": tick.at.isoformat(),
        "run_id": str(run.run_id),
        "state": str(run.state),
        "error": describe_error(run.reason) if run.state in FAILED_STATES else None,
    }


def format_time(at: datetime, zone: tzinfo = UTC) -> str:
    """Format a time for people, in the zone of the job."""
    local = at.astimezone(zone)
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{local:%Y-%m-%d} {clock} {local:%Z}"


def round_seconds(length: timedelta) -> timedelta:
    return timedelta(seconds=max(1, round(length.total_seconds())))

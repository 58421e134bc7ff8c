"""Warns before a deadline is missed: looks at a run again and again until it ends.

A look predicts when the run finishes, from the job's own history (core/prediction.py). Two looks in
a row with a low probability are a violation; with too little history a look says nothing. When the
deadline passes or the run ends, `finish_by` judges the tick, and the warning ends.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from rota.core.alerts.conditions import AtRisk
from rota.core.alerts.evaluation import NOTHING_TO_JUDGE, Judgement, WatchedTick, format_time
from rota.core.alerts.finding import Verdict
from rota.core.ids import derive_tick_run_id
from rota.core.prediction import PredictedRun, predict_finish
from rota.engine.alerting.watch_definitions import FIRING
from rota.store import run_history, watches
from rota.store.driver import Connection
from rota.store.watches import DueWatch

# Looks in a row that must agree.
LOOKS_MIN: Final = 2
# The time to the next look is this part of the time to the deadline, within these bounds.
LOOK_PART: Final = 30
LOOK_INTERVAL_MIN: Final = timedelta(minutes=1)
LOOK_INTERVAL_MAX: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskLook:
    """The result of a look. `is_over`: go on with the next tick."""

    judgement: Judgement
    streak: int = 0
    is_over: bool = False
    next_look_at: datetime | None = None


async def look_at_risk(
    conn: Connection, row: DueWatch, condition: AtRisk, tick: WatchedTick, *, zone: ZoneInfo
) -> RiskLook:
    """Look at the run of a tick whose success by a deadline is watched."""
    now = row.now
    if row.job_id is None:
        return RiskLook(judgement=NOTHING_TO_JUDGE, is_over=True)
    name = f"{row.job_name}: the run of {format_time(tick.at, zone)}"
    run_id = derive_tick_run_id(row.job_id, tick.at)
    run = (await watches.probe_runs(conn, [run_id])).get(run_id)
    if now >= tick.deadline or (run is not None and run.finished_at is not None):
        # Whether it succeeded is judged by `finish_by`; the warning is over in any case.
        judgement = Judgement(verdict=Verdict.MET, title=f"{name} is no longer at risk")
        return RiskLook(judgement=judgement, is_over=True)
    next_look_at = min(
        tick.deadline,
        now + min(max((tick.deadline - now) / LOOK_PART, LOOK_INTERVAL_MIN), LOOK_INTERVAL_MAX),
    )
    samples = await run_history.read_samples(
        conn, tenant_id=row.tenant_id, job_id=row.job_id, zone=zone
    )
    predicted = predict_finish(
        samples,
        PredictedRun(
            day=tick.at.astimezone(zone).date(),
            due_at=tick.due_at,
            started_at=None if run is None else run.started_at,
            deadline=tick.deadline,
        ),
        now=now,
    )
    if predicted.probability is None:
        return RiskLook(judgement=NOTHING_TO_JUDGE, next_look_at=next_look_at)
    if predicted.probability >= condition.probability:
        judgement = Judgement(verdict=Verdict.MET, title=f"{name} is no longer at risk")
        return RiskLook(judgement=judgement, next_look_at=next_look_at)
    streak = row.streak + 1
    if streak < LOOKS_MIN or row.state == FIRING:
        return RiskLook(judgement=NOTHING_TO_JUDGE, streak=streak, next_look_at=next_look_at)
    percent = f"{predicted.probability:.0%}"
    by = format_time(tick.deadline, zone)
    judgement = Judgement(
        verdict=Verdict.VIOLATED,
        title=f"{name} will probably not succeed by {by} (probability {percent})",
        facts={
            "tick": tick.at.isoformat(),
            "deadline": tick.deadline.isoformat(),
            "probability": round(predicted.probability, 3),
            "expected_at": predicted.expected_at and predicted.expected_at.isoformat(),
            "basis": predicted.basis,
        },
        run_id=None if run is None else run.id,
        streak=streak,
    )
    return RiskLook(judgement=judgement, streak=streak, next_look_at=next_look_at)

"""Remembers runs that last too long: found while they run, met when they end.

The state checker reports a run that exceeds its limit while it runs (state_checker.py), and the end
of the last such run meets the expectation (endings.py).
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from rota.core.alerts.evaluation import (
    NOTHING_TO_JUDGE,
    Judgement,
    judge_duration,
    round_seconds,
)
from rota.core.alerts.finding import Verdict
from rota.core.outgoing_events import OutgoingEvent
from rota.core.submissions import encode_canonical
from rota.core.time import durations
from rota.store.watches import WatchRow

LONG_RUNS_REMEMBERED_MAX: Final = 100


def judge_ended_durations(
    watch: WatchRow, events: Sequence[OutgoingEvent], *, limit: timedelta | None, name: str
) -> tuple[WatchRow, Judgement]:
    """Judge the durations of runs that ended. The end of the last run that was reported as too long
    while it ran meets the expectation.
    """
    reported = read_long_runs(watch)
    ended: list[str] = list(json.loads(watch.evidence).get("ended", ()))
    result = NOTHING_TO_JUDGE
    for event in events:
        run_id = str(event.run_id)
        if event.started_at is None or event.run_id is None or run_id in ended:
            continue
        if run_id in reported:
            reported.remove(run_id)
            ended.append(run_id)
            if not reported:
                lasted = durations.to_words(round_seconds(event.at - event.started_at))
                title = f"{name}: the long run ended after {lasted}"
                result = Judgement(verdict=Verdict.MET, title=title)
            continue
        judgement = judge_duration(
            limit,
            name=name,
            run_id=event.run_id,
            duration=event.at - event.started_at,
            is_running=False,
        )
        if judgement.verdict is Verdict.VIOLATED or (not reported and result.verdict is None):
            result = judgement
    return write_long_runs(watch, reported, ended), result


def read_long_runs(watch: WatchRow) -> list[str]:
    """Return the runs that were reported as too long and still ran then."""
    return list(json.loads(watch.evidence).get("runs", ()))


def write_long_runs(watch: WatchRow, running: Sequence[str], ended: Sequence[str] = ()) -> WatchRow:
    """Return a watch that remembers long runs: those that run, and those that ended, whose events
    may come again.
    """
    lists = {"runs": running, "ended": ended}
    kept = {name: list(ids)[-LONG_RUNS_REMEMBERED_MAX:] for name, ids in lists.items() if ids}
    return watch._replace(evidence=encode_canonical(kept))

"""Evaluates conditions that look back over a window: failure rates and dead letters.

The end of a run calls these functions (endings.py), and so does the clock (deadline_checker.py),
because such a condition is met again when the window has passed, even if no run ends.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from rota.core.alerts.conditions import DeadLetterCount, FailureRate
from rota.core.alerts.evaluation import Judgement, judge_dead_letters, judge_rate
from rota.core.alerts.finding import AlertSubject, SubjectKind, Verdict
from rota.core.submissions import encode_canonical
from rota.engine.alerting.watch_definitions import OK, PENDING, WatchDefinition
from rota.store import watches
from rota.store.driver import Connection
from rota.store.metrics_queries import first_id_of_endings
from rota.store.watches import EndingCount, EndingScope, WatchRow

# A rate is measured again after a tenth of its window, within these bounds.
RATE_RECHECK_MIN: Final = timedelta(seconds=30)
RATE_RECHECK_MAX: Final = timedelta(minutes=10)
# Groups of equal errors, and dead letters of a group, that a watch remembers.
GROUPS_MAX: Final = 50
LETTERS_PER_GROUP_MAX: Final = 100


async def count_subject_endings(
    conn: Connection,
    subject: AlertSubject,
    *,
    tenant_id: int,
    over: timedelta,
    now: datetime,
    step: int | None = None,
) -> EndingCount:
    """Count the runs of a subject that ended within a window, and how many failed. `step` is the
    number of a step in its graph.
    """
    since = now - over
    from_id = first_id_of_endings(since)
    if subject.kind is SubjectKind.JOB and subject.job_id is not None:
        rows = await watches.count_job_endings(conn, [(subject.job_id, since, from_id)])
        return EndingCount(rows[0].ended, rows[0].failed) if rows else EndingCount(0, 0)
    scope = EndingScope(tenant_id)
    if subject.kind is SubjectKind.TASK:
        scope = scope._replace(task=subject.id)
    elif subject.kind is SubjectKind.QUEUE:
        scope = scope._replace(queue=subject.id)
    elif subject.kind is SubjectKind.STEP:
        scope = scope._replace(job_id=subject.job_id, step=step)
    return await watches.count_endings(conn, scope, since=since, from_id=from_id)


def judge_counted(
    condition: FailureRate,
    counted: EndingCount,
    *,
    name: str,
    error: str | None,
    now: datetime,
    run_id: UUID | None = None,
) -> Judgement:
    """Judge a rate, and say when to measure it again while it is too high."""
    judgement = judge_rate(
        condition, name=name, ended=counted.ended, failed=counted.failed, error=error
    )
    recheck_at = now + min(max(condition.over / 10, RATE_RECHECK_MIN), RATE_RECHECK_MAX)
    return Judgement(
        verdict=judgement.verdict,
        title=judgement.title,
        facts=judgement.facts,
        run_id=run_id,
        streak=judgement.streak,
        recheck_at=recheck_at,
    )


async def recheck_rate(
    conn: Connection,
    watch: WatchRow,
    definition: WatchDefinition,
    condition: FailureRate,
    *,
    now: datetime,
) -> Judgement:
    """Measure a rate again that was too high. That it still is says nothing new."""
    counted = await count_subject_endings(
        conn,
        definition.subject,
        tenant_id=watch.tenant_id,
        over=condition.over,
        now=now,
        step=json.loads(watch.evidence).get("step"),
    )
    judgement = judge_counted(condition, counted, name=definition.subject.name, error=None, now=now)
    if judgement.verdict is Verdict.VIOLATED:
        return Judgement(verdict=None, recheck_at=judgement.recheck_at)
    return judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLetter:
    """A dead letter: its group, when it ended, and its error."""

    fingerprint: str
    at: datetime
    error: str | None
    run_id: UUID


def judge_letters(
    watch: WatchRow,
    condition: DeadLetterCount,
    letters: Sequence[NewLetter],
    *,
    name: str,
    now: datetime,
) -> tuple[WatchRow, Judgement]:
    """Add dead letters to what a watch remembers, and judge its worst group."""
    groups = _read_groups(watch)
    for letter in letters:
        group = groups.setdefault(letter.fingerprint, {"times": [], "error": letter.error})
        if letter.at.isoformat() not in group["times"]:
            group["times"].append(letter.at.isoformat())
    worst: Judgement | None = None
    kept: dict[str, Mapping[str, Any]] = {}
    rechecks: list[datetime] = []
    for fingerprint, group in groups.items():
        times = [datetime.fromisoformat(text) for text in group["times"]]
        recent = sorted(at for at in times if at > now - condition.over)
        if not recent:
            continue
        kept[fingerprint] = {
            "times": [at.isoformat() for at in recent[-LETTERS_PER_GROUP_MAX:]],
            "error": group["error"],
        }
        judgement = judge_dead_letters(condition, recent, name=name, error=group["error"], now=now)
        if judgement.recheck_at is not None:
            rechecks.append(judgement.recheck_at)
        if judgement.verdict is Verdict.VIOLATED and (
            worst is None or judgement.streak > worst.streak
        ):
            worst = judgement
    newest = letters[-1] if letters else None
    result = Judgement(
        verdict=Verdict.MET if worst is None else Verdict.VIOLATED,
        title=f"{name}: no new dead letters" if worst is None else worst.title,
        facts={} if worst is None else dict(worst.facts) | {"groups": len(kept)},
        run_id=None if newest is None else newest.run_id,
        streak=0 if worst is None else worst.streak,
        recheck_at=min(rechecks, default=None),
    )
    evidence = {"groups": dict(list(kept.items())[-GROUPS_MAX:])} if kept else {}
    return watch._replace(evidence=encode_canonical(evidence)), result


def recheck_letters(
    watch: WatchRow, definition: WatchDefinition, condition: DeadLetterCount, *, now: datetime
) -> tuple[WatchRow, Judgement]:
    """Forget dead letters that are too old. That there still are enough says nothing new."""
    changed, judgement = judge_letters(watch, condition, [], name=definition.subject.name, now=now)
    if judgement.verdict is Verdict.VIOLATED:
        return changed, Judgement(verdict=None, recheck_at=judgement.recheck_at)
    return changed, judgement


def keep_pending(watch: WatchRow) -> WatchRow:
    """Return a watch that waits for more evidence, if it has any."""
    if watch.state == OK and watch.evidence != "{}":
        return watch._replace(state=PENDING)
    return watch


def _read_groups(watch: WatchRow) -> dict[str, Any]:
    groups = json.loads(watch.evidence).get("groups")
    return {name: dict(group) for name, group in groups.items()} if groups else {}

"""Rehearses expectations: replays them over stored runs and counts what they would have sent."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from rota.contract.expectation_values import build_job_expectations
from rota.core.alerts.conditions import (
    Expectation,
    FinishBy,
    MissedTickCount,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.evaluation import COUNTED_TRIGGERS, TICK_TRIGGER
from rota.core.alerts.finding import AlertSubject, SubjectKind
from rota.core.alerts.matching import SubjectTraits, matches_selector
from rota.core.alerts.rehearsal import (
    PastRun,
    RehearsedIncident,
    SubjectReplay,
    count_messages,
    explain_unseen,
)
from rota.core.alerts.routes import AlertRoute, RouteStep
from rota.core.errors import InvalidInput
from rota.core.outgoing_events import OutgoingEvent
from rota.core.states import RunState
from rota.core.time.zones import get_zone
from rota.engine.alerting.endings import choose_subject
from rota.engine.alerting.step_names import StepPlace, read_step_names
from rota.store import rehearsals
from rota.store.driver import Connection
from rota.store.rehearsals import ExpectingJob, PastRunRow

RUNS_MAX: Final = 100_000
# Runs times rules of one rehearsal: about four seconds.
EVALUATIONS_MAX: Final = 1_000_000
RUNS_AT_LEAST: Final = 5_000
# Where messages go that name no route.
DEFAULT_STEPS: Final = (RouteStep(channels=("default channels",)),)
CLOCK_CONDITIONS: Final = (StartWithin, FinishBy, SucceedEvery)
# Runs between two calls of `check`.
RUNS_PER_CHECK: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRequest:
    """What to replay, and since when."""

    tenant_id: int
    rules: Sequence[Expectation]
    routes: Mapping[str, AlertRoute]
    since: datetime
    include_jobs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalInput:
    """What is replayed, and over which runs."""

    rules: Sequence[Expectation]
    routes: Mapping[str, AlertRoute]
    jobs: Sequence[ExpectingJob]
    runs: Sequence[PastRunRow]
    steps: Mapping[StepPlace, str]
    is_complete: bool
    since: datetime
    now: datetime


@dataclass(slots=True, kw_only=True)
class RehearsedExpectation:
    """What one expectation would have done."""

    expectation: Expectation
    origin: Literal["job", "rule"]
    subjects: dict[str, SubjectReplay] = field(default_factory=dict)
    messages: int = 0
    skipped: str | None = None

    @property
    def incidents(self) -> list[RehearsedIncident]:
        found = [incident for replay in self.subjects.values() for incident in replay.incidents]
        return sorted(found, key=lambda incident: incident.opened_at)

    @property
    def affected(self) -> int:
        return sum(bool(replay.incidents) for replay in self.subjects.values())


async def read_rehearsal(
    conn: Connection, request: RehearsalRequest, *, now: datetime
) -> RehearsalInput:
    """Read the history of a tenant, in bounded pages."""
    tenant_id, since = request.tenant_id, request.since
    limit = min(RUNS_MAX, max(RUNS_AT_LEAST, EVALUATIONS_MAX // (len(request.rules) + 1)))
    runs, is_complete = await rehearsals.read_past_runs(
        conn, tenant_id=tenant_id, since=since, now=now, limit=limit
    )
    jobs: list[ExpectingJob] = []
    if request.include_jobs:
        jobs = await rehearsals.read_expecting_jobs(conn, tenant_id=tenant_id)
    steps: Mapping[StepPlace, str] = {}
    if any(rule.selector.step is not None for rule in request.rules):
        places = {(row.graph_run_id, row.step) for row in runs if row.step is not None}
        steps = await read_step_names(conn, places)
    return RehearsalInput(
        rules=request.rules,
        routes=request.routes,
        jobs=jobs,
        runs=runs,
        steps=steps,
        is_complete=is_complete,
        since=since if is_complete or not runs else max(since, runs[0].finished_at),
        now=now,
    )


def rehearse(given: RehearsalInput, check: Callable[[], object]) -> list[RehearsedExpectation]:
    """Replay the expectations. Pure and slow."""
    rehearsed = [
        RehearsedExpectation(
            expectation=rule, origin="rule", skipped=explain_unseen(rule.condition)
        )
        for rule in given.rules
    ]
    own: dict[UUID, list[RehearsedExpectation]] = {}
    for job in given.jobs:
        own[job.id] = [
            RehearsedExpectation(
                expectation=expectation,
                origin="job",
                skipped=explain_unseen(expectation.condition),
            )
            for expectation in _read_expect(job)
        ]
        for each in own[job.id]:
            if isinstance(each.expectation.condition, SucceedEvery):
                # A job without any run violates it too.
                subject = AlertSubject(kind=SubjectKind.JOB, id=job.id.hex, name=job.name)
                since = max(given.since, job.created_at)
                _find_replay(each, subject, _find_zone(job.timezone), since)
    _replay_runs(given, rehearsed, own, check)
    found = [*rehearsed, *(each for mine in own.values() for each in mine)]
    for each in found:
        check()
        for replay in each.subjects.values():
            replay.finish(given.now)
        each.messages = count_messages(
            each.incidents,
            _find_steps(each.expectation, given.routes),
            severity=each.expectation.policy.severity,
            until=given.now,
        )
    return found


def _replay_runs(
    given: RehearsalInput,
    rules: Sequence[RehearsedExpectation],
    own: Mapping[UUID, Sequence[RehearsedExpectation]],
    check: Callable[[], object],
) -> None:
    known: dict[tuple[object, ...], list[SubjectReplay]] = {}
    for number, row in enumerate(given.runs):
        if number % RUNS_PER_CHECK == 0:
            check()
        if row.trigger not in COUNTED_TRIGGERS and row.step is None:
            continue
        kind = _identify(row)
        if kind not in known:
            known[kind] = _find_replays(given, row, rules, own.get(row.job_id, ()))
        run = _to_past_run(row) if known[kind] else None
        for replay in known[kind]:
            if run is not None and _concerns(replay.expectation, row):
                replay.add(run)


def _find_replays(
    given: RehearsalInput,
    row: PastRunRow,
    rules: Sequence[RehearsedExpectation],
    own: Sequence[RehearsedExpectation],
) -> list[SubjectReplay]:
    """Return the replays of the subjects that runs like this one belong to."""
    event, zone = _to_event(row), _find_zone(row.timezone)
    step = given.steps.get((row.graph_run_id, row.step)) if row.step is not None else None
    if row.step is not None and step is None:
        return []
    traits = SubjectTraits(
        job=event.job_name, step=step, task=event.task, queue=event.queue, labels=event.labels
    )
    created_at = min(row.job_created_at or row.created_at, row.created_at)
    since = max(given.since, created_at)
    return [
        _find_replay(each, choose_subject(each.expectation, event, step), zone, since)
        for each in (*(() if step is not None else own), *rules)
        if each.skipped is None
        and (each.origin == "job" or matches_selector(each.expectation.selector, traits))
    ]


def _concerns(expectation: Expectation, row: PastRunRow) -> bool:
    """Return whether an expectation is decided by this run, as in operation."""
    is_tick = row.trigger == TICK_TRIGGER
    if isinstance(expectation.condition, CLOCK_CONDITIONS):
        return is_tick and row.step is None
    if isinstance(expectation.condition, MissedTickCount):
        return is_tick and row.job_id != row.id
    return row.state != RunState.MISSED


def _identify(row: PastRunRow) -> tuple[object, ...]:
    """Return what runs of the same subjects have in common."""
    if row.job_id == row.id:
        return row.job_name, row.labels, row.task, row.queue
    return row.job_id, row.graph_run_id if row.step is not None else None, row.step, row.queue


def _find_replay(
    each: RehearsedExpectation, subject: AlertSubject, zone: ZoneInfo, since: datetime
) -> SubjectReplay:
    if subject.key not in each.subjects:
        each.subjects[subject.key] = SubjectReplay(
            expectation=each.expectation, name=subject.name, since=since, zone=zone
        )
    return each.subjects[subject.key]


def _read_expect(job: ExpectingJob) -> list[Expectation]:
    try:
        return build_job_expectations(
            job_id=job.id,
            tenant_id=job.tenant_id,
            job_name=job.name,
            expect=json.loads(job.expect),
            alert=None if job.alert is None else json.loads(job.alert),
        )
    except InvalidInput:
        return []


def _find_zone(name: str | None) -> ZoneInfo:
    try:
        return get_zone(name or "UTC")
    except InvalidInput:
        return get_zone("UTC")


def _find_steps(expectation: Expectation, routes: Mapping[str, AlertRoute]) -> Sequence[RouteStep]:
    """Return the steps of the route, or one for the channel, that an expectation reports to."""
    name = expectation.policy.route
    if name is None:
        return DEFAULT_STEPS
    return routes[name].steps if name in routes else (RouteStep(channels=(name,)),)


def _to_event(row: PastRunRow) -> OutgoingEvent:
    return OutgoingEvent(
        id=row.id,
        type=f"run.{row.state}",
        tenant_id=0,
        at=row.finished_at,
        job_id=row.job_id,
        job_name=row.job_name,
        run_id=row.id,
        state=row.state,
        trigger=row.trigger,
        queue=row.queue,
        task=row.task,
        labels=json.loads(row.labels or "{}"),
        graph_run_id=row.graph_run_id,
        step=row.step,
    )


def _to_past_run(row: PastRunRow) -> PastRun:
    return PastRun(
        run_id=row.id,
        state=RunState(row.state),
        is_tick=row.trigger == TICK_TRIGGER,
        scheduled_at=row.scheduled_at,
        due_at=row.due_at,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        reason=None if row.reason is None else json.loads(row.reason),
        letter=row.fingerprint or "",
    )

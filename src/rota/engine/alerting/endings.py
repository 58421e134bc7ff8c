"""Evaluates expectations when runs end: streaks, rates, durations, dead letters, missed ticks.

The relay calls this consumer in its own transaction. Runs that did not succeed always arrive; a
success arrives only if its job or tenant has a subject that is not healthy, so healthy traffic
costs nothing. Streaks and missed ticks of a job are read from history, not counted, so an event
that comes twice changes nothing. Those of tasks, steps and queues have no index and are counted in
the watch; a success that the relay reads in the same pass as the first failure is not seen there.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.conditions import (
    DeadLetterCount,
    EndingCondition,
    Expectation,
    FailureRate,
    FailureStreak,
    MaxDuration,
    MissedTickCount,
)
from rota.core.alerts.evaluation import (
    COUNTED_TRIGGERS,
    FAILED_STATES,
    NOTHING_TO_JUDGE,
    TICK_TRIGGER,
    EndedRun,
    Judgement,
    compute_duration_limit,
    describe_error,
    judge_missed_ticks,
    judge_streak,
    judge_streak_length,
)
from rota.core.alerts.finding import AlertSubject, Finding, SubjectKind, Verdict
from rota.core.alerts.matching import SubjectTraits, choose_subject_kind, list_effective
from rota.core.clock import ClockSource
from rota.core.outgoing_events import OutgoingEvent, RelayInterests
from rota.core.states import DEAD_LETTER_STATES, RunState
from rota.core.submissions import encode_canonical
from rota.engine.alerting.ending_windows import (
    NewLetter,
    count_subject_endings,
    judge_counted,
    judge_letters,
    keep_pending,
)
from rota.engine.alerting.expectation_book import ExpectationBook
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.run_durations import judge_ended_durations
from rota.engine.alerting.step_names import read_step_names
from rota.engine.alerting.watch_definitions import (
    FIRING,
    OK,
    PENDING,
    WatchDefinition,
    build_finding,
    build_watch,
    follow_verdict,
)
from rota.store import expectations, watches
from rota.store.driver import Connection
from rota.store.metrics_queries import first_id_of_endings
from rota.store.watches import EndingCount, JobDuration, JobEnding, WatchRow

# How long what the relay must read is cached. A watch that this process writes counts at once.
INTERESTS_SECONDS_MAX: Final = 2.0
# Events that are evaluated at once: the event loop also fires ticks and must not wait for long.
CHUNK_EVENTS_MAX: Final = 50
# Runs of a job that a title may count.
STREAK_SHOWN_MAX: Final = 100
ENDING_CONDITIONS: Final = (
    MaxDuration,
    FailureStreak,
    FailureRate,
    DeadLetterCount,
    MissedTickCount,
)
ENDING_CODES: Final = frozenset(condition.code for condition in ENDING_CONDITIONS)
CLOCK_CODES: Final = frozenset({"start_within", "finish_by", "succeed_every", "at_risk"})
# Conditions that a success may meet. The others are met when a window has passed.
SUCCESS_CODES: Final = CLOCK_CODES | {
    FailureStreak.code,
    MissedTickCount.code,
    MaxDuration.code,
}
RUN_EVENT_PREFIX: Final = "run."
# Counted subjects have no history of their own; the runs they remember tell repeated events apart.
REMEMBERED_RUNS_MAX: Final = 100
# The relay repeats no event that is older.
REPEATED_EVENTS_MAX: Final = timedelta(minutes=15)


@dataclass(slots=True, kw_only=True)
class EndedGroup:
    """The events of one subject of one expectation in a batch, in the order of their ends."""

    expectation: Expectation
    subject: AlertSubject
    events: list[OutgoingEvent] = field(default_factory=list)

    @property
    def key(self) -> tuple[UUID, str]:
        return self.expectation.id, self.subject.key

    @property
    def condition(self) -> EndingCondition:
        condition = self.expectation.condition
        if not isinstance(condition, ENDING_CONDITIONS):
            raise TypeError(f"{condition.code} is not decided by the end of a run")
        return condition

    @property
    def history_job_id(self) -> UUID | None:
        """The job whose history answers, if the subject is a job."""
        return self.subject.job_id if self.subject.kind is SubjectKind.JOB else None

    @property
    def has_bad_events(self) -> bool:
        return any(event.state != RunState.SUCCEEDED for event in self.events)


@dataclass(slots=True, kw_only=True)
class EndingFacts:
    """What a batch has read."""

    now: datetime
    endings: Mapping[UUID, Sequence[JobEnding]] = field(default_factory=dict)
    rates: Mapping[tuple[UUID, timedelta], EndingCount] = field(default_factory=dict)
    durations: Mapping[UUID, JobDuration] = field(default_factory=dict)
    fingerprints: Mapping[UUID, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class EndingEvaluator:
    """Consumes the relay's events and reports findings."""

    book: ExpectationBook
    clock: ClockSource
    _interests: RelayInterests = field(default_factory=RelayInterests)
    _interests_at: float = float("-inf")

    @property
    def name(self) -> str:
        return "expectations"

    async def read_interests(self, conn: Connection, /) -> RelayInterests:
        """Return the jobs, and the tenants of other subjects, that are not healthy."""
        if self.clock.monotonic() - self._interests_at >= INTERESTS_SECONDS_MAX:
            rows = await watches.read_unhealthy(conn, conditions=SUCCESS_CODES)
            self._interests = RelayInterests(
                succeeded_jobs=frozenset(row.job_id for row in rows if row.job_id is not None),
                succeeded_tenants=frozenset(row.tenant_id for row in rows if row.job_id is None),
            )
            self._interests_at = self.clock.monotonic()
        return self._interests

    async def consume(
        self, conn: Connection, events: Sequence[OutgoingEvent], /, *, now: datetime
    ) -> None:
        """Evaluate the expectations that the ends of runs decide."""
        ended = sorted(filter(is_counted, events), key=lambda event: event.at)
        if not ended:
            return
        await self.book.load(conn)
        for start in range(0, len(ended), CHUNK_EVENTS_MAX):
            await self._consume_chunk(conn, ended[start : start + CHUNK_EVENTS_MAX], now)

    async def _consume_chunk(
        self, conn: Connection, ended: Sequence[OutgoingEvent], now: datetime
    ) -> None:
        groups = await self._group_events(conn, ended)
        known = await watches.lock_watches(conn, list(groups))
        groups = {
            key: group for key, group in groups.items() if key in known or group.has_bad_events
        }
        await watches.wake_watches(
            conn,
            {event.job_id for event in ended if event.job_id is not None},
            conditions=CLOCK_CODES,
        )
        if groups:
            await self._evaluate(conn, groups.values(), known, now)

    async def _group_events(
        self, conn: Connection, events: Sequence[OutgoingEvent]
    ) -> dict[tuple[UUID, str], EndedGroup]:
        """Find the expectations and subjects that each event is about."""
        job_ids = {event.job_id for event in events if event.job_id is not None}
        own = await expectations.read_job_expectations(conn, list(job_ids))
        steps = await self._read_steps(conn, events)
        groups: dict[tuple[UUID, str], EndedGroup] = {}
        for event in events:
            step = steps.get((event.graph_run_id, event.step)) if event.step is not None else None
            if event.step is not None and step is None:
                continue
            traits = SubjectTraits(
                job=event.job_name,
                step=step,
                task=event.task,
                queue=event.queue,
                labels=event.labels,
            )
            mine = () if step is not None or event.job_id is None else own.get(event.job_id, ())
            for expectation in list_effective(traits, self.book.list_rules(event.tenant_id), mine):
                if not concerns(expectation, event):
                    continue
                subject = choose_subject(expectation, event, step)
                key = (expectation.id, subject.key)
                if key not in groups:
                    groups[key] = EndedGroup(expectation=expectation, subject=subject)
                groups[key].events.append(event)
        return groups

    async def _read_steps(
        self, conn: Connection, events: Sequence[OutgoingEvent]
    ) -> Mapping[tuple[UUID | None, int | None], str]:
        """Return the names of steps, if a rule of their tenant is about steps."""
        tenants = {
            tenant_id
            for tenant_id, rules in self.book.rules.items()
            if any(rule.selector.step is not None for rule in rules)
        }
        wanted = {
            (event.graph_run_id, event.step)
            for event in events
            if event.tenant_id in tenants
            and event.graph_run_id is not None
            and event.step is not None
        }
        return await read_step_names(conn, wanted) if wanted else {}

    async def _evaluate(
        self,
        conn: Connection,
        groups: Iterable[EndedGroup],
        known: Mapping[tuple[UUID, str], WatchRow],
        now: datetime,
    ) -> None:
        chosen = list(groups)
        facts = await read_facts(conn, chosen, now)
        saved: list[WatchRow] = []
        gone: list[WatchRow] = []
        findings: list[Finding] = []
        for group in chosen:
            definition = WatchDefinition.of(group.expectation, group.subject)
            stored = known.get(group.key)
            watch = stored or build_watch(
                definition,
                expectation_id=group.expectation.id,
                tenant_id=group.expectation.tenant_id,
                now=now,
            )
            if is_checked_by_clock(watch, group.condition):
                continue
            changed, judgement = await self._judge(conn, group, watch, facts)
            judgement = skip_known(judgement, watch)
            step = follow_verdict(
                changed,
                judgement,
                clear_successes=group.expectation.policy.clear_successes,
                now=now,
            )
            result = keep_evidence(step.watch, judgement, group, now)
            if result.state != OK:
                saved.append(result)
            elif stored is not None:
                gone.append(stored)
            if step.is_reported:
                findings.append(
                    build_finding(
                        definition,
                        judgement,
                        expectation_id=group.expectation.id,
                        tenant_id=group.expectation.tenant_id,
                        now=now,
                        repeats=count_repeats(group, judgement),
                    )
                )
        await watches.save_watches(conn, saved)
        await watches.delete_watches(conn, gone)
        self._add_interests(saved)
        if findings:
            await apply_findings(conn, findings, now=now)

    async def _judge(
        self, conn: Connection, group: EndedGroup, watch: WatchRow, facts: EndingFacts
    ) -> tuple[WatchRow, Judgement]:
        condition, name = group.condition, group.subject.name
        match condition:
            case FailureStreak() if group.history_job_id is not None:
                endings = to_ended_runs(facts.endings.get(group.history_job_id, ()))
                return watch, judge_streak(condition, endings, name=name)
            case FailureStreak():
                return judge_counted_streak(condition, group, watch)
            case MissedTickCount():
                endings = to_ended_runs(facts.endings.get(group.subject.job_id or UUID(int=0), ()))
                return watch, judge_missed_ticks(condition, endings, name=name)
            case MaxDuration():
                found = facts.durations.get(group.history_job_id or UUID(int=0))
                limit = compute_duration_limit(
                    condition,
                    typical=None if found is None else found.typical,
                    samples=0 if found is None else found.samples,
                )
                return judge_ended_durations(watch, group.events, limit=limit, name=name)
            case DeadLetterCount():
                letters = [
                    NewLetter(
                        fingerprint=facts.fingerprints.get(event.run_id, ""),
                        at=event.at,
                        error=describe_error(event.reason),
                        run_id=event.run_id,
                    )
                    for event in group.events
                    if event.run_id is not None and event.state in DEAD_LETTER_STATES
                ]
                if not letters:
                    return watch, NOTHING_TO_JUDGE
                return judge_letters(watch, condition, letters, name=name, now=facts.now)
            case FailureRate():
                counted = facts.rates.get((group.subject.job_id or UUID(int=0), condition.over))
                if counted is None or group.history_job_id is None:
                    counted = await count_subject_endings(
                        conn,
                        group.subject,
                        tenant_id=group.expectation.tenant_id,
                        over=condition.over,
                        now=facts.now,
                        step=group.events[-1].step,
                    )
                if group.subject.kind is SubjectKind.STEP:
                    evidence = encode_canonical({"step": group.events[-1].step})
                    watch = watch._replace(evidence=evidence)
                newest = find_newest_failure(group)
                return watch, judge_counted(
                    condition,
                    counted,
                    name=name,
                    error=None if newest is None else describe_error(newest.reason),
                    now=facts.now,
                    run_id=None if newest is None else newest.run_id,
                )

    def _add_interests(self, saved: Sequence[WatchRow]) -> None:
        """Read the successes of subjects that are not healthy from the next pass on."""
        fresh = [watch for watch in saved if watch.condition in SUCCESS_CODES]
        if fresh:
            self._interests = self._interests.merge(
                RelayInterests(
                    succeeded_jobs=frozenset(
                        watch.job_id for watch in fresh if watch.job_id is not None
                    ),
                    succeeded_tenants=frozenset(
                        watch.tenant_id for watch in fresh if watch.job_id is None
                    ),
                )
            )


def is_counted(event: OutgoingEvent) -> bool:
    """Return whether the end of a run counts: not a backfill, a replay or a run of a person."""
    if not event.type.startswith(RUN_EVENT_PREFIX) or event.run_id is None:
        return False
    return event.trigger in COUNTED_TRIGGERS or event.step is not None


def concerns(expectation: Expectation, event: OutgoingEvent) -> bool:
    """Return whether an expectation is decided by this event. Defaults are narrower than rules:
    streaks are about scheduled jobs, dead letters about the other work.
    """
    condition = expectation.condition
    if not isinstance(condition, ENDING_CONDITIONS):
        return False
    is_tick = event.trigger == TICK_TRIGGER
    if isinstance(condition, MissedTickCount):
        return is_tick and not is_submission(event)
    if expectation.is_default and isinstance(condition, FailureStreak):
        return is_tick
    if expectation.is_default and isinstance(condition, DeadLetterCount):
        return not is_tick
    return event.state != RunState.MISSED


def is_submission(event: OutgoingEvent) -> bool:
    return event.job_id is None or event.job_id == event.run_id


def choose_subject(
    expectation: Expectation, event: OutgoingEvent, step: str | None
) -> AlertSubject:
    """Return what an expectation judges this run as: a run of its job, step, task or queue."""
    kind = choose_subject_kind(expectation.condition, expectation.selector)
    if step is not None and event.job_id is not None:
        return AlertSubject(
            kind=SubjectKind.STEP,
            id=f"{event.job_id.hex}/{step}",
            name=f"{event.job_name} / {step}",
            job_id=event.job_id,
            queue=event.queue,
            task=event.task,
            labels=event.labels,
        )
    if kind is SubjectKind.QUEUE and expectation.job_id is None:
        name = event.queue or ""
        return AlertSubject(kind=kind, id=name, name=name, queue=name)
    if is_submission(event) or (kind is SubjectKind.TASK and expectation.job_id is None):
        name = event.task or ""
        return AlertSubject(kind=SubjectKind.TASK, id=name, name=name, queue=event.queue, task=name)
    job_id = event.job_id or UUID(int=0)
    return AlertSubject(
        kind=SubjectKind.JOB,
        id=job_id.hex,
        name=event.job_name or str(job_id),
        job_id=job_id,
        queue=event.queue,
        task=event.task,
        labels=event.labels,
    )


async def read_facts(conn: Connection, groups: Sequence[EndedGroup], now: datetime) -> EndingFacts:
    """Read what the groups need: one statement per kind of condition."""
    streak_jobs: set[UUID] = set()
    measured: set[UUID] = set()
    windows: dict[tuple[UUID, timedelta], tuple[UUID, datetime, UUID]] = {}
    letters: dict[UUID, OutgoingEvent] = {}
    limit = STREAK_SHOWN_MAX
    for group in groups:
        job_id, condition = group.history_job_id, group.condition
        if isinstance(condition, DeadLetterCount):
            letters |= {event.run_id: event for event in group.events if event.run_id is not None}
        if job_id is None:
            continue
        match condition:
            case FailureStreak() | MissedTickCount():
                streak_jobs.add(job_id)
                if isinstance(condition, FailureStreak):
                    limit = max(limit, condition.streak + 1)
            case MaxDuration() if condition.limit is None:
                measured.add(job_id)
            case FailureRate():
                since = now - condition.over
                windows[job_id, condition.over] = (job_id, since, first_id_of_endings(since))
            case _:
                continue
    rates: dict[tuple[UUID, timedelta], EndingCount] = {}
    for over in {over for _, over in windows}:
        rows = await watches.count_job_endings(
            conn, [window for key, window in windows.items() if key[1] == over]
        )
        rates |= {(row.job_id, over): EndingCount(row.ended, row.failed) for row in rows}
    reasons = {
        run_id: encode_canonical(dict(event.reason))
        for run_id, event in letters.items()
        if event.reason
    }
    found = await watches.read_fingerprints(conn, list(reasons.values()))
    return EndingFacts(
        now=now,
        endings=await watches.read_endings(conn, streak_jobs, limit=limit),
        durations=await watches.measure_durations(conn, measured),
        rates=rates,
        fingerprints=dict(zip(reasons, found, strict=True)),
    )


def to_ended_runs(rows: Sequence[JobEnding]) -> list[EndedRun]:
    return [
        EndedRun(
            run_id=row.run_id,
            state=row.state,
            finished_at=row.finished_at,
            started_at=row.started_at,
            ticks=row.ticks,
            reason=None if row.reason is None else json.loads(row.reason),
        )
        for row in rows
    ]


def skip_known(judgement: Judgement, watch: WatchRow) -> Judgement:
    """Leave out what was reported before, because the relay may repeat events: the same verdict
    about the same newest run.
    """
    is_known = watch.state == FIRING and judgement.run_id == watch.run_id
    if judgement.verdict is not None and judgement.run_id is not None and is_known:
        return Judgement(verdict=None, recheck_at=judgement.recheck_at)
    return judgement


def judge_counted_streak(
    condition: FailureStreak, group: EndedGroup, watch: WatchRow
) -> tuple[WatchRow, Judgement]:
    """Count the failures in a row of a subject without a history of its own."""
    evidence = json.loads(watch.evidence)
    seen: list[str] = list(evidence.get("runs", ()))
    count, newest = watch.streak, None
    for event in group.events:
        if event.run_id is None or str(event.run_id) in seen:
            continue
        if event.state == RunState.SUCCEEDED:
            count, newest = 0, event
        elif event.state in FAILED_STATES:
            count, newest = count + 1, event
        seen = [*seen, str(event.run_id)][-REMEMBERED_RUNS_MAX:]
    if newest is None or newest.run_id is None:
        return watch, NOTHING_TO_JUDGE
    run = EndedRun(
        run_id=newest.run_id,
        state=RunState(newest.state or RunState.DEAD),
        finished_at=newest.at,
        reason=newest.reason,
    )
    judgement = judge_streak_length(condition, count, newest=run, name=group.subject.name)
    changed = watch._replace(streak=count, evidence=encode_canonical({"runs": seen}))
    return changed, judgement


def keep_evidence(
    watch: WatchRow, judgement: Judgement, group: EndedGroup, now: datetime
) -> WatchRow:
    """Return a watch with what it must remember: bad results below the limit, the next check."""
    condition = group.condition
    if isinstance(condition, DeadLetterCount):
        kept = keep_pending(watch)
        return kept._replace(next_check_at=judgement.recheck_at or kept.next_check_at)
    if isinstance(condition, FailureRate):
        return watch._replace(next_check_at=judgement.recheck_at)
    if isinstance(condition, MaxDuration):
        kept = keep_pending(watch)
        forget_at = now + REPEATED_EVENTS_MAX if kept.state == PENDING else None
        return kept._replace(next_check_at=forget_at)
    is_counted_streak = isinstance(condition, FailureStreak) and group.history_job_id is None
    if is_counted_streak and watch.state == OK and watch.streak > 0:
        return watch._replace(state=PENDING)
    return watch


def is_checked_by_clock(watch: WatchRow, condition: EndingCondition) -> bool:
    """Return whether the clock checks the duration of a job, because it is a graph."""
    return isinstance(condition, MaxDuration) and watch.job_version is not None


def count_repeats(group: EndedGroup, judgement: Judgement) -> int:
    """Return how many bad runs a finding stands for."""
    if judgement.verdict is not Verdict.VIOLATED:
        return 1
    return max(1, sum(event.state != RunState.SUCCEEDED for event in group.events))


def find_newest_failure(group: EndedGroup) -> OutgoingEvent | None:
    failed = [event for event in group.events if event.state in FAILED_STATES]
    return failed[-1] if failed else None

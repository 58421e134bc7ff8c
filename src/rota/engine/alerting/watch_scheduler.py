"""Keeps the watches of clock conditions in step with jobs and rules.

One process of the fleet does this, by lease. It reads jobs that changed every few seconds, and all
jobs in pages when it gets the lease, when a rule changes and once an hour. For each job it computes
which expectations apply, and creates, renews, rests or deletes watches. A paused job's watches
rest. An edit moves the next check; a tick that was due before the edit is still checked, and an
open incident stays open.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.conditions import (
    AtRisk,
    Expectation,
    FinishBy,
    MaxDuration,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.defaults import build_default_ref, list_default_expectations
from rota.core.alerts.evaluation import Judgement
from rota.core.alerts.finding import AlertSubject, Finding, SubjectKind, Verdict
from rota.core.alerts.matching import SubjectTraits, choose_subject_kind, list_effective
from rota.core.clock import ClockSource
from rota.core.states import HELD_JOB_STATES, JobState
from rota.core.time.schedule import Schedule
from rota.engine.alerting.deadline_checker import find_check_time, let_others_run
from rota.engine.alerting.endings import CLOCK_CODES, ENDING_CODES
from rota.engine.alerting.expectation_book import ExpectationBook
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.tick_planner import CheckedTick, TickPlanner
from rota.engine.alerting.watch_definitions import (
    FIRING,
    OK,
    WatchDefinition,
    build_finding,
    build_watch,
    decode_definition,
    encode_definition,
    settle_watch,
)
from rota.store import expectations, watches
from rota.store.driver import Connection, ConnectionSource
from rota.store.expectations import JobExpectRow
from rota.store.named_leases import acquire_lease
from rota.store.pool import read_database_time
from rota.store.transaction import transaction
from rota.store.watches import WatchedJob, WatchRow

LEASE_NAME: Final = "alert watches"
LEASE_TTL: Final = timedelta(seconds=30)
LEASE_CHECK_INTERVAL_S: Final = 5.0
SYNC_INTERVAL_S: Final = 2.0
JOBS_PER_PAGE_MAX: Final = 2000
# Jobs that are brought up to date at once: the event loop also fires ticks.
JOBS_PER_TRANSACTION_MAX: Final = 50
# A change may be committed this long after the time it carries; later ones are found by the next
# pass over all jobs.
COMMIT_MARGIN: Final = timedelta(seconds=30)
FULL_PASS_INTERVAL_S: Final = 3600.0
STRAY_INTERVAL_S: Final = 30.0
QUARANTINED_CODE: Final = "quarantined"
CLOCK_CONDITIONS: Final = (StartWithin, FinishBy, SucceedEvery, AtRisk)
FIRST_ID: Final = UUID(int=0)

WantedWatches = dict[tuple[UUID, str], tuple[Expectation, WatchDefinition]]


@dataclass(slots=True, kw_only=True)
class WatchChanges:
    """What a pass writes."""

    now: datetime
    saved: list[WatchRow] = field(default_factory=list)
    gone: list[WatchRow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(self, watch: WatchRow, outcome: WatchRow | str | None) -> None:
        """Replace a watch, delete it, or delete it and end what it reported for a reason."""
        if isinstance(outcome, str):
            self.end(watch, outcome)
        elif outcome is None:
            self.gone.append(watch)
        elif outcome != watch:
            self.saved.append(outcome)

    def end(self, watch: WatchRow, why: str) -> None:
        """Delete a watch and end what it reported."""
        self.gone.append(watch)
        if watch.state != FIRING:
            return
        definition = decode_definition(watch.definition)
        judgement = Judgement(verdict=Verdict.MET, title=f"{definition.subject.name}: {why}")
        self.findings.append(
            build_finding(
                definition,
                judgement,
                expectation_id=watch.expectation_id,
                tenant_id=watch.tenant_id,
                now=self.now,
                repeats=definition.policy.clear_successes,
            )
        )

    async def write(self, conn: Connection) -> None:
        await watches.save_watches(conn, self.saved)
        await watches.delete_watches(conn, self.gone)
        if self.findings:
            await apply_findings(conn, self.findings, now=self.now)


@dataclass(slots=True, kw_only=True)
class WatchScheduler:
    """Keeps watches in step with jobs and rules, as a background duty. `holder` names this process
    to people.
    """

    source: ConnectionSource
    clock: ClockSource
    book: ExpectationBook
    holder: str
    new_id: Callable[[], UUID]
    _owner: UUID = field(init=False)
    _planner: TickPlanner = field(init=False)
    _rules: Mapping[int, Sequence[Expectation]] | None = None
    _page_after: UUID | None = None
    _full_pass_at: float = float("-inf")
    _strays_at: float = float("-inf")
    _since: datetime | None = None
    _seen: dict[UUID, tuple[int, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._owner = self.new_id()
        self._planner = TickPlanner(self.clock)

    async def tick(self) -> float:
        """Bring the watches of changed jobs, or of one page of jobs, up to date."""
        async with self.source.acquire() as conn:
            lease = await acquire_lease(
                conn, LEASE_NAME, owner=self._owner, holder=self.holder, ttl=LEASE_TTL
            )
            if lease is None:
                self._forget()
                return LEASE_CHECK_INTERVAL_S
            await self.book.load(conn)
            self._plan_full_pass()
            now = await read_database_time(conn)
            await self._sync_changed(conn, now)
            if self._page_after is not None:
                await self._sync_page(conn, self._page_after, now)
                return 0.0
            await self._remove_strays(conn, now)
        return SYNC_INTERVAL_S

    def _forget(self) -> None:
        """Start over when this process gets the lease."""
        self._rules, self._since, self._page_after = None, None, None
        self._full_pass_at = float("-inf")

    def _plan_full_pass(self) -> None:
        is_old = self.clock.monotonic() - self._full_pass_at > FULL_PASS_INTERVAL_S
        if is_old or self._rules != self.book.rules:
            self._rules = self.book.rules
            self._page_after = FIRST_ID
            self._full_pass_at = self.clock.monotonic()

    @property
    def _tenants(self) -> set[int]:
        """The tenants whose rules may watch any of their jobs by the clock."""
        return self.book.list_tenants(*CLOCK_CONDITIONS, MaxDuration)

    async def _sync_changed(self, conn: Connection, now: datetime) -> None:
        if self._since is None:
            # The pass over all jobs covers what was before.
            self._since = now
        rows = await watches.read_changed_jobs(
            conn,
            since=self._since - COMMIT_MARGIN,
            tenant_ids=self._tenants,
            limit=JOBS_PER_PAGE_MAX,
        )
        fresh = [row for row in rows if self._seen.get(row.id) != (row.version, row.updated_at)]
        if fresh and len(rows) == JOBS_PER_PAGE_MAX:
            # Too many changes at once: look at all jobs.
            self._page_after = FIRST_ID
        await self._sync(conn, fresh, now)
        self._seen = {row.id: (row.version, row.updated_at) for row in rows}
        self._since = now

    async def _sync_page(self, conn: Connection, after: UUID, now: datetime) -> None:
        rows = await watches.read_jobs(
            conn, after=after, tenant_ids=self._tenants, limit=JOBS_PER_PAGE_MAX
        )
        await self._sync(conn, rows, now)
        self._page_after = rows[-1].id if rows else None

    async def _sync(self, conn: Connection, jobs: Sequence[WatchedJob], now: datetime) -> None:
        for start in range(0, len(jobs), JOBS_PER_TRANSACTION_MAX):
            chunk = jobs[start : start + JOBS_PER_TRANSACTION_MAX]
            changes = WatchChanges(now=now)
            async with transaction(conn):
                stored = await watches.lock_job_watches(conn, [job.id for job in chunk])
                for number, job in enumerate(chunk):
                    self._sync_job(job, stored.get(job.id, ()), changes, now)
                    await let_others_run(number)
                await changes.write(conn)

    def _sync_job(
        self, job: WatchedJob, stored: Sequence[WatchRow], changes: WatchChanges, now: datetime
    ) -> None:
        self._sync_quarantine(job, stored, changes, now)
        own, effective = self._find_expectations(job)
        wanted = self._choose_watched(job, effective)
        known_ids = {rule.id for rule in (*own, *self.book.list_rules(job.tenant_id))}
        known_ids |= {rule.id for rule in list_default_expectations(job.tenant_id)}
        for watch in stored:
            if watch.condition != QUARANTINED_CODE:
                changes.add(watch, self._follow_job(job, watch, wanted, known_ids, now))
        found = {watch.key for watch in stored}
        for key, (expectation, definition) in wanted.items():
            if key not in found and job.state == JobState.ACTIVE:
                changes.saved.append(self._create(job, expectation, definition, now))

    def _follow_job(
        self,
        job: WatchedJob,
        watch: WatchRow,
        wanted: WantedWatches,
        known_ids: Collection[UUID],
        now: datetime,
    ) -> WatchRow | str | None:
        """Return a watch as the job needs it; None to delete it; a text to end its incident."""
        is_clock = watch.condition in CLOCK_CODES or watch.job_version is not None
        if job.state == JobState.DELETED:
            return None
        if is_clock and watch.key in wanted:
            return self._renew(job, watch, *wanted[watch.key], now=now)
        if is_clock or watch.expectation_id not in known_ids:
            return "the expectation no longer applies"
        return None if job.state == JobState.PAUSED else watch

    def _find_expectations(self, job: WatchedJob) -> tuple[list[Expectation], list[Expectation]]:
        """Return the conditions of the job itself, and all that apply to it."""
        own: list[Expectation] = []
        if job.expect is not None:
            own = expectations.read_expect(
                JobExpectRow(job.id, job.tenant_id, job.name, job.expect, job.alert)
            )
        traits = SubjectTraits(
            job=job.name, task=job.task, queue=job.queue, labels=json.loads(job.labels)
        )
        return own, list_effective(traits, self.book.rules.get(job.tenant_id, ()), own)

    def _choose_watched(self, job: WatchedJob, effective: Sequence[Expectation]) -> WantedWatches:
        """Return the expectations that the clock checks; none for a job without ticks."""
        if self._read_schedule(job) is None:
            return {}
        subject = AlertSubject(
            kind=SubjectKind.JOB,
            id=job.id.hex,
            name=job.name,
            job_id=job.id,
            queue=job.queue,
            task=job.task,
            labels=json.loads(job.labels),
        )
        deadlines = [each.condition for each in effective if isinstance(each.condition, FinishBy)]
        wanted: WantedWatches = {}
        for expectation in effective:
            condition = expectation.condition
            if isinstance(condition, MaxDuration):
                kind = choose_subject_kind(condition, expectation.selector)
                if not job.is_graph or (expectation.job_id is None and kind != SubjectKind.JOB):
                    continue
            elif not isinstance(condition, CLOCK_CONDITIONS):
                continue
            finish_by = deadlines[0] if isinstance(condition, AtRisk) and deadlines else None
            if isinstance(condition, AtRisk) and finish_by is None:
                continue
            definition = WatchDefinition.of(expectation, subject, finish_by=finish_by)
            wanted[expectation.id, subject.key] = (expectation, definition)
        return wanted

    def _read_schedule(self, job: WatchedJob) -> Schedule | None:
        return self._planner.read_schedule(job.schedule, job.id)

    def _create(
        self, job: WatchedJob, expectation: Expectation, definition: WatchDefinition, now: datetime
    ) -> WatchRow:
        watch = build_watch(
            definition, expectation_id=expectation.id, tenant_id=job.tenant_id, now=now
        )
        return self._start(job, watch, definition, now)

    def _start(
        self, job: WatchedJob, watch: WatchRow, definition: WatchDefinition, now: datetime
    ) -> WatchRow:
        """Watch a job from its next tick on."""
        watch = watch._replace(job_version=job.version, watched_since=now)
        if isinstance(definition.condition, SucceedEvery):
            return watch._replace(next_check_at=now)
        tick = None if job.tick_at is None else CheckedTick(job.tick_at, job.fire_at or job.tick_at)
        return self._place(job, watch, definition, tick)

    def _place(
        self,
        job: WatchedJob,
        watch: WatchRow,
        definition: WatchDefinition,
        tick: CheckedTick | None,
    ) -> WatchRow:
        """Return the watch at a tick, or waiting for one."""
        if tick is None:
            return watch._replace(tick_at=None, due_at=None, next_check_at=None)
        check_at = find_check_time(definition.condition, tick, self._read_schedule(job))
        return watch._replace(tick_at=tick.at, due_at=tick.due_at, next_check_at=check_at)

    def _renew(
        self,
        job: WatchedJob,
        watch: WatchRow,
        expectation: Expectation,
        definition: WatchDefinition,
        *,
        now: datetime,
    ) -> WatchRow | None:
        """Return the watch after a change of its job or rule; None if it is no longer needed."""
        is_aged = isinstance(expectation.condition, SucceedEvery)
        if job.state in HELD_JOB_STATES:
            return settle_watch(watch, now)._replace(
                since=watch.since if watch.state == OK else now,
                tick_at=None,
                due_at=None,
                next_check_at=None,
                job_version=job.version,
            )
        if job.state == JobState.FINISHED:
            is_done = watch.next_check_at is None and watch.state == OK
            return None if is_aged or is_done else watch._replace(job_version=job.version)
        text = encode_definition(definition)
        is_resting = watch.next_check_at is None and watch.late_tick_at is None
        if is_resting and (job.tick_at is not None or is_aged):
            if watch.job_version == job.version and watch.definition == text and not is_aged:
                return self._start(job, watch, definition, now)
            return self._start(job, watch._replace(definition=text), definition, now)
        if watch.job_version == job.version and watch.definition == text:
            return watch
        changed = watch._replace(definition=text, job_version=job.version)
        if is_aged:
            return changed._replace(next_check_at=now)
        is_due = watch.tick_at is not None and watch.tick_at <= now
        tick = None if job.tick_at is None else CheckedTick(job.tick_at, job.fire_at or job.tick_at)
        if is_due and watch.tick_at is not None:
            tick = CheckedTick(watch.tick_at, watch.due_at or watch.tick_at)
        placed = self._place(job, changed, definition, tick)
        if watch.state == FIRING and watch.next_check_at is not None:
            times = [time for time in (placed.next_check_at, watch.next_check_at) if time]
            return placed._replace(next_check_at=min(times))
        return placed

    def _sync_quarantine(
        self, job: WatchedJob, stored: Sequence[WatchRow], changes: WatchChanges, now: datetime
    ) -> None:
        """Report a job that cannot be scheduled, and that it can again."""
        known = [watch for watch in stored if watch.condition == QUARANTINED_CODE]
        if job.state != JobState.QUARANTINED:
            for watch in known:
                changes.end(watch, "no longer quarantined")
            return
        if known or not self.book.has_defaults:
            return
        ref = build_default_ref(job.tenant_id, QUARANTINED_CODE, "no job is quarantined")
        subject = AlertSubject(
            kind=SubjectKind.JOB,
            id=job.id.hex,
            name=job.name,
            job_id=job.id,
            queue=job.queue,
            task=job.task,
            labels=json.loads(job.labels),
        )
        definition = WatchDefinition(
            name=ref.name,
            code=QUARANTINED_CODE,
            condition=None,
            policy=ref.policy,
            subject=subject,
        )
        reason = json.loads(job.held).get("reason") if job.held else None
        judgement = Judgement(
            verdict=Verdict.VIOLATED,
            title=f"{job.name}: quarantined" + (f": {reason}" if reason else ""),
            facts={"reason": reason},
        )
        watch = build_watch(definition, expectation_id=ref.id, tenant_id=job.tenant_id, now=now)
        changes.saved.append(watch._replace(state=FIRING))
        changes.findings.append(
            build_finding(
                definition, judgement, expectation_id=ref.id, tenant_id=job.tenant_id, now=now
            )
        )

    async def _remove_strays(self, conn: Connection, now: datetime) -> None:
        """Delete watches of tasks and queues whose rule was deleted."""
        if self.clock.monotonic() - self._strays_at < STRAY_INTERVAL_S:
            return
        self._strays_at = self.clock.monotonic()
        changes = WatchChanges(now=now)
        async with transaction(conn):
            known = {rule.id for rules in self.book.rules.values() for rule in rules}
            rows = await watches.lock_strays(conn, conditions=ENDING_CODES, expectation_ids=known)
            for watch in rows:
                defaults = list_default_expectations(watch.tenant_id)
                if self.book.has_defaults and watch.expectation_id in {
                    rule.id for rule in defaults
                }:
                    continue
                changes.end(watch, "the expectation no longer applies")
            await changes.write(conn)

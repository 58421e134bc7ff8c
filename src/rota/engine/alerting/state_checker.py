"""Checks the state of the cluster: what no end of a run and no deadline shows.

One process of the fleet does this every few seconds, by lease, from the figures that `/metrics` and
`rota why` show: queues without workers, ticks fired late, runs that wait or last too long, stopped
sources, webhook endpoints that fail, shards without a scheduler, clocks that disagree, and a relay
that is behind. A problem has a watch while it lasts; it is reported when it begins and when it
ends.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.conditions import (
    Condition,
    Expectation,
    FiringLag,
    MaxDuration,
    NoWorker,
    OldestWait,
)
from rota.core.alerts.defaults import build_default_ref, build_platform_ref
from rota.core.alerts.evaluation import (
    FIRING_LAG_MAX,
    RELAY_LAG_MAX,
    Judgement,
    compute_duration_limit,
    judge_duration,
    round_seconds,
)
from rota.core.alerts.finding import (
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    SubjectKind,
    Verdict,
)
from rota.core.alerts.matching import SubjectTraits, choose_subject_kind, list_effective
from rota.core.clock import ClockSource
from rota.core.time import durations
from rota.core.webhook_deliveries import FAILING_AFTER, DisabledReason
from rota.engine.alerting.expectation_book import ExpectationBook
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.run_durations import read_long_runs, write_long_runs
from rota.engine.alerting.step_names import StepPlace, read_step_names
from rota.engine.alerting.watch_definitions import (
    OK,
    WatchDefinition,
    build_finding,
    build_watch,
    decode_definition,
    follow_verdict,
)
from rota.store import (
    expectations,
    interning,
    metrics_queries,
    problems,
    relays,
    watches,
    webhooks,
)
from rota.store.driver import Connection, ConnectionSource
from rota.store.expectations import JobExpectRow
from rota.store.named_leases import acquire_lease
from rota.store.pool import read_database_time
from rota.store.problems import WaitingRuns
from rota.store.transaction import transaction
from rota.store.watches import JobDuration, LongRun, TaskDuration, WatchRow
from rota.store.webhooks import UnhealthyEndpoint

LEASE_NAME: Final = "alert state checks"
LEASE_TTL: Final = timedelta(seconds=30)
LEASE_CHECK_INTERVAL_S: Final = 5.0
STATE_INTERVAL_S: Final = 5.0
CLOCK_OFFSET_MAX: Final = timedelta(seconds=2)
# A source that fails or that no process reads for this long has stopped.
SOURCE_GRACE: Final = timedelta(minutes=1)
SOURCE_POLICY: Final = AlertPolicy(hold_for=timedelta(minutes=1))
# The shortest limit of a duration.
DURATION_MIN: Final = timedelta(seconds=1)
SOURCE_CODE: Final = "source_stopped"
# A webhook endpoint that fails for this long is an incident; retries cover what is shorter.
ENDPOINT_GRACE: Final = timedelta(hours=1)
ENDPOINT_FAILING_CODE: Final = "endpoint_failing"
ENDPOINT_DISABLED_CODE: Final = "endpoint_disabled"
STATE_CODES: Final = frozenset(
    {
        NoWorker.code,
        FiringLag.code,
        OldestWait.code,
        SOURCE_CODE,
        ENDPOINT_FAILING_CODE,
        ENDPOINT_DISABLED_CODE,
        "shard_without_owner",
        "relay_behind",
        "clock_offset",
    }
)
Pauses = frozenset[tuple[int | None, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateProblem:
    """Something that is wrong now."""

    expectation: ExpectationRef
    subject: AlertSubject
    title: str
    facts: Mapping[str, object] = field(default_factory=dict)
    run_id: UUID | None = None
    condition: Condition | None = None

    @property
    def key(self) -> tuple[UUID, str]:
        return self.expectation.id, self.subject.key

    @property
    def definition(self) -> WatchDefinition:
        return WatchDefinition(
            name=self.expectation.name,
            code=self.expectation.condition,
            condition=self.condition,
            policy=self.expectation.policy,
            subject=self.subject,
        )


@dataclass(slots=True, kw_only=True)
class StateChecker:
    """Checks the state of the cluster, as a background duty.

    `read_clock_offset` returns by how much the clock of this machine differs from the database's;
    None while it is not known. `holder` names this process to people.
    """

    source: ConnectionSource
    clock: ClockSource
    book: ExpectationBook
    holder: str
    new_id: Callable[[], UUID]
    read_clock_offset: Callable[[], timedelta | None] = lambda: None
    _owner: UUID = field(init=False)

    def __post_init__(self) -> None:
        self._owner = self.new_id()

    async def tick(self) -> float:
        """Check everything once, if this process holds the lease."""
        async with self.source.acquire() as conn:
            lease = await acquire_lease(
                conn, LEASE_NAME, owner=self._owner, holder=self.holder, ttl=LEASE_TTL
            )
            if lease is None:
                return LEASE_CHECK_INTERVAL_S
            await self.book.load(conn)
            now = await read_database_time(conn)
            found = await self._collect(conn, now)
            async with transaction(conn):
                await self._report(conn, found, now)
            async with transaction(conn):
                await self._check_long_runs(conn, now)
        return STATE_INTERVAL_S

    async def _collect(self, conn: Connection, now: datetime) -> list[StateProblem]:
        found: list[StateProblem] = []
        if self.book.has_defaults:
            found += await self._check_platform(conn)
            found += await self._check_sources(conn)
            found += await self._check_endpoints(conn, now)
        pauses = await watches.read_pauses(conn)
        found += await self._check_workers(conn, pauses, now)
        found += await self._check_lags(conn, now)
        found += await self._check_waits(conn, pauses, now)
        return found

    async def _check_platform(self, conn: Connection) -> list[StateProblem]:
        found: list[StateProblem] = []
        cluster = await metrics_queries.read_cluster(conn)
        if cluster is not None and cluster.fire_lag > FIRING_LAG_MAX:
            late = describe_length(cluster.fire_lag)
            found.append(build_platform_problem("lag", f"ticks are fired {late} late"))
        if cluster is not None and cluster.shards_unowned:
            number = cluster.shards_unowned
            title = f"{number} of 128 shards have no scheduler"
            found.append(build_platform_problem("shard_without_owner", title))
        relay = await relays.read_relay_lag(conn)
        if relay is not None and relay > RELAY_LAG_MAX:
            title = f"the event relay is {describe_length(relay)} behind"
            found.append(build_platform_problem("relay_behind", title))
        offset = self.read_clock_offset()
        if offset is not None and abs(offset) > CLOCK_OFFSET_MAX:
            apart = describe_length(abs(offset))
            title = f"the clock of {self.holder} is {apart} off the database's"
            found.append(build_platform_problem("clock_offset", title))
        return found

    async def _check_endpoints(self, conn: Connection, now: datetime) -> list[StateProblem]:
        """Find webhook endpoints that fail, and those that Rota has disabled, of all tenants."""
        found: list[StateProblem] = []
        for row in await webhooks.list_unhealthy(conn):
            lasting = now - (row.failing_since or now)
            if row.failures >= FAILING_AFTER and lasting >= ENDPOINT_GRACE:
                title = f"webhook endpoint {row.name} fails: {row.last_error}"
                found.append(build_endpoint_problem(row, ENDPOINT_FAILING_CODE, title))
            if row.disabled_reason in {DisabledReason.GONE, DisabledReason.FAILING}:
                title = f"webhook endpoint {row.name} is disabled; its events are held"
                found.append(build_endpoint_problem(row, ENDPOINT_DISABLED_CODE, title))
        return found

    async def _check_sources(self, conn: Connection) -> list[StateProblem]:
        rows = await problems.read_stopped_sources(conn, tenant_id=None, grace=SOURCE_GRACE)
        if not rows:
            return []
        tenant_ids = await interning.find_tenant_ids(conn, {row.tenant for row in rows})
        return [
            StateProblem(
                expectation=build_default_ref(
                    tenant_ids[row.tenant], SOURCE_CODE, "event sources are read", SOURCE_POLICY
                ),
                subject=AlertSubject(kind=SubjectKind.SOURCE, id=row.source, name=row.source),
                title=f"source {row.source} has stopped" + (f": {row.error}" if row.error else ""),
                facts={"error": row.error, "failures": row.failures},
            )
            for row in rows
            if row.tenant in tenant_ids
        ]

    async def _check_workers(
        self, conn: Connection, pauses: Pauses, now: datetime
    ) -> list[StateProblem]:
        """Find queues with waiting runs that no live worker serves."""
        rows = await problems.read_waiting(conn, tenant_id=None)
        unserved: dict[tuple[UUID, str], tuple[Expectation, list[WaitingRuns]]] = {}
        for row in rows:
            if row.is_served or is_paused(pauses, row.tenant_id, row.queue):
                continue
            traits = SubjectTraits(task=row.kind, queue=row.queue)
            for rule in list_effective(traits, self.book.list_rules(row.tenant_id)):
                condition = rule.condition
                if isinstance(condition, NoWorker) and row.oldest_at <= now - condition.within:
                    unserved.setdefault((rule.id, row.queue), (rule, []))[1].append(row)
        found = []
        for (_, queue), (rule, waiting) in unserved.items():
            number = sum(row.number for row in waiting)
            kinds = sorted({row.kind for row in waiting})
            oldest = min(row.oldest_at for row in waiting)
            runs = "1 run waits" if number == 1 else f"{number} runs wait"
            found.append(
                StateProblem(
                    expectation=to_ref(rule),
                    subject=AlertSubject(kind=SubjectKind.QUEUE, id=queue, name=queue, queue=queue),
                    title=f"{runs} in queue {queue} and no worker serves {', '.join(kinds[:5])}",
                    facts={"waiting": number, "tasks": kinds[:20], "since": oldest.isoformat()},
                    condition=rule.condition,
                )
            )
        return found

    async def _check_lags(self, conn: Connection, now: datetime) -> list[StateProblem]:
        """Judge the rules of tenants about ticks that are fired late."""
        found = []
        for rule, condition in self._list_rules(FiringLag):
            if not isinstance(condition, FiringLag):
                continue
            late = await metrics_queries.count_late_ticks(
                conn, tenant_id=rule.tenant_id, before=now - condition.limit
            )
            if late.oldest_at is None:
                continue
            lag = describe_length(now - late.oldest_at)
            found.append(
                StateProblem(
                    expectation=to_ref(rule),
                    subject=AlertSubject(
                        kind=SubjectKind.TENANT, id=str(rule.tenant_id), name="all jobs"
                    ),
                    title=f"{late.number} ticks are late, the oldest by {lag}",
                    facts={"count": late.number},
                    condition=condition,
                )
            )
        return found

    async def _check_waits(
        self, conn: Connection, pauses: Pauses, now: datetime
    ) -> list[StateProblem]:
        """Judge the rules of tenants about runs that wait too long."""
        found = []
        rules: dict[int, list[Expectation]] = {}
        for rule, _ in self._list_rules(OldestWait):
            rules.setdefault(rule.tenant_id, []).append(rule)
        for tenant_id, mine in rules.items():
            for row in await metrics_queries.read_depths(conn, tenant_id=tenant_id):
                if row.oldest_at is None or is_paused(pauses, tenant_id, row.queue):
                    continue
                for rule in list_effective(SubjectTraits(queue=row.queue), mine):
                    condition = rule.condition
                    if not isinstance(condition, OldestWait):
                        continue
                    if row.oldest_at <= now - condition.limit:
                        waited = describe_length(now - row.oldest_at)
                        found.append(
                            StateProblem(
                                expectation=to_ref(rule),
                                subject=AlertSubject(
                                    kind=SubjectKind.QUEUE,
                                    id=row.queue,
                                    name=row.queue,
                                    queue=row.queue,
                                ),
                                title=f"a run in queue {row.queue} waits for {waited}",
                                facts={
                                    "waiting": row.ready,
                                    "since": row.oldest_at.isoformat(),
                                },
                                condition=condition,
                            )
                        )
        return found

    def _list_rules(self, condition: type) -> list[tuple[Expectation, Condition]]:
        return [
            (rule, rule.condition)
            for rules in self.book.rules.values()
            for rule in rules
            if isinstance(rule.condition, condition)
        ]

    async def _report(self, conn: Connection, found: Sequence[StateProblem], now: datetime) -> None:
        """Report the problems that began and those that ended."""
        stored = {row.key: row for row in await watches.lock_unhealthy(conn, STATE_CODES)}
        saved: list[WatchRow] = []
        gone: list[WatchRow] = []
        findings: list[Finding] = []
        present = {problem.key: problem for problem in found}
        for key, problem in present.items():
            known = stored.get(key)
            if known is not None and known.met_in_row == 0:
                continue
            definition = problem.definition
            watch = known or build_watch(
                definition,
                expectation_id=key[0],
                tenant_id=problem.expectation.tenant_id,
                now=now,
            )
            judgement = Judgement(
                verdict=Verdict.VIOLATED,
                title=problem.title,
                facts=problem.facts,
                run_id=problem.run_id,
            )
            step = follow_verdict(watch, judgement, clear_successes=1, now=now)
            saved.append(step.watch)
            findings.append(self._to_finding(step.watch, definition, judgement, now))
        for key, watch in stored.items():
            if key in present:
                continue
            definition = decode_definition(watch.definition)
            judgement = Judgement(verdict=Verdict.MET, title=f"{definition.name}: again")
            step = follow_verdict(
                watch, judgement, clear_successes=definition.policy.clear_successes, now=now
            )
            (gone if step.watch.state == OK else saved).append(step.watch)
            if step.is_reported:
                findings.append(self._to_finding(watch, definition, judgement, now))
        await watches.save_watches(conn, saved)
        await watches.delete_watches(conn, gone)
        if findings:
            await apply_findings(conn, findings, now=now)

    def _to_finding(
        self, watch: WatchRow, definition: WatchDefinition, judgement: Judgement, now: datetime
    ) -> Finding:
        return build_finding(
            definition,
            judgement,
            expectation_id=watch.expectation_id,
            tenant_id=watch.tenant_id,
            now=now,
        )

    async def _check_long_runs(self, conn: Connection, now: datetime) -> None:
        """Find runs that last too long while they run. Their end is judged by endings.py."""
        rows = await watches.read_long_runs(
            conn,
            before=now - DURATION_MIN,
            tenant_ids=self.book.list_tenants(MaxDuration),
        )
        if not rows:
            return
        judged = await self._judge_long_runs(conn, rows, now)
        stored = await watches.lock_watches(conn, {key for key, _, _, _ in judged})
        current: dict[tuple[UUID, str], WatchRow] = dict(stored)
        changed: dict[tuple[UUID, str], WatchRow] = {}
        findings: list[Finding] = []
        for key, rule, definition, judgement in judged:
            watch = current.get(key) or build_watch(
                definition, expectation_id=rule.id, tenant_id=rule.tenant_id, now=now
            )
            reported = read_long_runs(watch)
            if str(judgement.run_id) in reported:
                continue
            step = follow_verdict(
                watch, judgement, clear_successes=rule.policy.clear_successes, now=now
            )
            watch = write_long_runs(step.watch, [*reported, str(judgement.run_id)])
            current[key] = changed[key] = watch
            findings.append(self._to_finding(watch, definition, judgement, now))
        await watches.save_watches(conn, list(changed.values()))
        if findings:
            await apply_findings(conn, findings, now=now)

    async def _judge_long_runs(
        self, conn: Connection, rows: Sequence[LongRun], now: datetime
    ) -> list[tuple[tuple[UUID, str], Expectation, WatchDefinition, Judgement]]:
        places = {(row.graph_run_id, row.step) for row in rows if row.step is not None}
        steps = await read_step_names(conn, places) if places else {}
        matched = [
            (row, rule, choose_run_subject(rule, row, steps))
            for row in rows
            for rule in self._match_run(row, steps)
        ]
        relative = {
            row.job_id
            for row, rule, subject in matched
            if subject.kind is SubjectKind.JOB and is_relative(rule)
        }
        measured = await watches.measure_durations(conn, relative)
        tasks: dict[tuple[int, str], TaskDuration] = {}
        judged = []
        for row, rule, subject in matched:
            condition = rule.condition
            if not isinstance(condition, MaxDuration):
                continue
            sample: JobDuration | TaskDuration | None = measured.get(row.job_id)
            if is_relative(rule) and subject.kind is not SubjectKind.JOB:
                place = (row.tenant_id, row.task)
                if place not in tasks:
                    tasks[place] = await watches.measure_task_duration(
                        conn, tenant_id=row.tenant_id, task=row.task
                    )
                sample = tasks[place]
            limit = compute_duration_limit(
                condition,
                typical=None if sample is None else sample.typical,
                samples=0 if sample is None else sample.samples,
            )
            judgement = judge_duration(
                limit,
                name=subject.name,
                run_id=row.run_id,
                duration=now - row.started_at,
                is_running=True,
            )
            if judgement.verdict is Verdict.VIOLATED:
                definition = WatchDefinition.of(rule, subject)
                judged.append(((rule.id, subject.key), rule, definition, judgement))
        return judged

    def _match_run(self, row: LongRun, steps: Mapping[StepPlace, str]) -> Iterable[Expectation]:
        """Return the conditions on the duration of a run."""
        own: list[Expectation] = []
        step = steps.get((row.graph_run_id, row.step)) if row.step is not None else None
        if row.step is not None and step is None:
            return
        if row.expect is not None and row.step is None:
            own = expectations.read_expect(
                JobExpectRow(row.job_id, row.tenant_id, row.job_name or "", row.expect, row.alert)
            )
        traits = SubjectTraits(
            job=row.job_name,
            step=step,
            task=row.task,
            queue=row.queue,
            labels={} if row.labels is None else json.loads(row.labels),
        )
        for rule in list_effective(traits, self.book.rules.get(row.tenant_id, ()), own):
            if isinstance(rule.condition, MaxDuration):
                yield rule


def choose_run_subject(
    rule: Expectation, row: LongRun, steps: Mapping[StepPlace, str]
) -> AlertSubject:
    """Return what a rule judges a running run as; the same subject as at its end."""
    labels = {} if row.labels is None else json.loads(row.labels)
    if row.step is not None:
        step = steps.get((row.graph_run_id, row.step), "")
        return AlertSubject(
            kind=SubjectKind.STEP,
            id=f"{row.job_id.hex}/{step}",
            name=f"{row.job_name} / {step}",
            job_id=row.job_id,
            queue=row.queue,
            task=row.task,
            labels=labels,
        )
    kind = choose_subject_kind(rule.condition, rule.selector)
    if kind is SubjectKind.QUEUE and rule.job_id is None:
        return AlertSubject(kind=kind, id=row.queue, name=row.queue, queue=row.queue)
    if row.job_name is None or (kind is SubjectKind.TASK and rule.job_id is None):
        return AlertSubject(
            kind=SubjectKind.TASK, id=row.task, name=row.task, queue=row.queue, task=row.task
        )
    return AlertSubject(
        kind=SubjectKind.JOB,
        id=row.job_id.hex,
        name=row.job_name,
        job_id=row.job_id,
        queue=row.queue,
        task=row.task,
        labels=labels,
    )


def is_relative(rule: Expectation) -> bool:
    return isinstance(rule.condition, MaxDuration) and rule.condition.limit is None


def is_paused(pauses: Pauses, tenant_id: int, queue: str) -> bool:
    return not pauses.isdisjoint({(None, queue), (tenant_id, queue), (tenant_id, None)})


def to_ref(rule: Expectation) -> ExpectationRef:
    return ExpectationRef(
        id=rule.id,
        tenant_id=rule.tenant_id,
        name=rule.name,
        condition=rule.condition.code,
        policy=rule.policy,
    )


def build_endpoint_problem(row: UnhealthyEndpoint, code: str, title: str) -> StateProblem:
    endpoint_id = f"whe_{row.id.hex}"
    return StateProblem(
        expectation=build_default_ref(row.tenant_id, code, "webhooks are delivered"),
        subject=AlertSubject(kind=SubjectKind.ENDPOINT, id=endpoint_id, name=row.name),
        title=title,
        facts={"error": row.last_error, "failures": row.failures},
    )


def build_platform_problem(code: str, title: str) -> StateProblem:
    return StateProblem(
        expectation=build_platform_ref(code),
        subject=AlertSubject(kind=SubjectKind.PLATFORM, id=code, name="Rota"),
        title=title,
    )


def describe_length(length: timedelta) -> str:
    return durations.to_words(round_seconds(length))

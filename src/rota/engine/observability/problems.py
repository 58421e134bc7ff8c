"""Finds what is wrong now, with its cause and its remedy (I12).

One pass reads processes, shards, waiting runs, pauses, quarantined jobs, dead letters, sources,
webhook endpoints, alert channels, quotas and open incidents, each in bounded statements. Why runs
wait is explained by explanations.py, so a problem says the same as `rota why`. A problem that an
open incident reports too is listed once, with the incident's actions.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

from rota.contract.quotas import read_stored_quotas
from rota.core.access import Permission
from rota.core.alerts.finding import Severity, SubjectKind
from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import NotFound
from rota.core.kind_remedies import find_remedy
from rota.core.problem_codes import (
    PROBLEM_CODES,
    SEVERITY_RANKS,
    DetectedProblem,
    ProblemAction,
    ProblemSubject,
    build_problem,
    find_problem_code,
    rank_problem,
)
from rota.core.time.moments import to_rfc3339
from rota.core.time.schedule import MICROSECOND
from rota.engine.observability.explanations import explain_run
from rota.engine.observability.run_endings import format_count, read_reason, shorten_text
from rota.store import problems, run_views, tenants
from rota.store.driver import Connection
from rota.store.problems import (
    WAITING_RUNS_MAX,
    FailingChannel,
    FailingEndpoint,
    FleetState,
    LostWorker,
    OpenIncident,
    PausedQueue,
    QuarantinedJobRow,
    StoppedSource,
    UnservedKind,
    WaitingRuns,
)
from rota.store.run_views import DeadGroup

# How long a shard or a source may change hands before that is a problem.
HANDOVER_GRACE: Final = timedelta(seconds=15)
# How long runs may wait without a worker, and with one.
UNSERVED_GRACE: Final = timedelta(seconds=3)
WAIT_LIMIT: Final = timedelta(minutes=5)
FIRING_LATE: Final = timedelta(seconds=10)
DEAD_LETTER_WINDOW: Final = timedelta(days=1)
DEAD_GROUPS_MAX: Final = 5
# Groups of waiting runs that are explained: each takes up to four statements.
EXPLAINED_GROUPS_MAX: Final = 10
# Failed attempts in a row from which a webhook endpoint is a problem.
ENDPOINT_FAILURES_MIN: Final = 5
# Quotas above this are not counted here; the quota monitor counts the default ones.
COUNTED_QUOTA_MAX: Final = 10_000
QUOTA_SHARE: Final = 0.9

PLATFORM_SUBJECT: Final = ProblemSubject(kind=SubjectKind.PLATFORM, id="rota", name="Rota")
# Explanations of waiting runs that are no problem, or that are found by themselves.
UNREPORTED_EXPLANATIONS: Final = frozenset(
    {"about_to_start", "tenant_paused", "queue_paused", "tenant_queue_paused", "running"}
)
# Conditions of incidents, and the problem that says the same about the same subject.
INCIDENT_SYNONYMS: Final = {
    "no_worker": ("no_worker_for_queue", "no_worker_for_tenant", "no_worker_for_kind"),
    "oldest_wait": ("workers_busy", "behind_others", "limit_reached", "rate_reached"),
    "lag": ("tick_overdue",),
    "shards_unowned": ("shard_without_owner",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemScope:
    """Whose problems to find. `covers_all` adds those of all other tenants and needs a connection
    of the owner.
    """

    tenant_id: int
    tenant: str
    covers_all: bool = False

    @property
    def filter_id(self) -> int | None:
        return None if self.covers_all else self.tenant_id

    @property
    def filter_name(self) -> str | None:
        return None if self.covers_all else self.tenant


async def find_problems(
    conn: Connection, scope: ProblemScope, *, is_clock_wrong: bool = False
) -> list[DetectedProblem]:
    """Find the problems of a tenant, the most severe first."""
    fleet = await problems.read_fleet(
        conn, tenant_id=scope.tenant_id, tenant=scope.filter_name, grace=HANDOVER_GRACE
    )
    if fleet is None:
        return []
    waiting = await problems.read_waiting(conn, tenant_id=scope.filter_id)
    found = [
        *describe_fleet(fleet, scope, waiting),
        *await _find_late_ticks(conn, scope, fleet),
        *describe_pauses(
            await problems.read_paused_queues(conn, tenant_id=scope.filter_id), waiting
        ),
        *(
            describe_lost_worker(row)
            for row in await problems.read_lost_workers(conn, tenant_id=scope.filter_id)
        ),
        *await _explain_waits(conn, waiting, fleet),
        *(
            describe_source(row)
            for row in await problems.read_stopped_sources(
                conn, tenant_id=scope.filter_id, grace=HANDOVER_GRACE
            )
        ),
        *(
            describe_endpoint(row)
            for row in await problems.read_failing_endpoints(
                conn, tenant_id=scope.filter_id, failures=ENDPOINT_FAILURES_MIN
            )
        ),
        *(describe_channel(row) for row in await problems.read_failing_channels(conn)),
        *await _find_job_problems(conn, scope, fleet),
        *await _find_quotas(conn, scope, fleet),
    ]
    if is_clock_wrong:
        found.append(
            build_problem("clock_offset", PROBLEM_CODES["clock_offset"].meaning, PLATFORM_SUBJECT)
        )
    incidents = await problems.read_incidents(conn, tenant_id=scope.filter_id)
    merged = merge_incidents(drop_duplicates(found), incidents)
    return sorted(merged, key=rank_problem)


def describe_fleet(
    fleet: FleetState, scope: ProblemScope, waiting: Sequence[WaitingRuns]
) -> Iterator[DetectedProblem]:
    """Describe missing schedulers and workers, shards without a scheduler, and the pause."""
    if not fleet.schedulers:
        yield build_problem(
            "no_scheduler",
            PROBLEM_CODES["no_scheduler"].meaning,
            PLATFORM_SUBJECT,
            cause="The last scheduler stopped or lost its lease.",
            since=fleet.scheduler_until,
        )
    elif fleet.shards_unowned and _has_settled(fleet):
        yield build_problem(
            "shard_without_owner",
            f"{format_count(fleet.shards_unowned, 'shard')} of 128 have no scheduler; "
            "the jobs of these shards do not start.",
            PLATFORM_SUBJECT,
            since=fleet.unowned_since,
        )
    if not fleet.workers:
        whose = "" if scope.covers_all else f" serves tenant {scope.tenant}"
        state = whose or " is running"
        yield build_problem(
            "no_worker",
            f"No worker{state}; no run starts.",
            PLATFORM_SUBJECT,
            severity=None if waiting else Severity.WARNING,
            cause=f"{count_waiting(sum(row.number for row in waiting))} could start now."
            if waiting
            else None,
            since=min((row.oldest_at for row in waiting), default=fleet.worker_until),
        )
    if fleet.tenant_paused_at is not None:
        yield build_problem(
            "tenant_paused",
            f"Tenant {scope.tenant} is paused; none of its runs starts.",
            ProblemSubject(kind=SubjectKind.TENANT, id=str(scope.tenant_id), name=scope.tenant),
            names={"tenant": scope.tenant},
            since=fleet.tenant_paused_at,
            action=ProblemAction(
                label="Resume tenant",
                method="POST",
                path=f"/v1/tenants/{scope.tenant_id}/resume",
                permission=Permission.PLATFORM,
            ),
        )


def _has_settled(fleet: FleetState) -> bool:
    """Tell whether a scheduler has run for long enough to take the free shards."""
    since = fleet.scheduled_since
    return since is not None and since < fleet.now - HANDOVER_GRACE


async def _find_late_ticks(
    conn: Connection, scope: ProblemScope, fleet: FleetState
) -> list[DetectedProblem]:
    if not fleet.schedulers:
        return []
    late = await problems.count_late_ticks(
        conn, tenant_id=scope.filter_id, before=fleet.now - FIRING_LATE
    )
    if not late.number:
        return []
    sentence = (
        f"{format_count(late.number, 'tick')} should have been fired more than "
        f"{FIRING_LATE.seconds} seconds ago."
    )
    return [build_problem("tick_overdue", sentence, PLATFORM_SUBJECT, since=late.oldest_at)]


def describe_pauses(
    rows: Iterable[PausedQueue], waiting: Sequence[WaitingRuns]
) -> Iterator[DetectedProblem]:
    """Describe paused queues: a warning if runs wait in them."""
    for row in rows:
        number = sum(each.number for each in waiting if each.queue == row.queue)
        runs = f"; {count_waiting(number).lower()} cannot start" if number else ""
        whom = " for all tenants" if row.is_for_all else ""
        by = None if row.paused_by is None else f"{shorten_text(row.paused_by)} paused it."
        resume = f"/v1/queues/{quote(row.queue, safe='')}/resume?all_tenants="
        yield build_problem(
            "queue_paused" if row.is_for_all else "tenant_queue_paused",
            f"Queue {row.queue} is paused{whom}{runs}.",
            _describe_queue(row.queue),
            severity=None if number else Severity.INFO,
            names={"queue": row.queue},
            cause=by,
            since=row.paused_at,
            action=ProblemAction(
                label="Resume queue",
                method="POST",
                path=f"{resume}{'true' if row.is_for_all else 'false'}",
                permission=Permission.PLATFORM if row.is_for_all else Permission.MANAGE,
            ),
        )


def _describe_queue(queue: str) -> ProblemSubject:
    return ProblemSubject(kind=SubjectKind.QUEUE, id=queue, name=queue)


def describe_lost_worker(row: LostWorker) -> DetectedProblem:
    return build_problem(
        "worker_lost",
        f"Worker {row.worker} sends no more heartbeats and holds {format_count(row.runs, 'run')}.",
        ProblemSubject(kind="worker", id=row.worker, name=row.worker),
        names={"worker": row.worker},
        cause="The process ended without a drain, or its machine lost the database.",
        since=row.expires_at,
    )


async def _explain_waits(
    conn: Connection, waiting: Sequence[WaitingRuns], fleet: FleetState
) -> list[DetectedProblem]:
    """Explain the longest waits, one problem per queue and cause."""
    unserved = [
        row
        for row in waiting
        if not row.is_served and row.oldest_at <= fleet.now - UNSERVED_GRACE and fleet.workers
    ]
    slow = [row for row in waiting if row.is_served and row.oldest_at <= fleet.now - WAIT_LIMIT]
    found: dict[tuple[str, str, str], DetectedProblem] = {}
    numbers: dict[tuple[str, str, str], int] = {}
    for row in [*unserved, *slow][:EXPLAINED_GROUPS_MAX]:
        try:
            why = await explain_run(conn, tenant_id=row.tenant_id, run_id=row.sample_id)
        except NotFound:
            continue
        if why.code in UNREPORTED_EXPLANATIONS:
            continue
        by_kind = row.kind if why.code == "no_worker_for_kind" else ""
        key = (why.code, row.queue, by_kind)
        numbers[key] = numbers.get(key, 0) + row.number
        remedy = capitalize(find_remedy(row.kind)) if by_kind else None
        runs = f"{count_waiting(numbers[key])}{f' of kind {by_kind}' if by_kind else ''}"
        oldest = min(filter(None, (row.oldest_at, found[key].since if key in found else None)))
        found[key] = build_problem(
            why.code,
            f"{runs} in queue {row.queue} cannot start.",
            _describe_queue(row.queue),
            remedy=remedy,
            names={"queue": row.queue},
            cause=why.sentence,
            since=oldest,
            links={"runs": f"/runs?queue={quote(row.queue, safe='')}&status=queued"},
        )
    return list(found.values())


def count_waiting(number: int) -> str:
    """Return the number of runs in words. Counting stops at a limit."""
    runs = format_count(number, "run")
    return f"At least {runs}" if number >= WAITING_RUNS_MAX else runs


def capitalize(text: str) -> str:
    """Turn a remedy that follows an arrow into a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def describe_source(row: StoppedSource) -> DetectedProblem:
    if row.failures:
        sentence = (
            f"Source {row.source} ({row.kind}) fails: {format_count(row.failures, 'error')} "
            "in a row."
        )
        cause = None if row.error is None else shorten_text(row.error)
    else:
        sentence = f"No scheduler reads source {row.source} ({row.kind})."
        cause = "The scheduler that read it stopped, or no longer has it in its settings."
    return build_problem(
        "source_stopped",
        sentence,
        ProblemSubject(kind=SubjectKind.SOURCE, id=row.source, name=row.source),
        names={"source": row.source},
        cause=cause,
        since=row.since,
    )


def describe_endpoint(row: FailingEndpoint) -> DetectedProblem:
    path = f"/v1/webhooks/whe_{row.id.hex}"
    subject = ProblemSubject(kind=SubjectKind.ENDPOINT, id=f"whe_{row.id.hex}", name=row.name)
    cause = None if row.last_error is None else shorten_text(row.last_error)
    links = {"endpoint": f"/webhooks/whe_{row.id.hex}"}
    if row.state == "disabled":
        why = "it answered 410 Gone" if row.disabled_reason == "gone" else "it failed for days"
        return build_problem(
            "endpoint_disabled",
            f"Webhook endpoint {row.name} is disabled because {why}; its events are held.",
            subject,
            cause=cause,
            since=row.since,
            links=links,
        )
    return build_problem(
        "endpoint_failing",
        f"Webhook endpoint {row.name} failed {format_count(row.failures, 'time')} in a row.",
        subject,
        cause=cause,
        since=row.since,
        action=ProblemAction(label="Send test event", method="POST", path=f"{path}/test"),
        links=links,
    )


def describe_channel(row: FailingChannel) -> DetectedProblem:
    return build_problem(
        "channel_failing",
        f"Alert channel {row.name} ({row.kind}) does not accept messages: "
        f"{format_count(row.failures, 'failure')} in a row.",
        ProblemSubject(kind=SubjectKind.CHANNEL, id=row.name, name=row.name),
        names={"channel": row.name},
        cause=None if row.last_error is None else shorten_text(row.last_error),
        since=row.failing_since,
        action=ProblemAction(
            label="Test channel",
            method="POST",
            path=f"/v1/channels/{quote(row.name, safe='')}/test",
        ),
        links={"channels": "/alerts?tab=channels"},
    )


async def _find_job_problems(
    conn: Connection, scope: ProblemScope, fleet: FleetState
) -> list[DetectedProblem]:
    """Find problems of the tenant's jobs: quarantined, without a worker, with dead letters."""
    tenant_id = scope.tenant_id
    quarantined = await problems.read_quarantined_jobs(conn, tenant_id=tenant_id)
    unserved: list[UnservedKind] = []
    if fleet.workers:
        unserved = await problems.read_unserved_kinds(
            conn, tenant_id=tenant_id, tenant=scope.tenant
        )
    until = fleet.now + MICROSECOND
    which = BulkRunFilter(since=until - DEAD_LETTER_WINDOW, until=until)
    groups = await run_views.list_groups(conn, which, tenant_id=tenant_id, limit=DEAD_GROUPS_MAX)
    return [
        *map(describe_quarantined, quarantined),
        *map(describe_unserved, unserved),
        *(describe_dead_group(group, since=until - DEAD_LETTER_WINDOW) for group in groups),
    ]


def describe_quarantined(row: QuarantinedJobRow) -> DetectedProblem:
    held = read_reason(row.held)
    at = held.get("at")
    job_id = f"job_{row.id.hex}"
    return build_problem(
        "quarantined",
        f"Job {row.name} is quarantined; it does not start.",
        ProblemSubject(kind=SubjectKind.JOB, id=job_id, name=row.name),
        cause=shorten_text(held["reason"]) if held.get("reason") else None,
        since=datetime.fromisoformat(at) if isinstance(at, str) else None,
        action=ProblemAction(label="Resume job", method="POST", path=f"/v1/jobs/{job_id}/resume"),
        links={"job": f"/jobs/{job_id}"},
    )


def describe_unserved(row: UnservedKind) -> DetectedProblem:
    """Describe a kind of active jobs without a worker: their next runs would wait."""
    programs = [{"argv": [program]} for program in row.programs or () if program]
    others = f" and {row.jobs - 1:,} more" if row.jobs > 1 else ""
    return build_problem(
        "no_worker_for_kind",
        f"No live worker serves kind {row.kind} of job {row.job}{others}.",
        ProblemSubject(kind=SubjectKind.TASK, id=row.kind, name=row.kind),
        remedy=capitalize(find_remedy(row.kind, programs)),
        links={"job": f"/jobs/job_{row.job_id.hex}"},
    )


def describe_dead_group(group: DeadGroup, *, since: datetime) -> DetectedProblem:
    error = ": ".join(filter(None, (group.type, group.message)))
    # The filter of the group, with a fixed start: the token of a dry run is bound to it.
    chosen = {"kind": group.kind, "fingerprint": group.fingerprint, "since": to_rfc3339(since)}
    return build_problem(
        "dead_letters",
        f"{format_count(group.number, 'run')} of {group.kind} failed for good.",
        ProblemSubject(kind=SubjectKind.TASK, id=group.kind, name=group.kind),
        cause=shorten_text(error) or None,
        since=group.first_at,
        action=ProblemAction(
            label="Requeue",
            method="POST",
            path="/v1/dead-letters/replay",
            body={"filter": chosen},
            needs_token=True,
        ),
        links={"group": f"/dead-letters?group={group.fingerprint}.{quote(group.kind, safe='')}"},
    )


async def _find_quotas(
    conn: Connection, scope: ProblemScope, fleet: FleetState
) -> list[DetectedProblem]:
    """Find quotas on jobs and waiting runs that are nearly used up."""
    near: dict[str, tuple[int, int | None]] = {
        name: (limit, None) for name, limit in json.loads(fleet.scarce_quotas).items()
    }
    quotas = read_stored_quotas(json.loads(fleet.quotas))
    for name, count in (
        ("max_jobs", tenants.count_jobs),
        ("max_queued", tenants.count_queued),
    ):
        limit = getattr(quotas, name)
        if limit is None or limit > COUNTED_QUOTA_MAX:
            continue
        used = await count(conn, tenant_id=scope.tenant_id, limit=limit)
        if used >= limit * QUOTA_SHARE:
            near[name] = (limit, used)
    subject = ProblemSubject(kind=SubjectKind.TENANT, id=str(scope.tenant_id), name=scope.tenant)
    return [
        build_problem(
            "quota_nearly_used",
            f"Quota {name} of tenant {scope.tenant} is nearly used up: "
            + (f"{used:,} of {limit:,}." if used is not None else f"the limit is {limit:,}."),
            subject,
        )
        for name, (limit, used) in sorted(near.items())
    ]


def describe_incident(row: OpenIncident) -> DetectedProblem:
    incident_id = f"inc_{row.id.hex}"
    path = f"/v1/incidents/{incident_id}"
    is_open = row.state == "open"
    quiet = not is_open or row.silenced_until is not None
    remedy = find_problem_code(row.condition).remedy
    if row.run_id is not None:
        remedy = remedy.replace("`rota why RUN`", f"`rota why run_{row.run_id.hex}`")
    cause = None if row.acknowledged_by is None else f"{row.acknowledged_by} acknowledged it."
    return build_problem(
        row.condition,
        row.title,
        ProblemSubject(kind=row.subject_kind, id=row.subject_id, name=row.subject_name),
        severity=Severity.INFO if quiet else Severity(row.severity),
        remedy=remedy if "{" not in remedy else None,
        names={row.subject_kind: row.subject_name},
        cause=cause,
        since=row.opened_at,
        action=ProblemAction(label="Acknowledge", method="POST", path=f"{path}/acknowledge")
        if is_open
        else None,
        links={"incident": f"/alerts/{incident_id}"},
    )


def drop_duplicates(found: Iterable[DetectedProblem]) -> list[DetectedProblem]:
    """Keep the first problem of each code, subject and sentence."""
    kept: dict[tuple[str, str, str, str], DetectedProblem] = {}
    for problem in found:
        subject = problem.subject
        kept.setdefault((problem.code, subject.kind, subject.id, problem.sentence), problem)
    return list(kept.values())


def merge_incidents(
    found: Sequence[DetectedProblem], incidents: Iterable[OpenIncident]
) -> list[DetectedProblem]:
    """Add the incidents. One that says the same as a problem about the same subject joins it: the
    problem keeps its cause, remedy and action, and gets the link and the severity of the incident.
    """
    merged = list(found)
    for row in incidents:
        incident = describe_incident(row)
        codes = (row.condition, *INCIDENT_SYNONYMS.get(row.condition, ()))
        matches = [
            index
            for index, problem in enumerate(merged)
            if problem.code in codes and is_same_subject(problem.subject, incident.subject)
        ]
        if not matches:
            merged.append(incident)
        for index in matches:
            problem = merged[index]
            worse = max(problem.severity, incident.severity, key=SEVERITY_RANKS.__getitem__)
            merged[index] = replace(
                problem,
                severity=Severity.INFO if row.state == "acknowledged" else worse,
                action=problem.action or incident.action,
                links={**problem.links, **incident.links},
            )
    return merged


def is_same_subject(one: ProblemSubject, other: ProblemSubject) -> bool:
    """Compare subjects. Problems identify jobs as the API does, findings by hex id; there is one
    installation, whatever its id says.
    """
    if one.kind != other.kind:
        return False
    return one.kind == SubjectKind.PLATFORM or strip_prefix(one) == strip_prefix(other)


def strip_prefix(subject: ProblemSubject) -> str:
    if subject.kind in {SubjectKind.JOB, SubjectKind.ENDPOINT}:
        return subject.id.rpartition("_")[2]
    return subject.id

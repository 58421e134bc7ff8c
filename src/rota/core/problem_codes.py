"""Defines the codes of problems: what Rota can detect about itself and about a tenant's work (I12).

`rota why`, `rota status`, `rota doctor`, `GET /v1/problems`, alerts and the dashboard use the same
codes. A problem exists now; it ends when its cause ends. The problem codes of error responses (RFC
9457) are others: api/problems.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from rota.core.access import Permission
from rota.core.alerts.finding import Severity

SEVERITY_RANKS: Final[Mapping[str, int]] = {
    severity: rank for rank, severity in enumerate(Severity)
}


class ProblemCode(NamedTuple):
    """What a code means and what to do about it. Words in braces are names of the subject."""

    severity: Severity
    meaning: str
    remedy: str


PROBLEM_CODES: Final[Mapping[str, ProblemCode]] = {
    "no_scheduler": ProblemCode(
        Severity.PAGE,
        "No scheduler is running; no job starts on schedule.",
        "Start one with `rota scheduler`, or everything with `rota up`.",
    ),
    "shard_without_owner": ProblemCode(
        Severity.WARNING,
        "Shards have no scheduler; the jobs of these shards do not start.",
        "Start another scheduler with `rota scheduler`, and check the logs of the running ones.",
    ),
    "tick_overdue": ProblemCode(
        Severity.WARNING,
        "Ticks or submissions are more than 10 seconds late.",
        "Check the load and the logs of the schedulers; `rota why JOB` explains one job.",
    ),
    "no_worker": ProblemCode(
        Severity.PAGE,
        "No worker is running; no run starts.",
        "Start one with `rota worker module:app`, or everything with `rota up`.",
    ),
    "no_worker_for_queue": ProblemCode(
        Severity.PAGE,
        "Runs wait in a queue that no live worker serves.",
        "Start a worker with `rota worker --queue {queue}`.",
    ),
    "no_worker_for_tenant": ProblemCode(
        Severity.PAGE,
        "Runs wait in a queue whose live workers do not accept runs of the tenant.",
        "Add the tenant to worker.tenants or worker.queue_tenants of a worker of queue {queue}.",
    ),
    "no_worker_for_kind": ProblemCode(
        Severity.WARNING,
        "No live worker serves the kind of a job or of a waiting run.",
        "Start a worker with the app that defines it: `rota worker module:app`.",
    ),
    "worker_lost": ProblemCode(
        Severity.WARNING,
        "A worker sends no more heartbeats and still holds runs.",
        "Rota reclaims the runs shortly. Check the machine and the log of worker {worker}.",
    ),
    "workers_busy": ProblemCode(
        Severity.WARNING,
        "Runs have waited for more than 5 minutes because all slots are busy.",
        "Start more workers of queue {queue}, or raise worker.slots.",
    ),
    "behind_others": ProblemCode(
        Severity.INFO,
        "Runs have waited for more than 5 minutes behind other runs.",
        "Start more workers of queue {queue}, or raise the priority of the job.",
    ),
    "limit_reached": ProblemCode(
        Severity.INFO,
        "Runs have waited for more than 5 minutes for a concurrency limit.",
        "Raise the limit if its resource allows more.",
    ),
    "rate_reached": ProblemCode(
        Severity.INFO,
        "Runs have waited for more than 5 minutes for a rate limit.",
        "Raise the rate if its resource allows more.",
    ),
    "in_order": ProblemCode(
        Severity.INFO,
        "Runs have waited for more than 5 minutes for an earlier run of the same job.",
        "Check the earlier run.",
    ),
    "backfill_paused": ProblemCode(
        Severity.INFO,
        "Runs have waited for more than 5 minutes because their backfill is paused.",
        "Resume the backfill with `rota backfills resume`.",
    ),
    "tenant_paused": ProblemCode(
        Severity.WARNING,
        "The tenant is paused; none of its runs starts.",
        "A platform administrator resumes it with `rota tenants resume {tenant}`.",
    ),
    "queue_paused": ProblemCode(
        Severity.WARNING,
        "A queue is paused for all tenants.",
        "A platform administrator resumes it with `rota queues resume {queue}`.",
    ),
    "tenant_queue_paused": ProblemCode(
        Severity.WARNING,
        "A queue is paused for the tenant.",
        "Resume it with `rota queues resume {queue}`.",
    ),
    "quarantined": ProblemCode(
        Severity.WARNING,
        "A job cannot be scheduled, so Rota set it aside.",
        "Correct the job, which ends the quarantine, or resume it.",
    ),
    "dead_letters": ProblemCode(
        Severity.WARNING,
        "Runs failed for good within the last 24 hours and were not requeued or dropped.",
        "Fix the cause, then requeue them.",
    ),
    "source_stopped": ProblemCode(
        Severity.WARNING,
        "An event source fails, or no scheduler reads it.",
        "Check the settings of source {source} and the system that it reads.",
    ),
    "quota_nearly_used": ProblemCode(
        Severity.WARNING,
        "A quota of the tenant is used up by 90 % or more.",
        "Delete what is no longer needed, or ask a platform administrator for a higher quota.",
    ),
    "clock_offset": ProblemCode(
        Severity.PAGE,
        "The clock of a machine differs too much from the clock of the database.",
        "Synchronize the clock with NTP.",
    ),
    "relay_behind": ProblemCode(
        Severity.WARNING,
        "The event relay is behind; alerts and webhooks are late.",
        "Check that a scheduler is running, and look for long transactions in the database.",
    ),
    "endpoint_disabled": ProblemCode(
        Severity.WARNING,
        "A webhook endpoint is disabled; its events are held until their retention ends.",
        "Repair the endpoint, then enable it.",
    ),
    "endpoint_failing": ProblemCode(
        Severity.WARNING,
        "A webhook endpoint has not accepted a delivery for at least five tries in a row.",
        "Check the answers of the endpoint in its delivery log.",
    ),
    "channel_failing": ProblemCode(
        Severity.WARNING,
        "An alert channel does not accept messages.",
        "Check the settings of channel {channel}, then test it.",
    ),
    "start_within": ProblemCode(
        Severity.WARNING, "A run did not start in time.", "Find out why with `rota why RUN`."
    ),
    "finish_by": ProblemCode(
        Severity.WARNING, "A run did not succeed in time.", "Find out why with `rota why RUN`."
    ),
    "at_risk": ProblemCode(
        Severity.WARNING, "A run will probably not succeed in time.", "Check the run."
    ),
    "succeed_every": ProblemCode(
        Severity.WARNING, "A job has not succeeded for too long.", "Check its newest runs."
    ),
    "max_duration": ProblemCode(
        Severity.WARNING, "A run lasts longer than expected.", "Check its output."
    ),
    "failure_streak": ProblemCode(
        Severity.WARNING, "Several runs in a row failed.", "Check the error of the newest run."
    ),
    "failure_rate": ProblemCode(
        Severity.WARNING, "Too many runs failed.", "Group their errors with `rota dead groups`."
    ),
    "missed_ticks": ProblemCode(
        Severity.WARNING, "Ticks were missed.", "Check whether schedulers were down."
    ),
    "ping": ProblemCode(
        Severity.WARNING,
        "A ping did not arrive in time, or reported a failure.",
        "Check the system that sends it.",
    ),
    "lag": ProblemCode(
        Severity.WARNING, "Ticks are fired late.", "Check the load and the logs of the schedulers."
    ),
    "oldest_wait": ProblemCode(
        Severity.WARNING, "A ready run has waited for too long.", "Find out why with `rota why`."
    ),
}
# The code of an incident whose condition this version does not know.
DEFAULT_PROBLEM_CODE: Final = ProblemCode(
    Severity.WARNING, "An expectation is not met.", "Open the incident."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSubject:
    """What a problem is about, as the subject of a finding. Links of the dashboard use `id`."""

    kind: str
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemAction:
    """The request that ends a problem, and the permission it needs.

    `needs_token`: a bulk operation; its dry run returns a token for the second request.
    """

    label: str
    method: str
    path: str
    permission: Permission = Permission.OPERATE
    body: Mapping[str, Any] | None = None
    needs_token: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedProblem:
    """A problem that exists now. `sentence` says what is wrong, `cause` why, if that is known."""

    code: str
    sentence: str
    subject: ProblemSubject
    severity: Severity
    remedy: str
    cause: str | None = None
    since: datetime | None = None
    action: ProblemAction | None = None
    links: Mapping[str, str] = field(default_factory=dict)


def find_problem_code(code: str) -> ProblemCode:
    """Return what is known about a code; a default for a code of a newer version."""
    return PROBLEM_CODES.get(code, DEFAULT_PROBLEM_CODE)


def build_problem(
    code: str,
    sentence: str,
    subject: ProblemSubject,
    *,
    severity: Severity | None = None,
    remedy: str | None = None,
    names: Mapping[str, str] | None = None,
    **more: Any,
) -> DetectedProblem:
    """Build a problem; severity and remedy default to those of its code. `names` replace the words
    in braces of the remedy.
    """
    known = find_problem_code(code)
    return DetectedProblem(
        code=code,
        sentence=sentence,
        subject=subject,
        severity=severity or known.severity,
        remedy=remedy or fill_names(known.remedy, names or {}),
        **more,
    )


def fill_names(remedy: str, names: Mapping[str, str]) -> str:
    """Replace `{queue}` and the like; a name itself is never searched for braces."""
    parts = remedy.replace("}", "{").split("{")
    return "".join(
        part if index % 2 == 0 else names.get(part, part.upper())
        for index, part in enumerate(parts)
    )


def rank_problem(problem: DetectedProblem) -> tuple[int, float, str, str]:
    """Order problems: the most severe first, then the oldest."""
    since = 0.0 if problem.since is None else problem.since.timestamp()
    return (-SEVERITY_RANKS[problem.severity], since, problem.code, problem.subject.name)


def is_bad(problem: DetectedProblem) -> bool:
    """Tell whether `rota status --check` fails because of this problem."""
    return problem.severity != Severity.INFO

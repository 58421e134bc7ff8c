"""Defines what an evaluation finds out about a subject.

Evaluations (engine/alerting) produce findings, the incident keeper turns them into incidents. A
finding is a statement about one subject of one expectation at one time: the expectation is met,
violated, or Rota cannot tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

# Root of all derived ids of alerting. Never change it: receivers deduplicate by these ids.
ALERT_NAMESPACE: Final = uuid5(NAMESPACE_OID, "rota.alerts")
# Tenant of findings and incidents about the installation itself; only platform keys see them.
PLATFORM_TENANT_ID: Final = 0


class Severity(StrEnum):
    """How urgent an incident is, least urgent first. A `page` may wake people at night."""

    INFO = "info"
    WARNING = "warning"
    PAGE = "page"


class Verdict(StrEnum):
    """`UNKNOWN`: the relay or the schedulers are behind, so lateness cannot be judged yet."""

    MET = "met"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class SubjectKind(StrEnum):
    """What an expectation can be about."""

    JOB = "job"
    STEP = "step"
    TASK = "task"
    QUEUE = "queue"
    TENANT = "tenant"
    SOURCE = "source"
    ENDPOINT = "endpoint"
    CHANNEL = "channel"
    PING = "ping"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSubject:
    """What a finding is about. `id` is stable across renames: the hex id of a job, `<job>/<step>`
    for a step, the name of a task, queue, source or channel. `name` is for people.
    """

    kind: SubjectKind
    id: str
    name: str
    job_id: UUID | None = None
    queue: str | None = None
    task: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPolicy:
    """How violations of an expectation are reported.

    `route` is the name of a route or a channel; None: the default channels. `hold_for` is how long
    a violation must last before an incident opens. `clear_successes` is how many times in a row the
    expectation must be met before the incident ends. `recovery` is whether a message says that it
    ended.
    """

    severity: Severity = Severity.WARNING
    route: str | None = None
    hold_for: timedelta = timedelta(0)
    clear_successes: int = 1
    recovery: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationRef:
    """The expectation of a finding. `condition` is a code such as `finish_by`.

    The id is that of a stored expectation, or derived for the `expect` of a job and for defaults
    (`derive_expectation_id`).
    """

    id: UUID
    tenant_id: int
    name: str
    condition: str
    policy: AlertPolicy = field(default_factory=AlertPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one evaluation.

    `title` is the sentence for people: what is wrong, since when. `facts` are JSON values: run_id,
    tick, error, count, last_success_at and the like. Findings with the same `run_id` about the same
    subject share one incident. `repeats` is how many bad runs this finding stands for.
    """

    expectation: ExpectationRef
    subject: AlertSubject
    verdict: Verdict
    at: datetime
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    run_id: UUID | None = None
    repeats: int = 1


def derive_expectation_id(owner: str, condition: str) -> UUID:
    """Return the id of an expectation that is not stored by itself.

    `owner` is `job:<hex id>` for a condition in the `expect` of a job, `default:<tenant id>` for a
    default.
    """
    return uuid5(ALERT_NAMESPACE, f"{owner}/{condition}")


def derive_incident_id(expectation_id: UUID, subject: AlertSubject, opened: int) -> UUID:
    """Return the id of the incident that a watch opens for the `opened`-th time."""
    return uuid5(ALERT_NAMESPACE, f"{expectation_id.hex}/{subject.key}/{opened}")

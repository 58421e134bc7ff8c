"""Decides which events an endpoint gets: types and filters of its subscription (I7).

A subscription names event types, or patterns such as `run.*`, and conditions on the job, task,
queue, labels and severity of an event. An event must match one type and all conditions.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Final
from uuid import UUID

from rota.core.alerts.finding import Severity
from rota.core.errors import InvalidInput
from rota.core.outgoing_events import EVENT_TYPES, OutgoingEvent, RelayInterests

ENDPOINTS_PER_TENANT_MAX: Final = 50
PATTERNS_MAX: Final = 30
# Sent only by the operation that tests an endpoint; it cannot be subscribed to.
TEST_EVENT_TYPE: Final = "webhook.test"
_SEVERITY_RANKS: Final = {severity.value: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEventFilter:
    """Conditions of a subscription; None and empty match everything. `job`, `task` and `queue` are
    patterns with `*`. `severity` is the lowest one, and applies to incident events only.
    """

    job: str | None = None
    task: str | None = None
    queue: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    severity: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.job or self.task or self.queue or self.labels)

    def matches(self, event: OutgoingEvent) -> bool:
        return (
            _matches_pattern(self.job, event.job_name)
            and _matches_pattern(self.task, event.task)
            and _matches_pattern(self.queue, event.queue)
            and all(event.labels.get(name) == value for name, value in self.labels.items())
            and self._matches_severity(event)
        )

    def _matches_severity(self, event: OutgoingEvent) -> bool:
        if self.severity is None or not event.type.startswith("incident."):
            return True
        found = _SEVERITY_RANKS.get(str(event.details.get("severity")), 0)
        return found >= _SEVERITY_RANKS.get(self.severity, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSubscription:
    """What an endpoint subscribes to. It gets no events from before its creation, and none about
    its own health.
    """

    endpoint_id: UUID
    tenant_id: int
    types: frozenset[str]
    event_filter: WebhookEventFilter
    include: tuple[str, ...]
    created_at: datetime

    def matches(self, event: OutgoingEvent) -> bool:
        return (
            event.type in self.types
            and event.tenant_id == self.tenant_id
            and event.at >= self.created_at
            and event.details.get("thing_id") != f"whe_{self.endpoint_id.hex}"
            and self.event_filter.matches(event)
        )


def check_patterns(patterns: Sequence[str], *, field_name: str = "events") -> tuple[str, ...]:
    """Return the patterns without duplicates; raise `InvalidInput` for one that matches no type."""
    if not 1 <= len(patterns) <= PATTERNS_MAX:
        wanted = f"must have 1 to {PATTERNS_MAX} event types"
        raise InvalidInput(field_name, f"{len(patterns)} types", wanted)
    for place, pattern in enumerate(patterns):
        if not expand_patterns([pattern]):
            raise InvalidInput(f"{field_name}[{place}]", pattern, describe_types(pattern))
    return tuple(dict.fromkeys(patterns))


def describe_types(pattern: str) -> str:
    """Say which types are meant by a pattern that matches none of them."""
    near = get_close_matches(pattern, EVENT_TYPES, n=3, cutoff=0.5)
    if near:
        return f"unknown event type; did you mean {' or '.join(near)}?"
    groups = sorted({f"{name.partition('.')[0]}.*" for name in EVENT_TYPES})
    return f"unknown event type; expected a type such as run.failed, or one of {', '.join(groups)}"


def expand_patterns(patterns: Iterable[str]) -> frozenset[str]:
    """Return the event types that at least one of the patterns matches."""
    return _expand(tuple(patterns))


def describe_load(types: frozenset[str], event_filter: WebhookEventFilter) -> str | None:
    """Return a warning if a subscription sends a request for every run of the tenant."""
    if "run.succeeded" not in types or not event_filter.is_empty:
        return None
    return (
        "run.succeeded without a filter sends one request for every run that succeeds; "
        "add a job, task, queue or label, or use a sink for a stream of all events"
    )


def collect_interests(
    subscriptions: Iterable[WebhookSubscription], jobs_by_name: Mapping[tuple[int, str], set[UUID]]
) -> RelayInterests:
    """Return what the relay must read for these subscriptions.

    `jobs_by_name` has the ids of jobs whose exact name is a filter, so that the relay reads the
    successes of these jobs only.
    """
    tenants: dict[str, set[int]] = {name: set() for name in ("run", "attempt", "audit", "incident")}
    jobs: set[UUID] = set()
    for each in subscriptions:
        if each.types & {"run.succeeded", "graph.succeeded"}:
            named = jobs_by_name.get((each.tenant_id, each.event_filter.job or ""))
            if named:
                jobs |= named
            else:
                tenants["run"].add(each.tenant_id)
        for name in each.types:
            group = name.partition(".")[0]
            group = "audit" if group in {"job", "backfill", "endpoint"} else group
            if group in tenants and group != "run":
                tenants[group].add(each.tenant_id)
    return RelayInterests(
        succeeded_tenants=frozenset(tenants["run"]),
        succeeded_jobs=frozenset(jobs),
        attempt_tenants=frozenset(tenants["attempt"]),
        audit_tenants=frozenset(tenants["audit"]),
        incident_tenants=frozenset(tenants["incident"]),
    )


@lru_cache(maxsize=1000)
def _expand(patterns: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        name for pattern in patterns for name in EVENT_TYPES if _compile(pattern).fullmatch(name)
    )


def _matches_pattern(pattern: str | None, value: str | None) -> bool:
    if pattern is None:
        return True
    return value is not None and _compile(pattern).fullmatch(value) is not None


@lru_cache(maxsize=1000)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)

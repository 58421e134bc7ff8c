"""Defines the events that leave Rota: for alerts, webhooks and sinks.

The relay (engine/relay) reads finished runs, ended attempts, the audit log and the history of
incidents once, and hands their events to consumers in its own transaction. An event's id is derived
from the row it describes, so a row that is read twice has the same id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

# Every type of event, with what it tells.
EVENT_TYPES: Final[Mapping[str, str]] = {
    "run.succeeded": "A run succeeded.",
    "run.failed": "A run failed for good: it is dead or quarantined.",
    "run.cancelled": "A run was cancelled.",
    "run.expired": "A run reached its deadline.",
    "run.lost": "A run was lost with its worker and is not repeated.",
    "run.skipped": "A tick was skipped or merged with another one.",
    "run.missed": "A tick was missed.",
    "attempt.failed": "An attempt failed and its run continues.",
    "graph.succeeded": "A graph run succeeded.",
    "graph.failed": "A graph run failed.",
    "graph.cancelled": "A graph run was cancelled.",
    "job.created": "A job was created.",
    "job.changed": "A job was changed.",
    "job.paused": "A job was paused.",
    "job.resumed": "A job was resumed.",
    "job.deleted": "A job was deleted.",
    "backfill.ended": "A backfill ended.",
    "incident.opened": "An incident opened.",
    "incident.acknowledged": "An incident was acknowledged.",
    "incident.resolved": "An incident was resolved.",
    "endpoint.failing": "A webhook endpoint failed several times in a row.",
    "endpoint.disabled": "A webhook endpoint was disabled after it failed for days or was gone.",
    "endpoint.recovered": "A webhook endpoint that was failing works again.",
}

# The event of a run that ends in each final state.
RUN_EVENT_TYPES: Final[Mapping[str, str]] = {
    "succeeded": "run.succeeded",
    "dead": "run.failed",
    "quarantined": "run.failed",
    "lost": "run.lost",
    "cancelled": "run.cancelled",
    "expired": "run.expired",
    "skipped": "run.skipped",
    "coalesced": "run.skipped",
    "missed": "run.missed",
}
# The second event of a graph run that ends; its ticks that did not run have none.
GRAPH_EVENT_TYPES: Final[Mapping[str, str]] = {
    "succeeded": "graph.succeeded",
    "dead": "graph.failed",
    "quarantined": "graph.failed",
    "lost": "graph.failed",
    "expired": "graph.failed",
    "cancelled": "graph.cancelled",
}
# The event of an audit entry with each action.
AUDIT_EVENT_TYPES: Final[Mapping[str, str]] = {
    "job.create": "job.created",
    "job.update": "job.changed",
    "job.pause": "job.paused",
    "job.resume": "job.resumed",
    "job.delete": "job.deleted",
    "endpoint.failing": "endpoint.failing",
    "endpoint.disabled": "endpoint.disabled",
    "endpoint.recovered": "endpoint.recovered",
}
# The event of an entry in the history of an incident with each type.
INCIDENT_EVENT_TYPES: Final[Mapping[str, str]] = {
    "opened": "incident.opened",
    "acknowledged": "incident.acknowledged",
    "resolved": "incident.resolved",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingEvent:
    """One event. `type` is one of `EVENT_TYPES`. `reason` is the stored reason of a run or attempt
    that did not succeed. `details` has what only events of other rows than runs carry: the action,
    actor and object of an audit entry, or the fields of an incident.
    """

    id: UUID
    type: str
    tenant_id: int
    at: datetime
    job_id: UUID | None = None
    job_name: str | None = None
    run_id: UUID | None = None
    state: str | None = None
    trigger: str | None = None
    attempt: int | None = None
    queue: str | None = None
    task: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    user_id: str | None = None
    graph_run_id: UUID | None = None
    step: int | None = None
    scheduled_at: datetime | None = None
    due_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reason: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayInterests:
    """What a consumer needs besides the runs that did not succeed, which it always gets.

    Successful runs are most of the traffic, so the relay's statement skips those that no consumer
    asked for. A success that ended before its job was asked for may be skipped for good: a consumer
    that needs the runs before its interest reads them from history. Backfills belong to
    `audit_tenants`.
    """

    succeeded_tenants: frozenset[int] = frozenset()
    succeeded_jobs: frozenset[UUID] = frozenset()
    attempt_tenants: frozenset[int] = frozenset()
    audit_tenants: frozenset[int] = frozenset()
    incident_tenants: frozenset[int] = frozenset()

    def merge(self, other: "RelayInterests") -> "RelayInterests":
        return RelayInterests(
            succeeded_tenants=self.succeeded_tenants | other.succeeded_tenants,
            succeeded_jobs=self.succeeded_jobs | other.succeeded_jobs,
            attempt_tenants=self.attempt_tenants | other.attempt_tenants,
            audit_tenants=self.audit_tenants | other.audit_tenants,
            incident_tenants=self.incident_tenants | other.incident_tenants,
        )


Conn_contra = TypeVar("Conn_contra", contravariant=True)


class RelayConsumer(Protocol[Conn_contra]):
    """Receives events in the relay's transaction: what it writes commits with the position."""

    @property
    def name(self) -> str: ...

    async def read_interests(self, conn: Conn_contra, /) -> RelayInterests:
        """Return what to read. Called before every pass; consumers cache it for a few seconds."""

    async def consume(
        self, conn: Conn_contra, events: Sequence[OutgoingEvent], /, *, now: datetime
    ) -> None:
        """Handle events. After a crash the same events may come again."""

"""Defines the events that leave Rota: for alerts, webhooks and sinks.

The relay (engine/relay) reads finished runs, ended attempts, the audit log and the history of
incidents once, and hands their events to consumers in its own transaction. An event's id is derived
from the row it describes, so a row that is read twice has the same id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID


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
    asked for.
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

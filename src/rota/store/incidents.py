"""Stores incidents and their threads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.alerts.finding import Severity
from rota.core.alerts.lifecycle import FAILURES, LATENESS, PLATFORM_CAUSES, QUEUE_CAUSES
from rota.store.driver import Connection
from rota.store.statement import NoRow, statement

THREAD_MAX: Final = 500


class IncidentId(NamedTuple):
    id: UUID


class JoinableIncident(NamedTuple):
    """An open incident about a run."""

    subject_key: str
    run_id: UUID
    incident_id: UUID
    severity: Severity
    condition: str
    title: str


class IncidentCause(NamedTuple):
    """What an open incident says now."""

    incident_id: UUID
    severity: Severity
    condition: str
    expectation_id: UUID


class ChangedIncident(NamedTuple):
    id: UUID
    tenant_id: int
    title: str


class EndedIncident(NamedTuple):
    id: UUID
    tenant_id: int
    title: str
    resolution: str
    condition: str
    severity: str
    subject_kind: str
    subject_id: str
    subject_name: str
    job_id: UUID | None
    run_id: UUID | None
    bad_runs: int
    opened_at: datetime
    expectation_id: UUID
    expectation_name: str


class InhibitedIncident(NamedTuple):
    id: UUID
    tenant_id: int
    inhibited_by: str | None


class IncidentOfEndedJob(NamedTuple):
    """`job_state` is `paused` or `deleted`, `actor` who did it, if known."""

    id: UUID
    job_state: str
    actor: str | None


class IncidentRow(NamedTuple):
    """A stored incident. `facts` and `labels` are JSON texts."""

    id: UUID
    tenant_id: int
    state: str
    severity: str
    title: str
    condition: str
    expectation_id: UUID
    expectation_name: str
    subject_kind: str
    subject_id: str
    subject_name: str
    job_id: UUID | None
    run_id: UUID | None
    facts: str
    bad_runs: int
    opened_at: datetime
    last_seen_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: str | None
    is_flapping: bool
    inhibited_by: str | None
    silenced_until: datetime | None
    labels: str
    group_id: UUID


class ThreadEntry(NamedTuple):
    at: datetime
    type: str
    by: str | None
    text: str | None


class MatchableIncident(NamedTuple):
    """An open incident with what silences match. `labels` is a JSON text."""

    id: UUID
    subject_kind: str
    subject_id: str
    subject_name: str
    job_id: UUID | None
    queue: str | None
    task: str | None
    labels: str
    silence_id: UUID | None
    silenced_until: datetime | None
    group_id: UUID


class SilencedIncident(NamedTuple):
    id: UUID
    tenant_id: int
    silence_id: UUID | None
    silenced_until: datetime | None


FIND_JOINABLE = statement("incidents/find_joinable", JoinableIncident)
READ_CAUSES = statement("incidents/read_causes", IncidentCause)
OPEN = statement("incidents/open", NoRow)
ADD_EVIDENCE = statement("incidents/add_evidence", IncidentId)
SET_FLAPPING = statement("incidents/set_flapping", ChangedIncident)
RESOLVE = statement("incidents/resolve", EndedIncident)
ADD_EVENTS = statement("incidents/add_events", NoRow)
FIND_INHIBITED = statement("incidents/find_inhibited", InhibitedIncident)
INHIBIT = statement("incidents/inhibit", InhibitedIncident)
FIND_OF_ENDED_JOBS = statement("incidents/find_of_ended_jobs", IncidentOfEndedJob)
ACKNOWLEDGE = statement("incidents/acknowledge", IncidentId)
PAGE = statement("incidents/page", IncidentRow)
GET = statement("incidents/get", IncidentRow)
THREAD = statement("incidents/thread", ThreadEntry)
READ_MATCHABLE = statement("incidents/read_matchable", MatchableIncident)
SILENCE = statement("incidents/silence", SilencedIncident)
PRUNE = statement("incidents/prune", IncidentId)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIncidentEvent:
    """An entry of the thread of an incident. `by` is None for Rota itself."""

    tenant_id: int
    incident_id: UUID
    type: str
    text: str | None = None
    by: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Selects incidents; None means any. The platform sees those of the installation too."""

    tenant_id: int
    is_platform: bool = False
    states: tuple[str, ...] | None = None
    is_silenced: bool | None = None
    severity: str | None = None
    job_id: UUID | None = None


async def find_joinable(
    conn: Connection, *, run_ids: Sequence[UUID], subject_keys: Sequence[str]
) -> dict[tuple[str, UUID], JoinableIncident]:
    """Return open incidents about these runs, by subject and run."""
    rows = await FIND_JOINABLE.all(conn, run_ids=list(run_ids), subject_keys=list(subject_keys))
    return {(row.subject_key, row.run_id): row for row in rows}


async def read_causes(conn: Connection, incident_ids: Sequence[UUID]) -> dict[UUID, IncidentCause]:
    rows = await READ_CAUSES.all(conn, incident_ids=list(incident_ids))
    return {row.incident_id: row for row in rows}


async def open_incidents(
    conn: Connection, rows: Sequence[Mapping[str, Any]], *, now: datetime
) -> None:
    """Insert incidents. Each row has the columns of incidents/open.sql."""
    await OPEN.all(conn, rows=_encode(rows), now=now)


async def add_evidence(
    conn: Connection, rows: Sequence[Mapping[str, Any]], *, now: datetime
) -> list[UUID]:
    """Add evidence to incidents that are still open; return their ids."""
    return [row.id for row in await ADD_EVIDENCE.all(conn, rows=_encode(rows), now=now)]


async def set_flapping(
    conn: Connection, incident_ids: Sequence[UUID], *, is_flapping: bool
) -> list[ChangedIncident]:
    return await SET_FLAPPING.all(conn, incident_ids=list(incident_ids), is_flapping=is_flapping)


async def resolve_incidents(
    conn: Connection, resolutions: Mapping[UUID, str], *, now: datetime, by: str | None
) -> list[EndedIncident]:
    """End those of these incidents that no violation keeps open, each for its reason."""
    return await RESOLVE.all(
        conn,
        incident_ids=list(resolutions),
        resolutions=list(resolutions.values()),
        now=now,
        by=by,
    )


async def add_events(
    conn: Connection, events: Sequence[NewIncidentEvent], *, now: datetime
) -> None:
    """Add entries to the threads of incidents."""
    if not events:
        return
    rows = [
        {
            "tenant_id": event.tenant_id,
            "incident_id": event.incident_id,
            "type": event.type,
            "by": event.by,
            "text": event.text,
            "details": dict(event.details),
        }
        for event in events
    ]
    await ADD_EVENTS.all(conn, rows=_encode(rows), now=now)


async def find_inhibited(
    conn: Connection, incident_ids: Sequence[UUID] | None = None
) -> list[InhibitedIncident]:
    """Find out what explains these open incidents, or all; return those for which it changed."""
    return await FIND_INHIBITED.all(
        conn,
        incident_ids=None if incident_ids is None else list(incident_ids),
        platform_causes=list(PLATFORM_CAUSES),
        queue_causes=list(QUEUE_CAUSES),
        lateness=list(LATENESS),
        failures=list(FAILURES),
    )


async def inhibit_incidents(
    conn: Connection, found: Sequence[InhibitedIncident]
) -> list[InhibitedIncident]:
    """Write what explains incidents; return those that another process did not write first."""
    return await INHIBIT.all(
        conn,
        incident_ids=[row.id for row in found],
        causes=[row.inhibited_by for row in found],
    )


async def find_of_ended_jobs(conn: Connection, *, limit: int) -> list[IncidentOfEndedJob]:
    """Return open incidents about paused and deleted jobs."""
    return await FIND_OF_ENDED_JOBS.all(conn, most=limit)


async def acknowledge_incident(
    conn: Connection, incident_id: UUID, *, tenant_id: int, by: str, now: datetime
) -> bool:
    """Acknowledge an open incident; return False if it is not open."""
    row = await ACKNOWLEDGE.one(conn, id=incident_id, tenant_id=tenant_id, by=by, now=now)
    return row is not None


async def list_incidents(
    conn: Connection,
    wanted: IncidentFilter,
    *,
    now: datetime,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> list[IncidentRow]:
    """Return incidents, latest first, starting after `before`."""
    return await PAGE.all(
        conn,
        tenant_id=wanted.tenant_id,
        is_platform=wanted.is_platform,
        states=None if wanted.states is None else list(wanted.states),
        is_silenced=wanted.is_silenced,
        severity=wanted.severity,
        job_id=wanted.job_id,
        before_at=None if before is None else before[0],
        before_id=None if before is None else before[1],
        now=now,
        most=limit,
    )


async def get_incident(
    conn: Connection,
    incident_id: UUID,
    *,
    tenant_id: int,
    now: datetime,
    is_platform: bool = False,
) -> IncidentRow | None:
    return await GET.one(
        conn, id=incident_id, tenant_id=tenant_id, is_platform=is_platform, now=now
    )


async def read_thread(conn: Connection, incident_id: UUID, *, tenant_id: int) -> list[ThreadEntry]:
    """Return the thread of an incident, first entry first."""
    return await THREAD.all(conn, incident_id=incident_id, tenant_id=tenant_id, most=THREAD_MAX)


async def read_matchable(conn: Connection, tenant_id: int) -> list[MatchableIncident]:
    """Return the open incidents of a tenant with what silences match."""
    return await READ_MATCHABLE.all(conn, tenant_id=tenant_id)


async def silence_incidents(
    conn: Connection, silenced: Mapping[UUID, tuple[UUID, datetime] | None]
) -> list[SilencedIncident]:
    """Set the silence and its end of open incidents; None removes it."""
    values = list(silenced.values())
    return await SILENCE.all(
        conn,
        incident_ids=list(silenced),
        silence_ids=[None if value is None else value[0] for value in values],
        untils=[None if value is None else value[1] for value in values],
    )


async def prune_incidents(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete incidents that ended before a time, with their threads; return how many."""
    return len(await PRUNE.all(conn, before=before, most=limit))


def _encode(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(list(rows), default=str)

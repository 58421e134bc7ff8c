"""Keeps open incidents in step with silences: which ones hold now, and until when.

Silences are compared when an incident opens, when a silence is created or ended, and regularly for
those that begin later or follow a calendar. An end needs no work: a process looks at the group of a
silenced incident when its silence ends.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.finding import AlertSubject, SubjectKind
from rota.core.alerts.silencing import ActiveSilence, choose_silence, find_silence_end
from rota.core.clock import ClockSource
from rota.core.time.calendars import Calendar
from rota.store import alert_groups, calendars, incidents, silences
from rota.store.driver import Connection, ConnectionSource
from rota.store.incidents import MatchableIncident, NewIncidentEvent
from rota.store.transaction import transaction

REFRESH_INTERVAL_S: Final = 15.0
# Silences that began within this time are compared with open incidents.
BEGUN_WITHIN: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceKeeper:
    """Applies silences that begin by the clock or by a calendar."""

    source: ConnectionSource
    clock: ClockSource

    async def tick(self) -> float:
        """Compare the open incidents of tenants whose silences may have changed."""
        now = self.clock.now()
        async with self.source.acquire() as conn:
            tenant_ids = await silences.find_begun(conn, since=now - BEGUN_WITHIN, now=now)
            for tenant_id in tenant_ids:
                async with transaction(conn):
                    await refresh_silences(conn, tenant_id, now=now)
        return REFRESH_INTERVAL_S


async def read_active_silences(
    conn: Connection, tenant_ids: Iterable[int], *, now: datetime
) -> list[ActiveSilence]:
    """Return the silences of tenants that hold now."""
    active = []
    known: dict[int, dict[str, Calendar]] = {}
    for row in await silences.read_active(conn, tenant_ids=tenant_ids, now=now):
        until: datetime | None = row.ends_at
        if row.calendar is not None:
            if row.tenant_id not in known:
                known[row.tenant_id] = await calendars.read_calendars(conn, tenant_id=row.tenant_id)
            calendar = dict(known[row.tenant_id]).get(row.calendar)
            until = find_silence_end(row.ends_at, calendar, now=now)
        if until is not None:
            active.append(
                ActiveSilence(
                    id=row.id,
                    tenant_id=row.tenant_id,
                    selector=row.read_selector(),
                    until=until,
                )
            )
    return active


async def refresh_silences(
    conn: Connection, tenant_id: int, *, now: datetime, by: str | None = None
) -> int:
    """Compare the open incidents of a tenant with its silences; return how many changed."""
    active = await read_active_silences(conn, [tenant_id], now=now)
    changed: dict[UUID, tuple[UUID, datetime] | None] = {}
    for incident in await incidents.read_matchable(conn, tenant_id):
        silence = choose_silence(active, tenant_id, build_subject(incident))
        wanted = None if silence is None else (silence.id, silence.until)
        if wanted != _read_silence(incident, now):
            changed[incident.id] = wanted
    if not changed:
        return 0
    await alert_groups.wake_incident_groups(conn, list(changed), at=now)
    written = await incidents.silence_incidents(conn, changed)
    await incidents.add_events(conn, _describe_changes(written, by), now=now)
    return len(written)


def build_subject(incident: MatchableIncident) -> AlertSubject:
    return AlertSubject(
        kind=SubjectKind(incident.subject_kind),
        id=incident.subject_id,
        name=incident.subject_name,
        job_id=incident.job_id,
        queue=incident.queue,
        task=incident.task,
        labels=json.loads(incident.labels),
    )


def _read_silence(incident: MatchableIncident, now: datetime) -> tuple[UUID, datetime] | None:
    """Return the silence that an incident has; one that is over counts as none."""
    silence_id, until = incident.silence_id, incident.silenced_until
    if silence_id is None or until is None or until <= now:
        return None
    return silence_id, until


def _describe_changes(
    written: Sequence[incidents.SilencedIncident], by: str | None
) -> list[NewIncidentEvent]:
    return [
        NewIncidentEvent(
            tenant_id=row.tenant_id,
            incident_id=row.id,
            type="silenced" if row.silence_id else "unsilenced",
            by=by,
            text=None if row.silenced_until is None else f"until {row.silenced_until.isoformat()}",
        )
        for row in written
    ]

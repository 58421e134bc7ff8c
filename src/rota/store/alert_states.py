"""Stores what is known about each subject of each expectation, for the incident keeper.

The keeper locks states before groups and groups before incidents, each in a fixed order, so that
two processes never wait for each other.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.alerts.finding import (
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    Severity,
    SubjectKind,
    Verdict,
)
from rota.core.alerts.lifecycle import AlertPhase, AlertState
from rota.store.driver import Connection
from rota.store.statement import NoRow, statement

StateKey = tuple[UUID, str]


class StateRow(NamedTuple):
    """A stored state. `finding` is a JSON text."""

    tenant_id: int
    expectation_id: UUID
    subject_key: str
    state: AlertPhase
    since: datetime
    run_id: UUID | None
    incident_id: UUID | None
    opened: int
    met_in_row: int
    changes: list[datetime]
    is_flapping: bool
    is_met: bool
    next_at: datetime | None
    finding: str


class StateId(NamedTuple):
    id: UUID


ENSURE = statement("alert_states/ensure", NoRow)
LOCK = statement("alert_states/lock", StateRow)
LOCK_DUE = statement("alert_states/lock_due", StateRow)
LOCK_OF_INCIDENTS = statement("alert_states/lock_of_incidents", StateRow)
WRITE = statement("alert_states/write", NoRow)
PRUNE = statement("alert_states/prune", StateId)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAlertState:
    """A state with the last violation, None before the first."""

    state: AlertState
    finding: Finding | None


async def ensure_states(conn: Connection, findings: Sequence[Finding], *, now: datetime) -> None:
    """Create the states of these subjects, unless they exist."""
    await ENSURE.all(
        conn,
        tenant_ids=[finding.expectation.tenant_id for finding in findings],
        expectation_ids=[finding.expectation.id for finding in findings],
        subject_keys=[finding.subject.key for finding in findings],
        job_ids=[finding.subject.job_id for finding in findings],
        now=now,
    )


async def lock_states(
    conn: Connection, keys: Iterable[StateKey]
) -> dict[StateKey, StoredAlertState]:
    """Return the states of these keys that exist, locked until the end of the transaction."""
    wanted = list(keys)
    rows = await LOCK.all(
        conn,
        expectation_ids=[expectation_id for expectation_id, _ in wanted],
        subject_keys=[subject_key for _, subject_key in wanted],
    )
    return _read_rows(rows)


async def lock_due_states(
    conn: Connection, *, now: datetime, limit: int
) -> dict[StateKey, StoredAlertState]:
    """Return states that time changes, locked; skip those that another process has locked."""
    return _read_rows(await LOCK_DUE.all(conn, now=now, most=limit))


async def lock_incident_states(
    conn: Connection, incident_ids: Sequence[UUID]
) -> dict[StateKey, StoredAlertState]:
    """Return the states that belong to incidents, locked."""
    return _read_rows(await LOCK_OF_INCIDENTS.all(conn, incident_ids=list(incident_ids)))


async def write_states(conn: Connection, states: Mapping[StateKey, StoredAlertState]) -> None:
    """Write states that the caller has locked."""
    if states:
        rows = [_write_row(key, stored) for key, stored in states.items()]
        await WRITE.all(conn, rows=json.dumps(rows, default=str))


async def prune_states(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete states that have been at rest since before a time; return how many."""
    return len(await PRUNE.all(conn, before=before, most=limit))


def _read_rows(rows: Iterable[StateRow]) -> dict[StateKey, StoredAlertState]:
    return {
        (row.expectation_id, row.subject_key): StoredAlertState(
            state=AlertState(
                phase=row.state,
                since=row.since,
                run_id=row.run_id,
                incident_id=row.incident_id,
                opened=row.opened,
                met_in_row=row.met_in_row,
                changes=tuple(row.changes),
                is_flapping=row.is_flapping,
                is_met=row.is_met,
                next_at=row.next_at,
            ),
            finding=_read_finding(row),
        )
        for row in rows
    }


def _write_row(key: StateKey, stored: StoredAlertState) -> dict[str, Any]:
    state = stored.state
    return {
        "expectation_id": key[0].hex,
        "subject_key": key[1],
        "state": state.phase,
        "since": state.since,
        "run_id": state.run_id,
        "incident_id": state.incident_id,
        "opened": state.opened,
        "met_in_row": state.met_in_row,
        "changes": list(state.changes),
        "is_flapping": state.is_flapping,
        "is_met": state.is_met,
        "next_at": state.next_at,
        "finding": {} if stored.finding is None else _write_finding(stored.finding),
    }


def _write_finding(finding: Finding) -> dict[str, Any]:
    policy, subject = finding.expectation.policy, finding.subject
    return {
        "name": finding.expectation.name,
        "condition": finding.expectation.condition,
        "severity": policy.severity,
        "route": policy.route,
        "hold_for": policy.hold_for.total_seconds(),
        "clear": policy.clear_successes,
        "recovery": policy.recovery,
        "kind": subject.kind,
        "id": subject.id,
        "subject": subject.name,
        "job_id": subject.job_id,
        "queue": subject.queue,
        "task": subject.task,
        "labels": dict(subject.labels),
        "at": finding.at.isoformat(),
        "title": finding.title,
        "facts": dict(finding.facts),
        "run_id": finding.run_id,
        "repeats": finding.repeats,
    }


def _read_finding(row: StateRow) -> Finding | None:
    stored = json.loads(row.finding)
    if not stored:
        return None
    policy = AlertPolicy(
        severity=Severity(stored["severity"]),
        route=stored["route"],
        hold_for=timedelta(seconds=stored["hold_for"]),
        clear_successes=stored["clear"],
        recovery=stored["recovery"],
    )
    return Finding(
        expectation=ExpectationRef(
            id=row.expectation_id,
            tenant_id=row.tenant_id,
            name=stored["name"],
            condition=stored["condition"],
            policy=policy,
        ),
        subject=AlertSubject(
            kind=SubjectKind(stored["kind"]),
            id=stored["id"],
            name=stored["subject"],
            job_id=_read_id(stored["job_id"]),
            queue=stored["queue"],
            task=stored["task"],
            labels=stored["labels"],
        ),
        verdict=Verdict.VIOLATED,
        at=datetime.fromisoformat(stored["at"]),
        title=stored["title"],
        facts=stored["facts"],
        run_id=_read_id(stored["run_id"]),
        repeats=stored["repeats"],
    )


def _read_id(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)

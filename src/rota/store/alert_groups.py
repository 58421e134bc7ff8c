"""Stores groups of incidents, which share messages."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from rota.contract.expectation_values import read_stored_steps
from rota.core.alerts.finding import Severity
from rota.core.alerts.grouping import GroupSnapshot, GroupState, StepProgress
from rota.core.alerts.lifecycle import SEVERITIES
from rota.core.alerts.routes import RouteStep
from rota.core.errors import InvalidInput
from rota.store.driver import Connection
from rota.store.statement import NoRow, statement


class GroupId(NamedTuple):
    id: UUID


class GroupRow(NamedTuple):
    """A stored group. `steps` is a JSON text."""

    id: UUID
    tenant_id: int
    tenant: str
    route: str
    expectation_id: UUID
    expectation_name: str
    recovery: bool
    episode: int
    began_at: datetime | None
    last_message_at: datetime | None
    messages: int
    steps: str

    def read_state(self) -> GroupState:
        return GroupState(
            episode=self.episode,
            began_at=self.began_at,
            last_message_at=self.last_message_at,
            messages=self.messages,
            steps=tuple(_read_progress(step) for step in json.loads(self.steps)),
        )


class SnapshotRow(NamedTuple):
    group_id: UUID
    firing: int
    unannounced: int
    worse: int
    flapping: int
    steady: int
    ended: int
    unacknowledged: int
    repeating: int
    held: int
    held_until: datetime | None
    severity_rank: int | None
    any_severity_rank: int | None


class GroupItem(NamedTuple):
    """An incident that a message names. `facts` and `labels` are JSON texts."""

    group_id: UUID
    id: UUID
    state: str
    severity: Severity
    title: str
    condition: str
    subject_kind: str
    subject_name: str
    opened_at: datetime
    resolved_at: datetime | None
    resolution: str | None
    facts: str
    bad_runs: int
    labels: str


class RouteStepsRow(NamedTuple):
    """The steps of a route as a JSON text."""

    tenant_id: int
    name: str
    steps: str


WAKE = statement("alert_groups/wake", NoRow)
WAKE_OF_INCIDENTS = statement("alert_groups/wake_of_incidents", GroupId)
FIND_DUE = statement("alert_groups/find_due", GroupId)
LOCK_DUE = statement("alert_groups/lock_due", GroupRow)
SNAPSHOT = statement("alert_groups/snapshot", SnapshotRow)
ITEMS = statement("alert_groups/items", GroupItem)
ANNOUNCE = statement("alert_groups/announce", NoRow)
WRITE = statement("alert_groups/write", NoRow)
READ_ROUTES = statement("alert_groups/read_routes", RouteStepsRow)
PRUNE = statement("alert_groups/prune", GroupId)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWake:
    """A group that gets an incident, and when a process must look at it."""

    id: UUID
    tenant_id: int
    route: str
    expectation_id: UUID
    expectation_name: str
    recovery: bool
    next_at: datetime


async def wake_groups(conn: Connection, groups: Iterable[GroupWake], *, now: datetime) -> None:
    """Create groups, or make a process look at those that exist."""
    rows = [
        {
            "id": group.id,
            "tenant_id": group.tenant_id,
            "route": group.route,
            "expectation_id": group.expectation_id,
            "expectation_name": group.expectation_name,
            "recovery": group.recovery,
            "next_at": group.next_at,
        }
        for group in groups
    ]
    if rows:
        await WAKE.all(conn, rows=_encode(rows), now=now)


async def wake_incident_groups(
    conn: Connection, incident_ids: Sequence[UUID], *, at: datetime
) -> None:
    """Make a process look at the groups of incidents, before the incidents change."""
    if incident_ids:
        await WAKE_OF_INCIDENTS.all(conn, incident_ids=list(incident_ids), at=at)


async def is_group_due(conn: Connection, *, now: datetime) -> bool:
    """Return whether a process must look at a group."""
    return await FIND_DUE.one(conn, now=now) is not None


async def lock_due_groups(conn: Connection, *, now: datetime, limit: int) -> list[GroupRow]:
    """Return groups at which a process must look, locked; skip those that another has locked."""
    return await LOCK_DUE.all(conn, now=now, most=limit)


async def read_snapshots(
    conn: Connection, group_ids: Sequence[UUID], *, now: datetime
) -> dict[UUID, GroupSnapshot]:
    """Count the incidents of groups; a group without any is left out."""
    rows = await SNAPSHOT.all(conn, group_ids=list(group_ids), now=now)
    return {
        row.group_id: GroupSnapshot(
            firing=row.firing,
            unannounced=row.unannounced,
            worse=row.worse,
            flapping=row.flapping,
            steady=row.steady,
            ended=row.ended,
            unacknowledged=row.unacknowledged,
            repeating=row.repeating,
            held=row.held,
            held_until=row.held_until,
            severity=SEVERITIES[(row.severity_rank or row.any_severity_rank or 1) - 1],
        )
        for row in rows
    }


async def read_items(
    conn: Connection, group_ids: Sequence[UUID], *, now: datetime, limit: int
) -> dict[UUID, list[GroupItem]]:
    """Return the incidents that a message of each group names, at most `limit` each."""
    items: dict[UUID, list[GroupItem]] = {group_id: [] for group_id in group_ids}
    for row in await ITEMS.all(conn, group_ids=list(group_ids), now=now, most=limit):
        items[row.group_id].append(row)
    return items


async def announce_groups(conn: Connection, group_ids: Sequence[UUID], *, now: datetime) -> None:
    """Record that messages named or counted the incidents of groups."""
    if group_ids:
        await ANNOUNCE.all(conn, group_ids=list(group_ids), now=now)


async def write_groups(
    conn: Connection,
    groups: Mapping[UUID, tuple[GroupState, datetime | None]],
    *,
    now: datetime,
) -> None:
    """Write the state of locked groups, and when to look at each again."""
    rows = [
        {
            "id": group_id,
            "episode": state.episode,
            "began_at": state.began_at,
            "last_message_at": state.last_message_at,
            "messages": state.messages,
            "steps": [_write_progress(step) for step in state.steps],
            "next_at": next_at,
        }
        for group_id, (state, next_at) in groups.items()
    ]
    await WRITE.all(conn, rows=_encode(rows), now=now)


async def read_route_steps(
    conn: Connection, names: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], tuple[RouteStep, ...]]:
    """Return the steps of routes by tenant and name; one that only newer code reads is left out."""
    wanted = list(names)
    if not wanted:
        return {}
    rows = await READ_ROUTES.all(
        conn,
        tenant_ids=[tenant_id for tenant_id, _ in wanted],
        names=[name for _, name in wanted],
    )
    routes = {}
    for row in rows:
        try:
            routes[row.tenant_id, row.name] = tuple(read_stored_steps(json.loads(row.steps)))
        except InvalidInput:
            continue
    return routes


async def prune_groups(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete groups at rest since before a time; return how many."""
    return len(await PRUNE.all(conn, before=before, most=limit))


def _read_progress(step: Mapping[str, str] | None) -> StepProgress | None:
    if step is None:
        return None
    return StepProgress(
        first_at=datetime.fromisoformat(step["first_at"]),
        last_at=datetime.fromisoformat(step["last_at"]),
    )


def _write_progress(step: StepProgress | None) -> dict[str, str] | None:
    if step is None:
        return None
    return {"first_at": step.first_at.isoformat(), "last_at": step.last_at.isoformat()}


def _encode(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(list(rows), default=str)

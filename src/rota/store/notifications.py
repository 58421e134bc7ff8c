"""Stores messages about incidents: planned once, claimed by one sender at a time, recorded."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from rota.core.alert_channels import MessageKind
from rota.core.alerts.finding import Severity
from rota.store.driver import Connection
from rota.store.statement import statement


class NotificationId(NamedTuple):
    id: UUID


class WaitingNotification(NamedTuple):
    """A message that its channel waits for. `waiting` counts all of them."""

    id: UUID
    tenant_id: int
    severity: Severity
    kind: MessageKind
    attempts: int
    created_at: datetime
    incident_count: int
    waiting: int


class ClaimedNotification(NamedTuple):
    """A message that this process sends. `content` is a JSON text."""

    id: UUID
    tenant_id: int
    tenant: str
    group_id: UUID | None
    channel: str
    kind: MessageKind
    severity: Severity
    dedup_key: str
    content: str
    incident_ids: list[UUID]
    attempts: int
    created_at: datetime


class FoldedNotification(NamedTuple):
    """A message that a digest counts. `content` is a JSON text."""

    id: UUID
    tenant_id: int
    group_id: UUID | None
    severity: Severity
    kind: MessageKind
    incident_count: int
    content: str


class NotificationRow(NamedTuple):
    """A message as the API shows it."""

    id: UUID
    tenant_id: int
    channel: str
    kind: str
    severity: str
    state: str
    title: str | None
    incident_ids: list[UUID]
    incident_count: int
    created_at: datetime
    next_at: datetime | None
    sent_at: datetime | None
    attempts: int
    error: str | None
    digest_id: UUID | None


INSERT = statement("notifications/insert", NotificationId)
READ_WAITING = statement("notifications/read_waiting", WaitingNotification)
CLAIM = statement("notifications/claim", ClaimedNotification)
EXTEND = statement("notifications/extend", NotificationId)
RECORD_SENT = statement("notifications/record_sent", NotificationId)
RECORD_FAILURE = statement("notifications/record_failure", NotificationId)
FOLD = statement("notifications/fold", FoldedNotification)
FAIL_OLD = statement("notifications/fail_old", NotificationId)
PAGE = statement("notifications/page", NotificationRow)
GET = statement("notifications/get", NotificationRow)
OF_INCIDENT = statement("notifications/of_incident", NotificationRow)
PRUNE = statement("notifications/prune", NotificationId)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFilter:
    """Selects messages; None means any. The platform sees those of the installation too."""

    tenant_id: int
    is_platform: bool = False
    channel: str | None = None
    state: str | None = None


async def insert_notifications(
    conn: Connection, rows: Sequence[Mapping[str, Any]], *, now: datetime
) -> list[UUID]:
    """Plan messages; return the ids of those that are new. Each row has the columns of
    notifications/insert.sql.
    """
    if not rows:
        return []
    encoded = json.dumps(list(rows), default=str)
    return [row.id for row in await INSERT.all(conn, rows=encoded, now=now)]


async def read_waiting(
    conn: Connection, channel: str, *, now: datetime, limit: int
) -> list[WaitingNotification]:
    """Return messages that a channel waits for, pages first."""
    return await READ_WAITING.all(conn, channel=channel, now=now, most=limit)


async def claim_notifications(
    conn: Connection, ids: Sequence[UUID], *, now: datetime, lease: timedelta
) -> list[ClaimedNotification]:
    """Claim messages for one attempt each."""
    return await CLAIM.all(conn, ids=list(ids), now=now, lease=lease)


async def extend_lease(
    conn: Connection, claimed: ClaimedNotification, *, now: datetime, lease: timedelta
) -> bool:
    """Keep a message that is still being sent; return False if another attempt has begun."""
    row = await EXTEND.one(conn, id=claimed.id, attempts=claimed.attempts, now=now, lease=lease)
    return row is not None


async def record_sent(conn: Connection, claimed: ClaimedNotification, *, now: datetime) -> bool:
    """Record that a message was sent; return False if another attempt has begun."""
    row = await RECORD_SENT.one(conn, id=claimed.id, attempts=claimed.attempts, now=now)
    return row is not None


async def record_failure(
    conn: Connection, claimed: ClaimedNotification, *, error: str, next_at: datetime | None
) -> bool:
    """Record a failed attempt; without `next_at` the message is given up."""
    row = await RECORD_FAILURE.one(
        conn, id=claimed.id, attempts=claimed.attempts, error=error, next_at=next_at
    )
    return row is not None


async def fold_notifications(
    conn: Connection, channel: str, *, digest_id: UUID, with_pages: bool, now: datetime
) -> list[FoldedNotification]:
    """Count waiting messages of a channel in a digest instead of sending them."""
    return await FOLD.all(
        conn, channel=channel, digest_id=digest_id, with_pages=with_pages, now=now
    )


async def fail_old(conn: Connection, *, before: datetime, now: datetime, limit: int) -> list[UUID]:
    """Give up messages that were planned before a time."""
    return [row.id for row in await FAIL_OLD.all(conn, before=before, now=now, most=limit)]


async def list_notifications(
    conn: Connection,
    wanted: NotificationFilter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> list[NotificationRow]:
    """Return messages, latest first, starting after `before`."""
    return await PAGE.all(
        conn,
        tenant_id=wanted.tenant_id,
        is_platform=wanted.is_platform,
        channel=wanted.channel,
        state=wanted.state,
        before_at=None if before is None else before[0],
        before_id=None if before is None else before[1],
        most=limit,
    )


async def get_notification(
    conn: Connection, notification_id: UUID, *, tenant_id: int, is_platform: bool = False
) -> NotificationRow | None:
    return await GET.one(conn, id=notification_id, tenant_id=tenant_id, is_platform=is_platform)


async def list_of_incident(
    conn: Connection, incident_id: UUID, *, tenant_id: int, limit: int = 200
) -> list[NotificationRow]:
    """Return the messages about an incident, first message first."""
    return await OF_INCIDENT.all(conn, incident_id=incident_id, tenant_id=tenant_id, most=limit)


async def prune_notifications(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete messages that were planned before a time; return how many."""
    return len(await PRUNE.all(conn, before=before, most=limit))

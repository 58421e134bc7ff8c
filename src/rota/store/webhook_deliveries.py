"""Stores events for webhook endpoints, and their deliveries (I7).

The relay inserts both in its transaction. A sender leases due deliveries, sends them and records
the result, which the number of the attempt guards: a sender that was away too long changes nothing.
A pending delivery of a disabled endpoint is held; no statement needs to touch it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.errors import Conflict, NotFound
from rota.core.webhook_bodies import StoredEvent
from rota.core.webhook_deliveries import (
    DELIVERIES_KEPT,
    DELIVERY_LEASE,
    FAILING_AFTER,
    derive_delivery_id,
)
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import transaction
from rota.store.webhooks import EncryptedSecrets, HealthRow

LAST_EVENT_ID: Final = UUID(int=(1 << 128) - 1)


class StoredId(NamedTuple):
    id: UUID


class DeliveryCount(NamedTuple):
    number: int


class RunExtras(NamedTuple):
    """JSON as text."""

    id: UUID
    payload: str | None
    result: str | None


class ClaimedDelivery(NamedTuple):
    """A leased delivery with everything needed to send it; JSON as text."""

    id: UUID
    tenant_id: int
    tenant: str
    endpoint_id: UUID
    event_id: UUID
    attempts: int
    retries: int
    endpoint: str
    url: str
    include: list[str]
    format: str
    allow_http: bool
    secret_version: int
    key_id: str
    ciphertext: bytes
    former: bytes | None
    type: str
    at: datetime
    subject: str | None
    data: str
    extras: str | None

    @property
    def event(self) -> StoredEvent:
        return build_stored(self)

    @property
    def secrets(self) -> EncryptedSecrets:
        return EncryptedSecrets(
            tenant_id=self.tenant_id,
            endpoint_id=self.endpoint_id,
            version=self.secret_version,
            key_id=self.key_id,
            ciphertext=self.ciphertext,
            former=self.former,
        )


class DeliveryRow(NamedTuple):
    """A delivery in a list."""

    id: UUID
    endpoint_id: UUID
    event_id: UUID
    type: str
    state: str
    endpoint_state: str
    attempts: int
    next_attempt_at: datetime
    is_in_flight: bool | None
    created_at: datetime
    finished_at: datetime | None
    status: int | None
    error: str | None


class DeliveryDetail(NamedTuple):
    """A delivery with its event and attempts; JSON as text."""

    id: UUID
    endpoint_id: UUID
    event_id: UUID
    type: str
    state: str
    endpoint_state: str
    attempts: int
    next_attempt_at: datetime
    is_in_flight: bool | None
    created_at: datetime
    finished_at: datetime | None
    status: int | None
    error: str | None
    response: str | None
    history: str
    format: str
    include: list[str]
    at: datetime
    subject: str | None
    data: str
    extras: str | None

    @property
    def event(self) -> StoredEvent:
        return build_stored(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    tenant_id: int
    endpoint_id: UUID
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    """The result of an attempt. An error with a `wait` is followed by another attempt after it."""

    status: int | None
    response: str
    duration: timedelta
    error: str | None = None
    wait: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Selects deliveries of an endpoint for the log; None means any."""

    endpoint_id: UUID
    state: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDeliveryFilter:
    """Selects deliveries of an endpoint by state and by type and time of their events."""

    endpoint_id: UUID
    states: tuple[str, ...]
    types: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None

    def to_values(self) -> dict[str, object]:
        return {
            "endpoint": self.endpoint_id.hex,
            "states": list(self.states),
            "types": None if self.types is None else list(self.types),
            "since": None if self.since is None else self.since.isoformat(),
            "until": None if self.until is None else self.until.isoformat(),
        }


INSERT_EVENTS = statement("webhooks/insert_events", StoredId)
INSERT_DELIVERIES = statement("webhooks/insert_deliveries", StoredId)
RUN_EXTRAS = statement("webhooks/read_run_extras", RunExtras)
LOCK_DUE = statement("webhooks/lock_due_endpoints", StoredId)
CLAIM = statement("webhooks/claim_deliveries", ClaimedDelivery)
RECORD_DELIVERED = statement("webhooks/record_delivered", HealthRow)
RECORD_FAILED = statement("webhooks/record_failed", StoredId)
PAGE = statement("webhooks/page_deliveries", DeliveryRow)
GET = statement("webhooks/get_delivery", DeliveryDetail)
REDELIVER = statement("webhooks/redeliver", StoredId)
COUNT = statement("webhooks/count_replayable", DeliveryCount)
REPLAY = statement("webhooks/replay_deliveries", StoredId)
DROP_HELD = statement("webhooks/drop_held", StoredId)
PACE_HELD = statement("webhooks/pace_held", StoredId)
DELETE_DELIVERIES = statement("webhooks/delete_old_deliveries", StoredId)
DELETE_EVENTS = statement("webhooks/delete_old_events", StoredId)


async def insert_events(
    conn: Connection,
    events: Sequence[tuple[int, StoredEvent]],
    deliveries: Sequence[NewDelivery],
) -> int:
    """Store events, each with its tenant, and their deliveries; return how many are new."""
    await INSERT_EVENTS.all(
        conn,
        ids=[event.id for _, event in events],
        tenant_ids=[tenant_id for tenant_id, _ in events],
        types=[event.type for _, event in events],
        ats=[event.at for _, event in events],
        subjects=[event.subject for _, event in events],
        data=[_dump(event.data) for _, event in events],
        extras=[None if event.extras is None else _dump(event.extras) for _, event in events],
    )
    created = await INSERT_DELIVERIES.all(
        conn,
        ids=[derive_delivery_id(each.endpoint_id, each.event_id) for each in deliveries],
        tenant_ids=[each.tenant_id for each in deliveries],
        endpoint_ids=[each.endpoint_id for each in deliveries],
        event_ids=[each.event_id for each in deliveries],
    )
    return len(created)


async def read_run_extras(
    conn: Connection, runs: Mapping[UUID, int]
) -> Mapping[UUID, Mapping[str, Any]]:
    """Return payload and result of finished runs, given with their tenants."""
    found = {}
    for row in await RUN_EXTRAS.all(conn, ids=list(runs), tenant_ids=sorted(set(runs.values()))):
        values = {"payload": row.payload, "result": row.result}
        found[row.id] = {
            name: json.loads(text) for name, text in values.items() if text is not None
        }
    return found


async def claim_deliveries(conn: Connection, *, sender: UUID, room: int) -> list[ClaimedDelivery]:
    """Lease at most `room` due deliveries. Locks their endpoints, so limits per endpoint hold."""
    async with transaction(conn):
        locked = await LOCK_DUE.all(conn, failing_after=FAILING_AFTER, most=room)
        if not locked:
            return []
        # A statement of its own: its snapshot must be newer than the locks.
        return await CLAIM.all(
            conn,
            endpoint_ids=[row.id for row in locked],
            failing_after=FAILING_AFTER,
            room=room,
            lease=DELIVERY_LEASE,
            sender=sender,
        )


async def record_delivered(
    conn: Connection, delivery: ClaimedDelivery, result: DeliveryResult, *, sender: UUID
) -> HealthRow | None:
    """Record a success; return the endpoint's health, or None if the lease was lost."""
    return await RECORD_DELIVERED.one(
        conn,
        id=delivery.id,
        attempt=delivery.attempts,
        sender=sender,
        status=result.status,
        response=result.response,
        duration_ms=_to_milliseconds(result.duration),
    )


async def record_failed(
    conn: Connection, delivery: ClaimedDelivery, result: DeliveryResult, *, sender: UUID
) -> bool:
    """Record a failed attempt; return whether the lease was still held."""
    row = await RECORD_FAILED.one(
        conn,
        id=delivery.id,
        attempt=delivery.attempts,
        sender=sender,
        wait=result.wait,
        status=result.status,
        error=result.error,
        response=result.response,
        duration_ms=_to_milliseconds(result.duration),
    )
    return row is not None


async def list_deliveries(
    conn: Connection,
    which: DeliveryFilter,
    *,
    tenant_id: int,
    before: UUID = LAST_EVENT_ID,
    limit: int = 50,
) -> list[DeliveryRow]:
    """Return deliveries, newest event first, starting before the event `before`."""
    return await PAGE.all(
        conn,
        endpoint_id=which.endpoint_id,
        tenant_id=tenant_id,
        state=which.state,
        type=which.type,
        before=before,
        most=limit,
    )


async def get_delivery(
    conn: Connection, delivery_id: UUID, *, endpoint_id: UUID, tenant_id: int
) -> DeliveryDetail:
    row = await GET.one(conn, id=delivery_id, endpoint_id=endpoint_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("delivery", f"dlv_{delivery_id.hex}")
    return row


async def redeliver(conn: Connection, delivery_id: UUID, *, tenant_id: int) -> None:
    """Send a delivery again, from the start of the retry schedule."""
    if await REDELIVER.one(conn, id=delivery_id, tenant_id=tenant_id) is None:
        raise Conflict("delivery", "an attempt is in flight; retry", retry_after=5.0)


async def count_replayable(
    conn: Connection,
    which: ReplayedDeliveryFilter,
    *,
    tenant_id: int,
    counted_at: datetime,
    limit: int,
) -> int:
    row = await COUNT.one(
        conn, tenant_id=tenant_id, counted_at=counted_at, most=limit, **_filter_values(which)
    )
    return 0 if row is None else row.number


async def replay_deliveries(
    conn: Connection,
    which: ReplayedDeliveryFilter,
    *,
    tenant_id: int,
    counted_at: datetime,
    spacing: timedelta,
    limit: int,
) -> int:
    """Send the selected deliveries again, `spacing` apart; return how many."""
    rows = await REPLAY.all(
        conn,
        tenant_id=tenant_id,
        counted_at=counted_at,
        spacing=spacing,
        most=limit,
        **_filter_values(which),
    )
    return len(rows)


async def drop_held(
    conn: Connection, endpoint_id: UUID, *, tenant_id: int, counted_at: datetime, keep: int
) -> int:
    """Drop the held deliveries except the newest `keep`; return how many."""
    rows = await DROP_HELD.all(
        conn, endpoint_id=endpoint_id, tenant_id=tenant_id, counted_at=counted_at, keep=keep
    )
    return len(rows)


async def pace_held(
    conn: Connection, endpoint_id: UUID, *, tenant_id: int, spacing: timedelta
) -> int:
    """Make the held deliveries due `spacing` apart; return how many."""
    rows = await PACE_HELD.all(conn, endpoint_id=endpoint_id, tenant_id=tenant_id, spacing=spacing)
    return len(rows)


async def delete_old(
    conn: Connection, *, limit: int, keep: timedelta = DELIVERIES_KEPT
) -> tuple[int, int]:
    """Delete at most `limit` old deliveries and events each; return how many of both."""
    deliveries = await DELETE_DELIVERIES.all(conn, keep=keep, most=limit)
    events = await DELETE_EVENTS.all(conn, keep=keep, most=limit)
    return len(deliveries), len(events)


def build_stored(row: ClaimedDelivery | DeliveryDetail) -> StoredEvent:
    return StoredEvent(
        id=row.event_id,
        type=row.type,
        at=row.at,
        subject=row.subject,
        data=json.loads(row.data),
        extras=None if row.extras is None else json.loads(row.extras),
    )


def _filter_values(which: ReplayedDeliveryFilter) -> dict[str, Any]:
    return {
        "endpoint_id": which.endpoint_id,
        "states": list(which.states),
        "types": None if which.types is None else list(which.types),
        "since": which.since,
        "until": which.until,
    }


def _dump(value: Any) -> str:
    # The values come from jsonb columns, so they hold nothing that jsonb cannot store.
    return json.dumps(value, ensure_ascii=False, default=str)


def _to_milliseconds(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)

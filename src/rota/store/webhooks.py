"""Stores webhook endpoints: subscriptions, secrets, health (I7).

A secret is encrypted with the master key and bound to its endpoint and version
(core/secret_encryption.py); it is shown once, when it is created. webhook_deliveries.py stores what
endpoints get.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.errors import (
    Conflict,
    InvalidInput,
    NameTaken,
    NotFound,
    SecretsUnavailable,
    VersionChanged,
)
from rota.core.secret_encryption import (
    SecretIdentity,
    decrypt_secret,
    derive_key_id,
    encrypt_secret,
)
from rota.core.webhook_deliveries import (
    FAILING_AFTER,
    DisabledReason,
    EndpointHealth,
)
from rota.core.webhook_subscriptions import (
    ENDPOINTS_PER_TENANT_MAX,
    WebhookEventFilter,
    WebhookSubscription,
    expand_patterns,
)
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

NAME_TAKEN: Final = "already in use; choose a name that no other endpoint of the tenant has"


class WebhookEndpoint(NamedTuple):
    """An endpoint without its secrets; JSON as text. `pending` counts up to 100,001."""

    id: UUID
    tenant_id: int
    name: str
    url: str
    events: list[str]
    filter: str
    include: list[str]
    format: str
    allow_http: bool
    state: str
    disabled_reason: str | None
    disabled_at: datetime | None
    version: int
    secret_version: int
    failures: int
    failing_since: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    created_at: datetime
    created_by: str
    updated_at: datetime
    former_until: datetime | None
    pending: int


class LockedEndpoint(NamedTuple):
    id: UUID
    state: str
    version: int
    secret_version: int


class EndpointId(NamedTuple):
    id: UUID


class EndpointCount(NamedTuple):
    number: int


class SubscriptionRow(NamedTuple):
    id: UUID
    tenant_id: int
    events: list[str]
    filter: str
    include: list[str]
    created_at: datetime


class SubscribedJob(NamedTuple):
    tenant_id: int
    name: str
    id: UUID


class HealthRow(NamedTuple):
    failures: int
    failing_since: datetime | None
    probe_at: datetime | None
    concurrency: int
    last_success_at: datetime | None
    disabled_reason: str | None
    now: datetime

    def to_health(self) -> EndpointHealth:
        reason = self.disabled_reason
        return EndpointHealth(
            failures=self.failures,
            failing_since=self.failing_since,
            probe_at=self.probe_at,
            concurrency=self.concurrency,
            last_success_at=self.last_success_at,
            disabled_reason=None if reason is None else DisabledReason(reason),
        )


class UnhealthyEndpoint(NamedTuple):
    """An endpoint that is failing (`failing_since`), or that Rota has disabled."""

    id: UUID
    tenant_id: int
    name: str
    state: str
    disabled_reason: str | None
    disabled_at: datetime | None
    failures: int
    failing_since: datetime | None
    last_success_at: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFields:
    """What a user decides about an endpoint."""

    name: str
    url: str
    events: Sequence[str]
    event_filter: WebhookEventFilter
    include: Sequence[str]
    format: str
    allow_http: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEndpoint:
    id: UUID
    tenant_id: int
    fields: EndpointFields
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSeal:
    """The master key, and random bytes that are used once."""

    master: bytes
    nonce: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptedSecrets:
    """The secrets of an endpoint as they are stored. `former` is None unless it is still valid."""

    tenant_id: int
    endpoint_id: UUID
    version: int
    key_id: str
    ciphertext: bytes
    former: bytes | None


CREATE = statement("webhooks/create_endpoint", EndpointId)
COUNT = statement("webhooks/count_endpoints", EndpointCount)
GET = statement("webhooks/get_endpoint", WebhookEndpoint)
PAGE = statement("webhooks/page_endpoints", WebhookEndpoint)
LOCK = statement("webhooks/lock_endpoint", LockedEndpoint)
CHANGE = statement("webhooks/change_endpoint", EndpointId)
ROTATE = statement("webhooks/rotate_secret", EndpointId)
DELETE = statement("webhooks/delete_endpoint", EndpointId)
DISABLE = statement("webhooks/disable_endpoint", EndpointId)
ENABLE = statement("webhooks/enable_endpoint", EndpointId)
SUBSCRIPTIONS = statement("webhooks/read_subscriptions", SubscriptionRow)
NAMED_JOBS = statement("webhooks/find_named_jobs", SubscribedJob)
LOCK_HEALTH = statement("webhooks/lock_health", HealthRow)
RECORD_HEALTH = statement("webhooks/record_health", EndpointId)
UNHEALTHY = statement("webhooks/list_unhealthy", UnhealthyEndpoint)


async def create_endpoint(
    conn: Connection, new: NewEndpoint, secret: str, *, sealing: EndpointSeal
) -> WebhookEndpoint:
    """Create an endpoint; a tenant has at most `ENDPOINTS_PER_TENANT_MAX`."""
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=new.tenant_id, resource="webhooks")
        count = await COUNT.one(conn, tenant_id=new.tenant_id)
        if count is not None and count.number >= ENDPOINTS_PER_TENANT_MAX:
            wanted = (
                f"a tenant has at most {ENDPOINTS_PER_TENANT_MAX} endpoints; delete one, or add "
                "the events to an existing endpoint"
            )
            raise InvalidInput("url", new.fields.url, wanted)
        row = await CREATE.one(
            conn,
            id=new.id,
            tenant_id=new.tenant_id,
            key_id=derive_key_id(sealing.master),
            ciphertext=_encrypt(sealing, _place(new.tenant_id, new.id, 1), secret),
            created_by=new.created_by,
            **_to_columns(new.fields),
        )
        if row is None:
            raise NameTaken("name", new.fields.name, NAME_TAKEN)
        return await get_endpoint(conn, new.id, tenant_id=new.tenant_id)


async def get_endpoint(conn: Connection, endpoint_id: UUID, *, tenant_id: int) -> WebhookEndpoint:
    row = await GET.one(conn, id=endpoint_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("webhook", f"whe_{endpoint_id.hex}")
    return row


async def list_endpoints(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[WebhookEndpoint]:
    """Return endpoints by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def lock_endpoint(conn: Connection, endpoint_id: UUID, *, tenant_id: int) -> LockedEndpoint:
    """Lock an endpoint until the end of the transaction; none of its deliveries is claimed."""
    row = await LOCK.one(conn, id=endpoint_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("webhook", f"whe_{endpoint_id.hex}")
    return row


async def change_endpoint(
    conn: Connection, endpoint_id: UUID, fields: EndpointFields, *, tenant_id: int, version: int
) -> WebhookEndpoint:
    """Change an endpoint that is still at `version`."""
    async with join_transaction(conn):
        locked = await lock_endpoint(conn, endpoint_id, tenant_id=tenant_id)
        if locked.version != version:
            raise VersionChanged("webhook", version, locked.version)
        columns = _to_columns(fields)
        row = await CHANGE.one(
            conn, id=endpoint_id, tenant_id=tenant_id, version=version, **columns
        )
        if row is None:
            raise NameTaken("name", fields.name, NAME_TAKEN)
        return await get_endpoint(conn, endpoint_id, tenant_id=tenant_id)


async def rotate_secret(
    conn: Connection,
    endpoint_id: UUID,
    secret: str,
    *,
    tenant_id: int,
    former_for: timedelta,
    sealing: EndpointSeal,
) -> WebhookEndpoint:
    """Replace the secret; the previous one signs as well for `former_for`."""
    async with join_transaction(conn):
        locked = await lock_endpoint(conn, endpoint_id, tenant_id=tenant_id)
        place = _place(tenant_id, endpoint_id, locked.secret_version + 1)
        row = await ROTATE.one(
            conn,
            id=endpoint_id,
            tenant_id=tenant_id,
            secret_version=locked.secret_version,
            key_id=derive_key_id(sealing.master),
            ciphertext=_encrypt(sealing, place, secret),
            former_for=former_for,
        )
        if row is None:
            raise Conflict("webhook", "another request is changing it; retry", retry_after=1.0)
        return await get_endpoint(conn, endpoint_id, tenant_id=tenant_id)


async def delete_endpoint(conn: Connection, endpoint_id: UUID, *, tenant_id: int) -> None:
    if await DELETE.one(conn, id=endpoint_id, tenant_id=tenant_id) is None:
        raise NotFound("webhook", f"whe_{endpoint_id.hex}")


async def disable_endpoint(conn: Connection, endpoint_id: UUID, *, tenant_id: int) -> bool:
    """Disable an endpoint for a user; return whether it was enabled."""
    return await DISABLE.one(conn, id=endpoint_id, tenant_id=tenant_id) is not None


async def enable_endpoint(conn: Connection, endpoint_id: UUID, *, tenant_id: int) -> bool:
    """Enable an endpoint with a clean record; return whether it was disabled."""
    return await ENABLE.one(conn, id=endpoint_id, tenant_id=tenant_id) is not None


async def read_subscriptions(conn: Connection) -> list[WebhookSubscription]:
    """Return what the endpoints of all tenants subscribe to, disabled ones included."""
    return [
        WebhookSubscription(
            endpoint_id=row.id,
            tenant_id=row.tenant_id,
            types=expand_patterns(row.events),
            event_filter=read_filter(row.filter),
            include=tuple(row.include),
            created_at=row.created_at,
        )
        for row in await SUBSCRIPTIONS.all(conn)
    ]


async def find_named_jobs(
    conn: Connection, names: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], set[UUID]]:
    """Return the ids of jobs by tenant and name."""
    found: dict[tuple[int, str], set[UUID]] = {}
    for row in await NAMED_JOBS.all(
        conn,
        tenant_ids=[tenant_id for tenant_id, _ in names],
        names=[name for _, name in names],
    ):
        found.setdefault((row.tenant_id, row.name), set()).add(row.id)
    return found


async def lock_health(conn: Connection, endpoint_id: UUID) -> HealthRow | None:
    """Return the health of an endpoint, locked until the end of the transaction."""
    return await LOCK_HEALTH.one(conn, id=endpoint_id)


async def record_health(
    conn: Connection, endpoint_id: UUID, health: EndpointHealth, *, error: str | None
) -> None:
    """Store the health of a locked endpoint. `error` is that of a failed attempt."""
    await RECORD_HEALTH.one(
        conn,
        id=endpoint_id,
        failures=health.failures,
        failing_since=health.failing_since,
        probe_at=health.probe_at,
        concurrency=health.concurrency,
        last_success_at=health.last_success_at,
        disabled_reason=None if health.disabled_reason is None else health.disabled_reason.value,
        error=error,
    )


async def list_unhealthy(conn: Connection) -> list[UnhealthyEndpoint]:
    """Return the endpoints of all tenants that are failing, or that Rota has disabled."""
    return await UNHEALTHY.all(conn, failing_after=FAILING_AFTER)


def decrypt_keys(secrets: EncryptedSecrets, master: bytes) -> list[str]:
    """Return the secrets that sign, newest first."""
    if secrets.key_id != derive_key_id(master):
        raise SecretsUnavailable(
            reason="the secret of the endpoint was encrypted with another master key",
            remedy="rotate its secret",
        )
    place = _place(secrets.tenant_id, secrets.endpoint_id, secrets.version)
    found = [decrypt_secret(master, place, secrets.ciphertext)]
    if secrets.former is not None:
        place = _place(secrets.tenant_id, secrets.endpoint_id, secrets.version - 1)
        found.append(decrypt_secret(master, place, secrets.former))
    return [secret.decode() for secret in found]


def read_filter(text: str) -> WebhookEventFilter:
    """Read a stored filter; fields of a newer release are ignored."""
    values: Mapping[str, Any] = json.loads(text)
    return WebhookEventFilter(
        job=values.get("job"),
        task=values.get("task"),
        queue=values.get("queue"),
        labels=values.get("labels", {}),
        severity=values.get("severity"),
    )


def write_filter(event_filter: WebhookEventFilter) -> str:
    values = {
        "job": event_filter.job,
        "task": event_filter.task,
        "queue": event_filter.queue,
        "labels": dict(event_filter.labels) or None,
        "severity": event_filter.severity,
    }
    return json.dumps({name: value for name, value in values.items() if value is not None})


def _to_columns(fields: EndpointFields) -> dict[str, Any]:
    return {
        "name": fields.name,
        "url": fields.url,
        "events": list(fields.events),
        "filter": write_filter(fields.event_filter),
        "include": list(fields.include),
        "format": fields.format,
        "allow_http": fields.allow_http,
    }


def _place(tenant_id: int, endpoint_id: UUID, version: int) -> SecretIdentity:
    return SecretIdentity(tenant_id=tenant_id, name=f"webhook {endpoint_id.hex}", version=version)


def _encrypt(sealing: EndpointSeal, place: SecretIdentity, secret: str) -> bytes:
    return encrypt_secret(sealing.master, place, secret.encode(), nonce=sealing.nonce)

"""Sends due deliveries to their endpoints and records the results (I7).

Any number of processes send. A delivery goes through these steps:

    claim    lease due deliveries: 10 in flight per endpoint, one while the endpoint is failing
    send     a signed request; redirects are not followed
    record   the result, guarded by the number of the attempt; then the health of the endpoint

If the process dies before the record, the lease ends and the delivery is sent again with the same
`webhook-id`, by which the receiver drops the duplicate.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final
from uuid import UUID

from rota.core import signatures
from rota.core.clock import ClockSource
from rota.core.errors import RotaError, SecretsUnavailable
from rota.core.log_events import Emit, EndpointChanged, WebhookAttempted, WebhooksUnsigned
from rota.core.outgoing_http import HttpPoster, OutgoingPost, PostResponse
from rota.core.webhook_bodies import format_event_id, render_body
from rota.core.webhook_deliveries import (
    ATTEMPT_TIMEOUT,
    EndpointNews,
    HealthChange,
    compute_retry_wait,
    describe_failure,
    record_endpoint_failure,
    record_endpoint_success,
)
from rota.store import audit, webhook_deliveries, webhooks
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection, ConnectionSource
from rota.store.transaction import transaction
from rota.store.webhook_deliveries import ClaimedDelivery, DeliveryResult

SENDING_MAX: Final = 100
POLL_INTERVAL_S: Final = 0.5
# Without a master key nothing can be signed; the key may appear later.
KEY_CHECK_INTERVAL_S: Final = 10.0
AUDIT_ACTOR: Final = "rota"


@dataclass(slots=True, kw_only=True)
class WebhookDeliverer:
    """Sends deliveries in tasks of its own, so that a slow endpoint delays no other.

    `sender` identifies this start of the process. `read_master_key` returns None while secrets are
    disabled. `wake` requests another pass once a task ends.
    """

    source: ConnectionSource
    poster: HttpPoster
    sender: UUID
    read_master_key: Callable[[], bytes | None]
    clock: ClockSource
    rng: Random
    emit: Emit
    wake: Callable[[], object] = lambda: None
    timeout: timedelta = ATTEMPT_TIMEOUT
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _is_unsigned: bool = False
    # An unexpected error of a task; the next pass raises it.
    _error: BaseException | None = None

    async def tick(self) -> float:
        """Claim as many deliveries as may be in flight, and start to send them."""
        if self._error is not None:
            raise self._error
        room = SENDING_MAX - len(self._tasks)
        if room <= 0:
            return POLL_INTERVAL_S
        master = self._read_master_key()
        if master is None:
            return KEY_CHECK_INTERVAL_S
        async with self.source.acquire() as conn:
            claimed = await webhook_deliveries.claim_deliveries(conn, sender=self.sender, room=room)
        for delivery in claimed:
            task = asyncio.create_task(self._deliver(delivery, master))
            self._tasks.add(task)
            task.add_done_callback(self._finish)
        return POLL_INTERVAL_S

    async def wait_until_sent(self) -> None:
        """Wait for the deliveries in flight."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Cancel the deliveries in flight; they are sent again when their leases end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _read_master_key(self) -> bytes | None:
        with suppress(SecretsUnavailable):
            if (master := self.read_master_key()) is not None:
                self._is_unsigned = False
                return master
        if not self._is_unsigned:
            self._is_unsigned = True
            self.emit(WebhooksUnsigned(remedy="set api.master_key for this process"))
        return None

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        # After an error of the store the lease ends, and the attempt is repeated.
        if error is not None and not isinstance(error, RotaError):
            self._error = error
        self.wake()

    async def _deliver(self, delivery: ClaimedDelivery, master: bytes) -> None:
        response = await self._send(delivery, master)
        self.emit(
            WebhookAttempted(
                endpoint=delivery.endpoint,
                event=delivery.type,
                outcome="delivered" if response.is_success else "failed",
                status=response.status,
                duration=response.duration,
            )
        )
        if response.is_success:
            await self._record_success(delivery, response)
        else:
            await self._record_failure(delivery, response)

    async def _send(self, delivery: ClaimedDelivery, master: bytes) -> PostResponse:
        try:
            secrets = webhooks.decrypt_keys(delivery.secrets, master)
        except SecretsUnavailable as error:
            return PostResponse(message=str(error))
        body = render_body(
            delivery.event,
            style=delivery.format,
            include=delivery.include,
            tenant=delivery.tenant,
        )
        signed = signatures.build_headers(
            body.content,
            [signatures.parse_secret(secret) for secret in secrets],
            id=format_event_id(delivery.event_id),
            at=self.clock.now(),
        )
        return await self.poster.post(
            OutgoingPost(
                tenant=delivery.tenant,
                url=delivery.url,
                body=body.content,
                headers={"Content-Type": body.media_type, **signed},
                timeout=self.timeout,
            )
        )

    async def _record_success(self, delivery: ClaimedDelivery, response: PostResponse) -> None:
        result = DeliveryResult(
            status=response.status, response=response.text, duration=response.duration
        )
        async with self.source.acquire() as conn:
            found = await webhook_deliveries.record_delivered(
                conn, delivery, result, sender=self.sender
            )
            # Usually there is nothing to write: a healthy endpoint notes a success once a minute.
            if found is None or record_endpoint_success(found.to_health(), now=found.now) is None:
                return
            async with transaction(conn):
                locked = await webhooks.lock_health(conn, delivery.endpoint_id)
                if locked is None:
                    return
                change = record_endpoint_success(locked.to_health(), now=locked.now)
                if change is not None:
                    await self._store_health(conn, delivery, change, error=None)

    async def _record_failure(self, delivery: ClaimedDelivery, response: PostResponse) -> None:
        error = describe_failure(response)
        result = DeliveryResult(
            status=response.status,
            response=response.text,
            duration=response.duration,
            error=error,
            wait=compute_retry_wait(response, retries=delivery.retries, rng=self.rng),
        )
        async with self.source.acquire() as conn:
            if not await webhook_deliveries.record_failed(
                conn, delivery, result, sender=self.sender
            ):
                return
            async with transaction(conn):
                locked = await webhooks.lock_health(conn, delivery.endpoint_id)
                if locked is None:
                    return
                change = record_endpoint_failure(
                    locked.to_health(), response, now=locked.now, rng=self.rng
                )
                await self._store_health(conn, delivery, change, error=error)

    async def _store_health(
        self,
        conn: Connection,
        delivery: ClaimedDelivery,
        change: HealthChange,
        *,
        error: str | None,
    ) -> None:
        """Store the health of a locked endpoint, with an audit entry if it becomes an event."""
        await webhooks.record_health(conn, delivery.endpoint_id, change.health, error=error)
        if change.news is None:
            return
        await audit.record_change(conn, build_audit_entry(delivery, change, change.news, error))
        self.emit(
            EndpointChanged(endpoint=delivery.endpoint, change=change.news.value, error=error)
        )


def build_audit_entry(
    delivery: ClaimedDelivery, change: HealthChange, news: EndpointNews, error: str | None
) -> NewAuditEntry:
    """Build the entry about an endpoint's health, from which the relay makes an event."""
    since = change.health.failing_since
    reason = change.health.disabled_reason
    facts = {
        "name": delivery.endpoint,
        "failures": change.health.failures or None,
        "failing_since": None if since is None else since.isoformat(),
        "reason": None if reason is None else reason.value,
        "error": error,
    }
    return NewAuditEntry(
        tenant_id=delivery.tenant_id,
        actor=AUDIT_ACTOR,
        action=news.value,
        thing="webhook",
        thing_id=f"whe_{delivery.endpoint_id.hex}",
        after={name: value for name, value in facts.items() if value is not None},
    )

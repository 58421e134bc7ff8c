"""Webhook endpoints in a `World`, events for them, and a sender with a real HTTP client."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

from rota.core import signatures
from rota.core.ids import derive_outgoing_event_id
from rota.core.outgoing_events import OutgoingEvent
from rota.core.webhook_subscriptions import WebhookEventFilter
from rota.engine.webhooks.deliverer import WebhookDeliverer
from rota.engine.webhooks.subscriber import WebhookSubscriber
from rota.executors.http import TargetGuard
from rota.executors.http.guarded_client import Lookup
from rota.executors.http.poster import GuardedPoster
from rota.runtime.clock import SystemClock
from rota.store import webhooks
from rota.store.driver import Connection
from rota.store.transaction import transaction
from rota.store.webhooks import EndpointFields, EndpointSeal, NewEndpoint, WebhookEndpoint
from tests.support.world import World

MASTER = bytes([66] * 32)
SECRET = signatures.format_secret(bytes([7] * 32))
CLOCK = SystemClock()


class LockedSource:
    """Lends one connection to one task at a time."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        async with self._lock:
            yield self._conn


def sealing(number: int = 1) -> EndpointSeal:
    return EndpointSeal(master=MASTER, nonce=bytes([number] * 12))


async def create_endpoint(
    world: World,
    url: str = "https://hook.example/rota",
    events: Sequence[str] = ("run.failed",),
    *,
    tenant_id: int = 1,
    secret: str = SECRET,
    **given: Any,
) -> WebhookEndpoint:
    fields = EndpointFields(
        name=given.pop("name", f"endpoint {uuid4().hex[:8]}"),
        url=url,
        events=events,
        event_filter=WebhookEventFilter(**given.pop("event_filter", {})),
        include=given.pop("include", ()),
        format=given.pop("format", "standard"),
        allow_http=True,
    )
    new = NewEndpoint(id=world.new_id(), tenant_id=tenant_id, fields=fields, created_by="a test")
    return await webhooks.create_endpoint(world.conn, new, secret, sealing=sealing())


def build_event(world: World, type_: str = "run.failed", **given: Any) -> OutgoingEvent:
    run_id = given.pop("run_id", None) or world.new_id()
    at = given.pop("at", world.now)
    values: dict[str, Any] = {
        "id": derive_outgoing_event_id(type_, run_id, 1, at=at),
        "type": type_,
        "tenant_id": 1,
        "at": at,
        "run_id": run_id,
        "job_id": UUID(int=1),
        "job_name": "nightly report",
        "attempt": 1,
        "queue": "default",
        "task": "reports.nightly",
        "reason": {"type": "ValueError", "message": "no such customer"},
    }
    return OutgoingEvent(**values | given)


async def consume(world: World, *events: OutgoingEvent) -> None:
    """Hand events to the subscriber, as the relay does."""
    async with transaction(world.conn):
        await WebhookSubscriber().consume(world.conn, events, now=world.now)


@asynccontextmanager
async def sender(
    world: World,
    *,
    port: int = 0,
    patience: timedelta = timedelta(seconds=5),
    lookup: Lookup | None = None,
    guard: TargetGuard | None = None,
    source: Any = None,
    emit: Any = None,
) -> AsyncIterator[WebhookDeliverer]:
    """A sender that may reach a port of this machine."""
    guard = guard or TargetGuard(
        allow_networks=("127.0.0.1/32",), allow_ports=(port,) if port else ()
    )
    poster = GuardedPoster(guard=guard, monotonic=CLOCK.monotonic, lookup=lookup)
    deliverer = WebhookDeliverer(
        source=source or LockedSource(world.conn),
        poster=poster,
        sender=uuid4(),
        read_master_key=lambda: MASTER,
        clock=CLOCK,
        rng=Random(1),
        emit=emit or (lambda _event: None),
        timeout=patience,
    )
    try:
        yield deliverer
    finally:
        await deliverer.close()
        await poster.close()


async def send_due(deliverer: WebhookDeliverer) -> None:
    """Send what is due, until the results are recorded."""
    await deliverer.tick()
    await deliverer.wait_until_sent()

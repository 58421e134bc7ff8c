"""Builds the services of webhook subscriptions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from rota.config.settings import Settings
from rota.engine.webhooks.deliverer import WebhookDeliverer
from rota.engine.webhooks.pruner import WebhookPruner
from rota.executors.http.poster import GuardedPoster
from rota.processes.built_in_executors import build_guard
from rota.processes.key_files import read_master_key
from rota.runtime.clock import AlarmClock
from rota.runtime.service import Duty, Pulse, ServiceContext
from rota.store.driver import Pool


@asynccontextmanager
async def open_poster(settings: Settings, clock: AlarmClock) -> AsyncIterator[GuardedPoster]:
    """Yield what sends webhooks and checks their URLs, with the guard of HTTP jobs."""
    executors = settings.executors
    poster = GuardedPoster(
        guard=build_guard(executors),
        guard_tenants=executors.http_allow_tenants,
        monotonic=clock.monotonic,
    )
    try:
        yield poster
    finally:
        await poster.close()


@asynccontextmanager
async def open_webhooks(
    settings: Settings, pool: Pool, context: ServiceContext
) -> AsyncIterator[list[Duty]]:
    """Yield the duties that deliver webhooks and delete old deliveries."""
    pulse = Pulse()
    async with open_poster(settings, context.clock) as poster:
        deliverer = WebhookDeliverer(
            source=pool,
            poster=poster,
            sender=UUID(bytes=context.rng.randbytes(16), version=4),
            read_master_key=partial(read_master_key, settings),
            clock=context.database_clock,
            rng=context.rng,
            emit=context.emit,
            wake=pulse.wake,
        )
        try:
            yield [
                Duty("delivering webhooks", deliverer.tick, pulse, context),
                Duty("deleting old webhooks", WebhookPruner(source=pool).tick, Pulse(), context),
            ]
        finally:
            await deliverer.close()

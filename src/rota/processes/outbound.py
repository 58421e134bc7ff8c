"""Builds the services that tell people and other systems what happened.

The event relay, alerts, webhooks, the outgoing heartbeat and sinks. Schedulers run them, so that
"no worker for a queue" can be reported too.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from rota.config.settings import Settings
from rota.runtime.service import Duty, ServiceContext, Tier
from rota.store.pool import DatabaseAccess, open_pool

STOP_GRACE: Final = timedelta(seconds=5)
# Connections of the outbound services of one process.
OUTBOUND_CONNECTIONS: Final = 4


@asynccontextmanager
async def open_outbound(
    settings: Settings, access: DatabaseAccess, context: ServiceContext
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of the outbound services."""
    async with open_pool(access, size=OUTBOUND_CONNECTIONS):
        duties: list[Duty] = []
        yield [Tier(duties, grace=STOP_GRACE)] if duties else []

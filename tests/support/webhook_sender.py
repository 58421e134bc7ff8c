"""A process that sends webhooks until it is killed: `webhook_sender.py DATABASE_URL PORT`."""

import asyncio
import sys
from random import Random
from uuid import uuid4

from rota.engine.webhooks.deliverer import WebhookDeliverer
from rota.executors.http import TargetGuard
from rota.executors.http.poster import GuardedPoster
from rota.runtime.clock import SystemClock
from rota.store.pool import DatabaseAccess, open_pool

# The same as in webhooks.py, which this process does not import: it must start quickly.
MASTER = bytes([66] * 32)


async def send(database: str, port: int) -> None:
    clock = SystemClock()
    guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(port,))
    async with open_pool(DatabaseAccess(url=database), size=4) as pool:
        pulse = asyncio.Event()
        deliverer = WebhookDeliverer(
            source=pool,
            poster=GuardedPoster(guard=guard, monotonic=clock.monotonic),
            sender=uuid4(),
            read_master_key=lambda: MASTER,
            clock=clock,
            rng=Random(),
            emit=lambda _event: None,
            wake=pulse.set,
        )
        while True:
            pulse.clear()
            await deliverer.tick()
            await pulse.wait()


if __name__ == "__main__":
    asyncio.run(send(sys.argv[1], int(sys.argv[2])))

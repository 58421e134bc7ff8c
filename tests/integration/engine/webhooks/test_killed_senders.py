"""Senders are killed with SIGKILL: every event arrives, and a repetition has the same id (I7)."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.webhooks import CLOCK, build_event, consume, create_endpoint
from tests.support.world import World

SENDER = Path(__file__).parents[3] / "support" / "webhook_sender.py"
BOUND = SENDER.with_name("bound.py")
PATIENCE_S = 60.0
LOOK_INTERVAL_S = 0.02


@pytest.fixture
async def receiver() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


@asynccontextmanager
async def sending(database: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A sender, which is killed when the block is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, BOUND, sys.executable, SENDER, database, str(port)
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def wait_for_requests(receiver: TargetServer, number: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(receiver.requests) < number:
            await CLOCK.sleep(LOOK_INTERVAL_S)


async def end_leases(world: World) -> None:
    """Let the leases of the killed sender end, without waiting for it."""
    await world.conn.execute(
        """
        update rota.webhook_deliveries
        set leased_until = now() - interval '1 second', next_attempt_at = now()
        where leased_until is not null
        """
    )


async def test_every_event_arrives_though_its_sender_is_killed_again_and_again(
    world: World, database: str, receiver: TargetServer
) -> None:
    endpoints = [await create_endpoint(world, f"{receiver.url}/{n}") for n in range(4)]
    events = [build_event(world) for _ in range(100)]
    await consume(world, *events)
    wanted = len(endpoints) * len(events)

    for part in (0.1, 0.3, 0.5, 0.7):
        async with sending(database, receiver.port):
            await wait_for_requests(receiver, round(part * wanted))
        await end_leases(world)
    async with sending(database, receiver.port), asyncio.timeout(PATIENCE_S):
        while await count_undelivered(world):
            await CLOCK.sleep(LOOK_INTERVAL_S)

    sent = Counter((seen["path"], seen["headers"]["webhook-id"]) for seen in receiver.requests)
    assert set(sent) == {
        (f"/{number}", f"evt_{event.id.hex}")
        for number in range(len(endpoints))
        for event in events
    }, "no gap, and nothing else"
    repeated = sum(number - 1 for number in sent.values())
    assert repeated <= 4 * 10 * len(endpoints), "only what was in flight when a sender was killed"


async def count_undelivered(world: World) -> int:
    return int(
        await world.conn.fetchval(
            "select count(*) from rota.webhook_deliveries where state <> 'delivered'"
        )
    )


async def test_a_request_that_was_sent_but_not_recorded_comes_again_with_its_id(
    world: World, database: str, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/silent")
    await consume(world, build_event(world))
    async with sending(database, receiver.port):
        await wait_for_requests(receiver, 1)
    await world.conn.execute(
        "update rota.webhook_endpoints set url = $1 where id = $2",
        f"{receiver.url}/hook",
        endpoint.id,
    )
    await end_leases(world)

    async with sending(database, receiver.port):
        await wait_for_requests(receiver, 2)

    first, second = receiver.requests
    assert first["headers"]["webhook-id"] == second["headers"]["webhook-id"]
    assert first["body"] == second["body"]

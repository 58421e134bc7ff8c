"""The outgoing heartbeat: sent while Rota works, a failure otherwise, by one process at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from tests.support.world import World

from rota.core.heartbeat import CanaryFigures, find_canary_problems
from rota.core.log_events import HeartbeatRefused
from rota.engine.alerting.heartbeat_sender import HeartbeatSender
from rota.executors.http.heartbeat_sender import send_heartbeat

MINUTE = timedelta(minutes=1)


class OneConnection:
    """A source of the test's connection, which has the moved clock."""

    def __init__(self, world: World) -> None:
        self._world = world

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Any]:
        yield self._world.conn


@asynccontextmanager
async def receive_heartbeats(
    *, status: int = 200
) -> AsyncIterator[tuple[str, list[tuple[str, str]]]]:
    """A monitor: its URL, and the paths and bodies that it received."""
    received: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        received.append((request.path, await request.text()))
        return web.Response(status=status)

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/ping/abc", received
    finally:
        await runner.cleanup()


def build_sender(world: World, url: str, events: list[Any]) -> HeartbeatSender:
    return HeartbeatSender(
        source=OneConnection(world),
        url=url,
        every=MINUTE,
        send=send_heartbeat,
        owner=uuid4(),
        holder="test",
        emit=events.append,
    )


async def relay_now(world: World) -> None:
    """Let the relay have passed everything."""
    await world.conn.execute(
        "insert into rota.relays (name, server, since, complete_until)"
        " values ('relay', 'test', rota.now(), rota.now())"
        " on conflict (name) do update set complete_until = rota.now()"
    )


async def test_a_working_installation_sends_its_heartbeat(world: World) -> None:
    await world.own()
    await relay_now(world)
    async with receive_heartbeats() as (url, received):
        rest = await build_sender(world, url, []).tick()
    assert received == [("/ping/abc", "all is well")]
    assert rest == 60


async def test_shards_without_a_scheduler_are_reported_as_a_failure(world: World) -> None:
    await relay_now(world)
    async with receive_heartbeats() as (url, received):
        await build_sender(world, url, []).tick()
    ((path, body),) = received
    assert path == "/ping/abc/fail"
    assert body == "128 shards have no scheduler"


async def test_only_one_process_sends(world: World) -> None:
    await world.own()
    await relay_now(world)
    async with receive_heartbeats() as (url, received):
        first, second = build_sender(world, url, []), build_sender(world, url, [])
        await first.tick()
        await second.tick()
        assert len(received) == 1
        # The first process is gone; its lease ends.
        await world.advance(minutes=4)
        await world.own()
        await relay_now(world)
        await second.tick()
    assert len(received) == 2


async def test_a_monitor_that_refuses_is_logged_and_tried_again(world: World) -> None:
    await world.own()
    await relay_now(world)
    events: list[Any] = []
    async with receive_heartbeats(status=404) as (url, received):
        sender = build_sender(world, url, events)
        await sender.tick()
        await sender.tick()
    assert len(received) == 2
    assert events == [HeartbeatRefused(reason="the monitor answered 404")] * 2


@pytest.mark.parametrize(
    ("figures", "problems"),
    [
        ({}, []),
        ({"shards_unowned": 3}, ["3 shards have no scheduler"]),
        ({"firing_lag": timedelta(seconds=31)}, ["ticks are fired 31 seconds late"]),
        ({"relay_lag": None}, ["the event relay has never run"]),
        ({"relay_lag": timedelta(minutes=3)}, ["the event relay is 3 minutes behind"]),
    ],
)
def test_the_canary_names_what_is_wrong(figures: dict[str, Any], problems: list[str]) -> None:
    usual: dict[str, Any] = {
        "shards_unowned": 0,
        "firing_lag": timedelta(0),
        "relay_lag": timedelta(0),
    }
    assert find_canary_problems(CanaryFigures(**usual | figures)) == problems

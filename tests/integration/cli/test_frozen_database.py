"""A database that stands still ends no process, and another host takes over (O2, O15)."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.gated import durable_server, started, way_to

from rota.runtime.watchdog import STALL_LIMIT
from rota.store.embedded import Embedded

# What the watchdog may be late by.
MARGIN_S = 10.0


@pytest.fixture(scope="module")
def durable() -> Iterator[Embedded]:
    with durable_server() as made:
        yield made


async def test_silent_hosts_do_not_let_the_watchdog_end_a_scheduler(
    durable: Embedded, tmp_path: Path
) -> None:
    async with way_to(durable, gates=2) as way:
        for gate in way.gates:
            await gate.open()
        with started(tmp_path, "scheduler", url=way.url) as scheduler:
            await scheduler.says("shards.moved")

            for gate in way.gates:
                gate.freeze()

            with pytest.raises(subprocess.TimeoutExpired):
                await asyncio.to_thread(
                    scheduler.process.wait, STALL_LIMIT.total_seconds() + MARGIN_S
                )
            for gate in way.gates:
                await gate.open()
            await scheduler.says("store.back")
            scheduler.process.send_signal(signal.SIGTERM)
            assert await scheduler.ends() == 0


async def test_a_frozen_host_is_left_for_the_next(durable: Embedded, tmp_path: Path) -> None:
    async with way_to(durable, gates=2) as way:
        first, second = way.gates
        await first.open()
        with started(tmp_path, "scheduler", url=way.url) as scheduler:
            await scheduler.says("shards.moved")

            first.freeze()
            await second.open()

            await scheduler.says("store.back")
            assert second.opened
            scheduler.process.send_signal(signal.SIGTERM)
            assert await scheduler.ends() == 0

"""Every process measures the database's clock and warns of its own (A5, F05)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from tests.support.moved_clock import MovedClock
from tests.support.silence import silence
from tests.support.world import NOON, World

from rota.core.errors import StoreUnavailable
from rota.core.log_events import ClockCorrected, ClockMeasured, ClockSkewed
from rota.engine.observability.clock_monitor import WARNING_INTERVAL_S, ClockMonitor
from rota.runtime.clock import SystemClock
from rota.runtime.database_clock import DatabaseClock
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, DedicatedConnection

E = TypeVar("E")
SECOND = timedelta(seconds=1)


class Machine:
    """A process on a machine whose clock a test sets, and a database whose clock it moves."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = MovedClock(NOON)
        self.events: list[Any] = []
        self.database_clock = DatabaseClock(self.clock)
        self.monitor = ClockMonitor(
            source=self,
            clock=self.clock,
            database_clock=self.database_clock,
            emit=self.events.append,
        )

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self.world.conn

    async def pass_time(self, seconds: float) -> None:
        await self.clock.advance(seconds * SECOND)
        await self.world.advance(seconds=seconds)

    def told(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def machine(world: World) -> Machine:
    return Machine(world)


async def test_the_time_is_the_databases_whatever_the_machine_shows(machine: Machine) -> None:
    machine.clock.step(timedelta(hours=1))

    await machine.monitor.tick()
    await machine.clock.advance(3 * SECOND)

    assert machine.database_clock.now() == NOON + 3 * SECOND


def test_nobody_is_told_a_time_before_it_was_measured() -> None:
    with pytest.raises(RuntimeError, match="has not been measured yet"):
        DatabaseClock().now()


@pytest.mark.parametrize("seconds", [-2, 0, 2])
async def test_a_clock_that_is_nearly_right_is_measured_and_not_warned_of(
    machine: Machine, seconds: int
) -> None:
    machine.clock.step(seconds * SECOND)

    await machine.monitor.tick()

    assert [event.by for event in machine.told(ClockMeasured)] == [-seconds * SECOND]
    assert machine.told(ClockSkewed) == []
    assert not machine.monitor.is_beyond_limit


async def test_a_wrong_clock_is_warned_of_once_and_then_every_few_minutes(machine: Machine) -> None:
    machine.clock.step(-5 * SECOND)

    await machine.monitor.tick()
    await machine.monitor.tick()
    at_first = machine.told(ClockSkewed)
    await machine.pass_time(WARNING_INTERVAL_S)
    await machine.monitor.tick()

    assert [event.by for event in at_first] == [5 * SECOND]
    assert len(machine.told(ClockSkewed)) == 2


async def test_a_clock_that_gets_worse_than_the_limit_is_warned_of_again(machine: Machine) -> None:
    machine.clock.step(5 * SECOND)
    await machine.monitor.tick()
    was_beyond = machine.monitor.is_beyond_limit
    machine.clock.step(26 * SECOND)

    await machine.monitor.tick()

    assert (was_beyond, machine.monitor.is_beyond_limit) == (False, True)
    assert [event.by for event in machine.told(ClockSkewed)] == [-5 * SECOND, -31 * SECOND]


async def test_the_log_says_when_the_clock_is_right_again(machine: Machine) -> None:
    machine.clock.step(5 * SECOND)
    await machine.monitor.tick()
    machine.clock.step(-5 * SECOND)

    await machine.monitor.tick()
    await machine.monitor.tick()

    assert [event.by for event in machine.told(ClockCorrected)] == [timedelta(0)]


async def test_a_server_that_stays_silent_counts_as_away() -> None:
    heard: list[StoreUnavailable] = []
    clock = SystemClock()
    async with silence() as silent, asyncio.timeout(60):
        line = DedicatedConnection(
            DatabaseAccess(url=f"postgresql://rota@127.0.0.1:{silent.port}/rota")
        )
        monitor = ClockMonitor(
            source=line,
            clock=clock,
            database_clock=DatabaseClock(clock),
            emit=lambda _event: None,
            on_outage=heard.append,
        )

        with pytest.raises(StoreUnavailable, match="did not respond within"):
            await monitor.tick()

    assert len(heard) == 1

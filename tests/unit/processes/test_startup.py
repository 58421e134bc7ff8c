"""How a process waits for the database when it starts, by a clock that is moved."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from tests.support.moved_clock import MovedClock

from rota.config.database import DatabaseSettings
from rota.config.declarations import FOREVER
from rota.core.errors import StoreRefused, StoreUnavailable
from rota.processes.startup import DatabaseWait, StoppedAtStart
from rota.runtime.events import DatabaseReached, WaitingForDatabase
from rota.runtime.service import Halt


class Away:
    """A database that is away until a moment of the clock."""

    def __init__(self, clock: MovedClock, until: float) -> None:
        self.clock, self.until, self.tries = clock, until, 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        self.tries += 1
        if self.clock.monotonic() < self.until:
            raise StoreUnavailable(reason="refused")
        yield "open"


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock(datetime(2026, 7, 1, tzinfo=UTC))


@pytest.fixture
def said() -> list[object]:
    return []


def waiting(
    clock: MovedClock, said: list[object], *, limit: timedelta = FOREVER, stop: Halt | None = None
) -> DatabaseWait:
    return DatabaseWait(
        limit=limit, clock=clock, emit=said.append, rng=Random(7), stop=stop or Halt()
    )


async def test_it_says_so_at_once_then_now_and_then_and_when_it_is_over(
    clock: MovedClock, said: list[object]
) -> None:
    away = Away(clock, until=95)
    async with AsyncExitStack() as stack:
        entering = asyncio.create_task(waiting(clock, said).enter_context(stack, away.open))
        await clock.advance(timedelta(seconds=100))

        assert await entering == "open"

    *waits, back = said
    assert all(isinstance(each, WaitingForDatabase) for each in waits)
    assert len(waits) == 4
    assert isinstance(back, DatabaseReached)
    assert back.failures == away.tries - 1
    assert back.waited >= timedelta(seconds=95)


async def test_a_database_that_is_there_is_not_worth_a_word(
    clock: MovedClock, said: list[object]
) -> None:
    async with AsyncExitStack() as stack:
        await waiting(clock, said).enter_context(stack, Away(clock, until=0).open)

    assert said == []


async def test_the_last_reason_is_raised_when_the_limit_has_passed(
    clock: MovedClock, said: list[object]
) -> None:
    away = Away(clock, until=1_000)
    async with AsyncExitStack() as stack:
        entering = asyncio.create_task(
            waiting(clock, said, limit=timedelta(seconds=10)).enter_context(stack, away.open)
        )
        await clock.advance(timedelta(seconds=11))
        with pytest.raises(StoreUnavailable, match="refused"):
            await entering


async def test_what_waiting_cannot_mend_is_raised_at_once(
    clock: MovedClock, said: list[object]
) -> None:
    errors = [StoreRefused(reason="fsync is off", remedy="set it")]

    @asynccontextmanager
    async def refuse() -> AsyncIterator[None]:
        if errors:
            raise errors.pop()
        yield

    async with AsyncExitStack() as stack:
        with pytest.raises(StoreRefused):
            await waiting(clock, said).enter_context(stack, refuse)

    assert said == []


async def test_it_ends_when_told_to_stop_even_in_an_attempt(
    clock: MovedClock, said: list[object]
) -> None:
    begun, stop = asyncio.Event(), Halt()

    @asynccontextmanager
    async def hang() -> AsyncIterator[None]:
        begun.set()
        await asyncio.Event().wait()
        yield

    async with AsyncExitStack() as stack:
        entering = asyncio.create_task(waiting(clock, said, stop=stop).enter_context(stack, hang))
        await begun.wait()
        stop.set()
        with pytest.raises(StoppedAtStart):
            await entering


async def test_who_cancels_it_is_not_told_that_it_was_stopped(
    clock: MovedClock, said: list[object]
) -> None:
    async with AsyncExitStack() as stack:
        entering = asyncio.create_task(
            waiting(clock, said).enter_context(stack, Away(clock, until=1_000).open)
        )
        await clock.advance(timedelta(seconds=5))
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering


def test_the_embedded_server_is_not_waited_for(clock: MovedClock, said: list[object]) -> None:
    wait = DatabaseWait.from_settings(
        DatabaseSettings(), clock=clock, emit=said.append, rng=Random(7), stop=Halt()
    )

    assert wait.limit == timedelta()

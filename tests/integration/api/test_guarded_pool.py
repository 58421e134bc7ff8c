"""Nobody waits for a connection of a database that is away, or for long if it is busy (A6)."""

import asyncio

import pytest

from rota.api.guarded_pool import CONNECTION_WAIT_MAX_S, GuardedPool
from rota.core.errors import StoreUnavailable
from rota.store.pool import DatabaseAccess, open_pool, read_database_time


class Time:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def ask(pool: GuardedPool) -> bool:
    async with pool.acquire() as conn:
        return await read_database_time(conn) is not None


async def waiting(pool: GuardedPool, number: int) -> list["asyncio.Task[bool]"]:
    """Tasks that wait for the only connection."""
    tasks = [asyncio.create_task(ask(pool)) for _ in range(number)]
    done, _ = await asyncio.wait(tasks, timeout=0.05)
    assert not done
    return tasks


async def test_those_who_wait_are_refused_when_the_database_goes_away(database: str) -> None:
    lost: list[StoreUnavailable] = []
    async with open_pool(DatabaseAccess(url=database), size=1) as made:
        pool = GuardedPool(made, monotonic=Time())
        pool.on_lost = lost.append
        async with pool.acquire():
            tasks = await waiting(pool, 3)
            pool.record_outage(StoreUnavailable(reason="it is silent"))
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(StoreUnavailable, match="silent"):
            await ask(pool)
        pool.record_reply()
        works = await ask(pool)

    assert [type(each) for each in ended] == [StoreUnavailable] * 3
    assert len(lost) == 1
    assert works


async def test_those_who_wait_for_too_long_are_refused(database: str) -> None:
    time = Time()
    async with open_pool(DatabaseAccess(url=database), size=1) as made:
        pool = GuardedPool(made, monotonic=time)
        async with pool.acquire():
            early = await waiting(pool, 1)
            time.seconds = CONNECTION_WAIT_MAX_S
            late = await waiting(pool, 1)
            pool.record_reply()
            with pytest.raises(StoreUnavailable, match="no connection was free"):
                await early[0]
        assert await late[0]


async def test_who_is_cancelled_while_waiting_is_cancelled(database: str) -> None:
    async with open_pool(DatabaseAccess(url=database), size=1) as made:
        pool = GuardedPool(made, monotonic=Time())
        async with pool.acquire():
            (task,) = await waiting(pool, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await ask(pool)


async def test_a_connect_that_fails_refuses_everybody_until_the_database_answers() -> None:
    nowhere = DatabaseAccess(url="postgresql://rota@127.0.0.1:1/rota")
    checks: list[bool] = []
    async with open_pool(nowhere, size=1) as made:
        pool = GuardedPool(made, monotonic=Time())
        pool.check = lambda: checks.append(True)

        with pytest.raises(StoreUnavailable):
            await ask(pool)
        # The task that found out goes on: it was refused, not cancelled.
        turn = asyncio.Event()
        asyncio.get_running_loop().call_soon(turn.set)
        await turn.wait()

        assert pool.is_unreachable
        with pytest.raises(StoreUnavailable):
            await ask(pool)

    assert checks == [True]

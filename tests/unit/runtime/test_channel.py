"""Bounded hand-over between two steps."""

import asyncio
from datetime import timedelta

import pytest

from rota.runtime.channel import BoundedChannel
from rota.runtime.clock import MovedClock

NOW = timedelta()
LINGER = timedelta(milliseconds=20)


async def test_items_are_taken_in_order_and_in_batches(clock: MovedClock):
    channel = BoundedChannel[int](room=10, clock=clock)
    for item in range(5):
        await channel.put(item)

    assert await channel.take(3) == [0, 1, 2]
    assert await channel.take(3) == [3, 4]
    assert len(channel) == 0


async def test_a_giver_waits_while_the_channel_is_full(clock: MovedClock):
    channel, given = BoundedChannel[int](room=2, clock=clock), list[int]()

    async def give() -> None:
        for item in range(5):
            await channel.put(item)
            given.append(item)

    async with asyncio.TaskGroup() as group:
        group.create_task(give())
        await clock.advance(NOW)
        assert given == [0, 1]

        assert await channel.take(1) == [0]
        await clock.advance(NOW)
        assert given == [0, 1, 2]

        assert await channel.take(9) == [1, 2]
        assert await channel.take(9) == [3, 4]


async def test_a_taker_waits_for_the_first_item_and_does_not_linger_unasked(clock: MovedClock):
    channel = BoundedChannel[str](room=10, clock=clock)

    async with asyncio.TaskGroup() as group:
        taken = group.create_task(channel.take(10))
        await clock.advance(NOW)
        assert not taken.done()
        await channel.put("a")

    assert taken.result() == ["a"]


async def test_a_lingering_taker_gets_what_comes_meanwhile(clock: MovedClock):
    channel = BoundedChannel[str](room=10, clock=clock)
    await channel.put("a")

    async with asyncio.TaskGroup() as group:
        taken = group.create_task(channel.take(10, linger=LINGER))
        await clock.advance(LINGER / 2)
        await channel.put("b")
        await clock.advance(LINGER / 4)
        assert not taken.done()
        await clock.advance(LINGER / 4)

    assert taken.result() == ["a", "b"]


@pytest.mark.parametrize("most", [3, 100])
async def test_lingering_ends_when_the_batch_or_the_channel_is_full(clock: MovedClock, most: int):
    channel = BoundedChannel[int](room=3, clock=clock)

    async with asyncio.TaskGroup() as group:
        taken = group.create_task(channel.take(most, linger=LINGER))
        for item in range(3):
            await channel.put(item)

    assert taken.result() == [0, 1, 2]
    assert clock.monotonic() == 0


async def test_closing_lets_the_rest_be_taken_and_then_yields_nothing(clock: MovedClock):
    channel = BoundedChannel[str](room=10, clock=clock)
    await channel.put("a")

    channel.close()

    assert await channel.take(10, linger=LINGER) == ["a"]
    assert await channel.take(10, linger=LINGER) == []
    assert clock.monotonic() == 0


async def test_closing_wakes_takers_and_refuses_waiting_givers(clock: MovedClock):
    empty, full = BoundedChannel[str](room=1, clock=clock), BoundedChannel[str](room=1, clock=clock)
    await full.put("a")

    async with asyncio.TaskGroup() as group:
        taken = group.create_task(empty.take(1))
        refused = group.create_task(refusal(full))
        await clock.advance(NOW)
        empty.close()
        full.close()

    assert taken.result() == []
    assert "closed" in refused.result()


async def refusal(channel: BoundedChannel[str]) -> str:
    with pytest.raises(RuntimeError) as raised:
        await channel.put("b")
    return str(raised.value)


async def test_a_cancelled_taker_takes_nothing_along(clock: MovedClock):
    channel = BoundedChannel[str](room=10, clock=clock)

    async with asyncio.TaskGroup() as group:
        taken = group.create_task(channel.take(10, linger=LINGER))
        await channel.put("a")
        await clock.advance(LINGER / 2)
        taken.cancel()

    assert taken.cancelled()
    assert await channel.take(10) == ["a"]


async def test_many_givers_and_takers_lose_and_double_nothing(clock: MovedClock):
    channel, taken = BoundedChannel[int](room=7, clock=clock), list[int]()

    async def give(start: int) -> None:
        for item in range(start, start + 100):
            await channel.put(item)

    async def take(most: int) -> None:
        while batch := await channel.take(most, linger=LINGER):
            taken.extend(batch)

    async with asyncio.TaskGroup() as group:
        for most in (1, 5, 50):
            group.create_task(take(most))
        async with asyncio.TaskGroup() as givers:
            for start in range(0, 1000, 100):
                givers.create_task(give(start))
            givers.create_task(clock.advance(timedelta(seconds=30)))
        channel.close()

    assert sorted(taken) == list(range(1000))


async def test_a_taker_that_lingers_while_another_is_quicker_goes_on_waiting(clock: MovedClock):
    channel = BoundedChannel[str](room=10, clock=clock)
    await channel.put("a")

    async with asyncio.TaskGroup() as group:
        slow = group.create_task(channel.take(10, linger=LINGER))
        await clock.advance(LINGER / 2)
        assert await channel.take(10) == ["a"]
        await clock.advance(LINGER)
        assert not slow.done()
        await channel.put("b")

    assert slow.result() == ["b"]


def test_a_channel_without_room_is_refused(clock: MovedClock):
    with pytest.raises(ValueError, match="at least 1"):
        BoundedChannel[str](room=0, clock=clock)

"""The real clock and the moved one. Proves the movable clock of I3."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.support.moved_clock import MovedClock

from rota.runtime.clock import SystemClock

SECOND = timedelta(seconds=1)


async def test_sleepers_wake_in_the_order_of_their_time_then_of_their_arrival(clock: MovedClock):
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        for name, seconds in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("b3", 2.0)]:
            group.create_task(sleeper(name, seconds))
        await clock.advance(3 * SECOND)

    assert woken == [("a", 1), ("b1", 2), ("b2", 2), ("b3", 2), ("c", 3)]


async def test_a_sleeper_that_sleeps_again_is_woken_at_the_exact_time(clock: MovedClock):
    times: list[float] = []

    async def beat() -> None:
        while len(times) < 10:
            await clock.sleep(0.1)
            times.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(beat())
        await clock.advance(SECOND)

    assert times == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


async def test_nobody_wakes_before_the_time(clock: MovedClock):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(clock.sleep(1))
        await clock.advance(timedelta(microseconds=999_999))
        assert not task.done()
        await clock.advance(timedelta(microseconds=1))

    assert clock.monotonic() == 1


async def test_both_clocks_move_together_but_a_step_moves_only_the_wall(clock: MovedClock):
    start = clock.now()

    await clock.advance(timedelta(minutes=5))
    clock.step(timedelta(hours=-2))

    assert clock.monotonic() == 300
    assert clock.now() == start + timedelta(minutes=5) - timedelta(hours=2)


async def test_a_silenced_alarm_does_not_ring_and_leaves_nothing_behind(clock: MovedClock):
    rung: list[str] = []
    silence = clock.alarm(1, lambda: rung.append("first"))
    clock.alarm(1, lambda: rung.append("second"))

    silence()
    await clock.advance(2 * SECOND)

    assert rung == ["second"]
    assert not clock._alarms
    assert not clock._rings


async def test_a_cancelled_sleeper_is_forgotten(clock: MovedClock):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(clock.sleep(1))
        await clock.advance(timedelta())
        task.cancel()

    assert task.cancelled()
    assert not clock._rings


async def test_an_alarm_for_no_time_at_all_waits_for_the_next_microsecond(clock: MovedClock):
    """Otherwise whoever waits for the rest of a rounding error would ring for ever."""
    rung: list[float] = []

    def ring() -> None:
        rung.append(clock.monotonic())
        clock.alarm(1e-12, ring)

    clock.alarm(1e-12, ring)
    await clock.advance(timedelta(microseconds=3))

    assert rung == [1e-06, 2e-06, 3e-06]


async def test_moved_time_does_not_go_back(clock: MovedClock):
    with pytest.raises(ValueError, match="must not be negative"):
        await clock.advance(-SECOND)


def test_a_naive_start_is_refused():
    with pytest.raises(ValueError, match="aware"):
        MovedClock(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


def test_a_start_in_another_zone_is_read_as_the_same_instant_in_utc():
    start = datetime(2026, 1, 1, 2, 0, tzinfo=timezone(timedelta(hours=2)))

    clock = MovedClock(start)

    assert clock.now() == start
    assert clock.now().tzinfo is UTC


async def test_the_system_clock_tells_utc_and_its_monotonic_time_passes():
    clock = SystemClock()
    before = clock.monotonic()

    await clock.sleep(0.001)

    assert clock.monotonic() - before >= 0.001
    assert clock.now().tzinfo is UTC


async def test_an_alarm_of_the_system_clock_rings_unless_silenced():
    clock, rung, done = SystemClock(), list[str](), asyncio.Event()
    silence = clock.alarm(0.001, lambda: rung.append("silenced"))
    clock.alarm(0.002, lambda: rung.append("heard"))
    clock.alarm(0.003, done.set)

    silence()
    async with asyncio.timeout(5):
        await done.wait()

    assert rung == ["heard"]

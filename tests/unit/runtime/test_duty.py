"""The loop around a tick. Proves the loop's part of E15 (drain), P7 and F06, F43, F48."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from tests.support.moved_clock import MovedClock

from rota.core.errors import StoreUnavailable
from rota.runtime.events import DatabaseLost, DatabaseRecovered
from rota.runtime.service import Duty, Halt, Pulse, ServiceContext

SECOND = timedelta(seconds=1)


@asynccontextmanager
async def running(
    tick: Callable[[], Awaitable[float]], ground: ServiceContext, pulse: Pulse | None = None
) -> AsyncIterator[None]:
    stop = Halt()
    async with asyncio.TaskGroup() as group:
        group.create_task(Duty("test", tick, pulse or Pulse(), ground).run(stop))
        yield
        stop.set()


class Ticking:
    """Notes when it is called; rests, or raises, as it is told."""

    def __init__(self, clock: MovedClock, *answers: float | Exception, rest: float = 5.0) -> None:
        self.clock = clock
        self.answers = list(answers)
        self.rest = rest
        self.times: list[float] = []

    async def __call__(self) -> float:
        self.times.append(self.clock.monotonic())
        answer = self.answers.pop(0) if self.answers else self.rest
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_a_duty_rests_as_long_as_its_tick_asks(clock: MovedClock, ground: ServiceContext):
    tick = Ticking(clock, 0.25, 3, rest=7.5)

    async with running(tick, ground):
        await clock.advance(20 * SECOND)

    assert tick.times == [0, 0.25, 3.25, 10.75, 18.25]


async def test_a_long_rest_is_waited_for_in_slices_of_a_second_at_most(ground: ServiceContext):
    """F06: no wait in a loop is longer than 1 s."""

    class Noting(MovedClock):
        waits: list[float]

        def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
            self.waits.append(seconds)
            return super().alarm(seconds, ring)

    clock = Noting(ground.clock.now())
    clock.waits = []
    tick = Ticking(clock, rest=2.5)
    noting = ServiceContext(clock=clock, emit=ground.emit, rng=ground.rng, watchdog=ground.watchdog)

    async with running(tick, noting):
        await clock.advance(2.4 * SECOND)

    assert clock.waits == [1, 1, 0.5]
    assert tick.times == [0]


async def test_setting_the_wall_clock_back_does_not_lengthen_a_rest(
    clock: MovedClock, ground: ServiceContext
):
    """F06: a backward step of the clock must not freeze the loop."""
    tick = Ticking(clock, rest=3)

    async with running(tick, ground):
        await clock.advance(SECOND)
        clock.step(timedelta(hours=-2))
        await clock.advance(2 * SECOND)

    assert tick.times == [0, 3]


async def test_any_number_of_wake_ups_during_a_rest_cause_one_pass(
    clock: MovedClock, ground: ServiceContext
):
    tick, pulse = Ticking(clock), Pulse()

    async with running(tick, ground, pulse):
        await clock.advance(SECOND)
        for _ in range(100):
            pulse.wake()
        await clock.advance(SECOND)

    assert tick.times == [0, 1]


async def test_wake_ups_during_a_pass_cause_exactly_one_more(
    clock: MovedClock, ground: ServiceContext
):
    pulse, passes = Pulse(), 0

    async def tick() -> float:
        nonlocal passes
        passes += 1
        if passes == 1:
            pulse.wake()
            pulse.wake()
        return 60

    async with running(tick, ground, pulse):
        await clock.advance(SECOND)

    assert passes == 2


async def test_a_duty_that_never_rests_lets_others_have_their_turn(
    clock: MovedClock, ground: ServiceContext
):
    passes = 0

    async def tick() -> float:
        nonlocal passes
        passes += 1
        return 0

    async with running(tick, ground):
        await clock.sleep(0)
        await clock.sleep(0)

    assert passes > 0


async def test_a_resting_duty_stops_as_soon_as_it_is_told(
    clock: MovedClock, ground: ServiceContext
):
    tick, stop = Ticking(clock, rest=3600), Halt()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(Duty("test", tick, Pulse(), ground).run(stop))
        await clock.advance(SECOND)
        assert not task.done()
        stop.set()

    assert clock.monotonic() == 1
    assert tick.times == [0]


async def test_an_absent_database_is_waited_for_with_growing_jittered_pauses(
    clock: MovedClock, ground: ServiceContext, heard: list[object]
):
    """F48: reconnect with jitter from 0.1 to 2 s."""
    tick = Ticking(clock, *[StoreUnavailable("gone") for _ in range(12)])

    async with running(tick, ground):
        await clock.advance(24 * SECOND)

    away = [event for event in heard if isinstance(event, DatabaseLost)]
    assert [event.failures for event in away] == list(range(1, 13))
    assert {(event.duty, event.reason) for event in away} == {("test", "gone")}
    pauses = [event.pause.total_seconds() for event in away]
    assert all(0.1 <= pause <= 2 for pause in pauses)
    assert pauses[0] <= 0.2
    assert max(pauses) > 1
    assert len(set(pauses)) == 12
    waited = [after - before for before, after in zip(tick.times, tick.times[1:], strict=False)]
    assert waited[:12] == pytest.approx(pauses, abs=1e-5)


async def test_the_pauses_start_small_again_after_a_success(
    clock: MovedClock, ground: ServiceContext, heard: list[object]
):
    away = StoreUnavailable("gone")
    tick = Ticking(clock, away, away, away, away, 1.0, away)

    async with running(tick, ground):
        await clock.advance(12 * SECOND)

    assert heard[4] == DatabaseRecovered(duty="test", failures=4)
    again = heard[5]
    assert isinstance(again, DatabaseLost)
    assert again.failures == 1
    assert again.pause <= 0.2 * SECOND
    assert heard[6] == DatabaseRecovered(duty="test", failures=1)


async def test_a_wake_up_does_not_cut_the_wait_for_the_database_short(
    clock: MovedClock, ground: ServiceContext, heard: list[object]
):
    pulse = Pulse()
    tick = Ticking(clock, StoreUnavailable("gone"), rest=60)

    async with running(tick, ground, pulse):
        await clock.advance(timedelta(milliseconds=50))
        pulse.wake()
        await clock.advance(timedelta(milliseconds=40))
        early = len(tick.times)
        await clock.advance(SECOND)

    assert early == 1
    assert len(tick.times) == 2, "the pass after the pause answers the wake-up"


async def test_a_duty_stops_even_while_the_database_is_away(
    clock: MovedClock, ground: ServiceContext
):
    tick, stop = Ticking(clock, StoreUnavailable("gone")), Halt()

    async with asyncio.TaskGroup() as group:
        group.create_task(Duty("test", tick, Pulse(), ground).run(stop))
        await clock.advance(timedelta())
        stop.set()

    assert tick.times == [0]
    assert clock.monotonic() == 0


async def test_an_absent_database_is_recognised_inside_nested_groups(
    clock: MovedClock, ground: ServiceContext, heard: list[object]
):
    nested = ExceptionGroup("outer", [ExceptionGroup("inner", [StoreUnavailable("cut")])])
    tick = Ticking(clock, nested)

    async with running(tick, ground):
        await clock.advance(SECOND)

    assert isinstance(heard[0], DatabaseLost)
    assert heard[0].reason == "cut"
    assert isinstance(heard[1], DatabaseRecovered)


async def test_another_error_beside_an_absent_database_is_not_hidden(
    clock: MovedClock, ground: ServiceContext
):
    tick = Ticking(clock, ExceptionGroup("both", [StoreUnavailable("cut"), KeyError("bug")]))

    with pytest.raises(ExceptionGroup) as raised:
        await Duty("test", tick, Pulse(), ground).run(Halt())

    assert raised.value.subgroup(KeyError) is not None
    assert raised.value.subgroup(StoreUnavailable) is None


async def test_any_other_error_leaves_the_duty_as_it_was_raised(
    clock: MovedClock, ground: ServiceContext
):
    with pytest.raises(ZeroDivisionError, match="bug"):
        await Duty("test", Ticking(clock, ZeroDivisionError("bug")), Pulse(), ground).run(Halt())


async def test_a_cancelled_duty_is_cancelled(clock: MovedClock, ground: ServiceContext):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Duty("test", Ticking(clock), Pulse(), ground).run(Halt()))
        await clock.advance(SECOND)
        task.cancel()

    assert task.cancelled()

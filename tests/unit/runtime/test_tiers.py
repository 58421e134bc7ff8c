"""Starting, draining and failing of a whole node. Proves the runtime's part of E15 and P7."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

import pytest
from tests.support.moved_clock import MovedClock

from rota.core.errors import LeaseLost
from rota.runtime import service
from rota.runtime.events import ProcessDraining, ServiceCancelled, ServiceFailed
from rota.runtime.service import Halt, ProcessEnding, ServiceContext, Stop, Tier, run_tiers
from rota.runtime.watchdog import Watchdog

GRACE = timedelta(seconds=10)


class Obedient:
    """Ends when it is told to, after `busy` seconds."""

    def __init__(self, name: str, diary: list[str], clock: MovedClock, busy: float = 0) -> None:
        self.name = name
        self.diary = diary
        self.clock = clock
        self.busy = busy

    async def run(self, stop: Halt) -> None:
        self.diary.append(f"{self.name} starts")
        try:
            await stop.wait()
            self.diary.append(f"{self.name} is told")
            await self.clock.sleep(self.busy)
            self.diary.append(f"{self.name} ends")
        except asyncio.CancelledError:
            self.diary.append(f"{self.name} is cancelled")
            raise


class Doing:
    """A service made of one function."""

    def __init__(self, name: str, run: Callable[[Halt], Awaitable[None]]) -> None:
        self.name = name
        self.run = run


@pytest.fixture
def diary() -> list[str]:
    return []


async def test_tiers_start_together_and_drain_in_order(
    clock: MovedClock, ground: ServiceContext, diary: list[str], heard: list[object]
):
    """E15: claiming stops before running, running before recording, vouching last."""
    stop = Stop()
    node = [
        Tier([Obedient("claim", diary, clock, 1)], grace=GRACE),
        Tier([Obedient("run", diary, clock, 5)], grace=GRACE),
        Tier([Obedient("vouch", diary, clock)], grace=GRACE),
    ]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, stop, ground))
        await clock.advance(timedelta(hours=1))
        started = list(diary)
        stop.request()
        await clock.advance(timedelta(seconds=6))

    assert started == ["claim starts", "run starts", "vouch starts"]
    assert diary[3:] == [
        *("claim is told", "claim ends"),
        *("run is told", "run ends"),
        *("vouch is told", "vouch ends"),
    ]
    assert ending.result() == ProcessEnding(failures=(), cancelled=(), is_forced=False)
    assert ending.result().exit_code == 0
    assert heard == [ProcessDraining()]


async def test_a_service_that_outlives_its_grace_is_cancelled_and_the_next_tier_follows(
    clock: MovedClock, ground: ServiceContext, diary: list[str], heard: list[object]
):
    stop = Stop()
    slow, quick = Obedient("slow", diary, clock, 3600), Obedient("quick", diary, clock)
    node = [Tier([slow, quick], grace=GRACE), Tier([Obedient("last", diary, clock)], grace=GRACE)]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, stop, ground))
        stop.request()
        await clock.advance(timedelta(seconds=9.9))
        waiting = list(diary)
        await clock.advance(timedelta(seconds=0.2))

    assert waiting[-1] == "quick ends"
    assert diary[-3:] == ["slow is cancelled", "last is told", "last ends"]
    assert ending.result() == ProcessEnding(failures=(), cancelled=("slow",), is_forced=False)
    assert ending.result().exit_code == 0
    assert heard == [ProcessDraining(), ServiceCancelled(service="slow")]


async def test_a_crash_drains_the_whole_node_and_is_reported(
    clock: MovedClock, ground: ServiceContext, diary: list[str], heard: list[object]
):
    bug = ZeroDivisionError("bug")

    async def crash(_: Halt) -> None:
        await clock.sleep(1)
        raise bug

    node = [
        Tier([Obedient("claim", diary, clock, 1)], grace=GRACE),
        Tier([Doing("crash", crash), Obedient("vouch", diary, clock)], grace=GRACE),
    ]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, Stop(), ground))
        await clock.advance(timedelta(seconds=3))

    assert diary[2:] == ["claim is told", "claim ends", "vouch is told", "vouch ends"]
    failure = ServiceFailed(service="crash", error=bug)
    assert ending.result() == ProcessEnding(failures=(failure,), cancelled=(), is_forced=False)
    assert ending.result().exit_code == 1
    assert heard == [failure, ProcessDraining()]


async def test_a_service_that_ends_before_it_was_told_to_has_failed(
    clock: MovedClock, ground: ServiceContext, diary: list[str]
):
    async def give_up(_: Halt) -> None:
        await clock.sleep(1)

    node = [Tier([Doing("shy", give_up), Obedient("other", diary, clock)], grace=GRACE)]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, Stop(), ground))
        await clock.advance(timedelta(seconds=1))

    assert diary[-1] == "other ends"
    assert ending.result().failures == (ServiceFailed(service="shy", error=None),)
    assert ending.result().exit_code == 1


async def test_a_service_cancelled_from_within_does_not_leave_half_a_node_behind(
    clock: MovedClock, ground: ServiceContext, diary: list[str]
):
    async def cancel_itself(_: Halt) -> None:
        raise asyncio.CancelledError

    node = [Tier([Doing("odd", cancel_itself), Obedient("other", diary, clock)], grace=GRACE)]

    ending = await run_tiers(node, Stop(), ground)

    assert diary[-1] == "other ends"
    assert ending.failures == (ServiceFailed(service="odd", error=None),)


async def test_a_failure_during_the_drain_is_reported_too(
    clock: MovedClock, ground: ServiceContext
):
    stop, bug = Stop(), RuntimeError("bug")

    async def fail_at_the_end(told: Halt) -> None:
        await told.wait()
        raise bug

    stop.request()
    ending = await run_tiers([Tier([Doing("late", fail_at_the_end)], grace=GRACE)], stop, ground)

    assert ending.failures == (ServiceFailed(service="late", error=bug),)
    assert ending.exit_code == 1


async def test_the_second_request_cancels_the_tiers_in_order_without_grace(
    clock: MovedClock, ground: ServiceContext, diary: list[str]
):
    """E15: the first signal drains, the second cancels."""
    stop = Stop()
    node = [
        Tier([Obedient("run", diary, clock, 60)], grace=timedelta(hours=1)),
        Tier([Obedient("vouch", diary, clock, 60)], grace=timedelta(hours=1)),
    ]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, stop, ground))
        await clock.advance(timedelta(seconds=1))
        stop.request()
        await clock.advance(timedelta(seconds=1))
        stop.request()

    assert clock.monotonic() == 2
    assert diary[2:4] == ["run is told", "run is cancelled"]
    assert ending.result().cancelled == ("run", "vouch")
    assert ending.result().is_forced
    assert ending.result().exit_code == 1


@pytest.mark.parametrize("grouped", [False, True])
async def test_a_lost_lease_cancels_everything_at_once(
    clock: MovedClock, ground: ServiceContext, diary: list[str], grouped: bool
):
    """E3: once others may own the work, going on with it is worse than dropping it."""
    lost: Exception = LeaseLost("session", "s1")
    if grouped:
        lost = ExceptionGroup("beats", [lost])

    async def beat(_: Halt) -> None:
        await clock.sleep(7)
        raise lost

    node = [
        Tier([Obedient("run", diary, clock, 60)], grace=timedelta(hours=1)),
        Tier([Doing("beat", beat)], grace=GRACE),
    ]

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run_tiers(node, Stop(), ground))
        await clock.advance(timedelta(seconds=7))

    assert clock.monotonic() == 7
    assert ending.result().cancelled == ("run",)
    assert ending.result().failures == (ServiceFailed(service="beat", error=lost),)
    assert ending.result().exit_code == 1


async def test_cancelling_the_caller_cancels_every_service_and_goes_on_upwards(
    clock: MovedClock, ground: ServiceContext, diary: list[str]
):
    node = [
        Tier([Obedient("claim", diary, clock)], grace=GRACE),
        Tier([Obedient("vouch", diary, clock)], grace=GRACE),
    ]

    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_tiers(node, Stop(), ground))
        await clock.advance(timedelta(seconds=1))
        task.cancel()

    assert task.cancelled()
    assert sorted(diary[2:]) == ["claim is cancelled", "vouch is cancelled"]


async def test_cancelling_the_caller_during_the_drain_ends_it(
    clock: MovedClock, ground: ServiceContext, diary: list[str]
):
    stop = Stop()
    node = [
        Tier([Obedient("run", diary, clock, 60)], grace=timedelta(hours=1)),
        Tier([Obedient("vouch", diary, clock)], grace=GRACE),
    ]

    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_tiers(node, stop, ground))
        await clock.advance(timedelta(seconds=1))
        stop.request()
        await clock.advance(timedelta(seconds=1))
        task.cancel()

    assert task.cancelled()
    assert sorted(diary[-2:]) == ["run is cancelled", "vouch is cancelled"]


async def test_a_service_that_ignores_its_cancellation_meets_the_watchdog(
    clock: MovedClock, heard: list[object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(service, "DRAIN_MARGIN", timedelta(milliseconds=50))
    loop, released, codes = asyncio.get_running_loop(), asyncio.Event(), list[int]()

    def end(code: int) -> None:
        codes.append(code)
        loop.call_soon_threadsafe(released.set)

    stop = Stop()

    async def stubborn(_: Halt) -> None:
        stop.force()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    with Watchdog(interval=timedelta(milliseconds=5), end_process=end) as watchdog:
        ground = ServiceContext(clock=clock, emit=heard.append, rng=Random(1), watchdog=watchdog)
        await run_tiers([Tier([Doing("stubborn", stubborn)], grace=timedelta())], stop, ground)

    assert codes == [70]

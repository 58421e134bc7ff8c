"""Computations of requests run beside the event loop, within bounds (P8)."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rota.core.errors import ComputationTooLong, Overloaded, RateLimitExceeded
from rota.runtime.off_loop import (
    OFF_LOOP_THREADS,
    PER_CALLER_MAX,
    WAITING_MAX,
    CheckCallback,
    OffLoop,
)


class Gate:
    """A computation that goes on until it is let go."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Event()

    def __call__(self, check: CheckCallback) -> str:
        self.begun.set()
        while not self.open.wait(0.001):
            check()
        return "done"


async def begun(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.begun.wait, 30)


def busy(check: CheckCallback) -> None:
    while True:
        check()


async def test_the_loop_goes_on_while_something_is_computed() -> None:
    off_loop, gate = OffLoop(), Gate()
    computing = asyncio.create_task(off_loop.run("one", gate))
    await begun(gate)

    # The loop is here, and the computation is not done.
    assert not computing.done()
    gate.open.set()
    assert await computing == "done"


async def test_an_error_of_a_computation_is_raised_where_it_is_awaited() -> None:
    def broken(_: CheckCallback) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await OffLoop().run("one", broken)


async def test_a_computation_that_takes_too_long_is_ended_and_says_what_to_do() -> None:
    with pytest.raises(ComputationTooLong, match=r"needs more than 0\.05 s of processor time"):
        await OffLoop(cpu_limit_s=0.05).run("one", busy)


async def test_a_caller_may_have_a_few_under_way_and_others_still_get_a_thread() -> None:
    off_loop = OffLoop()
    gates = [Gate() for _ in range(PER_CALLER_MAX)]
    mine = [asyncio.create_task(off_loop.run("greedy", gate)) for gate in gates]
    await begun(gates[0])

    with pytest.raises(RateLimitExceeded) as refused:
        await off_loop.run("greedy", lambda _: None)
    assert refused.value.retry_after >= 1
    # The greedy one has one thread, whatever waits.
    assert await off_loop.run("modest", lambda _: "answer") == "answer"
    assert not gates[1].begun.is_set()
    for gate in gates:
        gate.open.set()
    assert await asyncio.gather(*mine) == ["done"] * PER_CALLER_MAX


async def test_more_than_may_wait_are_sent_away() -> None:
    off_loop = OffLoop()
    gates = [Gate() for _ in range(OFF_LOOP_THREADS + WAITING_MAX)]
    waiting = [
        asyncio.create_task(off_loop.run(f"caller {place}", gate))
        for place, gate in enumerate(gates)
    ]
    await begun(gates[OFF_LOOP_THREADS - 1])

    with pytest.raises(Overloaded):
        await off_loop.run("another", lambda _: None)
    for gate in gates:
        gate.open.set()
    await asyncio.gather(*waiting)
    assert await off_loop.run("another", lambda _: "now") == "now"


async def test_a_computation_that_nobody_waits_for_ends() -> None:
    off_loop, ended = OffLoop(), threading.Event()

    def watched(compute: Callable[[CheckCallback], Any]) -> Callable[[CheckCallback], Any]:
        def computing(check: CheckCallback) -> Any:
            try:
                return compute(check)
            finally:
                ended.set()

        return computing

    gate = Gate()
    task = asyncio.create_task(off_loop.run("one", watched(gate)))
    await begun(gate)
    task.cancel()

    assert await asyncio.to_thread(ended.wait, 30)
    assert await off_loop.run("one", lambda _: "next") == "next"


async def test_what_is_under_way_ends_when_it_is_closed() -> None:
    off_loop, gate = OffLoop(), Gate()
    task = asyncio.create_task(off_loop.run("one", gate))
    await begun(gate)

    off_loop.close()

    with pytest.raises(BaseException):  # noqa: B017, PT011 — abandoned, or cancelled
        await asyncio.wait_for(task, 30)

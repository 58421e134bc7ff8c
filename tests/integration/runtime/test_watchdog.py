"""The watchdog against real processes and sockets that stand still. Proves F22 and F55 (P7, O3)."""

import asyncio
import re
import socket
from datetime import timedelta

from tests.integration.runtime.conftest import DEADLINE, Start

from rota.runtime.watchdog import Watchdog

INTERVAL = timedelta(milliseconds=10)

NODE = """
    stop = Stop()

    async def main(tick, **limits):
        limits = {name: timedelta(seconds=seconds) for name, seconds in limits.items()}
        with Watchdog(interval=timedelta(seconds=0.02), **limits) as watchdog:
            context = ServiceContext(
                clock=SystemClock(), emit=lambda event: None, rng=Random(1), watchdog=watchdog
            )
            duty = Duty("firing", tick, Pulse(), context)
            await run_tiers([Tier([duty], grace=timedelta(minutes=1))], stop, context)
"""
BLOCKED_LOOP = """
    async def block_the_loop():
        time.sleep(600)

    asyncio.run(main(block_the_loop, limit=0.3))
"""
WAITS_FOR_EVER = """
    async def the_answer_that_never_comes():
        await asyncio.Event().wait()

    async def tick():
        await the_answer_that_never_comes()

    asyncio.run(main(tick, limit=0.3))
"""
KEEPS_THE_LOCK = """
    async def tick():
        re.match("(a+)+$", "a" * 64 + "b")

    asyncio.run(main(tick, limit=600, backstop=0.5))
"""
BROKEN_CLOSER = """
    async def broken_closer():
        with Watchdog(interval=timedelta(seconds=0.02)) as watchdog:
            with watchdog.guard("query", timedelta(seconds=0.1), lambda: 1 / 0):
                await asyncio.Event().wait()

    asyncio.run(broken_closer())
"""
RESTS = """
    passes = 0

    async def tick():
        global passes
        passes += 1
        if passes == 2:
            say("rested")
            stop.request()
        return 1.5

    asyncio.run(main(tick, limit=1.2))
"""


def test_a_process_whose_loop_is_blocked_ends_with_70_and_says_where(start: Start):
    process = start(NODE + BLOCKED_LOOP)

    _, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 70
    assert re.search(r"rota: (firing|the event loop) made no progress for 0\.\d s; ending", err)
    assert re.search(r'program\.py", line \d+ in block_the_loop', err)


def test_a_duty_that_waits_for_ever_ends_its_process_though_the_loop_is_free(start: Start):
    process = start(NODE + WAITS_FOR_EVER)

    _, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 70
    assert "rota: firing made no progress" in err
    waits = err.split("It is waiting at")[1].split("Threads:")[0]
    assert re.findall(r" in (\w+)", waits)[-3:] == ["tick", "the_answer_that_never_comes", "wait"]


def test_a_process_whose_interpreter_is_locked_ends_too(start: Start):
    process = start(NODE + KEEPS_THE_LOCK)

    _, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 1
    assert "Timeout" in err
    assert " in tick" in err


def test_a_rest_longer_than_the_limit_is_not_a_standstill(start: Start):
    process = start(NODE + RESTS)

    out, err = process.communicate(timeout=DEADLINE)

    assert (out, err) == ("rested\n", "")
    assert process.returncode == 0


async def test_a_guard_shuts_a_silent_socket_down_so_that_its_reader_goes_on():
    """F55: the other end holds the connection and says nothing, as behind a proxy."""
    ours, theirs = socket.socketpair()
    with theirs, Watchdog(interval=INTERVAL) as watchdog:
        reader, writer = await asyncio.open_connection(sock=ours)

        with watchdog.guard(
            "query", timedelta(milliseconds=50), lambda: ours.shutdown(socket.SHUT_RDWR)
        ):
            async with asyncio.timeout(DEADLINE):
                answer = await reader.read(100)

        writer.close()
        await writer.wait_closed()

    assert answer == b""


async def test_a_guard_that_finds_its_socket_gone_does_not_hurt_the_watchdog():
    loop, called, codes = asyncio.get_running_loop(), asyncio.Event(), list[int]()
    gone = socket.socket()
    gone.close()

    def shut_down() -> None:
        loop.call_soon_threadsafe(called.set)
        gone.shutdown(socket.SHUT_RDWR)

    with Watchdog(interval=INTERVAL, end_process=codes.append) as watchdog:
        with watchdog.guard("query", timedelta(milliseconds=20), shut_down):
            async with asyncio.timeout(DEADLINE):
                await called.wait()
        alive = watchdog._thread.is_alive()

    assert alive
    assert codes == []


def test_a_watchdog_that_fails_does_not_leave_its_node_unwatched(start: Start):
    process = start(NODE + BROKEN_CLOSER)

    _, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 70
    assert "ZeroDivisionError" in err

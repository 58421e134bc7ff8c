"""Signals to real processes. Proves the runtime's part of E15 (graceful drain on SIGTERM)."""

import asyncio
import os
import signal

import pytest
from tests.integration.runtime.conftest import DEADLINE, Start

from rota.runtime.service import Stop
from rota.runtime.signals import SIGNALS, stop_on_signals

NODE = """
    class Slow:
        name = "slow"

        async def run(self, stop):
            say("running")
            await stop.wait()
            say("draining")
            try:
                await asyncio.wait_for(finish(), 600)
            except asyncio.CancelledError:
                say("cancelled")
                raise
            say("finished")

    class Vouching:
        name = "vouching"

        async def run(self, stop):
            await stop.wait()
            say("vouched to the end")

    async def main():
        stop = Stop()
        with stop_on_signals(stop), Watchdog() as watchdog:
            context = ServiceContext(
                clock=SystemClock(), emit=lambda event: None, rng=Random(1), watchdog=watchdog
            )
            minute = timedelta(minutes=1)
            tiers = [Tier([Slow()], grace=minute), Tier([Vouching()], grace=minute)]
            return (await run_tiers(tiers, stop, context)).exit_code

    sys.exit(asyncio.run(main()))
"""
FINISHES = """
    async def finish():
        await asyncio.sleep(0.01)
"""
NEVER_FINISHES = """
    async def finish():
        await asyncio.Event().wait()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_drains_and_the_process_exits_with_nought(
    start: Start, number: signal.Signals
):
    process = start(FINISHES + NODE)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"

    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)

    assert out.split("\n") == ["draining", "finished", "vouched to the end", ""]
    assert err == ""
    assert process.returncode == 0


@pytest.mark.parametrize("second", SIGNALS)
def test_the_second_signal_cancels_and_the_process_exits_with_one(
    start: Start, second: signal.Signals
):
    process = start(NEVER_FINISHES + NODE)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "draining\n"

    process.send_signal(second)
    out, err = process.communicate(timeout=DEADLINE)

    assert out.startswith("cancelled\n")
    assert err == ""
    assert process.returncode == 1


async def test_the_previous_handlers_are_back_afterwards():
    before = [signal.getsignal(each) for each in SIGNALS]
    stop = Stop()

    with stop_on_signals(stop):
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(DEADLINE):
            await stop.drain.wait()

    assert [signal.getsignal(each) for each in SIGNALS] == before
    assert not stop.cancel.is_set()

"""Turns SIGTERM and SIGINT into a Stop.

The first signal drains, the second cancels; more of them change nothing. Use it around `run_tiers`,
in the main thread; on exit the previous handlers are restored.

A server handles SIGINT even if it was started with SIGINT ignored, as a shell does in the
background: the signal is an operator's order to drain. Commands that only talk to a server leave an
ignored signal ignored.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rota.runtime.service import Stop

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """While inside, pass the signals of an operator or supervisor to `stop`."""
    loop = asyncio.get_running_loop()
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.request)
    try:
        yield
    finally:
        for number, handler in previous.items():
            loop.remove_signal_handler(number)
            # None means that Python did not install it, so it cannot be restored.
            if handler is not None:
                signal.signal(number, handler)

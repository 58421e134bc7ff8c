"""SIGTERM and SIGINT become a Stop. Room: runtime.

The first signal drains, the second cancels; more of them change nothing. Belongs around `run_node`,
in the main thread; outside it the previous handlers are back.

A server handles SIGINT even if it was started with SIGINT ignored, as a shell does in the
background: the signal is an operator's order to drain. Commands that only talk to a server leave an
ignored signal ignored.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rota.runtime.stop import Stop

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """While inside, hand the signals of an operator or supervisor to `stop`."""
    loop = asyncio.get_running_loop()
    previous = {each: signal.getsignal(each) for each in SIGNALS}
    for each in SIGNALS:
        loop.add_signal_handler(each, stop.request)
    try:
        yield
    finally:
        for each, handler in previous.items():
            loop.remove_signal_handler(each)
            # None means that it was not installed by Python; there is no way to put it back.
            if handler is not None:
                signal.signal(each, handler)

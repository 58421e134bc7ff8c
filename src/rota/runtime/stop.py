"""Signals services to stop.

Stopping is an event, cancelling the last resort: a service that is stopped finishes its pass and
returns; it is cancelled only if it exceeds its grace period or the operator insists.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from rota.runtime.pulse import Pulse


class Halt:
    """An event that is set once and never cleared, and that rings the pulses of resting duties."""

    __slots__ = ("_event", "_pulses")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._pulses: list[Pulse] = []

    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()
        for pulse in self._pulses:
            pulse.ring()

    async def wait(self) -> None:
        await self._event.wait()

    @contextmanager
    def ring_on_set(self, pulse: Pulse) -> Iterator[None]:
        """While inside, setting this also rings `pulse`."""
        self._pulses.append(pulse)
        try:
            yield
        finally:
            self._pulses.remove(pulse)


class Stop:
    """The two stages in which a process stops."""

    __slots__ = ("cancel", "drain")

    def __init__(self) -> None:
        self.drain = Halt()
        self.cancel = Halt()

    def request(self) -> None:
        """Drain on the first call, cancel on the second."""
        if self.drain.is_set():
            self.cancel.set()
        self.drain.set()

    def force(self) -> None:
        """Cancel at once, without draining."""
        self.cancel.set()
        self.drain.set()

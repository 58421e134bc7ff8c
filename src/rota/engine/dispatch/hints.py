"""Sends and receives hints between processes, so that they need not wait for a poll.

Polling guarantees progress; a hint only speeds it up. Hints are sent outside the transactions they
announce, over one connection per process, and are coalesced: the first at once, the next after
`HINT_INTERVAL_MIN_S` (F42). A listener that has lost its connection costs one poll interval: it
reconnects, and checks its connection regularly (F43).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rota.runtime.service import Pulse
from rota.store import hints
from rota.store.driver import Connection
from rota.store.pool import DedicatedConnection

HINT_INTERVAL_MIN_S: Final = 0.005
HINT_CHECK_INTERVAL_S: Final = 5.0


@dataclass(slots=True, kw_only=True)
class HintSender:
    """Collects hints; its duty sends them."""

    line: DedicatedConnection
    pulse: Pulse
    _channels: set[str] = field(default_factory=set)

    def send_hint(self, channel: str) -> None:
        self._channels.add(channel)
        self.pulse.wake()

    async def tick(self) -> float:
        if not self._channels:
            return HINT_CHECK_INTERVAL_S
        async with self.line.acquire() as conn:
            channels, self._channels = self._channels, set()
            for channel in channels:
                await hints.send_hint(conn, channel)
        return HINT_INTERVAL_MIN_S


@dataclass(slots=True, kw_only=True)
class HintListener:
    """Receives hints and runs the callback of each channel."""

    line: DedicatedConnection
    callbacks: Mapping[str, Callable[[], object]]
    _listening_on: Connection | None = None

    async def tick(self) -> float:
        """Listen, or check that the connection is alive."""
        async with self.line.acquire() as conn:
            if conn is not self._listening_on:
                await hints.listen(conn, tuple(self.callbacks), self._receive)
                self._listening_on = conn
                # A poll finds what was announced before this listener connected.
                for wake in self.callbacks.values():
                    wake()
            await hints.check_connection(conn)
        return HINT_CHECK_INTERVAL_S

    def _receive(self, channel: str) -> None:
        wake = self.callbacks.get(channel)
        if wake is not None:
            wake()

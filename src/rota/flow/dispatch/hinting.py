"""Gives and hears hints between processes, so that nobody waits for a poll. Room: flow/dispatch.

Polling is the truth; a hint only makes it come sooner. Hints are given outside the transactions
they are about, by one connection per process, and run together: the first at once, the next not
before `GAP` has passed (F42). A listener that has fallen deaf costs a poll interval: it is opened
anew when its connection broke, and asked for a sign of life now and then (F43).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rota.runtime.pulse import Pulse
from rota.store import hints
from rota.store.driver import Connection
from rota.store.pool import Line

GAP: Final = 0.005
CHECK_EVERY: Final = 5.0


@dataclass(slots=True, kw_only=True)
class Hinting:
    """Collects what to hint at; its duty gives the hints."""

    line: Line
    pulse: Pulse
    _channels: set[str] = field(default_factory=set)

    def hint(self, channel: str) -> None:
        self._channels.add(channel)
        self.pulse.wake()

    async def tick(self) -> float:
        if not self._channels:
            return CHECK_EVERY
        async with self.line.acquire() as conn:
            channels, self._channels = self._channels, set()
            for channel in channels:
                await hints.give(conn, channel)
        return GAP


@dataclass(slots=True, kw_only=True)
class Listening:
    """Hears hints and calls whoever wants to know; `wakes` maps channels to calls."""

    line: Line
    wakes: Mapping[str, Callable[[], object]]
    _heard_by: Connection | None = None

    async def tick(self) -> float:
        """Listen, or see whether the connection still lives."""
        async with self.line.acquire() as conn:
            if conn is not self._heard_by:
                await hints.listen(conn, tuple(self.wakes), self._hear)
                self._heard_by = conn
                # What was hinted at before we listened is found by looking.
                for wake in self.wakes.values():
                    wake()
            await hints.check(conn)
        return CHECK_EVERY

    def _hear(self, channel: str) -> None:
        wake = self.wakes.get(channel)
        if wake is not None:
            wake()

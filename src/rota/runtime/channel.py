"""Bounded hand-over between two steps. Room: runtime.

The giver waits when the channel is full, which is how a slow step slows down the one before it. The
taker takes many at once, because the database likes batches. The room node puts a channel between
two steps; neither knows the other.
"""

import asyncio
from collections import deque
from datetime import timedelta
from typing import Generic, TypeVar

from rota.runtime.clock import AlarmClock

T = TypeVar("T")

AT_ONCE = timedelta()


class Channel(Generic[T]):
    """First in, first out, at most `room` waiting; safe for many givers and takers."""

    def __init__(self, *, room: int, clock: AlarmClock) -> None:
        if room < 1:
            raise ValueError("a channel needs room for one item at least")
        self._room = room
        self._clock = clock
        self._items: deque[T] = deque()
        self._closed = False
        # Both events wake everybody who waits, and each looks again. A wake-up for exactly one
        # would be lost with a waiter that is cancelled at that moment.
        self._arrived = asyncio.Event()
        self._freed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: T) -> None:
        """Hand `item` over; wait while the channel is full."""
        while len(self._items) >= self._room and not self._closed:
            self._freed.clear()
            await self._freed.wait()
        if self._closed:
            # A mistake in a node's tiers, not something a caller could act on.
            raise RuntimeError("this channel is closed; its giver must stop before its taker")
        self._items.append(item)
        self._arrived.set()

    async def take(self, most: int, *, linger: timedelta = AT_ONCE) -> list[T]:
        """Wait for something; return up to `most` of it. Nothing means closed and empty.

        With `linger`, wait that much longer for the batch to fill up. A cancelled taker takes
        nothing along.
        """
        await self._wait_for_some()
        if linger:
            await self._fill_up(min(most, self._room), linger)
            await self._wait_for_some()  # another taker may have been quicker
        batch = [self._items.popleft() for _ in range(min(most, len(self._items)))]
        self._freed.set()
        return batch

    def close(self) -> None:
        """Nothing more comes: what waits can still be taken, and then takers get nothing."""
        self._closed = True
        self._arrived.set()
        self._freed.set()

    async def _wait_for_some(self) -> None:
        while not self._items and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()

    async def _fill_up(self, wanted: int, linger: timedelta) -> None:
        patience = Patience(self._arrived)
        silence = self._clock.alarm(linger.total_seconds(), patience.run_out)
        try:
            while len(self._items) < wanted and not (self._closed or patience.is_out):
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            silence()


class Patience:
    """Runs out once, and wakes who waits for `event`."""

    __slots__ = ("_event", "is_out")

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event
        self.is_out = False

    def run_out(self) -> None:
        self.is_out = True
        self._event.set()

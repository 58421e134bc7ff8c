"""Hands values over between two steps through a bounded queue.

The producer waits while the channel is full, so a slow step slows down the one before it. The
consumer takes many values at once, because the database works best in batches. The package
processes puts a channel between two steps; neither knows the other.
"""

import asyncio
from collections import deque
from datetime import timedelta
from typing import Generic, TypeVar

from rota.runtime.clock import AlarmClock

T = TypeVar("T")

NO_LINGER = timedelta()


class BoundedChannel(Generic[T]):
    """First in, first out, at most `room` waiting; safe for many producers and consumers."""

    def __init__(self, *, room: int, clock: AlarmClock) -> None:
        if room < 1:
            raise ValueError(f"channel room must be at least 1 (got {room})")
        self._room = room
        self._clock = clock
        self._items: deque[T] = deque()
        self._closed = False
        # Both events wake all waiters, and each checks again. A wake-up for exactly one would be
        # lost with a waiter that is cancelled at that moment.
        self._arrived = asyncio.Event()
        self._freed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: T) -> None:
        """Add `item`; wait while the channel is full."""
        while len(self._items) >= self._room and not self._closed:
            self._freed.clear()
            await self._freed.wait()
        if self._closed:
            # A mistake in the order of the tiers; a caller cannot handle it.
            raise RuntimeError("channel is closed; its producer must stop before its consumer")
        self._items.append(item)
        self._arrived.set()

    async def take(self, limit: int, *, linger: timedelta = NO_LINGER) -> list[T]:
        """Wait for items; return up to `limit`. An empty list means that the channel is closed.

        With `linger`, wait that much longer for the batch to fill up. A cancelled consumer takes no
        items.
        """
        await self._wait_for_some()
        if linger:
            await self._fill_up(min(limit, self._room), linger)
            await self._wait_for_some()  # another consumer may have been faster
        batch = [self._items.popleft() for _ in range(min(limit, len(self._items)))]
        self._freed.set()
        return batch

    def close(self) -> None:
        """Accept no more items: waiting items can still be taken, then consumers get none."""
        self._closed = True
        self._arrived.set()
        self._freed.set()

    async def _wait_for_some(self) -> None:
        while not self._items and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()

    async def _fill_up(self, wanted: int, linger: timedelta) -> None:
        patience = LingerTimer(self._arrived)
        cancel_alarm = self._clock.alarm(linger.total_seconds(), patience.expire)
        try:
            while len(self._items) < wanted and not (self._closed or patience.has_expired):
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            cancel_alarm()


class LingerTimer:
    """Times out once, and wakes the waiters of `event`."""

    __slots__ = ("_event", "has_expired")

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event
        self.has_expired = False

    def expire(self) -> None:
        self.has_expired = True
        self._event.set()

"""Wake-ups that coalesce. Room: runtime.

A pulse belongs to one duty. Whoever has news for it (a notification, a freed slot) calls `wake`,
as often as they like; all wake-ups before the next pass are answered by that pass. Losing one costs
a poll interval, never a run, because the duty polls anyway.

Like the rest of asyncio this is for the loop's own thread; from another one, hand `wake` to
`loop.call_soon_threadsafe`.
"""

import asyncio

from rota.runtime.clock import AlarmClock


class Pulse:
    __slots__ = ("_bell", "_pending")

    def __init__(self) -> None:
        self._bell = asyncio.Event()
        self._pending = False

    @property
    def pending(self) -> bool:
        """Has anybody called since the last pass began?"""
        return self._pending

    def wake(self) -> None:
        """Ask for another pass, now or right after the one that is under way."""
        self._pending = True
        self._bell.set()

    def ring(self) -> None:
        """Make the waiting duty look around, without asking for a pass."""
        self._bell.set()

    def answer(self) -> None:
        """A pass begins: it will see whatever the wake-ups so far were about."""
        self._pending = False

    async def wait(self, clock: AlarmClock, seconds: float) -> None:
        """Wait for the next call or ring, but no longer than `seconds`.

        The caller checks its conditions before and after. No call between its check and this wait
        is lost: there is no `await` in between, so nobody else can have run.
        """
        self._bell.clear()
        silence = clock.alarm(seconds, self._bell.set)
        try:
            await self._bell.wait()
        finally:
            silence()

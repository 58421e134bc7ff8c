"""Coalesces wake-ups of a duty.

A pulse belongs to one duty. Any code with news for it (a notification, a freed slot) calls `wake`,
as often as it likes; one pass handles all wake-ups before it. A lost wake-up costs a poll interval,
never a run, because the duty polls anyway.

Like the rest of asyncio this is for the loop's own thread; from another one, pass `wake` to
`loop.call_soon_threadsafe`.
"""

import asyncio

from rota.runtime.clock import AlarmClock


class Pulse:
    __slots__ = ("_event", "_pending")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._pending = False

    @property
    def is_pending(self) -> bool:
        """Whether `wake` was called since the last pass began."""
        return self._pending

    def wake(self) -> None:
        """Request another pass, now or right after the current one."""
        self._pending = True
        self._event.set()

    def ring(self) -> None:
        """Make the waiting duty check its conditions, without requesting a pass."""
        self._event.set()

    def begin_pass(self) -> None:
        """Start a pass, which covers all wake-ups so far."""
        self._pending = False

    async def wait(self, clock: AlarmClock, seconds: float) -> None:
        """Wait for the next call or ring, but no longer than `seconds`.

        The caller checks its conditions before and after. No call between its check and this wait
        is lost: there is no `await` in between, so no other task can have run.
        """
        self._event.clear()
        cancel_alarm = clock.alarm(seconds, self._event.set)
        try:
            await self._event.wait()
        finally:
            cancel_alarm()

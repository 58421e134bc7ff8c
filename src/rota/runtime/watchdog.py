"""Ends a process that stands still. Room: runtime.

A process that lives but does nothing is the worst kind of failure: its supervisor sees no reason to
restart it. So a thread outside the event loop watches everything that ought to move. Each watched
thing counts its own progress; the thread looks at the counts twice a second.

    watch        a duty: without progress for `limit`, report where every thread and the duty's
                 task stand, then end the process with code 70
    watch_loop   the event loop itself: the same
    guard        one call, for example a query: call `on_stall`, which shuts its socket down. No
                 timeout inside the loop helps when a server falls silent behind a proxy, because
                 cancelling a query waits for that server too

The thread runs on the machine's own clock, never on a moved one, and adds up its rounds: a process
that was stopped and continued is not blamed for the rounds that it missed.

If C code keeps the interpreter's lock, this thread stands still as well. Against that it winds up
faulthandler's timer, which needs no lock, in each round; if that runs down, it prints all stacks
and ends the process with code 1.
"""

import asyncio
import faulthandler
import os
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Self

from rota.runtime.standstill import Standstill, report

# Three session leases of 10 s: long before that, others hold whatever this process held.
LIMIT = timedelta(seconds=30)
BACKSTOP = timedelta(seconds=60)
INTERVAL = timedelta(seconds=0.5)
EXIT_CODE = 70
STDERR = 2
# A full pipe behind stderr may be the very reason of the standstill; the report must not join it.
REPORT_SECONDS = 2.0


class Watch:
    """One thing that ought to move, watched while inside the context.

    The thing calls `progress`, the watchdog's thread all the rest.
    """

    __slots__ = ("_all", "_count", "_limit", "_on_stall", "_seen", "_stalled", "name", "silent")

    def __init__(
        self, name: str, limit: timedelta, on_stall: Callable[[], object], among: set["Watch"]
    ) -> None:
        self.name = name
        self.silent = 0.0
        self._all = among
        self._limit = limit.total_seconds()
        self._on_stall = on_stall
        self._count = 0
        # Not nought: the first look must not take for silent what began a moment ago.
        self._seen = -1
        self._stalled = False

    def __enter__(self) -> Self:
        self._all.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._all.discard(self)

    def progress(self) -> None:
        self._count += 1

    def look(self, step: float) -> None:
        """Note that `step` seconds have passed; once per stall, call `on_stall`."""
        if self._count != self._seen:
            self._seen, self.silent, self._stalled = self._count, 0.0, False
            return
        self.silent += step
        if self.silent >= self._limit and not self._stalled:
            self._stalled = True
            self._on_stall()


class LoopWatch(Watch):
    """Asks the event loop for a sign of life at each look."""

    __slots__ = ("_loop",)

    def __init__(self, limit: timedelta, on_stall: Callable[[], object], among: set[Watch]) -> None:
        super().__init__("the event loop", limit, on_stall, among)
        self._loop = asyncio.get_running_loop()

    def look(self, step: float) -> None:
        super().look(step)
        with suppress(RuntimeError):  # the loop was closed since
            self._loop.call_soon_threadsafe(self.progress)


class Watchdog:
    """Entered as a context, it watches; before and after, it only takes note of what to watch."""

    def __init__(
        self,
        *,
        limit: timedelta = LIMIT,
        interval: timedelta = INTERVAL,
        backstop: timedelta = BACKSTOP,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        self._limit = limit
        self._interval = interval.total_seconds()
        self._backstop = backstop.total_seconds()
        self._end = end
        # Shared between threads without a lock: adding, discarding and copying are each atomic.
        self._watches: set[Watch] = set()
        self._looked_at = time.monotonic()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rota-watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._wind_up()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join()

    def watch(self, name: str, *, limit: timedelta | None = None) -> Watch:
        """End the process if what happens inside makes no progress for `limit`."""
        task = asyncio.current_task()
        watch = Watch(
            name, limit or self._limit, lambda: self._stand_still(watch, task), self._watches
        )
        return watch

    def watch_loop(self, *, limit: timedelta | None = None) -> Watch:
        """End the process if the running event loop answers no call for `limit`."""
        watch = LoopWatch(
            limit or self._limit, lambda: self._stand_still(watch, None), self._watches
        )
        return watch

    def guard(self, name: str, limit: timedelta, on_stall: Callable[[], object]) -> Watch:
        """Call `on_stall`, in the watchdog's thread, if what happens inside stands still.

        It must be quick and safe to call from a thread. For a socket that is `shutdown`, which the
        kernel reports to the event loop; `close` would hide it, and free its number for another.
        """

        def shut() -> None:
            with suppress(OSError):  # gone already, which is as good
                on_stall()

        return Watch(name, limit, shut, self._watches)

    def _run(self) -> None:
        try:
            while not self._closing.wait(self._interval):
                self._wind_up()
                self.look_around(time.monotonic())
        except BaseException:
            self._end_saying(traceback.format_exc().encode())  # a node must not go on unwatched
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _wind_up(self) -> None:
        faulthandler.dump_traceback_later(self._backstop, exit=True, file=STDERR)

    def look_around(self, now: float) -> None:
        """One round. However late it comes, it counts for two at most: then we were late too."""
        step = min(now - self._looked_at, 2 * self._interval)
        self._looked_at = now
        for watch in self._watches.copy():
            watch.look(step)

    def _stand_still(self, watch: Watch, task: asyncio.Task[Any] | None) -> None:
        silences = {each.name: each.silent for each in self._watches.copy()}
        self._end_saying(report(Standstill(name=watch.name, task=task, silences=silences)))

    def _end_saying(self, text: bytes) -> None:
        writing = threading.Thread(target=os.write, args=(STDERR, text), daemon=True)
        writing.start()
        writing.join(REPORT_SECONDS)
        self._closing.set()
        self._end(EXIT_CODE)

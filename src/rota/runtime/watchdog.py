"""Ends a process that is stalled.

A process that lives but does nothing is the worst kind of failure: its supervisor sees no reason to
restart it. So a thread outside the event loop watches everything that must make progress. Each
watched duty counts its own progress; the thread checks the counts twice a second.

  watch        a duty: without progress for `limit`, report where every thread and the duty's
               task are, then end the process with code 70
  watch_loop   the event loop itself: the same
  guard        one call, for example a query: call `on_stall`, which shuts its socket down. No
               timeout inside the loop helps when a server falls silent behind a proxy, because
               cancelling a query waits for that server too

The thread runs on the machine's own clock, never on a moved one, and adds up its rounds: a process
that was stopped and continued is not blamed for the rounds that it missed.

If C code holds the interpreter's lock, this thread stalls as well. Against that it resets
faulthandler's timer, which needs no lock, in each round; if the timer expires, it prints all stacks
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

from rota.runtime.stall_report import Stall, render_report

# Three session leases of 10 s: long before that, others hold what this process held.
STALL_LIMIT = timedelta(seconds=30)
BACKSTOP_LIMIT = timedelta(seconds=60)
WATCH_INTERVAL = timedelta(seconds=0.5)
STALL_EXIT_CODE = 70
STDERR_FD = 2
# A full pipe behind stderr may be the cause of the stall; the report must not block on it.
REPORT_TIMEOUT_S = 2.0


class Watch:
    """Watches one duty or call while inside the context.

    The watched code calls `progress`; the watchdog's thread calls the rest.
    """

    __slots__ = ("_all", "_count", "_limit", "_on_stall", "_seen", "_stalled", "name", "silent_s")

    def __init__(
        self, name: str, limit: timedelta, on_stall: Callable[[], object], watches: set["Watch"]
    ) -> None:
        self.name = name
        self.silent_s = 0.0
        self._all = watches
        self._limit = limit.total_seconds()
        self._on_stall = on_stall
        self._count = 0
        # Not 0: the first look must not count code that began a moment ago as silent.
        self._seen = -1
        self._stalled = False

    def __enter__(self) -> Self:
        self._all.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._all.discard(self)

    def progress(self) -> None:
        self._count += 1

    def check(self, step: float) -> None:
        """Note that `step` seconds have passed; once per stall, call `on_stall`."""
        if self._count != self._seen:
            self._seen, self.silent_s, self._stalled = self._count, 0.0, False
            return
        self.silent_s += step
        if self.silent_s >= self._limit and not self._stalled:
            self._stalled = True
            self._on_stall()


class LoopWatch(Watch):
    """Pings the event loop at each look."""

    __slots__ = ("_loop",)

    def __init__(
        self, limit: timedelta, on_stall: Callable[[], object], watches: set[Watch]
    ) -> None:
        super().__init__("the event loop", limit, on_stall, watches)
        self._loop = asyncio.get_running_loop()

    def check(self, step: float) -> None:
        super().check(step)
        with suppress(RuntimeError):  # the loop was closed since
            self._loop.call_soon_threadsafe(self.progress)


class Watchdog:
    """Watches while entered as a context; before and after, it only collects what to watch."""

    def __init__(
        self,
        *,
        limit: timedelta = STALL_LIMIT,
        interval: timedelta = WATCH_INTERVAL,
        backstop: timedelta = BACKSTOP_LIMIT,
        end_process: Callable[[int], object] = os._exit,
    ) -> None:
        self._limit = limit
        self._interval = interval.total_seconds()
        self._backstop = backstop.total_seconds()
        self._end = end_process
        # Shared between threads without a lock: adding, discarding and copying are each atomic.
        self._watches: set[Watch] = set()
        self._looked_at = time.monotonic()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rota-watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._reset_backstop()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join()

    @property
    def silent_s(self) -> float:
        """Seconds since the watchdog's thread last looked."""
        return time.monotonic() - self._looked_at

    def watch(self, name: str, *, limit: timedelta | None = None) -> Watch:
        """End the process if the code inside makes no progress for `limit`."""
        task = asyncio.current_task()
        watch = Watch(
            name, limit or self._limit, lambda: self._end_stalled(watch, task), self._watches
        )
        return watch

    def watch_loop(self, *, limit: timedelta | None = None) -> Watch:
        """End the process if the running event loop handles no call for `limit`."""
        watch = LoopWatch(
            limit or self._limit, lambda: self._end_stalled(watch, None), self._watches
        )
        return watch

    def guard(self, name: str, limit: timedelta, on_stall: Callable[[], object]) -> Watch:
        """Call `on_stall`, in the watchdog's thread, if the code inside stalls.

        It must be quick and thread-safe. For a socket that is `shutdown`, which the kernel reports
        to the event loop; `close` would hide it, and free its number for another.
        """

        def shut() -> None:
            with suppress(OSError):  # already closed
                on_stall()

        return Watch(name, limit, shut, self._watches)

    def _run(self) -> None:
        try:
            while not self._closing.wait(self._interval):
                self._reset_backstop()
                self.check_all(time.monotonic())
        except BaseException:
            self._end_with_report(
                traceback.format_exc().encode()
            )  # a process must not continue unwatched
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _reset_backstop(self) -> None:
        faulthandler.dump_traceback_later(self._backstop, exit=True, file=STDERR_FD)

    def check_all(self, now: float) -> None:
        """Do one round. A late round counts at most double: then this thread was late too."""
        step = min(now - self._looked_at, 2 * self._interval)
        self._looked_at = now
        for watch in self._watches.copy():
            watch.check(step)

    def _end_stalled(self, watch: Watch, task: asyncio.Task[Any] | None) -> None:
        silences = {watched.name: watched.silent_s for watched in self._watches.copy()}
        self._end_with_report(
            render_report(Stall(name=watch.name, task=task, silent_seconds=silences))
        )

    def _end_with_report(self, text: bytes) -> None:
        writing = threading.Thread(target=os.write, args=(STDERR_FD, text), daemon=True)
        writing.start()
        writing.join(REPORT_TIMEOUT_S)
        self._closing.set()
        self._end(STALL_EXIT_CODE)

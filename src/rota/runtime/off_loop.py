"""Runs the computations of requests in threads, so that the event loop keeps responding.

A request that may compute for longer than a few milliseconds passes its work as a function that
takes a `check` and calls it between its steps. `check` ends the work once it has used its CPU time
or its caller has gone; and it yields the interpreter to the event loop, which would otherwise wait
5 ms at each turn. So a computation delays another request by only a millisecond or two.

Everything is bounded: the threads, the queue, and the computations of one caller. One caller gets
one thread at a time, so a caller with much to compute delays only itself. Knows nothing of HTTP or
schedules.
"""

import asyncio
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from rota.core.errors import ComputationTooLong, Overloaded, RateLimitExceeded

T = TypeVar("T")

OFF_LOOP_THREADS: Final = 2
WAITING_MAX: Final = 32
PER_CALLER_MAX: Final = 4
# CPU time of one computation.
CPU_LIMIT_S: Final = 5.0
# When a rejected caller may retry.
RETRY_AFTER_S: Final = 1.0
# A real but short sleep: yielding without sleeping does not release the interpreter.
HANDOVER_S: Final = 0.00005
# How long a computation may hold the interpreter between two checks while the event loop waits.
# Python's default is 5 ms, and a request needs the interpreter many times.
SWITCH_INTERVAL_S: Final = 0.0005

CheckCallback = Callable[[], object]


class _Abandoned(Exception):
    """The caller of this computation has gone."""


@dataclass(eq=False, slots=True)
class _Job:
    caller: str
    compute: Callable[[CheckCallback], Any]
    limit_s: float
    done: "asyncio.Future[Any]"
    is_abandoned: bool = False

    def run(self) -> Any:
        end = time.thread_time() + self.limit_s

        def check() -> None:
            if self.is_abandoned:
                raise _Abandoned
            if time.thread_time() > end:
                raise ComputationTooLong(limit_s=self.limit_s)
            time.sleep(HANDOVER_S)  # noqa: TID251 — yields the interpreter

        check()
        return self.compute(check)


@dataclass(slots=True, kw_only=True)
class OffLoop:
    """Lives in one event loop. `close` abandons running and waiting computations."""

    cpu_limit_s: float = CPU_LIMIT_S
    _threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(OFF_LOOP_THREADS, thread_name_prefix="off-loop")
    )
    _waiting: deque[_Job] = field(default_factory=deque)
    _running: set[_Job] = field(default_factory=set)
    _per_caller: Counter[str] = field(default_factory=Counter)
    _usual_interval_s: float = 0.005

    async def run(self, caller: str, compute: Callable[[CheckCallback], T]) -> T:
        """Compute in a thread, after earlier computations of this caller and others.

        Raises `RateLimitExceeded` if the caller has too many computations, `Overloaded` if the
        queue is full, and `ComputationTooLong` if it exceeds its CPU time.
        """
        if self._per_caller[caller] >= PER_CALLER_MAX:
            raise RateLimitExceeded(
                subject=f"concurrent computations; the limit is {PER_CALLER_MAX}",
                retry_after=RETRY_AFTER_S,
            )
        if len(self._waiting) >= WAITING_MAX:
            raise Overloaded(retry_after=RETRY_AFTER_S)
        job = _Job(caller, compute, self.cpu_limit_s, asyncio.get_running_loop().create_future())
        self._per_caller[caller] += 1
        self._waiting.append(job)
        self._start_more()
        try:
            result: T = await job.done
        finally:
            job.is_abandoned = True
            self._per_caller[caller] -= 1
            if not self._per_caller[caller]:
                del self._per_caller[caller]
        return result

    def close(self) -> None:
        for job in (*self._waiting, *self._running):
            job.is_abandoned = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _start_more(self) -> None:
        busy = {job.caller for job in self._running}
        for job in list(self._waiting):
            if len(self._running) >= OFF_LOOP_THREADS:
                return
            if job.is_abandoned:
                self._waiting.remove(job)
            elif job.caller not in busy:
                self._waiting.remove(job)
                self._start(job)
                busy.add(job.caller)

    def _start(self, job: _Job) -> None:
        if not self._running:
            self._usual_interval_s = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._running.add(job)
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._threads, job.run)

        def on_done(future: "asyncio.Future[Any]") -> None:
            self._running.discard(job)
            error = None if future.cancelled() else future.exception()
            if not job.done.done():
                if future.cancelled():
                    job.done.cancel()
                elif error is not None:
                    job.done.set_exception(error)
                else:
                    job.done.set_result(future.result())
            self._start_more()
            if not self._running:
                sys.setswitchinterval(self._usual_interval_s)

        running.add_done_callback(on_done)

"""Runs attempts on an event loop in its own thread.

User code may block its event loop. On the worker's own loop, one bad handler would stop the claims,
completions and timeouts of all others; so attempts have a separate loop. The engine starts attempts
in batches, asks them to stop, and receives their endings, each with one call across the threads. A
loop that no longer responds is abandoned (attempt_pool.py): its thread is a daemon, and the results
it still produces are ignored. pipeline.py lists what happens to one attempt.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from rota.core.executor import Executor
from rota.core.outcome import Outcome
from rota.core.settlement import EndedAttempt, StopReason
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.pipeline import AttemptPipeline, build_stopped_outcome

SWEEP_INTERVAL_S: Final = 0.1
# Seconds that cancelled tasks have to end when the loop is closed.
CANCEL_TIMEOUT_S: Final = 2.0
# Seconds beyond the grace period that the executor has for killing and cleaning up.
GRACE_MARGIN_S: Final = 2.0


class AttemptLoop:
    """Calls `on_ended` in its own thread whenever an attempt has ended."""

    def __init__(
        self,
        executors: Sequence[Executor],
        *,
        on_close: Callable[[], Awaitable[None]],
        on_ended: Callable[[Attempt, EndedAttempt, bool], None],
        pipeline: AttemptPipeline,
    ) -> None:
        self._executors = executors
        self._on_close = on_close
        self._on_ended = on_ended
        self._pipeline = pipeline
        self._running: dict[int, Attempt] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._closing = asyncio.Event()
        self._last_ping = 0
        self._thread = threading.Thread(target=self._run, name="rota-attempts", daemon=True)

    def open(self) -> None:
        """Start the thread and open the executors; raises what they raise."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def start_attempts(self, attempts: Sequence[Attempt]) -> None:
        """Start attempts. Called in the engine's thread."""
        self._call(self._begin, attempts)

    def stop_attempts(self, attempts: Sequence[Attempt], reason: StopReason) -> None:
        """Ask attempts to stop. Called in the engine's thread."""
        self._call(self._stop, attempts, reason)

    def ping(self, number: int) -> None:
        """Ping the loop with a number; `last_ping` returns the last one it received."""
        self._call(self._receive_ping, number)

    @property
    def last_ping(self) -> int:
        return self._last_ping

    def find_current_attempt(self) -> Attempt | None:
        """Return the attempt whose code runs right now, as seen from another thread."""
        task = asyncio.current_task(self._loop)
        return next((a for a in list(self._running.values()) if a.task is task), None)

    def close(self, timeout: float) -> bool:
        """Close the executors and end the thread; return False if it did not end in time."""
        self._call(self._closing.set)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Abandon the loop: if it ever runs again, it cancels all attempts and ends."""

        def give_up() -> None:
            for attempt in self._running.values():
                if attempt.task is not None:
                    attempt.task.cancel()
            self._closing.set()

        self._call(give_up)

    def _call(self, function: Callable[..., Any], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nothing runs there
            self._loop.call_soon_threadsafe(function, *args)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        main = self._loop.create_task(self._main())
        try:
            while not main.done():
                # A task that a handler left behind may raise SystemExit, which stops any loop.
                with suppress(SystemExit, KeyboardInterrupt):
                    self._loop.run_until_complete(main)
        finally:
            self._loop.close()

    async def _main(self) -> None:
        opened: list[Executor] = []
        try:
            for executor in self._executors:
                await executor.open()
                opened.append(executor)
        except BaseException as error:  # noqa: BLE001 — raised by open()
            self._failure = error
        finally:
            self._ready.set()
        if self._failure is None:
            self._sweep()
            await self._closing.wait()
            await self._cancel_remaining()
        for executor in reversed(opened):
            await executor.close()
        await self._on_close()

    async def _cancel_remaining(self) -> None:
        """Cancel remaining attempts and tasks that handlers left behind; wait briefly."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CANCEL_TIMEOUT_S)
        await self._loop.shutdown_asyncgens()

    def _begin(self, attempts: Sequence[Attempt]) -> None:
        create, now, begin = self._loop.create_task, self._loop.time(), self._pipeline.begin
        for attempt in attempts:
            expired = begin(attempt, now)
            if expired is None:
                self._running[id(attempt)] = attempt
                attempt.task = create(self._run_attempt(attempt))
            else:
                self._end(attempt, expired)

    async def _run_attempt(self, attempt: Attempt) -> None:
        self._end(attempt, await self._pipeline.run(attempt))

    def _end(self, attempt: Attempt, outcome: Outcome, *, is_stuck: bool = False) -> None:
        self._running.pop(id(attempt), None)
        if not attempt.is_closed:
            self._on_ended(attempt, self._pipeline.end(attempt, outcome), is_stuck)

    def _stop(self, attempts: Sequence[Attempt], reason: StopReason) -> None:
        for attempt in attempts:
            # The first reason wins: a run that is cancelled while it times out has timed out.
            if attempt.stop_reason is None and attempt.task is not None and not attempt.is_closed:
                attempt.stop_reason = reason
                wait_s = attempt.policy.grace.total_seconds() + GRACE_MARGIN_S
                if reason is StopReason.LEASE:
                    lease = self._pipeline.lease_validity.lease
                    attempt.stop_grace = (lease.ttl - lease.stop_after) / 2
                    # Giving up would count it as ended while it still runs. If it does not end in
                    # time, the heartbeat ends the process (heartbeat.py).
                    wait_s = max(wait_s, lease.ttl.total_seconds())
                attempt.give_up_at = self._loop.time() + wait_s
                attempt.task.cancel()

    def _sweep(self) -> None:
        """Ask attempts over their timeout to stop; give up on attempts that did not stop."""
        now = self._loop.time()
        for attempt in list(self._running.values()):
            if attempt.stop_reason is None:
                if attempt.stop_at is not None and now >= attempt.stop_at:
                    self._stop([attempt], StopReason.TIMEOUT)
            elif attempt.give_up_at is not None and now >= attempt.give_up_at:
                outcome = build_stopped_outcome(attempt.stop_reason, started=attempt.is_started)
                self._end(attempt, outcome, is_stuck=True)
        if not self._closing.is_set():
            self._loop.call_later(SWEEP_INTERVAL_S, self._sweep)

    def _receive_ping(self, number: int) -> None:
        self._last_ping = number

"""Represents a submitted job: its state and its result.

Waiting for a result polls the server, less often the longer it takes. It is meant for scripts and
tests; a program that serves users should store the id and ask later.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

from rota.core.errors import RotaError
from rota.core.states import FINAL_STATES, RunState
from rota.core.time import durations
from rota.runtime.clock import SystemClock
from rota.sdk.app.sender import Sender, SentRun

R = TypeVar("R")

CLOCK: Final = SystemClock()
POLL_INTERVAL_MIN_S: Final = 0.02
POLL_INTERVAL_MAX_S: Final = 1.0
POLL_INTERVAL_GROWTH: Final = 1.5
SUCCEEDED: Final = RunState.SUCCEEDED.value
FINAL_STATUSES: Final = frozenset(state.value for state in FINAL_STATES)


@dataclass(eq=False)
class RunFailed(RotaError):
    """A run ended without a result. `status` is its final state, `reason` its error if known."""

    run_id: str
    status: str
    reason: str | None = None

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return f"run {self.run_id} is {self.status}{reason}"


@dataclass(eq=False)
class NotFinished(RotaError, TimeoutError):
    """A run did not end within the timeout. The run continues."""

    job_id: str
    waited: timedelta

    def __str__(self) -> str:
        return f"job {self.job_id} has no result after {durations.to_words(self.waited)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission(Generic[R]):
    """A job that the server has accepted. `run_id` is None until the time of a delayed run has
    come. `deduplicated` is true if this is an existing job that an equal submission created.
    """

    job_id: str
    run_id: str | None
    deduplicated: bool = False
    sender: Sender = field(repr=False, compare=False)
    convert: Callable[[Any], R] = field(repr=False, compare=False)

    def status(self) -> str:
        """The state of its run, or `scheduled` before the run exists."""
        run = self._run()
        return "scheduled" if run is None else run.status

    def result(self, timeout: str | float | timedelta | None = None) -> R:
        """Wait for the run to end and return the function's result.

        Raises `RunFailed` if the run did not succeed, `NotFinished` if `timeout` passes first.
        """
        for pause in self._pauses(timeout):
            if (ended := self._find_ended()) is not None:
                return self._result_of(ended)
            threading.Event().wait(pause)
        raise NotFinished(self.job_id, parse_timeout(timeout) or timedelta())

    def cancel(self, reason: str | None = None) -> None:
        """Ask the run to stop. Does nothing before the run exists."""
        run_id = self._run_id()
        if run_id is not None:
            self.sender.cancel(run_id, reason=reason)

    async def status_async(self) -> str:
        return await asyncio.to_thread(self.status)

    async def result_async(
        self,
        timeout: str | float | timedelta | None = None,  # noqa: ASYNC109 — as in `result`
    ) -> R:
        """`result` for async code; it does not block the event loop."""
        for pause in self._pauses(timeout):
            # One thread per poll, not for the whole wait: the default pool has few threads.
            if (ended := await asyncio.to_thread(self._find_ended)) is not None:
                return self._result_of(ended)
            await CLOCK.sleep(pause)
        raise NotFinished(self.job_id, parse_timeout(timeout) or timedelta())

    async def cancel_async(self, reason: str | None = None) -> None:
        await asyncio.to_thread(self.cancel, reason)

    def _find_ended(self) -> SentRun | None:
        run = self._run()
        return run if run is not None and run.status in FINAL_STATUSES else None

    def _result_of(self, run: SentRun) -> R:
        if run.status != SUCCEEDED:
            raise RunFailed(run.run_id, run.status, run.error_message)
        return self.convert(run.result)

    def _run(self) -> SentRun | None:
        run_id = self._run_id()
        return None if run_id is None else self.sender.run(run_id)

    def _run_id(self) -> str | None:
        return self.run_id or self.sender.latest_run(self.job_id)

    @staticmethod
    def _pauses(timeout: str | float | timedelta | None) -> Iterator[float]:
        """Yield the pause after each poll; the last poll is at the end of the timeout."""
        limit, started, pause = parse_timeout(timeout), CLOCK.monotonic(), POLL_INTERVAL_MIN_S
        while True:
            left = None if limit is None else started + limit.total_seconds() - CLOCK.monotonic()
            yield pause if left is None else max(0.0, min(pause, left))
            if left is not None and left <= 0:
                return
            pause = min(pause * POLL_INTERVAL_GROWTH, POLL_INTERVAL_MAX_S)


def parse_timeout(timeout: str | float | timedelta | None) -> timedelta | None:
    """Convert a timeout to a timedelta: seconds, a timedelta, or a string such as 30s."""
    match timeout:
        case None | timedelta():
            return timeout
        case str():
            return durations.parse(timeout, field="timeout")
        case _:
            return timedelta(seconds=timeout)

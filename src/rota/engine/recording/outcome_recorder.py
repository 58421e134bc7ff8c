"""Stores how attempts ended, and what they write while they run, in batches.

Endings are taken as they arrive: while one batch is being committed the next one accumulates, under
load for a few milliseconds more. So batches grow with the load, and an idle system does not wait.
The last output of an attempt is stored before its ending, so a finished run has all its output. A
batch that could not be sent is kept and sent again, however long the database is down. Every ending
is fenced by (run, attempt, session): sending it twice changes nothing, and an ending whose run was
reclaimed since is refused. core/settlement.py decides what happens to a run.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final
from uuid import UUID

import msgspec

from rota.core.errors import StoreFailed, StoreUnavailable
from rota.core.log_events import (
    AttemptFailed,
    AttemptGroup,
    AttemptsEnded,
    Emit,
    ResultsDiscarded,
    RunSetAside,
)
from rota.core.outcome import (
    Cancelled,
    Failed,
    GraphExpanded,
    HandedBack,
    NewerVersionNeeded,
    Outcome,
    Snoozed,
    Succeeded,
    TurnedAway,
)
from rota.core.settlement import AttemptedRun, EndedAttempt, Settlement, settle_run
from rota.core.states import RunState
from rota.runtime.clock import AlarmClock
from rota.runtime.service import Duty, Halt
from rota.store import checkpoints, graphs, live_runs, logs
from rota.store.checkpoints import RunProgress
from rota.store.driver import Connection, ConnectionSource
from rota.store.live_runs import ReturnedAttempt, RunEnding
from rota.store.logs import LogPiece

RECORD_BATCH_MAX: Final = 1000
RECORD_POLL_INTERVAL_S: Final = 1.0
# Shortest time from the start of one batch to the next.
RECORD_INTERVAL_MIN_S: Final = 0.004

# Between retries of the last pass while the database is down.
RETRY_INTERVAL_S: Final = 0.25
LOG_BATCH_MAX: Final = 500
LOG_WRITE_INTERVAL_S: Final = 0.5

_SUCCEEDED: Final = RunState.SUCCEEDED
NEVER_RAN: Final = (TurnedAway, NewerVersionNeeded)


@dataclass(slots=True, kw_only=True)
class OutcomeRecorder:
    """`take_ended` returns endings, `return_ended` takes back those that could not be stored, and
    `release_runs` receives those that the heartbeat need not renew any more. `take_last_output`
    returns the output of attempts, once. `advance_graphs` receives graph runs with new step
    completions; `scan_completions` is called when some may exist.
    """

    source: ConnectionSource
    session_id: UUID
    take_ended: Callable[[int], list[EndedAttempt]]
    return_ended: Callable[[Sequence[EndedAttempt]], None]
    release_runs: Callable[[Sequence[EndedAttempt]], None]
    take_last_output: Callable[[Sequence[EndedAttempt]], list[LogPiece]]
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    rng: Random
    emit: Emit
    advance_graphs: Callable[[Sequence[UUID]], object] = lambda _: None
    scan_completions: Callable[[], object] = lambda: None
    _is_repeated: bool = False
    _began: float = float("-inf")
    # Output that is being stored.
    _pieces: list[LogPiece] = field(default_factory=list)

    async def tick(self) -> float:
        now = self.monotonic()
        early = self._began + RECORD_INTERVAL_MIN_S - now
        if early > 0:
            return early
        if not await self.store_next():
            return RECORD_POLL_INTERVAL_S
        self._began = now
        return 0.0

    async def store_next(self) -> bool:
        """Store the next batch; return False if no ending waits."""
        batch = self.take_ended(RECORD_BATCH_MAX)
        if not batch:
            return False
        self._pieces += self.take_last_output(batch)
        try:
            await self._store_last_words()
            await self._store(batch)
        except BaseException:
            # Also when cancelled: the last pass may still store it.
            self.return_ended(batch)
            self._is_repeated = True
            raise
        self._is_repeated = False
        self.release_runs(batch)
        self._report_counts(batch)
        return True

    def _report_counts(self, batch: Sequence[EndedAttempt]) -> None:
        self.emit(AttemptsEnded(groups=group_attempts(batch)))

    async def _store_last_words(self) -> None:
        if self._pieces:
            async with self.source.acquire() as conn:
                await logs.append_pieces(conn, self._pieces)
            self._pieces = []

    async def _store(self, batch: Sequence[EndedAttempt]) -> None:
        endings: list[RunEnding] = []
        back: list[ReturnedAttempt] = []
        unfolded: list[tuple[UUID, int]] = []
        for ended in batch:
            if type(ended.outcome) is Succeeded:
                if ended.is_recorded:
                    # Its own transaction has stored it, with its step completion if it is a step.
                    self.scan_completions()
                else:
                    endings.append(
                        RunEnding(ended.run_id, ended.attempt, _SUCCEEDED, None, ended.result)
                    )
            elif type(ended.outcome) is GraphExpanded:
                unfolded.append((ended.run_id, ended.attempt))
            elif not ended.is_recorded:
                self._settle(ended, endings, back)
        async with self.source.acquire() as conn:
            try:
                await self._send(conn, endings, back, unfolded)
            except StoreFailed as error:
                if len(batch) == 1:
                    await self._end_unstorable(conn, batch[0], error)
                    return
            else:
                return
        # One ending that cannot be stored must not block the others: find it by halving.
        middle = len(batch) // 2
        await self._store(batch[:middle])
        await self._store(batch[middle:])

    async def _end_unstorable(
        self, conn: Connection, ended: EndedAttempt, error: StoreFailed
    ) -> None:
        """End the run of an ending that the database rejects, with the error as the reason."""
        reason = {"type": "StoreFailed", "message": f"the ending could not be stored: {error}"}
        encoded = msgspec.json.encode(reason).decode().replace("\\u0000", "")
        ending = RunEnding(ended.run_id, ended.attempt, RunState.DEAD, None, None, encoded)
        await live_runs.finish_runs(conn, session_id=self.session_id, endings=[ending])

    async def _send(
        self,
        conn: Connection,
        endings: Sequence[RunEnding],
        back: Sequence[ReturnedAttempt],
        unfolded: Sequence[tuple[UUID, int]],
    ) -> None:
        accepted, session_id = 0, self.session_id
        if endings:
            stored = await live_runs.finish_runs_and_graphs(
                conn, session_id=session_id, endings=endings
            )
            accepted += len(stored.states)
            if stored.graph_run_ids:
                self.advance_graphs(stored.graph_run_ids)
        if back:
            moved = await live_runs.put_back_runs(conn, session_id=session_id, attempts=back)
            accepted += len(moved)
            if any(run.state is RunState.CANCELLED for run in moved):
                self.scan_completions()
        if unfolded:
            moved = await graphs.expand_graphs(conn, session_id=session_id, runs=unfolded)
            accepted += len(moved)
            self.advance_graphs([run.id for run in moved])
        refused = len(endings) + len(back) + len(unfolded) - accepted
        # In a repeated batch, a refused ending may have been stored by the first attempt.
        if refused and not self._is_repeated:
            self.emit(ResultsDiscarded(count=refused))

    def _settle(
        self, ended: EndedAttempt, endings: list[RunEnding], back: list[ReturnedAttempt]
    ) -> None:
        """Settle an attempt that did not simply succeed, and add it to the matching list."""
        now = self.now()
        run = AttemptedRun(
            state=RunState.RUNNING,
            failures=ended.failures,
            losses=0,
            guarantee=ended.policy.guarantee,
            deadline_at=ended.deadline_at,
        )
        settled = settle_run(run, ended.outcome, policy=ended.policy.retries, now=now, rng=self.rng)
        wait = None if settled.ready_at is None else settled.ready_at - now
        reason = encode_reason(ended.outcome)
        if isinstance(ended.outcome, Failed):
            self._report_failure(ended, ended.outcome, wait, settled.state)
        elif isinstance(ended.outcome, NewerVersionNeeded):
            self.emit(RunSetAside(run_id=ended.run_id, reason=ended.outcome.reason))
        if wait is None:
            endings.append(
                RunEnding(
                    ended.run_id, ended.attempt, settled.state, settled.failures, None, reason
                )
            )
        else:
            back.append(build_put_back(ended, settled, wait, reason))

    def _report_failure(
        self, ended: EndedAttempt, outcome: Failed, wait: timedelta | None, state: RunState
    ) -> None:
        self.emit(
            AttemptFailed(
                run_id=ended.run_id,
                kind=ended.kind,
                attempt=ended.attempt,
                reason=f"{outcome.failure.type}: {outcome.failure.message}",
                retry_in=wait,
                final_state=state.value if wait is None else None,
            )
        )


def group_attempts(batch: Sequence[EndedAttempt]) -> list[AttemptGroup]:
    """Group ended attempts by task and outcome. Costs about 0.3 µs per attempt."""
    succeeded: defaultdict[str, list[EndedAttempt]] = defaultdict(list)
    others: defaultdict[tuple[str, str], list[EndedAttempt]] = defaultdict(list)
    for ended in batch:
        if type(ended.outcome) is Succeeded:
            succeeded[ended.kind].append(ended)
        else:
            others[ended.kind, name_for_metrics(ended.outcome)].append(ended)
    return [
        *(build_group(kind, "succeeded", attempts) for kind, attempts in succeeded.items()),
        *(build_group(kind, outcome, attempts) for (kind, outcome), attempts in others.items()),
    ]


def build_group(task: str, outcome: str, attempts: Sequence[EndedAttempt]) -> AttemptGroup:
    if type(attempts[0].outcome) in NEVER_RAN:
        return AttemptGroup(task, outcome, len(attempts))
    durations = [ended.duration_s for ended in attempts]
    slowest = attempts[durations.index(max(durations))]
    return AttemptGroup(task, outcome, len(attempts), durations, slowest.run_id)


def build_put_back(
    ended: EndedAttempt, settled: Settlement, wait: timedelta, reason: str | None
) -> ReturnedAttempt:
    return ReturnedAttempt(
        ended.run_id,
        ended.attempt,
        settled.state,
        name_for_attempts(ended.outcome),
        settled.failures,
        wait,
        reason,
    )


def name_for_metrics(outcome: Outcome) -> str:
    """Return the name of an outcome in metrics."""
    if type(outcome) is Succeeded:
        return "succeeded"
    if type(outcome) is GraphExpanded:
        return "unfolded"
    if type(outcome) in NEVER_RAN:
        return "turned_away" if type(outcome) is TurnedAway else "set_aside"
    return "cancelled" if type(outcome) is Cancelled else name_for_attempts(outcome)


def name_for_attempts(outcome: Outcome) -> str:
    """Return the name of an outcome in the table of attempts."""
    match outcome:
        case Snoozed() | TurnedAway() | NewerVersionNeeded():
            return "snoozed"
        case HandedBack():
            return "released"
        case Failed(timed_out=True):
            return "timed_out"
        case _:
            return "failed"


def encode_reason(outcome: Outcome) -> str | None:
    """Return why an attempt did not succeed, as JSON."""
    reason: dict[str, object]
    match outcome:
        case Failed():
            failure = outcome.failure
            reason = {"type": failure.type, "message": failure.message}
            if failure.frame is not None:
                reason["frame"] = failure.frame
            if failure.traceback:
                reason["traceback"] = failure.traceback
        case TurnedAway():
            reason = {
                "code": "target_down",
                "target": outcome.target,
                "failures": outcome.failures,
            }
        case NewerVersionNeeded():
            reason = {"code": "newer_version", "message": outcome.reason}
        case HandedBack():
            reason = {"code": "handed_back"}
        case Cancelled():
            reason = {"code": "cancelled"}
        case _:
            return None
    return msgspec.json.encode(reason).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRecorderService:
    """The recording duty, with a last pass over the remaining endings when the worker stops. While
    the database is down it retries, for as long as its tier allows.
    """

    duty: Duty
    recorder: OutcomeRecorder
    clock: AlarmClock
    name: str = "recording"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        while True:
            try:
                if not await self.recorder.store_next():
                    return
            except StoreUnavailable:
                await self.clock.sleep(RETRY_INTERVAL_S)


@dataclass(slots=True, kw_only=True)
class LogWriter:
    """Stores the output and progress of running attempts.

    Runs about twice a second, in batches; an attempt never waits for it. A batch that could not be
    stored is stored again. Output that is not stored when a worker dies is lost: a log is not a
    result.
    """

    source: ConnectionSource
    take_output: Callable[[int], tuple[list[LogPiece], list[RunProgress]]]
    # The batch being stored; the next one is taken only after it was stored.
    _pieces: list[LogPiece] = field(default_factory=list)
    _progress: list[RunProgress] = field(default_factory=list)

    async def tick(self) -> float:
        """Store the next batch; return 0 if there was more than one batch."""
        if not self._pieces and not self._progress:
            self._pieces, self._progress = self.take_output(LOG_BATCH_MAX)
        number = len(self._pieces)
        if not self._pieces and not self._progress:
            return LOG_WRITE_INTERVAL_S
        async with self.source.acquire() as conn:
            if self._pieces:
                await logs.append_pieces(conn, self._pieces)
                self._pieces = []
            if self._progress:
                await checkpoints.save_progress(conn, self._progress)
                self._progress = []
        return 0.0 if number >= LOG_BATCH_MAX else LOG_WRITE_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWriterService:
    """The log-writing duty, with a last pass over the remaining output when it stops."""

    duty: Duty
    writer: LogWriter
    name: str = "log writing"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        while await self.writer.tick() == 0.0:
            pass

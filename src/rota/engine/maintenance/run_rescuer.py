"""Reclaims the runs of dead workers (E12).

Every process does this once a second, in small batches. It expires sessions whose lease has run
out, which no heartbeat can undo, and then queues again the runs that no live session executes, or
ends them if they must not run again. Two processes that do it at once share the work.

While the database is down, workers cannot renew their leases. So a process expires a session only
once it has itself seen the database without interruption for that session's whole lease (O15).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rota.core.errors import StoreFailed
from rota.core.lease import DatabaseObservation, ObservedSpan
from rota.core.log_events import Emit, RescueFailed, RunsExpired, RunsReclaimed, WorkersExpired
from rota.core.states import FINAL_STATES, RunState
from rota.store import live_runs, sessions
from rota.store.driver import ConnectionSource
from rota.store.live_runs import RunMove
from rota.store.pool import read_database_time
from rota.store.sessions import ExpiredSession

RESCUE_BATCH_MAX: Final = 500
RESCUE_INTERVAL_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRescuer:
    """Calls `on_runs_waiting` when runs wait again, so that claimers are hinted."""

    source: ConnectionSource
    on_runs_waiting: Callable[[], object]
    emit: Emit
    monotonic: Callable[[], float]
    sight: DatabaseObservation = field(default_factory=DatabaseObservation)

    async def tick(self) -> float:
        try:
            expired, moved = await self._rescue()
        except BaseException:
            self.sight.record_silence()
            raise
        self.sight.record_answer(self.monotonic())
        if expired:
            self.emit(WorkersExpired(names=tuple(session.name for session in expired)))
        if moved:
            states = [run.state for run in moved]
            ended = sum(state in FINAL_STATES for state in states)
            self.emit(
                RunsReclaimed(
                    waiting=len(moved) - ended,
                    ended=ended,
                    lost=states.count(RunState.LOST),
                    quarantined=states.count(RunState.QUARANTINED),
                )
            )
            self.on_runs_waiting()
        return 0.0 if len(moved) >= RESCUE_BATCH_MAX else RESCUE_INTERVAL_S

    async def _rescue(self) -> tuple[list[ExpiredSession], list[RunMove]]:
        async with self.source.acquire() as conn:
            lasted = self.sight.measure_span(self.monotonic())
            sight = ObservedSpan(lasted, asked_at=await read_database_time(conn))
            expired = await sessions.expire_sessions(conn, sight=sight)
            try:
                moved = await live_runs.reclaim_runs(conn, sight=sight, limit=RESCUE_BATCH_MAX)
            except StoreFailed as error:
                # A row that cannot be moved must not stop every process that tries.
                self.emit(RescueFailed(reason=str(error)))
                moved = []
        return expired, moved


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExpirer:
    """Ends waiting runs whose deadline has passed (E9)."""

    source: ConnectionSource
    emit: Emit

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            expired = await live_runs.expire_runs(conn, limit=RESCUE_BATCH_MAX)
        if expired:
            self.emit(RunsExpired(count=len(expired)))
        return 0.0 if len(expired) >= RESCUE_BATCH_MAX else RESCUE_INTERVAL_S

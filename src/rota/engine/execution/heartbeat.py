"""Sends the heartbeat of a worker from its own thread and connection.

A busy worker must not look dead, so nothing else may delay the heartbeat: not the engine's loop, a
handler or a full pool (F17). A heartbeat reports which runs are being executed, and returns which
of them to cancel and whether to drain.

If heartbeats fail, the worker keeps running and keeps trying. It starts nothing new, and keeps the
outcomes of its attempts until the database is back and decides. Attempts that must not overlap
their successors are asked to stop when the lease is about to expire; if one of them still runs
shortly before the lease ends, this thread kills the child processes and ends the process, whatever
the engine's loop does (docs/adr/0030-database-outages.md).

If another process has expired the session, `LeaseLost` ends the worker at once.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from rota.core.errors import StoreUnavailable
from rota.core.lease import LeaseValidity, compute_next_renewal
from rota.core.log_events import Emit, LeaseOverrun, WorkerIsolated
from rota.runtime import child_groups
from rota.runtime.service import Halt
from rota.store import sessions
from rota.store.pool import DatabaseAccess, DedicatedConnection
from rota.store.sessions import HeartbeatResponse

# Seconds that the engine has to stop after a lost lease before the process is killed.
LOST_LEASE_TIMEOUT_S: Final = 3.0
LEASE_OUTLIVED_EXIT_CODE: Final = 70
# Shortest interval between heartbeats, even if one is requested.
HEARTBEAT_INTERVAL_MIN_S: Final = 0.05
HEARTBEAT_RETRY_INTERVAL_S: Final = 0.25
GUARD_INTERVAL_S: Final = 0.05


class LeasedAttempts(Protocol):
    """The attempts that the lease covers. Every method is called from the heartbeat's thread."""

    def list_held_runs(self) -> list[UUID]: ...
    def stop_for_lease(self) -> int: ...
    def has_outlived_lease(self) -> bool: ...


@dataclass(slots=True, kw_only=True)
class Heartbeat:
    """Calls `apply_response` in the engine's loop with each heartbeat response."""

    access: DatabaseAccess
    session_id: UUID
    attempts: LeasedAttempts
    lease_validity: LeaseValidity
    apply_response: Callable[[HeartbeatResponse], object]
    end_process: Callable[[int], object]
    emit: Emit
    name: str = "heartbeat"
    _thread: "HeartbeatThread | None" = None

    def beat_now(self) -> None:
        """Send a heartbeat now, because a run was asked to cancel."""
        if self._thread is not None:
            self._thread.beat_soon()

    async def run(self, stop: Halt, /) -> None:
        """Send heartbeats until stopped; raises `LeaseLost` when the session has expired."""
        self._thread = thread = HeartbeatThread(self, asyncio.get_running_loop())
        thread.start()
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({stopping, thread.lost}, return_when=asyncio.FIRST_COMPLETED)
            if thread.lost.done():
                thread.lost.result()
        finally:
            self._thread = None
            stopping.cancel()
            thread.stop()


class HeartbeatThread:
    """The thread of the heartbeat, with its own event loop."""

    def __init__(self, heartbeat: Heartbeat, engine: asyncio.AbstractEventLoop) -> None:
        self._heartbeat = heartbeat
        self._engine = engine
        self._loop = asyncio.new_event_loop()
        self._requested = asyncio.Event()
        self._stopping = False
        self._is_cut_off = False
        self.lost: asyncio.Future[None] = engine.create_future()
        self._thread = threading.Thread(target=self._run, name="rota-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self.beat_soon()

    def beat_soon(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._requested.set)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._main())
        except Exception as error:  # noqa: BLE001 — reported to the engine, which raises it
            self._report_loss(error)
        finally:
            self._loop.close()

    async def _main(self) -> None:
        validity, line = self._heartbeat.lease_validity, DedicatedConnection(self._heartbeat.access)
        validity.renew(time.monotonic())
        self._guard()
        try:
            while not self._stopping:
                sent = time.monotonic()
                if await self._beat(line, sent):
                    validity.renew(sent)
                    pause = compute_next_renewal(validity.lease, sent=sent, now=time.monotonic())
                else:
                    pause = min(
                        HEARTBEAT_RETRY_INTERVAL_S, validity.lease.renew_every.total_seconds()
                    )
                await self._rest(pause)
        finally:
            line.close()

    async def _beat(self, line: DedicatedConnection, sent: float) -> bool:
        """Send one heartbeat; return False if the database did not respond in time."""
        heartbeat = self._heartbeat
        ttl = heartbeat.lease_validity.lease.ttl
        try:
            async with asyncio.timeout(self._limit(line)), line.acquire() as conn:
                running = heartbeat.attempts.list_held_runs()
                beat = await sessions.send_heartbeat(
                    conn, session_id=heartbeat.session_id, running=running, ttl=ttl
                )
        except StoreUnavailable as error:
            heartbeat.lease_validity.note_failure(sent, is_down=error.is_down)
            line.close()
            return False
        except TimeoutError:
            heartbeat.lease_validity.note_failure(sent, is_down=False)
            line.close()
            return False
        self._engine.call_soon_threadsafe(heartbeat.apply_response, beat)
        return True

    def _limit(self, line: DedicatedConnection) -> float:
        """Return the time limit of a heartbeat: it must complete before the next one is due.
        Connecting may take longer, because the first of several hosts may not respond.
        """
        beat = self._heartbeat.lease_validity.lease.renew_every.total_seconds()
        return (
            beat if line.is_open else beat + self._heartbeat.access.connect_timeout.total_seconds()
        )

    async def _rest(self, pause: float) -> None:
        self._requested.clear()
        try:
            async with asyncio.timeout(max(pause, HEARTBEAT_INTERVAL_MIN_S)):
                await self._requested.wait()
        except TimeoutError:
            return

    def _guard(self) -> None:
        """Keep attempts from outliving the lease; repeats beside the heartbeats."""
        attempts, validity, now = (
            self._heartbeat.attempts,
            self._heartbeat.lease_validity,
            time.monotonic(),
        )
        if now < validity.stop_at:
            self._is_cut_off = False
        elif not self._is_cut_off:
            self._is_cut_off = True
            event = WorkerIsolated(stopped=attempts.stop_for_lease())
            self._engine.call_soon_threadsafe(self._heartbeat.emit, event)
        if now >= validity.end_at and attempts.has_outlived_lease():
            self._heartbeat.emit(LeaseOverrun())
            child_groups.kill_all()
            self._heartbeat.end_process(LEASE_OUTLIVED_EXIT_CODE)
        if not self._stopping:
            # While heartbeats succeed, the time to stop moves on; nothing to check before it.
            self._loop.call_later(max(GUARD_INTERVAL_S, validity.stop_at - now), self._guard)

    def _report_loss(self, error: Exception) -> None:
        """Report the error to the engine; if the engine does not react, end the process."""

        def report() -> None:
            received.set()
            if not self.lost.done():
                self.lost.set_exception(error)

        received = threading.Event()
        try:
            self._engine.call_soon_threadsafe(report)
        except RuntimeError:
            return  # the engine has ended
        if not received.wait(LOST_LEASE_TIMEOUT_S):
            self._heartbeat.end_process(LEASE_OUTLIVED_EXIT_CODE)

"""The heartbeat of a worker, from a thread and a connection of its own. Room: flow/execute.

A worker that is busy must not look dead, so nothing that it does for others may delay the beat: not
the engine's loop, not a handler, not a full pool (F17). A beat says which runs are really being
executed and brings back which of them to cancel, and whether to drain.

If beats fail, the worker lives on and keeps trying. It starts nothing new, and keeps the outcomes
of its attempts until the database is back and decides. Attempts that must not run beside their
successors are asked to stop when the lease is no longer to be trusted; if one of them still works
shortly before the lease ends, this thread kills the child processes and ends the process, whatever
the engine's loop does (docs/adr/0030-database-outages.md).

A session that another process has expired is lost: `LeaseLost` ends the node at once.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from rota.core.errors import StoreUnavailable
from rota.core.events import AttemptsCutOff, Emit, LeaseOutlived
from rota.core.lease import LeaseTrust, next_renewal
from rota.runtime import child_groups
from rota.runtime.stop import Halt
from rota.store import sessions
from rota.store.pool import Access, Line
from rota.store.sessions import Beat

# How long the engine may take to die of a lost lease before it is killed.
LAST_WORDS: Final = 3.0
EXIT_CODE: Final = 70
# A beat that was asked for does not come sooner than this after the last one.
SHORTEST_GAP: Final = 0.05
RETRY_INTERVAL_S: Final = 0.25
GUARD_INTERVAL_S: Final = 0.05


class LeasedAttempts(Protocol):
    """The attempts that the lease covers. All of it is called from the heartbeat's thread."""

    def held_runs(self) -> list[UUID]: ...
    def stop_for_lease(self) -> int: ...
    def outlives_lease(self) -> bool: ...


@dataclass(slots=True, kw_only=True)
class Vouching:
    """`heed` is called in the engine's loop with each beat; `end` ends the process."""

    access: Access
    session_id: UUID
    attempts: LeasedAttempts
    trust: LeaseTrust
    heed: Callable[[Beat], object]
    end: Callable[[int], object]
    emit: Emit
    name: str = "vouching"
    _heart: "Heart | None" = None

    def hurry(self) -> None:
        """Beat now: somebody asked a run to cancel."""
        if self._heart is not None:
            self._heart.beat_soon()

    async def run(self, stop: Halt, /) -> None:
        """Beat until told to stop; raises `LeaseLost` when the session is no longer ours."""
        self._heart = heart = Heart(self, asyncio.get_running_loop())
        heart.start()
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({stopping, heart.lost}, return_when=asyncio.FIRST_COMPLETED)
            if heart.lost.done():
                heart.lost.result()
        finally:
            self._heart = None
            stopping.cancel()
            heart.stop()


class Heart:
    """The thread. Everything in it happens on an event loop of its own."""

    def __init__(self, vouching: Vouching, engine: asyncio.AbstractEventLoop) -> None:
        self._vouching = vouching
        self._engine = engine
        self._loop = asyncio.new_event_loop()
        self._wanted = asyncio.Event()
        self._stopping = False
        self._is_cut_off = False
        self.lost: asyncio.Future[None] = engine.create_future()
        self._thread = threading.Thread(target=self._run, name="rota-heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self.beat_soon()

    def beat_soon(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wanted.set)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._live())
        except Exception as error:  # noqa: BLE001 — told to the engine, which answers for it
            self._lose(error)
        finally:
            self._loop.close()

    async def _live(self) -> None:
        trust, line = self._vouching.trust, Line(self._vouching.access)
        trust.renew(time.monotonic())
        self._guard()
        try:
            while not self._stopping:
                sent = time.monotonic()
                if await self._beat(line, sent):
                    trust.renew(sent)
                    pause = next_renewal(trust.lease, sent=sent, now=time.monotonic())
                else:
                    pause = min(RETRY_INTERVAL_S, trust.lease.renew_every.total_seconds())
                await self._rest(pause)
        finally:
            line.close()

    async def _beat(self, line: Line, sent: float) -> bool:
        """One beat; False if the database could not be asked in time."""
        vouching = self._vouching
        ttl = vouching.trust.lease.ttl
        try:
            async with asyncio.timeout(self._limit(line)), line.acquire() as conn:
                running = vouching.attempts.held_runs()
                beat = await sessions.beat(
                    conn, session_id=vouching.session_id, running=running, ttl=ttl
                )
        except StoreUnavailable as error:
            vouching.trust.note_failure(sent, is_down=error.is_down)
            line.close()
            return False
        except TimeoutError:
            vouching.trust.note_failure(sent, is_down=False)
            line.close()
            return False
        self._engine.call_soon_threadsafe(vouching.heed, beat)
        return True

    def _limit(self, line: Line) -> float:
        """A beat must be answered before the next one is due. A connection may take longer: the
        first of several hosts may be silent.
        """
        beat = self._vouching.trust.lease.renew_every.total_seconds()
        return beat if line.is_open else beat + self._vouching.access.connect.total_seconds()

    async def _rest(self, pause: float) -> None:
        self._wanted.clear()
        try:
            async with asyncio.timeout(max(pause, SHORTEST_GAP)):
                await self._wanted.wait()
        except TimeoutError:
            return

    def _guard(self) -> None:
        """Keep attempts from outliving the lease, again and again, beside the beats."""
        attempts, trust, now = self._vouching.attempts, self._vouching.trust, time.monotonic()
        if now < trust.stop_at:
            self._is_cut_off = False
        elif not self._is_cut_off:
            self._is_cut_off = True
            event = AttemptsCutOff(stopped=attempts.stop_for_lease())
            self._engine.call_soon_threadsafe(self._vouching.emit, event)
        if now >= trust.end_at and attempts.outlives_lease():
            self._vouching.emit(LeaseOutlived())
            child_groups.kill_all()
            self._vouching.end(EXIT_CODE)
        if not self._stopping:
            # While beats succeed the time to stop moves on; there is nothing to look at before.
            self._loop.call_later(max(GUARD_INTERVAL_S, trust.stop_at - now), self._guard)

    def _lose(self, error: Exception) -> None:
        """Tell the engine; if it does not even hear that, end the process."""

        def tell() -> None:
            heard.set()
            if not self.lost.done():
                self.lost.set_exception(error)

        heard = threading.Event()
        try:
            self._engine.call_soon_threadsafe(tell)
        except RuntimeError:
            return  # the engine has ended
        if not heard.wait(LAST_WORDS):
            self._vouching.end(EXIT_CODE)

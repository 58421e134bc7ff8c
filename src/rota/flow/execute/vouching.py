"""The heartbeat of a worker, from a thread and a connection of its own. Room: flow/execute.

A worker that is busy must not look dead, so nothing that it does for others may delay the beat: not
the engine's loop, not a handler, not a full pool (F17). A beat says which runs are really being
executed and brings back which of them to cancel, and whether to drain.

If beats fail for `stop_after`, by the monotonic clock and counted from when the last good one was
sent, the worker stops itself: `LeaseLost` ends the node at once. A process that was frozen finds
out when it wakes up, before it asks anybody. If the engine's loop does not react either, the
process is ended from here: somebody else may own its runs already.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.lease import Lease, may_act, next_renewal
from rota.flow.execute.trust import Trust
from rota.runtime.stop import Halt
from rota.store import sessions
from rota.store.pool import Access, Line
from rota.store.sessions import Beat

# How long the engine may take to die of a lost lease before it is killed.
LAST_WORDS: Final = 3.0
EXIT_CODE: Final = 70
# A beat that was asked for does not come sooner than this after the last one.
SHORTEST_GAP: Final = 0.05


@dataclass(slots=True, kw_only=True)
class Vouching:
    """`running` is read from the thread; `heed` is called in the engine's loop with each beat."""

    access: Access
    session_id: UUID
    lease: Lease
    running: Collection[UUID]
    heed: Callable[[Beat], object]
    end: Callable[[int], object]
    trust: Trust
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
        lease, line = self._vouching.lease, Line(self._vouching.access)
        good = time.monotonic()
        self._trust_from(good)
        try:
            while not self._stopping:
                sent = time.monotonic()
                if not may_act(lease, sent=good, now=sent):
                    raise LeaseLost(thing="session", id=self._vouching.session_id)
                if await self._beat(line):
                    good = sent
                    self._trust_from(good)
                    pause = next_renewal(lease, sent=sent, now=time.monotonic())
                else:
                    pause = min(0.25, lease.renew_every.total_seconds())
                await self._rest(pause)
        finally:
            line.close()

    def _trust_from(self, sent: float) -> None:
        self._vouching.trust.until = sent + self._vouching.lease.stop_after.total_seconds()

    async def _beat(self, line: Line) -> bool:
        """One beat; False if the database could not be asked in time."""
        limit = self._vouching.lease.renew_every.total_seconds()
        try:
            async with asyncio.timeout(limit), line.acquire() as conn:
                beat = await sessions.beat(
                    conn,
                    session_id=self._vouching.session_id,
                    running=list(self._vouching.running),
                    ttl=self._vouching.lease.ttl,
                )
        except (StoreUnavailable, TimeoutError):
            line.close()
            return False
        self._engine.call_soon_threadsafe(self._vouching.heed, beat)
        return True

    async def _rest(self, pause: float) -> None:
        self._wanted.clear()
        try:
            async with asyncio.timeout(max(pause, SHORTEST_GAP)):
                await self._wanted.wait()
        except TimeoutError:
            return

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

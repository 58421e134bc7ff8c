"""Holds shards by lease, and shares them with the other schedulers (O3). Room: flow/schedule.

A duty. Each pass renews the session and the shards, looks who else is alive, lets go of what is
above this scheduler's share and takes what is free up to it. Nobody leads: everyone computes the
same plan from the same rows (core/shard.py), and a lease keeps two from holding one shard.

The session lives as long as a shard's lease. If it lived longer, a dead scheduler would still count
when the living compute their shares, and its shards would lie idle. A session that another process
has expired is not mourned: the next pass opens a new one, with a new id.

A machine whose clock is far from the database's is broken in ways that we cannot know. It fires by
the database's clock anyway, but beyond `CLOCK_OFFSET_LIMIT` it holds nothing (F05). The process's
clock monitor warns about it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import CLOCK_OFFSET_LIMIT, Clock, clock_offset
from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.events import Emit, SessionOpened, ShardsMoved
from rota.core.lease import next_renewal
from rota.core.shard import plan_shards, share_of
from rota.flow.schedule.tenure import NOBODY, Tenure
from rota.runtime.offset import Offset
from rota.runtime.service import Duty
from rota.runtime.stop import Halt
from rota.store import sessions, shards
from rota.store.cursors import Ownership
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time
from rota.store.sessions import NewSession, Role
from rota.store.shards import Shard

# While others still hold what is ours to take: they let go at their next pass.
IMPATIENT: Final = 0.5
# After a lease of somebody else should have run out, so that it has.
MARGIN: Final = timedelta(milliseconds=10)
SHORTEST: Final = 0.05


@dataclass(slots=True, kw_only=True)
class Leasing:
    """`moved` is called when shards were taken, so that they are read at once."""

    source: Source
    tenure: Tenure
    offset: Offset
    clock: Clock
    name: str
    new_id: Callable[[], UUID]
    emit: Emit
    moved: Callable[[], object]
    _session: UUID = field(default=NOBODY)

    async def tick(self) -> float:
        """Renew, and come closer to an even share."""
        lease = self.tenure.lease
        async with self.source.acquire() as conn:
            sent = self.clock.monotonic()
            now, apart = await self._database_time(conn)
            if abs(apart) > CLOCK_OFFSET_LIMIT:
                await self._release_all(conn)
                return lease.renew_every.total_seconds()
            try:
                await self._vouch(conn)
            except LeaseLost:
                self._start_over()
                return 0.0
            rest = await self._share(conn, now, sent)
        renewal = next_renewal(lease, sent=sent, now=self.clock.monotonic())
        return max(SHORTEST, min(rest, renewal))

    async def let_go(self) -> None:
        """Give everything back, so that nobody has to wait for the leases to run out."""
        try:
            async with self.source.acquire() as conn:
                await self._release_all(conn)
        except StoreUnavailable:
            self._start_over()  # then they wait

    async def _database_time(self, conn: Connection) -> tuple[datetime, timedelta]:
        """The database's time, and by how much it is outside of the time we asked in."""
        asked, sent = self.clock.now(), self.clock.monotonic()
        now = await database_time(conn)
        self.offset.note(now, sent=sent, received=self.clock.monotonic())
        return now, clock_offset(now, asked=asked, answered=self.clock.now())

    async def _vouch(self, conn: Connection) -> None:
        ttl = self.tenure.lease.ttl
        if self._session == NOBODY:
            session = NewSession(id=self.new_id(), role=Role.SCHEDULER, name=self.name)
            await sessions.open_session(conn, session, ttl=ttl)
            self._session = session.id
            role = Role.SCHEDULER.value
            self.emit(SessionOpened(role=role, name=self.name, session_id=session.id))
        else:
            await sessions.beat(conn, session_id=self._session, running=(), ttl=ttl)

    async def _share(self, conn: Connection, now: datetime, sent: float) -> float:
        """Renew, release and take; return how long nothing can change."""
        me, ttl = self._session, self.tenure.lease.ttl
        before = set(self.tenure.epochs)
        kept = await shards.renew(conn, owner=me, shards=list(before), ttl=ttl)
        live = [one.id for one in await sessions.live(conn, Role.SCHEDULER) if not one.draining]
        rows = await shards.owners(conn)
        plan = plan_shards(me, live=live, owners={row.id: row.owner for row in rows})
        released = frozenset(plan.release)
        # First stop acting on them, then let them go.
        self.tenure.without(released)
        if released:
            await shards.release(conn, owner=me, shards=plan.release)
        taken = await shards.hold(conn, owner=me, shards=plan.take, ttl=ttl) if plan.take else {}
        epochs = {s: e for s, e in kept.items() if s not in released} | taken
        self.tenure.confirm(Ownership(owner=me, epochs=epochs), sent=sent)
        self._tell(before, kept, released, taken)
        wants_more = len(epochs) < share_of(me, live)
        return IMPATIENT if wants_more else self._until_others_expire(rows, now)

    def _tell(
        self,
        before: set[int],
        kept: dict[int, int],
        released: frozenset[int],
        taken: dict[int, int],
    ) -> None:
        lost = len(before - kept.keys())
        if not (taken or released or lost):
            return
        self.emit(
            ShardsMoved(
                taken=len(taken), released=len(released), lost=lost, held=len(self.tenure.epochs)
            )
        )
        if taken:
            self.moved()

    def _until_others_expire(self, rows: Sequence[Shard], now: datetime) -> float:
        """Who is alive renews long before that: then nothing happens, and it is looked again."""
        ends = [row.expires_at for row in rows if row.owner not in {None, self._session}]
        if not ends:
            return self.tenure.lease.renew_every.total_seconds()
        return (min(ends) + MARGIN - now).total_seconds()

    async def _release_all(self, conn: Connection) -> None:
        me, held = self._session, self._forget()
        if me == NOBODY:
            return
        await shards.release(conn, owner=me, shards=held)
        await sessions.close(conn, me)
        if held:
            self.emit(ShardsMoved(taken=0, released=len(held), lost=0, held=0))

    def _start_over(self) -> None:
        lost = self._forget()
        if lost:
            self.emit(ShardsMoved(taken=0, released=0, lost=len(lost), held=0))

    def _forget(self) -> list[int]:
        """Act on nothing any more; return the shards that were held."""
        held = list(self.tenure.epochs)
        self._session = NOBODY
        self.tenure.confirm(Ownership(owner=NOBODY, epochs={}), sent=float("-inf"))
        return held


@dataclass(frozen=True, slots=True, kw_only=True)
class LastLease:
    """The leasing duty, and giving everything back when it is told to stop."""

    duty: Duty
    leasing: Leasing
    name: str = "leasing"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.leasing.let_go()

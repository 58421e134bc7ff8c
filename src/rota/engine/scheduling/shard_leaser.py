"""Holds shards by lease and shares them evenly with the other schedulers (O3).

A duty. Each pass renews the session and the shards, reads which schedulers are alive, releases the
shards above this scheduler's share and takes free ones up to it. There is no leader: every
scheduler computes the same plan from the same rows (core/lease.py), and a lease prevents two
schedulers from holding one shard.

The session lives as long as a shard's lease. If it lived longer, a dead scheduler would still count
when the others compute their shares, and its shards would lie idle. When another process has
expired the session, the next pass opens a new one with a new id.

A machine whose clock is far from the database's clock may be broken in other ways too. Ticks fire
by the database's clock in any case, but beyond `CLOCK_OFFSET_LIMIT` the scheduler holds no shard
(F05). The process's clock monitor warns about it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import CLOCK_OFFSET_LIMIT, ClockSource, compute_clock_offset
from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.lease import Lease, compute_next_renewal, compute_share, may_act, plan_shards
from rota.core.log_events import Emit, SessionOpened, ShardsMoved
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.service import Duty, Halt
from rota.store import sessions
from rota.store.cursors import ShardOwnership
from rota.store.driver import Connection, ConnectionSource
from rota.store.pool import read_database_time
from rota.store.sessions import NewSession, SessionRole, Shard

NO_OWNER: Final = UUID(int=0)
# Rest while others still hold shards above their share; they release them at their next pass.
SHORTAGE_REST_S: Final = 0.5
# Added to the expiry of another scheduler's lease, so that it has expired for certain.
EXPIRY_MARGIN: Final = timedelta(milliseconds=10)
LEASING_REST_MIN_S: Final = 0.05


@dataclass(slots=True, kw_only=True)
class HeldShards:
    """The shards that this scheduler holds, and how long it may act on them.

    The shard leaser writes it; the other duties of the process read it. The lease counts on the
    monotonic clock from when the last successful renewal was *sent* (core/lease.py). This only
    saves useless work: the epoch in the database prevents a scheduler from firing with a lost
    lease.
    """

    lease: Lease
    ownership: ShardOwnership = field(
        default_factory=lambda: ShardOwnership(owner=NO_OWNER, epochs={})
    )
    renewal_sent_at: float = float("-inf")

    @property
    def epochs(self) -> Mapping[int, int]:
        return self.ownership.epochs

    def may_act(self, now: float) -> bool:
        return bool(self.epochs) and may_act(self.lease, sent=self.renewal_sent_at, now=now)

    def confirm(self, ownership: ShardOwnership, *, sent: float) -> None:
        """Store what the database confirmed, and when the request was sent."""
        self.ownership = ownership
        self.renewal_sent_at = sent

    def drop_shards(self, shards: Mapping[int, object] | frozenset[int]) -> None:
        """Stop acting on these shards."""
        kept = {shard: epoch for shard, epoch in self.epochs.items() if shard not in shards}
        self.ownership = ShardOwnership(owner=self.ownership.owner, epochs=kept)


@dataclass(slots=True, kw_only=True)
class ShardLeaser:
    """Calls `on_shards_taken` after taking shards, so that they are read at once."""

    source: ConnectionSource
    held_shards: HeldShards
    offset: ClockOffset
    clock: ClockSource
    name: str
    new_id: Callable[[], UUID]
    emit: Emit
    on_shards_taken: Callable[[], object]
    # Stored with the session: where the process answers probes, and its version.
    observe_url: str | None = None
    version: str | None = None
    _session: UUID = field(default=NO_OWNER)

    async def tick(self) -> float:
        """Renew the leases and move towards an even share."""
        lease = self.held_shards.lease
        async with self.source.acquire() as conn:
            sent = self.clock.monotonic()
            now, apart = await self._database_time(conn)
            if abs(apart) > CLOCK_OFFSET_LIMIT:
                await self._release_all(conn)
                return lease.renew_every.total_seconds()
            try:
                await self._renew_session(conn)
            except LeaseLost:
                self._start_over()
                return 0.0
            rest = await self._balance_shards(conn, now, sent)
        renewal = compute_next_renewal(lease, sent=sent, now=self.clock.monotonic())
        return max(LEASING_REST_MIN_S, min(rest, renewal))

    async def release_shards(self) -> None:
        """Release every shard, so that other schedulers need not wait for the leases to expire."""
        try:
            async with self.source.acquire() as conn:
                await self._release_all(conn)
        except StoreUnavailable:
            self._start_over()  # the leases expire by themselves

    async def _database_time(self, conn: Connection) -> tuple[datetime, timedelta]:
        """Return the database's time and its offset from the local clock."""
        asked, sent = self.clock.now(), self.clock.monotonic()
        now = await read_database_time(conn)
        self.offset.record_response(now, sent=sent, received=self.clock.monotonic())
        return now, compute_clock_offset(now, sent_at=asked, received_at=self.clock.now())

    async def _renew_session(self, conn: Connection) -> None:
        ttl = self.held_shards.lease.ttl
        if self._session == NO_OWNER:
            session = NewSession(
                id=self.new_id(),
                role=SessionRole.SCHEDULER,
                name=self.name,
                observe_url=self.observe_url,
                version=self.version,
            )
            await sessions.open_session(conn, session, ttl=ttl)
            self._session = session.id
            role = SessionRole.SCHEDULER.value
            self.emit(SessionOpened(role=role, name=self.name, session_id=session.id))
        else:
            await sessions.send_heartbeat(conn, session_id=self._session, running=(), ttl=ttl)

    async def _balance_shards(self, conn: Connection, now: datetime, sent: float) -> float:
        """Renew, release and take shards; return how long nothing can change."""
        me, ttl = self._session, self.held_shards.lease.ttl
        before = set(self.held_shards.epochs)
        kept = await sessions.renew_shards(conn, owner=me, shards=list(before), ttl=ttl)
        live = [
            s.id
            for s in await sessions.read_live_sessions(conn, SessionRole.SCHEDULER)
            if not s.draining
        ]
        rows = await sessions.read_shards(conn)
        plan = plan_shards(me, live=live, owners={row.id: row.owner for row in rows})
        released = frozenset(plan.release)
        # Stop acting on them before releasing them.
        self.held_shards.drop_shards(released)
        if released:
            await sessions.release_shards(conn, owner=me, shards=plan.release)
        taken = (
            await sessions.hold_shards(conn, owner=me, shards=plan.take, ttl=ttl)
            if plan.take
            else {}
        )
        epochs = {s: e for s, e in kept.items() if s not in released} | taken
        self.held_shards.confirm(ShardOwnership(owner=me, epochs=epochs), sent=sent)
        self._report_moves(before, kept, released, taken)
        wants_more = len(epochs) < compute_share(me, live)
        return SHORTAGE_REST_S if wants_more else self._until_others_expire(rows, now)

    def _report_moves(
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
                taken=len(taken),
                released=len(released),
                lost=lost,
                held=len(self.held_shards.epochs),
            )
        )
        if taken:
            self.on_shards_taken()

    def _until_others_expire(self, rows: Sequence[Shard], now: datetime) -> float:
        """Return the seconds until the first lease of another scheduler expires. A live scheduler
        renews long before that; then the pass changes nothing.
        """
        ends = [row.expires_at for row in rows if row.owner not in {None, self._session}]
        if not ends:
            return self.held_shards.lease.renew_every.total_seconds()
        return (min(ends) + EXPIRY_MARGIN - now).total_seconds()

    async def _release_all(self, conn: Connection) -> None:
        me, held = self._session, self._forget()
        if me == NO_OWNER:
            return
        await sessions.release_shards(conn, owner=me, shards=held)
        await sessions.close_session(conn, me)
        if held:
            self.emit(ShardsMoved(taken=0, released=len(held), lost=0, held=0))

    def _start_over(self) -> None:
        lost = self._forget()
        if lost:
            self.emit(ShardsMoved(taken=0, released=0, lost=len(lost), held=0))

    def _forget(self) -> list[int]:
        """Stop acting on every shard; return the shards that were held."""
        held = list(self.held_shards.epochs)
        self._session = NO_OWNER
        self.held_shards.confirm(ShardOwnership(owner=NO_OWNER, epochs={}), sent=float("-inf"))
        return held


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardLeaserService:
    """The leasing duty, which releases every shard when it is stopped."""

    duty: Duty
    leaser: ShardLeaser
    name: str = "leasing"

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.leaser.release_shards()

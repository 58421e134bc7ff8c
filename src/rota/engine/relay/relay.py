"""Hands the events of finished runs, attempts, jobs and incidents to consumers, each at least once.

One process of the fleet holds the lease and does a pass every half second. A pass is one
transaction: it reads what is new (tails.py), gives it to every consumer, which writes what follows
from it, and moves the position. Either all of it is committed or none. After a crash, rows that
were read above the position are read again: their events have the same ids, and consumers ignore
those they know. Nothing is written while nothing happens, except the position once a second, by
which others see that the relay is alive (`rota.relays`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.commit_window import WRITE_MARGIN
from rota.core.errors import LeaseLost, RotaError, StoreRefused, StoreUnavailable
from rota.core.log_events import Emit, EventsRelayed, RelayAcquired
from rota.core.outgoing_events import OutgoingEvent, RelayConsumer, RelayInterests
from rota.engine.relay.tails import (
    PASS_EVENTS_MAX,
    SLICE_FIRST,
    SLICE_MIN,
    SortedInterests,
    TailPass,
    TailReader,
    adapt_slice,
    sort_interests,
)
from rota.runtime.service import Duty, Halt
from rota.store import feed, relays
from rota.store.driver import Connection, ConnectionSource
from rota.store.named_leases import NamedLease, acquire_lease, confirm_lease, release_lease
from rota.store.relays import RELAY_NAME, RelayHorizon, RelayPosition
from rota.store.transaction import transaction

RELAY_LEASE: Final = timedelta(seconds=30)
RENEW_INTERVAL_S: Final = 10.0
# Seconds between checks while another process holds the lease.
LEASE_CHECK_INTERVAL_S: Final = 5.0
PASS_INTERVAL_S: Final = 0.5
# A pass costs the database in proportion to the rows of the last seconds. A relay that is not
# behind rests this many times as long as its last pass took, so that its share of the server stays
# small while many runs end, and at most this long, so that alerts stay quick.
REST_FACTOR: Final = 11.0
PASS_INTERVAL_MAX_S: Final = 3.0
# How often an idle relay stores its position, which shows that it is alive.
IDLE_MOVE_INTERVAL: Final = timedelta(seconds=1)
# How far a relay goes back if the server is another one: after a restore, an upgrade or a
# fail-over, its clock may be behind.
OTHER_SERVER_REACH: Final = timedelta(minutes=10)
SUMMARIZE_INTERVAL_S: Final = 10.0
SUMMARIZED_RANGES_MAX: Final = 64
# How long the position of a sink is kept that is no longer in any settings.
UNUSED_SINK_KEEP: Final = timedelta(days=30)


@dataclass(slots=True, kw_only=True)
class LeasedPosition:
    """Holds the lease of a relay or sink, and the position from which it reads."""

    name: str
    owner: UUID
    holder: str
    clock: ClockSource
    emit: Emit
    lease: NamedLease | None = None
    position: RelayPosition | None = None
    reader: TailReader | None = None
    _renewed_s: float = float("-inf")

    async def hold(self, conn: Connection) -> NamedLease | None:
        """Take the lease, or renew it from time to time. Return None while another process holds
        it.
        """
        if self.lease is not None and self.clock.monotonic() - self._renewed_s < RENEW_INTERVAL_S:
            return self.lease
        before = self.lease
        began_s = self.clock.monotonic()
        self.lease = await acquire_lease(
            conn, self.name, owner=self.owner, holder=self.holder, ttl=RELAY_LEASE
        )
        self._renewed_s = began_s
        if self.lease != before:
            self.forget()
            if self.lease is not None:
                self.emit(RelayAcquired(name=self.name))
        return self.lease

    async def open(self, conn: Connection, horizon: RelayHorizon) -> TailReader:
        """Return the reader, from the stored position on if it begins."""
        if self.reader is not None and self.position is not None:
            if self.position.server == horizon.server:
                return self.reader
            self.forget()
        stored = await relays.read_relay_position(conn, self.name)
        if stored is None:
            stored = await relays.begin_relay(
                conn, self.name, server=horizon.server, since=horizon.now
            )
        if stored is None:
            raise LeaseLost(thing="position of", id=self.name)
        since = min(stored.since, horizon.now - WRITE_MARGIN if stored.moves else horizon.now)
        if stored.server != horizon.server:
            since -= OTHER_SERVER_REACH
        self.position, self.reader = stored, TailReader(since)
        return self.reader

    async def move(
        self, conn: Connection, lease: NamedLease, horizon: RelayHorizon, done: TailPass
    ) -> RelayPosition:
        """Store the position after a pass, if this process still holds the lease. The caller sets
        `position` after the commit.
        """
        if self.position is None:
            raise LeaseLost(thing="position of", id=self.name)
        moved = await relays.move_relay(
            conn,
            self.position,
            server=horizon.server,
            since=done.since,
            complete_until=done.complete_until,
            events=len(done.events),
        )
        if moved is None:
            raise LeaseLost(thing="position of", id=self.name)
        await confirm_lease(conn, lease)
        return moved

    def is_move_due(self, horizon: RelayHorizon, done: TailPass) -> bool:
        """Return whether to store a position after a pass without events. A reader that goes back
        stores it at once, so that it goes back once.
        """
        last = self.position
        if last is None or last.server != horizon.server:
            return True
        return abs(done.complete_until - last.complete_until) >= IDLE_MOVE_INTERVAL

    def forget(self) -> None:
        """Begin again from the stored position at the next pass."""
        self.position = self.reader = None

    async def release(self, source: ConnectionSource) -> None:
        """Let another process continue at once."""
        lease, self.lease = self.lease, None
        self.forget()
        if lease is None:
            return
        # Otherwise the lease expires.
        with suppress(RotaError):
            async with source.acquire() as conn:
                await release_lease(conn, lease)


@dataclass(slots=True, kw_only=True)
class Relay:
    """Reads events and hands them to consumers, as a background duty.

    `owner` identifies this start of the process, `holder` names the process to people. Statements
    of consumers run with the planner settings of the hot pool (store/pool.py).
    """

    source: ConnectionSource
    consumers: Sequence[RelayConsumer[Connection]]
    clock: ClockSource
    emit: Emit
    owner: UUID
    holder: str
    _held: LeasedPosition = field(init=False)
    _slice: timedelta = SLICE_FIRST
    _took_s: float = 0.0
    _summarized_s: float = float("-inf")
    _interests: tuple[RelayInterests, SortedInterests] | None = None

    def __post_init__(self) -> None:
        self._held = LeasedPosition(
            name=RELAY_NAME,
            owner=self.owner,
            holder=self.holder,
            clock=self.clock,
            emit=self.emit,
        )

    async def tick(self) -> float:
        """Hand over one batch, if this process holds the lease."""
        try:
            async with self.source.acquire() as conn:
                lease = await self._held.hold(conn)
                if lease is None:
                    return LEASE_CHECK_INTERVAL_S
                has_more = await self._pass(conn, lease)
                await self._maintain(conn)
        except LeaseLost:
            self._held.forget()
            self._held.lease = None
            return PASS_INTERVAL_S
        except BaseException as error:
            # What was read was not committed.
            self._held.forget()
            if isinstance(error, StoreUnavailable):
                self._slice = max(SLICE_MIN, self._slice / 2)
            raise
        if has_more:
            return 0.0
        return min(max(PASS_INTERVAL_S, REST_FACTOR * self._took_s), PASS_INTERVAL_MAX_S)

    async def release(self) -> None:
        """Release the lease, so that another process continues at once."""
        await self._held.release(self.source)

    async def _pass(self, conn: Connection, lease: NamedLease) -> bool:
        began_s = self.clock.monotonic()
        held = self._held
        async with transaction(conn):
            horizon = await relays.read_relay_horizon(conn)
            reader = await held.open(conn, horizon)
            interests = await self._read_interests(conn)
            done = await reader.read(conn, horizon, interests, length=self._slice)
            await self._hand_over(conn, done.events, now=horizon.now)
            position = held.position
            if done.events or held.is_move_due(horizon, done):
                position = await held.move(conn, lease, horizon, done)
        held.position = position
        took_s = self._took_s = self.clock.monotonic() - began_s
        self._slice = adapt_slice(self._slice, events=len(done.events), took_s=took_s)
        if done.events:
            lag = horizon.now - done.complete_until
            self.emit(EventsRelayed(name=RELAY_NAME, count=len(done.events), lag=lag))
        return done.has_more

    async def _read_interests(self, conn: Connection) -> SortedInterests:
        merged = RelayInterests()
        for consumer in self.consumers:
            merged = merged.merge(await consumer.read_interests(conn))
        if self._interests is None or self._interests[0] != merged:
            self._interests = (merged, sort_interests(merged))
        return self._interests[1]

    async def _hand_over(
        self, conn: Connection, events: Sequence[OutgoingEvent], *, now: datetime
    ) -> None:
        for start in range(0, len(events), PASS_EVENTS_MAX):
            part = events[start : start + PASS_EVENTS_MAX]
            for consumer in self.consumers:
                await consumer.consume(conn, part, now=now)

    async def _maintain(self, conn: Connection) -> None:
        """Keep the data that a pass reads small, as the live feed does, and forget old sinks."""
        now_s = self.clock.monotonic()
        if now_s - self._summarized_s < SUMMARIZE_INTERVAL_S:
            return
        self._summarized_s = now_s
        await relays.delete_unused_positions(conn, keep=UNUSED_SINK_KEEP)
        # The table is being vacuumed, or this role does not own it; autovacuum does it later.
        with suppress(StoreUnavailable, StoreRefused):
            await feed.summarize_ranges(conn, limit=SUMMARIZED_RANGES_MAX)


class LeasedReader(Protocol):
    async def release(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasingRelayDuty:
    """Runs the duty of the relay or of a sink, and releases its lease when the process stops."""

    duty: Duty
    relay: LeasedReader

    @property
    def name(self) -> str:
        return self.duty.name

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.relay.release()

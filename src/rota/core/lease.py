"""Computes until when the holder of a lease may act.

The database's clock grants a lease; the holder measures it with its monotonic clock. The holder
counts from the moment at which it *sent* the successful renewal, so network delay cannot extend its
trust. It stops at `stop_after`, well before another process may take over at `ttl`. The time
between the two covers pauses of the holder and clocks of slightly different speed (F21).

Assigns jobs to shards, and decides which shards a scheduler should hold (O3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from math import inf
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The times of a lease, counted from sending the last renewal.

    `renew_every` < `stop_after` < `ttl`.
    """

    ttl: timedelta
    renew_every: timedelta
    stop_after: timedelta

    def __post_init__(self) -> None:
        if not timedelta(0) < self.renew_every < self.stop_after < self.ttl:
            raise InvalidInput(
                "lease",
                (self.renew_every, self.stop_after, self.ttl),
                "must satisfy renew_every < stop_after < ttl",
            )
        if self.renew_every * 2 > self.stop_after:
            raise InvalidInput(
                "lease.renew_every",
                self.renew_every,
                "must be at most half of stop_after, so that one lost renewal does no harm",
            )


SESSION_LEASE = Lease(
    ttl=timedelta(seconds=10), renew_every=timedelta(seconds=2), stop_after=timedelta(seconds=7)
)


# A process queries the database at least once a second. If two answers are further apart than this,
# its observation of the database was interrupted.
OBSERVATION_GAP_MAX_S: Final = 3.0
# How long before the end of its lease a holder must have stopped.
END_MARGIN_MAX_S: Final = 0.5


class ObservedSpan(NamedTuple):
    """The database was reachable without interruption for `lasted`, up to `asked_at` on its own
    clock. A statement that a frozen server executes much later must not rely on it.
    """

    lasted: timedelta
    asked_at: datetime


@dataclass(slots=True)
class DatabaseObservation:
    """Measures how long a process has reached the database without interruption, on its monotonic
    clock.

    No process can renew its lease during an outage of the database. So a process that expires the
    leases of others first observes the database for one full lease; in that time every live holder
    could renew.
    """

    gap_max: float = OBSERVATION_GAP_MAX_S
    since: float | None = None
    last: float = -inf

    def measure_span(self, now: float) -> timedelta:
        """Return how long the database has been reachable without interruption at `now`."""
        if now - self.last > self.gap_max:
            self.since = None
        return timedelta(seconds=0.0 if self.since is None else now - self.since)

    def record_answer(self, now: float) -> None:
        """Record that the database answered at `now`."""
        if self.since is None or now - self.last > self.gap_max:
            self.since = now
        self.last = now

    def record_silence(self) -> None:
        """Record that the database did not answer."""
        self.since = None


@dataclass(slots=True)
class LeaseValidity:
    """Until when a holder may act on a lease that it cannot renew, on its monotonic clock.

    New work may start until `start_until`. At `stop_at`, work that must not run beside its
    successor is asked to stop; at `end_at`, still before the lease ends, it must have stopped.

    If the database refuses connections, the last two are extended: processes that expire leases
    observe the same refusals, and after `OBSERVATION_GAP_MAX_S` of them their observation starts
    again. One thread writes; the others only read.
    """

    lease: Lease
    start_until: float = inf
    stop_at: float = inf
    end_at: float = inf
    _held_from: float = -inf
    _refused_since: float | None = None

    def renew(self, sent: float) -> None:
        """Record that a renewal that was sent at `sent` succeeded."""
        self._refused_since = None
        self.start_until = sent + self.lease.stop_after.total_seconds()
        self._hold_from(sent)

    def note_failure(self, sent: float, *, is_down: bool) -> None:
        """Record that a renewal failed; `is_down` if the server accepts no connections."""
        if not is_down:
            self._refused_since = None
            return
        if self._refused_since is None:
            self._refused_since = sent
        if sent - self._refused_since >= OBSERVATION_GAP_MAX_S:
            self._hold_from(sent - OBSERVATION_GAP_MAX_S)

    def _hold_from(self, moment: float) -> None:
        self._held_from = max(self._held_from, moment)
        stop_after, ttl = self.lease.stop_after.total_seconds(), self.lease.ttl.total_seconds()
        self.stop_at = self._held_from + stop_after
        self.end_at = self._held_from + ttl - min(END_MARGIN_MAX_S, (ttl - stop_after) / 4)


def may_act(lease: Lease, *, sent: float, now: float) -> bool:
    """Return whether a holder that sent its last successful renewal at `sent` may act at `now`."""
    return 0 <= now - sent < lease.stop_after.total_seconds()


def compute_next_renewal(lease: Lease, *, sent: float, now: float) -> float:
    """Return the seconds until the next renewal."""
    return max(0.0, sent + lease.renew_every.total_seconds() - now)


SHARD_COUNT: Final = 128


def compute_shard(job_id: UUID) -> int:
    """Return the shard of a job. It is stored with the job; every version computes the same."""
    return _shard_of_bytes(job_id.bytes)


def compute_shard_of_hex(job_id: str) -> int:
    """Return the shard of a job whose id is given as 32 hexadecimal digits."""
    return _shard_of_bytes(bytes.fromhex(job_id))


def _shard_of_bytes(job_id: bytes) -> int:
    return blake2b(job_id, digest_size=1, person=b"rota shard").digest()[0] % SHARD_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPlan:
    take: tuple[int, ...]
    release: tuple[int, ...]


def compute_share(me: UUID, live: Sequence[UUID]) -> int:
    """Return how many shards `me` should hold: an even share; the first by id hold one more."""
    order = sorted({*live, me})
    even, rest = divmod(SHARD_COUNT, len(order))
    return even + (order.index(me) < rest)


def plan_shards(me: UUID, *, live: Sequence[UUID], owners: Mapping[int, UUID | None]) -> ShardPlan:
    """Return which shards to take and to release, given the live schedulers and the holders.

    `owners` maps each shard to its holder, None if its lease has expired.
    """
    share = compute_share(me, live)
    held = sorted(shard for shard, owner in owners.items() if owner == me)
    surplus = held[share:]
    free = [shard for shard in range(SHARD_COUNT) if owners.get(shard) is None]
    # Start at different places, so that schedulers that wake at the same time rarely collide.
    start = compute_shard(me) % len(free) if free else 0
    chosen = (free[start:] + free[:start])[: max(0, share - len(held))]
    return ShardPlan(take=tuple(sorted(chosen)), release=tuple(surplus))

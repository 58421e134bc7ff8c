"""Lease and fence arithmetic: who may act, and until when. Room: core.

A lease is granted on the database's clock and trusted on the holder's monotonic clock. The holder
counts from when it *sent* the renewal that succeeded, so the answer's way back cannot lengthen its
trust, and it stops at `stop_after`, well before anybody else may take over at `ttl`. Between the
two lies room for a pause of the holder and for clocks that run at slightly different speeds (F21).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """`renew_every` < `stop_after` < `ttl`, all counted from the last renewal that was sent."""

    ttl: timedelta
    renew_every: timedelta
    stop_after: timedelta

    def __post_init__(self) -> None:
        if not timedelta(0) < self.renew_every < self.stop_after < self.ttl:
            raise InvalidInput(
                "lease",
                (self.renew_every, self.stop_after, self.ttl),
                "renewing must come before stopping, and stopping before the lease ends",
            )
        if self.renew_every * 2 > self.stop_after:
            raise InvalidInput(
                "lease.renew_every",
                self.renew_every,
                "at most half of stop_after, so that one lost renewal is forgiven",
            )


SHARD_LEASE = Lease(
    ttl=timedelta(seconds=6), renew_every=timedelta(seconds=2), stop_after=timedelta(seconds=4)
)
SESSION_LEASE = Lease(
    ttl=timedelta(seconds=10), renew_every=timedelta(seconds=2), stop_after=timedelta(seconds=7)
)


# A process that asks the database at least once a second has not seen it without a break if two of
# its answers are further apart than this.
SIGHT_GAP_MAX_S: Final = 3.0
# How long before the end of its lease a holder is gone.
END_MARGIN_MAX_S: Final = 0.5


class Sight(NamedTuple):
    """The database was seen without a break for `lasted`, up to `asked_at` by its own clock. A
    statement that a frozen server carries out much later must not rely on it.
    """

    lasted: timedelta
    asked_at: datetime


@dataclass(slots=True)
class DatabaseSight:
    """How long a process has seen the database without a break, on its monotonic clock.

    No process can renew its lease in an outage of the database. So a process that expires leases
    of others first watches the database for one full lease: in that time every living holder could
    renew.
    """

    gap_max: float = SIGHT_GAP_MAX_S
    since: float | None = None
    last: float = -inf

    def lasting(self, now: float) -> timedelta:
        """How long the database was seen without a break when it is asked at `now`."""
        if now - self.last > self.gap_max:
            self.since = None
        return timedelta(seconds=0.0 if self.since is None else now - self.since)

    def confirm(self, now: float) -> None:
        """The database answered at `now`."""
        if self.since is None or now - self.last > self.gap_max:
            self.since = now
        self.last = now

    def lose(self) -> None:
        """The database did not answer."""
        self.since = None


@dataclass(slots=True)
class LeaseTrust:
    """Until when a holder may act on a lease that it cannot renew, on its monotonic clock.

    `start_until` bounds what may begin. `stop_at` is when work is asked to stop that must not run
    beside its successor; `end_at`, still before the lease ends, is when it must be gone.

    A database that refuses connections extends the last two. Every process that expires leases
    watches the database as well: in `SIGHT_GAP_MAX_S` of refusals its sight was broken, and began
    anew. One thread writes; the others only read.
    """

    lease: Lease
    start_until: float = inf
    stop_at: float = inf
    end_at: float = inf
    _held_from: float = -inf
    _refused_since: float | None = None

    def renew(self, sent: float) -> None:
        """A renewal that was sent then has succeeded."""
        self._refused_since = None
        self.start_until = sent + self.lease.stop_after.total_seconds()
        self._hold_from(sent)

    def note_failure(self, sent: float, *, is_down: bool) -> None:
        """A renewal that was sent then has failed; `is_down` if the server takes no connections."""
        if not is_down:
            self._refused_since = None
            return
        if self._refused_since is None:
            self._refused_since = sent
        if sent - self._refused_since >= SIGHT_GAP_MAX_S:
            self._hold_from(sent - SIGHT_GAP_MAX_S)

    def _hold_from(self, moment: float) -> None:
        self._held_from = max(self._held_from, moment)
        stop_after, ttl = self.lease.stop_after.total_seconds(), self.lease.ttl.total_seconds()
        self.stop_at = self._held_from + stop_after
        self.end_at = self._held_from + ttl - min(END_MARGIN_MAX_S, (ttl - stop_after) / 4)


def may_act(lease: Lease, *, sent: float, now: float) -> bool:
    """Whether a holder whose last good renewal was sent at `sent` may still act at `now`."""
    return 0 <= now - sent < lease.stop_after.total_seconds()


def trust_left(lease: Lease, *, sent: float, now: float) -> float:
    """Seconds until the holder must stop; never negative."""
    return max(0.0, lease.stop_after.total_seconds() - max(0.0, now - sent))


def next_renewal(lease: Lease, *, sent: float, now: float) -> float:
    """Seconds to rest before the next renewal."""
    return max(0.0, sent + lease.renew_every.total_seconds() - now)


@dataclass(frozen=True, slots=True, order=True)
class Fence:
    """A token that only grows. After a failover the timeline is higher, whatever was lost."""

    timeline: int
    counter: int

    def token(self) -> int:
        """One number for the outside world: later fences are greater."""
        return self.timeline << 40 | self.counter


def is_stale(seen: Fence, *, newest: Fence) -> bool:
    """Whether a writer that shows `seen` must be refused because `newest` was accepted."""
    return seen < newest

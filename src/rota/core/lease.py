"""Lease and fence arithmetic: who may act, and until when. Room: core.

A lease is granted on the database's clock and trusted on the holder's monotonic clock. The holder
counts from when it *sent* the renewal that succeeded, so the answer's way back cannot lengthen its
trust, and it stops at `stop_after`, well before anybody else may take over at `ttl`. Between the
two lies room for a pause of the holder and for clocks that run at slightly different speeds (F21).
"""

from dataclasses import dataclass
from datetime import timedelta

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

"""Leases are trusted for less than they are granted (F21); shards are shared evenly (O3)."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.leases import SHARD_LEASE

from rota.core.errors import InvalidInput
from rota.core.lease import (
    SESSION_LEASE,
    SHARD_COUNT,
    Lease,
    compute_next_renewal,
    compute_shard,
    compute_share,
    may_act,
    plan_shards,
)


@pytest.mark.parametrize("lease", [SHARD_LEASE, SESSION_LEASE])
def test_a_holder_stops_well_before_anybody_else_may_take_over(lease: Lease) -> None:
    stop, ttl = lease.stop_after.total_seconds(), lease.ttl.total_seconds()

    assert may_act(lease, sent=100.0, now=100.0 + stop - 0.001)
    assert not may_act(lease, sent=100.0, now=100.0 + stop)
    assert ttl - stop >= ttl / 4


def test_a_monotonic_clock_that_seems_to_go_back_ends_all_trust() -> None:
    assert not may_act(SHARD_LEASE, sent=100.0, now=99.0)


def test_the_next_renewal_counts_down_from_when_the_last_was_sent() -> None:
    assert compute_next_renewal(SHARD_LEASE, sent=10.0, now=11.5) == 0.5
    assert compute_next_renewal(SHARD_LEASE, sent=10.0, now=99.0) == 0.0


@pytest.mark.parametrize(("renew", "stop", "ttl"), [(2, 6, 6), (4, 3, 6), (0, 4, 6), (3, 4, 6)])
def test_a_lease_whose_times_cannot_work_is_refused(renew: int, stop: int, ttl: int) -> None:
    with pytest.raises(InvalidInput):
        Lease(
            ttl=timedelta(seconds=ttl),
            renew_every=timedelta(seconds=renew),
            stop_after=timedelta(seconds=stop),
        )


def test_the_shard_of_a_job_never_changes() -> None:
    jobs = [UUID(int=n) for n in (0, 1, 2, 2**127)]

    assert [compute_shard(job) for job in jobs] == [30, 19, 81, 93]


def test_jobs_spread_evenly_over_the_shards() -> None:
    counts = [0] * SHARD_COUNT
    for n in range(128_000):
        counts[compute_shard(UUID(int=n))] += 1

    assert min(counts) > 850
    assert max(counts) < 1150


def test_shares_differ_by_one_at_most_and_add_up() -> None:
    for number in range(1, 140):
        live = [UUID(int=n) for n in range(number)]
        shares = [compute_share(me, live) for me in live]
        assert sum(shares) == SHARD_COUNT
        assert max(shares) - min(shares) <= 1


def test_a_scheduler_that_is_alone_takes_everything() -> None:
    me = UUID(int=1)

    plan = plan_shards(me, live=[me], owners=dict.fromkeys(range(SHARD_COUNT)))

    assert plan.take == tuple(range(SHARD_COUNT))
    assert plan.release == ()

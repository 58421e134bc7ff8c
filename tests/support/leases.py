"""The lease of a shard, with the times that a scheduler has by default."""

from datetime import timedelta

from rota.core.lease import Lease

SHARD_LEASE = Lease(
    ttl=timedelta(seconds=6), renew_every=timedelta(seconds=2), stop_after=timedelta(seconds=4)
)

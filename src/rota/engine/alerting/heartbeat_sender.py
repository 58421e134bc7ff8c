"""Sends a heartbeat to an outside monitor while Rota works (a dead man's switch).

One process sends it, by lease. Renewing the lease writes a row, which proves that the database
accepts writes. A look at the database proves that ticks are fired and events relayed. If the look
finds a problem, the failure is sent; if no look is possible, nothing is sent, and the monitor
alerts because of the silence.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.heartbeat import CanaryFigures, HeartbeatFailed, find_canary_problems
from rota.core.log_events import HeartbeatRefused
from rota.runtime.events import Emit
from rota.store import metrics_queries, named_leases, relays
from rota.store.driver import Connection, ConnectionSource
from rota.store.named_leases import NamedLease

LEASE_NAME: Final = "heartbeat"
LEASE_CHECK_INTERVAL_S: Final = 5.0
# The lease outlives a missed beat, so that only one process sends.
LEASE_PERIODS: Final = 3

SendHeartbeat = Callable[[str, str], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class HeartbeatSender:
    """`send` posts a text to a URL. `owner` identifies this start of the process."""

    source: ConnectionSource
    url: str = field(repr=False)
    every: timedelta
    send: SendHeartbeat
    owner: UUID
    holder: str
    emit: Emit
    _lease: NamedLease | None = None

    async def tick(self) -> float:
        """Send one heartbeat, if this process holds the lease."""
        async with self.source.acquire() as conn:
            self._lease = await named_leases.acquire_lease(
                conn,
                LEASE_NAME,
                owner=self.owner,
                holder=self.holder,
                ttl=LEASE_PERIODS * self.every,
            )
            if self._lease is None:
                return LEASE_CHECK_INTERVAL_S
            problems = find_canary_problems(await read_canary(conn))
        url = f"{self.url.rstrip('/')}/fail" if problems else self.url
        try:
            await self.send(url, "; ".join(problems) or "all is well")
        except HeartbeatFailed as error:
            self.emit(HeartbeatRefused(reason=str(error)))
        return self.every.total_seconds()


async def read_canary(conn: Connection) -> CanaryFigures:
    """Read the figures that prove that Rota works."""
    cluster = await metrics_queries.read_cluster(conn)
    return CanaryFigures(
        shards_unowned=0 if cluster is None else cluster.shards_unowned,
        firing_lag=timedelta(0) if cluster is None else cluster.fire_lag,
        relay_lag=await relays.read_relay_lag(conn),
    )

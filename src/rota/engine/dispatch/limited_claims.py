"""Claims runs for one worker, within the limits in force.

Combines the three kinds of claims for run_claimer.py: plain claims, claims from queues and tenants
that are limited as a whole (guarded_claims.py), and claims of runs with gates of their own
(gated_claims.py). It reads the limits about once a second; the claims themselves check for a pause.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.tenancy import EVERY_TENANT, SERVES_EVERY_TENANT, ServedTenants
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.dispatch.guarded_claims import (
    LimitsInForce,
    claim_within_limits,
    read_limits_in_force,
)
from rota.store import interning
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, LaneScan

LIMITS_REFRESH_INTERVAL_S: Final = 1.0
# How long the names of tenants are trusted once all of them were found.
LOOK_UP_INTERVAL_S: Final = 30.0


@dataclass(slots=True, kw_only=True)
class ServedTenantIds:
    """Resolves the tenants that a worker serves to ids, by queue. `queues` maps the ids of the
    worker's queues to their names.

    The settings of a worker name tenants, and the lanes of a queue carry their ids. A tenant may be
    created after the worker has started: an unknown name is looked up about once a second, and
    known names now and then, because a tenant may be deleted and created again under the same name.
    """

    served: ServedTenants = SERVES_EVERY_TENANT
    queues: Mapping[int, str] = field(default_factory=dict)
    _names: Sequence[str] = ()
    _ids: Mapping[str, int] = field(default_factory=dict)
    _looked_up: float = float("-inf")

    def __post_init__(self) -> None:
        self._names = self.served.list_names()

    async def refresh(self, conn: Connection, *, now: float) -> None:
        """Look up the names, unless all were found recently."""
        is_complete = len(self._ids) == len(self._names)
        if is_complete and now - self._looked_up < LOOK_UP_INTERVAL_S:
            return
        self._ids = await interning.find_known_tenant_ids(conn, self._names) if self._names else {}
        self._looked_up = now

    def tenant_ids(self, queue_id: int) -> Sequence[int] | None:
        """Return the tenants that the worker serves in a queue; None means every tenant."""
        wanted = self.served.find_by_queue(self.queues.get(queue_id, ""))
        if EVERY_TENANT in wanted:
            return None
        return sorted(self._ids[name] for name in wanted if name in self._ids)


@dataclass(slots=True, kw_only=True)
class LimitedClaims:
    session_id: UUID
    queue_ids: tuple[int, ...]
    kind_ids: tuple[int, ...]
    clock: ClockSource
    # Runs that become ready within this time are claimed early. Gated runs are not: that would take
    # a place from a run that is ready now.
    ahead: timedelta = timedelta(0)
    served_tenants: ServedTenantIds = field(default_factory=ServedTenantIds)
    _gated: GatedClaims = field(default_factory=GatedClaims)
    _in_force: LimitsInForce = field(default_factory=LimitsInForce)
    _refreshed_at: float = float("-inf")

    @property
    def weights(self) -> Mapping[int, int]:
        return self._in_force.weights

    async def refresh(self, conn: Connection) -> None:
        """Read the limits in force, at most once per `LIMITS_REFRESH_INTERVAL_S`."""
        now = self.clock.monotonic()
        if now - self._refreshed_at >= LIMITS_REFRESH_INTERVAL_S:
            self._in_force = await read_limits_in_force(conn, self.queue_ids)
            await self.served_tenants.refresh(conn, now=now)
            self._refreshed_at = now

    def tenant_ids(self, queue_id: int) -> Sequence[int] | None:
        """Return the tenants whose runs are claimed from a queue; None means all tenants."""
        return self.served_tenants.tenant_ids(queue_id)

    async def claim_open(
        self, conn: Connection, *, queue_id: int, walks: Sequence[LaneScan], room: int
    ) -> list[ClaimedRun]:
        return await claim_within_limits(
            conn,
            session_id=self.session_id,
            queue_id=queue_id,
            kind_ids=self.kind_ids,
            walks=walks,
            room=room,
            ahead=self.ahead,
            limits=self._in_force,
        )

    async def claim_gated(self, conn: Connection, *, queue_id: int, room: int) -> list[ClaimedRun]:
        tenant_ids = self.tenant_ids(queue_id)
        if tenant_ids is not None and not tenant_ids:
            return []
        return await self._gated.claim(
            conn,
            session_id=self.session_id,
            queue_id=queue_id,
            kind_ids=self.kind_ids,
            room=room,
            tenant_ids=tenant_ids,
        )

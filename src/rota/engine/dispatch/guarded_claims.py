"""Claims runs within the limits of whole queues and tenants (E7, T1).

Such a limit is a gate that every run of the queue, of the tenant, or of the tenant in the queue
passes. The claim locks these gates, reduces the shares to what is free behind them, and walks the
lanes as usual. Without a limit in force it is the plain claim. gated_claims.py claims runs with
gates of their own.

Claims runs for one worker, within the limits in force.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.gates import cap_shares, compute_payments
from rota.core.tenancy import EVERY_TENANT, SERVES_EVERY_TENANT, ServedTenants
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.store import gates, interning, live_runs
from rota.store.driver import Connection
from rota.store.gates import EnteredGates, GateEntry
from rota.store.live_runs import ClaimedRun, LaneScan
from rota.store.transaction import transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsInForce:
    """The limits of whole queues and tenants, at most about a second old: their gates by queue id,
    tenant id or both, and the tenants whose weight is not 1.
    """

    queues: Mapping[int, int] = field(default_factory=dict)
    tenants: Mapping[int, int] = field(default_factory=dict)
    tenant_queues: Mapping[tuple[int, int], int] = field(default_factory=dict)
    weights: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """The arguments of one plain claim."""

    session_id: UUID
    queue_id: int
    kind_ids: Sequence[int]
    walks: Sequence[LaneScan]
    room: int
    ahead: timedelta


async def read_limits_in_force(conn: Connection, queue_ids: Sequence[int]) -> LimitsInForce:
    """Read the limits in force; about once a second is often enough."""
    guards = await gates.read_shared_gates(conn, queue_ids)
    return LimitsInForce(
        queues={
            g.queue_id: g.gate_id
            for g in guards
            if g.gate_id and g.queue_id and g.tenant_id is None
        },
        tenants={
            g.tenant_id: g.gate_id
            for g in guards
            if g.gate_id and g.tenant_id and g.queue_id is None
        },
        tenant_queues={
            (g.tenant_id, g.queue_id): g.gate_id
            for g in guards
            if g.gate_id and g.tenant_id and g.queue_id
        },
        weights={g.tenant_id: g.weight for g in guards if g.tenant_id and g.weight != 1},
    )


async def claim_within_limits(  # noqa: PLR0913 — the plain claim's arguments and the limits
    conn: Connection,
    *,
    session_id: UUID,
    queue_id: int,
    kind_ids: Sequence[int],
    walks: Sequence[LaneScan],
    room: int,
    limits: LimitsInForce,
    ahead: timedelta = timedelta(0),
) -> list[ClaimedRun]:
    """Claim like `live_runs.claim`, within the limits of the queue and of the tenants."""
    want = ClaimRequest(
        session_id=session_id,
        queue_id=queue_id,
        kind_ids=kind_ids,
        walks=walks,
        room=room,
        ahead=ahead,
    )
    entry = _build_entry(want, limits)
    if not (entry.queues or entry.tenants or entry.tenant_queues):
        return await _claim(conn, want, walks, room)
    async with transaction(conn):
        entered = await gates.enter_gates(conn, entry)
        claimed = await _claim_within_caps(conn, want, entry, entered)
        passed = [_gates_of(run, want.queue_id, entry) for run in claimed]
        await gates.store_paid_until(
            conn, compute_payments(passed, entered.standings, now=entered.now)
        )
    return claimed


def _build_entry(want: ClaimRequest, in_force: LimitsInForce) -> GateEntry:
    queue = in_force.queues.get(want.queue_id)
    walked = {walk.lane.tenant for walk in want.walks}
    pairs = {(tenant, want.queue_id) for tenant in walked} if in_force.tenant_queues else set()
    return GateEntry(
        queues={} if queue is None else {want.queue_id: queue},
        tenants={tenant: in_force.tenants[tenant] for tenant in walked & in_force.tenants.keys()},
        tenant_queues={
            pair: in_force.tenant_queues[pair] for pair in pairs & in_force.tenant_queues.keys()
        },
    )


async def _claim_within_caps(
    conn: Connection, want: ClaimRequest, entry: GateEntry, entered: EnteredGates
) -> list[ClaimedRun]:
    """Claim in passes: what a tenant's first lane leaves of its cap goes to the next lane.

    Each pass removes at least one lane, and nearly always all of them.
    """
    room = want.room
    for gate in entry.queues.values():
        room = _places(entered, gate, wanted=room)
    caps = {tenant: _places(entered, gate, wanted=room) for tenant, gate in entry.tenants.items()}
    for (tenant, _), gate in entry.tenant_queues.items():
        caps[tenant] = min(caps.get(tenant, room), _places(entered, gate, wanted=room))
    claimed: list[ClaimedRun] = []
    waiting = [walk for walk in want.walks if caps.get(walk.lane.tenant, 1)]
    while waiting and len(claimed) < room:
        taken = Counter(run.tenant_id for run in claimed)
        left = {tenant: cap - taken[tenant] for tenant, cap in caps.items()}
        waiting = [walk for walk in waiting if left.get(walk.lane.tenant, 1)]
        shares = cap_shares([(walk.lane.tenant, walk.share) for walk in waiting], left)
        cut = [walk._replace(share=n) for walk, n in zip(waiting, shares, strict=True) if n]
        claimed += await _claim(conn, want, cut, room - len(claimed))
        waiting = [walk for walk, n in zip(waiting, shares, strict=True) if not n]
    return claimed


def _places(entered: EnteredGates, gate: int, *, wanted: int) -> int:
    """Return the free places behind a gate; 0 if another claim has locked it."""
    standing = entered.standings.get(gate)
    return 0 if standing is None else standing.count_free(wanted=wanted, now=entered.now)


async def _claim(
    conn: Connection, want: ClaimRequest, walks: Sequence[LaneScan], room: int
) -> list[ClaimedRun]:
    if not walks or room <= 0:
        return []
    return await live_runs.claim_runs(
        conn,
        session_id=want.session_id,
        queue_id=want.queue_id,
        kind_ids=want.kind_ids,
        scans=walks,
        room=room,
        ahead=want.ahead,
    )


def _gates_of(run: ClaimedRun, queue_id: int, entry: GateEntry) -> tuple[int, ...]:
    found = (
        entry.queues.get(queue_id),
        entry.tenants.get(run.tenant_id),
        entry.tenant_queues.get((run.tenant_id, queue_id)),
    )
    return tuple(gate for gate in found if gate is not None)


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

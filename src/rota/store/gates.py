"""Reads and changes gates, and the limits, pauses and weights of queues and tenants.

Passing a gate takes three statements in one transaction: lock the gate, count the runs that hold
it, claim. `enter` is the first two. They cannot be one statement: the snapshot of a statement is
older than the locks that it takes, so it would count the holders from before the last claimer's
commit (docs/adr/0010-gates.md). Core decides who may pass (core/gates.py); dispatch decides in
which order to ask.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, NotFound, QuotaExceeded, StoreUnavailable
from rota.core.gates import GateState
from rota.core.ids import EPOCH
from rota.core.limits import NO_LIMITS, GateLimits, RateLimit
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun
from rota.store.statement import NoRow, statement
from rota.store.tenant_locks import lock_resource
from rota.store.transaction import transaction

# Gates of queues belong to no tenant.
NO_TENANT_ID: Final = 0


class GateLane(NamedTuple):
    """The waiting runs of one priority whose first gate is this one."""

    gate_id: int
    priority: int
    in_order: bool
    is_open: bool


class GatedRun(NamedTuple):
    """A run that waits at its gates."""

    id: UUID
    tenant_id: int
    priority: int
    ready_at: datetime
    gates: list[int]
    tenant_gate: int | None
    queue_gate: int | None
    tenant_queue_gate: int | None


class LockedGate(NamedTuple):
    id: int
    most: int | None
    rate_count: int | None
    rate_per: timedelta | None
    rate_burst: int | None
    paid_until: datetime | None
    in_order: bool
    now: datetime


class HeldCount(NamedTuple):
    sort: str
    id: int
    held: int


class GateHead(NamedTuple):
    gate_id: int
    run_id: UUID


class StoredGate(NamedTuple):
    id: int
    tenant_id: int
    key: str
    in_order: bool


class KeyCount(NamedTuple):
    number: int


class KeyLimit(NamedTuple):
    tenant_id: int
    most: int


class ChangedGate(NamedTuple):
    id: int


class SharedGate(NamedTuple):
    """A gate of a queue, of a tenant or of a tenant in a queue; or the weight of a tenant."""

    queue_id: int | None
    tenant_id: int | None
    gate_id: int | None
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEntry:
    """Gates to enter: plain ones, and the gates of queues, tenants and (tenant, queue) pairs by
    their owner.
    """

    gates: frozenset[int] = frozenset()
    queues: Mapping[int, int] = field(default_factory=dict)
    tenants: Mapping[int, int] = field(default_factory=dict)
    tenant_queues: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def gate_ids(self) -> list[int]:
        by_owner = (self.queues, self.tenants, self.tenant_queues)
        return sorted({*self.gates, *(gate for gates in by_owner for gate in gates.values())})


class EnteredGates(NamedTuple):
    """The locked gates, by id, and the current time."""

    standings: dict[int, GateState]
    now: datetime


class NewGate(NamedTuple):
    tenant_id: int
    key: str
    limits: GateLimits


SURVEY = statement("gates/survey", GateLane)
READ_CANDIDATES = statement("gates/candidates", GatedRun)
LOCK = statement("gates/lock", LockedGate)
COUNT_HELD = statement("gates/count_held", HeldCount)
READ_HEADS = statement("gates/heads", GateHead)
CLAIM = statement("gates/claim", ClaimedRun)
PAY = statement("gates/store_paid_until", NoRow)
KEY_LIMITS = statement("gates/key_limits", KeyLimit)
COUNT_KEYS = statement("gates/count_keys", KeyCount)
PUT_MANY = statement("gates/put", StoredGate)
LIMIT_QUEUE = statement("gates/limit_queue", ChangedGate)
LIMIT_TENANT = statement("gates/limit_tenant", ChangedGate)
PAUSE_QUEUE = statement("gates/pause_queue", ChangedGate)
PAUSE_TENANT = statement("gates/pause_tenant", ChangedGate)
READ_SHARED_GATES = statement("gates/shared_gates", SharedGate)


async def survey_gate_lanes(
    conn: Connection,
    *,
    queue_id: int,
    after: tuple[int, int],
    limit: int,
    tenant_ids: Sequence[int] | None = None,
) -> list[GateLane]:
    """Return at most `most` lanes of gated runs, starting after `after` and wrapping around. Lanes
    of tenants that are not in `tenant_ids` are not open; None includes all tenants.
    """
    gate, priority = after
    return await SURVEY.all(
        conn,
        queue_id=queue_id,
        after_gate=gate,
        after_priority=priority,
        tenant_ids=tenant_ids,
        most=limit,
    )


async def read_candidates(
    conn: Connection,
    *,
    queue_id: int,
    kind_ids: Sequence[int],
    lanes: Sequence[GateLane],
    share: int,
    tenant_ids: Sequence[int] | None = None,
) -> list[GatedRun]:
    """Return up to `share` ready runs of each lane; of an ordered gate, its head if ready."""
    plain = [lane for lane in lanes if not lane.in_order]
    return await READ_CANDIDATES.all(
        conn,
        queue_id=queue_id,
        kind_ids=kind_ids,
        gate_ids=[lane.gate_id for lane in plain],
        priorities=[lane.priority for lane in plain],
        ordered_ids=sorted({lane.gate_id for lane in lanes if lane.in_order}),
        share=share,
        tenant_ids=tenant_ids,
    )


async def enter_gates(conn: Connection, entry: GateEntry) -> EnteredGates:
    """Lock the gates that are available and return the state of each.

    The locks last until the end of the caller's transaction.
    """
    locked = await LOCK.all(conn, ids=entry.gate_ids())
    if not locked:
        # No run passes, so the time does not matter.
        return EnteredGates({}, EPOCH)
    held = {
        (row.sort, row.id): row.held
        for row in await COUNT_HELD.all(
            conn,
            gate_ids=sorted(entry.gates),
            queue_ids=list(entry.queues),
            tenant_ids=list(entry.tenants),
            pair_tenant_ids=[tenant for tenant, _ in entry.tenant_queues],
            pair_queue_ids=[queue for _, queue in entry.tenant_queues],
            pair_gate_ids=list(entry.tenant_queues.values()),
        )
    }
    ordered = [row.id for row in locked if row.in_order]
    heads = (
        {row.gate_id: row.run_id for row in await READ_HEADS.all(conn, ids=ordered)}
        if ordered
        else {}
    )
    owners = {gate: ("queue", queue) for queue, gate in entry.queues.items()}
    owners |= {gate: ("tenant", tenant) for tenant, gate in entry.tenants.items()}
    owners |= {gate: ("tenant queue", gate) for gate in entry.tenant_queues.values()}
    standings = {
        row.id: GateState(
            limits=_limits(row),
            held=held.get(owners.get(row.id, ("gate", row.id)), 0),
            paid_until=row.paid_until,
            head=heads.get(row.id),
        )
        for row in locked
    }
    return EnteredGates(standings, locked[0].now)


async def claim_gated(
    conn: Connection, *, session_id: UUID, ids: Sequence[UUID]
) -> list[ClaimedRun]:
    """Claim runs whose gates the caller has entered; return those that were still available."""
    return await CLAIM.all(conn, session_id=session_id, ids=ids)


async def store_paid_until(conn: Connection, paid: Mapping[int, datetime]) -> None:
    """Store until when the rate of each gate is used up."""
    if paid:
        await PAY.all(conn, ids=list(paid), paid_untils=list(paid.values()))


async def put_gate(conn: Connection, tenant_id: int, key: str, limits: GateLimits) -> int:
    """Create a gate or change its limits; return its id."""
    return (await put_gates(conn, [NewGate(tenant_id, key, limits)]))[tenant_id, key]


async def put_gates(conn: Connection, wanted: Iterable[NewGate]) -> dict[tuple[int, str], int]:
    """Return the ids of gates by (tenant, key). If a key occurs twice, the last limits count.

    Raises `QuotaExceeded` if a tenant would have more keys than allowed.
    """
    missing = {(gate.tenant_id, gate.key): gate for gate in wanted}
    ids: dict[tuple[int, str], int] = {}
    # The second pass finds what another process created after this snapshot.
    for is_counted in (False, True, True):
        if not missing:
            return ids
        if is_counted:
            await _allow_keys(conn, missing)
        for row in await _put(conn, [missing[name] for name in sorted(missing)], is_counted):
            gate = missing.pop((row.tenant_id, row.key))
            if row.in_order != gate.limits.in_order:
                # Waiting runs have the gate at another position in their list.
                wanted_order = f"must stay {row.in_order}, as when the gate was created"
                raise InvalidInput("limits.in_order", gate.limits.in_order, wanted_order)
            ids[row.tenant_id, row.key] = row.id
    if missing:
        raise StoreUnavailable(reason="gates could neither be found nor created")
    return ids


async def count_keys(conn: Connection, *, tenant_id: int, limit: int) -> int:
    """Count the limit keys of a tenant, up to `most`."""
    row = await COUNT_KEYS.one(conn, tenant_id=tenant_id, most=limit)
    return 0 if row is None else row.number


async def _allow_keys(conn: Connection, missing: Iterable[tuple[int, str]]) -> None:
    """Refuse more limit keys than a tenant may have; one transaction counts at a time."""
    new = Counter(tenant_id for tenant_id, _ in missing)
    for limit in await KEY_LIMITS.all(conn, tenant_ids=sorted(new)):
        await lock_resource(conn, tenant_id=limit.tenant_id, resource="limit keys")
        existing = await count_keys(conn, tenant_id=limit.tenant_id, limit=limit.most)
        added = new[limit.tenant_id]
        if existing + added > limit.most:
            reason = f"it has {existing} limit keys, and the request adds {added}"
            raise QuotaExceeded("max_limit_keys", limit.most, reason)


async def limit_queue(conn: Connection, queue_id: int, limits: GateLimits | None) -> None:
    """Set or remove the limits of a queue. Claimers notice within about a second."""
    async with transaction(conn):
        gate_id = await put_shared_gate(conn, NO_TENANT_ID, f"queue:{queue_id}", limits)
        changed = await LIMIT_QUEUE.one(
            conn, queue_id=queue_id, gate_id=None if limits is None else gate_id
        )
        _require_row(changed, "queue", queue_id)


async def limit_tenant(conn: Connection, tenant_id: int, limits: GateLimits | None) -> None:
    """Set or remove the limits of a tenant. Claimers notice within about a second."""
    async with transaction(conn):
        gate_id = await put_shared_gate(conn, tenant_id, f"tenant:{tenant_id}", limits)
        changed = await LIMIT_TENANT.one(
            conn, tenant_id=tenant_id, gate_id=None if limits is None else gate_id
        )
        _require_row(changed, "tenant", tenant_id)


async def pause_queue(
    conn: Connection, queue_id: int, *, paused: bool = True, by: str | None = None
) -> None:
    """Start no more runs of this queue; `paused=False` resumes it."""
    changed = await PAUSE_QUEUE.one(conn, queue_id=queue_id, paused=paused, by=by)
    _require_row(changed, "queue", queue_id)


async def pause_tenant(conn: Connection, tenant_id: int, *, paused: bool = True) -> None:
    """Start no more runs of this tenant; `paused=False` resumes it."""
    changed = await PAUSE_TENANT.one(conn, tenant_id=tenant_id, paused=paused)
    _require_row(changed, "tenant", tenant_id)


async def read_shared_gates(conn: Connection, queue_ids: Sequence[int]) -> list[SharedGate]:
    """Return the gates of these queues and of all tenants, and the weights other than 1."""
    return await READ_SHARED_GATES.all(conn, queue_ids=queue_ids)


async def _put(conn: Connection, wanted: Sequence[NewGate], is_counted: bool) -> list[StoredGate]:  # noqa: FBT001
    rates = [gate.limits.rate for gate in wanted]
    return await PUT_MANY.all(
        conn,
        tenant_ids=[gate.tenant_id for gate in wanted],
        keys=[gate.key for gate in wanted],
        mosts=[gate.limits.max_running for gate in wanted],
        rate_counts=[rate and rate.count for rate in rates],
        rate_pers=[rate and rate.per for rate in rates],
        rate_bursts=[rate and rate.burst for rate in rates],
        in_orders=[gate.limits.in_order for gate in wanted],
        is_counted=is_counted,
    )


async def put_shared_gate(
    conn: Connection, tenant_id: int, key: str, limits: GateLimits | None
) -> int:
    """Return the gate of a whole queue or tenant, with these limits or with none."""
    if limits is not None and limits.in_order:
        raise InvalidInput("limits.in_order", True, "must be false for a queue or a tenant")
    return await put_gate(conn, tenant_id, key, limits or NO_LIMITS)


def _limits(row: LockedGate) -> GateLimits:
    rate = None
    if row.rate_count is not None and row.rate_per is not None and row.rate_burst is not None:
        rate = RateLimit(count=row.rate_count, per=row.rate_per, burst=row.rate_burst)
    return GateLimits(max_running=row.most, rate=rate, in_order=row.in_order)


def _require_row(row: ChangedGate | None, thing: str, id_: int) -> None:
    if row is None:
        raise NotFound(thing, id_)

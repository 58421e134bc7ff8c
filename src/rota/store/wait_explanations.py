"""Reads what explains why a run or a job waits (E18).

Reads only, one object at a time and without a lock: the result may be outdated a moment later.
Every statement names the tenant.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.gates import GateState
from rota.core.lanes import AGE_STEP
from rota.core.limits import GateLimits, RateLimit
from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.statement import statement

# Counting the runs ahead of a run stops here: "more than 1,000".
RUNS_AHEAD_MAX: Final = 1000


class GraphSubject(NamedTuple):
    """A graph run: its step states, and the definition (JSON) that names its steps."""

    board: str
    path: list[int]
    paused_at: datetime | None
    definition: str | None


class RunSubject(NamedTuple):
    """A run with its queue, tenant, kind and worker; JSON as text."""

    id: UUID
    job_id: UUID
    state: RunState
    due_at: datetime
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline_at: datetime | None
    tenant_id: int
    queue_id: int
    kind_id: int
    priority: int
    attempt: int
    failures: int
    losses: int
    gates: list[int] | None
    reason: str | None
    queue: str | None
    queue_paused_at: datetime | None
    queue_gate: int | None
    tenant_queue_paused_at: datetime | None
    tenant_queue_paused_by: str | None
    tenant_queue_gate: int | None
    tenant: str | None
    tenant_paused_at: datetime | None
    tenant_gate: int | None
    kind: str | None
    worker: str | None
    is_worker_alive: bool
    last_outcome: str | None
    last_reason: str | None
    now: datetime

    @property
    def all_gates(self) -> tuple[int, ...]:
        """Gates in the order of a claim: its own, the tenant's, those of its queue."""
        shared = (self.tenant_gate, self.tenant_queue_gate, self.queue_gate)
        return (*(self.gates or ()), *(gate for gate in shared if gate is not None))


class GateStateRow(NamedTuple):
    """`held_ids` are the tenant's own runs that hold it, at most five of `held`."""

    id: int
    key: str
    most: int | None
    rate_count: int | None
    rate_per: timedelta | None
    rate_burst: int | None
    paid_until: datetime | None
    in_order: bool
    held: int
    held_ids: list[UUID]
    head_id: UUID | None
    head_state: str | None
    head_ready_at: datetime | None

    @property
    def standing(self) -> GateState:
        rate = None
        if self.rate_count is not None and self.rate_per is not None and self.rate_burst:
            rate = RateLimit(count=self.rate_count, per=self.rate_per, burst=self.rate_burst)
        return GateState(
            limits=GateLimits(max_running=self.most, rate=rate, in_order=self.in_order),
            held=self.held,
            paid_until=self.paid_until,
            head=self.head_id,
        )


class WorkerCounts(NamedTuple):
    """Live workers. `serving_tenant` counts those that serve the queue and claim the tenant's runs
    there; `slots`, `busy` and `with_room` cover those that serve queue, tenant and kind.
    """

    alive: int
    serving_queue: int
    serving_tenant: int
    serving: int
    with_room: int
    slots: int
    busy: int
    kinds: list[str]
    kind_ids: list[int]


class RunsAhead(NamedTuple):
    ahead: int


class JobSubject(NamedTuple):
    """A job and what its next tick needs; `scheduler` is None if its shard has no owner."""

    id: UUID
    name: str
    state: JobState
    held: str | None
    is_scheduled: bool
    schedule: str | None
    event: str | None
    counts_from_end: bool
    tick_at: datetime | None
    fire_at: datetime | None
    shard: int | None
    scheduler: str | None
    schedulers: int
    waiting_ids: list[UUID]
    running_ids: list[UUID]
    # Since when its ticks are skipped, and who paused the queue.
    queue_paused_at: datetime | None
    queue_paused_by: str | None
    now: datetime


class ScheduledSubject(NamedTuple):
    """A submission that waits for its due time; `scheduler` is None if its shard has no owner."""

    id: UUID
    due_at: datetime
    shard: int
    scheduler: str | None
    schedulers: int
    now: datetime


READ_RUN = statement("wait_explanations/read_run", RunSubject)
READ_GRAPH = statement("wait_explanations/read_graph", GraphSubject)
READ_GATES = statement("wait_explanations/read_gates", GateStateRow)
READ_WORKERS = statement("wait_explanations/read_workers", WorkerCounts)
COUNT_AHEAD = statement("wait_explanations/count_ahead", RunsAhead)
COUNT_AHEAD_GATED = statement("wait_explanations/count_ahead_gated", RunsAhead)
READ_JOB = statement("wait_explanations/read_job", JobSubject)
READ_SCHEDULED = statement("wait_explanations/read_scheduled", ScheduledSubject)


async def read_run(conn: Connection, *, tenant_id: int, run_id: UUID) -> RunSubject | None:
    return await READ_RUN.one(conn, tenant_id=tenant_id, run_id=run_id)


async def read_job(conn: Connection, *, tenant_id: int, job_id: UUID) -> JobSubject | None:
    return await READ_JOB.one(conn, tenant_id=tenant_id, job_id=job_id)


async def read_scheduled(
    conn: Connection, *, tenant_id: int, run_id: UUID
) -> ScheduledSubject | None:
    return await READ_SCHEDULED.one(conn, tenant_id=tenant_id, run_id=run_id)


async def read_gates(conn: Connection, subject: RunSubject) -> list[GateStateRow]:
    """Return the gates that a run must pass, in the order of a claim."""
    wanted = subject.all_gates
    if not wanted:
        return []
    rows = await READ_GATES.all(
        conn,
        ids=wanted,
        queue_id=subject.queue_id,
        queue_gate=subject.queue_gate,
        tenant_id=subject.tenant_id,
        tenant_gate=subject.tenant_gate,
        tenant_queue_gate=subject.tenant_queue_gate,
    )
    return sorted(rows, key=lambda row: wanted.index(row.id))


async def read_graph(conn: Connection, *, tenant_id: int, run_id: UUID) -> GraphSubject | None:
    """Return what an expanded graph run waits for."""
    return await READ_GRAPH.one(conn, tenant_id=tenant_id, run_id=run_id)


async def read_workers(conn: Connection, subject: RunSubject) -> WorkerCounts:
    row = await READ_WORKERS.one(
        conn, queue_id=subject.queue_id, kind_id=subject.kind_id, tenant=subject.tenant
    )
    return row or WorkerCounts(0, 0, 0, 0, 0, 0, 0, [], [])


async def count_ahead(conn: Connection, subject: RunSubject, *, kind_ids: Sequence[int]) -> int:
    """Count the ready runs ahead of this one, up to `RUNS_AHEAD_MAX` + 1."""
    position = {
        "queue_id": subject.queue_id,
        "priority": subject.priority,
        "ready_at": subject.ready_at,
        "run_id": subject.id,
        "age_step": AGE_STEP,
        "kind_ids": kind_ids,
        "most": RUNS_AHEAD_MAX + 1,
    }
    if subject.gates:
        row = await COUNT_AHEAD_GATED.one(conn, gate_id=subject.gates[0], **position)
    else:
        row = await COUNT_AHEAD.one(conn, tenant_id=subject.tenant_id, **position)
    return 0 if row is None else row.ahead

"""What all roles of a storm share: the database, the jobs, the leases and the dice."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.ids import build_id
from rota.core.lease import compute_shard
from rota.core.limits import GateLimits
from rota.store import gates, graphs, interning, jobs
from rota.store.driver import Connection
from rota.store.jobs import NewJob
from rota.store.pool import DatabaseAccess, open_connection
from tests.chaos.history import Plan
from tests.chaos.storm.ledger import Ledger

LATER: Final = datetime(9999, 1, 1, tzinfo=UTC)
# Short leases: what takes a day in production happens in a second here.
SESSION_TTL: Final = timedelta(milliseconds=80)
SHARD_TTL: Final = timedelta(milliseconds=100)
UNKNOWN_FOR: Final = timedelta(milliseconds=200)
EVERY: Final = timedelta(milliseconds=150)
SHARDS: Final = (3, 57, 90, 121)
RETRIES: Final = 4
JOBS: Final = 16
LIMITS: Final = {"limited": 2, "alone": 1}


@dataclass(kw_only=True)
class Sea:
    access: DatabaseAccess
    ledger: Ledger
    # Nothing is frozen or killed and nothing new is asked for once it is calm.
    is_calm: bool = False
    calm_at: datetime = LATER
    is_over: bool = False
    queue_id: int = 0
    kind_id: int = 0
    graph_kind_id: int = 0
    # Runs of the limited job are of two kinds, and a claim asks for one of them: then two claims
    # at a time see different runs, and only the lock of their gate keeps them apart.
    limited_kinds: tuple[int, ...] = ()
    policy_id: int = 0
    gate_id: int = 0
    duel_queue_id: int = 0
    narrow_gate_id: int = 0
    # Jobs whose runs are asked for by hand, by what is special about them.
    by_hand: dict[str, UUID] = field(default_factory=dict)

    def opened(self) -> AbstractAsyncContextManager[Connection]:
        return open_connection(self.access, hot=True)

    def new_id(self) -> UUID:
        return build_id(self.ledger.wall(), self.ledger.chance.randbytes(10))

    def new_job_id(self) -> UUID:
        """An id in one of few shards, so that their owners meet often."""
        while compute_shard(job_id := self.new_id()) not in SHARDS:
            pass
        return job_id

    def happens(self, part: float) -> bool:
        return not self.is_calm and self.ledger.happens(part)

    async def fill(self, conn: Connection) -> None:
        """Write the jobs: half may overlap, half may not; and those that have no schedule."""
        await conn.execute("create table rota.storm_effects (run_id uuid not null)")
        await conn.execute("insert into rota.tenants (name) values ('second')")
        self.queue_id = await interning.intern_queue(conn, "default")
        self.kind_id = await interning.intern_kind(conn, "storm")
        self.limited_kinds = (self.kind_id, await interning.intern_kind(conn, "other"))
        self.graph_kind_id = await interning.intern_kind(conn, "graph")
        self.policy_id = await interning.intern_policy(conn, "{}")
        for number in range(JOBS):
            await self._write(conn, "skip" if number % 2 else "allow")
        self.gate_id = await gates.put_gate(
            conn, 1, "limited", GateLimits(max_running=LIMITS["limited"])
        )
        self.duel_queue_id = await interning.intern_queue(conn, "duel")
        self.narrow_gate_id = await gates.put_gate(
            conn, 1, "alone", GateLimits(max_running=LIMITS["alone"])
        )
        for special in ("plain", "at_most_once", "effects", "limited", "poison", "alone"):
            self.by_hand[special] = await self._write(conn, special)

    async def fill_graph(self, conn: Connection, definition: str) -> None:
        """The one job that is a graph."""
        ids = await graphs.intern_definitions(conn, 1, [definition])
        self.by_hand["graph"] = await self._write(conn, "graph", graph_id=ids[definition])

    async def _write(self, conn: Connection, special: str, *, graph_id: int | None = None) -> UUID:
        has_ticks = special in {"skip", "allow"}
        first = self.ledger.wall() if has_ticks else None
        job = NewJob(
            id=self.new_job_id(),
            tenant_id=1,
            name=f"storm {special} {len(self.ledger.plans)}",
            kind_id=self.kind_id if graph_id is None else self.graph_kind_id,
            queue_id=self.queue_id,
            policy_id=self.policy_id,
            graph_id=graph_id,
            overlap=special if has_ticks else "allow",
            tick_at=first,
            fire_at=first,
        )
        await jobs.insert_jobs(conn, [job])
        self.ledger.plans[job.id] = Plan(
            job_id=job.id,
            anchor=first,
            every=EVERY if has_ticks else None,
            may_from=first and first - EVERY,
            must_from=first and first - EVERY,
            overlap=job.overlap,
            guarantee="at_most_once" if special == "at_most_once" else "at_least_once",
            retries=RETRIES,
            key=special if special in LIMITS else None,
            most=LIMITS.get(special),
            has_effects=special == "effects",
        )
        return job.id

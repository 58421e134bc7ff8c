"""A database with a clock that the test moves, and the few rows most store tests need."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID

from rota.core.ids import build_id, derive_tick_run_id
from rota.core.lanes import Lane
from rota.core.lease import ObservedSpan
from rota.store import cursors, interning, jobs, live_runs, sessions
from rota.store.cursors import DecidedTick, DueTick, ShardOwnership, TickFiring
from rota.store.driver import Connection
from rota.store.jobs import NewJob
from rota.store.live_runs import ClaimedRun, LaneScan, NewRun, StoredRun
from rota.store.sessions import NewSession, SessionRole

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
# For what expires leases: the database was never away.
ALWAYS_SEEN = ObservedSpan(timedelta(hours=1), asked_at=datetime(9999, 1, 1, tzinfo=UTC))
TTL = timedelta(seconds=10)


class World:
    """Rows made at a time the test chooses; ids are counted, so a test is the same every time."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.now = NOON
        self._numbers = count(1)

    async def begin(self) -> "World":
        await self.move_to(NOON)
        self.queue_id = await interning.intern_queue(self.conn, "default")
        self.kind_id = await interning.intern_kind(self.conn, "noop")
        self.policy_id = await interning.intern_policy(self.conn, "{}")
        return self

    async def move_to(self, now: datetime) -> None:
        self.now = now
        await self.conn.execute("select set_config('rota.now', $1, false)", now.isoformat())

    async def advance(self, **time: float) -> None:
        await self.move_to(self.now + timedelta(**time))

    def new_id(self) -> UUID:
        return build_id(self.now, next(self._numbers).to_bytes(10, "big"))

    def new_run(self, **given: object) -> NewRun:
        run = NewRun(
            id=self.new_id(),
            job_id=self.new_id(),
            scheduled_at=self.now,
            due_at=self.now,
            tenant_id=1,
            queue_id=self.queue_id,
            kind_id=self.kind_id,
            policy_id=self.policy_id,
        )
        return replace(run, **given)  # type: ignore[arg-type]

    async def runs(self, number: int = 1, **given: object) -> list[UUID]:
        return await live_runs.insert_runs(
            self.conn, [self.new_run(**given) for _ in range(number)]
        )

    async def run(self, **given: object) -> UUID:
        return (await self.runs(1, **given))[0]

    async def job(self, **given: object) -> UUID:
        job = NewJob(
            id=self.new_id(),
            tenant_id=1,
            name=f"job {next(self._numbers)}",
            kind_id=self.kind_id,
            queue_id=self.queue_id,
            policy_id=self.policy_id,
            tick_at=self.now,
            fire_at=self.now,
        )
        return (await jobs.insert_jobs(self.conn, [replace(job, **given)]))[0]  # type: ignore[arg-type]

    async def session(
        self, *, role: SessionRole = SessionRole.WORKER, ttl: timedelta = TTL
    ) -> UUID:
        session = NewSession(id=self.new_id(), role=role, name="test", slots=100)
        await sessions.open_session(self.conn, session, ttl=ttl)
        return session.id

    async def claim(
        self, session_id: UUID, *, room: int = 100, lanes: list[Lane] | None = None
    ) -> list[ClaimedRun]:
        chosen = lanes or [Lane(1, 5)]
        lowest = datetime(1, 1, 2, tzinfo=UTC)
        return await live_runs.claim_runs(
            self.conn,
            session_id=session_id,
            queue_id=self.queue_id,
            kind_ids=[self.kind_id],
            scans=[LaneScan(lane, lowest, UUID(int=0), room) for lane in chosen],
            room=room,
        )

    async def running(self, **given: object) -> tuple[UUID, ClaimedRun]:
        """A session that executes one run."""
        session = await self.session()
        await self.run(**given)
        (claimed,) = await self.claim(session)
        return session, claimed

    async def get(self, run_id: UUID) -> StoredRun:
        return (await live_runs.get_runs(self.conn, [run_id]))[run_id]

    async def own(self, *wanted: int) -> ShardOwnership:
        """A scheduler that holds these shards, or all of them."""
        owner = await self.session(role=SessionRole.SCHEDULER)
        held = await sessions.hold_shards(
            self.conn, owner=owner, shards=wanted or range(128), ttl=timedelta(seconds=6)
        )
        return ShardOwnership(owner=owner, epochs=held)

    async def due(self, *, within: timedelta = timedelta(0)) -> list[DueTick]:
        return await cursors.read_due(
            self.conn, shards=range(128), before=self.now + within, limit=1000
        )

    async def fire(
        self, ownership: ShardOwnership, due: list[DueTick], *, every: timedelta | None
    ) -> list[DecidedTick]:
        firings = [
            TickFiring(
                due=each,
                run_id=derive_tick_run_id(each.job_id, each.tick_at),
                next_tick_at=each.tick_at + every if every else None,
                next_fire_at=each.tick_at + every if every else None,
            )
            for each in due
        ]
        return await cursors.fire_ticks(self.conn, ownership, firings)

    async def count(self, table: str) -> int:
        return int(await self.conn.fetchval(f"select count(*) from rota.{table}"))

"""Workers of the storm: they claim, freeze past their lease, go on as if nothing had happened.

A thawed worker first tries to finish what it held, or first beats, as chance will have it. Some
lose the answer to a claim. Beside them, the reapers that expire sessions and take runs back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast
from uuid import UUID, uuid4

from rota.core.errors import LeaseLost
from rota.core.states import RunState
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.dispatch.run_claimer import LaneMemory
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.attempt_effects import DatabaseEffects
from rota.engine.graphs.plans import PlanCache
from rota.store import live_runs, sessions
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, ReturnedAttempt, RunEnding
from rota.store.sessions import NewSession, SessionRole
from tests.chaos.storm import graphs
from tests.chaos.storm.ledger import Lease, nanoseconds
from tests.chaos.storm.sea import RETRIES, SESSION_TTL, UNKNOWN_FOR, Sea
from tests.support.world import ALWAYS_SEEN

ROOM = 6
CALM_TTL = timedelta(seconds=2)
LONGEST_RUN = 0.15
LONGEST_BACK_OFF = 0.05


class Killed(Exception):
    """A poisonous run has ended the process that took it."""


@dataclass(slots=True, kw_only=True)
class Executed:
    """As much of an attempt as its effects ask for."""

    run_id: UUID
    attempt: int
    is_recorded: bool = False
    secret_mask: None = None


@dataclass(slots=True, kw_only=True)
class Held:
    run: ClaimedRun
    lease: Lease
    until: float


@dataclass(kw_only=True)
class Worker:
    sea: Sea
    ttl: timedelta = SESSION_TTL
    session: UUID = field(default_factory=uuid4)
    held: dict[UUID, Held] = field(default_factory=dict)
    memory: LaneMemory = field(default_factory=LaneMemory)
    gated: GatedClaims = field(default_factory=GatedClaims)
    plans: PlanCache = field(default_factory=PlanCache)
    lease_until: int = 0
    effects: DatabaseEffects = field(init=False)

    async def live(self) -> None:
        """One session after the other, until it is over or this worker is killed."""
        async with self.sea.opened() as conn:
            while not self.sea.is_over:
                await self.open(conn)
                try:
                    await self._serve(conn)
                except LeaseLost:
                    self.sea.ledger.count("sessions lost")
                except Killed:
                    self.sea.ledger.count("poisoned")
                finally:
                    await self.effects.close()
                self._stop_all()

    async def open(self, conn: Connection) -> None:
        self.session = uuid4()
        sent = self.sea.ledger.now()
        new = NewSession(id=self.session, role=SessionRole.WORKER, name="storm", slots=ROOM)
        ttl = self._lease()
        await sessions.open_session(conn, new, ttl=ttl)
        self.lease_until = sent + nanoseconds(ttl)
        self.effects = DatabaseEffects(
            self.sea.access,
            session_id=self.session,
            now=self.sea.ledger.wall,
            on_output=lambda _: None,
        )

    async def _serve(self, conn: Connection) -> None:
        ledger = self.sea.ledger
        while not self.sea.is_over:
            await self._claim(conn)
            if self.sea.happens(0.06):
                # Long enough for its lease to end, for a reaper and for another worker.
                await ledger.clock.sleep(SESSION_TTL.total_seconds() * ledger.chance.uniform(1, 4))
                if ledger.happens(0.8):
                    await self._end_some(conn, everything=True)
            await self.beat(conn)
            await ledger.pause(0.015)
            await self._end_some(conn)

    def _lease(self) -> timedelta:
        """Once it is calm, a slow machine must not lose leases for ever instead of ending runs."""
        return max(self.ttl, CALM_TTL) if self.sea.is_calm else self.ttl

    async def beat(self, conn: Connection) -> None:
        ledger = self.sea.ledger
        sent = ledger.now()
        ttl = self._lease()
        await sessions.send_heartbeat(
            conn, session_id=self.session, running=list(self.held), ttl=ttl
        )
        self.lease_until = sent + nanoseconds(ttl)
        for held in self.held.values():
            held.lease.until = self.lease_until

    async def _claim(self, conn: Connection) -> None:
        ledger = self.sea.ledger
        room = ROOM - len(self.held)
        if ledger.happens(0.5):
            claimed = await self.gated.claim(
                conn,
                session_id=self.session,
                queue_id=self.sea.queue_id,
                kind_ids=[ledger.chance.choice(self.sea.limited_kinds)],
                room=room,
            )
        else:
            claimed = await self._claim_plain(conn, room)
        if self.sea.happens(0.01):
            ledger.count("answers lost", len(claimed))
            return
        self.take(run for run in claimed if run.kind_id != self.sea.graph_kind_id)
        graph_runs = [
            (run.id, run.attempt) for run in claimed if run.kind_id == self.sea.graph_kind_id
        ]
        if graph_runs:
            await graphs.unfold(self.sea, conn, self.session, graph_runs, self.plans)
        if any(run.job_id == self.sea.by_hand["poison"] for run in claimed):
            raise Killed

    def take(self, claimed: Iterable[ClaimedRun]) -> None:
        """Begin what was claimed."""
        ledger = self.sea.ledger
        for run in claimed:
            lease = Lease(f"run {run.id}", run.attempt, ledger.now(), self.lease_until)
            ledger.leases.append(lease)
            ledger.mark("start", run)
            until = ledger.clock.monotonic() + self._duration(run)
            self.held[run.id] = Held(run=run, lease=lease, until=until)

    def _duration(self, run: ClaimedRun) -> float:
        """What was tried before takes longer, so that its zombie may come back meanwhile."""
        longest = LONGEST_RUN if run.attempt == 1 else 2 * LONGEST_RUN
        return self.sea.ledger.chance.random() ** 2 * longest

    async def _claim_plain(self, conn: Connection, room: int) -> list[ClaimedRun]:
        now = self.sea.ledger.wall()
        queue_id = self.sea.queue_id
        if self.sea.ledger.happens(0.3) or not self.memory.list_lanes():
            found = await live_runs.survey_lanes(
                conn, queue_id=queue_id, known=self.memory.list_lanes()
            )
            self.memory.add_lanes(found, now=now)
        walks = self.memory.plan_walks(room=room, weights={}, now=now)
        claimed = await live_runs.claim_runs(
            conn,
            session_id=self.session,
            queue_id=queue_id,
            kind_ids=[self.sea.kind_id, self.sea.graph_kind_id],
            scans=walks,
            room=room,
        )
        self.memory.record_claim(walks, claimed, now=now, duration=timedelta(0))
        return claimed

    async def _end_some(self, conn: Connection, *, everything: bool = False) -> None:
        ledger = self.sea.ledger
        now = ledger.clock.monotonic()
        ready = [held for held in self.held.values() if everything or held.until <= now]
        self.end(ready)
        fails = 0.5 if everything else 0.25
        chances = [ledger.chance.random() for _ in ready]
        effects = [each for each in ready if each.run.job_id == self.sea.by_hand["effects"]]
        failed = [each for each, c in zip(ready, chances, strict=True) if c < fails]
        good = [each for each in ready if each not in failed and each not in effects]
        await self.finish(conn, good)
        await self.fail(conn, [each for each in failed if each not in effects])
        for each in effects:
            await self._finish_with_effect(conn, each)

    def end(self, ready: Iterable[Held]) -> None:
        """The handlers are done; the endings are not told yet."""
        ledger = self.sea.ledger
        for held in ready:
            del self.held[held.run.id]
            ledger.mark("end", held.run)
            held.lease.until = min(held.lease.until, ledger.now())

    async def finish(self, conn: Connection, ready: list[Held]) -> None:
        endings = [RunEnding(each.run.id, each.run.attempt, RunState.SUCCEEDED) for each in ready]
        if endings:
            await self._tell(conn, ready, endings)

    async def _tell(
        self, conn: Connection, ready: list[Held], endings: list[RunEnding]
    ) -> set[UUID]:
        ledger = self.sea.ledger
        sent = ledger.now()
        stored = await live_runs.finish_runs_and_graphs(
            conn, session_id=self.session, endings=endings
        )
        accepted = set(stored.states)
        self._note(ready, accepted, sent)
        await graphs.advance(self.sea, conn, stored.graph_run_ids, self.plans)
        return accepted

    def _note(self, ready: list[Held], accepted: set[UUID], sent: int) -> None:
        ledger = self.sea.ledger
        ledger.count("endings", len(accepted))
        ledger.count("endings refused", len(ready) - len(accepted))
        for each in ready:
            if each.run.id in accepted:
                ledger.used(each.lease.thing, each.run.attempt, sent=sent)

    async def fail(self, conn: Connection, failed: list[Held]) -> None:
        """Retry what may be retried, after a back-off; the others are dead."""
        ledger = self.sea.ledger
        at_most_once = self.sea.by_hand["at_most_once"]
        over = [
            each
            for each in failed
            if each.run.failures >= RETRIES or each.run.job_id == at_most_once
        ]
        again = [each for each in failed if each not in over]
        if over:
            endings = [
                RunEnding(each.run.id, each.run.attempt, RunState.DEAD, each.run.failures + 1)
                for each in over
            ]
            await self._tell(conn, over, endings)
        if again:
            sent = ledger.now()
            moved = await live_runs.put_back_runs(
                conn, session_id=self.session, attempts=[self._retry(each.run) for each in again]
            )
            self._note(again, {each.id for each in moved}, sent)

    def _retry(self, run: ClaimedRun) -> ReturnedAttempt:
        delay = timedelta(seconds=round(self.sea.ledger.chance.random() * LONGEST_BACK_OFF, 3))
        reason = f'{{"delay": {delay.total_seconds()}}}'
        return ReturnedAttempt(
            run.id, run.attempt, RunState.RETRYING, "failed", run.failures + 1, delay, reason
        )

    async def _finish_with_effect(self, conn: Connection, held: Held) -> None:
        """The effect and the ending in one transaction, by the engine's own means."""
        sent = self.sea.ledger.now()
        attempt = cast("Attempt", Executed(run_id=held.run.id, attempt=held.run.attempt))
        try:
            async with self.effects.transaction(attempt) as inner:
                await inner.execute("insert into rota.storm_effects values ($1)", held.run.id)
        except LeaseLost:
            # Cancelled meanwhile, or lost: if it is still ours it ends, without the effect.
            await self.finish(conn, [held])
        else:
            self._note([held], {held.run.id}, sent)

    def _stop_all(self) -> None:
        for held in self.held.values():
            self.sea.ledger.mark("end", held.run)
        self.held.clear()


@dataclass(kw_only=True)
class Reaper:
    sea: Sea

    async def live(self) -> None:
        async with self.sea.opened() as conn:
            while not self.sea.is_over:
                await sessions.expire_sessions(conn, sight=ALWAYS_SEEN)
                moved = await live_runs.reclaim_runs(
                    conn, sight=ALWAYS_SEEN, unknown_for=UNKNOWN_FOR
                )
                self.sea.ledger.count("runs reclaimed", len(moved))
                await sessions.delete_expired(conn, after=UNKNOWN_FOR * 5)
                await self.sea.ledger.pause(0.01)

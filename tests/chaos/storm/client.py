"""Clients of the storm: they ask for runs, ask again, cancel and pause, and note the answers."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.store import jobs, live_runs
from rota.store.driver import Connection
from rota.store.live_runs import NewRun
from tests.chaos.storm.sea import Sea

# What is asked for, and how often in relation.
SPECIALS = {
    "plain": 10,
    "at_most_once": 6,
    "effects": 4,
    "limited": 14,
    "poison": 1,
    "graph": 4,
}
PAUSED = 4
LATE = timedelta(seconds=1.3)


@dataclass(kw_only=True)
class Submitter:
    sea: Sea
    asked: list[NewRun] = field(default_factory=list)

    async def live(self) -> None:
        async with self.sea.opened() as conn:
            while not self.sea.is_calm:
                fresh = [self.new() for _ in range(self.sea.ledger.chance.randint(1, 6))]
                await self._submit(conn, fresh)
                self.asked += fresh
                # As a client does whose answer was lost: what ended long ago, or just ends.
                again = {run.id: run for run in self.asked}
                begun = [mark.run_id for mark in self.sea.ledger.marks[-8:]]
                wanted = [
                    *(id_ for id_ in begun if id_ in again),
                    *self.sea.ledger.chance.sample([*again], 1),
                ]
                for run_id in wanted:
                    await self._submit(conn, [again[run_id]])
                await self.sea.ledger.pause(0.05)

    async def _submit(self, conn: Connection, runs: list[NewRun]) -> None:
        asked = self.sea.ledger.asking()
        async with conn.transaction():
            await live_runs.insert_runs(conn, runs)
            if self.sea.happens(0.1):
                # A commit that comes late: others have claimed later runs of the lane by then.
                await self.sea.ledger.pause(0.3)
        for run in runs:
            self.sea.ledger.answered("submit", run.id, asked)

    def new(self, special: str | None = None) -> NewRun:
        ledger = self.sea.ledger
        special = special or ledger.chance.choices([*SPECIALS], [*SPECIALS.values()])[0]
        due = ledger.wall() + timedelta(seconds=max(0.0, ledger.chance.uniform(-0.6, 0.2)))
        run = NewRun(
            id=self.sea.new_id(),
            job_id=self.sea.by_hand[special],
            scheduled_at=due,
            due_at=due,
            tenant_id=ledger.chance.randint(1, 2),
            queue_id=self.sea.queue_id,
            kind_id=self.sea.kind_id,
            policy_id=self.sea.policy_id,
            priority=ledger.chance.choice([3, 5]),
        )
        if special == "at_most_once":
            return replace(run, guarantee=Guarantee.AT_MOST_ONCE)
        if special == "graph":
            return replace(run, kind_id=self.sea.graph_kind_id, tenant_id=1)
        if special == "limited":
            kind = ledger.chance.choice(self.sea.limited_kinds)
            return replace(run, kind_id=kind, tenant_id=1, gates=(self.sea.gate_id,))
        return run


@dataclass(kw_only=True)
class Canceller:
    sea: Sea
    submitter: Submitter

    async def live(self) -> None:
        async with self.sea.opened() as conn:
            while not self.sea.is_calm:
                if not self.submitter.asked:
                    await self.sea.ledger.pause(0.01)
                    continue
                # What has just begun, and what was just asked for.
                begun = [mark.run_id for mark in self.sea.ledger.marks[-6:]]
                wanted = {*begun, *(run.id for run in self.submitter.asked[-2:])}
                await self._cancel(conn, self.sea.ledger.chance.choice(sorted(wanted)))
                await self.sea.ledger.pause(0.04)

    async def _cancel(self, conn: Connection, run_id: UUID) -> None:
        asked = self.sea.ledger.asking()
        moved = await live_runs.cancel_runs(conn, ids=[run_id])
        answer = moved[0].state.value if moved else "too late"
        self.sea.ledger.answered("cancel", run_id, asked, answer=answer)


@dataclass(kw_only=True)
class Pauser:
    sea: Sea

    async def live(self) -> None:
        async with self.sea.opened() as conn:
            ticking = [plan.job_id for plan in self.sea.ledger.plans.values() if plan.every]
            for job in ticking[:PAUSED]:
                await self.sea.ledger.pause(1.0)
                asked = self.sea.ledger.asking()
                for paused in await jobs.pause_jobs(conn, ids=[job], held='{"by": "storm"}'):
                    self.sea.ledger.answered("pause", paused, asked)


@dataclass(kw_only=True)
class Latecomer:
    """A run that is written before many others and committed after all workers took later ones.

    It comes when nothing is disturbed any more: no fresh worker looks everywhere by accident.
    """

    sea: Sea
    submitter: Submitter

    async def come(self) -> None:
        clock = self.sea.ledger.clock
        end = clock.monotonic() + LATE.total_seconds()
        async with self.sea.opened() as conn, self.sea.opened() as other:
            asked = self.sea.ledger.asking()
            late = self._new()
            async with conn.transaction():
                await live_runs.insert_runs(conn, [late])
                while clock.monotonic() < end:
                    runs = [self._new() for _ in range(20)]
                    await live_runs.insert_runs(other, runs)
                    await clock.sleep(0.05)
            self.sea.ledger.answered("submit", late.id, asked)

    def _new(self) -> NewRun:
        """All in one lane, and due at once."""
        run = self.submitter.new("plain")
        now = self.sea.ledger.wall()
        return replace(run, tenant_id=1, priority=5, scheduled_at=now, due_at=now)

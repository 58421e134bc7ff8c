"""What clients of the cluster ask for: jobs, runs, cancels, changes. All through flow/submit."""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from rota.core.limits import GateLimits
from rota.core.submissions import RunSpec
from rota.engine.submission.job_changes import (
    JobChanges,
    delete_job,
    edit_job,
    pause_job,
    resume_job,
)
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import run_now, submit_runs
from rota.store import gates, live_runs
from tests.simulation.cluster import Cluster, Violation
from tests.simulation.ledger import Act, Ledger
from tests.simulation.plans import Cadence, Plan
from tests.simulation.tables import Tables
from tests.support.world import World

BAD = ("dead", "lost", "quarantined", "cancelled", "expired")


@dataclass(frozen=True, slots=True)
class Clients:
    cluster: Cluster

    @property
    def world(self) -> World:
        return self.cluster.world

    @property
    def ledger(self) -> Ledger:
        return self.cluster.ledger

    @property
    def seen(self) -> Tables:
        return self.cluster.seen

    def jobs(self, *states: str) -> list[UUID]:
        """The jobs in one of these states; all that are not deleted if none is named."""
        wanted = states or ("active", "paused", "finished")
        return sorted(job.id for job in self.seen.jobs.values() if job.state in wanted)

    def dead_letters(self) -> list[UUID]:
        return sorted(run.id for run in self.seen.ended.values() if run.state in BAD)

    async def write_job(self, plan: Plan) -> None:
        spec = plan.spec(f"job {len(self.ledger.plans)}", self.world.now)
        (made,) = await submit_jobs(
            self.world.conn, [spec], now=self.world.now, new_id=self.world.new_id
        )
        self.ledger.plans[made.job_id] = plan
        owed = [] if plan.cadence is None else [plan.cadence.owed(self.world.now)]
        self.ledger.owed[made.job_id] = owed
        await self.cluster.look(Act(what="writing", jobs=frozenset({made.job_id})))

    async def submit(self, plan: Plan, seconds: float) -> None:
        """A one-time run of a task, now or a little later."""
        now = self.world.now
        (made,) = await submit_jobs(
            self.world.conn, [plan.submission(now, seconds)], now=now, new_id=self.world.new_id
        )
        self.ledger.plans[made.job_id] = plan
        self.ledger.asked.add(made.job_id)
        await self.cluster.look(Act(what="submitting", runs=frozenset({made.job_id})))

    async def run_now(self, job_id: UUID) -> None:
        spec = RunSpec(job_id=job_id)
        made = await run_now(self.world.conn, spec, now=self.world.now, new_id=self.world.new_id)
        self.ledger.asked.add(made.run_id)
        await self.cluster.look(Act(what="running now", jobs=frozenset({job_id})))

    async def hand_in(self, job_id: UUID, seconds: float) -> None:
        """Runs in bulk, due a little later."""
        due_at = self.world.now + timedelta(seconds=seconds)
        specs = [RunSpec(job_id=job_id, due_at=due_at) for _ in range(2)]
        made = await submit_runs(
            self.world.conn, specs, now=self.world.now, new_id=self.world.new_id
        )
        self.ledger.asked.update(made)
        await self.cluster.look(Act(what="handing in", runs=frozenset(made)))

    async def cancel(self, id_: UUID, *, by_force: bool) -> None:
        cancel = live_runs.cancel_runs_now if by_force else live_runs.cancel_runs
        await cancel(self.world.conn, ids=[id_])
        await self.cluster.look(Act(what="cancelling", runs=frozenset({id_})))
        run = self.seen.alive.get(id_) or self.seen.ended[id_]
        if run.state not in ("cancelling", "cancelled"):
            raise Violation(f"I14 run {id_} was cancelled and is {run.state}")

    async def replay(self, id_: UUID) -> None:
        self.ledger.replays[id_] += 1
        await live_runs.requeue_runs(self.world.conn, ids=[id_])
        await self.cluster.look(Act(what="replay", runs=frozenset({id_})))

    async def pause(self, job_id: UUID) -> None:
        await pause_job(self.world.conn, job_id, by="somebody", now=self.world.now)
        await self.cluster.look(Act(what="pausing", jobs=frozenset({job_id})))

    async def resume(self, job_id: UUID) -> None:
        await resume_job(self.world.conn, job_id, now=self.world.now)
        await self.cluster.look(Act(what="resuming", jobs=frozenset({job_id})))

    async def edit(self, job_id: UUID, cadence: Cadence) -> None:
        """Another schedule: the old one owes its ticks until now, the new one begins now."""
        now, owed = self.world.now, self.ledger.owed[job_id]
        schedule = self.ledger.plans[job_id].schedule(cadence, now)
        await edit_job(self.world.conn, job_id, JobChanges(schedule=schedule), now=now)
        if owed:
            owed[-1] = replace(owed[-1], until=now)
        owed.append(cadence.owed(now))
        await self.cluster.look(Act(what="editing", jobs=frozenset({job_id})))

    async def delete(self, job_id: UUID) -> None:
        """What is due and not decided is never decided."""
        cursor, owed = self.seen.jobs[job_id].tick_at, self.ledger.owed[job_id]
        await delete_job(self.world.conn, job_id, by="somebody")
        if owed and cursor is not None:
            owed[-1] = replace(owed[-1], until=cursor - timedelta(microseconds=1))
        await self.cluster.look(Act(what="deleting", jobs=frozenset({job_id})))

    async def pause_queue(self, *, paused: bool) -> None:
        await gates.pause_queue(self.world.conn, self.world.queue_id, paused=paused)
        self.ledger.is_queue_paused = paused

    async def limit_queue(self, most: int) -> None:
        await gates.limit_queue(self.world.conn, self.world.queue_id, GateLimits(max_running=most))
        self.ledger.queue_limit = most

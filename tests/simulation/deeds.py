"""All that can happen in the cluster, as values: a story is a list of them.

A duty runs to its end, stops before one of its statements and goes on later, meets a cut line, or
its process dies; time passes; attempts end well, badly or too late; clients ask for things. `pick`
chooses among what there is; where there is nothing to choose from, nothing happens.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Protocol, TypeVar

from rota.core.lease import SESSION_LEASE
from rota.core.outcome import Failed, Failure, HandedBack, Outcome, Snoozed, Succeeded
from tests.simulation.changes import UNKNOWN_FOR
from tests.simulation.clients import Clients
from tests.simulation.cluster import SCHEDULERS, WORKERS, Cluster
from tests.simulation.plans import Cadence, Plan
from tests.simulation.wire import Fault, Mishap

T = TypeVar("T")
# A node and one of its duties.
Which = tuple[str, str]
UNTOLD = Failure(type="Chosen", message="")
OUTCOMES: dict[str, Outcome] = {
    "succeeded": Succeeded(),
    "failed": Failed(failure=UNTOLD),
    "failed for good": Failed(failure=UNTOLD, final=True),
    "snoozed": Snoozed(delay=timedelta(seconds=2)),
    "handed back": HandedBack(has_started=True),
    "not started": HandedBack(has_started=False),
}


class Deed(Protocol):
    async def happen(self, cluster: Cluster) -> None: ...


@dataclass(frozen=True, slots=True)
class TimePasses:
    seconds: float

    async def happen(self, cluster: Cluster) -> None:
        await cluster.wait(self.seconds)


@dataclass(frozen=True, slots=True)
class LifeGoesOn:
    """Whatever is performed ends in one of these ways, in turns; time passes; these nodes work."""

    seconds: float
    endings: tuple[str, ...] = ()
    names: tuple[str, ...] = (*SCHEDULERS, *WORKERS)

    async def happen(self, cluster: Cluster) -> None:
        if self.endings:
            for place, (worker, attempt) in enumerate(cluster.performing()):
                outcome = OUTCOMES[self.endings[place % len(self.endings)]]
                cluster.end_attempt(worker, attempt, outcome)
        await cluster.wait(self.seconds)
        for name in self.names:
            await cluster.work(name)


@dataclass(frozen=True, slots=True)
class NodeWorks:
    name: str

    async def happen(self, cluster: Cluster) -> None:
        await cluster.work(self.name)


@dataclass(frozen=True, slots=True)
class DutyTicks:
    """A whole pass; or the rest of the one that is under way."""

    which: Which

    async def happen(self, cluster: Cluster) -> None:
        await cluster.act(*cluster.find(self.which))


@dataclass(frozen=True, slots=True)
class DutyStops:
    """Some time later a pass comes to a statement, and stands there until it may go on."""

    seconds: float
    which: Which
    statements: int

    async def happen(self, cluster: Cluster) -> None:
        await cluster.wait(self.seconds)
        await cluster.act(*cluster.find(self.which), statements=self.statements)


@dataclass(frozen=True, slots=True)
class DutyGoesOn:
    pick: int
    statements: int | None = None

    async def happen(self, cluster: Cluster) -> None:
        if cluster.stories:
            node, duty = one_of(cluster.stories, self.pick)
            await cluster.act(node, duty, statements=self.statements)


@dataclass(frozen=True, slots=True)
class DutyHasMishap:
    """Some time later something happens to one of the statements of a pass."""

    seconds: float
    which: Which
    at: int
    fault: Fault

    async def happen(self, cluster: Cluster) -> None:
        await cluster.wait(self.seconds)
        mishap = Mishap(self.at, self.fault)
        await cluster.act(*cluster.find(self.which), mishap=mishap)


@dataclass(frozen=True, slots=True)
class ShardsMove:
    """One scheduler gives everything back, as one whose clock went wrong does; another takes it."""

    name: str
    to: str

    async def happen(self, cluster: Cluster) -> None:
        await cluster.let_go(self.name)
        await cluster.act(cluster.node(self.to), "leasing")


@dataclass(frozen=True, slots=True)
class ShardsComeBack:
    """They move, the other one works with them for some rounds, and then they come back to one who
    still has in mind what he had read before.
    """

    name: str
    to: str
    seconds: float
    rounds: int

    async def happen(self, cluster: Cluster) -> None:
        await ShardsMove(self.name, self.to).happen(cluster)
        for _ in range(self.rounds):
            await cluster.wait(self.seconds)
            await cluster.work(self.to)
        await ShardsMove(self.to, self.name).happen(cluster)
        await cluster.act(cluster.node(self.name), "firing")


@dataclass(frozen=True, slots=True)
class DatabaseIsAway:
    """Nobody reaches the database for a while, and everybody tries. What was about to be said is
    lost. When it is back, whoever is quick looks for the dead before the living can beat.
    """

    seconds: float
    quick: str

    async def happen(self, cluster: Cluster) -> None:
        await cluster.suffer_outage(self.seconds)
        for _ in range(2):
            await cluster.act(cluster.node(self.quick), "rescuing")


@dataclass(frozen=True, slots=True)
class NodeIsReplaced:
    """Another process takes its place; what it left behind may still be heard of."""

    name: str

    async def happen(self, cluster: Cluster) -> None:
        await cluster.start(self.name)


@dataclass(frozen=True, slots=True)
class AttemptEnds:
    pick: int
    ending: str
    is_told: bool = True

    async def happen(self, cluster: Cluster) -> None:
        if cluster.performing():
            worker, attempt = one_of(cluster.performing(), self.pick)
            cluster.end_attempt(worker, attempt, OUTCOMES[self.ending])
            if self.is_told:
                await cluster.act(worker, "recording")


@dataclass(frozen=True, slots=True)
class WorkerLosesSight:
    """An attempt goes on, and its worker's books do not know of it (F20)."""

    pick: int

    async def happen(self, cluster: Cluster) -> None:
        if cluster.performing():
            worker, attempt = one_of(cluster.performing(), self.pick)
            worker.lose_sight(attempt)


@dataclass(frozen=True, slots=True)
class AttemptIsTakenForLost:
    """The same, until its run is taken back and perhaps taken up again, by its own worker."""

    pick: int

    async def happen(self, cluster: Cluster) -> None:
        if not cluster.performing():
            return
        worker, attempt = one_of(cluster.performing(), self.pick)
        worker.lose_sight(attempt)
        await cluster.wait(UNKNOWN_FOR.total_seconds() + 0.1)
        for duty in ("beating", "rescuing", "claiming"):
            await cluster.act(worker, duty)


@dataclass(frozen=True, slots=True)
class WorkerIsTakenForDead:
    """One worker is silent for longer than its lease; another one takes its runs over."""

    by: str

    async def happen(self, cluster: Cluster) -> None:
        await cluster.wait(SESSION_LEASE.ttl.total_seconds() + 0.1)
        for duty in ("beating", "rescuing", "claiming"):
            await cluster.act(cluster.node(self.by), duty)


@dataclass(frozen=True, slots=True)
class JobIsWritten:
    plan: Plan
    MOST: ClassVar[int] = 6

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        if len(clients.jobs()) < self.MOST:
            await clients.write_job(self.plan)


@dataclass(frozen=True, slots=True)
class SubmissionIsWritten:
    plan: Plan
    seconds: float
    MOST: ClassVar[int] = 6

    async def happen(self, cluster: Cluster) -> None:
        if len(cluster.seen.submissions) < self.MOST:
            await Clients(cluster).submit(self.plan, self.seconds)


@dataclass(frozen=True, slots=True)
class RunIsWanted:
    """One run of a job now."""

    pick: int

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        await clients.run_now(one_of(clients.jobs(), self.pick))


@dataclass(frozen=True, slots=True)
class RunsAreHandedIn:
    """Some runs of a job in bulk."""

    pick: int
    seconds: float

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        await clients.hand_in(one_of(clients.jobs(), self.pick), self.seconds)


@dataclass(frozen=True, slots=True)
class RunIsCancelled:
    pick: int
    by_force: bool = False

    async def happen(self, cluster: Cluster) -> None:
        if cluster.seen.alive:
            run_id = one_of(sorted(cluster.seen.alive), self.pick)
            await Clients(cluster).cancel(run_id, by_force=self.by_force)


@dataclass(frozen=True, slots=True)
class RunIsReplayed:
    pick: int

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        if clients.dead_letters():
            await clients.replay(one_of(clients.dead_letters(), self.pick))


@dataclass(frozen=True, slots=True)
class JobIsChanged:
    """Another schedule; without one, what is paused goes on and what is active is paused."""

    pick: int
    cadence: Cadence | None = None

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        job_id = one_of(clients.jobs(), self.pick)
        if self.cadence is not None:
            await clients.edit(job_id, self.cadence)
        elif job_id in clients.jobs("paused"):
            await clients.resume(job_id)
        elif job_id in clients.jobs("active"):
            await clients.pause(job_id)


@dataclass(frozen=True, slots=True)
class JobIsDeleted:
    """Two stay, so that something goes on."""

    pick: int

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        if len(clients.jobs()) > 2:
            await clients.delete(one_of(clients.jobs(), self.pick))


@dataclass(frozen=True, slots=True)
class QueueIsPaused:
    """For a moment, in which the workers claim."""

    async def happen(self, cluster: Cluster) -> None:
        clients = Clients(cluster)
        await clients.pause_queue(paused=True)
        for name in WORKERS:
            await cluster.act(cluster.node(name), "claiming")
        await clients.pause_queue(paused=False)


def one_of(things: Iterable[T], pick: int) -> T:
    found = list(things)
    return found[pick % len(found)]

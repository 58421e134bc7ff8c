"""The end of every story: nothing disturbs any more, and what was promised comes true."""

from rota.core.lease import SESSION_LEASE
from rota.core.outcome import Succeeded
from tests.simulation.clients import Clients
from tests.simulation.cluster import Cluster, Violation

SCHEDULER, WORKER = "A", "X"
SLOTS = 100
CATCHING_UP = 3
DRAINING = 100


async def heal(cluster: Cluster) -> None:
    """A new scheduler decides all that is due, and a new worker ends all that is alive (I3, I6)."""
    await cluster.close()
    clients = Clients(cluster)
    await clients.pause_queue(paused=False)
    # Whoever was there is silent for so long that nobody counts on him any more.
    await cluster.wait(SESSION_LEASE.ttl.total_seconds())
    for name in (SCHEDULER, WORKER):
        await cluster.start(name)
    cluster.worker(WORKER).slots = SLOTS
    for _ in range(CATCHING_UP):
        await round_of_work(cluster)
    now = cluster.world.now
    behind = [job for job in cluster.seen.jobs.values() if job.fire_at and job.fire_at <= now]
    if behind:
        raise Violation(f"I3 after {CATCHING_UP} calm rounds nobody has decided {behind}")
    late = [each for each in cluster.seen.submissions.values() if each.due_at <= now]
    if late:
        raise Violation(f"I3 after {CATCHING_UP} calm rounds nobody has moved {late}")
    for job in cluster.seen.jobs.values():
        if job.state == "active":
            await clients.pause(job.id)
    for _ in range(DRAINING):
        if not cluster.seen.alive and not cluster.seen.submissions:
            return
        await round_of_work(cluster)
    left = [*sorted(cluster.seen.alive.values()), *cluster.seen.submissions.values()]
    raise Violation(f"I6 after {DRAINING} calm rounds {len(left)} runs are alive: {left[0]}")


async def round_of_work(cluster: Cluster) -> None:
    await cluster.wait(2)
    await cluster.work(SCHEDULER)
    await cluster.work(WORKER)
    worker = cluster.worker(WORKER)
    for attempt in list(worker.performing):
        worker.end(attempt, Succeeded())
    await cluster.act(worker, "recording")

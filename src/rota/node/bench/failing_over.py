"""How long it takes until others go on after a process was killed (P7). Room: node/bench.

Nobody says goodbye: the others find out when a lease has run out. Besides the time it is counted
that every tick ran, once, and that every run of the dead worker was started again, once; else there
is no figure.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from rota.core.shard import SHARDS
from rota.node.bench.failure import BenchFailed
from rota.node.bench.fleet import Member
from rota.node.bench.handlers import DOOMED, STAMP
from rota.node.bench.loads import Writer
from rota.node.bench.trial import LOOK_EVERY, SECOND, Trial
from rota.store import benchmark
from rota.store.benchmark import Restarts

SLOTS: Final = 1000
# Before the kill, so that all is as it always is, and after it: longer than the floor that P7 sets.
STEADY: Final = 4 * SECOND
AFTER: Final = 32 * SECOND
# What a scheduler must hold to be worth killing: about half, for there are two.
ENOUGH: Final = SHARDS // 3
PATIENCE: Final = 30.0
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


async def failover(trial: Trial) -> dict[str, float]:
    return {
        "failover_scheduler_s": await scheduler(trial),
        "failover_worker_s": await worker(trial),
    }


async def scheduler(trial: Trial) -> float:
    """Seconds from the end of one of two schedulers until every job has fired again.

    Every job is due every second, so each has one tick in the first second after it.
    """
    dies = await trial.fleet.scheduler()
    await trial.fleet.scheduler()
    await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()
    async with trial.writing(STAMP) as to:
        length = STEADY + AFTER

        async def write(start: datetime) -> None:
            await to.every_second(trial.sizes.ticking, start=start, until=start + length)

        start = await trial.plan(to, trial.sizes.ticking, write)
        # Not in step with the ticks: a second is as good as another to die in.
        await trial.rest_until(start + STEADY + trial.chance.random() * SECOND)
        await until(trial, lambda: are_dealt(to), "the shards are dealt to both schedulers")
        killed = await kill(trial, dies)
        await trial.rest_until(start + length)
        await trial.until_idle()
        found = await restarts(to, start, start + length)
        check(found, found.ticks, wanted=trial.sizes.ticking * (length // SECOND), attempts=1)
        first = await restarts(to, killed, killed + SECOND)
    await trial.fleet.leave()
    return seconds_from(killed, first)


async def worker(trial: Trial) -> float:
    """Seconds from the end of a worker until each of its runs was started by another."""
    number = trial.sizes.doomed
    dies = await trial.fleet.worker(slots=number)
    await trial.fleet.are_ready()
    async with trial.writing(DOOMED) as to:
        since = trial.clock.now()
        await to.runs(number)

        async def are_running() -> bool:
            return await benchmark.running(to.conn, kind_id=to.kind_id) == number

        await until(trial, are_running, f"all of {number:,} runs are carried out")
        await trial.fleet.worker(slots=number)
        await trial.fleet.are_ready()
        await trial.rest_until(trial.clock.now() + (1 + trial.chance.random()) * SECOND)
        killed = await kill(trial, dies)
        await trial.until_idle()
        ended = await restarts(to, since, killed)
    check(ended, ended.runs, wanted=number, attempts=2)
    return seconds_from(killed, ended)


async def are_dealt(to: Writer) -> bool:
    dealt = await benchmark.shares(to.conn)
    return dealt.holders == 2 and dealt.fewest >= ENOUGH


async def kill(trial: Trial, member: Member) -> datetime:
    """When it was killed; what it did before that is done."""
    at = trial.clock.now()
    await trial.fleet.kill(member)
    return at


async def restarts(to: Writer, since: datetime, until: datetime) -> Restarts:
    return await benchmark.restarts(to.conn, kind_id=to.kind_id, since=since, until=until)


async def until(trial: Trial, is_so: Callable[[], Awaitable[bool]], what: str) -> None:
    give_up = trial.clock.monotonic() + PATIENCE
    while not await is_so():
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            raise BenchFailed(
                who=trial.name, reason=f"waited {PATIENCE:.0f} s in vain until {what}"
            )
        await trial.clock.sleep(LOOK_EVERY)


def check(found: Restarts, number: int, *, wanted: int, attempts: int) -> None:
    """Nothing may be lost, and nothing done more often than it had to be: `attempts` for each."""
    if number < wanted:
        reason = f"finds {number:,} of {wanted:,} recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    if found.runs > wanted or found.attempts > wanted * attempts:
        reason = (
            f"finds {found.runs:,} runs in {found.attempts:,} attempts where {wanted:,} were due"
        )
        raise BenchFailed(who="the database", reason=reason)


def seconds_from(killed: datetime, found: Restarts) -> float:
    """Until the last of them started."""
    if found.last_start is None:
        raise BenchFailed(who="the database", reason="finds nothing that started again")
    return found.last_start / 1e6 - (killed - EPOCH) / timedelta(seconds=1)

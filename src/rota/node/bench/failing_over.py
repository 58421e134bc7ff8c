"""Measures the time until other processes take over from a killed one (P7).

The process is killed without warning: the others notice when its lease expires. The part also
checks that every tick ran once and that every run of the killed worker restarted once; otherwise it
fails.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from rota.core.shard import SHARD_COUNT
from rota.node.bench.failure import BenchFailed
from rota.node.bench.fleet import Member
from rota.node.bench.handlers import DOOMED, STAMP
from rota.node.bench.loads import Writer
from rota.node.bench.trial import LOOK_EVERY, SECOND, Trial
from rota.store import benchmark
from rota.store.benchmark import RestartCounts

SLOTS: Final = 1000
# Steady operation before the kill, and time after it: longer than the minimum of P7.
STEADY: Final = 4 * SECOND
AFTER: Final = 32 * SECOND
# Shards that each of the two schedulers must hold before one is killed.
ENOUGH: Final = SHARD_COUNT // 3
PATIENCE: Final = 30.0
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


async def failover(trial: Trial) -> dict[str, float]:
    return {
        "failover_scheduler_s": await scheduler(trial),
        "failover_worker_s": await worker(trial),
    }


async def scheduler(trial: Trial) -> float:
    """Return seconds from the kill of one of two schedulers until every job has fired again.

    Every job is due every second, so each has one tick in the first second after the kill.
    """
    victim = await trial.fleet.scheduler()
    await trial.fleet.scheduler()
    await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()
    async with trial.writing(STAMP) as to:
        length = STEADY + AFTER

        async def write(start: datetime) -> None:
            await to.every_second(trial.sizes.ticking, start=start, until=start + length)

        start = await trial.plan(to, trial.sizes.ticking, write)
        # A random offset, so that the kill is not aligned with the ticks.
        await trial.rest_until(start + STEADY + trial.chance.random() * SECOND)
        await until(trial, lambda: are_dealt(to), "both schedulers hold their shards")
        killed = await kill(trial, victim)
        await trial.rest_until(start + length)
        await trial.until_idle()
        found = await restarts(to, start, start + length)
        check(found, found.ticks, wanted=trial.sizes.ticking * (length // SECOND), attempts=1)
        first = await restarts(to, killed, killed + SECOND)
    await trial.fleet.leave()
    return seconds_from(killed, first)


async def worker(trial: Trial) -> float:
    """Return seconds from the kill of a worker until another one has started each of its runs."""
    number = trial.sizes.doomed
    victim = await trial.fleet.worker(slots=number)
    await trial.fleet.are_ready()
    async with trial.writing(DOOMED) as to:
        since = trial.clock.now()
        await to.runs(number)

        async def are_running() -> bool:
            return await benchmark.count_running(to.conn, kind_id=to.kind_id) == number

        await until(trial, are_running, f"all {number:,} runs are running")
        await trial.fleet.worker(slots=number)
        await trial.fleet.are_ready()
        await trial.rest_until(trial.clock.now() + (1 + trial.chance.random()) * SECOND)
        killed = await kill(trial, victim)
        await trial.until_idle()
        ended = await restarts(to, since, killed)
    check(ended, ended.runs, wanted=number, attempts=2)
    return seconds_from(killed, ended)


async def are_dealt(to: Writer) -> bool:
    shares = await benchmark.read_shard_shares(to.conn)
    return shares.holders == 2 and shares.fewest >= ENOUGH


async def kill(trial: Trial, member: Member) -> datetime:
    """Kill a process and return the time of the kill."""
    at = trial.clock.now()
    await trial.fleet.kill(member)
    return at


async def restarts(to: Writer, since: datetime, until: datetime) -> RestartCounts:
    return await benchmark.read_restarts(to.conn, kind_id=to.kind_id, since=since, until=until)


async def until(trial: Trial, is_so: Callable[[], Awaitable[bool]], what: str) -> None:
    give_up = trial.clock.monotonic() + PATIENCE
    while not await is_so():
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            raise BenchFailed(
                who=trial.name, reason=f"timed out after {PATIENCE:.0f} s: expected that {what}"
            )
        await trial.clock.sleep(LOOK_EVERY)


def check(found: RestartCounts, number: int, *, wanted: int, attempts: int) -> None:
    """Fail if a run was lost, or has more than `attempts` attempts on average."""
    if number < wanted:
        reason = f"has {number:,} of {wanted:,} recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    if found.runs > wanted or found.attempts > wanted * attempts:
        reason = f"has {found.runs:,} runs in {found.attempts:,} attempts where {wanted:,} were due"
        raise BenchFailed(who="the database", reason=reason)


def seconds_from(killed: datetime, found: RestartCounts) -> float:
    """Return the seconds from the kill to the last start."""
    if found.last_start is None:
        raise BenchFailed(who="the database", reason="has no restarted run")
    return found.last_start / 1e6 - (killed - EPOCH) / timedelta(seconds=1)

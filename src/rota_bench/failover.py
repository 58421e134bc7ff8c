"""Measures the time until other processes take over from a killed one (P7).

The process is killed without warning: the others notice when its lease expires. The part also
checks that every tick ran once and that every run of the killed worker restarted once; otherwise it
fails.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from rota.core.lease import SHARD_COUNT
from rota_bench import database
from rota_bench.database import RestartCounts
from rota_bench.errors import BenchFailed
from rota_bench.fleet import FleetMember
from rota_bench.handlers import DOOMED, STAMP
from rota_bench.trial import POLL_INTERVAL_S, SECOND, Trial
from rota_bench.workload import WorkloadWriter

SLOTS: Final = 1000
# Steady operation before the kill, and time after it: longer than the minimum of P7.
TIME_BEFORE_KILL: Final = 4 * SECOND
TIME_AFTER_KILL: Final = 32 * SECOND
# Shards that each of the two schedulers must hold before one is killed.
SHARDS_MIN: Final = SHARD_COUNT // 3
WAIT_TIMEOUT_S: Final = 30.0
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


async def measure_failover(trial: Trial) -> dict[str, float]:
    return {
        "failover_scheduler_s": await measure_scheduler(trial),
        "failover_worker_s": await measure_worker(trial),
    }


async def measure_scheduler(trial: Trial) -> float:
    """Return seconds from the kill of one of two schedulers until every job has fired again.

    Every job is due every second, so each has one tick in the first second after the kill.
    """
    victim = await trial.fleet.start_scheduler()
    await trial.fleet.start_scheduler()
    await trial.fleet.start_worker(slots=SLOTS)
    await trial.fleet.wait_ready()
    async with trial.open_writer(STAMP) as to:
        length = TIME_BEFORE_KILL + TIME_AFTER_KILL

        async def write(start: datetime) -> None:
            await to.write_cron_jobs(trial.sizes.ticking, start=start, until=start + length)

        start = await trial.schedule_jobs(to, trial.sizes.ticking, write)
        # A random offset, so that the kill is not aligned with the ticks.
        await trial.sleep_until(start + TIME_BEFORE_KILL + trial.rng.random() * SECOND)
        await wait_until(trial, lambda: has_even_shares(to), "both schedulers hold their shards")
        killed = await kill_process(trial, victim)
        await trial.sleep_until(start + length)
        await trial.wait_until_idle()
        found = await read_restarts(to, start, start + length)
        check_restarts(
            found, found.ticks, wanted=trial.sizes.ticking * (length // SECOND), attempts=1
        )
        first = await read_restarts(to, killed, killed + SECOND)
    await trial.fleet.stop()
    return compute_seconds(killed, first)


async def measure_worker(trial: Trial) -> float:
    """Return seconds from the kill of a worker until another one has started each of its runs."""
    number = trial.sizes.doomed
    victim = await trial.fleet.start_worker(slots=number)
    await trial.fleet.wait_ready()
    async with trial.open_writer(DOOMED) as to:
        since = trial.clock.now()
        await to.write_runs(number)

        async def are_running() -> bool:
            return await database.count_running(to.conn, kind_id=to.kind_id) == number

        await wait_until(trial, are_running, f"all {number:,} runs are running")
        await trial.fleet.start_worker(slots=number)
        await trial.fleet.wait_ready()
        await trial.sleep_until(trial.clock.now() + (1 + trial.rng.random()) * SECOND)
        killed = await kill_process(trial, victim)
        await trial.wait_until_idle()
        ended = await read_restarts(to, since, killed)
    check_restarts(ended, ended.runs, wanted=number, attempts=2)
    return compute_seconds(killed, ended)


async def has_even_shares(to: WorkloadWriter) -> bool:
    shares = await database.read_shard_shares(to.conn)
    return shares.holders == 2 and shares.fewest >= SHARDS_MIN


async def kill_process(trial: Trial, member: FleetMember) -> datetime:
    """Kill a process and return the time of the kill."""
    at = trial.clock.now()
    await trial.fleet.kill(member)
    return at


async def read_restarts(to: WorkloadWriter, since: datetime, until: datetime) -> RestartCounts:
    return await database.read_restarts(to.conn, kind_id=to.kind_id, since=since, until=until)


async def wait_until(
    trial: Trial, condition: Callable[[], Awaitable[bool]], description: str
) -> None:
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT_S
    while not await condition():
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            raise BenchFailed(
                who=trial.name,
                reason=f"timed out after {WAIT_TIMEOUT_S:.0f} s: expected that {description}",
            )
        await trial.clock.sleep(POLL_INTERVAL_S)


def check_restarts(found: RestartCounts, number: int, *, wanted: int, attempts: int) -> None:
    """Fail if a run was lost, or has more than `attempts` attempts on average."""
    if number < wanted:
        reason = f"has {number:,} of {wanted:,} recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    if found.runs > wanted or found.attempts > wanted * attempts:
        reason = f"has {found.runs:,} runs in {found.attempts:,} attempts where {wanted:,} were due"
        raise BenchFailed(who="the database", reason=reason)


def compute_seconds(killed: datetime, found: RestartCounts) -> float:
    """Return the seconds from the kill to the last start."""
    if found.last_start is None:
        raise BenchFailed(who="the database", reason="has no restarted run")
    return found.last_start / 1e6 - (killed - EPOCH) / timedelta(seconds=1)

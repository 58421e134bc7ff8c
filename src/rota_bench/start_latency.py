"""Measures start latency: at a steady rate, all at once, every second, and on submission (P2, P4).

The lag of a run is the time from its due time to the first instruction of its handler.
"""

from datetime import datetime, timedelta
from typing import Final

from rota_bench import database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import STAMP
from rota_bench.measures import RATES, compute_percentile, compute_spread
from rota_bench.throughput import space_evenly
from rota_bench.trial import Trial
from rota_bench.workload import WorkloadWriter

SLOTS: Final = 1000
HERD_SIZE: Final = 10_000
CRON_ENTRIES: Final = 10_000
SECOND: Final = timedelta(seconds=1)
# Share of ticks that belong to recurring jobs, each with its own phase.
RECURRING_SHARE: Final = 0.2
INTERVAL: Final = 2 * SECOND
# Long enough for the system to become idle again, short enough for many samples.
PAUSE_RANGE_S: Final = (0.05, 0.2)
# Wait after the last run, until it is recorded.
SETTLE_S: Final = 2.0

Pauses = tuple[float, float]


async def measure_lag(trial: Trial) -> dict[str, float]:
    """Measure one-time and recurring jobs spread evenly over time, at each rate."""
    figures: dict[str, float] = {}
    await start_pair(trial)
    for per_second in RATES:
        async with trial.open_writer(STAMP) as to:
            lags = await measure_lags_at(trial, to, per_second)
        figures |= compute_spread(f"fire_lag_ms.{per_second}", lags)
    return figures


async def measure_lags_at(trial: Trial, to: WorkloadWriter, per_second: int) -> list[float]:
    length = trial.sizes.lag_seconds * SECOND
    again = round(per_second * RECURRING_SHARE * INTERVAL.total_seconds())
    single = round(per_second * (1 - RECURRING_SHARE) * length.total_seconds())

    async def write(start: datetime) -> None:
        await to.write_one_time_jobs(
            space_evenly(start, single, per_second=single / length.total_seconds())
        )
        firsts = space_evenly(start, again, per_second=again / INTERVAL.total_seconds())
        await to.write_interval_jobs(INTERVAL, firsts, until=start + length)

    start = await trial.schedule_jobs(to, single + again, write)
    await trial.sleep_until(start + length)
    await trial.wait_until_idle()
    wanted = single + again * (length // INTERVAL)
    return await read_lags(to, start, start + length, wanted=wanted)


async def measure_herd(trial: Trial) -> dict[str, float]:
    """Measure many jobs due at one instant: the time until the last has started."""
    await start_pair(trial)
    async with trial.open_writer(STAMP) as to:

        async def write(start: datetime) -> None:
            await to.write_one_time_jobs([start] * HERD_SIZE)

        start = await trial.schedule_jobs(to, HERD_SIZE, write)
        await trial.wait_until_idle()
        lags = await read_lags(to, start, start + SECOND, wanted=HERD_SIZE)
    return {"herd_10000_s": max(lags) / 1000}


async def measure_cron(trial: Trial) -> dict[str, float]:
    """Measure cron entries that are all due every second."""
    seconds = trial.sizes.cron_seconds
    await start_pair(trial)
    async with trial.open_writer(STAMP) as to:

        async def write(start: datetime) -> None:
            await to.write_cron_jobs(CRON_ENTRIES, start=start, until=start + seconds * SECOND)

        start = await trial.schedule_jobs(to, CRON_ENTRIES, write)
        end = start + seconds * SECOND
        await trial.sleep_until(end)
        await trial.wait_until_idle()
        lags = await read_lags(to, start, end)
        ticks = await database.count_accounted_ticks(
            to.conn, kind_id=to.kind_id, since=start, until=end
        )
    return {
        # A tick that is skipped because the previous run still waits is recorded and does not count
        # as fired.
        "cron_10000_per_s.fired_percent": 100 * len(lags) / (CRON_ENTRIES * seconds),
        "cron_10000_per_s.accounted_percent": 100 * ticks / (CRON_ENTRIES * seconds),
        "cron_10000_per_s.p99_ms": compute_percentile(lags, 99),
    }


async def measure_pickup(trial: Trial) -> dict[str, float]:
    """Measure runs submitted one at a time to an idle system."""
    await start_pair(trial)
    async with trial.open_writer(STAMP, hot=True) as to:
        await measure_submissions(trial, to, number=5, pauses=PAUSE_RANGE_S)
        lags = await measure_submissions(
            trial, to, number=trial.sizes.pickups, pauses=PAUSE_RANGE_S
        )
    return compute_spread("pickup_ms", lags)


async def measure_submissions(
    trial: Trial, to: WorkloadWriter, *, number: int, pauses: Pauses
) -> list[float]:
    """Return milliseconds from before each submission to the start of its handler.

    The database is not queried meanwhile: the times are read at the end.
    """
    first = trial.clock.now()
    for _ in range(number):
        await trial.clock.sleep(trial.rng.uniform(*pauses))
        # It is due just before its submission, so the lag is what a waiting caller sees.
        await to.write_run()
        trial.fleet.check()
    await trial.clock.sleep(SETTLE_S)
    return await read_lags(to, first, trial.clock.now(), wanted=number)


async def start_pair(trial: Trial) -> None:
    await trial.fleet.start_scheduler()
    await trial.fleet.start_worker(slots=SLOTS)
    await trial.fleet.wait_ready()


async def read_lags(
    to: WorkloadWriter, since: datetime, until: datetime, *, wanted: int | None = None
) -> list[float]:
    """Return the lags of all ticks in [since, until) in milliseconds; fails if a run is missing."""
    lags = await database.read_start_lags(to.conn, kind_id=to.kind_id, since=since, until=until)
    if not lags or (wanted is not None and len(lags) != wanted):
        reason = f"has {len(lags):,} of {wanted or 'some':,} runs recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    return [lag_us / 1000 for lag_us in lags]

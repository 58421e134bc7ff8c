"""Measures start latency: at a steady rate, all at once, every second, and on submission (P2, P4).

The lag of a run is the time from its due time to the first instruction of its handler.
"""

from datetime import datetime, timedelta
from typing import Final

from rota.node.bench.draining import evenly
from rota.node.bench.failure import BenchFailed
from rota.node.bench.figures import RATES, percentile, spread
from rota.node.bench.handlers import STAMP
from rota.node.bench.loads import Writer
from rota.node.bench.trial import Trial
from rota.store import benchmark

SLOTS: Final = 1000
HERD: Final = 10_000
ENTRIES: Final = 10_000
SECOND: Final = timedelta(seconds=1)
# Share of ticks that belong to recurring jobs, each with its own phase.
RECURRING: Final = 0.2
INTERVAL: Final = 2 * SECOND
# Long enough for the system to become idle again, short enough for many samples.
PAUSES: Final = (0.05, 0.2)
# Wait after the last run, until it is recorded.
SETTLING: Final = 2.0

Pauses = tuple[float, float]


async def lag(trial: Trial) -> dict[str, float]:
    """Measure one-time and recurring jobs spread evenly over time, at each rate."""
    figures: dict[str, float] = {}
    await start_pair(trial)
    for per_second in RATES:
        async with trial.writing(STAMP) as to:
            lags = await lags_at(trial, to, per_second)
        figures |= spread(f"fire_lag_ms.{per_second}", lags)
    return figures


async def lags_at(trial: Trial, to: Writer, per_second: int) -> list[float]:
    length = trial.sizes.lag_seconds * SECOND
    again = round(per_second * RECURRING * INTERVAL.total_seconds())
    single = round(per_second * (1 - RECURRING) * length.total_seconds())

    async def write(start: datetime) -> None:
        await to.once(evenly(start, single, per_second=single / length.total_seconds()))
        firsts = evenly(start, again, per_second=again / INTERVAL.total_seconds())
        await to.every(INTERVAL, firsts, until=start + length)

    start = await trial.plan(to, single + again, write)
    await trial.rest_until(start + length)
    await trial.until_idle()
    wanted = single + again * (length // INTERVAL)
    return await measured(to, start, start + length, wanted=wanted)


async def herd(trial: Trial) -> dict[str, float]:
    """Measure many jobs due at one instant: the time until the last has started."""
    await start_pair(trial)
    async with trial.writing(STAMP) as to:

        async def write(start: datetime) -> None:
            await to.once([start] * HERD)

        start = await trial.plan(to, HERD, write)
        await trial.until_idle()
        lags = await measured(to, start, start + SECOND, wanted=HERD)
    return {"herd_10000_s": max(lags) / 1000}


async def cron(trial: Trial) -> dict[str, float]:
    """Measure cron entries that are all due every second."""
    seconds = trial.sizes.cron_seconds
    await start_pair(trial)
    async with trial.writing(STAMP) as to:

        async def write(start: datetime) -> None:
            await to.every_second(ENTRIES, start=start, until=start + seconds * SECOND)

        start = await trial.plan(to, ENTRIES, write)
        end = start + seconds * SECOND
        await trial.rest_until(end)
        await trial.until_idle()
        lags = await measured(to, start, end)
        ticks = await benchmark.count_accounted_ticks(
            to.conn, kind_id=to.kind_id, since=start, until=end
        )
    return {
        # A tick that is skipped because the previous run still waits is recorded and does not count
        # as fired.
        "cron_10000_per_s.fired_percent": 100 * len(lags) / (ENTRIES * seconds),
        "cron_10000_per_s.accounted_percent": 100 * ticks / (ENTRIES * seconds),
        "cron_10000_per_s.p99_ms": percentile(lags, 99),
    }


async def pickup(trial: Trial) -> dict[str, float]:
    """Measure runs submitted one at a time to an idle system."""
    await start_pair(trial)
    async with trial.writing(STAMP, hot=True) as to:
        await submitted(trial, to, number=5, pauses=PAUSES)
        lags = await submitted(trial, to, number=trial.sizes.pickups, pauses=PAUSES)
    return spread("pickup_ms", lags)


async def submitted(trial: Trial, to: Writer, *, number: int, pauses: Pauses) -> list[float]:
    """Return milliseconds from before each submission to the start of its handler.

    The database is not queried meanwhile: the times are read at the end.
    """
    first = trial.clock.now()
    for _ in range(number):
        await trial.clock.sleep(trial.chance.uniform(*pauses))
        # It is due just before its submission, so the lag is what a waiting caller sees.
        await to.run()
        trial.fleet.check()
    await trial.clock.sleep(SETTLING)
    return await measured(to, first, trial.clock.now(), wanted=number)


async def start_pair(trial: Trial) -> None:
    await trial.fleet.scheduler()
    await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()


async def measured(
    to: Writer, since: datetime, until: datetime, *, wanted: int | None = None
) -> list[float]:
    """Return the lags of all ticks in [since, until) in milliseconds; fails if a run is missing."""
    lags = await benchmark.read_start_lags(to.conn, kind_id=to.kind_id, since=since, until=until)
    if not lags or (wanted is not None and len(lags) != wanted):
        reason = f"has {len(lags):,} of {wanted or 'some':,} runs recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    return [lag_us / 1000 for lag_us in lags]

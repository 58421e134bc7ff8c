"""Measures throughput: draining a backlog, and firing, executing and recording jobs (P1).

Rates use timestamps of the database: from the first start, or due time, to the last record. The
start of the processes is not counted, and their CPU time until they are ready is subtracted.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from rota_bench import cpu_usage, database
from rota_bench.database import RunPeriod
from rota_bench.errors import BenchFailed
from rota_bench.handlers import NOOP
from rota_bench.trial import Trial

# One worker per core of the reference machine, with slots for several claims each.
WORKER_COUNT: Final = 2
SLOTS_PER_WORKER: Final = 2000
# Above the target, so that the offered rate is not the limit.
OFFERED_PER_S: Final = 30_000
SECOND: Final = timedelta(seconds=1)


async def measure_drain(trial: Trial) -> dict[str, float]:
    """Measure draining a backlog: the runs exist before the processes start."""
    number = trial.sizes.drained
    async with trial.open_writer(NOOP) as to:
        await to.write_runs(number)
        await database.vacuum_and_checkpoint(to.conn)
        server = read_server_cpu(trial)
        await start_processes(trial)
        before = {"rota": read_rota_cpu(trial), "postgres": server}
        await trial.wait_until_idle()
        after = {"rota": read_rota_cpu(trial), "postgres": read_server_cpu(trial)}
        span = await database.read_run_period(to.conn, kind_id=to.kind_id)
    per_second = compute_rate(span, number, since=span.first_start)
    return {"drain_runs_per_s": per_second, **compute_cost(before, after, runs=number)}


async def measure_throughput(trial: Trial) -> dict[str, float]:
    """Measure jobs that come due faster than the target, from first due time to last record."""
    number = trial.sizes.fired
    await start_processes(trial)
    async with trial.open_writer(NOOP) as to:

        async def write(start: datetime) -> None:
            await to.write_one_time_jobs(space_evenly(start, number, per_second=OFFERED_PER_S))

        start = await trial.schedule_jobs(to, number, write)
        await trial.sleep_until(start + number / OFFERED_PER_S * SECOND)
        await trial.wait_until_idle()
        span = await database.read_run_period(to.conn, kind_id=to.kind_id)
    return {"throughput_runs_per_s": compute_rate(span, number, since=span.first_due)}


async def start_processes(trial: Trial) -> None:
    """Start a scheduler and the workers, as on a machine that runs everything."""
    await trial.fleet.start_scheduler()
    for _ in range(WORKER_COUNT):
        await trial.fleet.start_worker(slots=SLOTS_PER_WORKER)
    await trial.fleet.wait_ready()


def space_evenly(start: datetime, number: int, *, per_second: float) -> Iterator[datetime]:
    """Return `number` evenly spaced instants."""
    return (start + each / per_second * SECOND for each in range(number))


def compute_rate(tick_range: RunPeriod, number: int, *, since: datetime | None) -> float:
    """Return runs per second; fails if a run was not recorded."""
    if tick_range.finished != number or since is None or tick_range.last_finish is None:
        reason = f"has {tick_range.finished:,} of {number:,} runs recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    return number / (tick_range.last_finish - since).total_seconds()


def read_rota_cpu(trial: Trial) -> float | None:
    return cpu_usage.sum_tree_seconds(member.pid for member in trial.fleet.members)


def read_server_cpu(trial: Trial) -> float | None:
    """Return the CPU seconds of the server; the postmaster inherits those of ended sessions."""
    return None if trial.postmaster is None else cpu_usage.read_tree_seconds(trial.postmaster)


def compute_cost(
    before: Mapping[str, float | None], after: Mapping[str, float | None], *, runs: int
) -> dict[str, float]:
    """Return CPU microseconds per run; a side that could not be measured is left out."""
    figures: dict[str, float] = {}
    for who, then in before.items():
        now = after[who]
        if then is not None and now is not None:
            figures[f"cpu_us_per_run.{who}"] = (now - then) / runs * 1e6
    if len(figures) == len(before):
        figures["cpu_us_per_run.all"] = sum(figures.values())
    return figures

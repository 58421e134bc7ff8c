"""Measures throughput: draining a backlog, and firing, executing and recording jobs (P1).

Rates use timestamps of the database: from the first start, or due time, to the last record. The
start of the processes is not counted, and their CPU time until they are ready is subtracted.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from rota.node.bench import processor
from rota.node.bench.failure import BenchFailed
from rota.node.bench.handlers import NOOP
from rota.node.bench.trial import Trial
from rota.store import benchmark
from rota.store.benchmark import RunPeriod

# One worker per core of the reference machine, with slots for several claims each.
WORKERS: Final = 2
SLOTS: Final = 2000
# Above the target, so that the offered rate is not the limit.
OFFERED: Final = 30_000
SECOND: Final = timedelta(seconds=1)


async def drain(trial: Trial) -> dict[str, float]:
    """Measure draining a backlog: the runs exist before the processes start."""
    number = trial.sizes.drained
    async with trial.writing(NOOP) as to:
        await to.runs(number)
        await benchmark.vacuum_and_checkpoint(to.conn)
        server = used_by_server(trial)
        await start_all(trial)
        before = {"rota": used_by_rota(trial), "postgres": server}
        await trial.until_idle()
        after = {"rota": used_by_rota(trial), "postgres": used_by_server(trial)}
        span = await benchmark.read_run_period(to.conn, kind_id=to.kind_id)
    per_second = rate(span, number, since=span.first_start)
    return {"drain_runs_per_s": per_second, **cost(before, after, runs=number)}


async def throughput(trial: Trial) -> dict[str, float]:
    """Measure jobs that come due faster than the target, from first due time to last record."""
    number = trial.sizes.fired
    await start_all(trial)
    async with trial.writing(NOOP) as to:

        async def write(start: datetime) -> None:
            await to.once(evenly(start, number, per_second=OFFERED))

        start = await trial.plan(to, number, write)
        await trial.rest_until(start + number / OFFERED * SECOND)
        await trial.until_idle()
        span = await benchmark.read_run_period(to.conn, kind_id=to.kind_id)
    return {"throughput_runs_per_s": rate(span, number, since=span.first_due)}


async def start_all(trial: Trial) -> None:
    """Start a scheduler and the workers, as on a machine that runs everything."""
    await trial.fleet.scheduler()
    for _ in range(WORKERS):
        await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()


def evenly(start: datetime, number: int, *, per_second: float) -> Iterator[datetime]:
    """Return `number` evenly spaced instants."""
    return (start + each / per_second * SECOND for each in range(number))


def rate(span: RunPeriod, number: int, *, since: datetime | None) -> float:
    """Return runs per second; fails if a run was not recorded."""
    if span.finished != number or since is None or span.last_finish is None:
        reason = f"has {span.finished:,} of {number:,} runs recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    return number / (span.last_finish - since).total_seconds()


def used_by_rota(trial: Trial) -> float | None:
    return processor.seconds(member.pid for member in trial.fleet.members)


def used_by_server(trial: Trial) -> float | None:
    """Return the CPU seconds of the server; the postmaster inherits those of ended sessions."""
    return None if trial.postmaster is None else processor.tree_seconds(trial.postmaster)


def cost(
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

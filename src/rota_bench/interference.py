"""Measures interference: a noisy tenant, and a thousand concurrent runs (T1, P5)."""

from typing import Final

from rota.store import live_runs
from rota_bench import database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import BARRIER, NAP, STAMP
from rota_bench.measures import compute_percentile, compute_spread
from rota_bench.start_latency import measure_submissions
from rota_bench.trial import Trial

BACKLOG_RUNS: Final = 100_000
SLOTS: Final = 100
# About one per second, never aligned with ticks.
PAUSE_RANGE_S: Final = (0.7, 1.3)
# Seconds that the backlog must outlast the samples, so that the system never becomes idle.
BACKLOG_MARGIN_S: Final = 20
CONCURRENT_RUNS: Final = 1000


async def measure_neighbour(trial: Trial) -> dict[str, float]:
    """Measure the waits of a tenant, first alone, then while another tenant has a long backlog.

    The runs of the other tenant sleep, like most real runs, and occupy all slots.
    """
    samples = trial.sizes.neighbour_samples
    await trial.fleet.start_scheduler()
    await trial.fleet.start_worker(slots=SLOTS)
    await trial.fleet.wait_ready()
    async with (
        trial.open_writer(STAMP, tenant="quiet") as quiet,
        trial.open_writer(NAP, tenant="noisy") as noisy,
    ):
        await measure_submissions(trial, quiet, number=3, pauses=PAUSE_RANGE_S)
        idle = await measure_submissions(trial, quiet, number=samples, pauses=PAUSE_RANGE_S)
        nap = SLOTS * (samples + BACKLOG_MARGIN_S) / BACKLOG_RUNS
        await noisy.write_runs(BACKLOG_RUNS, payload={"seconds": nap})
        busy = await measure_submissions(trial, quiet, number=samples, pauses=PAUSE_RANGE_S)
        done = (await database.read_run_period(noisy.conn, kind_id=noisy.kind_id)).finished
    if done >= BACKLOG_RUNS:
        raise BenchFailed(who="the noisy tenant", reason="had no backlog left at the end")
    return {
        "neighbour_ratio": compute_percentile(busy, 99) / compute_percentile(idle, 99),
        **compute_spread("neighbour_ms.idle", idle),
        **compute_spread("neighbour_ms.busy", busy),
    }


async def measure_in_flight(trial: Trial) -> dict[str, float]:
    """Measure concurrent runs in one process: all wait for each other."""
    await trial.fleet.start_worker(slots=CONCURRENT_RUNS)
    await trial.fleet.wait_ready()
    async with trial.open_writer(BARRIER) as to:
        ids = await to.write_runs(CONCURRENT_RUNS, payload={"expected": CONCURRENT_RUNS})
        await trial.wait_until_idle()
        runs = await live_runs.get_runs(to.conn, ids)
    return {"in_flight": max(int(run.result or 0) for run in runs.values())}

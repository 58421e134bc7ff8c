"""Measures interference: a noisy tenant, and a thousand concurrent runs (T1, P5)."""

from typing import Final

from rota.node.bench.failure import BenchFailed
from rota.node.bench.figures import percentile, spread
from rota.node.bench.handlers import BARRIER, NAP, STAMP
from rota.node.bench.lagging import submitted
from rota.node.bench.trial import Trial
from rota.store import benchmark, live_runs

BACKLOG: Final = 100_000
SLOTS: Final = 100
# About one per second, never aligned with ticks.
PAUSES: Final = (0.7, 1.3)
# Seconds that the backlog must outlast the samples, so that the system never becomes idle.
MARGIN: Final = 20
TOGETHER: Final = 1000


async def neighbour(trial: Trial) -> dict[str, float]:
    """Measure the waits of a tenant, first alone, then while another tenant has a long backlog.

    The runs of the other tenant sleep, like most real runs, and occupy all slots.
    """
    samples = trial.sizes.neighbour_samples
    await trial.fleet.scheduler()
    await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()
    async with (
        trial.writing(STAMP, tenant="quiet") as quiet,
        trial.writing(NAP, tenant="noisy") as noisy,
    ):
        await submitted(trial, quiet, number=3, pauses=PAUSES)
        idle = await submitted(trial, quiet, number=samples, pauses=PAUSES)
        nap = SLOTS * (samples + MARGIN) / BACKLOG
        await noisy.runs(BACKLOG, payload={"seconds": nap})
        busy = await submitted(trial, quiet, number=samples, pauses=PAUSES)
        done = (await benchmark.read_run_period(noisy.conn, kind_id=noisy.kind_id)).finished
    if done >= BACKLOG:
        raise BenchFailed(who="the noisy tenant", reason="had no backlog left at the end")
    return {
        "neighbour_ratio": percentile(busy, 99) / percentile(idle, 99),
        **spread("neighbour_ms.idle", idle),
        **spread("neighbour_ms.busy", busy),
    }


async def in_flight(trial: Trial) -> dict[str, float]:
    """Measure concurrent runs in one process: all wait for each other."""
    await trial.fleet.worker(slots=TOGETHER)
    await trial.fleet.are_ready()
    async with trial.writing(BARRIER) as to:
        ids = await to.runs(TOGETHER, payload={"expected": TOGETHER})
        await trial.until_idle()
        runs = await live_runs.get_runs(to.conn, ids)
    return {"in_flight": max(int(run.result or 0) for run in runs.values())}

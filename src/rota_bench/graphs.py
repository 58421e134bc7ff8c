"""Measures graph runs relative to plain runs, and how soon a large graph starts (D2).

Ten thousand diamonds of five steps are due at one instant. The time to the last record includes
claiming and expanding the graph runs, and creating, claiming and recording their steps. The
baseline is one-time jobs that the same processes fired and executed just before, because their runs
are created during the measurement, too. A diamond counts as six runs: its steps and itself.
"""

from datetime import timedelta
from typing import Final

from rota.core.graphs.graph import GRAPH_KIND
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import hints, interning
from rota.store.pool import read_database_time
from rota_bench import database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import MEMBER, NOOP, STAMP
from rota_bench.throughput import (
    compute_cost,
    compute_rate,
    measure_throughput,
    read_rota_cpu,
    read_server_cpu,
)
from rota_bench.trial import QUIET_TIME, Trial
from rota_bench.workload import BATCH_SIZE, WorkloadWriter, split_batches

# a, then b, c and d, then e.
DIAMOND: Final = (("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("a",)), ("e", ("b", "c", "d")))
RUNS_PER_DIAMOND: Final = len(DIAMOND) + 1
# The maximum of steps and edges of a graph: 100 rows of ten, each step needs several of the row
# before.
ROWS: Final = 100
WIDTH: Final = 10
EDGES_MAX: Final = 5_000
WAIT_TIMEOUT: Final = timedelta(minutes=5)


async def measure_graphs(trial: Trial) -> dict[str, float]:
    """Measure plain runs, then diamonds, then one large graph, with the same processes."""
    plain = (await measure_throughput(trial))["throughput_runs_per_s"]
    async with trial.open_writer(NOOP) as to:
        await database.vacuum_and_checkpoint(to.conn)
        before = read_cpu(trial)
        graph_rate = await measure_diamonds(trial, to, trial.sizes.graphs)
        costs = compute_cost(before, read_cpu(trial), runs=RUNS_PER_DIAMOND * trial.sizes.graphs)
        await database.vacuum_and_checkpoint(to.conn)
        started = await measure_large_graph(trial, to)
    return {
        "graph_runs_per_s": graph_rate,
        "graph_percent_of_throughput": 100 * graph_rate / plain,
        "graph_start_s": started,
        **{f"graph_{key}": figure for key, figure in costs.items()},
    }


def read_cpu(trial: Trial) -> dict[str, float | None]:
    """Return the CPU time so far; submitting the graph runs is included."""
    return {"rota": read_rota_cpu(trial), "postgres": read_server_cpu(trial)}


async def measure_diamonds(trial: Trial, to: WorkloadWriter, number: int) -> float:
    steps = [{"name": name, "kind": MEMBER, "needs": list(needs)} for name, needs in DIAMOND]
    spec = JobSpec(name="bench diamond", kind=GRAPH_KIND, tenant=to.tenant, graph={"steps": steps})
    done = await submit_jobs(to.conn, [spec], now=to.clock.now(), new_id=to.new_id)
    due_at = to.clock.now() + QUIET_TIME + number / BATCH_SIZE * timedelta(milliseconds=200)
    for batch in split_batches(range(number)):
        specs = [RunSpec(job_id=done[0].job_id, due_at=due_at) for _ in batch]
        await submit_runs(to.conn, specs, now=to.clock.now(), new_id=to.new_id)
    await database.vacuum_and_checkpoint(to.conn)
    await trial.sleep_until(due_at)
    await trial.wait_until_idle(patience=WAIT_TIMEOUT)
    kind_id = await interning.intern_kind(to.conn, MEMBER)
    steps_done = await database.read_run_period(to.conn, kind_id=kind_id)
    span = await database.read_run_period(
        to.conn, kind_id=await interning.intern_kind(to.conn, GRAPH_KIND)
    )
    if steps_done.finished != number * len(DIAMOND):
        reason = f"has {steps_done.finished:,} of {number * len(DIAMOND):,} steps recorded"
        raise BenchFailed(who="the database", reason=reason)
    return RUNS_PER_DIAMOND * compute_rate(span, number, since=span.first_due)


async def measure_large_graph(trial: Trial, to: WorkloadWriter) -> float:
    """Return seconds from submitting a graph of 1,000 steps and 5,000 edges to its first start."""
    edges = 0
    steps: list[dict[str, object]] = []
    for number in range(ROWS * WIDTH):
        row = number // WIDTH
        count = 0 if row == 0 else min(WIDTH, EDGES_MAX - edges, 6 if number % 2 else 5)
        needs = [f"s{(row - 1) * WIDTH + (number + offset) % WIDTH}" for offset in range(count)]
        edges += len(needs)
        steps.append({"name": f"s{number}", "kind": STAMP, "needs": needs})
    kind_id = await interning.intern_kind(to.conn, STAMP)
    submitted_at = await read_database_time(to.conn)
    spec = JobSpec(
        name="bench large",
        kind=GRAPH_KIND,
        tenant=to.tenant,
        schedule={"immediate": True},
        graph={"steps": steps},
    )
    await submit_jobs(to.conn, [spec], now=to.clock.now(), new_id=to.new_id)
    await hints.send_hint(to.conn, hints.RUNS_CHANNEL)
    await trial.wait_until_idle(patience=WAIT_TIMEOUT)
    span = await database.read_run_period(to.conn, kind_id=kind_id)
    if span.finished != len(steps) or span.first_start is None:
        raise BenchFailed(
            who="the database", reason=f"has {span.finished:,} of {len(steps):,} steps recorded"
        )
    return (span.first_start - submitted_at).total_seconds()

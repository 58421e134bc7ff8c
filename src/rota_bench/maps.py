"""Measures the speed and memory of a map (D5).

The graph has one map over a number, whose members do nothing. The time from submission to the last
record includes the creation of the members. The baseline is the rate at which the same processes
drain an existing backlog of plain runs.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.graphs.graph import GRAPH_KIND
from rota.core.submissions import JobSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.store import hints, interning, live_runs
from rota_bench import cpu_usage, database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import MEMBER, NOOP
from rota_bench.throughput import (
    compute_cost,
    compute_rate,
    read_rota_cpu,
    read_server_cpu,
    start_processes,
)
from rota_bench.trial import POLL_INTERVAL_S, Trial
from rota_bench.workload import WorkloadWriter

WAIT_TIMEOUT: Final = timedelta(minutes=10)


async def measure_map(trial: Trial) -> dict[str, float]:
    """Measure a backlog of plain runs, then a map, with the same processes."""
    number = trial.sizes.mapped
    async with trial.open_writer(NOOP) as to:
        await to.write_runs(trial.sizes.drained)
        await database.vacuum_and_checkpoint(to.conn)
        server = read_server_cpu(trial)
        await start_processes(trial)
        base = {"rota": read_rota_cpu(trial), "postgres": server}
        await trial.wait_until_idle()
        plain_cost = compute_cost(base, read_cpu(trial), runs=trial.sizes.drained)
        plain = await database.read_run_period(to.conn, kind_id=to.kind_id)
        drained = compute_rate(plain, trial.sizes.drained, since=plain.first_start)
        await database.vacuum_and_checkpoint(to.conn)
        before, base = read_memory(trial), read_cpu(trial)
        run_id = await submit_map(to, number)
        peak = await wait_for_map(trial, to, run_id)
        member_cost = compute_cost(base, read_cpu(trial), runs=number)
        kind_id = await interning.intern_kind(to.conn, MEMBER)
        span = await database.read_run_period(to.conn, kind_id=kind_id)
        mapped = compute_rate(span, number, since=span.first_due)
    figures = {"map_members_per_s": mapped, "map_percent_of_drain": 100 * mapped / drained}
    for name, costs in (("plain", plain_cost), ("member", member_cost)):
        if "cpu_us_per_run.all" in costs:
            figures[f"map_cpu_us.{name}"] = costs["cpu_us_per_run.all"]
    if before is not None and peak is not None:
        figures["map_memory_mb"] = (peak - before) / 2**20
    return figures


async def submit_map(to: WorkloadWriter, number: int) -> UUID:
    """Submit a graph that runs at once, and return the id of its run."""
    step = {"name": "each", "kind": MEMBER, "map": {"over": "input.members"}, "payload": {}}
    spec = JobSpec(
        name="bench map",
        kind=GRAPH_KIND,
        tenant=to.tenant,
        schedule={"immediate": True},
        payload={"members": number},
        graph={"steps": [step]},
    )
    done = await submit_jobs(to.conn, [spec], now=to.clock.now(), new_id=to.new_id)
    await hints.send_hint(to.conn, hints.RUNS_CHANNEL)
    run_id = done[0].run_id
    if run_id is None:
        raise BenchFailed(who="map", reason="was not started")
    return run_id


async def wait_for_map(trial: Trial, to: WorkloadWriter, run_id: UUID) -> float | None:
    """Wait for the end of the graph run, and return the peak memory of the processes."""
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT.total_seconds()
    peak = read_memory(trial)
    while (await live_runs.get_runs(to.conn, [run_id]))[run_id].finished_at is None:
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            raise BenchFailed(who="map", reason=f"still has members after {WAIT_TIMEOUT}")
        await trial.clock.sleep(POLL_INTERVAL_S)
        held = read_memory(trial)
        peak = held if peak is None or held is None else max(peak, held)
    return peak


def read_cpu(trial: Trial) -> dict[str, float | None]:
    return {"rota": read_rota_cpu(trial), "postgres": read_server_cpu(trial)}


def read_memory(trial: Trial) -> float | None:
    return sum_sizes(cpu_usage.read_resident_bytes(member.pid) for member in trial.fleet.members)


def sum_sizes(sizes: Iterable[float | None]) -> float | None:
    found = list(sizes)
    return None if None in found else sum(size for size in found if size is not None)

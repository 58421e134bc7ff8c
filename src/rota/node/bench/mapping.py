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
from rota.node.bench import processor
from rota.node.bench.draining import cost, rate, start_all, used_by_rota, used_by_server
from rota.node.bench.failure import BenchFailed
from rota.node.bench.handlers import MEMBER, NOOP
from rota.node.bench.loads import Writer
from rota.node.bench.trial import LOOK_EVERY, Trial
from rota.store import benchmark, hints, interning, live_runs

PATIENCE: Final = timedelta(minutes=10)


async def map_members(trial: Trial) -> dict[str, float]:
    """Measure a backlog of plain runs, then a map, with the same processes."""
    number = trial.sizes.mapped
    async with trial.writing(NOOP) as to:
        await to.runs(trial.sizes.drained)
        await benchmark.vacuum_and_checkpoint(to.conn)
        server = used_by_server(trial)
        await start_all(trial)
        base = {"rota": used_by_rota(trial), "postgres": server}
        await trial.until_idle()
        plain_cost = cost(base, used(trial), runs=trial.sizes.drained)
        plain = await benchmark.read_run_period(to.conn, kind_id=to.kind_id)
        drained = rate(plain, trial.sizes.drained, since=plain.first_start)
        await benchmark.vacuum_and_checkpoint(to.conn)
        before, base = resident(trial), used(trial)
        run_id = await begin(to, number)
        peak = await until_over(trial, to, run_id)
        member_cost = cost(base, used(trial), runs=number)
        kind_id = await interning.intern_kind(to.conn, MEMBER)
        span = await benchmark.read_run_period(to.conn, kind_id=kind_id)
        mapped = rate(span, number, since=span.first_due)
    figures = {"map_members_per_s": mapped, "map_percent_of_drain": 100 * mapped / drained}
    for name, costs in (("plain", plain_cost), ("member", member_cost)):
        if "cpu_us_per_run.all" in costs:
            figures[f"map_cpu_us.{name}"] = costs["cpu_us_per_run.all"]
    if before is not None and peak is not None:
        figures["map_memory_mb"] = (peak - before) / 2**20
    return figures


async def begin(to: Writer, number: int) -> UUID:
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


async def until_over(trial: Trial, to: Writer, run_id: UUID) -> float | None:
    """Wait for the end of the graph run, and return the peak memory of the processes."""
    give_up = trial.clock.monotonic() + PATIENCE.total_seconds()
    peak = resident(trial)
    while (await live_runs.get_runs(to.conn, [run_id]))[run_id].finished_at is None:
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            raise BenchFailed(who="map", reason=f"still has members after {PATIENCE}")
        await trial.clock.sleep(LOOK_EVERY)
        held = resident(trial)
        peak = held if peak is None or held is None else max(peak, held)
    return peak


def used(trial: Trial) -> dict[str, float | None]:
    return {"rota": used_by_rota(trial), "postgres": used_by_server(trial)}


def resident(trial: Trial) -> float | None:
    return total(processor.resident(member.pid) for member in trial.fleet.members)


def total(sizes: Iterable[float | None]) -> float | None:
    found = list(sizes)
    return None if None in found else sum(size for size in found if size is not None)

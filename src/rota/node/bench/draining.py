"""How fast work gets done: a backlog drained, and jobs fired, run and recorded (P1).

Room: node/bench. Rates are by the database's clock, between what it wrote down: from the first
start, or due time, to the last record. Starting the processes comes before that and is not counted;
the processor time that they took until they were ready is taken off as well.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from rota.node.bench import processor
from rota.node.bench.failure import BenchFailed
from rota.node.bench.handlers import NOOP
from rota.node.bench.trial import Trial
from rota.store import benchmark
from rota.store.benchmark import Span

# As many workers as cores on the machine of the targets; room for several claims in each.
WORKERS: Final = 2
SLOTS: Final = 2000
# More than the goal asks for: the rate that is offered must not be the limit.
OFFERED: Final = 30_000
SECOND: Final = timedelta(seconds=1)


async def drain(trial: Trial) -> dict[str, float]:
    """Runs wait; then the processes start."""
    number = trial.sizes.drained
    async with trial.writing(NOOP) as to:
        await to.runs(number)
        await benchmark.settle(to.conn)
        server = used_by_server(trial)
        await start_all(trial)
        before = {"rota": used_by_rota(trial), "postgres": server}
        await trial.until_idle()
        after = {"rota": used_by_rota(trial), "postgres": used_by_server(trial)}
        span = await benchmark.span(to.conn, kind_id=to.kind_id)
    per_second = rate(span, number, since=span.first_start)
    return {"drain_runs_per_s": per_second, **cost(before, after, runs=number)}


async def throughput(trial: Trial) -> dict[str, float]:
    """Submissions come due faster than the goal; from the first due time to the last record."""
    number = trial.sizes.fired
    await start_all(trial)
    async with trial.writing(NOOP) as to:

        async def write(start: datetime) -> None:
            await to.once(evenly(start, number, per_second=OFFERED))

        start = await trial.plan(to, number, write)
        await trial.rest_until(start + number / OFFERED * SECOND)
        await trial.until_idle()
        span = await benchmark.span(to.conn, kind_id=to.kind_id)
    return {"throughput_runs_per_s": rate(span, number, since=span.first_due)}


async def start_all(trial: Trial) -> None:
    """A scheduler and the workers: what a machine that serves everything runs."""
    await trial.fleet.scheduler()
    for _ in range(WORKERS):
        await trial.fleet.worker(slots=SLOTS)
    await trial.fleet.are_ready()


def evenly(start: datetime, number: int, *, per_second: float) -> Iterator[datetime]:
    """So many instants, at fractions of a second."""
    return (start + each / per_second * SECOND for each in range(number))


def rate(span: Span, number: int, *, since: datetime | None) -> float:
    """Runs a second; there is none unless all of them were recorded."""
    if span.finished != number or since is None or span.last_finish is None:
        reason = f"finds {span.finished:,} of {number:,} runs recorded as succeeded"
        raise BenchFailed(who="the database", reason=reason)
    return number / (span.last_finish - since).total_seconds()


def used_by_rota(trial: Trial) -> float | None:
    return processor.seconds(member.pid for member in trial.fleet.members)


def used_by_server(trial: Trial) -> float | None:
    """The postmaster has inherited the time of sessions that are over."""
    return None if trial.postmaster is None else processor.tree_seconds(trial.postmaster)


def cost(
    before: Mapping[str, float | None], after: Mapping[str, float | None], *, runs: int
) -> dict[str, float]:
    """Microseconds a run; nothing about a side that could not be watched."""
    figures: dict[str, float] = {}
    for who, then in before.items():
        now = after[who]
        if then is not None and now is not None:
            figures[f"cpu_us_per_run.{who}"] = (now - then) / runs * 1e6
    if len(figures) == len(before):
        figures["cpu_us_per_run.all"] = sum(figures.values())
    return figures

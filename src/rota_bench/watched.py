"""Compares the same jobs with and without expectations, and measures how soon alerts arrive (O8).

10,000 jobs tick every ten seconds, so 1,000 runs per second are executed; one in a hundred fails.
Phases alternate: the same jobs in the same processes and database, without expectations, with
conditions that the ends of runs decide, and with deadlines of every tick too. Each phase measures,
while the jobs go on ticking, the start latency, the CPU time, how fast a backlog drains, and how
fast jobs fire that are due at one instant. All phases run all outbound services.

Then, with deadlines: the time from the end of a failed run to its message at the channel. And while
the jobs go on ticking unwatched: how many messages a storm of incidents sends.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Final
from uuid import UUID

from rota.contract.expectation_values import write_alert, write_expect
from rota.contract.expectations import AlertDraft, ExpectDraft, FailuresDraft
from rota.core.errors import InvalidSchedule
from rota.core.overlap import Overlap
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import gates, hints, interning
from rota_bench import database
from rota_bench.alert_receiver import (
    CHANNEL,
    STORM_CHANNEL,
    AlertReceiver,
    open_alert_receiver,
)
from rota_bench.errors import BenchFailed, JobsWrittenTooLate
from rota_bench.handlers import FAILING, NOOP, STAMP, WATCHED
from rota_bench.measures import compute_percentile, compute_spread
from rota_bench.start_latency import read_lags
from rota_bench.throughput import compute_rate, read_rota_cpu, read_server_cpu, space_evenly
from rota_bench.trial import POLL_INTERVAL_S, QUIET_TIME, SECOND, Trial
from rota_bench.workload import WorkloadWriter, split_batches

TICK_INTERVAL: Final = 10 * SECOND
LONGER_THAN_BENCH: Final = timedelta(days=1)
SLOTS: Final = 1000
WORKER_COUNT: Final = 2
BACKLOG_QUEUE: Final = "backlog"
BACKLOG_OWNERS: Final = 100
# How long claimers may take to notice that a queue is paused or resumed.
PAUSE_NOTICE_S: Final = 1.5
# Until the last runs are recorded.
RECORD_S: Final = 1.0
FIRE_WRITES_PER_S: Final = 10_000
WAIT_TIMEOUT: Final = timedelta(minutes=2)
ALERTS_PER_S: Final = 20
# How long messages are counted after the last incident of a storm opened.
STORM_SECONDS: Final = 30


class WatchLevel(StrEnum):
    """What the jobs of a phase expect, in the order of the first round."""

    UNWATCHED = "unwatched"
    ENDS = "ends"
    DEADLINES = "deadlines"


EXPECTATIONS: Final = {
    WatchLevel.ENDS: ExpectDraft(
        succeed_every="1m", max_duration="5s", failures=FailuresDraft(streak=2)
    ),
    WatchLevel.DEADLINES: ExpectDraft(
        start_within="5s",
        finish_by="+8s",
        succeed_every="1m",
        max_duration="5s",
        failures=FailuresDraft(streak=2),
    ),
}
# Watches per job: the conditions that a clock decides.
CLOCK_CONDITIONS: Final = {
    WatchLevel.UNWATCHED: 0,
    WatchLevel.ENDS: 1,
    WatchLevel.DEADLINES: 3,
}
ALERT: Final = AlertDraft(to=CHANNEL)
FAILURE_EXPECT: Final = ExpectDraft(failures=FailuresDraft(streak=1))
STORM_ALERT: Final = AlertDraft(to=STORM_CHANNEL)
PAGE_ALERT: Final = AlertDraft(to=CHANNEL, severity="page", recovery=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedPhase:
    """The figures of one phase; CPU in seconds per second, None if it cannot be measured."""

    drain: float
    fire: float
    lag_p50: float
    lag_p99: float
    cpu: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLoad:
    """Writers of the ticking jobs, the backlog, the jobs that fire at once and those that fail."""

    ticking: WorkloadWriter
    backlog: WorkloadWriter
    firing: WorkloadWriter
    failing: WorkloadWriter
    backlog_queue_id: int


WatchedRound = Mapping[WatchLevel, WatchedPhase]


async def measure_watched(trial: Trial) -> dict[str, float]:
    """Compare the phases, then measure alerts."""
    async with open_alert_receiver(trial.clock) as receiver:
        receiver.write_settings(trial.fleet.folder)
        await start_processes(trial)
        async with (
            trial.open_writer(WATCHED) as ticking,
            trial.open_writer(NOOP) as backlog,
            trial.open_writer(STAMP) as firing,
            trial.open_writer(FAILING, hot=True) as failing,
        ):
            load = await prepare_load(trial, ticking, backlog, firing, failing)
            phases = await measure_phases(trial, load)
            await set_expectations(trial, load, WatchLevel.DEADLINES)
            alerts = await measure_alerts(trial, load.failing, receiver)
            await set_expectations(trial, load, WatchLevel.UNWATCHED)
            storm = await measure_storm(trial, load.failing, receiver)
    return {**compare_phases(phases), **alerts, **storm}


async def start_processes(trial: Trial) -> None:
    """Start a scheduler, which runs the outbound services, and workers for both queues."""
    await trial.fleet.start_scheduler()
    for _ in range(WORKER_COUNT):
        await trial.fleet.start(
            *("worker", "rota_bench.handlers:handlers", "--tenant", "*"),
            *("--queue", "default", "--queue", BACKLOG_QUEUE, "--slots", str(SLOTS)),
        )
    await trial.fleet.wait_ready()


async def prepare_load(
    trial: Trial,
    ticking: WorkloadWriter,
    backlog: WorkloadWriter,
    firing: WorkloadWriter,
    failing: WorkloadWriter,
) -> WatchedLoad:
    """Create the jobs, which tick from now on."""
    owners = await create_jobs(backlog, BACKLOG_OWNERS, queue=BACKLOG_QUEUE)

    start, number = trial.clock.now(), trial.sizes.watched_jobs
    per_second = number / TICK_INTERVAL.total_seconds()
    await ticking.write_interval_jobs(
        TICK_INTERVAL,
        space_evenly(start, number, per_second=per_second),
        until=start + LONGER_THAN_BENCH,
    )
    return WatchedLoad(
        ticking=ticking,
        backlog=replace(backlog, owners=owners),
        firing=firing,
        failing=failing,
        backlog_queue_id=await interning.intern_queue(backlog.conn, BACKLOG_QUEUE),
    )


async def create_jobs(
    to: WorkloadWriter,
    number: int,
    *,
    queue: str = "default",
    expect: ExpectDraft | None = None,
    alert: AlertDraft | None = None,
) -> list[UUID]:
    """Create jobs without a schedule."""
    made: list[UUID] = []
    for batch in split_batches(range(number)):
        specs = [
            JobSpec(
                name=f"bench {to.rng.randbytes(10).hex()}",
                kind=to.kind,
                tenant=to.tenant,
                queue=queue,
                overlap=Overlap.ALLOW,
                expect=write_expect(expect),
                alert=write_alert(alert),
            )
            for _ in batch
        ]
        done = await submit_jobs(to.conn, specs, now=to.clock.now(), new_id=to.new_id)
        made += [each.job_id for each in done]
    return made


async def measure_phases(trial: Trial, load: WatchedLoad) -> list[WatchedRound]:
    """Return the phases of each round. Every round begins with another one, so that a drift of the
    machine cancels out.
    """
    levels = list(WatchLevel)
    rounds: list[WatchedRound] = []
    for number in range(trial.sizes.watched_rounds):
        first = number % len(levels)
        rounds.append(
            {
                level: await measure_phase(trial, load, level)
                for level in (*levels[first:], *levels[:first])
            }
        )
    return rounds


async def measure_phase(trial: Trial, load: WatchedLoad, level: WatchLevel) -> WatchedPhase:
    await set_expectations(trial, load, level)
    await database.vacuum_and_checkpoint(load.ticking.conn)
    await trial.sleep_until(trial.clock.now() + QUIET_TIME)
    cpu = [read_cpu(trial)]
    since = trial.clock.now()
    until = since + trial.sizes.watched_seconds * SECOND
    await trial.sleep_until(until)
    cpu.append(read_cpu(trial))
    await trial.sleep_until(until + RECORD_S * SECOND)
    lags = await read_lags(load.ticking, since, until)
    before, after = cpu
    return WatchedPhase(
        drain=await measure_backlog(trial, load),
        fire=await measure_firing(trial, load.firing),
        lag_p50=compute_percentile(lags, 50),
        lag_p99=compute_percentile(lags, 99),
        cpu=(
            None
            if before is None or after is None
            else (after - before) / trial.sizes.watched_seconds
        ),
    )


async def set_expectations(trial: Trial, load: WatchedLoad, level: WatchLevel) -> None:
    """Give all jobs their expectations, or none, and wait until the scheduler follows."""
    expect = write_expect(EXPECTATIONS.get(level))
    alert = None if expect is None else write_alert(ALERT)
    for to in (load.ticking, load.backlog):
        await database.set_expectations(
            to.conn,
            kind_id=to.kind_id,
            expect=None if expect is None else json.dumps(expect),
            alert=None if alert is None else json.dumps(alert),
        )
    wanted = CLOCK_CONDITIONS[level] * trial.sizes.watched_jobs
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT.total_seconds()
    while (found := await database.count_watches(load.ticking.conn)) != wanted:
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            reason = f"watches {found:,} deadlines instead of {wanted:,}"
            raise BenchFailed(who="the scheduler", reason=reason)
        await trial.clock.sleep(POLL_INTERVAL_S)


async def measure_backlog(trial: Trial, load: WatchedLoad) -> float:
    """Return the rate at which a backlog drains that waited in a paused queue."""
    to, number = load.backlog, trial.sizes.watched_backlog
    since = trial.clock.now()
    await gates.pause_queue(to.conn, load.backlog_queue_id)
    await trial.clock.sleep(PAUSE_NOTICE_S)
    await to.write_runs(number)
    await gates.pause_queue(to.conn, load.backlog_queue_id, paused=False)
    await hints.send_hint(to.conn, hints.RUNS_CHANNEL)
    await wait_until_finished(trial, to, before=since)
    period = await database.read_run_period_since(to.conn, kind_id=to.kind_id, since=since)
    return compute_rate(period, number, since=period.first_start)


async def measure_firing(trial: Trial, to: WorkloadWriter) -> float:
    """Return the rate at which jobs start that are due at one instant."""
    number = trial.sizes.watched_fires
    start = trial.clock.now() + trial.patience * number / FIRE_WRITES_PER_S * SECOND + QUIET_TIME
    try:
        await to.write_one_time_jobs([start] * number)
    except InvalidSchedule:
        reason = f"could not write {number:,} jobs in time"
        raise JobsWrittenTooLate(who=trial.name, reason=reason) from None
    await trial.sleep_until(start)
    await wait_until_finished(trial, to, before=start + SECOND)
    lags = await read_lags(to, start, start + SECOND, wanted=number)
    return 1000 * number / max(lags)


async def wait_until_finished(trial: Trial, to: WorkloadWriter, *, before: datetime) -> None:
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT.total_seconds()
    while await database.has_unfinished_runs(to.conn, kind_id=to.kind_id, before=before):
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            reason = f"still has unfinished runs after {WAIT_TIMEOUT}"
            raise BenchFailed(who=trial.name, reason=reason)
        await trial.clock.sleep(POLL_INTERVAL_S)


async def measure_alerts(
    trial: Trial, to: WorkloadWriter, receiver: AlertReceiver
) -> dict[str, float]:
    """Measure from the end of failed runs to the arrival of the messages about them."""
    number = ALERTS_PER_S * trial.sizes.watched_seconds
    job_ids = await create_jobs(to, number, expect=FAILURE_EXPECT, alert=PAGE_ALERT)
    since = trial.clock.now()
    for place, job_id in enumerate(job_ids):
        await trial.sleep_until(since + place / ALERTS_PER_S * SECOND)
        await submit_runs(to.conn, [RunSpec(job_id=job_id)], now=to.clock.now(), new_id=to.new_id)
        await hints.send_hint(to.conn, hints.RUNS_CHANNEL)
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT.total_seconds()
    while True:
        causes = await database.read_alert_causes(to.conn, kind_id=to.kind_id, since=since)
        arrivals = receiver.find_arrivals()
        if sum(cause.id in arrivals for cause in causes) == number:
            break
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            reason = f"reported {len(arrivals):,} of {len(causes):,} incidents, {number:,} expected"
            raise BenchFailed(who="the channel", reason=reason)
        await trial.clock.sleep(POLL_INTERVAL_S)
    delays = [(arrivals[cause.id] - cause.finished_at) / SECOND for cause in causes]
    return compute_spread("alert_ms", [1000 * delay for delay in delays])


async def measure_storm(
    trial: Trial, to: WorkloadWriter, receiver: AlertReceiver
) -> dict[str, float]:
    """Let many jobs fail at once, each with an expectation of its own; count the messages."""
    number = trial.sizes.watched_storm
    job_ids = await create_jobs(to, number, expect=FAILURE_EXPECT, alert=STORM_ALERT)
    since = trial.clock.now()
    for batch in split_batches(job_ids):
        specs = [RunSpec(job_id=job_id) for job_id in batch]
        await submit_runs(to.conn, specs, now=to.clock.now(), new_id=to.new_id)
    await hints.send_hint(to.conn, hints.RUNS_CHANNEL)
    give_up = trial.clock.monotonic() + WAIT_TIMEOUT.total_seconds()
    while (found := await database.count_incidents(to.conn, since=since)) < number:
        trial.fleet.check()
        if trial.clock.monotonic() > give_up:
            reason = f"opened {found:,} of {number:,} incidents"
            raise BenchFailed(who="the scheduler", reason=reason)
        await trial.clock.sleep(POLL_INTERVAL_S)
    opened_s = (trial.clock.now() - since) / SECOND
    await trial.sleep_until(trial.clock.now() + STORM_SECONDS * SECOND)
    return {
        "alert_storm.incidents": found,
        "alert_storm.opened_s": opened_s,
        "alert_storm.messages": sum(
            message.channel == STORM_CHANNEL for message in receiver.messages
        ),
    }


def read_cpu(trial: Trial) -> float | None:
    rota, server = read_rota_cpu(trial), read_server_cpu(trial)
    return None if rota is None or server is None else rota + server


def compare_phases(rounds: Sequence[WatchedRound]) -> dict[str, float]:
    """Return the medians of each level, and its ratios to the unwatched phase of the same round."""
    figures: dict[str, float] = {}
    for name in ("drain", "fire", "lag_p50", "lag_p99", "cpu"):
        key = f"watched_{name}"
        values = {level: [getattr(each[level], name) for each in rounds] for level in WatchLevel}
        if any(None in measured for measured in values.values()):
            continue
        for level, measured in values.items():
            figures[f"{key}.{level}"] = median(measured)
        for level in EXPECTATIONS:
            ratios = [
                100 * watched / unwatched
                for watched, unwatched in zip(
                    values[level], values[WatchLevel.UNWATCHED], strict=True
                )
            ]
            figures[f"{key}.{level}_percent"] = median(ratios)
            figures[f"{key}.{level}_percent_lowest"] = min(ratios)
            figures[f"{key}.{level}_percent_highest"] = max(ratios)
    return figures

"""Builds the maintenance duties: rescue, deadlines, graph advancing, event windows, retention.

Any process can run them, without a lease: each statement skips rows that another process has
locked.
"""

from collections.abc import Callable

from rota.config.retention import RetentionSettings
from rota.engine.events.retention import EventKeyPruner
from rota.engine.events.window_closing import WindowCloser
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.maintenance.job_finisher import JobFinisher
from rota.engine.maintenance.one_time_mover import OneTimeJobMover
from rota.engine.maintenance.overdue_submissions import OverdueSubmissionMover
from rota.engine.maintenance.partition_maintainer import PartitionMaintainer
from rota.engine.maintenance.pruner import Pruner
from rota.engine.maintenance.quota_monitor import QuotaMonitor
from rota.engine.maintenance.run_rescuer import RunExpirer, RunRescuer
from rota.engine.maintenance.sweeper import Sweeper
from rota.engine.submission.backfills.advancer import BackfillAdvancer
from rota.engine.submission.zone_rules import ZoneRulesUpdater
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.store.driver import Pool


def upkeep(
    retention: RetentionSettings, pool: Pool, ground: ServiceContext, *, freed: Callable[[], object]
) -> list[Duty]:
    """Build the duties; `freed` is called when runs become ready to claim."""
    partition_maintainer = PartitionMaintainer(
        pool=pool,
        ahead=retention.partitions_ahead,
        keep=retention.runs,
        keep_events=retention.events,
        keep_audit=retention.audit,
    )
    window_closer = WindowCloser(source=pool, on_runs_created=freed)
    event_retention = EventKeyPruner(source=pool, keep=retention.events)
    pulse = Pulse()
    advancer = GraphAdvancer(
        source=pool,
        on_runs_created=freed,
        on_gates_freed=freed,
        wake=pulse.wake,
        monotonic=ground.clock.monotonic,
        emit=ground.emit,
    )
    rescuer = RunRescuer(
        source=pool, on_runs_waiting=freed, emit=ground.emit, monotonic=ground.clock.monotonic
    )
    expirer = RunExpirer(source=pool, emit=ground.emit)
    pruner = Pruner(source=pool)
    backfiller = BackfillAdvancer(source=pool, on_runs_created=freed)
    zone_rules = ZoneRulesUpdater(source=pool, emit=ground.emit)
    quota_monitor = QuotaMonitor(source=pool)
    overdue_submissions = OverdueSubmissionMover(source=pool, on_runs_created=freed)
    sweeper = Sweeper(
        source=pool,
        keep_runs=retention.runs,
        keep_deleted_jobs=retention.deleted_jobs,
        monotonic=ground.clock.monotonic,
    )
    return [
        Duty("rescuing", rescuer.tick, Pulse(), ground),
        Duty("advancing", advancer.tick, pulse, ground),
        Duty("expiring", expirer.tick, Pulse(), ground),
        Duty("finishing jobs", JobFinisher(source=pool).tick, Pulse(), ground),
        Duty("backfilling", backfiller.tick, Pulse(), ground),
        Duty("closing event windows", window_closer.tick, Pulse(), ground),
        Duty("deleting old events", event_retention.tick, Pulse(), ground),
        Duty("pruning", pruner.tick, Pulse(), ground),
        Duty("maintaining partitions", partition_maintainer.tick, Pulse(), ground),
        Duty("moving overdue submissions", overdue_submissions.tick, Pulse(), ground),
        Duty("moving one-time jobs", OneTimeJobMover(source=pool).tick, Pulse(), ground),
        Duty("sweeping", sweeper.tick, Pulse(), ground),
        Duty("measuring quotas", quota_monitor.tick, Pulse(), ground),
        Duty("applying zone rules", zone_rules.tick, Pulse(), ground),
    ]

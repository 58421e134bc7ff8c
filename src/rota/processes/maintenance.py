"""Builds the maintenance duties: rescue, deadlines, graph advancing, event windows, retention.

Any process can run them, without a lease: each statement skips rows that another process has
locked.
"""

from collections.abc import Callable

from rota.config.retention import RetentionSettings
from rota.engine.events.retention import EventKeyPruner
from rota.engine.events.window_closing import WindowCloser
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.maintenance.cleanup import (
    JobFinisher,
    OneTimeJobMover,
    OverdueSubmissionMover,
    Pruner,
)
from rota.engine.maintenance.partition_maintainer import PartitionMaintainer
from rota.engine.maintenance.quota_monitor import QuotaMonitor
from rota.engine.maintenance.run_rescuer import RunExpirer, RunRescuer
from rota.engine.maintenance.sweeper import Sweeper
from rota.engine.submission.backfills.advancer import BackfillAdvancer
from rota.engine.submission.zone_rules import ZoneRulesUpdater
from rota.runtime.service import Duty, Pulse, ServiceContext
from rota.store.driver import Pool


def build_maintenance_duties(
    retention: RetentionSettings,
    pool: Pool,
    context: ServiceContext,
    *,
    on_runs_ready: Callable[[], object],
) -> list[Duty]:
    """Build the duties; `on_runs_ready` is called when runs become ready to claim."""
    partition_maintainer = PartitionMaintainer(
        pool=pool,
        ahead=retention.partitions_ahead,
        keep=retention.runs,
        keep_events=retention.events,
        keep_audit=retention.audit,
    )
    window_closer = WindowCloser(source=pool, on_runs_created=on_runs_ready)
    event_retention = EventKeyPruner(source=pool, keep=retention.events)
    pulse = Pulse()
    advancer = GraphAdvancer(
        source=pool,
        on_runs_created=on_runs_ready,
        on_gates_freed=on_runs_ready,
        wake=pulse.wake,
        monotonic=context.clock.monotonic,
        emit=context.emit,
    )
    rescuer = RunRescuer(
        source=pool,
        on_runs_waiting=on_runs_ready,
        emit=context.emit,
        monotonic=context.clock.monotonic,
    )
    expirer = RunExpirer(source=pool, emit=context.emit)
    pruner = Pruner(source=pool)
    backfiller = BackfillAdvancer(source=pool, on_runs_created=on_runs_ready)
    zone_rules = ZoneRulesUpdater(source=pool, emit=context.emit)
    quota_monitor = QuotaMonitor(source=pool)
    overdue_submissions = OverdueSubmissionMover(source=pool, on_runs_created=on_runs_ready)
    sweeper = Sweeper(
        source=pool,
        keep_runs=retention.runs,
        keep_deleted_jobs=retention.deleted_jobs,
        monotonic=context.clock.monotonic,
    )
    return [
        Duty("rescuing", rescuer.tick, Pulse(), context),
        Duty("advancing", advancer.tick, pulse, context),
        Duty("expiring", expirer.tick, Pulse(), context),
        Duty("finishing jobs", JobFinisher(source=pool).tick, Pulse(), context),
        Duty("backfilling", backfiller.tick, Pulse(), context),
        Duty("closing event windows", window_closer.tick, Pulse(), context),
        Duty("deleting old events", event_retention.tick, Pulse(), context),
        Duty("pruning", pruner.tick, Pulse(), context),
        Duty("maintaining partitions", partition_maintainer.tick, Pulse(), context),
        Duty("moving overdue submissions", overdue_submissions.tick, Pulse(), context),
        Duty("moving one-time jobs", OneTimeJobMover(source=pool).tick, Pulse(), context),
        Duty("sweeping", sweeper.tick, Pulse(), context),
        Duty("measuring quotas", quota_monitor.tick, Pulse(), context),
        Duty("applying zone rules", zone_rules.tick, Pulse(), context),
    ]

"""Builds the maintenance duties: rescue, deadlines, graph advancing, event windows, retention.

Any process can run them, without a lease: each statement skips rows that another process has
locked.
"""

from collections.abc import Callable

from rota.config.retention import Retention
from rota.flow.events.forgetting import Forgetting
from rota.flow.events.ripening import Ripening
from rota.flow.graphs.advancing import Advancing
from rota.flow.record.keeping_days import KeepingDays
from rota.flow.record.marking_ended import MarkingEnded
from rota.flow.record.one_time_mover import OneTimeJobMover
from rota.flow.record.overdue_submissions import OverdueSubmissions
from rota.flow.record.pruning import Pruning
from rota.flow.record.quota_monitor import QuotaMonitor
from rota.flow.record.rescuing import Expiring, Rescuing
from rota.flow.record.sweeper import Sweeper
from rota.flow.submit.backfills.making import Backfilling
from rota.flow.submit.zone_rules import ZoneRulesUpdater
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, Ground
from rota.store.driver import Pool


def upkeep(
    retention: Retention, pool: Pool, ground: Ground, *, freed: Callable[[], object]
) -> list[Duty]:
    """Build the duties; `freed` is called when runs become ready to claim."""
    partition_maintainer = KeepingDays(
        pool=pool,
        ahead=retention.partitions_ahead,
        keep=retention.runs,
        keep_events=retention.events,
        keep_audit=retention.audit,
    )
    window_closer = Ripening(source=pool, made=freed)
    event_retention = Forgetting(source=pool, keep=retention.events)
    pulse = Pulse()
    advancer = Advancing(
        source=pool,
        made=freed,
        freed=freed,
        wake=pulse.wake,
        monotonic=ground.clock.monotonic,
        emit=ground.emit,
    )
    rescuer = Rescuing(source=pool, freed=freed, emit=ground.emit, monotonic=ground.clock.monotonic)
    expirer = Expiring(source=pool, emit=ground.emit)
    pruner = Pruning(source=pool)
    backfiller = Backfilling(source=pool, made=freed)
    zone_rules = ZoneRulesUpdater(source=pool, emit=ground.emit)
    quota_monitor = QuotaMonitor(source=pool)
    overdue_submissions = OverdueSubmissions(source=pool, made=freed)
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
        Duty("finishing jobs", MarkingEnded(source=pool).tick, Pulse(), ground),
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

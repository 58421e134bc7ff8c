"""The upkeep that any node may do: rescue, deadlines, marks, events, old rows. Room: node.

None of it needs a lease: each statement takes what is there and skips what another node is at.
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
    """The duties; `freed` is called when runs wait that nobody executes yet, or any more."""
    days = KeepingDays(
        pool=pool,
        ahead=retention.partitions_ahead,
        keep=retention.runs,
        keep_events=retention.events,
        keep_audit=retention.audit,
    )
    ripening = Ripening(source=pool, made=freed)
    forgetting = Forgetting(source=pool, keep=retention.events)
    pulse = Pulse()
    advancing = Advancing(
        source=pool,
        made=freed,
        freed=freed,
        wake=pulse.wake,
        monotonic=ground.clock.monotonic,
        emit=ground.emit,
    )
    rescuing = Rescuing(
        source=pool, freed=freed, emit=ground.emit, monotonic=ground.clock.monotonic
    )
    expiring = Expiring(source=pool, emit=ground.emit)
    pruning = Pruning(source=pool)
    backfilling = Backfilling(source=pool, made=freed)
    zone_rules = ZoneRulesUpdater(source=pool, emit=ground.emit)
    quota_monitor = QuotaMonitor(source=pool)
    overdue = OverdueSubmissions(source=pool, made=freed)
    sweeper = Sweeper(
        source=pool,
        keep_runs=retention.runs,
        keep_deleted_jobs=retention.deleted_jobs,
        monotonic=ground.clock.monotonic,
    )
    return [
        Duty("rescuing", rescuing.tick, Pulse(), ground),
        Duty("advancing", advancing.tick, pulse, ground),
        Duty("expiring", expiring.tick, Pulse(), ground),
        Duty("marking ended jobs", MarkingEnded(source=pool).tick, Pulse(), ground),
        Duty("backfilling", backfilling.tick, Pulse(), ground),
        Duty("ripening events", ripening.tick, Pulse(), ground),
        Duty("forgetting events", forgetting.tick, Pulse(), ground),
        Duty("pruning", pruning.tick, Pulse(), ground),
        Duty("keeping days", days.tick, Pulse(), ground),
        Duty("moving overdue submissions", overdue.tick, Pulse(), ground),
        Duty("moving one-time jobs", OneTimeJobMover(source=pool).tick, Pulse(), ground),
        Duty("sweeping", sweeper.tick, Pulse(), ground),
        Duty("measuring quotas", quota_monitor.tick, Pulse(), ground),
        Duty("applying zone rules", zone_rules.tick, Pulse(), ground),
    ]

"""What each event of the engine is called in the log, and how loud it is. Room: flow/observe."""

from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from rota.core import events
from rota.core.events import EngineEvent
from rota.flow.observe.lines import Level, LogLine

NAMES: Final[dict[type[EngineEvent], tuple[str, Level]]] = {
    events.SessionOpened: ("session.opened", Level.INFO),
    events.TenantsUnknown: ("tenants.unknown", Level.WARNING),
    events.JobsDeclared: ("jobs.declared", Level.INFO),
    events.JobForgotten: ("job.forgotten", Level.WARNING),
    events.ShardsMoved: ("shards.moved", Level.INFO),
    events.TicksFired: ("ticks.fired", Level.DEBUG),
    events.FiresRefused: ("fires.refused", Level.INFO),
    events.TicksCaughtUp: ("ticks.caught_up", Level.INFO),
    events.JobQuarantined: ("job.quarantined", Level.ERROR),
    events.JobSetAside: ("job.set_aside", Level.WARNING),
    events.RunSetAside: ("run.set_aside", Level.WARNING),
    events.WorkersBuried: ("workers.buried", Level.WARNING),
    events.AttemptsCutOff: ("worker.cut_off", Level.WARNING),
    events.LeaseOutlived: ("lease.outlived", Level.ERROR),
    events.RunsReclaimed: ("runs.reclaimed", Level.WARNING),
    events.RescueFailed: ("rescue.failed", Level.ERROR),
    events.AdvancePutOff: ("advance.put_off", Level.WARNING),
    events.AdvanceFailed: ("advance.failed", Level.ERROR),
    events.RunsExpired: ("runs.expired", Level.INFO),
    events.ResultsRefused: ("results.refused", Level.WARNING),
    events.AttemptsEnded: ("attempts.ended", Level.DEBUG),
    events.AttemptFailed: ("attempt.failed", Level.INFO),
    events.AttemptStuck: ("attempt.stuck", Level.ERROR),
    events.LoopBlocked: ("loop.blocked", Level.ERROR),
    events.TargetDown: ("target.down", Level.WARNING),
    events.TargetUp: ("target.up", Level.INFO),
    events.ClockMeasured: ("clock.measured", Level.DEBUG),
    events.ClockApart: ("clock.apart", Level.WARNING),
    events.ClockCorrected: ("clock.corrected", Level.INFO),
    events.SourceHeld: ("source.held", Level.INFO),
    events.SourceFailed: ("source.failed", Level.WARNING),
    events.MessageRefused: ("message.refused", Level.ERROR),
    events.EventsTaken: ("events.taken", Level.DEBUG),
    events.ZoneRulesChanged: ("zone_rules.changed", Level.WARNING),
    events.ZoneRulesOlder: ("zone_rules.older", Level.WARNING),
    events.MigrationWaiting: ("migration.waiting", Level.WARNING),
    events.MigrationRunning: ("migration.running", Level.INFO),
    events.MigrationPutOff: ("migration.put_off", Level.WARNING),
    events.MigrationApplied: ("migration.applied", Level.INFO),
}


def describe_engine(event: EngineEvent) -> LogLine:
    name, level = NAMES[type(event)]
    if isinstance(event, events.AttemptsEnded):
        longest = round(max(event.lasted, default=0.0), 3)
        return LogLine(name, level, {**event.outcomes, "longest_s": longest})
    named = (named_value(field.name, getattr(event, field.name)) for field in fields(event))
    return LogLine(name, level, dict(named))


def named_value(name: str, value: Any) -> tuple[str, Any]:
    """Durations are seconds and say so; several names are one list."""
    match value:
        case timedelta():
            return f"{name}_s", round(value.total_seconds(), 3)
        case tuple():
            return name, ",".join(map(str, value))
        case _:
            return name, value

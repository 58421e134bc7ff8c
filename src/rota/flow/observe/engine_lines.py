"""Maps each engine event to the name and level of its log line."""

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
    events.JobForgotten: ("job.undeclared", Level.WARNING),
    events.ShardsMoved: ("shards.moved", Level.INFO),
    events.TicksFired: ("ticks.fired", Level.DEBUG),
    events.FiresRefused: ("ticks.rejected", Level.INFO),
    events.TicksCaughtUp: ("ticks.caught_up", Level.INFO),
    events.JobQuarantined: ("job.quarantined", Level.ERROR),
    events.JobSetAside: ("job.set_aside", Level.WARNING),
    events.RunSetAside: ("run.set_aside", Level.WARNING),
    events.WorkersBuried: ("workers.expired", Level.WARNING),
    events.AttemptsCutOff: ("worker.isolated", Level.WARNING),
    events.LeaseOutlived: ("lease.overrun", Level.ERROR),
    events.RunsReclaimed: ("runs.reclaimed", Level.WARNING),
    events.RescueFailed: ("rescue.failed", Level.ERROR),
    events.AdvancePutOff: ("graph_advance.delayed", Level.WARNING),
    events.AdvanceFailed: ("graph_advance.failed", Level.ERROR),
    events.RunsExpired: ("runs.expired", Level.INFO),
    events.ResultsRefused: ("results.discarded", Level.WARNING),
    events.AttemptsEnded: ("attempts.ended", Level.DEBUG),
    events.AttemptFailed: ("attempt.failed", Level.INFO),
    events.AttemptStuck: ("attempt.stuck", Level.ERROR),
    events.LoopBlocked: ("loop.blocked", Level.ERROR),
    events.TargetDown: ("target.down", Level.WARNING),
    events.TargetUp: ("target.up", Level.INFO),
    events.ClockMeasured: ("clock.measured", Level.DEBUG),
    events.ClockApart: ("clock.skewed", Level.WARNING),
    events.ClockCorrected: ("clock.corrected", Level.INFO),
    events.SourceHeld: ("source.acquired", Level.INFO),
    events.SourceFailed: ("source.failed", Level.WARNING),
    events.MessageRefused: ("message.skipped", Level.ERROR),
    events.EventsTaken: ("events.ingested", Level.DEBUG),
    events.ZoneRulesChanged: ("zone_rules.changed", Level.WARNING),
    events.ZoneRulesOlder: ("zone_rules.older", Level.WARNING),
    events.MigrationWaiting: ("migration.waiting", Level.WARNING),
    events.MigrationRunning: ("migration.running", Level.INFO),
    events.MigrationPutOff: ("migration.delayed", Level.WARNING),
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
    """Return a log field: durations in seconds with suffix `_s`, tuples joined by commas."""
    match value:
        case timedelta():
            return f"{name}_s", round(value.total_seconds(), 3)
        case tuple():
            return name, ",".join(map(str, value))
        case _:
            return name, value

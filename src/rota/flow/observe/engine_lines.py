"""Maps each engine event to the name and level of its log line."""

from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from rota.core import log_events
from rota.core.log_events import EngineEvent
from rota.flow.observe.lines import Level, LogLine

NAMES: Final[dict[type[EngineEvent], tuple[str, Level]]] = {
    log_events.SessionOpened: ("session.opened", Level.INFO),
    log_events.TenantsUnknown: ("tenants.unknown", Level.WARNING),
    log_events.JobsDeclared: ("jobs.declared", Level.INFO),
    log_events.JobUndeclared: ("job.undeclared", Level.WARNING),
    log_events.ShardsMoved: ("shards.moved", Level.INFO),
    log_events.TicksFired: ("ticks.fired", Level.DEBUG),
    log_events.TicksRejected: ("ticks.rejected", Level.INFO),
    log_events.TicksCaughtUp: ("ticks.caught_up", Level.INFO),
    log_events.JobQuarantined: ("job.quarantined", Level.ERROR),
    log_events.JobSetAside: ("job.set_aside", Level.WARNING),
    log_events.RunSetAside: ("run.set_aside", Level.WARNING),
    log_events.WorkersExpired: ("workers.expired", Level.WARNING),
    log_events.WorkerIsolated: ("worker.isolated", Level.WARNING),
    log_events.LeaseOverrun: ("lease.overrun", Level.ERROR),
    log_events.RunsReclaimed: ("runs.reclaimed", Level.WARNING),
    log_events.RescueFailed: ("rescue.failed", Level.ERROR),
    log_events.GraphAdvanceDelayed: ("graph_advance.delayed", Level.WARNING),
    log_events.GraphAdvanceFailed: ("graph_advance.failed", Level.ERROR),
    log_events.RunsExpired: ("runs.expired", Level.INFO),
    log_events.ResultsDiscarded: ("results.discarded", Level.WARNING),
    log_events.AttemptsEnded: ("attempts.ended", Level.DEBUG),
    log_events.AttemptFailed: ("attempt.failed", Level.INFO),
    log_events.AttemptStuck: ("attempt.stuck", Level.ERROR),
    log_events.LoopBlocked: ("loop.blocked", Level.ERROR),
    log_events.TargetDown: ("target.down", Level.WARNING),
    log_events.TargetUp: ("target.up", Level.INFO),
    log_events.ClockMeasured: ("clock.measured", Level.DEBUG),
    log_events.ClockSkewed: ("clock.skewed", Level.WARNING),
    log_events.ClockCorrected: ("clock.corrected", Level.INFO),
    log_events.SourceAcquired: ("source.acquired", Level.INFO),
    log_events.SourceFailed: ("source.failed", Level.WARNING),
    log_events.MessageSkipped: ("message.skipped", Level.ERROR),
    log_events.EventsIngested: ("events.ingested", Level.DEBUG),
    log_events.ZoneRulesChanged: ("zone_rules.changed", Level.WARNING),
    log_events.ZoneRulesOlder: ("zone_rules.older", Level.WARNING),
    log_events.MigrationWaiting: ("migration.waiting", Level.WARNING),
    log_events.MigrationRunning: ("migration.running", Level.INFO),
    log_events.MigrationDelayed: ("migration.delayed", Level.WARNING),
    log_events.MigrationApplied: ("migration.applied", Level.INFO),
}


def describe_engine(event: EngineEvent) -> LogLine:
    name, level = NAMES[type(event)]
    if isinstance(event, log_events.AttemptsEnded):
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

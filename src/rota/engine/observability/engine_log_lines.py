"""Maps each engine event to the name and level of its log line."""

from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from rota.core import log_events
from rota.core.log_events import EngineEvent
from rota.engine.observability.log_lines import EventLogLine, LogLevel

ENGINE_LOG_NAMES: Final[dict[type[EngineEvent], tuple[str, LogLevel]]] = {
    log_events.SessionOpened: ("session.opened", LogLevel.INFO),
    log_events.TenantsUnknown: ("tenants.unknown", LogLevel.WARNING),
    log_events.JobsDeclared: ("jobs.declared", LogLevel.INFO),
    log_events.JobUndeclared: ("job.undeclared", LogLevel.WARNING),
    log_events.ShardsMoved: ("shards.moved", LogLevel.INFO),
    log_events.TicksFired: ("ticks.fired", LogLevel.DEBUG),
    log_events.TicksRejected: ("ticks.rejected", LogLevel.INFO),
    log_events.TicksCaughtUp: ("ticks.caught_up", LogLevel.INFO),
    log_events.JobQuarantined: ("job.quarantined", LogLevel.ERROR),
    log_events.JobSetAside: ("job.set_aside", LogLevel.WARNING),
    log_events.RunSetAside: ("run.set_aside", LogLevel.WARNING),
    log_events.WorkersExpired: ("workers.expired", LogLevel.WARNING),
    log_events.WorkerIsolated: ("worker.isolated", LogLevel.WARNING),
    log_events.LeaseOverrun: ("lease.overrun", LogLevel.ERROR),
    log_events.RunsReclaimed: ("runs.reclaimed", LogLevel.WARNING),
    log_events.RescueFailed: ("rescue.failed", LogLevel.ERROR),
    log_events.GraphAdvanceDelayed: ("graph_advance.delayed", LogLevel.WARNING),
    log_events.GraphAdvanceFailed: ("graph_advance.failed", LogLevel.ERROR),
    log_events.RunsExpired: ("runs.expired", LogLevel.INFO),
    log_events.ResultsDiscarded: ("results.discarded", LogLevel.WARNING),
    log_events.AttemptsEnded: ("attempts.ended", LogLevel.DEBUG),
    log_events.AttemptFailed: ("attempt.failed", LogLevel.INFO),
    log_events.AttemptStuck: ("attempt.stuck", LogLevel.ERROR),
    log_events.LoopBlocked: ("loop.blocked", LogLevel.ERROR),
    log_events.TargetDown: ("target.down", LogLevel.WARNING),
    log_events.TargetUp: ("target.up", LogLevel.INFO),
    log_events.ClockMeasured: ("clock.measured", LogLevel.DEBUG),
    log_events.ClockSkewed: ("clock.skewed", LogLevel.WARNING),
    log_events.ClockCorrected: ("clock.corrected", LogLevel.INFO),
    log_events.SourceAcquired: ("source.acquired", LogLevel.INFO),
    log_events.SourceFailed: ("source.failed", LogLevel.WARNING),
    log_events.MessageSkipped: ("message.skipped", LogLevel.ERROR),
    log_events.EventsIngested: ("events.ingested", LogLevel.DEBUG),
    log_events.ZoneRulesChanged: ("zone_rules.changed", LogLevel.WARNING),
    log_events.ZoneRulesOlder: ("zone_rules.older", LogLevel.WARNING),
    log_events.MigrationWaiting: ("migration.waiting", LogLevel.WARNING),
    log_events.MigrationRunning: ("migration.running", LogLevel.INFO),
    log_events.MigrationDelayed: ("migration.delayed", LogLevel.WARNING),
    log_events.MigrationApplied: ("migration.applied", LogLevel.INFO),
}


def describe_engine(event: EngineEvent) -> EventLogLine:
    name, level = ENGINE_LOG_NAMES[type(event)]
    if isinstance(event, log_events.AttemptsEnded):
        longest = round(max(event.lasted, default=0.0), 3)
        return EventLogLine(name, level, {**event.outcomes, "longest_s": longest})
    named = (build_field(field.name, getattr(event, field.name)) for field in fields(event))
    return EventLogLine(name, level, dict(named))


def build_field(name: str, value: Any) -> tuple[str, Any]:
    """Return a log field: durations in seconds with suffix `_s`, tuples joined by commas."""
    match value:
        case timedelta():
            return f"{name}_s", round(value.total_seconds(), 3)
        case tuple():
            return name, ",".join(map(str, value))
        case _:
            return name, value

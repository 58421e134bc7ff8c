"""Turns events into log lines: a constant name and fields, as text or JSON.

This is the only place in Rota that decides the level of an event and formats log messages.

Maps each engine event to the name and level of its log line.
"""

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final, assert_never, cast

from rota.core import log_events
from rota.core.log_events import AttemptsEnded, EngineEvent, RunsClaimed, TicksFired
from rota.engine.observability.log_lines import EventLogLine, LogLevel
from rota.runtime.events import (
    AdminKeyExpires,
    DatabaseLost,
    DatabaseReached,
    DatabaseRecovered,
    ProcessDraining,
    RequestFailed,
    RuntimeEvent,
    ServiceCancelled,
    ServiceFailed,
    SpansLost,
    WaitingForDatabase,
)

BATCH_EVENTS: Final = frozenset({TicksFired, RunsClaimed, AttemptsEnded})
ENGINE_LOG_NAMES: Final[dict[type[EngineEvent], tuple[str, LogLevel]]] = {
    log_events.SessionOpened: ("session.opened", LogLevel.INFO),
    log_events.TenantsUnknown: ("tenants.unknown", LogLevel.WARNING),
    log_events.SettingDeprecated: ("setting.deprecated", LogLevel.WARNING),
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
    log_events.RunsClaimed: ("runs.claimed", LogLevel.DEBUG),
    log_events.NotificationAttempted: ("notification.attempted", LogLevel.INFO),
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
    log_events.HeartbeatRefused: ("heartbeat.refused", LogLevel.WARNING),
    log_events.MessageSkipped: ("message.skipped", LogLevel.ERROR),
    log_events.EventsIngested: ("events.ingested", LogLevel.DEBUG),
    log_events.RelayAcquired: ("relay.acquired", LogLevel.INFO),
    log_events.SinkFailed: ("sink.failed", LogLevel.WARNING),
    log_events.EventsRelayed: ("events.relayed", LogLevel.DEBUG),
    log_events.WebhookAttempted: ("webhook.attempted", LogLevel.DEBUG),
    log_events.EndpointChanged: ("endpoint.changed", LogLevel.WARNING),
    log_events.WebhooksUnsigned: ("webhooks.unsigned", LogLevel.ERROR),
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
        longest = max((max(group.durations, default=0.0) for group in event.groups), default=0.0)
        return EventLogLine(name, level, {**event.outcomes, "longest_s": round(longest, 3)})
    if isinstance(event, log_events.RunsClaimed):
        took, longest = round(event.took_s, 3), round(max(event.waits, default=0.0), 3)
        found = {"queue": event.queue, "count": len(event.waits)}
        return EventLogLine(name, level, {**found, "took_s": took, "longest_wait_s": longest})
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog:
    """Writes the lines at or above `level`. Tests inject `now` and `write`."""

    level: LogLevel
    as_json: bool
    now: Callable[[], datetime]
    write: Callable[[str], object]

    def __call__(self, event: RuntimeEvent | EngineEvent) -> None:
        # Batches are emitted many times a second, and few logs include this level.
        if type(event) in BATCH_EVENTS and self.level > LogLevel.DEBUG:
            return
        self.write_line(describe_event(event))

    def write_line(self, line: EventLogLine) -> None:
        if line.level < self.level:
            return
        at = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        render = render_json if self.as_json else render_text
        self.write(render(at, line) + "\n")


def describe_event(event: RuntimeEvent | EngineEvent) -> EventLogLine:
    if type(event) in ENGINE_LOG_NAMES:
        return describe_engine(cast("EngineEvent", event))
    return describe_runtime(cast("RuntimeEvent", event))


def describe_runtime(event: RuntimeEvent) -> EventLogLine:
    match event:
        case DatabaseLost():
            fields = {
                "duty": event.duty,
                "reason": event.reason,
                "failures": event.failures,
                "pause_s": round(event.pause.total_seconds(), 3),
            }
            return EventLogLine("store.away", LogLevel.WARNING, fields)
        case DatabaseRecovered():
            fields = {"duty": event.duty, "failures": event.failures}
            return EventLogLine("store.back", LogLevel.INFO, fields)
        case WaitingForDatabase() | DatabaseReached():
            return describe_start(event)
        case ProcessDraining():
            return EventLogLine("node.draining", LogLevel.INFO, {})
        case ServiceFailed():
            reason = (
                "service ended without being stopped" if event.error is None else str(event.error)
            )
            fields = {
                "service": event.service,
                "error": type(event.error).__name__,
                "reason": reason,
            }
            return EventLogLine("service.failed", LogLevel.ERROR, fields)
        case ServiceCancelled():
            return EventLogLine("service.cancelled", LogLevel.WARNING, {"service": event.service})
        case RequestFailed():
            fields = {
                "request_id": event.request_id,
                "error": type(event.error).__name__,
                "reason": str(event.error),
                "place": locate_source_line(event.error),
            }
            return EventLogLine("request.failed", LogLevel.ERROR, fields)
        case SpansLost():
            fields = {"count": event.count, "reason": event.reason}
            return EventLogLine("spans.lost", LogLevel.WARNING, fields)
        case AdminKeyExpires():
            fields = {
                "key": event.key_id,
                "expires_at": event.expires_at.isoformat(),
                "remedy": "rota keys renew-admin",
            }
            return EventLogLine("admin_key.expires", LogLevel.WARNING, fields)
        case _:
            assert_never(event)


def describe_start(event: WaitingForDatabase | DatabaseReached) -> EventLogLine:
    fields: dict[str, object] = {
        "failures": event.failures,
        "waited_s": round(event.waited.total_seconds(), 1),
    }
    if isinstance(event, DatabaseReached):
        return EventLogLine("database.back", LogLevel.INFO, fields)
    fields |= {"reason": event.reason, "setting": "database.wait_at_start"}
    return EventLogLine("database.waiting", LogLevel.WARNING, fields)


def locate_source_line(error: BaseException) -> str:
    """Return the innermost source line of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def render_json(at: str, line: EventLogLine) -> str:
    head = {"at": at, "level": line.level.name.lower(), "event": line.name}
    return json.dumps(head | line.fields, default=str, ensure_ascii=False)


def render_text(at: str, line: EventLogLine) -> str:
    fields = " ".join(f"{key}={quote_value(value)}" for key, value in line.fields.items())
    return f"{at} {line.level.name.lower():<7} {line.name} {fields}".rstrip()


def quote_value(value: object) -> str:
    """Return the value as text, quoted if it holds a space or a control character."""
    text = str(value)
    return text if text.isprintable() and " " not in text and text else json.dumps(text)

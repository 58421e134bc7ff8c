"""Turns events into log lines: a constant name and fields, as text or JSON.

This is the only place in Rota that decides the level of an event and formats log messages.
"""

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never, cast

from rota.core.log_events import AttemptsEnded, EngineEvent, TicksFired
from rota.engine.observability.engine_log_lines import ENGINE_LOG_NAMES, describe_engine
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog:
    """Writes the lines at or above `level`. Tests inject `now` and `write`."""

    level: LogLevel
    as_json: bool
    now: Callable[[], datetime]
    write: Callable[[str], object]

    def __call__(self, event: RuntimeEvent | EngineEvent) -> None:
        # Batches are emitted many times a second, and few logs include this level.
        if isinstance(event, TicksFired | AttemptsEnded) and self.level > LogLevel.DEBUG:
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

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
from rota.flow.observe.engine_lines import NAMES, describe_engine
from rota.flow.observe.lines import Level, LogLine
from rota.runtime.events import (
    AdminKeyExpires,
    DatabaseReached,
    NodeDraining,
    RequestFailed,
    RuntimeEvent,
    ServiceCancelled,
    ServiceFailed,
    SpansLost,
    StoreAway,
    StoreBack,
    WaitingForDatabase,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Writes the lines at or above `level`. Tests inject `now` and `write`."""

    level: Level
    as_json: bool
    now: Callable[[], datetime]
    write: Callable[[str], object]

    def __call__(self, event: RuntimeEvent | EngineEvent) -> None:
        # Batches are emitted many times a second, and few logs include this level.
        if isinstance(event, TicksFired | AttemptsEnded) and self.level > Level.DEBUG:
            return
        self.line(describe(event))

    def line(self, line: LogLine) -> None:
        if line.level < self.level:
            return
        at = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        render = as_json if self.as_json else as_text
        self.write(render(at, line) + "\n")


def describe(event: RuntimeEvent | EngineEvent) -> LogLine:
    if type(event) in NAMES:
        return describe_engine(cast("EngineEvent", event))
    return describe_runtime(cast("RuntimeEvent", event))


def describe_runtime(event: RuntimeEvent) -> LogLine:
    match event:
        case StoreAway():
            fields = {
                "duty": event.duty,
                "reason": event.reason,
                "failures": event.failures,
                "pause_s": round(event.pause.total_seconds(), 3),
            }
            return LogLine("store.away", Level.WARNING, fields)
        case StoreBack():
            fields = {"duty": event.duty, "failures": event.failures}
            return LogLine("store.back", Level.INFO, fields)
        case WaitingForDatabase() | DatabaseReached():
            return describe_start(event)
        case NodeDraining():
            return LogLine("node.draining", Level.INFO, {})
        case ServiceFailed():
            reason = (
                "service ended without being stopped" if event.error is None else str(event.error)
            )
            fields = {
                "service": event.service,
                "error": type(event.error).__name__,
                "reason": reason,
            }
            return LogLine("service.failed", Level.ERROR, fields)
        case ServiceCancelled():
            return LogLine("service.cancelled", Level.WARNING, {"service": event.service})
        case RequestFailed():
            fields = {
                "request_id": event.request_id,
                "error": type(event.error).__name__,
                "reason": str(event.error),
                "place": place_of(event.error),
            }
            return LogLine("request.failed", Level.ERROR, fields)
        case SpansLost():
            fields = {"count": event.count, "reason": event.reason}
            return LogLine("spans.lost", Level.WARNING, fields)
        case AdminKeyExpires():
            fields = {
                "key": event.key_id,
                "expires_at": event.expires_at.isoformat(),
                "remedy": "rota keys renew-admin",
            }
            return LogLine("admin_key.expires", Level.WARNING, fields)
        case _:
            assert_never(event)


def describe_start(event: WaitingForDatabase | DatabaseReached) -> LogLine:
    fields: dict[str, object] = {
        "failures": event.failures,
        "waited_s": round(event.waited.total_seconds(), 1),
    }
    if isinstance(event, DatabaseReached):
        return LogLine("database.back", Level.INFO, fields)
    fields |= {"reason": event.reason, "setting": "database.wait_at_start"}
    return LogLine("database.waiting", Level.WARNING, fields)


def place_of(error: BaseException) -> str:
    """Return the innermost source line of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def as_json(at: str, line: LogLine) -> str:
    head = {"at": at, "level": line.level.name.lower(), "event": line.name}
    return json.dumps(head | line.fields, default=str, ensure_ascii=False)


def as_text(at: str, line: LogLine) -> str:
    fields = " ".join(f"{key}={shown(value)}" for key, value in line.fields.items())
    return f"{at} {line.level.name.lower():<7} {line.name} {fields}".rstrip()


def shown(value: object) -> str:
    """Return the value as text, quoted if it holds a space or a control character."""
    text = str(value)
    return text if text.isprintable() and " " not in text and text else json.dumps(text)

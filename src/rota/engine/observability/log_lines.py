"""Defines a log line as a value: a constant name, a level, fields."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class LogLevel(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


@dataclass(frozen=True, slots=True)
class EventLogLine:
    name: str
    level: LogLevel
    fields: dict[str, Any]

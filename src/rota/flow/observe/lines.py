"""Defines a log line as a value: a constant name, a level, fields."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Level(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


@dataclass(frozen=True, slots=True)
class LogLine:
    name: str
    level: Level
    fields: dict[str, Any]

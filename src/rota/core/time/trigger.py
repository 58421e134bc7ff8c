"""Defines which events start a job: types, optional filters and optional grouping.

contract/trigger.py reads and writes triggers as documents. core/event_rules matches events.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.time import durations

EVENT_TYPE_CHARACTERS_MAX: Final = 200
EXPRESSION_CHARACTERS_MAX: Final = 2_000
TRIGGER_TYPES_MAX: Final = 16
BATCH_SIZE_MAX: Final = 1_000
GROUPING_PERIOD_MIN: Final = timedelta(seconds=1)
GROUPING_PERIOD_MAX: Final = timedelta(days=7)
# Default limit of a debounce, as a multiple of its quiet time.
DEBOUNCE_MAX_WAIT_FACTOR: Final = 10
TYPE_PATTERN: Final = re.compile(r"[^*\s]+(?:\.\*)?|\*")
# The names that an expression of a trigger may use.
TRIGGER_EXPRESSION_NAMES: Final = ("event",)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPattern:
    """Events of a type or type prefix (`order.*`) for which `where` is true."""

    type: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Debounce:
    """One run with the latest event, after `quiet` without another; at the latest after `most`."""

    quiet: timedelta
    max_wait: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchGrouping:
    """One run for up to `size` events that arrive `within` a time after the first."""

    size: int
    within: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """One run once every pattern has matched `within` a time; the latest event of each counts."""

    within: timedelta
    key: str | None = None


EventGrouping = Debounce | BatchGrouping | AllOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The events that start a job. Only `AllOf` has more than one pattern."""

    patterns: tuple[EventPattern, ...]
    grouping: EventGrouping | None = None

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern.type for pattern in self.patterns))


def describe_trigger(trigger: Trigger) -> str:
    """Describe in English when a job with this trigger runs."""
    events = [
        f"the event {pattern.type}{f' with {pattern.where}' if pattern.where else ''}"
        for pattern in trigger.patterns
    ]
    first = events[0]
    match trigger.grouping:
        case None:
            return f"Whenever {first} arrives"
        case Debounce() as debounce:
            quiet, latest = (
                durations.to_words(debounce.quiet),
                durations.to_words(debounce.max_wait),
            )
            waits = f"has not arrived for {quiet}, at the latest after {latest}"
            return f"Once {first} {waits}{_per_key(debounce)}"
        case BatchGrouping() as batch:
            within = durations.to_words(batch.within)
            arrivals = f"up to {batch.size} arrivals of {first} within {within}"
            return f"Once for {arrivals}{_per_key(batch)}"
        case AllOf() as several:
            within = durations.to_words(several.within)
            arrived = f"{' and '.join(events)} have arrived within {within}"
            return f"Once {arrived}{_per_key(several)}"


def _per_key(gathering: EventGrouping) -> str:
    return f", for each {gathering.key}" if gathering.key else ""

"""What a job waits for: events of a type, perhaps filtered, perhaps gathered.

Room: core/time. The value; its form as a document is contract/trigger.py. Which jobs an event
concerns is core/arrivals; events themselves arrive there, too.
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
GATHERING_MIN: Final = timedelta(seconds=1)
GATHERING_MAX: Final = timedelta(days=7)
# How long a debounce may be put off by default, in times of its quiet.
DEBOUNCE_PATIENCE: Final = 10
TYPE_PATTERN: Final = re.compile(r"[^*\s]+(?:\.\*)?|\*")
# What an expression of a trigger may name.
EXPRESSION_NAMES: Final = ("event",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Events of a type, or of all types below one, for which `where` is true."""

    type: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Debounce:
    """One run after `quiet` without another event, with the latest; after `most` in any case."""

    quiet: timedelta
    most: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One run for `size` events, or for those that came `within` the first."""

    size: int
    within: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """One run when each of the wanted has come, `within` the first; the latest of each counts."""

    within: timedelta
    key: str | None = None


Gathering = Debounce | Batch | AllOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Several are wanted only with `AllOf`."""

    wanted: tuple[Wanted, ...]
    gathering: Gathering | None = None

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.type for each in self.wanted))


def sentence(trigger: Trigger) -> str:
    """For a person: after what it runs."""
    said = [
        f"the event {each.type}{f' with {each.where}' if each.where else ''}"
        for each in trigger.wanted
    ]
    first = said[0]
    match trigger.gathering:
        case None:
            return f"Whenever {first} arrives"
        case Debounce() as debounce:
            quiet, most = durations.words(debounce.quiet), durations.words(debounce.most)
            return f"When {first} has not come for {quiet}, or after {most}{_each(debounce)}"
        case Batch() as batch:
            within = durations.words(batch.within)
            return f"For up to {batch.size} times {first} within {within}{_each(batch)}"
        case AllOf() as several:
            within = durations.words(several.within)
            return f"When {' and '.join(said)} have come within {within}{_each(several)}"


def _each(gathering: Gathering) -> str:
    return f", for each {gathering.key}" if gathering.key else ""

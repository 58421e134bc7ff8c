"""Holds a parsed cron expression.

syntax.py creates it, search.py searches it, description.py describes it.
"""

from dataclasses import dataclass
from enum import StrEnum

from rota.core.time.cron.description import describe_cron
from rota.core.time.cron.fields import DayMasks, FieldValue


class DayMatch(StrEnum):
    """How a day-of-month and a day-of-week combine when both are given."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A parsed expression.

    `text` is the expression without its zone prefix and with single spaces. `interval_like` means
    that it follows elapsed time: no tick is moved, and both hours of a DST overlap run.
    """

    text: str
    timezone: str | None
    day_match: DayMatch
    interval_like: bool
    second: FieldValue
    minute: FieldValue
    hour: FieldValue
    day: FieldValue
    month: FieldValue
    weekday: FieldValue
    year: FieldValue | None
    either_day: bool
    day_masks: DayMasks

    def describe(self) -> str:
        """Return the expression in plain English."""
        return describe_cron(self)

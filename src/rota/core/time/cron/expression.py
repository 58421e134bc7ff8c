"""A cron expression that was read.

Room: core/time/cron. A value, made by syntax.py, searched by search.py and walk.py, put in words
by sentence.py.
"""

from dataclasses import dataclass
from enum import StrEnum

from rota.core.time.cron.days import DayMasks
from rota.core.time.cron.fields import FieldValue
from rota.core.time.cron.sentence import describe


class DayMatch(StrEnum):
    """How a day-of-month and a day-of-week that are both given go together."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """`text` is the expression without a zone prefix and with single spaces; `interval_like` says
    that it follows elapsed time, so that no tick is moved and both hours of an overlap run.
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
    masks: DayMasks

    def describe(self) -> str:
        """The expression in plain English."""
        return describe(self)

"""Defines the fields of a cron expression: their ranges, names and the parts they may contain.

Values only. field_syntax.py parses them; days.py resolves `L`, `W` and `#` in a given month.
"""

from dataclasses import dataclass

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, eq=False)
class CronField:
    """A kind of field. `top` is the highest number accepted: 7 is Sunday, like 0."""

    name: str
    low: int
    high: int
    top: int
    names: dict[str, int]
    wraps: bool = False

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def allowed_values(self) -> str:
        names = f" or {next(iter(self.names))}–{list(self.names)[-1]}" if self.names else ""
        return f"{self.low}–{self.top}{names}"


SECOND = CronField("second", 0, 59, 59, {})
MINUTE = CronField("minute", 0, 59, 59, {})
HOUR = CronField("hour", 0, 23, 23, {}, wraps=True)
DAY = CronField("day-of-month", 1, 31, 31, {})
MONTH = CronField("month", 1, 12, 12, {name: i + 1 for i, name in enumerate(MONTHS)}, wraps=True)
WEEKDAY = CronField(
    "day-of-week", 0, 6, 7, {name: i for i, name in enumerate(WEEKDAYS)}, wraps=True
)
YEAR = CronField("year", 1970, 2199, 2199, {})


@dataclass(frozen=True, slots=True)
class ValueRange:
    """From `first` to `last` by `step`, wrapping around where `last` < `first`."""

    first: int
    last: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class FromEnd:
    """`L` and `L-3`: a number of days before the last day of the month."""

    back: int


@dataclass(frozen=True, slots=True)
class LastWorkday:
    """`LW`: the last Monday-to-Friday of the month."""


@dataclass(frozen=True, slots=True)
class NearestWorkday:
    """`15W`: the Monday-to-Friday nearest to that day, in the same month."""

    day: int


@dataclass(frozen=True, slots=True)
class LastWeekday:
    """`5L` and `FRIL`: the last such weekday of the month."""

    weekday: int


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`5#3` and `FRI#3`: the nth such weekday of the month."""

    weekday: int
    nth: int


SpecialPart = FromEnd | LastWorkday | NearestWorkday | LastWeekday | NthWeekday
CronPart = ValueRange | SpecialPart


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A parsed field.

    `mask` has bit v - low set for each plain value v that matches; `lowest` is the index of the
    lowest set bit. `star` means that the text starts with a star, `even` that it is `*`, `*/n` or
    `H/n`.
    """

    field: CronField
    parts: tuple[CronPart, ...]
    mask: int
    lowest: int
    has_star: bool
    is_even: bool

    def contains(self, value: int) -> bool:
        return value >= self.field.low and bool(self.mask >> (value - self.field.low) & 1)

    @property
    def is_full(self) -> bool:
        return self.mask == (1 << self.field.size) - 1

    @property
    def values(self) -> tuple[int, ...]:
        low = self.field.low
        return tuple(v for v in range(low, self.field.high + 1) if self.mask >> (v - low) & 1)

"""The fields of a cron expression: their ranges and names, and the parts people write in them.

Room: core/time/cron. Values only. Reading them from text is field_syntax.py's business; what `L`,
`W` and `#` come to in a given month is days.py's.
"""

from dataclasses import dataclass

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A kind of field. `top` is the highest number accepted: 7 is Sunday, as 0 is."""

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
    def takes(self) -> str:
        named = f", or {next(iter(self.names))} to {list(self.names)[-1]}" if self.names else ""
        return f"{self.low} to {self.top}{named}"


SECOND = Field("second", 0, 59, 59, {})
MINUTE = Field("minute", 0, 59, 59, {})
HOUR = Field("hour", 0, 23, 23, {}, wraps=True)
DAY = Field("day-of-month", 1, 31, 31, {})
MONTH = Field("month", 1, 12, 12, {name: i + 1 for i, name in enumerate(MONTHS)}, wraps=True)
WEEKDAY = Field("day-of-week", 0, 6, 7, {name: i for i, name in enumerate(WEEKDAYS)}, wraps=True)
YEAR = Field("year", 1970, 2199, 2199, {})


@dataclass(frozen=True, slots=True)
class Values:
    """From `first` to `last` by `step`, going over the end where `last` < `first`."""

    first: int
    last: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class FromEnd:
    """`L` and `L-3`: so many days before the last day of the month."""

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
Part = Values | SpecialPart


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field that was read.

    `mask` has bit v - low set for each plain value v that matches, and `lowest` is the place of
    the lowest one; `star` says that the text begins with a star, `even` that it is `*`, `*/n` or
    `H/n`.
    """

    field: Field
    parts: tuple[Part, ...]
    mask: int
    lowest: int
    star: bool
    even: bool

    def holds(self, value: int) -> bool:
        return value >= self.field.low and bool(self.mask >> (value - self.field.low) & 1)

    @property
    def full(self) -> bool:
        return self.mask == (1 << self.field.size) - 1

    @property
    def values(self) -> tuple[int, ...]:
        low = self.field.low
        return tuple(v for v in range(low, self.field.high + 1) if self.mask >> (v - low) & 1)

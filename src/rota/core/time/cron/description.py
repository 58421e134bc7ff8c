"""Describes a cron expression in plain English.

Users check this sentence before they save a schedule, so every word must be true: "or" between two
day fields that are alternatives, "only if" between two that must both match, and every `H` as its
computed value. The preview adds the zone and the dates.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING

from rota.core.time.cron.fields import (
    CronPart,
    FieldValue,
    FromEnd,
    LastWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    ValueRange,
)

if TYPE_CHECKING:
    from rota.core.time.cron.expression import Cron

# More clock times than this are easier to read as a rule than as a list.
LISTED_TIMES_MAX = 6
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Days of the longest month.
MONTH_DAYS_MAX = 31
ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def describe_cron(cron: "Cron") -> str:
    """Return one sentence without a full stop: At 09:00 on Monday through Friday."""
    times = _clock_times(cron)
    when = times or _rhythm(cron)
    days = _days(cron) or ("every day" if times else "")
    months = "" if _days_name_months(cron) or cron.month.is_full else _in_or_from(cron)
    sentence = " ".join(words for words in (when, days, months) if words)
    if cron.year is None or cron.year.is_full:
        return sentence
    return f"{sentence}, in {_listed(cron.year, str)}"


def _clock_times(cron: "Cron") -> str:
    """Return "At 09:00 and 17:30" for an expression with only a few times a day."""
    hours, minutes, seconds = cron.hour.values, cron.minute.values, cron.second.values
    if len(hours) * len(minutes) * len(seconds) > LISTED_TIMES_MAX or _goes_over_midnight(cron):
        return ""
    if seconds == (0,):
        return f"At {_joined([_clock(*time) for time in product(hours, minutes)])}"
    times = product(hours, minutes, seconds)
    return f"At {_joined([f'{_clock(hour, minute)}:{past:02}' for hour, minute, past in times])}"


def _goes_over_midnight(cron: "Cron") -> bool:
    """Return whether hours such as 22-2 read better as a range than in clock order."""
    match cron.hour.parts:
        case (ValueRange(first=first, last=last, step=1),) if last < first:
            return len(cron.minute.values) == 1 and cron.second.values == (0,)
        case _:
            return False


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def _rhythm(cron: "Cron") -> str:
    if cron.second.values == (0,):
        return _by_minute(cron)
    seconds = _beat(cron.second) or f"At {_describe_count(cron.second)} past the minute"
    if cron.minute.is_full:
        return f"{seconds}{_window(cron.hour)}"
    return f"{seconds} in {_numbered(cron.minute)} of {_hours(cron.hour)}"


def _by_minute(cron: "Cron") -> str:
    minute, hour = cron.minute, cron.hour
    beat = _beat(minute)
    if beat:
        return f"{beat}{_window(hour)}"
    if len(minute.values) == 1:
        (past,) = minute.values
        if hour.is_full and past == 0:
            return "Every hour"
        if not hour.is_full and len(hour.parts) == 1:
            return _by_hour(hour, past)
    return f"At {_describe_count(minute)} past {_hours(hour)}"


def _by_hour(hour: FieldValue, past: int) -> str:
    """Return "Every 2 hours from 00:30 through 22:30"."""
    (part,) = hour.parts
    values = tuple(_expanded(part, hour))
    every = "Every hour" if _step(part) == 1 else f"Every {_step(part)} hours"
    return f"{every} from {_clock(values[0], past)} through {_clock(values[-1], past)}"


def _beat(value: FieldValue) -> str:
    """Return "Every 15 minutes" for a field that steps evenly through its whole range."""
    name, size = value.field.name, value.field.size
    if value.is_full:
        return f"Every {name}"
    if len(value.values) == 1 or not (value.is_even or _beats_to_the_end(value)):
        return ""
    first, step = value.values[0], _step(value.parts[0])
    is_whole = size % step == 0 and value.is_even
    whole = "" if is_whole else f" of each {'minute' if name == 'second' else 'hour'}"
    start = f" from {name} {first}{whole}" if first or whole else ""
    return f"Every {step} {name}s{start}"


def _beats_to_the_end(value: FieldValue) -> bool:
    """Return whether a long list such as 1-59/2 steps to the end of the range."""
    match value.parts:
        case (ValueRange(first=first, last=last, step=step),) if step > 1 and first <= last:
            return len(value.values) > LISTED_TIMES_MAX and last + step > value.field.high
        case _:
            return False


def _step(part: CronPart) -> int:
    return part.step if isinstance(part, ValueRange) else 1


def _describe_count(value: FieldValue) -> str:
    """Return "5 and 20 minutes"."""
    listed = _listed(value, str)
    return f"{listed} {value.field.name}{'' if value.values == (1,) else 's'}"


def _numbered(value: FieldValue) -> str:
    """Return "minutes 5 and 20"."""
    return f"{value.field.name}{'' if len(value.values) == 1 else 's'} {_listed(value, str)}"


def _hours(hour: FieldValue) -> str:
    if hour.is_full:
        return "every hour"
    stretch = _stretch(hour)
    return f"every hour{stretch}" if stretch else _numbered(hour)


def _window(hour: FieldValue) -> str:
    if hour.is_full:
        return ""
    return _stretch(hour) or f" during {_numbered(hour)}"


def _stretch(hour: FieldValue) -> str:
    """Return " from 09:00 through 17:59" for consecutive hours."""
    match hour.parts:
        case (ValueRange(first=first, last=last, step=1),):
            return f" from {_clock(first, 0)} through {_clock(last, 59)}"
        case _:
            return ""


def _days(cron: "Cron") -> str:
    by_day = "" if _is_free(cron, cron.day) else f"on {_month_days(cron)}"
    by_weekday = "" if _is_free(cron, cron.weekday) else _weekdays(cron, "and")
    if not by_day or not by_weekday:
        return by_day or (by_weekday and f"on {by_weekday}")
    if cron.either_day:
        return f"{by_day} or on {by_weekday}{_in_months(cron)}"
    return f"{by_day}, only if it is {_weekdays(cron, 'or')}"


def _is_free(cron: "Cron", value: FieldValue) -> bool:
    """Return whether a day field restricts nothing. Next to an alternative, 1-31 restricts."""
    return value.is_full and (value.has_star or not cron.either_day)


def _is_plain(value: FieldValue) -> bool:
    return all(isinstance(part, ValueRange) for part in value.parts)


def _days_name_months(cron: "Cron") -> bool:
    return not _is_free(cron, cron.day) or not _is_plain(cron.weekday)


def _in_months(cron: "Cron") -> str:
    is_named = _is_plain(cron.weekday) and not cron.month.is_full
    return f" {_in_or_from(cron)}" if is_named else ""


def _month_days(cron: "Cron") -> str:
    value, of = cron.day, _of_month(cron)
    if _is_plain(value) and len(value.values) == len(cron.month.values) == 1:
        return f"{value.values[0]} {_months(cron)}"
    if value.values == (MONTH_DAYS_MAX,) and _is_plain(value) and cron.month.is_full:
        return f"day {MONTH_DAYS_MAX} {of} (months with {MONTH_DAYS_MAX} days)"
    match value.parts:
        case (ValueRange(first=1, last=31, step=step),) if step > 1:
            return f"every {_ordinal(step)} day {of} from day 1"
        case _:
            pass
    special = [_special_day(part) for part in value.parts if not isinstance(part, ValueRange)]
    if value.mask:
        plain = f"day{'' if len(value.values) == 1 else 's'} {_listed(value, str)}"
        special.insert(0, plain)
    return f"{_joined(special)} {of}"


def _special_day(part: CronPart) -> str:
    match part:
        case FromEnd(back=0):
            return "the last day"
        case FromEnd(back=1):
            return "the day before the last day"
        case FromEnd(back=back):
            return f"the day {back} days before the last day"
        case LastWorkday():
            return "the last weekday (Monday to Friday)"
        case NearestWorkday(day=day):
            return f"the weekday (Monday to Friday) nearest day {day}"
        case _:
            return ""


def _weekdays(cron: "Cron", last: str) -> str:
    value = cron.weekday
    special = [_special_weekday(part) for part in value.parts if not isinstance(part, ValueRange)]
    words = _words(value, WEEKDAYS.__getitem__)
    if not special:
        return _joined(words, last)
    return f"{_joined([*words, *special], last)} {_of_month(cron)}"


def _special_weekday(part: CronPart) -> str:
    match part:
        case LastWeekday(weekday=weekday):
            return f"the last {WEEKDAYS[weekday]}"
        case NthWeekday(weekday=weekday, nth=nth):
            return f"the {ORDINALS[nth]} {WEEKDAYS[weekday]}"
        case _:
            return ""


def _in_or_from(cron: "Cron") -> str:
    """Return "in June" or "from June through August"."""
    match cron.month.parts:
        case (ValueRange(first=first, last=last, step=1),) if first != last:
            return f"from {_months(cron)}"
        case _:
            return f"in {_months(cron)}"


def _of_month(cron: "Cron") -> str:
    return "of the month" if cron.month.is_full else f"of {_months(cron)}"


def _months(cron: "Cron") -> str:
    return _listed(cron.month, MONTHS.__getitem__)


def _listed(value: FieldValue, name: Callable[[int], str]) -> str:
    return _joined(_words(value, name))


def _words(value: FieldValue, name: Callable[[int], str]) -> list[str]:
    """Return the plain parts of a field: single values, and ranges as "9 through 17"."""
    words: list[str] = []
    for part in value.parts:
        if not isinstance(part, ValueRange):
            continue
        if part.step == 1 and part.first != part.last:
            words.append(f"{name(part.first)} through {name(part.last)}")
        else:
            words.extend(name(v) for v in _expanded(part, value))
    return list(dict.fromkeys(words))


def _expanded(part: CronPart, value: FieldValue) -> Iterable[int]:
    if not isinstance(part, ValueRange):
        return
    low, size = value.field.low, value.field.size
    last = part.last + size if part.last < part.first else part.last
    for place in range(part.first, last + 1, part.step):
        yield (place - low) % size + low


def _joined(words: list[str], last: str = "and") -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"

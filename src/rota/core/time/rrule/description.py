"""Describes a recurrence rule in plain English.

Example: "Every 2 weeks on Monday and Friday at 09:00". The preview adds the zone.
"""

import re
from datetime import date

from rota.core.time.rrule.days import EPOCH_DAY
from rota.core.time.rrule.rule import Rrule, RruleFrequency, RrulePart
from rota.core.time.zones import from_wall_seconds

PERIOD_NAMES = {
    RruleFrequency.YEARLY: "year",
    RruleFrequency.MONTHLY: "month",
    RruleFrequency.WEEKLY: "week",
    RruleFrequency.DAILY: "day",
    RruleFrequency.HOURLY: "hour",
    RruleFrequency.MINUTELY: "minute",
    RruleFrequency.SECONDLY: "second",
}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WORKDAYS = frozenset(range(5))
COUNT = re.compile(r"\bCOUNT=(\d+)")
ORDINALS = ("", "first", "second", "third", "fourth", "fifth")
# A longer list is shortened to its first and last item and the count.
LISTED_ITEMS_MAX = 6


def describe_rrule(rule: Rrule) -> str:
    """Return one sentence without a full stop."""
    clauses = [] if rule.part is None else [_part(rule.part, _count(rule))]
    if rule.dates:
        clauses.append(f"on {_few([_moment(local) for local in rule.dates], 'additional date')}")
    sentence = "; and ".join(clauses)
    if rule.excluded or rule.excluded_days:
        days = [f"{date.fromordinal(day + EPOCH_DAY)}" for day in sorted(rule.excluded_days)]
        moments = [_moment(local) for local in sorted(rule.excluded)]
        sentence += f", except on {_few([*days, *moments], 'date')}"
    return sentence[0].upper() + sentence[1:]


def _count(rule: Rrule) -> str:
    """Return "5 times, " for a COUNT. The part itself holds only the last time."""
    found = COUNT.search(rule.text)
    return "" if found is None else f"{found[1]} time{'' if found[1] == '1' else 's'}, "


def _part(part: RrulePart, count: str) -> str:
    name = PERIOD_NAMES[part.freq]
    every = f"every {name}" if part.interval == 1 else f"every {part.interval} {name}s"
    words = [every, _days(part), _months(part), _times(part), _positions(part)]
    sentence = " ".join(word for word in words if word)
    return sentence if part.until is None else f"{sentence}, {count}until {_moment(part.until)}"


def _days(part: RrulePart) -> str:
    clauses = []
    if _is_one_date(part):
        (day,), (month,) = part.month_days, part.months
        return f"on {day} {MONTHS[month]}"
    if _is_nth_workday(part):
        return f"on the {_nth(part.positions[0])} weekday (Monday to Friday) of the month"
    if part.weekdays or part.nth:
        nth = [f"the {_nth(n)} {WEEKDAYS[day]}" for n, day in sorted(part.nth)]
        clauses.append("on " + _joined([*(WEEKDAYS[day] for day in sorted(part.weekdays)), *nth]))
    if part.month_days:
        clauses.append(f"on {_numbered('day', part.month_days)} of the month")
    if part.year_days:
        clauses.append(f"on {_numbered('day', part.year_days)} of the year")
    if part.week_nos:
        clauses.append(f"in {_numbered('week', part.week_nos)} of the year")
    # All clauses must match.
    return " and only ".join(clauses)


def _is_one_date(part: RrulePart) -> bool:
    """Return whether the part is one day of the year, such as 25 December."""
    others = part.weekdays or part.nth or part.year_days or part.week_nos
    is_one = len(part.month_days) == len(part.months) == 1
    return is_one and not others and min(part.month_days) > 0


def _is_nth_workday(part: RrulePart) -> bool:
    """Return whether the part is the nth weekday (Monday to Friday) of a month."""
    others = part.nth or part.month_days or part.year_days or part.week_nos
    is_monthly = part.freq is RruleFrequency.MONTHLY and len(part.positions) == len(part.times) == 1
    return is_monthly and not others and part.weekdays == WORKDAYS


def _months(part: RrulePart) -> str:
    if _is_one_date(part):
        return ""
    return f"in {_joined([MONTHS[month] for month in sorted(part.months)])}" if part.months else ""


def _times(part: RrulePart) -> str:
    if not part.freq.is_sub_daily:
        return f"at {_few([_clock(time) for time in part.times], 'time')}"
    clauses = []
    if "BYHOUR" in part.given_parts:
        clauses.append(f"in {_numbered('hour', part.hours)}")
    if "BYMINUTE" in part.given_parts or part.freq is RruleFrequency.HOURLY:
        clauses.append(f"at {_numbered('minute', part.minutes)}")
    if "BYSECOND" in part.given_parts or (
        part.freq is not RruleFrequency.SECONDLY and part.seconds != (0,)
    ):
        clauses.append(f"at {_numbered('second', part.seconds)}")
    return " ".join(clauses)


def _positions(part: RrulePart) -> str:
    if not part.positions or _is_nth_workday(part):
        return ""
    period = PERIOD_NAMES[part.freq]
    return (
        f"(only the {_joined([_nth(place) for place in part.positions])} of these in each {period})"
    )


def _nth(number: int) -> str:
    if number < 0:
        return "last" if number == -1 else f"{_nth(-number)} to last"
    if number < len(ORDINALS):
        return ORDINALS[number]
    endings = {} if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10, 'th')}"


def _numbered(noun: str, numbers: frozenset[int] | tuple[int, ...]) -> str:
    ordered = sorted(numbers, key=lambda number: (number < 0, abs(number)))
    words = [str(number) if number >= 0 else _nth(number) for number in ordered]
    return f"{noun}{'s' if len(words) > 1 else ''} {_few(words, noun)}"


def _few(words: list[str], noun: str) -> str:
    if len(words) <= LISTED_ITEMS_MAX:
        return _joined(words)
    return f"{words[0]} … {words[-1]} ({len(words)} {noun}s)"


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _clock(second: int) -> str:
    text = f"{second // 3600:02}:{second // 60 % 60:02}"
    return f"{text}:{second % 60:02}" if second % 60 else text


def _moment(local: int) -> str:
    return f"{from_wall_seconds(local):%Y-%m-%d} {_clock(local % 86_400)}"

"""Reads one RRULE value: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR`.

Room: core/time/rrule. Names, numbers, which parts may stand with which frequency (RFC 5545,
3.3.10), and what a part that is missing takes from DTSTART. Knows no dates and no zones.
"""

import re
from datetime import datetime
from itertools import product
from math import gcd

from rota.core.errors import InvalidSchedule
from rota.core.time.rrule.rule import UNIT, Freq, Part
from rota.core.time.walls import local_of

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
WEEKDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
# Lowest and highest value; a negative lowest means that counting from the end is allowed.
RANGES = {
    "BYSECOND": (0, 59),
    "BYMINUTE": (0, 59),
    "BYHOUR": (0, 23),
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYSETPOS": (-366, 366),
}
OTHERS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY")
# Eight years, the horizon of the search, in periods of each frequency.
INTERVALS = {
    Freq.YEARLY: 8,
    Freq.MONTHLY: 96,
    Freq.WEEKLY: 417,
    Freq.DAILY: 2922,
    Freq.HOURLY: 70_128,
    Freq.MINUTELY: 999_999,
    Freq.SECONDLY: 999_999,
}
LIST_LIMIT = 366
PERIOD_DAYS = {Freq.YEARLY: 366, Freq.MONTHLY: 31, Freq.WEEKLY: 7, Freq.DAILY: 1}
TIMES_LIMIT = 1440
DAY_PARTS = ("BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYDAY")

Given = dict[str, str]
Clock = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def read_part(value: str, start: int) -> tuple[Part, str | None, int | None]:
    """The part, with UNTIL and COUNT still to be worked out by whoever knows the zone."""
    given = _split(value)
    freq = _freq(given)
    numbers = {name: _numbers(name, given[name]) for name in RANGES if name in given}
    plain, nth = _weekdays(given)
    _check_parts(freq, given, nth=bool(nth))
    if "COUNT" in given and "UNTIL" in given:
        raise _refusal("COUNT and UNTIL", "one of them")
    moment = local_of(start)
    interval = _whole(given.get("INTERVAL", "1"), "INTERVAL", INTERVALS[freq])
    hours, minutes, seconds = _reachable(freq, interval, start, _clock(freq, numbers, moment))
    times = () if freq.sub_daily else _times(hours, minutes, seconds)
    _fill_days(freq, given, numbers, moment)
    part = Part(
        freq=freq,
        interval=interval,
        start=start,
        until=None,
        months=frozenset(numbers.get("BYMONTH", ())),
        month_days=frozenset(numbers.get("BYMONTHDAY", ())),
        year_days=frozenset(numbers.get("BYYEARDAY", ())),
        week_nos=frozenset(numbers.get("BYWEEKNO", ())),
        weekdays=_default_weekday(freq, given, moment) or plain,
        nth=nth,
        positions=_positions(freq, numbers, len(times)),
        week_start=_week_start(given),
        hours=hours,
        minutes=minutes,
        seconds=seconds,
        times=times,
        given=frozenset(given),
    )
    count = _whole(given["COUNT"], "COUNT", 999_999) if "COUNT" in given else None
    return part, given.get("UNTIL"), count


def _split(value: str) -> Given:
    given: Given = {}
    for item in value.upper().rstrip(";").split(";"):
        name, equals, setting = item.partition("=")
        if name not in RANGES and name not in OTHERS:
            raise _refusal(item, f"one of {', '.join((*OTHERS, *RANGES))}")
        if not equals or not setting or name in given:
            raise _refusal(item, f"{name}=… once")
        given[name] = setting
    return given


def _freq(given: Given) -> Freq:
    try:
        return Freq[given.get("FREQ", "")]
    except KeyError:
        wanted = f"FREQ= one of {', '.join(freq.name for freq in Freq)}"
        raise _refusal(given.get("FREQ", "FREQ"), wanted) from None


def _numbers(name: str, setting: str) -> tuple[int, ...]:
    lowest, highest = RANGES[name]
    items = setting.split(",")
    if len(items) > LIST_LIMIT:
        raise _refusal(name, f"at most {LIST_LIMIT} values")
    numbers = set()
    for item in items:
        number = int(item) if NUMBER.fullmatch(item) else None
        if number is None or not lowest <= number <= highest or (number == 0 and lowest < 0):
            signs = " or its negative, from the end" if lowest < 0 else ""
            wanted = f"numbers from {max(lowest, 1) if lowest else 0} to {highest}{signs}"
            raise _refusal(f"{name}={item}", wanted)
        numbers.add(number)
    return tuple(sorted(numbers))


def _whole(setting: str, name: str, highest: int) -> int:
    number = int(setting) if NUMBER.fullmatch(setting) else 0
    if not 1 <= number <= highest:
        raise _refusal(f"{name}={setting}", f"a number from 1 to {highest}")
    return number


def _weekdays(given: Given) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    plain, nth = set(), set()
    for item in given["BYDAY"].split(",") if "BYDAY" in given else ():
        found = WEEKDAY.fullmatch(item)
        number = int(found[1] or 0) if found else 0
        if found is None or abs(number) > 53 or (found[1] and not number):
            raise _refusal(f"BYDAY={item}", "days such as MO, 2TU or -1FR")
        weekday = WEEKDAYS.index(found[2])
        if number:
            nth.add((number, weekday))
        else:
            plain.add(weekday)
    return frozenset(plain), frozenset(nth)


def _check_parts(freq: Freq, given: Given, *, nth: bool) -> None:
    """What the RFC's table marks as not to be used, and what only guesses could give a meaning."""
    refused = {
        "BYWEEKNO": freq is not Freq.YEARLY,
        "BYYEARDAY": freq in {Freq.MONTHLY, Freq.WEEKLY, Freq.DAILY},
        "BYMONTHDAY": freq is Freq.WEEKLY,
        "BYSETPOS": freq.sub_daily,
    }
    for name, wrong in refused.items():
        if wrong and name in given:
            raise _refusal(f"{name} with FREQ={freq.name}", "leave it out; they do not go together")
    if nth and (freq not in {Freq.MONTHLY, Freq.YEARLY} or "BYWEEKNO" in given):
        wanted = "a number before the day only with FREQ=MONTHLY or YEARLY, without BYWEEKNO"
        raise _refusal(f"BYDAY={given['BYDAY']}", wanted)
    if "BYWEEKNO" in given and "BYDAY" not in given:
        raise _refusal(f"BYWEEKNO={given['BYWEEKNO']}", "a BYDAY with it: which days of that week?")
    others = [name for name in given if name.startswith("BY") and name != "BYSETPOS"]
    if "BYSETPOS" in given and not others:
        raise _refusal(f"BYSETPOS={given['BYSETPOS']}", "another BY part for it to pick from")


def _clock(freq: Freq, numbers: dict[str, tuple[int, ...]], moment: datetime) -> Clock:
    """Hours, minutes and seconds; above its own frequency a missing one is any, below DTSTART's."""
    hours = (moment.hour,) if freq < Freq.HOURLY else tuple(range(24))
    minutes = (moment.minute,) if freq < Freq.MINUTELY else tuple(range(60))
    seconds = (moment.second,) if freq < Freq.SECONDLY else tuple(range(60))
    return (
        numbers.get("BYHOUR", hours),
        numbers.get("BYMINUTE", minutes),
        numbers.get("BYSECOND", seconds),
    )


def _reachable(freq: Freq, interval: int, start: int, clock: Clock) -> Clock:
    """Leave out what INTERVAL never lands on: every 10 s from second 0 never shows a second 5.

    Without this a rule that can never match would be looked for in every second of eight years.
    """
    if not freq.sub_daily:
        return clock
    hours, minutes, seconds = clock
    step = interval * UNIT[freq]
    base = start // UNIT[freq] * UNIT[freq]
    whole = gcd(step, 86_400)
    low = {0}
    if freq is Freq.SECONDLY:
        seconds = tuple(s for s in seconds if (s - base) % gcd(step, 60) == 0)
        low = {s % whole for s in seconds}
    if freq is not Freq.HOURLY:
        minutes = _landing(minutes, 60, low, base, gcd(step, 3600))
        low = {(m * 60 + rest) % whole for m in minutes for rest in low}
    hours = _landing(hours, 3600, low, base, whole)
    if not (hours and minutes and seconds):
        wanted = "an INTERVAL that reaches the given BYHOUR, BYMINUTE and BYSECOND from DTSTART"
        raise _refusal(f"INTERVAL={interval}", wanted)
    return hours, minutes, seconds


def _landing(
    values: tuple[int, ...], unit: int, low: set[int], base: int, cycle: int
) -> tuple[int, ...]:
    """The values that, with one of `low` below them, fall on the cycle."""
    return tuple(
        value for value in values if any((value * unit + rest - base) % cycle == 0 for rest in low)
    )


def _times(
    hours: tuple[int, ...], minutes: tuple[int, ...], seconds: tuple[int, ...]
) -> tuple[int, ...]:
    size = len(hours) * len(minutes) * len(seconds)
    if size > TIMES_LIMIT:
        wanted = f"at most {TIMES_LIMIT} times a day; FREQ=MINUTELY or SECONDLY have no such limit"
        raise _refusal(f"{size} times a day", wanted)
    return tuple(h * 3600 + m * 60 + s for h, m, s in product(hours, minutes, seconds))


def _positions(freq: Freq, numbers: dict[str, tuple[int, ...]], times: int) -> tuple[int, ...]:
    """BYSETPOS without the places that no period is long enough to have."""
    positions = numbers.get("BYSETPOS", ())
    kept = tuple(place for place in positions if abs(place) <= PERIOD_DAYS.get(freq, 0) * times)
    if positions and not kept:
        wanted = f"a place that a {freq.name} period with {times} times a day has"
        raise _refusal(f"BYSETPOS={positions[0]}", wanted)
    return kept


def _fill_days(
    freq: Freq, given: Given, numbers: dict[str, tuple[int, ...]], moment: datetime
) -> None:
    if freq > Freq.MONTHLY or any(name in given for name in DAY_PARTS):
        return
    numbers["BYMONTHDAY"] = (moment.day,)
    if freq is Freq.YEARLY and "BYMONTH" not in given:
        numbers["BYMONTH"] = (moment.month,)


def _default_weekday(freq: Freq, given: Given, moment: datetime) -> frozenset[int]:
    if freq is Freq.WEEKLY and "BYDAY" not in given:
        return frozenset({moment.weekday()})
    return frozenset()


def _week_start(given: Given) -> int:
    setting = given.get("WKST", "MO")
    if setting not in WEEKDAYS:
        raise _refusal(f"WKST={setting}", f"one of {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(setting)


def _refusal(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="rrule", value=value, wanted=wanted)

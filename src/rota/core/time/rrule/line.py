"""Parses one RRULE value: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR`.

Checks names, numbers and which parts each frequency allows (RFC 5545, 3.3.10), and fills in missing
parts from DTSTART. This module does not handle dates or zones.
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
# Lowest and highest value; a negative lowest value allows counting from the end.
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
    """Parse the value. Returns the part and the raw UNTIL and COUNT, which need the zone."""
    settings = _split(value)
    freq = _freq(settings)
    numbers = {name: _numbers(name, settings[name]) for name in RANGES if name in settings}
    plain, nth = _weekdays(settings)
    _check_parts(freq, settings, nth=bool(nth))
    if "COUNT" in settings and "UNTIL" in settings:
        raise _refusal("COUNT and UNTIL", "use COUNT or UNTIL, not both")
    moment = local_of(start)
    interval = _whole(settings.get("INTERVAL", "1"), "INTERVAL", INTERVALS[freq])
    hours, minutes, seconds = _reachable(freq, interval, start, _clock(freq, numbers, moment))
    times = () if freq.sub_daily else _times(hours, minutes, seconds)
    _fill_days(freq, settings, numbers, moment)
    part = Part(
        freq=freq,
        interval=interval,
        start=start,
        until=None,
        months=frozenset(numbers.get("BYMONTH", ())),
        month_days=frozenset(numbers.get("BYMONTHDAY", ())),
        year_days=frozenset(numbers.get("BYYEARDAY", ())),
        week_nos=frozenset(numbers.get("BYWEEKNO", ())),
        weekdays=_default_weekday(freq, settings, moment) or plain,
        nth=nth,
        positions=_positions(freq, numbers, len(times)),
        week_start=_week_start(settings),
        hours=hours,
        minutes=minutes,
        seconds=seconds,
        times=times,
        given=frozenset(settings),
    )
    count = _whole(settings["COUNT"], "COUNT", 999_999) if "COUNT" in settings else None
    return part, settings.get("UNTIL"), count


def _split(value: str) -> Given:
    settings: Given = {}
    for item in value.upper().rstrip(";").split(";"):
        name, equals, setting = item.partition("=")
        if name not in RANGES and name not in OTHERS:
            raise _refusal(item, f"unknown part; known parts: {', '.join((*OTHERS, *RANGES))}")
        if not equals or not setting or name in settings:
            raise _refusal(item, f"expected {name}=… exactly once")
        settings[name] = setting
    return settings


def _freq(settings: Given) -> Freq:
    try:
        return Freq[settings.get("FREQ", "")]
    except KeyError:
        wanted = f"FREQ must be one of {', '.join(freq.name for freq in Freq)}"
        raise _refusal(settings.get("FREQ", "FREQ"), wanted) from None


def _numbers(name: str, setting: str) -> tuple[int, ...]:
    lowest, highest = RANGES[name]
    items = setting.split(",")
    if len(items) > LIST_LIMIT:
        raise _refusal(name, f"expected at most {LIST_LIMIT} values")
    numbers = set()
    for item in items:
        number = int(item) if NUMBER.fullmatch(item) else None
        if number is None or not lowest <= number <= highest or (number == 0 and lowest < 0):
            signs = ", or negative to count from the end" if lowest < 0 else ""
            wanted = f"must be {max(lowest, 1) if lowest else 0}–{highest}{signs}"
            raise _refusal(f"{name}={item}", wanted)
        numbers.add(number)
    return tuple(sorted(numbers))


def _whole(setting: str, name: str, highest: int) -> int:
    number = int(setting) if NUMBER.fullmatch(setting) else 0
    if not 1 <= number <= highest:
        raise _refusal(f"{name}={setting}", f"must be 1–{highest}")
    return number


def _weekdays(settings: Given) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    plain, nth = set(), set()
    for item in settings["BYDAY"].split(",") if "BYDAY" in settings else ():
        found = WEEKDAY.fullmatch(item)
        number = int(found[1] or 0) if found else 0
        if found is None or abs(number) > 53 or (found[1] and not number):
            raise _refusal(f"BYDAY={item}", "expected days such as MO, 2TU or -1FR")
        weekday = WEEKDAYS.index(found[2])
        if number:
            nth.add((number, weekday))
        else:
            plain.add(weekday)
    return frozenset(plain), frozenset(nth)


def _check_parts(freq: Freq, settings: Given, *, nth: bool) -> None:
    """Reject combinations that the RFC forbids or leaves ambiguous."""
    unsupported = {
        "BYWEEKNO": freq is not Freq.YEARLY,
        "BYYEARDAY": freq in {Freq.MONTHLY, Freq.WEEKLY, Freq.DAILY},
        "BYMONTHDAY": freq is Freq.WEEKLY,
        "BYSETPOS": freq.sub_daily,
    }
    for name, is_unsupported in unsupported.items():
        if is_unsupported and name in settings:
            wanted = f"this combination is not supported; remove {name}"
            raise _refusal(f"{name} with FREQ={freq.name}", wanted)
    if nth and (freq not in {Freq.MONTHLY, Freq.YEARLY} or "BYWEEKNO" in settings):
        wanted = "numbered days require FREQ=MONTHLY or YEARLY, without BYWEEKNO"
        raise _refusal(f"BYDAY={settings['BYDAY']}", wanted)
    if "BYWEEKNO" in settings and "BYDAY" not in settings:
        raise _refusal(f"BYWEEKNO={settings['BYWEEKNO']}", "requires BYDAY, the days of that week")
    others = [name for name in settings if name.startswith("BY") and name != "BYSETPOS"]
    if "BYSETPOS" in settings and not others:
        raise _refusal(
            f"BYSETPOS={settings['BYSETPOS']}", "requires another BY part to select from"
        )


def _clock(freq: Freq, numbers: dict[str, tuple[int, ...]], moment: datetime) -> Clock:
    """Return hours, minutes and seconds. A missing unit is DTSTART's if it is finer than the
    frequency, otherwise all values.
    """
    hours = (moment.hour,) if freq < Freq.HOURLY else tuple(range(24))
    minutes = (moment.minute,) if freq < Freq.MINUTELY else tuple(range(60))
    seconds = (moment.second,) if freq < Freq.SECONDLY else tuple(range(60))
    return (
        numbers.get("BYHOUR", hours),
        numbers.get("BYMINUTE", minutes),
        numbers.get("BYSECOND", seconds),
    )


def _reachable(freq: Freq, interval: int, start: int, clock: Clock) -> Clock:
    """Drop values that INTERVAL never reaches: every 10 s from second 0 never hits second 5.

    Otherwise the search for a rule that never matches would test every second of eight years.
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
        wanted = "never reaches the given BYHOUR, BYMINUTE and BYSECOND from DTSTART"
        raise _refusal(f"INTERVAL={interval}", wanted)
    return hours, minutes, seconds


def _landing(
    values: tuple[int, ...], unit: int, low: set[int], base: int, cycle: int
) -> tuple[int, ...]:
    """Return the values that, combined with one of `low`, fall on the cycle."""
    return tuple(
        value for value in values if any((value * unit + rest - base) % cycle == 0 for rest in low)
    )


def _times(
    hours: tuple[int, ...], minutes: tuple[int, ...], seconds: tuple[int, ...]
) -> tuple[int, ...]:
    size = len(hours) * len(minutes) * len(seconds)
    if size > TIMES_LIMIT:
        wanted = (
            f"expected at most {TIMES_LIMIT} times a day; FREQ=MINUTELY and SECONDLY have no limit"
        )
        raise _refusal(f"{size} times a day", wanted)
    return tuple(h * 3600 + m * 60 + s for h, m, s in product(hours, minutes, seconds))


def _positions(freq: Freq, numbers: dict[str, tuple[int, ...]], times: int) -> tuple[int, ...]:
    """Return BYSETPOS without positions that are longer than any period."""
    positions = numbers.get("BYSETPOS", ())
    longest = PERIOD_DAYS.get(freq, 0) * times
    reachable = tuple(place for place in positions if abs(place) <= longest)
    if positions and not reachable:
        wanted = f"a {freq.name} period with {times} times a day has no such position"
        raise _refusal(f"BYSETPOS={positions[0]}", wanted)
    return reachable


def _fill_days(
    freq: Freq, settings: Given, numbers: dict[str, tuple[int, ...]], moment: datetime
) -> None:
    if freq > Freq.MONTHLY or any(name in settings for name in DAY_PARTS):
        return
    numbers["BYMONTHDAY"] = (moment.day,)
    if freq is Freq.YEARLY and "BYMONTH" not in settings:
        numbers["BYMONTH"] = (moment.month,)


def _default_weekday(freq: Freq, settings: Given, moment: datetime) -> frozenset[int]:
    if freq is Freq.WEEKLY and "BYDAY" not in settings:
        return frozenset({moment.weekday()})
    return frozenset()


def _week_start(settings: Given) -> int:
    setting = settings.get("WKST", "MO")
    if setting not in WEEKDAYS:
        raise _refusal(f"WKST={setting}", f"must be one of {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(setting)


def _refusal(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="rrule", value=value, wanted=wanted)

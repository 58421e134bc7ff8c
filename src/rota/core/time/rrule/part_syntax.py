"""Parses one RRULE value: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR`.

Checks names, numbers and which parts each frequency allows (RFC 5545, 3.3.10), and fills in missing
parts from DTSTART. This module does not handle dates or zones.
"""

import re
from datetime import datetime
from itertools import product
from math import gcd

from rota.core.errors import InvalidSchedule
from rota.core.time.rrule.rule import PERIOD_SECONDS, RruleFrequency, RrulePart
from rota.core.time.zones import from_wall_seconds

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
OTHER_PARTS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY")
# Eight years, the horizon of the search, in periods of each frequency.
INTERVAL_MAX = {
    RruleFrequency.YEARLY: 8,
    RruleFrequency.MONTHLY: 96,
    RruleFrequency.WEEKLY: 417,
    RruleFrequency.DAILY: 2922,
    RruleFrequency.HOURLY: 70_128,
    RruleFrequency.MINUTELY: 999_999,
    RruleFrequency.SECONDLY: 999_999,
}
LIST_VALUES_MAX = 366
PERIOD_DAYS = {
    RruleFrequency.YEARLY: 366,
    RruleFrequency.MONTHLY: 31,
    RruleFrequency.WEEKLY: 7,
    RruleFrequency.DAILY: 1,
}
TIMES_PER_DAY_MAX = 1440
DAY_PARTS = ("BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYDAY")

PartSettings = dict[str, str]
ClockValues = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def parse_part(value: str, start: int) -> tuple[RrulePart, str | None, int | None]:
    """Parse the value. Returns the part and the raw UNTIL and COUNT, which need the zone."""
    settings = _split(value)
    freq = _freq(settings)
    numbers = {name: _numbers(name, settings[name]) for name in RANGES if name in settings}
    plain, nth = _weekdays(settings)
    _check_parts(freq, settings, nth=bool(nth))
    if "COUNT" in settings and "UNTIL" in settings:
        raise _refusal("COUNT and UNTIL", "use COUNT or UNTIL, not both")
    moment = from_wall_seconds(start)
    interval = _whole(settings.get("INTERVAL", "1"), "INTERVAL", INTERVAL_MAX[freq])
    hours, minutes, seconds = _reachable(freq, interval, start, _clock(freq, numbers, moment))
    times = () if freq.is_sub_daily else _times(hours, minutes, seconds)
    _fill_days(freq, settings, numbers, moment)
    part = RrulePart(
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
        given_parts=frozenset(settings),
    )
    count = _whole(settings["COUNT"], "COUNT", 999_999) if "COUNT" in settings else None
    return part, settings.get("UNTIL"), count


def _split(value: str) -> PartSettings:
    settings: PartSettings = {}
    for item in value.upper().rstrip(";").split(";"):
        name, equals, setting = item.partition("=")
        if name not in RANGES and name not in OTHER_PARTS:
            raise _refusal(item, f"unknown part; known parts: {', '.join((*OTHER_PARTS, *RANGES))}")
        if not equals or not setting or name in settings:
            raise _refusal(item, f"expected {name}=… exactly once")
        settings[name] = setting
    return settings


def _freq(settings: PartSettings) -> RruleFrequency:
    try:
        return RruleFrequency[settings.get("FREQ", "")]
    except KeyError:
        wanted = f"FREQ must be one of {', '.join(freq.name for freq in RruleFrequency)}"
        raise _refusal(settings.get("FREQ", "FREQ"), wanted) from None


def _numbers(name: str, setting: str) -> tuple[int, ...]:
    lowest, highest = RANGES[name]
    items = setting.split(",")
    if len(items) > LIST_VALUES_MAX:
        raise _refusal(name, f"expected at most {LIST_VALUES_MAX} values")
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


def _weekdays(settings: PartSettings) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
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


def _check_parts(freq: RruleFrequency, settings: PartSettings, *, nth: bool) -> None:
    """Reject combinations that the RFC forbids or leaves ambiguous."""
    unsupported = {
        "BYWEEKNO": freq is not RruleFrequency.YEARLY,
        "BYYEARDAY": freq in {RruleFrequency.MONTHLY, RruleFrequency.WEEKLY, RruleFrequency.DAILY},
        "BYMONTHDAY": freq is RruleFrequency.WEEKLY,
        "BYSETPOS": freq.is_sub_daily,
    }
    for name, is_unsupported in unsupported.items():
        if is_unsupported and name in settings:
            wanted = f"this combination is not supported; remove {name}"
            raise _refusal(f"{name} with FREQ={freq.name}", wanted)
    if nth and (
        freq not in {RruleFrequency.MONTHLY, RruleFrequency.YEARLY} or "BYWEEKNO" in settings
    ):
        wanted = "numbered days require FREQ=MONTHLY or YEARLY, without BYWEEKNO"
        raise _refusal(f"BYDAY={settings['BYDAY']}", wanted)
    if "BYWEEKNO" in settings and "BYDAY" not in settings:
        raise _refusal(f"BYWEEKNO={settings['BYWEEKNO']}", "requires BYDAY, the days of that week")
    others = [name for name in settings if name.startswith("BY") and name != "BYSETPOS"]
    if "BYSETPOS" in settings and not others:
        raise _refusal(
            f"BYSETPOS={settings['BYSETPOS']}", "requires another BY part to select from"
        )


def _clock(
    freq: RruleFrequency, numbers: dict[str, tuple[int, ...]], moment: datetime
) -> ClockValues:
    """Return hours, minutes and seconds. A missing unit is DTSTART's if it is finer than the
    frequency, otherwise all values.
    """
    hours = (moment.hour,) if freq < RruleFrequency.HOURLY else tuple(range(24))
    minutes = (moment.minute,) if freq < RruleFrequency.MINUTELY else tuple(range(60))
    seconds = (moment.second,) if freq < RruleFrequency.SECONDLY else tuple(range(60))
    return (
        numbers.get("BYHOUR", hours),
        numbers.get("BYMINUTE", minutes),
        numbers.get("BYSECOND", seconds),
    )


def _reachable(freq: RruleFrequency, interval: int, start: int, clock: ClockValues) -> ClockValues:
    """Drop values that INTERVAL never reaches: every 10 s from second 0 never hits second 5.

    Otherwise the search for a rule that never matches would test every second of eight years.
    """
    if not freq.is_sub_daily:
        return clock
    hours, minutes, seconds = clock
    step = interval * PERIOD_SECONDS[freq]
    base = start // PERIOD_SECONDS[freq] * PERIOD_SECONDS[freq]
    whole = gcd(step, 86_400)
    low = {0}
    if freq is RruleFrequency.SECONDLY:
        seconds = tuple(s for s in seconds if (s - base) % gcd(step, 60) == 0)
        low = {s % whole for s in seconds}
    if freq is not RruleFrequency.HOURLY:
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
    if size > TIMES_PER_DAY_MAX:
        wanted = (
            f"expected at most {TIMES_PER_DAY_MAX} times a day; "
            "FREQ=MINUTELY and SECONDLY have no limit"
        )
        raise _refusal(f"{size} times a day", wanted)
    return tuple(h * 3600 + m * 60 + s for h, m, s in product(hours, minutes, seconds))


def _positions(
    freq: RruleFrequency, numbers: dict[str, tuple[int, ...]], times: int
) -> tuple[int, ...]:
    """Return BYSETPOS without positions that are longer than any period."""
    positions = numbers.get("BYSETPOS", ())
    longest = PERIOD_DAYS.get(freq, 0) * times
    reachable = tuple(place for place in positions if abs(place) <= longest)
    if positions and not reachable:
        wanted = f"a {freq.name} period with {times} times a day has no such position"
        raise _refusal(f"BYSETPOS={positions[0]}", wanted)
    return reachable


def _fill_days(
    freq: RruleFrequency,
    settings: PartSettings,
    numbers: dict[str, tuple[int, ...]],
    moment: datetime,
) -> None:
    if freq > RruleFrequency.MONTHLY or any(name in settings for name in DAY_PARTS):
        return
    numbers["BYMONTHDAY"] = (moment.day,)
    if freq is RruleFrequency.YEARLY and "BYMONTH" not in settings:
        numbers["BYMONTH"] = (moment.month,)


def _default_weekday(
    freq: RruleFrequency, settings: PartSettings, moment: datetime
) -> frozenset[int]:
    if freq is RruleFrequency.WEEKLY and "BYDAY" not in settings:
        return frozenset({moment.weekday()})
    return frozenset()


def _week_start(settings: PartSettings) -> int:
    setting = settings.get("WKST", "MO")
    if setting not in WEEKDAYS:
        raise _refusal(f"WKST={setting}", f"must be one of {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(setting)


def _refusal(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="rrule", value=value, wanted=wanted)

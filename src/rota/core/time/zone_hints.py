"""Suggests a correct zone name for an invalid one.

Users write abbreviations, offsets and "local" for zones. The closest name in the list would mislead
them: `CEST` is not `EST`, and `GMT+2` is `Etc/GMT-2`, whose sign is reversed.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

ZONE_EXPECTED = "expected an IANA time zone name such as Europe/Berlin"
CLOSE_MATCH_CUTOFF = 0.75
OFFSET = re.compile(r"(?:UTC|GMT|Z)?([+-])(\d{1,2})(?::?(\d\d))?", re.ASCII)
# The range of the Etc zones.
EAST_MAX, WEST_MAX = 14, 12
HOUR_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen"),
)
LOCAL_ZONE_NAMES = frozenset({"LOCAL", "LOCALTIME", "SYSTEM", "DEFAULT", "HOST"})
SEASONAL_ABBREVIATIONS = {
    "AEDT": "Australia/Sydney",
    "AEST": "Australia/Sydney",
    "BST": "Europe/London",
    "CDT": "America/Chicago",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago",
    "EDT": "America/New_York",
    "EEST": "Europe/Helsinki",
    "MDT": "America/Denver",
    "NZDT": "Pacific/Auckland",
    "NZST": "Pacific/Auckland",
    "PDT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
    "WEST": "Europe/Lisbon",
}
CONSTANT_ABBREVIATIONS = {"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MSK": "Europe/Moscow"}


def describe_expected_zone(name: str, known: Iterable[str]) -> str:
    """Return what a zone must be, and what to use instead of this name."""
    advice = _advice(name.strip())
    if advice is not None:
        return f"{ZONE_EXPECTED}; {advice}"
    by_lower = {zone.lower(): zone for zone in known}
    close = get_close_matches(name.strip().lower(), by_lower, n=1, cutoff=CLOSE_MATCH_CUTOFF)
    return f"{ZONE_EXPECTED}; did you mean {by_lower[close[0]]}?" if close else ZONE_EXPECTED


def _advice(name: str) -> str | None:
    upper = name.upper()
    if upper == "FACTORY":
        return "Factory is a placeholder, not a zone; use UTC or the zone of a place"
    if upper == "Z":
        return "use UTC instead of Z"
    if upper in LOCAL_ZONE_NAMES:
        return "the machine's zone is never used; name the zone"
    if upper in SEASONAL_ABBREVIATIONS:
        return f"{name} applies to part of the year only; use {SEASONAL_ABBREVIATIONS[upper]}"
    if upper in CONSTANT_ABBREVIATIONS:
        return f"{name} is an abbreviation; use {CONSTANT_ABBREVIATIONS[upper]}"
    found = OFFSET.fullmatch(upper)
    return None if found is None else _about_offset(found)


def _about_offset(found: re.Match[str]) -> str:
    sign, hours, minutes = found[1], int(found[2]), int(found[3] or 0)
    if hours == minutes == 0:
        return "use UTC for a zero offset"
    limit = EAST_MAX if sign == "+" else WEST_MAX
    if minutes or hours > limit:
        return "an offset is not a zone; use the zone of a place, such as Asia/Kolkata"
    direction, reversed_sign = ("ahead of", "-") if sign == "+" else ("behind", "+")
    unit = "hour" if hours == 1 else "hours"
    return (
        f"{HOUR_WORDS[hours]} {unit} {direction} UTC is Etc/GMT{reversed_sign}{hours} all year;"
        " the zone of a place also follows daylight saving time"
    )

"""Says what to write where something was written that is no time zone. Room: core/time.

People write abbreviations, offsets and "local" for zones. The nearest name in the list misleads
there: `CEST` is not `EST`, and `GMT+2` is `Etc/GMT-2`, whose sign is the other way round.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

WANTED = "an IANA zone name such as Europe/Berlin"
CLOSE = 0.75
OFFSET = re.compile(r"(?:UTC|GMT|Z)?([+-])(\d{1,2})(?::?(\d\d))?", re.ASCII)
# As far as the Etc zones go.
EAST_MAX, WEST_MAX = 14, 12
HOURS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen"),
)
MACHINE = frozenset({"LOCAL", "LOCALTIME", "SYSTEM", "DEFAULT", "HOST"})
SEASONAL = {
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
CONSTANT = {"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MSK": "Europe/Moscow"}


def describe_wanted(name: str, known: Iterable[str]) -> str:
    """Say what is allowed for a zone, and what to write instead of this name."""
    advice = _advice(name.strip())
    if advice is not None:
        return f"{WANTED}; {advice}"
    by_lower = {zone.lower(): zone for zone in known}
    close = get_close_matches(name.strip().lower(), by_lower, n=1, cutoff=CLOSE)
    return f"{WANTED}; did you mean {by_lower[close[0]]}?" if close else WANTED


def _advice(name: str) -> str | None:
    upper = name.upper()
    if upper == "FACTORY":
        return "Factory is a placeholder without a time; write UTC or the zone of a place"
    if upper == "Z":
        return "for Z write UTC"
    if upper in MACHINE:
        return "the zone of the machine is not used: write its name"
    if upper in SEASONAL:
        return f"{name} is an abbreviation for a part of the year; write {SEASONAL[upper]}"
    if upper in CONSTANT:
        return f"{name} is an abbreviation; write {CONSTANT[upper]}"
    found = OFFSET.fullmatch(upper)
    return None if found is None else _about_offset(found)


def _about_offset(found: re.Match[str]) -> str:
    sign, hours, minutes = found[1], int(found[2]), int(found[3] or 0)
    if hours == minutes == 0:
        return "for an offset of zero write UTC"
    limit = EAST_MAX if sign == "+" else WEST_MAX
    if minutes or hours > limit:
        return "an offset is no zone: write the zone of the place, such as Asia/Kolkata"
    way, other = ("ahead of", "-") if sign == "+" else ("behind", "+")
    unit = "hour" if hours == 1 else "hours"
    return (
        f"{HOURS[hours]} {unit} {way} UTC is Etc/GMT{other}{hours}, always;"
        " the zone of a place has its summer time too"
    )

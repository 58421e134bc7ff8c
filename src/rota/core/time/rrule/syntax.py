"""Parses the text of a recurrence rule.

Accepts DTSTART, RRULE, RDATE and EXDATE lines (or a bare `FREQ=…`), checks them against the RFC,
fills in defaults from DTSTART, and writes the canonical text. It rejects, with the reason, rules
that would be slow to search or ambiguous.
"""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time.rrule.days import EPOCH_DAY
from rota.core.time.rrule.part_syntax import parse_part
from rota.core.time.rrule.rule import Rrule, RrulePart
from rota.core.time.rrule.search import find_next_local, iterate_times
from rota.core.time.zones import from_wall_seconds, to_wall_seconds

RRULE_CHARACTERS_MAX = 8192
RRULE_DATES_MAX = 512
RRULE_COUNT_MAX = 1000
# How far COUNT may reach from DTSTART: its occurrences must be counted from there.
COUNT_YEARS, COUNT_YEARS_SUB_DAILY = 30, 2
DATE_EXAMPLES = "20300131T090000, 20300131T090000Z or 20300131"


@dataclass(frozen=True, slots=True)
class IcalLine:
    name: str
    zone: str | None
    value: str


@dataclass(frozen=True, slots=True)
class IcalStamp:
    """A date or a date with time; `utc` if it ends in Z."""

    moment: datetime
    utc: bool
    whole_day: bool

    def local(self, zone: ZoneInfo) -> int:
        if not self.utc:
            return to_wall_seconds(self.moment)
        return to_wall_seconds(self.moment.replace(tzinfo=UTC).astimezone(zone))


def read_timezone(text: str) -> str | None:
    """Return the zone that the text names: DTSTART's TZID, or UTC for a DTSTART in Z."""
    for line in _lines(text):
        if line.name == "DTSTART":
            return "UTC" if _stamp(line.value).utc else line.zone
    return None


def parse_rrule(text: str, *, zone: ZoneInfo, start: datetime | None = None) -> Rrule:
    """Parse the rule; `start` (naive, local) is the default for DTSTART."""
    return _parse(text, zone, start)


# COUNT is resolved here; the cache avoids repeating it for the few rules that a node uses.
@lru_cache(maxsize=1024)
def _parse(text: str, zone: ZoneInfo, start: datetime | None) -> Rrule:
    lines = _lines(text)
    first = _start(lines, zone, start)
    value = _rule_value(text, lines)
    part = None if value is None else _part(value, zone, first)
    dates = _stamps(lines, "RDATE")
    excluded = _stamps(lines, "EXDATE")
    if len(dates) + len(excluded) > RRULE_DATES_MAX:
        raise _refusal(text, f"expected at most {RRULE_DATES_MAX} dates in RDATE and EXDATE")
    rule = Rrule(
        text="",
        start=first,
        part=part,
        dates=tuple(sorted({_with_time(stamp, zone, first) for stamp in dates})),
        excluded=frozenset(stamp.local(zone) for stamp in excluded if not stamp.whole_day),
        excluded_days=frozenset(
            stamp.moment.toordinal() - EPOCH_DAY for stamp in excluded if stamp.whole_day
        ),
    )
    if find_next_local(rule, first) is None:
        raise _refusal(text, "no date matches within 8 years of DTSTART")
    return replace(rule, text=_canonical(rule, value, zone))


def _lines(text: str) -> list[IcalLine]:
    if not text.strip():
        raise _refusal(text, "expected RFC 5545 text such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
    if len(text) > RRULE_CHARACTERS_MAX:
        raise _refusal(text, f"expected at most {RRULE_CHARACTERS_MAX} characters")
    # A line that starts with a space continues the previous one (RFC 5545, 3.1).
    unfolded = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
    return [_line(line.strip()) for line in unfolded.split("\n") if line.strip()]


def _line(text: str) -> IcalLine:
    head, colon, value = text.partition(":")
    if not colon:
        head, value = "RRULE", text
    name, *parameters = head.split(";")
    name = name.upper()
    if name not in {"DTSTART", "RRULE", "RDATE", "EXDATE"}:
        raise _refusal(text, "expected DTSTART, RRULE, RDATE and EXDATE lines")
    zone = None
    for parameter in parameters:
        key, _, setting = parameter.partition("=")
        if key.upper() == "TZID":
            zone = setting
        elif parameter.upper() not in {"VALUE=DATE", "VALUE=DATE-TIME"}:
            raise _refusal(text, "the only parameters are TZID, VALUE=DATE and VALUE=DATE-TIME")
    return IcalLine(name, zone, value.strip())


def _start(lines: list[IcalLine], zone: ZoneInfo, start: datetime | None) -> int:
    starts = [line for line in lines if line.name == "DTSTART"]
    if len(starts) > 1:
        raise _refusal(starts[1].value, "expected one DTSTART")
    for line in lines:
        if line.zone is not None and line.zone != zone.key:
            raise _refusal(line.zone, f"TZID must be the schedule's timezone, {zone.key}")
    if starts:
        local = _stamp(starts[0].value).local(zone)
    elif start is not None:
        local = to_wall_seconds(start)
    else:
        raise _refusal("", "expected a DTSTART line, because the schedule has no other start")
    if local < 0:
        raise _refusal(starts[0].value if starts else str(start), "DTSTART must not be before 1970")
    return local


def _rule_value(text: str, lines: list[IcalLine]) -> str | None:
    values = [line.value for line in lines if line.name == "RRULE"]
    if len(values) > 1:
        raise _refusal(text, "expected one RRULE line; to combine rules, use a list of texts")
    if not values and not any(line.name == "RDATE" for line in lines):
        raise _refusal(text, "expected an RRULE or RDATE line")
    return values[0] if values else None


def _part(value: str, zone: ZoneInfo, start: int) -> RrulePart:
    part, until, count = parse_part(value, start)
    if until is not None:
        stamp = _stamp(until)
        last = stamp.local(zone) + (86_399 if stamp.whole_day else 0)
        return replace(part, until=last)
    return part if count is None else replace(part, until=_count_out(value, part, count))


def _count_out(value: str, part: RrulePart, count: int) -> int:
    """Return the local time of the last of `count` occurrences."""
    if count > RRULE_COUNT_MAX:
        wanted = (
            f"COUNT must be at most {RRULE_COUNT_MAX}; use UNTIL or the window's max_runs for more"
        )
        raise _refusal(value, wanted)
    years = COUNT_YEARS_SUB_DAILY if part.freq.is_sub_daily else COUNT_YEARS
    found = iterate_times(part, part.start, horizon=years * 366)
    last = next(islice(found, count - 1, None), None)
    if last is None:
        raise _refusal(value, f"COUNT must be reached within {years} years; use UNTIL instead")
    return last


def _stamps(lines: list[IcalLine], name: str) -> list[IcalStamp]:
    return [_stamp(item) for line in lines if line.name == name for item in line.value.split(",")]


def _stamp(text: str) -> IcalStamp:
    value = text.strip().upper()
    utc = value.endswith("Z")
    digits = value.removesuffix("Z")
    whole_day = len(digits) == 8
    well_formed = (
        digits.isascii() and digits.replace("T", "", 1).isdigit() and not (whole_day and utc)
    )
    if not well_formed or len(digits) not in {8, 15} or (not whole_day and digits[8] != "T"):
        raise _refusal(text, f"expected a date or time such as {DATE_EXAMPLES}")
    try:
        moment = datetime.fromisoformat(digits)
    except ValueError:
        raise _refusal(text, f"no such date; expected a date such as {DATE_EXAMPLES}") from None
    return IcalStamp(moment, utc, whole_day)


def _with_time(stamp: IcalStamp, zone: ZoneInfo, start: int) -> int:
    """Return the local time; an RDATE without a time uses DTSTART's."""
    return stamp.local(zone) + (start % 86_400 if stamp.whole_day else 0)


def _canonical(rule: Rrule, value: str | None, zone: ZoneInfo) -> str:
    lines = [f"DTSTART:{_write(rule.start)}"]
    if value is not None:
        lines.append(f"RRULE:{_local_until(value.upper(), zone)}")
    if rule.dates:
        lines.append("RDATE:" + ",".join(map(_write, rule.dates)))
    excluded = [_write(local) for local in sorted(rule.excluded)]
    excluded += [
        f"{date.fromordinal(day + EPOCH_DAY):%Y%m%d}" for day in sorted(rule.excluded_days)
    ]
    if excluded:
        lines.append("EXDATE:" + ",".join(excluded))
    return "\n".join(lines)


def _local_until(value: str, zone: ZoneInfo) -> str:
    items = value.split(";")
    for place, item in enumerate(items):
        if item.startswith("UNTIL=") and item.endswith("Z"):
            items[place] = "UNTIL=" + _write(_stamp(item.removeprefix("UNTIL=")).local(zone))
    return ";".join(items)


def _write(local: int) -> str:
    return f"{from_wall_seconds(local):%Y%m%dT%H%M%S}"


def _refusal(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="rrule", value=value, wanted=wanted)

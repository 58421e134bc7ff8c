"""Parses a cron expression.

Splits the text into fields, combines them, and rejects an expression that could never fire. Each
error names the field, the invalid part and the allowed values.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from rota.core.errors import InvalidSchedule, shorten_value
from rota.core.time import zones
from rota.core.time.cron import fields
from rota.core.time.cron.days import can_fire, compute_day_masks
from rota.core.time.cron.expression import Cron, DayMatch
from rota.core.time.cron.field_syntax import InvalidCronPart, parse_field
from rota.core.time.cron.fields import DAY, WEEKDAY, WEEKDAYS, CronField, FieldValue
from rota.core.time.cron.hashing import stable_number, uses_hash

CRON_CHARACTERS_MAX = 256
# An error quotes a longer number like any other text.
SHOWN_DIGITS_MAX = 8
CRON_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
ZONE_PREFIXES = ("CRON_TZ=", "TZ=")
UNSUPPORTED_ALIASES = {
    "@reboot": "not supported; submit the job from a boot script, such as a systemd unit",
    "@every": "an interval, not a cron expression; use it as the schedule itself: @every 90s",
    "@at": "a single time, not a cron expression; use it as the schedule itself: "
    "@at 2030-01-31T09:00:00Z",
}
STANDARD_FIELDS = (fields.MINUTE, fields.HOUR, fields.DAY, fields.MONTH, fields.WEEKDAY)
FIELD_LAYOUTS = {
    5: STANDARD_FIELDS,
    6: (fields.SECOND, *STANDARD_FIELDS),
    7: (fields.SECOND, *STANDARD_FIELDS, fields.YEAR),
}
# The days on which a weekday is the first, second … of its month, after a step that is longer than
# the range: the step makes the field start with a star.
NTH_TRICK = re.compile(r"\*/\d+,(\d+-\d+)", re.ASCII)
NTH_WEEKS = {"1-7": 1, "8-14": 2, "15-21": 3, "22-28": 4}
ON_THE_MINUTE = FieldValue(
    fields.SECOND, (fields.ValueRange(0, 0),), 1, 0, has_star=False, is_even=False
)


def parse_cron(text: str, *, seed: str = "", day_match: DayMatch = DayMatch.ANY) -> Cron:
    """Parse a cron expression; `seed` (tenant and job name) determines the values of an `H`."""
    if len(text) > CRON_CHARACTERS_MAX:
        raise _cron_error(text, f"expected at most {CRON_CHARACTERS_MAX} characters")
    # Only an H needs the seed; without one, all jobs with the same expression share a cache entry.
    return _parse(text, seed if uses_hash(text) else "", day_match)


# Large enough for the expressions of a busy node; a miss costs some 40 microseconds.
@lru_cache(maxsize=4096)
def _parse(text: str, seed: str, day_match: DayMatch) -> Cron:
    if not text.isascii():
        raise _cron_error(text, "expected ASCII characters only")
    words = text.split()
    timezone = _take_zone(words)
    expression = " ".join(words)
    words = _expand_alias(text, expression).upper().split()
    if len(words) not in FIELD_LAYOUTS:
        raise _cron_error(text, _describe_field_count(len(words)))
    layout = FIELD_LAYOUTS[len(words)]
    by_field = dict(zip(layout, words, strict=True))
    values = [_read(text, field, by_field, seed) for field in layout]
    if len(words) == len(STANDARD_FIELDS):
        values.insert(0, ON_THE_MINUTE)
    return _combine(text, expression, timezone, _check_day_match(day_match), values)


def _take_zone(words: list[str]) -> str | None:
    """Remove a leading `CRON_TZ=` and return its zone, which must exist."""
    for prefix in ZONE_PREFIXES:
        if words and words[0].startswith(prefix):
            name = words.pop(0).removeprefix(prefix)
            zones.get_zone(name)
            return name
    return None


def _expand_alias(text: str, expression: str) -> str:
    if not expression.startswith("@"):
        return expression
    name = expression.split(maxsplit=1)[0].lower()
    if name in UNSUPPORTED_ALIASES:
        raise _cron_error(text, f"{name} is {UNSUPPORTED_ALIASES[name]}")
    if expression.lower() not in CRON_ALIASES:
        raise _cron_error(text, f"unknown alias; known aliases: {', '.join(CRON_ALIASES)}")
    return CRON_ALIASES[expression.lower()]


def _describe_field_count(count: int) -> str:
    return (
        f"expected 5 fields (minute, hour, day-of-month, month, day-of-week), 6 with seconds"
        f" first, or 7 with seconds first and years last (got {count})"
    )


def _check_day_match(day_match: str) -> DayMatch:
    try:
        return DayMatch(day_match)
    except ValueError:
        raise InvalidSchedule(
            field="day_match", value=day_match, wanted="expected any or all"
        ) from None


def _read(text: str, field: CronField, words: Mapping[CronField, str], seed: str) -> FieldValue:
    try:
        return parse_field(field, words[field], partial(stable_number, seed))
    except InvalidCronPart as problem:
        nth_weekday = _nth_weekday(words) if field is DAY else None
        rule, semicolon, advice = (nth_weekday or problem.wanted).partition(";")
        is_number = problem.part.isdigit() and len(problem.part) <= SHOWN_DIGITS_MAX
        part = problem.part if is_number else shorten_value(problem.part)
        raise _cron_error(text, f"{field.name} {rule} (got {part}){semicolon}{advice}") from None


def _nth_weekday(words: Mapping[CronField, str]) -> str | None:
    """Return what to write instead of `*/100,1-7 * MON`, a common trick for the first Monday."""
    found = NTH_TRICK.fullmatch(words[DAY])
    weekday = words[WEEKDAY]
    if weekday.isdigit() and int(weekday) <= WEEKDAY.top:
        weekday = WEEKDAYS[int(weekday) % len(WEEKDAYS)]
    if found is None or weekday not in WEEKDAYS:
        return None
    week = NTH_WEEKS.get(found[1])
    if week is None:
        return None
    return f"step must not exceed its range; write {weekday}#{week} as day-of-week and * here"


def _combine(
    text: str,
    expression: str,
    timezone: str | None,
    day_match: DayMatch,
    values: list[FieldValue],
) -> Cron:
    second, minute, hour, day, month, weekday, *rest = values
    # crontab(5): a day field that starts with a star (`*/2` too) does not restrict, and the other
    # one must match. Only two restricted fields are alternatives.
    either = day_match is DayMatch.ANY and not (day.has_star or weekday.has_star)
    masks = compute_day_masks(day, weekday, either=either)
    year = rest[0] if rest else None
    if not can_fire(masks, month.values, year.values if year else None):
        raise _cron_error(text, "no date matches, so the schedule would never fire")
    return Cron(
        text=expression,
        timezone=timezone,
        day_match=day_match,
        interval_like=second.is_even or minute.is_even or hour.is_full,
        second=second,
        minute=minute,
        hour=hour,
        day=day,
        month=month,
        weekday=weekday,
        year=year,
        either_day=either,
        day_masks=masks,
    )


def _cron_error(text: str, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="cron", value=text, wanted=wanted)

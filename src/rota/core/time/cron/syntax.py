"""Parses a cron expression.

Splits the text into fields, combines them, and rejects an expression that could never fire. Each
error names the field, the invalid part and the allowed values.

Parses one field of a cron expression into parts and a mask.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from rota.core.errors import InvalidSchedule, shorten_value
from rota.core.time import zones
from rota.core.time.cron import fields
from rota.core.time.cron.expression import Cron, DayMatch
from rota.core.time.cron.fields import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    CronField,
    CronPart,
    FieldValue,
    FromEnd,
    LastWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    ValueRange,
    can_fire,
    compute_day_masks,
)
from rota.core.time.cron.hashing import stable_number, uses_hash

FIELD_PARTS_MAX = 64
STARS = ("*", "?")
FROM_END = re.compile("L-(0?[1-9]|[12][0-9]|30)")
NEAREST_WORKDAY = re.compile("(0?[1-9]|[12][0-9]|3[01])W")
HashFunction = Callable[[CronField], int]
FULL_FIELDS = {
    field: FieldValue(
        field,
        (ValueRange(field.low, field.high),),
        (1 << field.size) - 1,
        0,
        has_star=True,
        is_even=True,
    )
    for field in (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR)
}


class InvalidCronPart(Exception):
    """A part that cannot be parsed.

    `wanted` continues a sentence that starts with the field's name: "must be 0–59". Advice may
    follow after a semicolon.
    """

    def __init__(self, part: str, wanted: str) -> None:
        super().__init__(part, wanted)
        self.part = part
        self.wanted = wanted


def parse_field(field: CronField, text: str, hash_field: HashFunction) -> FieldValue:
    """Parse one field; `hashed` returns the stable number behind an `H`."""
    if text in STARS:
        return FULL_FIELDS[field]
    items = text.split(",")
    if len(items) > FIELD_PARTS_MAX:
        raise InvalidCronPart(text, f"must have at most {FIELD_PARTS_MAX} comma-separated parts")
    parts = tuple(_read_part(field, item, hash_field) for item in items)
    mask = 0
    for part in parts:
        if isinstance(part, ValueRange):
            mask |= _mask(field, part)
    lowest = (mask & -mask).bit_length() - 1
    even = mask == FULL_FIELDS[field].mask or _is_even(field, items, parts)
    return FieldValue(field, parts, mask, lowest, text[0] in STARS, even)


def _is_even(field: CronField, items: list[str], parts: tuple[CronPart, ...]) -> bool:
    """Return whether the text steps evenly through the whole range: `*/n`, `H/n`, or `*/n` spelled
    out (`0/n`, `0-59/n`).
    """
    match parts:
        case (ValueRange(first=first, last=last),):
            return items[0].startswith("H/") or (first == field.low and last == field.high)
        case _:
            return False


def _mask(field: CronField, part: ValueRange) -> int:
    first, last = part.first, part.last
    if last < first:
        last += field.size
    elif part.step == 1 and last <= field.high:
        return (1 << last + 1 - field.low) - (1 << first - field.low)
    mask = 0
    for value in range(first, last + 1, part.step):
        mask |= 1 << (value - field.low) % field.size
    return mask


def _read_part(field: CronField, text: str, hashed: HashFunction) -> CronPart:
    if text in STARS:
        return ValueRange(field.low, field.high)
    if text.isdigit():
        return _one(field, text)
    if text[:1] == "H":
        return _read_hash(field, text, hashed)
    if field is DAY and ("L" in text or "W" in text):
        return _read_day(text)
    if field is WEEKDAY and ("#" in text or text[-1:] == "L"):
        return _read_weekday(text)
    return _read_range(field, text)


def _one(field: CronField, text: str) -> ValueRange:
    value = _number(field, text, text)
    return ValueRange(value % 7, value % 7) if field is WEEKDAY else ValueRange(value, value)


def _number(field: CronField, text: str, part: str) -> int:
    if text.isdigit() and len(text) <= 4 and field.low <= int(text) <= field.top:
        return int(text)
    if text in field.names:
        return field.names[text]
    raise InvalidCronPart(part, f"must be {field.allowed_values}")


def _read_range(field: CronField, text: str) -> ValueRange:
    body, slash, step_text = text.partition("/")
    if body in STARS:
        first, last = field.low, field.high
    else:
        left, dash, right = body.partition("-")
        first = _number(field, left, text)
        last = _number(field, right, text) if dash else (field.high if slash else first)
        if last < first and not field.wraps:
            raise InvalidCronPart(text, _no_wrap(field, first, last))
    span = ValueRange(first, last)
    if not slash:
        return span
    return ValueRange(first, last, _step(field, text, step_text, count=_count(field, span)))


def _count(field: CronField, span: ValueRange) -> int:
    wrapped = field.size if span.last < span.first else 0
    return span.last - span.first + wrapped + 1


def _no_wrap(field: CronField, first: int, last: int) -> str:
    wrapped = f"{first}-{field.high},{field.low}-{last}"
    return f"range must ascend; to wrap around, write {wrapped}"


def _step(field: CronField, part: str, text: str, *, count: int) -> int:
    if not text.isdigit() or len(text) > 4 or int(text) == 0:
        raise InvalidCronPart(part, "step must be a whole number of at least 1")
    step = int(text)
    if step > count:
        raise InvalidCronPart(part, _too_long(field, step, count))
    return step


def _too_long(field: CronField, step: int, count: int) -> str:
    rule = f"step must be at most {count}, the number of values in its range"
    unit = {SECOND: "s", MINUTE: "m", HOUR: "h"}.get(field)
    if unit is not None and count == field.size:
        return f"{rule}; for every {step} {field.name}s use @every {step}{unit}"
    return f"{rule}; for a single value, write the first value alone"


def _read_hash(field: CronField, text: str, hashed: HashFunction) -> ValueRange:
    """Parse `H`, `H/15`, `H(0-29)` or `H(0-29)/10`: a stable value derived from the schedule."""
    if field is YEAR:
        raise InvalidCronPart(text, "does not support H")
    body, slash, step_text = text.partition("/")
    low, high = _hash_range(field, body, text)
    if body == "H" and field is DAY and not slash:
        high = 28  # every month has 28 days: a hashed day must not skip a month
    count = high - low + 1
    if not slash:
        value = low + hashed(field) % count
        return ValueRange(value, value)
    step = _step(field, text, step_text, count=count)
    return ValueRange(low + hashed(field) % step, high, step)


def _hash_range(field: CronField, body: str, part: str) -> tuple[int, int]:
    if body == "H":
        return field.low, field.high
    left, dash, right = body[2:-1].partition("-")
    if not (body.startswith("H(") and body.endswith(")") and dash):
        raise InvalidCronPart(part, "must be H, H/15, H(0-29) or H(0-29)/10")
    low, high = _number(field, left, part), _number(field, right, part)
    if high < low:
        raise InvalidCronPart(part, "must be H(low-high) with an ascending range")
    return low, high


def _read_day(text: str) -> CronPart:
    if text == "L":
        return FromEnd(0)
    if text == "LW":
        return LastWorkday()
    if found := FROM_END.fullmatch(text):
        return FromEnd(int(found[1]))
    if found := NEAREST_WORKDAY.fullmatch(text):
        return NearestWorkday(int(found[1]))
    raise InvalidCronPart(text, "must be L, LW, L-1 to L-30, or 1W to 31W")


def _read_weekday(text: str) -> CronPart:
    if text == "L":
        raise InvalidCronPart(
            text, "must have a weekday before L, as in FRIL; for Saturday, write SAT"
        )
    if text.endswith("L"):
        return LastWeekday(_number(WEEKDAY, text[:-1], text) % 7)
    name, _, nth = text.partition("#")
    if nth not in ("1", "2", "3", "4", "5"):
        raise InvalidCronPart(text, "must have a number from 1 to 5 after #")
    return NthWeekday(_number(WEEKDAY, name, text) % 7, int(nth))


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

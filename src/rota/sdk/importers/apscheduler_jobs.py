"""Imports the jobs of an APScheduler 3 scheduler.

Rota does not depend on APScheduler: triggers are recognised by their attributes. It differs from
cron in three ways: a week begins with Monday = 0, all fields must match, and the day field may name
weekdays (`last fri`, `2nd mon`).
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.importers.python_calls import build_call_payload
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText

SCHEDULER_EXPECTED: Final = "expected a scheduler of APScheduler 3, with a get_jobs() method"
WEEKDAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
NTH_WEEKDAY: Final = re.compile(r"(1st|2nd|3rd|4th|5th|last)\s+([a-z]{3})", re.IGNORECASE)
WEEKDAY_RANGE: Final = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?")
START_DEADLINE_MIN: Final = timedelta(seconds=30)


def import_scheduler(scheduler: Any, place: str, now: datetime) -> ImportedJobs:
    """Import the jobs of a scheduler, started or not."""
    get_jobs = getattr(scheduler, "get_jobs", None)
    if not callable(get_jobs):
        raise InvalidInput("place", place, SCHEDULER_EXPECTED)
    found = ImportedJobs(now=now)
    for job in get_jobs():
        where = f"{place} {getattr(job, 'id', '?')!r}"
        try:
            found.jobs.append(_job(job, found, where))
        except InvalidInput as error:
            found.skip_entry(where, error.wanted)
    return found


def _job(job: Any, found: ImportedJobs, where: str) -> ManifestJobText:
    body: dict[str, Any] = {
        "kind": str(getattr(job, "func_ref", None) or job.name),
        "schedule": found.check_schedule({**convert_trigger(job.trigger), **_misfire(job)}),
        "overlap": "allow" if (getattr(job, "max_instances", 1) or 1) > 1 else "skip",
    }
    payload = build_call_payload(getattr(job, "args", None), getattr(job, "kwargs", None))
    if payload:
        body["payload"] = payload
    if getattr(job, "args", None):
        found.add_note(where, "positional arguments become args in the payload, named ones kwargs")
    if getattr(job, "next_run_time", moments) is None:
        body["paused"] = True
    id_ = str(getattr(job, "id", ""))
    # A random id makes a poor name.
    return ManifestJobText(
        found.claim_name(job.name if re.fullmatch(r"[0-9a-f]{32}", id_) else id_), body
    )


def _misfire(job: Any) -> dict[str, Any]:
    misfire: dict[str, Any] = {}
    if getattr(job, "coalesce", True) is False:
        misfire["on_outage"] = "all"
    grace = getattr(job, "misfire_grace_time", None)
    if isinstance(grace, int | float):
        length = max(timedelta(seconds=grace), START_DEADLINE_MIN)
        misfire["start_deadline"] = durations.to_iso(length)
    return {"misfire": misfire} if misfire else {}


def convert_trigger(trigger: Any) -> dict[str, Any]:
    """Convert a cron, interval or date trigger to a schedule."""
    if hasattr(trigger, "fields") and hasattr(trigger, "timezone"):
        return _cron(trigger)
    if isinstance(getattr(trigger, "interval", None), timedelta):
        anchor = moments.to_rfc3339(_aware(trigger.start_date).replace(microsecond=0))
        every = {"interval": durations.to_iso(trigger.interval), "anchor": anchor}
        return {"every": every, **_bounds(trigger, start=False)}
    if hasattr(trigger, "run_date"):
        return {"at": moments.to_rfc3339(_aware(trigger.run_date))}
    known = "supported are cron, interval and date triggers"
    raise InvalidInput("trigger", str(trigger), f"unknown {type(trigger).__name__}; {known}")


def _aware(moment: Any) -> datetime:
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInput("trigger", moment, "expected a time with a time zone")
    return moment


def _bounds(trigger: Any, *, start: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    window = {}
    if start and getattr(trigger, "start_date", None) is not None:
        window["start"] = moments.to_rfc3339(_aware(trigger.start_date))
    if getattr(trigger, "end_date", None) is not None:
        window["end"] = moments.to_rfc3339(_aware(trigger.end_date))
    if window:
        plain["window"] = window
    if getattr(trigger, "jitter", None):
        plain["jitter"] = durations.to_iso(timedelta(seconds=trigger.jitter))
    return plain


def _cron(trigger: Any) -> dict[str, Any]:
    texts = {field.name: str(field) for field in trigger.fields}
    if texts.get("week", "*") != "*":
        wanted = "the week of the year is not supported: cron has no such field"
        raise InvalidInput("trigger", texts["week"], wanted)
    day, weekday = _day(texts.get("day", "*")), _weekday(texts.get("day_of_week", "*"))
    if day.endswith(("!",)):
        if weekday != "*":
            wanted = "weekdays must be in one field, day or day_of_week"
            raise InvalidInput("trigger", texts["day"], wanted)
        day, weekday = "*", day.removesuffix("!")
    month = texts.get("month", "*")
    words = [texts.get("minute", "0"), texts.get("hour", "0"), day, month, weekday]
    second, year = texts.get("second", "0"), texts.get("year", "*")
    if second != "0" or year != "*":
        words.insert(0, second)
    if year != "*":
        words.append(year)
    plain: dict[str, Any] = {"cron": " ".join(words), "timezone": _zone(trigger.timezone)}
    if day != "*" and weekday != "*":
        plain["day_match"] = "all"
    return {**plain, **_bounds(trigger, start=True)}


def _zone(zone: Any) -> str:
    """The name of a zone: zoneinfo has it in `key`, pytz in `zone`."""
    return str(getattr(zone, "key", None) or getattr(zone, "zone", None) or zone)


def _day(text: str) -> str:
    """Convert the day field to cron; the result ends with `!` if it names weekdays."""
    if text == "last":
        return "L"
    parts = [part.strip() for part in text.split(",")]
    named = [NTH_WEEKDAY.fullmatch(part) for part in parts]
    if not any(named):
        return ",".join("L" if part == "last" else part for part in parts)
    if not all(named):
        raise InvalidInput("trigger", text, "expected days of the month or weekdays, not both")
    matches = [match for match in named if match is not None]
    return ",".join(_nth(match[1].lower(), match[2].upper()) for match in matches) + "!"


def _nth(nth: str, day: str) -> str:
    return f"{day}L" if nth == "last" else f"{day}#{nth[0]}"


def _weekday(text: str) -> str:
    """Convert weekdays to names, because their numbers differ from cron's."""
    if text == "*":
        return text
    days = sorted({day for part in text.split(",") for day in _days(part.strip())})
    return "*" if len(days) == len(WEEKDAYS) else ",".join(WEEKDAYS[day] for day in days)


def _days(part: str) -> Iterator[int]:
    match = WEEKDAY_RANGE.fullmatch(part)
    if match is None:
        raise InvalidInput("trigger", part, "expected weekdays such as mon-fri or 0,2")
    first = 0 if match[1] == "*" else _number(match[1])
    last = first
    if match[2] is not None:
        last = _number(match[2])
    elif match[1] == "*" or match[3] is not None:
        last = len(WEEKDAYS) - 1
    yield from range(first, last + 1, int(match[3] or 1))


def _number(word: str) -> int:
    if word.upper() in WEEKDAYS:
        return WEEKDAYS.index(word.upper())
    if word.isdigit() and int(word) < len(WEEKDAYS):
        return int(word)
    raise InvalidInput("trigger", word, "expected a weekday: mon to sun, or 0 (Monday) to 6")

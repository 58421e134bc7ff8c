"""Reads the jobs of a scheduler of APScheduler 3. Room: sdk/importing.

The library is in the environment of whoever imports, not in ours: triggers are known by what they
have. Three things are not as in cron: a week begins with Monday = 0, all fields must match, and the
day field may name weekdays (`last fri`, `2nd mon`).
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments
from rota.sdk.code.writing import Written
from rota.sdk.importing.imported import Imported
from rota.sdk.importing.python_calls import payload_of

NOT_ONE: Final = "a scheduler of APScheduler 3, which has get_jobs()"
DAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
NTH: Final = re.compile(r"(1st|2nd|3rd|4th|5th|last)\s+([a-z]{3})", re.IGNORECASE)
RANGE: Final = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?")
SHORTEST_DEADLINE: Final = timedelta(seconds=30)


def read(scheduler: Any, place: str, now: datetime) -> Imported:
    """The jobs of a scheduler, started or not."""
    get_jobs = getattr(scheduler, "get_jobs", None)
    if not callable(get_jobs):
        raise InvalidInput("place", place, NOT_ONE)
    found = Imported(now=now)
    for job in get_jobs():
        where = f"{place} {getattr(job, 'id', '?')!r}"
        try:
            found.jobs.append(_job(job, found, where))
        except InvalidInput as error:
            found.leave_out(where, error.wanted)
    return found


def _job(job: Any, found: Imported, where: str) -> Written:
    body: dict[str, Any] = {
        "kind": str(getattr(job, "func_ref", None) or job.name),
        "schedule": found.checked({**schedule_of(job.trigger), **_misfire(job)}),
        "overlap": "allow" if (getattr(job, "max_instances", 1) or 1) > 1 else "skip",
    }
    payload = payload_of(getattr(job, "args", None), getattr(job, "kwargs", None))
    if payload:
        body["payload"] = payload
    if getattr(job, "args", None):
        found.note(where, "positional arguments are in the payload as args, named ones as kwargs")
    if getattr(job, "next_run_time", moments) is None:
        body["paused"] = True
    id_ = str(getattr(job, "id", ""))
    # An id that was drawn says nothing to anybody.
    return Written(found.name(job.name if re.fullmatch(r"[0-9a-f]{32}", id_) else id_), body)


def _misfire(job: Any) -> dict[str, Any]:
    misfire: dict[str, Any] = {}
    if getattr(job, "coalesce", True) is False:
        misfire["on_outage"] = "all"
    grace = getattr(job, "misfire_grace_time", None)
    if isinstance(grace, int | float):
        length = max(timedelta(seconds=grace), SHORTEST_DEADLINE)
        misfire["start_deadline"] = durations.iso(length)
    return {"misfire": misfire} if misfire else {}


def schedule_of(trigger: Any) -> dict[str, Any]:
    """A cron, interval or date trigger."""
    if hasattr(trigger, "fields") and hasattr(trigger, "timezone"):
        return _cron(trigger)
    if isinstance(getattr(trigger, "interval", None), timedelta):
        anchor = moments.rfc3339(_aware(trigger.start_date).replace(microsecond=0))
        every = {"interval": durations.iso(trigger.interval), "anchor": anchor}
        return {"every": every, **_bounds(trigger, start=False)}
    if hasattr(trigger, "run_date"):
        return {"at": moments.rfc3339(_aware(trigger.run_date))}
    known = "a cron, interval or date trigger"
    raise InvalidInput("trigger", str(trigger), f"{type(trigger).__name__} is not known; {known}")


def _aware(moment: Any) -> datetime:
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInput("trigger", moment, "a time with its zone")
    return moment


def _bounds(trigger: Any, *, start: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    window = {}
    if start and getattr(trigger, "start_date", None) is not None:
        window["start"] = moments.rfc3339(_aware(trigger.start_date))
    if getattr(trigger, "end_date", None) is not None:
        window["end"] = moments.rfc3339(_aware(trigger.end_date))
    if window:
        plain["window"] = window
    if getattr(trigger, "jitter", None):
        plain["jitter"] = durations.iso(timedelta(seconds=trigger.jitter))
    return plain


def _cron(trigger: Any) -> dict[str, Any]:
    said = {field.name: str(field) for field in trigger.fields}
    if said.get("week", "*") != "*":
        raise InvalidInput("trigger", said["week"], "no week of the year: cron has none")
    day, weekday = _day(said.get("day", "*")), _weekday(said.get("day_of_week", "*"))
    if day.endswith(("!",)):
        if weekday != "*":
            raise InvalidInput("trigger", said["day"], "weekdays in one field, not in two")
        day, weekday = "*", day.removesuffix("!")
    words = [said.get("minute", "0"), said.get("hour", "0"), day, said.get("month", "*"), weekday]
    second, year = said.get("second", "0"), said.get("year", "*")
    if second != "0" or year != "*":
        words.insert(0, second)
    if year != "*":
        words.append(year)
    plain: dict[str, Any] = {"cron": " ".join(words), "timezone": _zone(trigger.timezone)}
    if day != "*" and weekday != "*":
        plain["day_match"] = "all"
    return {**plain, **_bounds(trigger, start=True)}


def _zone(zone: Any) -> str:
    """A zone of zoneinfo has a key, one of pytz a zone."""
    return str(getattr(zone, "key", None) or getattr(zone, "zone", None) or zone)


def _day(text: str) -> str:
    """Days of the month as cron has them; those that are weekdays end with a mark."""
    if text == "last":
        return "L"
    parts = [part.strip() for part in text.split(",")]
    named = [NTH.fullmatch(part) for part in parts]
    if not any(named):
        return ",".join("L" if part == "last" else part for part in parts)
    if not all(named):
        raise InvalidInput("trigger", text, "days of the month or weekdays, not both")
    found = [match for match in named if match is not None]
    return ",".join(_nth(match[1].lower(), match[2].upper()) for match in found) + "!"


def _nth(nth: str, day: str) -> str:
    return f"{day}L" if nth == "last" else f"{day}#{nth[0]}"


def _weekday(text: str) -> str:
    """Weekdays by name: their numbers are others than cron's."""
    if text == "*":
        return text
    days = sorted({day for part in text.split(",") for day in _days(part.strip())})
    return "*" if len(days) == len(DAYS) else ",".join(DAYS[day] for day in days)


def _days(part: str) -> Iterator[int]:
    found = RANGE.fullmatch(part)
    if found is None:
        raise InvalidInput("trigger", part, "weekdays such as mon-fri or 0,2")
    first = 0 if found[1] == "*" else _number(found[1])
    last = first
    if found[2] is not None:
        last = _number(found[2])
    elif found[1] == "*" or found[3] is not None:
        last = len(DAYS) - 1
    yield from range(first, last + 1, int(found[3] or 1))


def _number(word: str) -> int:
    if word.upper() in DAYS:
        return DAYS.index(word.upper())
    if word.isdigit() and int(word) < len(DAYS):
        return int(word)
    raise InvalidInput("trigger", word, "a weekday: mon to sun, or 0 for Monday to 6")

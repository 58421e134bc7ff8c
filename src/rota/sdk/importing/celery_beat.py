"""Reads the beat_schedule of a Celery app. Room: sdk/importing.

Celery is in the environment of whoever imports, not in ours: the objects are known by what they
have. A crontab of Celery asks for all of its fields, so two day fields must both match.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.sdk.code.writing import Written
from rota.sdk.importing.imported import Imported
from rota.sdk.importing.python_calls import payload_of

FIELDS: Final = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
NOT_CELERY: Final = "a Celery app, which has conf.beat_schedule"


def read(app: Any, place: str, now: datetime) -> Imported:
    """The periodic tasks of an app."""
    conf = getattr(app, "conf", None)
    entries = getattr(conf, "beat_schedule", None)
    if not isinstance(entries, Mapping):
        raise InvalidInput("place", place, NOT_CELERY)
    found = Imported(now=now)
    zone = _zone(conf)
    for name, entry in entries.items():
        where = f"{place} {name!r}"
        try:
            found.jobs.append(_job(str(name), entry, found, zone, where))
        except InvalidInput as error:
            found.leave_out(where, error.wanted)
    return found


def _zone(conf: Any) -> str:
    zone = getattr(conf, "timezone", None)
    return str(zone) if zone else "UTC"


def _job(name: str, entry: Any, found: Imported, zone: str, where: str) -> Written:
    if not isinstance(entry, Mapping) or not entry.get("task"):
        raise InvalidInput("entry", entry, "an entry has a task and a schedule")
    body: dict[str, Any] = {
        "kind": str(entry["task"]),
        "schedule": found.checked(schedule_of(entry.get("schedule"), zone)),
    }
    payload = payload_of(entry.get("args"), entry.get("kwargs"))
    if payload:
        body["payload"] = payload
    if entry.get("args"):
        found.note(where, "positional arguments are in the payload as args, named ones as kwargs")
    _options(entry.get("options") or {}, body, found, where)
    return Written(found.name(name), body)


def _options(options: Mapping[str, Any], body: dict[str, Any], found: Imported, where: str) -> None:
    for option, value in options.items():
        if option == "queue" and isinstance(value, str):
            body["queue"] = value
        elif option == "expires" and isinstance(value, int | float | timedelta):
            length = value if isinstance(value, timedelta) else timedelta(seconds=value)
            body["deadline"] = durations.iso(length)
        else:
            found.note(where, f"the option {option} is not carried over")


def schedule_of(schedule: Any, zone: str) -> dict[str, Any]:
    """A number of seconds, a timedelta, a crontab, or what has a run_every."""
    if isinstance(schedule, int | float) and not isinstance(schedule, bool):
        return _every(timedelta(seconds=schedule))
    if isinstance(schedule, timedelta):
        return _every(schedule)
    if all(hasattr(schedule, f"_orig_{field}") for field in FIELDS):
        return _crontab(schedule, zone)
    if hasattr(schedule, "lat") and hasattr(schedule, "event"):
        raise InvalidInput("schedule", str(schedule), "no time of the sun: a fixed time instead")
    run_every = getattr(schedule, "run_every", None)
    if isinstance(run_every, timedelta):
        return _every(run_every)
    known = "a number of seconds, a timedelta or a crontab"
    raise InvalidInput("schedule", schedule, f"{type(schedule).__name__} is not known; {known} is")


def _every(length: timedelta) -> dict[str, Any]:
    if length < timedelta(seconds=1):
        raise InvalidInput("schedule", str(length), "an interval of at least a second")
    return {"every": durations.iso(length)}


def _crontab(schedule: Any, zone: str) -> dict[str, Any]:
    words = [_field(getattr(schedule, f"_orig_{field}")) for field in FIELDS]
    own = getattr(schedule, "tz", None)
    plain: dict[str, Any] = {"cron": " ".join(words), "timezone": str(own) if own else zone}
    if not words[2].startswith("*") and not words[4].startswith("*"):
        plain["day_match"] = "all"
    return plain


def _field(value: Any) -> str:
    """A text as cron has it, or a number, or a set of numbers."""
    if isinstance(value, str):
        return value.replace(" ", "")
    if isinstance(value, int):
        return str(value)
    return ",".join(str(each) for each in sorted(value))

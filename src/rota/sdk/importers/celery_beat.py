"""Imports the beat_schedule of a Celery app.

Rota does not depend on Celery: its objects are recognised by their attributes. All fields of a
Celery crontab must match, so two day fields must both match.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.importers.python_calls import build_call_payload
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText

CRONTAB_FIELDS: Final = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
CELERY_EXPECTED: Final = "expected a Celery app with conf.beat_schedule"


def import_app(app: Any, place: str, now: datetime) -> ImportedJobs:
    """Import the periodic tasks of an app."""
    conf = getattr(app, "conf", None)
    entries = getattr(conf, "beat_schedule", None)
    if not isinstance(entries, Mapping):
        raise InvalidInput("place", place, CELERY_EXPECTED)
    found = ImportedJobs(now=now)
    zone = _zone(conf)
    for name, entry in entries.items():
        where = f"{place} {name!r}"
        try:
            found.jobs.append(_job(str(name), entry, found, zone, where))
        except InvalidInput as error:
            found.skip_entry(where, error.wanted)
    return found


def _zone(conf: Any) -> str:
    zone = getattr(conf, "timezone", None)
    return str(zone) if zone else "UTC"


def _job(name: str, entry: Any, found: ImportedJobs, zone: str, where: str) -> ManifestJobText:
    if not isinstance(entry, Mapping) or not entry.get("task"):
        raise InvalidInput("entry", entry, "expected an entry with a task and a schedule")
    body: dict[str, Any] = {
        "kind": str(entry["task"]),
        "schedule": found.check_schedule(convert_schedule(entry.get("schedule"), zone)),
    }
    payload = build_call_payload(entry.get("args"), entry.get("kwargs"))
    if payload:
        body["payload"] = payload
    if entry.get("args"):
        found.add_note(where, "positional arguments become args in the payload, named ones kwargs")
    _options(entry.get("options") or {}, body, found, where)
    return ManifestJobText(found.claim_name(name), body)


def _options(
    options: Mapping[str, Any], body: dict[str, Any], found: ImportedJobs, where: str
) -> None:
    for option, value in options.items():
        if option == "queue" and isinstance(value, str):
            body["queue"] = value
        elif option == "expires" and isinstance(value, int | float | timedelta):
            length = value if isinstance(value, timedelta) else timedelta(seconds=value)
            body["deadline"] = durations.to_iso(length)
        else:
            found.add_note(where, f"option {option} is not imported")


def convert_schedule(schedule: Any, zone: str) -> dict[str, Any]:
    """Convert a number of seconds, a timedelta, a crontab, or an object with run_every."""
    if isinstance(schedule, int | float) and not isinstance(schedule, bool):
        return _every(timedelta(seconds=schedule))
    if isinstance(schedule, timedelta):
        return _every(schedule)
    if all(hasattr(schedule, f"_orig_{field}") for field in CRONTAB_FIELDS):
        return _crontab(schedule, zone)
    if hasattr(schedule, "lat") and hasattr(schedule, "event"):
        wanted = "solar schedules are not supported; use a fixed time"
        raise InvalidInput("schedule", str(schedule), wanted)
    run_every = getattr(schedule, "run_every", None)
    if isinstance(run_every, timedelta):
        return _every(run_every)
    known = "supported are a number of seconds, a timedelta and a crontab"
    raise InvalidInput("schedule", schedule, f"unknown {type(schedule).__name__}; {known}")


def _every(length: timedelta) -> dict[str, Any]:
    if length < timedelta(seconds=1):
        raise InvalidInput("schedule", str(length), "the interval must be at least one second")
    return {"every": durations.to_iso(length)}


def _crontab(schedule: Any, zone: str) -> dict[str, Any]:
    words = [_field(getattr(schedule, f"_orig_{field}")) for field in CRONTAB_FIELDS]
    own = getattr(schedule, "tz", None)
    plain: dict[str, Any] = {"cron": " ".join(words), "timezone": str(own) if own else zone}
    if not words[2].startswith("*") and not words[4].startswith("*"):
        plain["day_match"] = "all"
    return plain


def _field(value: Any) -> str:
    """Convert a field: a string in cron notation, a number, or a set of numbers."""
    if isinstance(value, str):
        return value.replace(" ", "")
    if isinstance(value, int):
        return str(value)
    return ",".join(str(number) for number in sorted(value))

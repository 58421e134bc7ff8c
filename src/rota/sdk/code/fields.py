"""Checks a manifest for unknown fields.

The fields of a job are those of the contract, as in the API. `unique` is missing, because it
applies to submissions and a file declares none.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rota.contract.calendar import CalendarDocument
from rota.contract.documents import fields_by_name
from rota.contract.job import JOB_FIELDS
from rota.contract.limits import LimitDraft, RateDraft
from rota.contract.retries import RetriesDraft
from rota.sdk.code import graphs
from rota.sdk.code.problems import Wrong, unknown
from rota.sdk.code.yaml_text import Path, Text

TOP: Final = ("version", "project", "defaults", "calendars", "jobs")
CALENDAR: Final = tuple(name for name in fields_by_name(CalendarDocument) if name != "name")
# `name` is the key in the file; `paused` is a state that only a file declares.
JOB: Final = (*(name for name in JOB_FIELDS if name != "name"), "paused")
# The fields that `defaults` may set: all but the schedule. The time zone is allowed.
DEFAULTS: Final = tuple(
    name
    for name in JOB
    if name == "timezone"
    or (name != "graph" and not (name in JOB_FIELDS and JOB_FIELDS[name].is_schedule))
)
RETRIES: Final = tuple(fields_by_name(RetriesDraft))
LIMIT: Final = tuple(fields_by_name(LimitDraft))
RATE: Final = tuple(fields_by_name(RateDraft))


def wrongs(text: Text) -> Iterator[Wrong]:
    """Yield an error for every unknown field of the file."""
    root = text.value
    if not isinstance(root, dict):
        yield Wrong(text.spot(()), "expected an object with version, project and jobs")
        return
    yield from _unknown_fields(text, root, (), TOP, "field")
    yield from _job(text, root.get("defaults"), ("defaults",), DEFAULTS)
    yield from _calendars(text, root.get("calendars"))
    jobs = root.get("jobs")
    if jobs is not None and not isinstance(jobs, dict):
        message = "jobs must be an object that maps the name of each job to its fields"
        yield Wrong(text.spot(("jobs",)), message)
        return
    for name, job in (jobs or {}).items():
        yield from _job(text, job, ("jobs", name), JOB)


def _calendars(text: Text, calendars: Any) -> Iterator[Wrong]:
    if calendars is None:
        return
    if not isinstance(calendars, dict):
        message = "calendars must be an object that maps the name of each calendar to its fields"
        yield Wrong(text.spot(("calendars",)), message)
        return
    for name, calendar in calendars.items():
        path = ("calendars", name)
        if not isinstance(calendar, dict):
            yield Wrong(text.spot(path), f"{name} must be an object with fields such as dates")
        yield from _unknown_fields(text, calendar, path, CALENDAR, "calendar field")


def _job(text: Text, job: Any, path: Path, known: tuple[str, ...]) -> Iterator[Wrong]:
    if job is None:
        return
    if not isinstance(job, dict):
        yield Wrong(text.spot(path), f"{path[-1]} must be an object with fields such as kind")
        return
    yield from _unknown_fields(text, job, path, known, "job field")
    yield from graphs.wrongs(text, job, path)
    retries = job.get("retries")
    yield from _unknown_fields(text, retries, (*path, "retries"), RETRIES, "retries field")
    limits = job.get("limits")
    for index, limit in enumerate(limits if isinstance(limits, list) else ()):
        at = (*path, "limits", index)
        yield from _unknown_fields(text, limit, at, LIMIT, "limit field")
        if isinstance(limit, dict):
            rate = limit.get("rate")
            yield from _unknown_fields(text, rate, (*at, "rate"), RATE, "rate field")


def _unknown_fields(
    text: Text, value: Any, path: Path, known: tuple[str, ...], description: str
) -> Iterator[Wrong]:
    if not isinstance(value, Mapping):
        return
    for name in value:
        if name not in known:
            yield Wrong(text.spot((*path, name)), unknown(name, known, description))

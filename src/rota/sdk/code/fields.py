"""Which words a file may have, and where. Room: sdk/code.

The fields of a job are those of the contract, as in the API. `unique` is about submissions, and a
file declares none.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rota.contract.calendar import CalendarDocument
from rota.contract.documents import fields_by_name
from rota.contract.job import FIELDS
from rota.contract.limits import LimitDraft, RateDraft
from rota.contract.retries import RetriesDraft
from rota.sdk.code import graphs
from rota.sdk.code.problems import Wrong, unknown
from rota.sdk.code.yaml_text import Path, Text

TOP: Final = ("version", "project", "defaults", "calendars", "jobs")
CALENDAR: Final = tuple(each for each in fields_by_name(CalendarDocument) if each != "name")
# `name` is the key in the file; `paused` is a state, which only a file declares.
JOB: Final = (*(name for name in FIELDS if name != "name"), "paused")
# What all jobs may have in common. When a job runs is its own, but for the zone.
DEFAULTS: Final = tuple(
    name
    for name in JOB
    if name == "timezone" or (name != "graph" and not (name in FIELDS and FIELDS[name].is_schedule))
)
RETRIES: Final = tuple(fields_by_name(RetriesDraft))
LIMIT: Final = tuple(fields_by_name(LimitDraft))
RATE: Final = tuple(fields_by_name(RateDraft))


def wrongs(text: Text) -> Iterator[Wrong]:
    """Everything that is in the file and not known."""
    whole = text.value
    if not isinstance(whole, dict):
        yield Wrong(text.spot(()), "a manifest is an object with version, project and jobs")
        return
    yield from _words(text, whole, (), TOP, "field")
    yield from _job(text, whole.get("defaults"), ("defaults",), DEFAULTS)
    yield from _calendars(text, whole.get("calendars"))
    jobs = whole.get("jobs")
    if jobs is not None and not isinstance(jobs, dict):
        yield Wrong(text.spot(("jobs",)), "jobs is an object: the name of each job and its fields")
        return
    for name, job in (jobs or {}).items():
        yield from _job(text, job, ("jobs", name), JOB)


def _calendars(text: Text, calendars: Any) -> Iterator[Wrong]:
    if calendars is None:
        return
    if not isinstance(calendars, dict):
        said = "calendars is an object: the name of each calendar and its fields"
        yield Wrong(text.spot(("calendars",)), said)
        return
    for name, calendar in calendars.items():
        path = ("calendars", name)
        if not isinstance(calendar, dict):
            yield Wrong(text.spot(path), f"{name} is an object with fields such as dates")
        yield from _words(text, calendar, path, CALENDAR, "field of a calendar")


def _job(text: Text, job: Any, path: Path, known: tuple[str, ...]) -> Iterator[Wrong]:
    if job is None:
        return
    if not isinstance(job, dict):
        yield Wrong(text.spot(path), f"{path[-1]} is an object with fields such as kind")
        return
    yield from _words(text, job, path, known, "field of a job")
    yield from graphs.wrongs(text, job, path)
    yield from _words(text, job.get("retries"), (*path, "retries"), RETRIES, "field of retries")
    limits = job.get("limits")
    for place, limit in enumerate(limits if isinstance(limits, list) else ()):
        at = (*path, "limits", place)
        yield from _words(text, limit, at, LIMIT, "field of a limit")
        if isinstance(limit, dict):
            yield from _words(text, limit.get("rate"), (*at, "rate"), RATE, "field of a rate")


def _words(
    text: Text, found: Any, path: Path, known: tuple[str, ...], what: str
) -> Iterator[Wrong]:
    if not isinstance(found, Mapping):
        return
    for word in found:
        if word not in known:
            yield Wrong(text.spot((*path, word)), unknown(word, known, what))

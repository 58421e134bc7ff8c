"""A file, or a folder of files, becomes the jobs of a project. Room: sdk/code.

What can be told without a server is told here, all at once and by line and column; what only the
server knows comes back as a pointer into the request, which `locate` turns into a line again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any, Final

from rota.core.errors import InvalidInput, UnusableInput
from rota.sdk.code import yaml_text
from rota.sdk.code.fields import wrongs
from rota.sdk.code.problems import FileRefused, Spot, Wrong
from rota.sdk.code.yaml_text import Path, Text

VERSION: Final = 1
USUAL: Final = "rota.yaml"
ENDINGS: Final = (".yaml", ".yml")
MOST_JOBS: Final = 1000
_POINTER: Final = re.compile(r"/(jobs|calendars)/(\d+)(?:/calendar)?(/.*)?")


@dataclass(frozen=True, slots=True)
class Thing:
    """A job or a calendar as it is sent, and the document and the path that it stands at."""

    name: str
    body: Mapping[str, Any]
    text: Text
    path: Path


@dataclass(frozen=True, slots=True)
class Manifest:
    project: str
    jobs: tuple[Thing, ...]
    calendars: tuple[Thing, ...] = ()

    def body(self) -> dict[str, Any]:
        """The request, as the API takes it."""
        return {
            "project": self.project,
            "jobs": [{"name": job.name, **job.body} for job in self.jobs],
            "calendars": [{"name": each.name, "calendar": each.body} for each in self.calendars],
        }

    def locate(self, pointer: str) -> Spot | None:
        """Where in the files something stands that the API points at; None if it is in none."""
        found = _POINTER.fullmatch(pointer)
        things = self.jobs if found is not None and found[1] == "jobs" else self.calendars
        if found is None or int(found[2]) >= len(things):
            return None
        thing = things[int(found[2])]
        parts: list[str | int] = []
        for part in (found[3] or "").split("/")[1:]:
            plain = part.replace("~1", "/").replace("~0", "~")
            parts.append(int(plain) if plain.isdigit() else plain)
        return thing.text.spot((*thing.path, *parts))


def load(place: File) -> Manifest:
    """Read a file, or all `.yaml` files of a folder as one."""
    texts = [text for file in _files(place) for text in _documents(file)]
    return combine(texts, str(place))


def _files(place: File) -> list[File]:
    if place.is_dir():
        found = sorted(file for file in place.iterdir() if file.suffix in ENDINGS)
        if not found:
            raise InvalidInput("file", str(place), f"a folder with {' or '.join(ENDINGS)} files")
        return found
    return [place]


def _documents(file: File) -> list[Text]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UnusableInput("file", str(file), f"no such file: {file}") from None
    except OSError as error:
        raise InvalidInput(
            "file", str(file), f"a file that can be read: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput("file", str(file), "a text file in UTF-8") from None
    found = yaml_text.read(text, str(file))
    if len(found) > 1:
        spot = found[1].spot(())
        raise FileRefused([Wrong(spot, "a second document; a file has one, a folder many files")])
    return found


def combine(texts: Sequence[Text], place: str) -> Manifest:
    """The manifest that these documents make together."""
    wrong = [each for text in texts for each in wrongs(text)]
    if wrong:
        raise FileRefused(wrong)
    if not texts:
        said = "the file is empty; it needs version, project and jobs"
        raise FileRefused([Wrong(Spot(place, 1, 1), said)])
    wrong = [*_versions(texts), *_projects(texts, place), *_twins(texts)]
    if wrong:
        raise FileRefused(wrong)
    jobs = tuple(job for text in texts for job in _jobs(text))
    if len(jobs) > MOST_JOBS:
        raise InvalidInput("jobs", f"{len(jobs)} jobs", f"at most {MOST_JOBS:,} in a project")
    project = next(text.value["project"] for text in texts if "project" in text.value)
    calendars = tuple(
        Thing(name, calendar, text, ("calendars", name))
        for text in texts
        for name, calendar in (text.value.get("calendars") or {}).items()
    )
    return Manifest(project, jobs, calendars)


def _versions(texts: Sequence[Text]) -> Iterator[Wrong]:
    for text in texts:
        version = text.value.get("version")
        if version is None:
            yield Wrong(text.spot(()), f"there is no version; this is version: {VERSION}")
        elif version != VERSION or isinstance(version, bool):
            yield Wrong(text.spot(("version",)), f"version {version!r} is not known; {VERSION} is")


def _projects(texts: Sequence[Text], place: str) -> Iterator[Wrong]:
    named: dict[str, Spot] = {}
    for text in texts:
        if "project" not in text.value:
            continue
        spot, project = text.spot(("project",)), text.value["project"]
        if not isinstance(project, str) or not 0 < len(project) <= 64:
            yield Wrong(spot, "project is a text of 1 to 64 characters")
            return
        named.setdefault(project, spot)
    if not named:
        yield Wrong(Spot(place, 1, 1), "there is no project; it says whose jobs these are")
    elif len(named) > 1:
        (first, _), (second, spot), *_ = named.items()
        yield Wrong(spot, f"project {second!r}, and before it {first!r}; a folder has one")


def _twins(texts: Sequence[Text]) -> Iterator[Wrong]:
    seen: dict[Path, Spot] = {}
    for text in texts:
        for section, thing in (("jobs", "job"), ("calendars", "calendar")):
            for name in text.value.get(section) or {}:
                spot = text.spot((section, name))
                first = seen.setdefault((section, name), spot)
                if first is not spot:
                    yield Wrong(spot, f"{thing} {name!r} is declared twice; first at {first}")


def _jobs(text: Text) -> Iterator[Thing]:
    defaults = text.value.get("defaults") or {}
    for name, own in (text.value.get("jobs") or {}).items():
        yield Thing(name, settle(own or {}, defaults), text, ("jobs", name))


def settle(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A job with the defaults of its file: its own fields win, labels are taken together."""
    job = {**defaults, **own}
    if isinstance(defaults.get("labels"), dict) and isinstance(own.get("labels"), dict):
        job["labels"] = {**defaults["labels"], **own["labels"]}
    for field, other in (("kind", "job_type"), ("retries", "max_retries")):
        # Two names for one thing: the job's own word is the one.
        for mine, theirs in ((field, other), (other, field)):
            if mine in own and theirs not in own:
                job.pop(theirs, None)
    if isinstance(job.get("schedule"), str):
        job["schedule"] = {"cron": job["schedule"]}
    return _zoned(job, is_own="timezone" in own)


def _zoned(job: dict[str, Any], *, is_own: bool) -> dict[str, Any]:
    """Put the zone where the API takes it; a zone of the defaults is only for who can use it."""
    if "timezone" not in job:
        return job
    schedule = job.get("schedule")
    if isinstance(schedule, dict):
        zone = job.pop("timezone")
        if "timezone" not in schedule and (is_own or _follows_clock(schedule)):
            job["schedule"] = {**schedule, "timezone": zone}
    elif not is_own and not _follows_clock({"cron": job.get("cron_expression")}):
        job.pop("timezone")
    return job


def _follows_clock(schedule: Mapping[str, Any]) -> bool:
    """Whether its rules are about a wall clock, and say no zone themselves."""
    rules = [schedule[rule] for rule in ("cron", "rrule") if schedule.get(rule) is not None]
    return bool(rules) and "TZ=" not in str(rules) and "TZID" not in str(rules)
